"""Nuggets of a conversation: atomic pieces of a turn that can be scored, with their positions.

There are three types. `F` is a claim. `O` is a dialogue act without a claim ([SWAN] §2; acts by Stolcke et al. 2000,
Table 2). `E` is a link to an entity, as in `scoring.nuggets`; E nuggets are used by fairness and repetition, but no
criterion scores them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from scoring.words import Passage

NuggetType = Literal["E", "F", "O"]
TYPES: tuple[NuggetType, ...] = ("E", "F", "O")

# (turn, speaker, start, end): identifies a nugget in judgments.
Span = tuple[int, str, int, int]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A nugget proposed by an extractor, for characters [start, end) of one passage. `rule` is the name of the rule
    that found the nugget. `act` is the dialogue act of type O, and `entity` the canonical key of type E. `text` is
    the text that the extractor expects in the span, or None if it is not known."""

    start: int
    end: int
    type: NuggetType
    rule: str
    act: str = ""
    entity: str = ""
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Nugget:
    """A nugget with its place in the conversation.

    Turns start at 1, and `speaker` is `user` or `system`. `start` and `end` (exclusive) are characters of the
    speaker's text, or -1 for an entity whose link is outside the text. `position` is WC(n), the number of words in
    the conversation up to the last word of the nugget. `rule` and `version` describe its extraction.
    """

    turn: int
    speaker: str
    start: int
    end: int
    text: str
    position: int
    type: NuggetType
    rule: str
    version: str
    act: str = ""
    entity: str = ""

    @property
    def span(self) -> Span:
        return (self.turn, self.speaker, self.start, self.end)


def place_nuggets(passage: Passage, candidates: Iterable[Candidate], *, version: str) -> tuple[Nugget, ...]:
    """Return the candidates of one passage as nuggets in text order. `version` is the extractor's name and version.

    Raises ValueError, with extractor, turn and span, if a span is outside the text, has no word, or begins or ends
    with white space; if the text in the span is not the candidate's `text`; if the type is unknown; if a nugget of
    another type than O has an act; and if two nuggets of types F or O have equal spans.
    """
    found = sorted(candidates, key=lambda one: (one.start, one.end, one.type, one.entity, one.rule))
    scored: set[tuple[int, int]] = set()
    for one in found:
        fault = _find_fault(passage.text, one)
        if not fault and one.type != "E":
            if (one.start, one.end) in scored:
                fault = "two nuggets on one span"
            scored.add((one.start, one.end))
        if fault:
            where = f"turn {passage.turn}, {passage.speaker}, characters {one.start} to {one.end}"
            raise ValueError(f"the extractor {version} returned an invalid nugget: {fault} ({where})")
    positions = passage.positions([one.end for one in found]) if found else []
    return tuple(
        Nugget(
            turn=passage.turn,
            speaker=passage.speaker,
            start=one.start,
            end=one.end,
            text=passage.text[one.start : one.end],
            position=position,
            type=one.type,
            rule=one.rule,
            version=version,
            act=one.act,
            entity=one.entity,
        )
        for one, position in zip(found, positions, strict=True)
    )


def _find_fault(text: str, one: Candidate) -> str:
    if one.type not in TYPES:
        return f"{one.type!r} is none of the types {', '.join(TYPES)}"
    if not 0 <= one.start < one.end <= len(text):
        return f"the span lies outside a text of {len(text)} characters"
    words = text[one.start : one.end]
    if words != words.strip():
        return "the span begins or ends with white space"
    if one.text is not None and one.text != words:
        return f"it is said to read {one.text[:60]!r}, and the text there reads {words[:60]!r}"
    if (one.type == "O") != bool(one.act):
        return "a nugget of type O, and no other, has a dialogue act"
    if (one.type == "E") != bool(one.entity):
        return "a nugget of type E, and no other, names an entity"
    return ""
