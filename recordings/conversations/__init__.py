"""Conversations as values: turns, parts of answers, endings, rows."""
