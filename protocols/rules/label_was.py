"""`label_was`: an earlier turn got a certain label."""

from typing import ClassVar

from pydantic import Field

from protocols.labels import Label
from protocols.rules.answer_rule import AnswerRule
from protocols.rules.rule import Sight, Verdict, absence


class LabelWas(AnswerRule):
    """Holds if the answer to user turn `turn` (from 1; by default the previous turn) was labelled `label`. Does not
    hold for the current turn or a turn that does not exist. Evidence: the label of that turn."""

    version: ClassVar[str] = "label_was/1"

    label: Label
    turn: int | None = Field(default=None, ge=1)

    def judge(self, sight: Sight) -> Verdict:
        turn = self.turn if self.turn is not None else len(sight.exchanges) - 1
        found = sight.labels[turn - 1] if 1 <= turn <= len(sight.labels) else None
        note = f"turn {turn} was labelled {found}" if found else f"no turn {turn} before this one"
        return Verdict(found == self.label, (absence(f"label {self.label} on turn {turn}", note),))
