"""The HTML page about recorded runs: what it contains and how it is written."""
