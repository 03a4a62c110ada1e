"""The HTML page about recorded runs: its content, and how it is written."""
