"""The seam for rules: a rule looks at one answer and says whether it holds, and by which piece of the answer.

A rule is a value: no I/O, no clock, no randomness, and time linear in the length of the answer, because a system
may answer with megabytes. Its version is raised whenever the same answer could be judged differently, so that a
recording from last month says by which rule it was labelled.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from protocols.answer import Answer, Exchange
from protocols.route import Evidence
from topics.topic import Topic

__all__ = ["Rule", "Sight", "Verdict", "absence", "limit_evidence", "span"]

_LONGEST_QUOTE = 300  # characters of evidence
_MOST_PIECES = 100  # of evidence


@dataclass(frozen=True, slots=True)
class Sight:
    """What a rule can see: the topic, everything said and answered so far, and the labels of earlier turns.

    exchanges: at least one; the last one holds the answer to judge. labels: `o` or `x`, one for each exchange but
    the last.
    """

    topic: Topic
    exchanges: tuple[Exchange, ...]
    labels: tuple[str, ...] = ()

    @property
    def answer(self) -> Answer:
        """The answer to judge."""
        return self.exchanges[-1].answer

    @property
    def earlier(self) -> tuple[Answer, ...]:
        """The answers before it, oldest first."""
        return tuple(exchange.answer for exchange in self.exchanges[:-1])


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a rule says about an answer.

    holds: whether the rule recognised it. evidence: what it rests on; where the rule does not hold, what was missing.
    """

    holds: bool
    evidence: tuple[Evidence, ...]


class Rule(Protocol):
    """Recognises one kind of answer, such as a refusal, from what a `Sight` shows alone."""

    @property
    def version(self) -> str:
        """Kind and version, for example `urls/1`; for composed rules those of the parts, `any(empty/1 refusal/1)`."""
        ...

    @property
    def needs(self) -> frozenset[str]:
        """What the rule needs a driver to deliver besides text: `links` or nothing."""
        ...

    def judge(self, sight: Sight) -> Verdict:
        """Whether the rule holds for the last answer of `sight`, with evidence. Never raises on what a system wrote."""
        ...

    def unfit(self, topic: Topic) -> str | None:
        """Why the rule cannot judge answers to this topic, as the end of a sentence; None if it can."""
        ...


def span(text: str, start: int, end: int, note: str) -> Evidence:
    """Evidence at text[start:end]. Only the first 300 characters of a longer piece are quoted, and the note says so."""
    if end - start > _LONGEST_QUOTE:
        note = f"{note} (the first {_LONGEST_QUOTE} of {end - start} characters)"
        end = start + _LONGEST_QUOTE
    return Evidence(start, end, text[start:end], note)


def absence(missed: str, note: str) -> Evidence:
    """Evidence that stands outside the text, or is an absence: `missed` says what was looked for."""
    return Evidence(-1, -1, missed[:_LONGEST_QUOTE], note)


def limit_evidence(pieces: Iterable[Evidence], total: int) -> tuple[Evidence, ...]:
    """The first 100 of `total` pieces, and a last one that counts the others: a route stays small."""
    shown = tuple(islice(pieces, _MOST_PIECES))
    if total > len(shown):
        shown += (absence("", f"{total - len(shown)} more pieces of evidence are not listed"),)
    return shown
