"""Conversion to lower case that keeps the position of every character."""


def to_lower(text: str) -> str:
    """Return `text` in lower case with the same length. Only İ would become two characters, so here it becomes i."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text.replace("İ", "i").lower()
