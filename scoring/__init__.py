"""Scoring: nuggets, measures and their intervals, offline on recordings."""

__all__: list[str] = []
