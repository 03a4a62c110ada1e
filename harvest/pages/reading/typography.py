"""Differences between two texts that are only typographic, because editors change quotes, dashes, dots and spaces. A
missing line break counts as typographic only if white space replaces it, because words that have run together are
different words."""

import re
from collections.abc import Sequence

_INVISIBLE = re.compile("[\u200b\u2060\ufeff]")

_PLAIN: dict[str, tuple[tuple[re.Pattern[str], str], ...]] = {
    "quotes": (
        (re.compile("[«‹][ \u00a0\u202f]?"), '"'),
        (re.compile("[ \u00a0\u202f]?[»›]"), '"'),
        (re.compile("[“”„‟″〝〞]"), '"'),
        (re.compile("[‘’‚‛′´]"), "'"),
    ),
    "dashes": ((re.compile("[-‐‑‒–—―−]+"), "-"),),  # an editor may have changed part of a row of dashes
    "ellipsis": ((re.compile("…"), "..."),),
    "spaces": ((re.compile(r"[^\S\n]+"), " "), (re.compile(" ?\n ?"), "\n")),
    "breaks": ((re.compile(r"\s*\n\s*"), " "),),
}
DIFFERENCES = tuple(_PLAIN)


def differences(meant: str, found: str) -> tuple[str, ...] | None:
    """Return the kinds of DIFFERENCES in which `found` differs from `meant`, or None if there is any other difference.
    White space at both ends, ways of writing a line break, and zero-width characters do not count."""
    texts = [_INVISIBLE.sub("", text).replace("\r\n", "\n").strip() for text in (meant, found)]
    if texts[0] == texts[1]:
        return ()
    if not _is_equal(texts, DIFFERENCES):
        return None
    kinds = list(DIFFERENCES)
    for kind in reversed(DIFFERENCES):
        fewer = [other for other in kinds if other != kind]
        if _is_equal(texts, fewer):
            kinds = fewer
    return tuple(kinds)


def _is_equal(texts: Sequence[str], kinds: Sequence[str]) -> bool:
    one, other = texts
    for kind in kinds:
        for pattern, sign in _PLAIN[kind]:
            one, other = pattern.sub(sign, one), pattern.sub(sign, other)
    return one == other
