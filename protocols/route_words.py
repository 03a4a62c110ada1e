"""Decisions in words, for people who read a conversation."""

from collections.abc import Sequence
from dataclasses import dataclass

from protocols.route import Evidence, Route
from topics.shown_names import shorten

_MOST_PIECES = 3  # pieces of evidence in the words of a rule
_LONGEST = 80  # characters of a piece


@dataclass(frozen=True, slots=True)
class RuleFinding:
    """How the rule `name` of an edge judged an answer. `why` is a clause about the answer."""

    name: str
    met: bool
    why: str


def decision_words(route: Route) -> str:
    """Return the reason for a decision, such as `enough is met`."""
    return {"otherwise": "no rule is met", "no-match": "no edge fits"}.get(route.rule, f"{route.rule} is met")


def target_words(route: Route) -> str:
    """Return the next step: the name of a state, or the end with its outcome."""
    end = route.target.removeprefix("stop:")
    return end if end == route.target else f"the end ({end})"


def evidence_words(evidence: Sequence[Evidence]) -> str:
    """Return recorded evidence as a clause, such as `the pattern: “2.5%”`, or `at least 5 words: 3 words`."""
    shown = [piece_words(piece) for piece in evidence[:_MOST_PIECES]]
    more = [f"{len(evidence) - _MOST_PIECES} more"] if len(evidence) > _MOST_PIECES else []
    return ", ".join((*dict.fromkeys(shown), *more))


def piece_words(piece: Evidence) -> str:
    """Return one piece of evidence: what it is, and the passage in quotation marks; or what is missing."""
    quote, note = (shorten(" ".join(text.split()), _LONGEST) for text in (piece.quote, piece.note))
    if piece.start >= 0:
        return f"“{quote}”" if note in ("", quote) else f"{note}: “{quote}”"
    return ": ".join(filter(None, (quote, note)))
