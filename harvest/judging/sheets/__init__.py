"""Annotation sheets: writing empty sheets and reading filled-in sheets."""
