"""Distributions, exact tests and exchanges, independent of conversations and intervals."""
