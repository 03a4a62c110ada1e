"""Evaluation of breakdown detection against human annotations."""
