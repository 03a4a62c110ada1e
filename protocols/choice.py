"""What a simulated user chose among at one turn, or as it left: the record of one draw of its policy."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from protocols.labels import NOT_USEFUL, USEFUL

_NONE: Mapping[str, Any] = MappingProxyType({})

_LABELS = {USEFUL: "useful", NOT_USEFUL: "not-useful"}


def _none() -> Mapping[str, Any]:
    return _NONE


@dataclass(frozen=True, slots=True)
class Choice:
    """How likely the policy made what was done, and on what grounds. What is not known is absent.

    probability: of the act, or of leaving for this reason, in (0, 1], given all that went before: those of all other
    acts and reasons make it up to 1. It is of the act, in whatever words. None if the policy cannot say.
    leaving: the probability of leaving here, by reason; together they are the hazard that was drawn against. Empty
    where the user could only stay.
    took: what the user took the answer before for: `question`; by its label `useful` or `not-useful`; without a label
    `answered`, or what else it is for this user. "" at the opening, and where the user does not look.
    coverage: the share of its need that the user held to be met by then, in [0, 1]; None if it keeps no count.
    noise: by kind of change to the words of this turn, how many units it fitted, and how many were changed.
    refused: samples of a model that were not sent in this turn, by the reason why. meant: the policy's words, where a
    model said them in others; "" if the turn has them, and if no policy gave any.
    """

    probability: float | None = None
    leaving: Mapping[str, float] = field(default_factory=_none, hash=False)
    took: str = ""
    coverage: float | None = None
    noise: Mapping[str, tuple[int, int]] = field(default_factory=_none, hash=False)
    refused: Mapping[str, int] = field(default_factory=_none, hash=False)
    meant: str = ""

    @property
    def hazard(self) -> float:
        """The probability of leaving here, for whatever reason."""
        return sum(self.leaving.values())


def taken_as(label: str | None) -> str:
    """What a user that goes by the label of an answer takes it for; "" without one."""
    return _LABELS.get(label or "", "")
