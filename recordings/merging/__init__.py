"""Merge runs."""
