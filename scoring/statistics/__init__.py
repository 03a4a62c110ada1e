"""Distributions, exact tests and exchanges; nothing here knows what a conversation or an interval is."""
