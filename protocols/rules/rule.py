"""The interface of rules: a rule reads one answer and decides whether it holds, and by which piece of the answer.

A rule is a value: no I/O, no clock, no randomness, and time linear in the length of the answer, because a system may
answer with megabytes. Its version is raised whenever the same answer could be judged differently, so that a recording
says by which version it was labelled.
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
    """The view of a rule: the topic, everything said and answered so far, and the labels of earlier turns. exchanges:
    at least one; the last one has the answer to judge. labels: `o` or `x`, one for each exchange but the last."""

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
    """A rule's decision. holds: whether it recognised the answer. evidence: the grounds, or else what was missing."""

    holds: bool
    evidence: tuple[Evidence, ...]


class Rule(Protocol):
    """Recognises one kind of answer, such as a refusal, from a `Sight` alone."""

    @property
    def version(self) -> str:
        """Kind and version, for example `urls/1`; for composed rules those of the parts, `any(empty/1 refusal/1)`."""
        ...

    @property
    def needs(self) -> frozenset[str]:
        """What a driver must deliver besides text: `links` or nothing."""
        ...

    def judge(self, sight: Sight) -> Verdict:
        """Decide whether the rule holds for the last answer of `sight`, with evidence. Never raises for any answer."""
        ...

    def unfit(self, topic: Topic) -> str | None:
        """Return why the rule cannot judge answers to this topic, as the end of a sentence, or None if it can."""
        ...


def span(text: str, start: int, end: int, note: str) -> Evidence:
    """Return evidence at text[start:end]. At most 300 characters are quoted; the note says if there are more."""
    if end - start > _LONGEST_QUOTE:
        note = f"{note} (the first {_LONGEST_QUOTE} of {end - start} characters)"
        end = start + _LONGEST_QUOTE
    return Evidence(start, end, text[start:end], note)


def absence(missed: str, note: str) -> Evidence:
    """Return evidence outside the text, or of an absence: `missed` says what was looked for."""
    return Evidence(-1, -1, missed[:_LONGEST_QUOTE], note)


def limit_evidence(pieces: Iterable[Evidence], total: int) -> tuple[Evidence, ...]:
    """Return the first 100 of `total` pieces and one that counts the others, so that a route stays small."""
    shown = tuple(islice(pieces, _MOST_PIECES))
    if total > len(shown):
        shown += (absence("", f"{total - len(shown)} more pieces of evidence are not listed"),)
    return shown
