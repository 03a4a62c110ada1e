"""`python -m harvest` is the `harvest` command."""

from harvest.cli import main

main()
