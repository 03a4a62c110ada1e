"""Measures over many conversations of a system."""
