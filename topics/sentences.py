"""Sentences of a turn as chat systems write them: prose, lists, headings, tables, code, with URLs in between.

Nothing inside a URL, a Markdown link or inline code ends a sentence. A list item (also within a line), a heading and
a table row each begin a sentence, and a fenced block of code is one sentence. Every sentence has a word: an item
number or a mark on its own is joined to its neighbour or dropped. Time is linear in the length of the text.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from topics.full_stops import abbreviation_frequency, inner_stops, list_numbers
from topics.late_pattern import lazy_pattern
from topics.links import find_urls

Shape = Literal["prose", "item", "heading", "row", "code"]

_LINE = lazy_pattern(r"([^\n\r\u2028\u2029]*)(?:\r\n|[\n\r\u2028\u2029]|\Z)")
_FENCE = lazy_pattern(r"[ \t>]{0,12}(`{3,}|~{3,})")
_ITEM = lazy_pattern(r"[ \t>]{0,99}(?:[-*+•‣▪●○–][ \t]|\(?[0-9]{1,3}[.):](?=[ \t])|\[[0-9]{1,3}\][ \t:])[ \t]{0,99}")
_HEADING = lazy_pattern(r"[ \t>]{0,12}#{1,6}[ \t]{1,12}")
_ROW = lazy_pattern(r"[ \t]{0,12}\|")
_QUOTE = lazy_pattern(r"[ \t]{0,12}>[ \t>]{0,12}")
_NUMBER = lazy_pattern(r"\(?[0-9]{1,3}(?:\.[0-9]{1,3}){0,5}[.):]|\[[0-9]{1,3}\]")
_ROMAN = lazy_pattern(r"[*_]{0,2}[IVX]{1,5}")
_NO_WORDS = lazy_pattern(r"[\s|:*_=+~#>-]*")
_ENDS = lazy_pattern(
    r"(?<![.!?…])[.!?…]++[\"'”’»)\]*_]{0,4}(?=\s)|[。！？｡]+[」』”’）)】]{0,4}"
    r"|(?<=\s)[:;]-?[()DP](?=\s)|(?<![!?])[!?]++(?=[A-Z][a-z])|(?<=\s)\.(?=[A-Z])"  # emoticons, and spaces left out
)
_INLINE = lazy_pattern(r"`[^`\n]+`|!?\[[^\[\]\n]{0,999}\]\([^()\s]{0,999}\)")
_TOKEN = lazy_pattern(r"[^\s(\[\"'“‘]*\Z")
_MARKERS: tuple[tuple[re.Pattern[str], Shape], ...] = ((_HEADING, "heading"), (_ITEM, "item"), (_ROW, "row"))
_TERMINAL = ".!?…:;。！？"

_STARTS = lazy_pattern(
    r"(?:The|It|He|She|They|We|You|I|This|That|These|Those|There|In|On|At|But|And|However|If|What|How|Do|Is|Are)\b"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """Characters [start, end) of a text, without markers and surrounding white space. `shape` is the kind of block.
    `leads` is True if the sentence ends with a colon and the turn continues."""

    start: int
    end: int
    shape: Shape
    leads: bool = False


@lru_cache(maxsize=16)  # several rules split the same turn one after the other, and it can have a million characters
def sentences(text: str) -> tuple[Sentence, ...]:
    """Return the sentences of `text` in order, without overlaps, each with at least one word. Only white space and
    markers are between them."""
    covered = _CoveredPositions(text)
    found: list[Sentence] = []
    for start, end, shape in _text_blocks(text):
        if shape == "code":
            pieces: Iterator[tuple[int, int]] = iter([(start, end)])
        else:
            pieces = _block_sentences(text, start, end, covered)
        for first, last in pieces:
            # Without white space and table bars around it.
            while first < last and (text[first].isspace() or text[first] == "|"):
                first += 1
            while first < last and (text[last - 1].isspace() or text[last - 1] == "|"):
                last -= 1
            piece = text[first:last]
            if has_word(piece) or (piece == text.strip() and any(map(str.isalnum, piece))):  # "12." answers how many
                found.append(Sentence(first, last, shape))
    return tuple(
        Sentence(one.start, one.end, one.shape, one.shape != "code" and text[one.end - 1] in ":：" and i < len(found))
        for i, one in enumerate(found, start=1)
    )


class _CoveredPositions:
    """Positions at which a full stop ends no sentence: URLs, Markdown links, inline code, dates and ordinals."""

    def __init__(self, text: str) -> None:
        spans = [match.span() for match in _INLINE.finditer(text)]
        spans += [(mention.start, mention.end) for mention in find_urls(text, www=True)]
        spans += inner_stops(text)
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(spans):
            if self._ends and start < self._ends[-1]:
                self._ends[-1] = max(end, self._ends[-1])
            else:
                self._starts.append(start)
                self._ends.append(end)

    def __contains__(self, place: int) -> bool:
        i = bisect_right(self._starts, place) - 1
        return i >= 0 and place < self._ends[i]


def _text_blocks(text: str) -> Iterator[tuple[int, int, Shape]]:
    block: tuple[int, int, Shape] | None = None
    fence = ""
    opened = -1
    for line in _LINE.finditer(text):
        start, end = line.span(1)
        mark = _FENCE.match(text, start, end)
        if fence:
            if mark and mark[1].startswith(fence):
                yield opened, start, "code"
                fence = ""
            continue
        if mark:
            if block:
                yield block
            block, fence, opened = None, mark[1], line.end()
            continue
        if _NO_WORDS.fullmatch(text, start, end):
            if block:
                yield block
            block = None
            continue
        quote = _QUOTE.match(text, start, end)
        first = quote.end() if quote else start
        shape: Shape = "prose"
        for pattern, other in _MARKERS:
            match = pattern.match(text, start, end)
            if match and (other != "row" or text.rfind("|", match.end(), end) >= 0):
                first, shape = match.end(), other
                break
        if block and shape == "prose" and block[2] != "heading":
            # The line continues the sentence before it if that one did not end and this one begins with a small letter.
            before = text[max(block[0], block[1] - 80) : block[1]].rstrip()
            following = text[first : first + 80].lstrip()
            if before and before[-1] not in _TERMINAL and following[:1].islower():
                block = (block[0], end, block[2])
                continue
        if block:
            yield block
        block = (first, end, shape)
        if line.end() == len(text):
            break
    if fence and opened < len(text):  # a block of code that was cut off
        yield opened, len(text), "code"
    if block:
        yield block


def _block_sentences(text: str, start: int, end: int, covered: _CoveredPositions) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a block. A piece without a word is joined to the piece before it."""
    begun, ended, worded = -1, start, False
    for first, last in _sentence_spans(text, start, end, covered):
        if not text[first:last].strip():
            continue
        words = has_word(text[first:last])
        if begun >= 0 and words and worded:
            yield begun, ended
            begun, worded = -1, False
        begun = first if begun < 0 else begun
        ended, worded = last, worded or words
    if begun >= 0:
        yield begun, ended


