"""Repeated audits: the blessed baseline, changes since then, and the history of looks."""
