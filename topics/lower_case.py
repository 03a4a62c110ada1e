"""Conversion to lower case that keeps the position of every character."""


def to_lower(text: str) -> str:
    """Return `text` in lower case with the same length. İ becomes i, because its lower case has two characters."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text.replace("İ", "i").lower()
