"""Conversations for people to read: one, two next to each other, and blind pairs."""
