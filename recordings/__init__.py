"""Recordings: conversations as values, the append-only store, and what is imported and exported."""

__all__: list[str] = []
