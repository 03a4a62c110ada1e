"""Counts with their nouns, such as `1 trial` or `1,250 entities`. This module makes all plurals in Harvest."""

import re


def pluralize(n: int, one: str, many: str | None = None) -> str:
    """Return `n` with the noun `one` if `n` is 1, and else with the noun `many`. The default plural is made by
    `plural`. Numbers from 10,000 on have commas."""
    return f"{n:,} {_choose_noun(n, one, many)}" if abs(n) >= 10_000 else f"{n} {_choose_noun(n, one, many)}"


def plural(one: str) -> str:
    """Return the regular English plural of a noun. Only the last word changes: trials, entities, branches, replies."""
    if re.search(r"[^aeiou]y$", one):
        return f"{one[:-1]}ies"
    return f"{one}es" if one.endswith(("s", "x", "z", "ch", "sh")) else f"{one}s"


def _choose_noun(n: int, one: str, many: str | None) -> str:
    if n == 1:
        return one
    return plural(one) if many is None else many
