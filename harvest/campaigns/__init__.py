"""Shared tasks in which a track's server is the other side of the conversation."""
