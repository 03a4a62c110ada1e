"""Merging of runs, and runs with revised answers."""
