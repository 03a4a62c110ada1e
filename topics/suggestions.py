"""Suggestions for misspelt names."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest_name(word: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar to `word`, ignoring capitals, or None if no name is similar."""
    folded = {name.casefold(): name for name in known}
    close = get_close_matches(word.casefold(), folded, n=1)
    return folded[close[0]] if close else None


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return `: did you mean 'markov'?` for the end of a message, or "" if no name is similar."""
    found = nearest_name(word, known)
    return "" if found is None else f": did you mean {found!r}?"
