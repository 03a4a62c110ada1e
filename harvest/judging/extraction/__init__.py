"""Extraction of nuggets by a model: its prompts, its replies, and the resulting layers of judgments."""

__all__: list[str] = []
