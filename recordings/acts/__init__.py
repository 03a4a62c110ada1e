"""Conversations as sequences of dialogue acts, for the statistics of users."""
