"""Conversations as sequences of dialogue acts, from which statistics of users are computed."""
