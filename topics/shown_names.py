"""Names and texts as tables and messages show them.

Two names that differ only in blanks or capitals look the same to whoever reads or filters a table.
"""

from collections.abc import Iterable


def shorten(text: str, most: int) -> str:
    """`text`, or its beginning and `…` if it has more than `most` characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def shown_name(name: str) -> str:
    """What is left of a name without capitals, and without blanks around it and more than one between its words."""
    return " ".join(name.split()).casefold()


def first_alike(names: Iterable[str]) -> tuple[str, str] | None:
    """The first two names that are shown alike, in their order; None if all can be told apart."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(shown_name(name), name)
        if other is not name:
            return other, name
    return None
