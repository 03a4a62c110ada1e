"""Breakdown detection: the probability that annotators would see a breakdown of the conversation in an answer."""
