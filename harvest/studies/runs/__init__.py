"""Runs, read once and compared with each other: what every study starts from."""
