"""What somebody may have meant: the nearest of the names that are known."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The name that `word` is nearest to, capitals aside; None if none is near."""
    folded = {name.casefold(): name for name in known}
    close = get_close_matches(word.casefold(), folded, n=1)
    return folded[close[0]] if close else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`: did you mean 'markov'?`, to follow what is wrong; "" if no name is near."""
    found = nearest(word, known)
    return "" if found is None else f": did you mean {found!r}?"
