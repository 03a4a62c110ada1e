"""Findings of users that probe systems, by step and by system."""
