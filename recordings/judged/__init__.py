"""Judgments and decisions by people and models, and the nuggets that a good answer contains."""