def _sentence_spans(text: str, start: int, end: int, covered: _CoveredPositions) -> Iterator[tuple[int, int]]:
    numbers = list_numbers(text, start, end, covered.__contains__)
    for (_, first), (last, _) in pairwise([(start, start), *numbers, (end, end)]):
        for mark in _ENDS.finditer(text, first, last):
            if mark.start() not in covered and _ends_sentence(text, first, mark, end):
                yield first, mark.end()
                first = mark.end()
        yield first, last


def has_word(text: str) -> bool:
    """Return True if a text could be judged: it has a letter, or a digit outside an item number."""
    if any(map(str.isalpha, text)):
        return True
    bare = text.strip(" \t*_|")
    return any(map(str.isalnum, bare)) and not _NUMBER.fullmatch(bare)


def _ends_sentence(text: str, first: int, mark: re.Match[str], end: int) -> bool:
    if mark[0][0] in "。！？｡:;":
        return True
    following = text[mark.end() : min(end, mark.end() + 40)].lstrip()
    small = following[:1].islower()
    if mark[0][-1] in "\"'”’»" and small:  # "Who is there?" she asked
        return False
    if mark[0][0] in "!?":
        return True
    if mark[0].startswith(("..", "…")):
        return not small
    found = _TOKEN.search(text[max(first, mark.start() - 30) : mark.start()])
    token = (found[0] if found else "").lstrip("*_")
    belongs = abbreviation_frequency(token)
    if belongs == "always" or (token.lower() == "no" and following[:1].isdigit()):
        return False
    if belongs == "mostly":
        return _STARTS.match(following) is not None
    if mark.start() - first < 12 and _ROMAN.fullmatch(text[first : mark.start()].strip()):  # the number of a chapter
        return False
    if len(token) == 1 and token.isalpha() and token != "I":  # an initial
        return False
    return not small or (len(token) > 1 and token.isalpha())
