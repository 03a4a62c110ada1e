"""Findings of probing users, by step and by system."""
