"""The command line, with a module for each command that is imported when the command is called."""

from harvest.cli.main import main

__all__ = ["main"]
