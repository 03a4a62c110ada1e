"""Whether an answer says what a plan calls right: phrases, matched as by the protocol rule `contains`."""

from collections.abc import Sequence
from typing import Literal

from protocols.answer import Answer, Exchange
from protocols.rules.contains import Contains
from protocols.rules.plain import plain_text
from protocols.rules.rule import Sight
from topics.topic import Topic

# Only `right` and `wrong` are decided. `both`: the answer has phrases of both, as a denial does.
Verdict = Literal["right", "wrong", "both", "neither"]

_AROUND = " \t\r\n.!?,;:*_`'\"“”‘’「」()"


def verdict(answer: Answer, right: Sequence[str], wrong: Sequence[str], topic: Topic, *, only: bool) -> Verdict:
    """Judge an answer. right, wrong: phrases, filled in. only: the answer must consist of a phrase alone.

    Matches whole words, ignoring case and emphasis. Nothing is understood: "not Kyoto" contains "Kyoto". Ask for the
    answer alone.
    """
    is_right = bool(said_of(answer, right, topic, only=only))
    is_wrong = bool(said_of(answer, wrong, topic, only=only))
    if is_right and is_wrong:
        return "both"
    return "right" if is_right else "wrong" if is_wrong else "neither"


def said_of(answer: Answer, phrases: Sequence[str], topic: Topic, *, only: bool) -> tuple[str, ...]:
    """Return the words of the answer that match one of `phrases`, as they appear there, each once; () for no match."""
    if only:
        said = answer.text.strip(_AROUND)
        return (said,) if _flatten(said) in set(map(_flatten, phrases)) else ()
    if not phrases:
        return ()
    found = Contains(phrases=tuple(phrases)).judge(Sight(topic, (Exchange("", answer),)))
    return tuple(dict.fromkeys(piece.quote for piece in found.evidence if piece.start >= 0)) if found.holds else ()


def _flatten(words: str) -> str:
    return plain_text(words).text.strip(_AROUND).casefold()
