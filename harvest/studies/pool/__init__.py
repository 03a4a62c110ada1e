"""Pooled items of several runs for people to judge, and nugget recall."""
