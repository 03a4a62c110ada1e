"""Comparison of the page's text with a received text: the words that only one of the two texts has."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal

from harvest.pages.witness.letters import Plain, letters, mark_signs

# Only old recordings have `near`: small differences in the middle, which were once accepted.
How = Literal["equal", "near", "other"]

# The least likeness at which a received text may be the page's.
LEAST_LIKENESS = 0.6
_MOST_UNEQUAL = 0.999  # most for different texts: their pieces may be the same, in another order
_ENOUGH_LETTERS = 40  # letters that no other text has by chance …
_HELD_SHARE = 0.95  # … if this share of them is there
_PIECE_LENGTH = 5  # characters of each piece that is compared
_MOST_TOKENS = 6_000  # the exact comparison costs their square
_MOST_RUNS = 4  # most differences that are quoted
_LONGEST_RUN = 300  # most characters of each
# A figure with the signs in it that `mark_signs` marks is one word.
_TOKEN = re.compile(r"(?:[^\W_぀-ヿ㐀-鿿가-힣฀-๿]|[\ufdd0-\ufddf])+|\w|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Difference:
    """The result of a comparison. Even a single additional word makes the texts different, because that word may be
    "not". `page` and `wire` are the first runs of words that only this side has, cut to 300 characters. `only_page`
    and `only_wire` count the letters that only this side has. `ahead` is True if all letters that only the page has
    come before the received text."""

    how: How
    page: tuple[str, ...] = ()
    wire: tuple[str, ...] = ()
    only_page: int = 0
    only_wire: int = 0
    ahead: bool = False


class Reading:
    """The text of the page, prepared for many comparisons. `said` is the user's text. Comparing long texts is slow,
    and a text may be received under many keys, so each text is compared only once."""

    def __init__(self, plains: Sequence[Plain], said: str = "") -> None:
        self.plains = tuple(plains)
        self._texts = [plain.letters for plain in self.plains]
        # If the user's words were read in front of the answer, the answer is still like the reply.
        words = letters(said).casefold()
        if words and self.letters.casefold().startswith(words):
            self._texts.append(self.letters[len(words) :])
        self._known: dict[tuple[str, int], Counter[str]] = {}
        self._likeness: dict[str, float] = {}
        self._compared: dict[Plain, Difference] = {}

    @property
    def letters(self) -> str:
        return self.plains[0].letters

    def likeness(self, wire: str) -> float:
        """Return the likeness of the page's text and a received text, from 0 to 1: Dice's coefficient of their pieces
        of five characters. If one text is long and almost all of it is in the other text, the result is at least
        LEAST_LIKENESS."""
        if wire not in self._likeness:
            self._likeness[wire] = 1.0 if self.is_equal(wire) else self._likeness_of(wire)
        return self._likeness[wire]

    def _likeness_of(self, wire: str) -> float:
        cut: dict[int, Counter[str]] = {}
        scores = (_dice_coefficient(*self._pieces(text, wire, cut)) for text in self._texts)
        likeness = min(_MOST_UNEQUAL, max(scores, default=0.0))
        if likeness < LEAST_LIKENESS and min(len(wire), len(self.letters)) >= _ENOUGH_LETTERS:
            few, many = sorted(self._pieces(self.letters, wire, cut), key=Counter.total)
            held = sum(min(count, many[piece]) for piece, count in few.items() if piece in many)
            likeness = LEAST_LIKENESS if held >= _HELD_SHARE * few.total() else likeness
        return likeness

    def _pieces(self, page: str, wire: str, cut: dict[int, Counter[str]]) -> tuple[Counter[str], Counter[str]]:
        """Return the pieces of both texts, which are shorter if a text is short. `cut` caches the pieces of the
        received text by their size."""
        size = min(_PIECE_LENGTH, max(1, min(len(page), len(wire)) // 2))
        if (page, size) not in self._known:
            self._known[page, size] = _cut_into(page, size)
        if size not in cut:
            cut[size] = _cut_into(wire, size)
        return self._known[page, size], cut[size]

    def is_equal(self, wire: str) -> bool:
        return any(plain.letters == wire for plain in self.plains)

    def compare(self, wire: Plain) -> Difference:
        if wire not in self._compared:
            equal = self.is_equal(wire.letters)
            self._compared[wire] = Difference("equal") if equal else difference(self.plains[0], wire)
        return self._compared[wire]


def _cut_into(text: str, size: int) -> Counter[str]:
    return Counter([text[start : start + size] for start in range(len(text) - size + 1)])


def _dice_coefficient(one: Counter[str], other: Counter[str]) -> float:
    if not one or not other:
        return 0.0
    few, many = sorted((one, other), key=len)
    common = sum(min(count, many[piece]) for piece, count in few.items() if piece in many)
    return 2 * common / (one.total() + other.total())


def difference(page: Plain, wire: Plain) -> Difference:
    """Return the differences between two texts, run by run."""
    if page.letters == wire.letters:
        return Difference("equal")
    edits = _find_edits(page.shown, wire.shown)
    only_page, only_wire = sum(edit.only_page for edit in edits), sum(edit.only_wire for edit in edits)
    return Difference(
        "other",
        _shorten(edit.page for edit in edits if edit.only_page),
        _shorten(edit.wire for edit in edits if edit.only_wire),
        only_page,
        only_wire,
        only_page > 0 and all(edit.first or not edit.only_page for edit in edits),
    )


@dataclass(frozen=True, slots=True)
class _Edit:
    """A stretch in which the words differ. `first` is True if both texts begin with the stretch. `page` and `wire` are
    the words of each side. `only_page` and `only_wire` count the letters of each side after the common beginning
    and before the common end."""

    first: bool
    page: str
    wire: str
    only_page: int
    only_wire: int


def _shorten(texts: Iterable[str]) -> tuple[str, ...]:
    kept: list[str] = []
    for text in texts:
        if len(kept) == _MOST_RUNS:
            break
        bare = " ".join(text.split())
        kept.append(bare if len(bare) <= _LONGEST_RUN else f"{bare[:_LONGEST_RUN]}…")
    return tuple(kept)


def _find_edits(page: str, wire: str) -> list[_Edit]:
    (one, one_at), (other, other_at) = _word_tokens(page), _word_tokens(wire)
    first = 0
    while first < min(len(one), len(other)) and one[first] == other[first]:
        first += 1
    last = 0
    while last < min(len(one), len(other)) - first and one[-1 - last] == other[-1 - last]:
        last += 1
    ours, theirs = one[first : len(one) - last], other[first : len(other) - last]
    steps: Sequence[tuple[str, int, int, int, int]] = [("replace", 0, len(ours), 0, len(theirs))]
    if len(ours) + len(theirs) <= _MOST_TOKENS:
        steps = SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()
    found = []
    for step, a, b, c, d in steps:
        if step == "equal" or "".join(ours[a:b]) == "".join(theirs[c:d]):
            continue
        # If nothing is the same, no received text follows what only the page has.
        leads = first + a == first + c == 0 and not (last + len(ours) - b == last + len(theirs) - d == 0)
        shown = _quote(page, one_at, first + a, first + b), _quote(wire, other_at, first + c, first + d)
        found.append(_Edit(leads, *shown, *_differing_letters("".join(ours[a:b]), "".join(theirs[c:d]))))
    return found


def _differing_letters(one: str, other: str) -> tuple[int, int]:
    most = min(len(one), len(other))
    start = next((place for place in range(most) if one[place] != other[place]), most)
    end = next((place for place in range(most - start) if one[-1 - place] != other[-1 - place]), most - start)
    return len(one) - start - end, len(other) - start - end


@lru_cache(maxsize=2)  # the page's text is compared with many in a row
def _word_tokens(text: str) -> tuple[list[str], list[tuple[int, int]]]:
    """Return each word's letters and its span in the text. In scripts without spaces, each character is a word."""
    words, places = [], []
    for found in _TOKEN.finditer(mark_signs(text)):
        own = letters(found[0])
        if own:
            words.append(own)
            places.append(found.span())
    return words, places


def _quote(text: str, places: list[tuple[int, int]], start: int, end: int) -> str:
    return text[places[start][0] : places[end - 1][1]] if end > start else ""
