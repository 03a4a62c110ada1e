"""Whether an answer says what a plan holds to be right: phrases, as the protocol rule `contains` finds them."""

from collections.abc import Sequence
from typing import Literal

from protocols.answer import Answer, Exchange
from protocols.rules.contains import Contains
from protocols.rules.plain import plain_text
from protocols.rules.rule import Sight
from topics.topic import Topic

# Only `right` and `wrong` are decided. `both`: the answer holds phrases of both; a denial looks like that.
Verdict = Literal["right", "wrong", "both", "neither"]

_AROUND = " \t\r\n.!?,;:*_`'\"“”‘’「」()"


def verdict(answer: Answer, right: Sequence[str], wrong: Sequence[str], topic: Topic, *, only: bool) -> Verdict:
    """What the answer says. right, wrong: phrases, filled in. only: the answer must be nothing but a phrase.

    Whole words, case and emphasis aside. Nothing is understood: "not Kyoto" holds "Kyoto". Ask for the answer alone.
    """
    is_right = bool(said_of(answer, right, topic, only=only))
    is_wrong = bool(said_of(answer, wrong, topic, only=only))
    if is_right and is_wrong:
        return "both"
    return "right" if is_right else "wrong" if is_wrong else "neither"


def said_of(answer: Answer, phrases: Sequence[str], topic: Topic, *, only: bool) -> tuple[str, ...]:
    """The words of the answer that say one of `phrases`, as they stand there, each once; () where none does."""
    if only:
        said = answer.text.strip(_AROUND)
        return (said,) if _flat(said) in set(map(_flat, phrases)) else ()
    if not phrases:
        return ()
    found = Contains(phrases=tuple(phrases)).judge(Sight(topic, (Exchange("", answer),)))
    return tuple(dict.fromkeys(piece.quote for piece in found.evidence if piece.start >= 0)) if found.holds else ()


def _flat(words: str) -> str:
    return plain_text(words).text.strip(_AROUND).casefold()
