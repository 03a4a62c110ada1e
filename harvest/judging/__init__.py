"""Judging: nuggets extracted by models, and sheets that people fill in."""
