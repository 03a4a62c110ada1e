"""Lower case that keeps the position of every character."""


def to_lower(text: str) -> str:
    """Return `text` in lower case, one character for each: only İ would become two (here it becomes i)."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text.replace("İ", "i").lower()
