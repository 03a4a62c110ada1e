"""Imports of other programs' files, and exports for other programs."""
