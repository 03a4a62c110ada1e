"""Conversations for people to read: single ones, two next to each other, and blind pairs."""
