"""Differences between recorded audits, in words that name the key and both values."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any

from recordings.files.json_text import Json
from topics.identity import canonical_json

# Keys of an audit that figures depend on besides what was played; they also depend on its gold: see `gold_apart`.
SCORED_BY = ("scoring", "thresholds")
_LONGEST = 60  # characters of a value in a sentence


def audits_apart(audits: Iterable[Any], keys: Sequence[str]) -> list[str]:
    """Return the differences between recorded audits, with two of the values: `scoring.patience differs (50 and not
    given)`."""
    distinct = {canonical_json(audit): audit for audit in audits if isinstance(audit, dict)}
    found: dict[str, str] = {}
    for one, two in combinations([distinct[text] for text in sorted(distinct)], 2):
        for key in keys:
            # Empty means not given: earlier versions did not write every key.
            for path, *values in values_apart(key, one.get(key) or None, two.get(key) or None):
                found.setdefault(path, f"{path} differs ({both(*values)})")
    return list(found.values())


def values_apart(path: str, one: Json, two: Json) -> Iterator[tuple[str, Json, Json]]:
    """Yield the differences between two values by path, as deep as both are objects."""
    if all(value is None or isinstance(value, dict) for value in (one, two)):
        first, second = (value if isinstance(value, dict) else {} for value in (one, two))
        for key in sorted({*first, *second}):
            yield from values_apart(f"{path}.{key}", first.get(key), second.get(key))
    elif one != two:
        yield path, one, two


def both(one: Json, two: Json) -> str:
    """Return two different values in an order that does not depend on which run comes first."""
    return " and ".join(sorted(map(_shorten, (one, two))))


def _shorten(value: Json) -> str:
    text = "not given" if value is None else repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
