"""Scores over conversations that branch: transition probabilities, expectations, spread and the worst case."""
