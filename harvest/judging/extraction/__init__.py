"""Extraction of nuggets by a model: prompts, replies, and the layers of judgments made of them."""

__all__: list[str] = []
