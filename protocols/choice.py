"""The options from which a simulated user chose in one turn: the record of one draw of its policy."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from protocols.labels import NOT_USEFUL, USEFUL

_NONE: Mapping[str, Any] = MappingProxyType({})

_LABELS = {USEFUL: "useful", NOT_USEFUL: "not-useful"}


def _empty_mapping() -> Mapping[str, Any]:
    return _NONE


@dataclass(frozen=True, slots=True)
class Choice:
    """How likely the policy made this action, and why. Unknown values are absent.

    probability: of the act in any words, or of leaving for this reason, in (0, 1], given everything before; over
    all acts and reasons these sum to 1. None if the policy cannot say. leaving: the probability of leaving here, by
    reason; their sum is the hazard that was drawn against. Empty if the user could only stay. took: how the user
    classified the previous answer: `question`; by its label `useful` or `not-useful`; without a label `answered`,
    or the user's own class. "" at the opening, and if the user does not classify. coverage: the share of its need
    that the user considered met by then, in [0, 1], or None. noise: for each kind of change to the words of this
    turn, how many units it could apply to and how many were changed. refused: samples of a model that were not sent
    in this turn, by reason. meant: the policy's words if a model reworded them, else "".
    """

    probability: float | None = None
    leaving: Mapping[str, float] = field(default_factory=_empty_mapping, hash=False)
    took: str = ""
    coverage: float | None = None
    noise: Mapping[str, tuple[int, int]] = field(default_factory=_empty_mapping, hash=False)
    refused: Mapping[str, int] = field(default_factory=_empty_mapping, hash=False)
    meant: str = ""

    @property
    def hazard(self) -> float:
        """The probability of leaving here, for any reason."""
        return sum(self.leaving.values())


def taken_as(label: str | None) -> str:
    """Return the class of an answer with this label for a user that goes by labels; "" without a label."""
    return _LABELS.get(label or "", "")
