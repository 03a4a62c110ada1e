"""Nuggets pooled for people to judge, and what was held back."""
