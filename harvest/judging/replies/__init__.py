"""Asking a model many things: each once, some at a time, its replies kept."""

__all__: list[str] = []
