"""The interface of rules. A rule reads an answer, decides whether the rule holds, and cites the evidence.

A rule is a pure value: it does no I/O and uses neither a clock nor randomness. It must run in time linear in the
length of the answer, because a system may answer with megabytes. Its version is raised whenever it could judge an
answer differently, so that a recording shows which version produced a label.
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
_MOST_PIECES = 100  # pieces of evidence


@dataclass(frozen=True, slots=True)
class Sight:
    """The input of a rule: the topic, the conversation so far, and the labels of earlier turns. There is at least one
    exchange, and the last exchange has the answer to judge. `labels` has `o` or `x` for each exchange but the last.
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
        """The earlier answers, oldest first."""
        return tuple(exchange.answer for exchange in self.exchanges[:-1])


@dataclass(frozen=True, slots=True)
class Verdict:
    """A rule's decision: whether the rule holds for the answer, with the evidence or the missing part."""

    holds: bool
    evidence: tuple[Evidence, ...]


class Rule(Protocol):
    """A recogniser of one kind of answer, such as a refusal."""

    @property
    def version(self) -> str:
        """The kind and version, for example `urls/1`. Composed rules list their parts: `any(empty/1 refusal/1)`."""
        ...

    @property
    def needs(self) -> frozenset[str]:
        """The capabilities that a driver must have besides text: `links` or nothing."""
        ...

    def judge(self, sight: Sight) -> Verdict:
        """Decide whether the rule holds for the last answer of `sight`, with evidence. Never raises for any answer."""
        ...

    def unfit(self, topic: Topic) -> str | None:
        """Return the reason why the rule cannot judge answers to this topic, as the end of a sentence, or None."""
        ...


def span(text: str, start: int, end: int, note: str) -> Evidence:
    """Return the evidence text[start:end]. At most 300 characters are quoted, and a note mentions any more."""
    if end - start > _LONGEST_QUOTE:
        note = f"{note} (the first {_LONGEST_QUOTE} of {end - start} characters)"
        end = start + _LONGEST_QUOTE
    return Evidence(start, end, text[start:end], note)


def absence(missed: str, note: str) -> Evidence:
    """Return evidence of something that is absent or outside the text, as described by `missed`."""
    return Evidence(-1, -1, missed[:_LONGEST_QUOTE], note)


def limit_evidence(pieces: Iterable[Evidence], total: int) -> tuple[Evidence, ...]:
    """Return the first 100 of `total` pieces of evidence, and a piece that counts the rest, to keep a route small."""
    shown = tuple(islice(pieces, _MOST_PIECES))
    if total > len(shown):
        shown += (absence("", f"{total - len(shown)} more pieces of evidence are not listed"),)
    return shown
