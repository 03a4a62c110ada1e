"""Descriptions of recorded runs and of the differences between them."""
