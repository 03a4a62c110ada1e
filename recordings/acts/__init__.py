"""Conversations as sequences of dialogue acts: what is left of them for the statistics of users."""
