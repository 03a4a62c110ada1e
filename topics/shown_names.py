"""Names and texts in the form that tables and messages show, in which blanks and capitals make no difference."""

import unicodedata
from collections.abc import Iterable


def shorten(text: str, most: int) -> str:
    """Return `text`. If it has more than `most` characters, return its beginning and `…`."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


# Greek and Cyrillic letters with the shapes of Latin ones.
_SHAPES = str.maketrans(
    "АВЕЅІЈКМНОРСТУХаеорсухіјѕԁһԛԝѵΑΒΕΖΗΙΚΜΝΟΡΤΥΧορυανικ", "ABESIJKMHOPCTYXaeopcyxijsdhqwvABEZHIKMNOPTYXopuavik"
)


def normalise_name(name: str) -> str:
    """Return a name in lower case with single blanks, for comparison. Letters of the same shape become the same."""
    if not name.isascii():
        name = unicodedata.normalize("NFKC", name).translate(_SHAPES)
    return " ".join(name.split()).casefold()


def first_same_names(names: Iterable[str]) -> tuple[str, str] | None:
    """Return the first two names that would look alike, in order, or None."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(normalise_name(name), name)
        if other is not name:
            return other, name
    return None
