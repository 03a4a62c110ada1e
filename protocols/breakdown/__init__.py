"""Breakdown detection: the probability that annotators would call an answer a breakdown of the conversation."""
