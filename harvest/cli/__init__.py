"""The command line. The module of a command is imported only when the command is called."""

from harvest.cli.main import main

__all__ = ["main"]
