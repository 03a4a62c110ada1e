"""The command line. Each command has a module, which is imported when the command is called."""

from harvest.cli.main import main

__all__ = ["main"]
