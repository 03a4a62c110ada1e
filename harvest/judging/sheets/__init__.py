"""Annotation sheets: writing them, and reading them when they are filled in."""
