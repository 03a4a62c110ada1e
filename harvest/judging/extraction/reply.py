"""A strict reader of a model's replies, which accepts only nuggets that quote the passage. A complete reply is either
readable or not. In a readable reply, each nugget is accepted or refused. Nothing is repaired."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from harvest.judging.replies.asking import strict_json
from scoring.swan.acts import ACTS
from scoring.swan.nugget import Candidate
from scoring.words import Passage
from simulators.outside import Sample

# The rule of a nugget that a model found.
RULE = "model"

# Nuggets of one passage.
_MOST_NUGGETS = 1000

# Faults that make a whole reply unreadable, by name.
REPLY_FAULTS = MappingProxyType(
    {
        "cut": "The endpoint says that it cut the reply off, or filtered it.",
        "not-json": "It is anything but one JSON value: words or a code fence around it, a key twice, nothing at all.",
        "wrong-shape": 'It is JSON, and not `{"nuggets": […]}` with that key alone.',
        "too-many": f"It holds more than {_MOST_NUGGETS:,} nuggets.",
    }
)

# Faults for which a nugget of a readable reply is refused, by name.
NUGGET_FAULTS = MappingProxyType(
    {
        "no-nugget": "It is not an object with the texts `quote` and `type`, and for an act `act`, or has another key.",
        "type": "Its type is neither F nor O: entities (E) are found by their URLs.",
        "act": "Type O without one of the acts above, or type F with an act.",
        "not-said": "The quotation does not stand in the passage, character by character and in whole words.",
        "overlap": "Every place where the quotation stands is taken by nuggets before it.",
    }
)

_CUT_FINISHES = ("length", "max_tokens", "content_filter")
_NUGGET_KEYS = frozenset({"quote", "type", "act"})
# In scripts that separate words, a quotation must not begin or end inside a word.
_LETTER = "[0-9A-Za-z\u00c0-\u024f\u0370-\u058f\u1e00-\u1fff]"


@dataclass(frozen=True, slots=True)
class Reading:
    """The content of a reply: the accepted nuggets, and the number of refused nuggets by the names in
    `NUGGET_FAULTS`. `fault` is one of `REPLY_FAULTS`, or "" if the reply was readable."""

    found: tuple[Candidate, ...] = ()
    refused: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    fault: str = ""


def read_reply(sample: Sample, passage: Passage) -> Reading:
    """Return the nuggets of `passage` in a reply, in the order of the text and without overlaps. The search for a
    quotation begins after the previous quotation. If a phrase is quoted twice, the second quotation is therefore
    its second occurrence. If the phrase occurs only earlier in the text, the earlier occurrence is used."""
    if sample.finish.lower() in _CUT_FINISHES:
        return Reading(fault="cut")
    try:
        value = strict_json(sample.text)
    except (ValueError, RecursionError):
        return Reading(fault="not-json")
    match value:
        case {"nuggets": list(items)} if len(value) == 1:
            if len(items) > _MOST_NUGGETS:
                return Reading(fault="too-many")
        case _:
            return Reading(fault="wrong-shape")
    spans, refused = _FreeSpans(passage.text), Counter[str]()
    found = []
    for item in items:
        one = _read_candidate(item, spans)
        if isinstance(one, str):
            refused[one] += 1
        else:
            found.append(one)
    return Reading(tuple(sorted(found, key=lambda one: one.start)), MappingProxyType(dict(sorted(refused.items()))))


def _read_candidate(item: Any, spans: "_FreeSpans") -> Candidate | str:
    if not isinstance(item, dict) or not item.keys() <= _NUGGET_KEYS:
        return "no-nugget"
    quote, kind, act = item.get("quote"), item.get("type"), item.get("act")
    if not isinstance(quote, str) or not quote.strip() or not isinstance(kind, str):
        return "no-nugget"
    if kind not in ("F", "O"):
        return "type"
    if (kind == "F" and act not in (None, "")) or (kind == "O" and act not in ACTS):
        return "act"
    words = quote.strip()
    where = spans.take(words)
    if isinstance(where, str):
        return where
    return Candidate(*where, "F" if kind == "F" else "O", RULE, str(act or ""), text=words)


class _FreeSpans:
    def __init__(self, text: str) -> None:
        self._text = text
        self._taken: list[tuple[int, int]] = []  # sorted, without overlaps
        self._after = 0

    def take(self, words: str) -> tuple[int, int] | str:
        before = f"(?<!{_LETTER})" if re.match(_LETTER, words[0]) else ""
        after = f"(?!{_LETTER})" if re.match(_LETTER, words[-1]) else ""
        expression = re.compile(f"{before}{re.escape(words)}{after}")
        span = self._find_free(expression, self._after) or self._find_free(expression, 0)
        if span is None:
            return "overlap" if expression.search(self._text) else "not-said"
        self._taken.insert(bisect_left(self._taken, span), span)
        self._after = span[1]
        return span

    def _find_free(self, expression: re.Pattern[str], position: int) -> tuple[int, int] | None:
        while found := expression.search(self._text, position):
            over = self._find_overlap(*found.span())
            if over is None:
                return found.span()
            position = over[1]
        return None

    def _find_overlap(self, start: int, end: int) -> tuple[int, int] | None:
        last = bisect_left(self._taken, (end, 0)) - 1
        return self._taken[last] if last >= 0 and self._taken[last][1] > start else None
