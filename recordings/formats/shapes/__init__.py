"""Shapes in which other programs keep conversations, each converted to lists of messages."""
