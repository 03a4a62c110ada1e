"""Intervals, resampling and the distributions they need; nothing here knows what a conversation is."""
