"""Figures that are taken over many conversations of a system at once."""
