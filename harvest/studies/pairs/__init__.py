"""Conversations to be read by people: single ones, two next to each other, and blind pairs."""
