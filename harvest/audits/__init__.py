"""Audit files: what is played, against which systems, for which groups of users."""
