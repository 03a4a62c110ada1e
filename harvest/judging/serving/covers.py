"""Texts that are covered on the page until somebody wants to see them, each with its reason; no score is made of it."""

from scoring.swan.triage import harms


def cover(text: str) -> str:
    """Why the text is covered, as in "it may contain …"; "" where it is not. What the triage misses is shown, and what
    it covers without need costs one key."""
    return " and ".join(dict.fromkeys(flag.reason for flag in harms(text)))
