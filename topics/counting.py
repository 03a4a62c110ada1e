"""Counts with their nouns, such as `1 trial` or `1,250 entities`. This module makes all plurals in Harvest."""

import re


def pluralize(n: int, singular: str, many: str | None = None) -> str:
    """Return `n` with the noun `singular` if `n` is 1, and else with the noun `many`. The default plural is made by
    `plural`. Numbers from 10,000 on have commas."""
    return f"{n:,} {_choose_noun(n, singular, many)}" if abs(n) >= 10_000 else f"{n} {_choose_noun(n, singular, many)}"


def count_time(seconds: float) -> str:
    """Return a duration in words, rounded: 40 seconds, 12 minutes, 3 hours 20 minutes, 2 days."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return pluralize(max(1, round(seconds)), "second")
    if minutes < 90:
        return pluralize(minutes, "minute")
    if minutes < 48 * 60:
        hours, rest = divmod(10 * round(minutes / 10), 60)
        return pluralize(hours, "hour") + (f" {rest} minutes" if rest else "")
    return pluralize(round(minutes / (24 * 60)), "day")


def plural(singular: str) -> str:
    """Return the regular English plural of a noun. Only the last word changes: trials, entities, branches, replies."""
    if re.search(r"[^aeiou]y$", singular):
        return f"{singular[:-1]}ies"
    return f"{singular}es" if singular.endswith(("s", "x", "z", "ch", "sh")) else f"{singular}s"


def _choose_noun(n: int, one: str, many: str | None) -> str:
    if n == 1:
        return one
    return plural(one) if many is None else many
