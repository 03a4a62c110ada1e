"""Conversations as values: turns, parts of answers, endings, and rows of tables."""
