"""Names as tables show them: two that differ in blanks or capitals alone are one to whoever reads or filters them."""

from collections.abc import Iterable


def shown_name(name: str) -> str:
    """What is left of a name without capitals, and without blanks around it and more than one between its words."""
    return " ".join(name.split()).casefold()


def first_alike(names: Iterable[str]) -> tuple[str, str] | None:
    """The first two names that are shown alike, in their order; None where all can be told apart."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(shown_name(name), name)
        if other is not name:
            return other, name
    return None
