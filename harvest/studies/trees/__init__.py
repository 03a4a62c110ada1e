"""Conversation trees of runs: folding, values, rows and words."""
