"""Extraction of nuggets by a model: its prompts, its replies, and the layers of judgments made from them."""

__all__: list[str] = []
