"""`repetition`: the system repeats an earlier answer."""

import re
from typing import ClassVar, Literal

from protocols.rules.answer_rule import AnswerRule
from protocols.rules.empty import INVISIBLE
from protocols.rules.mentions import ANY, named_urls
from protocols.rules.rule import Sight, Verdict, absence, limit_evidence, span

_GAPS = re.compile(f"[{INVISIBLE}]+")


def comparable_text(text: str) -> str:
    """Normalise a text for comparison: casefold it and replace each run of white space or invisible characters by a
    space.

    The comparison is strict, so `is Paris` and `is not Paris` differ. Unicode normal forms are not applied, because
    they take quadratic time on long runs of accents, and a system that repeats itself writes the same characters.
    """
    return _GAPS.sub(" ", text.casefold()).strip()


class Repetition(AnswerRule):
    """Holds if the answer has the text of an earlier answer, or names only URLs that were already given.

    `of` is `text`, `urls`, or `either` (the default). An empty answer does not count as a repeated text, nor does an
    answer without URLs count as repeated URLs. Evidence: the beginning of the repeated text, or each URL, with the
    turn in which the text or URL first appeared.
    """

    version: ClassVar[str] = "repetition/1"
    needs: ClassVar[frozenset[str]] = frozenset({"links"})

    of: Literal["text", "urls", "either"] = "either"

    def judge(self, sight: Sight) -> Verdict:
        verdicts = []
        if self.of != "urls":
            verdicts.append(_judge_text(sight))
        if self.of != "text":
            verdicts.append(_judge_urls(sight))
        holding = next((verdict for verdict in verdicts if verdict.holds), None)
        return holding or Verdict(False, tuple(piece for verdict in verdicts for piece in verdict.evidence))


def _judge_text(sight: Sight) -> Verdict:
    text = sight.answer.text
    form = comparable_text(text)
    for turn, answer in enumerate(sight.earlier, 1):
        if form and comparable_text(answer.text) == form:
            return Verdict(True, (span(text, 0, len(text), f"the same text as the answer to turn {turn}"),))
    return Verdict(False, (absence("the text of an earlier answer", f"{len(sight.earlier)} earlier answers compared"),))


def _judge_urls(sight: Sight) -> Verdict:
    text = sight.answer.text
    found = named_urls(sight.answer, ANY, sight.topic)
    first: dict[str, int] = {}
    for turn, answer in enumerate(sight.earlier, 1):
        for item in named_urls(answer, ANY, sight.topic):
            first.setdefault(item.key, turn)
    fresh = [item for item in found if item.key not in first]
    if not found or fresh:
        missed = "only URLs already given"
        if not found:
            return Verdict(False, (absence(missed, "no URL in this answer"),))
        return Verdict(False, (absence(missed, f"{len(fresh)} of {len(found)} are new, first {fresh[0].key}"),))
    pieces = (
        absence(item.href, f"already given in turn {first[item.key]}")
        if item.start < 0
        else span(text, item.start, item.end, f"already given in turn {first[item.key]}")
        for item in found
    )
    return Verdict(True, limit_evidence(pieces, len(found)))
