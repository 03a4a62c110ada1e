"""Sheets for people who annotate: written, filled in, read back."""
