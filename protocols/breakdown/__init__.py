"""Breakdown detection: how likely annotators are to say that a conversation breaks down at an answer."""
