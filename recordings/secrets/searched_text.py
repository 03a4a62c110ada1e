"""A text that is searched for dozens of literals, most of which do not occur in it.

Searching for one literal takes at least half a nanosecond per character, in every megabyte of a reply. Recording which
pairs of adjacent characters occur takes about as long as two such searches, and rules out most literals at once. The
pairs ignore case and cover ASCII only: a literal that they rule out is certainly absent; any other is searched for.
"""

from functools import lru_cache
from itertools import pairwise

from topics.lower_case import to_lower

# Characters from which recording the pairs is faster than the searches it saves.
_LONG = 2**12

_PAIRS = 2**16  # of two bytes
# İ and the Kelvin sign: the only characters beyond ASCII that are in it once they are in lower case.
_ASCII_IN_LOWER_CASE = {0x130: "i", 0x212A: "k"}


class SearchedText:
    """`text`, and the same in lower case, character by character, computed on first use."""

    __slots__ = ("_lower", "_pairs", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._lower: str | None = None
        self._pairs = _pairs_in(text) if len(text) >= _LONG else b""

    @property
    def lower(self) -> str:
        if self._lower is None:
            self._lower = to_lower(self.text)
        return self._lower

    @property
    def long(self) -> bool:
        """True if `may_hold` is faster than a search."""
        return bool(self._pairs)

    def may_hold(self, literal: str) -> bool:
        """False only if `literal` does not occur in the text, in any mix of upper and lower case."""
        pairs = self._pairs
        return not pairs or all(pairs[pair] for pair in _pairs_of(literal))

    def holds(self, literal: str) -> bool:
        return self.may_hold(literal) and literal in self.text

    def holds_in_any_case(self, literal: str) -> bool:
        """literal: in lower case."""
        return self.may_hold(literal) and (literal in self.text or literal in self.lower)


def _pairs_in(text: str) -> bytes:
    """Return an array with 1 at the number of each pair in the text, else 0."""
    import numpy as np  # late: commands that read no long text do without it

    if not text.isascii() and any(chr(code) in text for code in _ASCII_IN_LOWER_CASE):
        text = text.translate(_ASCII_IN_LOWER_CASE)
    data = text.encode("ascii", "replace").lower()
    even = np.frombuffer(data, "<u2", len(data) // 2)
    odd = np.frombuffer(data, "<u2", (len(data) - 1) // 2, offset=1)
    counts = np.bincount(even, minlength=_PAIRS) + np.bincount(odd, minlength=_PAIRS)
    return (counts > 0).tobytes()


@lru_cache(maxsize=1024)
def _pairs_of(literal: str) -> tuple[int, ...]:
    lower = literal.lower()
    return tuple(ord(a) | ord(b) << 8 for a, b in pairwise(lower) if a.isascii() and b.isascii())
