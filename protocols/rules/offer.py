"""`offer`: the answer offers something but delivers nothing."""

from typing import ClassVar

from protocols.questions import only_offers
from protocols.rules.answer_rule import AnswerRule
from protocols.rules.rule import Sight, Verdict, absence, span


class Offer(AnswerRule):
    """Holds if every sentence of the answer offers something, asks about the service, invites or greets. Evidence: the
    answer. No options."""

    version: ClassVar[str] = "offer/1"

    def judge(self, sight: Sight) -> Verdict:
        text = sight.answer.text
        if only_offers(sight.answer):
            return Verdict(True, (span(text, 0, len(text), "offers, and gives nothing"),))
        return Verdict(False, (absence("an offer alone", "the answer says something else"),))
