"""How many of what, in words: `1 trial`, `3 trials`, `1,250 entities`. The one place that makes plurals."""

import re


def pluralize(n: int, one: str, many: str | None = None) -> str:
    """`n` with its noun. one: for exactly 1. many: for any other number, zero among them [by the rules of `plural`].

    Numbers from 10,000 on have commas.
    """
    return f"{n:,} {_noun(n, one, many)}" if abs(n) >= 10_000 else f"{n} {_noun(n, one, many)}"


def plural(one: str) -> str:
    """The regular English plural of the last word: trials, entities, branches, replies. Others must be given."""
    if re.search(r"[^aeiou]y$", one):
        return f"{one[:-1]}ies"
    return f"{one}es" if one.endswith(("s", "x", "z", "ch", "sh")) else f"{one}s"


def _noun(n: int, one: str, many: str | None) -> str:
    if n == 1:
        return one
    return plural(one) if many is None else many
