"""Conversations as sequences of dialogue acts, for statistics of users."""
