"""Imports from other programs, and exports for them."""
