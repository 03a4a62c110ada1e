"""`breakdown`: the shipped detector predicts that people would call the answer a breakdown."""

import re
from typing import ClassVar

from pydantic import Field

from protocols.breakdown.features import CONTEXT, Utterance
from protocols.rules.answer_rule import AnswerRule
from protocols.rules.rule import Sight, Verdict, absence, span
from topics.decimals import decimal

_FEATURES_SHOWN = 5  # features named as evidence
_QUOTED = re.compile("^system says “(.*)”$")


class Breakdown(AnswerRule):
    """Holds if the predicted probability of a breakdown is greater than `above`.

    The probability is the shipped detector's estimate, given the earlier turns, that an annotator calls the answer a
    breakdown (X). Evidence: the distribution over O, T and X, and the five features or phrases with the largest
    contributions to that probability, positive or negative.
    """

    version: ClassVar[str] = "breakdown/2"

    above: float = Field(ge=0, lt=1, allow_inf_nan=False)

    def judge(self, sight: Sight) -> Verdict:
        # Imported here, because numpy takes 0.2 s to import and most protocols detect nothing.
        from protocols.breakdown.detector import load_detector

        turns = [
            utterance
            for exchange in sight.exchanges[-CONTEXT // 2 - 1 :]
            for utterance in (Utterance("U", exchange.said), Utterance("S", exchange.answer.text))
        ]
        passed = 2 * len(sight.exchanges) - len(turns)
        found = load_detector().explain(turns, len(turns) - 1, passed=passed)
        o, t, x = found.probabilities
        said = f"O {o:.3f}, T {t:.3f}, X {x:.3f}; an average turn begins at X {found.base:.3f}"
        pieces = [absence(f"probability of a breakdown above {self.above:g}", said)]
        text = sight.answer.text
        for one in found.contributions[:_FEATURES_SHOWN]:
            quoted = _QUOTED.match(one.name)
            words = re.sub(r"\(start\) | \(end\)", "", quoted[1]) if quoted else ""
            place = text.lower().find(words) if words else -1
            note = f"{decimal(one.added, 3, signed=True)}: {one.name}" + ("" if quoted else f" ({one.value:.3g})")
            if place >= 0 and text[place : place + len(words)].lower() == words:
                pieces.append(span(text, place, place + len(words), note))
            else:
                pieces.append(absence(one.name, note))
        return Verdict(x > self.above, tuple(pieces))
