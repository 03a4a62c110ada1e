"""The scoring settings, each declared once: audit files, options of commands and messages are made from this class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, get_args

from scoring.lengths import Unit, UnitChoice
from scoring.setting import ByGrade, ByName, Choice, Number, Setting, declared_settings, setting
from topics.errors import InputError, Place
from topics.gold import GoldTable
from topics.suggestions import did_you_mean
from topics.topic import TopicSet

Irrelevant = Literal["ignore", "uniform"]
OrdinalDivergence = Literal["RNOD", "NMD"]
Resample = Literal["topics", "topics+trials", "bootstrap-t"]
Estimand = Literal["like-these", "these"]
Shares = Literal["unseen-topic", "bootstrap"]
TurnWeight = Literal["one", "largest-pw"]


@dataclass(frozen=True, slots=True)
class Settings:
    """The parameters of the measures, checked when they are made; the defaults are those of [GFRC] §3.2.

    patience: L in words: how far a user reads (5 minutes at 250 words a minute). patience_characters: L of
    conversations that are measured in characters (2 minutes at 500 a minute, [GFRC] §2.2). unit: which are: those whose
    answers are written without blanks between words, see `scoring.lengths`; all; or none.
    gains: gain of each relevance grade; a grade of the gold table that is missing here is refused.
    An entity is relevant when its gain is above 0. alpha: weight of R in GFR(C).
    weights: w_m by attribute set; sets that are not named weigh 1; only ratios matter.
    ordinal: the divergence of ordinal attribute sets; the other one is printed beside it.
    irrelevant: a turn without relevant entities is left out of GF, or counts as a uniform distribution.
    turn_weight: PW(S) = 1, or the largest pw among the relevant nuggets of the turn.
    input_prices, output_prices: of a million tokens that a system reads and writes, by system, in any one currency.
    level: confidence of every interval. replications: bootstrap draws.
    estimand: what intervals over several topics speak of: topics like these, or these topics and their trials alone.
    resample: how intervals over topics are made: see `scoring.inference.bootstrap`.
    shares: how %useful, ave%useful and %recovery get their interval: `unseen-topic`, as in
    `scoring.inference.unseen_topic` (`wilson` in audits and runs from before it was made so), or `bootstrap`, with
    `resample` as for means.
    """

    patience: int = setting(
        1250, Number(1, 10**9, whole=True, of="words"), "L: most words that a user reads", metavar="L"
    )
    patience_characters: int = setting(
        1000,
        Number(1, 10**9, whole=True, of="characters"),
        "L where words have no blanks: most characters that a user reads",
        metavar="L",
    )
    unit: UnitChoice = setting(
        "by-script", Choice(get_args(UnitChoice)), "What positions and lengths count; by-script: characters in Japanese"
    )
    gains: Mapping[int, float] = setting(
        MappingProxyType({0: 0.0, 1: 0.5, 2: 1.0}),
        ByGrade(Number(0, 1), "gain"),
        "Gain of a grade, for example L1=0.5; may be repeated",
        metavar="GRADE=GAIN",
    )
    alpha: float = setting(0.5, Number(0, 1), "Weight of R in GFR(C)")
    weights: Mapping[str, float] = setting(
        MappingProxyType({}),
        ByName(Number(0, 1e6), "attribute set"),
        "Weight of an attribute set in GF; may be repeated",
        metavar="SET=WEIGHT",
    )
    ordinal: OrdinalDivergence = setting(
        "RNOD", Choice(get_args(OrdinalDivergence)), "Divergence of ordinal attribute sets"
    )
    irrelevant: Irrelevant = setting(
        "ignore", Choice(get_args(Irrelevant)), "How GF treats turns without relevant entities"
    )
    turn_weight: TurnWeight = setting("one", Choice(get_args(TurnWeight)), "PW(S), the weight of a turn in GF")
    input_prices: Mapping[str, float] = setting(
        MappingProxyType({}),
        ByName(Number(0, 1e6), "system"),
        "Price of a million tokens that a system reads; may be repeated",
        metavar="SYSTEM=PRICE",
    )
    output_prices: Mapping[str, float] = setting(
        MappingProxyType({}),
        ByName(Number(0, 1e6), "system"),
        "Price of a million tokens that a system writes; may be repeated",
        metavar="SYSTEM=PRICE",
    )
    level: float = setting(0.95, Number(0.5, 0.9999, example="0.95"), "Confidence level of the intervals")
    replications: int = setting(2000, Number(100, 1_000_000, whole=True), "Number of bootstrap replications")
    estimand: Estimand = setting(
        "like-these", Choice(get_args(Estimand)), "What intervals speak of: topics like these, or these topics alone"
    )
    resample: Resample = setting("topics", Choice(get_args(Resample)), "How intervals over topics are resampled")
    shares: Shares = setting(
        "unseen-topic",
        Choice(get_args(Shares), earlier={"wilson": "unseen-topic"}),
        "How %-measures get their intervals",
    )

    def __post_init__(self) -> None:
        for name, declared in SETTINGS.items():
            object.__setattr__(self, name, declared.kind.accept(name, getattr(self, name)))

    @classmethod
    def of(cls, *given: Mapping[str, Any]) -> Settings:
        """The settings with the values in `given`. Later mappings take precedence over earlier ones, and None counts as
        not given. Gains of grades that are not named keep their default. Raises InputError for an unknown setting and
        for a value that is not allowed.
        """
        values = {name: value for one in given for name, value in one.items() if value is not None}
        for name, value in values.items():
            declared = SETTINGS.get(name)
            if declared is None:
                what = f"there is no scoring setting {name!r}{did_you_mean(name, SETTINGS)}"
                raise InputError(what, allowed=", ".join(SETTINGS))
            if isinstance(declared.kind, ByGrade):
                values[name] = {**declared.default, **declared.kind.accept(name, value)}
        return cls(**values)

    def limit(self, unit: Unit) -> int:
        """L in a unit."""
        return self.patience if unit == "words" else self.patience_characters

    def gain(self, grade: int, place: Place | None = None) -> float:
        """The gain of a relevance grade, in [0, 1]. Raises InputError, with the place of the grade where it is known,
        for a grade without one."""
        try:
            return self.gains[grade]
        except KeyError:
            raise InputError(
                f"relevance grade {grade} of the gold table has no gain",
                place=place,
                allowed="grades " + ", ".join(str(known) for known in sorted(self.gains)),
                advice=f"give it a gain (--gain L{grade}=GAIN; in an audit, scoring: gains), or correct the gold table",
            ) from None

    def as_json(self) -> dict[str, object]:
        """A JSON value that names every parameter, for the record beside the scores."""
        return {name: declared.kind.as_json(getattr(self, name)) for name, declared in SETTINGS.items()}


# Each setting by its name, in the order in which they are printed.
SETTINGS: Mapping[str, Setting] = declared_settings(Settings)


def scoring_settings(
    scoring: Mapping[str, Any],
    topics: TopicSet,
    gold: GoldTable | None,
    changes: Mapping[str, Any] | None = None,
) -> Settings:
    """The settings an audit gives (`scoring`), with `changes` over them; gains that are not named keep their default.

    Raises InputError for a setting out of range, a weight of an attribute set that `topics` has not, and a grade in
    `gold` that has no gain.
    """
    settings = Settings.of(scoring, changes or {})
    check_weights(settings, topics)
    for entry in {entry.grade: entry for entry in reversed(tuple(gold or ()))}.values():
        settings.gain(entry.grade, entry.place)
    return settings


def check_weights(settings: Settings, topics: TopicSet) -> None:
    for name in settings.weights:
        if name not in topics.attributes:
            raise InputError(
                f"scoring setting weights: the topic set has no attribute set {name!r}",
                allowed=", ".join(topics.attributes) or "none: the topic set has no attribute sets",
            )
    if topics.attributes and all(settings.weights.get(name, 1) == 0 for name in topics.attributes):
        raise InputError(
            "scoring setting weights: every attribute set has the weight 0",
            allowed="a weight above 0 for one set at least",
        )
