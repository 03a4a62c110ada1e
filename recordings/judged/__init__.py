"""Judgments and decisions by people and models, and the nuggets they want."""
