"""Wrappers, which are users that change the words or persona of another user, or make it ask again."""

__all__: list[str] = []
