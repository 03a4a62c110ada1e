"""What a scoring run may choose: one frozen value, checked when it is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from topics.errors import InputError

__all__ = ["Irrelevant", "OrdinalDivergence", "Resample", "Settings", "Shares", "TurnWeight"]

Irrelevant = Literal["ignore", "uniform"]
OrdinalDivergence = Literal["RNOD", "NMD"]
Resample = Literal["topics", "topics+trials", "bootstrap-t"]
Shares = Literal["unseen-topic", "bootstrap"]
TurnWeight = Literal["one", "largest-pw"]

_CHOICES: Mapping[str, tuple[str, ...]] = {
    "irrelevant": ("ignore", "uniform"),
    "ordinal": ("RNOD", "NMD"),
    "turn_weight": ("one", "largest-pw"),
    "resample": ("topics", "topics+trials", "bootstrap-t"),
    "shares": ("unseen-topic", "bootstrap"),
}
_EARLIER: Mapping[str, Shares] = {"wilson": "unseen-topic"}
"""What `shares` was called when these intervals were Wilson's."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The parameters of the measures; the defaults are those of [GFRC] §3.2.

    patience: L in words, from 1 to 10^9: how far a user reads (5 minutes at 250 words a minute).
    gains: gain in [0, 1] of each relevance grade; a grade of the gold table that is missing here is refused.
    An entity is relevant when its gain is above 0. alpha: weight of R in GFR(C), in [0, 1].
    weights: w_m by attribute set, from 0 to 10^6; sets that are not named weigh 1; only ratios matter.
    ordinal: the divergence of ordinal attribute sets; the other one is printed beside it.
    irrelevant: a turn without relevant entities is left out of GF, or counts as a uniform distribution.
    turn_weight: PW(S) = 1, or the largest pw among the relevant nuggets of the turn.
    level: confidence of every interval, from .5 to .9999. replications: bootstrap draws, from 100 to 1,000,000.
    resample: how intervals over topics are made: see `scoring.statistics.bootstrap`.
    shares: how %useful, ave%useful and %recovery get their interval: `unseen-topic`, as in
    `scoring.statistics.unseen_topic` (`wilson` in audits and runs from before it was made so), or `bootstrap`, with
    `resample` as for means.
    """

    patience: int = 1250
    gains: Mapping[int, float] = field(default_factory=lambda: MappingProxyType({0: 0.0, 1: 0.5, 2: 1.0}))
    alpha: float = 0.5
    weights: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    ordinal: OrdinalDivergence = "RNOD"
    irrelevant: Irrelevant = "ignore"
    turn_weight: TurnWeight = "one"
    level: float = 0.95
    replications: int = 2000
    resample: Resample = "topics"
    shares: Shares = "unseen-topic"

    def __post_init__(self) -> None:
        object.__setattr__(self, "shares", _EARLIER.get(self.shares, self.shares))
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise _refused(name, getattr(self, name), ", ".join(allowed))
        if not _whole(self.patience) or not 1 <= self.patience <= 10**9:
            raise _refused("patience", self.patience, "a whole number of words, from 1 to 1000000000")
        if not _whole(self.replications) or not 100 <= self.replications <= 1_000_000:
            raise _refused("replications", self.replications, "a whole number, from 100 to 1000000")
        if not _within(self.alpha, 0, 1):
            raise _refused("alpha", self.alpha, "a number from 0 to 1")
        if not _within(self.level, 0.5, 0.9999):
            raise _refused("level", self.level, "a number from 0.5 to 0.9999, for example 0.95")
        for grade, gain in self.gains.items():
            if not _whole(grade) or grade < 0 or not _within(gain, 0, 1):
                raise _refused(
                    "gains", f"{_shown(grade)}: {_shown(gain)}", "whole grades from 0, each with a gain from 0 to 1"
                )
        if self.gains.get(0, 0.0) != 0:
            raise _refused("gains", f"0: {self.gains[0]}", "grade 0 is not relevant, so its gain is 0")
        for name, weight in self.weights.items():
            if not _within(weight, 0, 1e6):
                raise _refused(
                    "weights", f"{name}: {_shown(weight)}", "a number from 0 to 1000000 for each attribute set"
                )
        object.__setattr__(self, "gains", MappingProxyType({0: 0.0, **self.gains}))
        object.__setattr__(self, "weights", MappingProxyType(dict(self.weights)))

    def gain(self, grade: int) -> float:
        """The gain of a relevance grade, in [0, 1]. Raises InputError for a grade without one."""
        try:
            return self.gains[grade]
        except KeyError:
            raise InputError(
                f"relevance grade {grade} of the gold table has no gain",
                allowed="grades " + ", ".join(str(known) for known in sorted(self.gains)),
                advice="give it a gain in the scoring settings, or correct the gold table",
            ) from None

    def as_json(self) -> dict[str, object]:
        """A JSON value that names every parameter, for the record beside the scores."""
        return {
            "patience": self.patience,
            "gains": {str(grade): self.gains[grade] for grade in sorted(self.gains)},
            "alpha": self.alpha,
            "weights": {name: self.weights[name] for name in sorted(self.weights)},
            "ordinal": self.ordinal,
            "irrelevant": self.irrelevant,
            "turn_weight": self.turn_weight,
            "level": self.level,
            "replications": self.replications,
            "resample": self.resample,
            "shares": self.shares,
        }


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _within(value: object, least: float, most: float) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and least <= value <= most


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) >= 10**20:  # Python refuses to write out the longest ones
        return "a number of more than 20 digits"
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _refused(name: str, value: object, allowed: str) -> InputError:
    shown = repr(value) if isinstance(value, str) else _shown(value)
    return InputError(f"scoring setting {name}: {shown} is not allowed", allowed=allowed)
