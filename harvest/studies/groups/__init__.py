"""Comparison of user groups within each system."""
