"""The scoring settings, each declared once. Audit files, command options and messages are derived from the class."""

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, TypeVar, cast, get_args

from scoring.words import Unit, UnitChoice, UserWords
from topics.errors import InputError, Place, suggestion
from topics.gold import GoldTable
from topics.shown_names import shorten
from topics.topic import TopicSet

_T = TypeVar("_T")
_DECLARED = "setting"
_GRADE = re.compile(r"L?([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class Choice:
    """A setting with several allowed words. `earlier` maps words of older audits and runs to the current words."""

    words: tuple[str, ...]
    earlier: Mapping[str, str] = field(default_factory=dict)

    def validate(self, name: str, value: Any) -> str:
        """Return the current word for `value`. Raises InputError for an unknown word."""
        found = self.earlier.get(value, value) if isinstance(value, str) else value
        if found not in self.words:
            close = suggestion(value, self.words) if isinstance(value, str) else ""
            raise _refusal(name, value, ", ".join(self.words), close)
        return str(found)

    def as_json(self, value: Any) -> object:
        return value


@dataclass(frozen=True, slots=True)
class Number:
    """A setting that is a number from `least` to `most`. `of` (the unit) and `example` are for messages."""

    least: float
    most: float
    whole: bool = False
    of: str = ""
    example: str = ""

    def __str__(self) -> str:
        what = f"a whole number{f' of {self.of}' if self.of else ''}," if self.whole else "a number"
        example = f", for example {self.example}" if self.example else ""
        return f"{what} from {_number(self.least)} to {_number(self.most)}{example}"

    def validate(self, name: str, value: Any) -> Any:
        """Return the value unchanged. Raises InputError for NaN and for a value that is not a number in the range."""
        if not self.is_allowed(value):
            raise _refusal(name, value, str(self))
        return value

    def is_allowed(self, value: object) -> bool:
        kind = int if self.whole else (int, float)
        return isinstance(value, kind) and not isinstance(value, bool) and self.least <= value <= self.most

    def as_json(self, value: Any) -> object:
        return value


@dataclass(frozen=True, slots=True)
class NumbersByName:
    """A setting with a number for each name, such as an attribute set or a system. `of` is the kind of thing named.
    Names without a number have the measure's default."""

    number: Number
    of: str

    def validate(self, name: str, value: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return an immutable copy. Raises InputError for a number out of range."""
        for key, number in value.items():
            if not self.number.is_allowed(number):
                raise _refusal(name, f"{key}: {_shown(number)}", f"{self.number} for each {self.of}", quoted=False)
        return MappingProxyType(dict(value))

    def as_json(self, value: Mapping[str, Any]) -> object:
        return {key: value[key] for key in sorted(value)}


@dataclass(frozen=True, slots=True)
class NumbersByGrade:
    """A setting with a number for each relevance grade, an integer from 0, or `L0`, `L1` and so on. Grade 0 has the
    number 0."""

    number: Number
    of: str

    def validate(self, name: str, value: Mapping[Any, Any]) -> Mapping[int, float]:
        """Return an immutable copy with whole numbers as keys. Raises InputError for an invalid grade or number."""
        found: dict[int, float] = {0: 0.0}
        for written, number in value.items():
            read = _GRADE.fullmatch(written) if isinstance(written, str) else None
            grade = int(read[1]) if read else written
            if isinstance(grade, bool) or not isinstance(grade, int) or grade < 0 or not self.number.is_allowed(number):
                bounds = f"{_number(self.number.least)} to {_number(self.number.most)}"
                allowed = f"whole grades from 0, each with a {self.of} from {bounds}"
                raise _refusal(name, f"{_shown(written)}: {_shown(number)}", allowed, quoted=False)
            found[grade] = number
        if found[0] != 0:
            raise _refusal(name, f"0: {found[0]}", f"grade 0 is not relevant, so its {self.of} is 0", quoted=False)
        return MappingProxyType(found)

    def as_json(self, value: Mapping[int, float]) -> object:
        return {str(grade): value[grade] for grade in sorted(value)}


Kind: TypeAlias = Choice | Number | NumbersByName | NumbersByGrade


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its name in audits and Python, its help text, and the placeholder for its value. If it is
    `of_intervals`, no value of a conversation depends on it."""

    name: str
    default: Any
    kind: Kind
    help: str
    metavar: str = ""
    of_intervals: bool = False

    @property
    def option(self) -> str:
        """The command option, for example `--turn-weight`, in the singular if it is given once for each name."""
        plural = isinstance(self.kind, (NumbersByName, NumbersByGrade))
        return f"--{(self.name.removesuffix('s') if plural else self.name).replace('_', '-')}"


def setting(
    default: _T,
    kind: Kind,
    help: str,  # noqa: A002  # as click calls it
    *,
    metavar: str = "",
    of_intervals: bool = False,
) -> _T:
    """Declare a field of a frozen dataclass of settings, with its kind and help text."""
    about = {_DECLARED: (kind, help, metavar, of_intervals)}
    if isinstance(default, Mapping):
        return cast(_T, field(default_factory=lambda: default, metadata=about))
    return field(default=default, metadata=about)


def declared_settings(settings: type) -> Mapping[str, Setting]:
    """Return the settings that a dataclass declares, by name, in the order of its fields."""
    found = {}
    for one in dataclasses.fields(settings):
        kind, words, metavar, of_intervals = one.metadata[_DECLARED]
        default = one.default if one.default_factory is dataclasses.MISSING else one.default_factory()
        found[one.name] = Setting(one.name, default, kind, words, metavar, of_intervals)
    return MappingProxyType(found)


def _number(value: float) -> str:
    return f"{value:.0f}" if value == int(value) else f"{value:g}"


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) >= 10**20:  # Python refuses to print the longest ones
        return "a number of more than 20 digits"
    text = value if isinstance(value, str) else repr(value)
    return shorten(text, 60)


def _refusal(name: str, value: object, allowed: str, close: str = "", *, quoted: bool = True) -> InputError:
    shown = repr(value) if quoted and isinstance(value, str) else _shown(value)
    return InputError(f"scoring setting {name}: {shown} is not allowed{close}", allowed=allowed)


Irrelevant = Literal["ignore", "uniform"]
OrdinalDivergence = Literal["RNOD", "NMD"]
Resample = Literal["topics", "topics+trials", "bootstrap-t"]
Estimand = Literal["like-these", "these"]
# What an interval for topics like these allows for: a kind of topic that was not asked, or nothing (the t interval).
Guard = Literal["unseen", "none"]
Shares = Literal["unseen-topic", "bootstrap"]
# Which sources of an answer count: all, those that the system reports beside its text, or those its text links to.
Citations = Literal["all", "reported", "linked"]
TurnWeight = Literal["one", "largest-pw"]


@dataclass(frozen=True, slots=True)
class Settings:
    """The parameters of the measures, checked on construction. The defaults are those of [GFRC] §3.2.

    - `patience`: L in words: how far a user reads (5 minutes at 250 words a minute).
    - `patience_characters`: L for conversations that are measured in characters (2 minutes at 500 a minute, [GFRC]
      §2.2).
    - `unit`: which conversations are measured in characters: all, none, or those whose answers are written without
      blanks between words (see `scoring.words`).
    - `gains`: the gain of each relevance grade. A grade of the gold table that is missing here is an error. An entity
      is relevant if its gain is above 0.
    - `alpha`: the weight of R in GFR(C).
    - `weights`: w_m by attribute set, 1 for sets that are not named. Only ratios matter.
    - `ordinal`: the divergence of ordinal attribute sets in GF. The other divergence is printed next to it.
    - `irrelevant`: whether GF leaves out turns without relevant entities or counts them as a uniform distribution.
    - `turn_weight`: PW(S) = 1, or the largest pw among the relevant nuggets of the turn.
    - `input_prices`, `output_prices`: prices of a million tokens that a system reads and writes, by system, all in
      the same currency.
    - `level`: the confidence level of every interval.
    - `replications`: the number of bootstrap draws.
    - `estimand`: whether intervals over several topics describe topics like these, or only these topics and their
      trials.
    - `resample`: how intervals over topics are made, see `scoring.inference.bootstrap`.
    - `shares`: the interval of %useful, ave%useful and %recovery: `unseen-topic`, as in
      `scoring.inference.unseen_topic` (called `wilson` in older audits and runs), or `bootstrap`, with `resample` as
      for means.
    - `citations`: which sources of an answer count: all, those that the system reports beside its text, or those that
      its text links to.
    - `user_words`: whether positions and lengths count the words of user turns ([GFRC] §2.3, §3.2), or leave them out.
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
        NumbersByGrade(Number(0, 1), "gain"),
        "Gain of a grade, for example L1=0.5; may be repeated",
        metavar="GRADE=GAIN",
    )
    alpha: float = setting(0.5, Number(0, 1), "Weight of R in GFR(C)")
    weights: Mapping[str, float] = setting(
        MappingProxyType({}),
        NumbersByName(Number(0, 1e6), "attribute set"),
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
        NumbersByName(Number(0, 1e6), "system"),
        "Price of a million tokens that a system reads; may be repeated",
        metavar="SYSTEM=PRICE",
    )
    output_prices: Mapping[str, float] = setting(
        MappingProxyType({}),
        NumbersByName(Number(0, 1e6), "system"),
        "Price of a million tokens that a system writes; may be repeated",
        metavar="SYSTEM=PRICE",
    )
    level: float = setting(
        0.95, Number(0.5, 0.9999, example="0.95"), "Confidence level of the intervals", of_intervals=True
    )
    replications: int = setting(
        2000, Number(100, 1_000_000, whole=True), "Number of bootstrap replications", of_intervals=True
    )
    estimand: Estimand = setting(
        "like-these",
        Choice(get_args(Estimand)),
        "What intervals speak of: topics like these, or these topics alone",
        of_intervals=True,
    )
    resample: Resample = setting(
        "topics", Choice(get_args(Resample)), "How intervals over topics are resampled", of_intervals=True
    )
    shares: Shares = setting(
        "unseen-topic",
        Choice(get_args(Shares), earlier={"wilson": "unseen-topic"}),
        "How %-measures get their intervals",
        of_intervals=True,
    )
    citations: Citations = setting(
        "all", Choice(get_args(Citations)), "Which sources of answers count: all, those beside the text, or its links"
    )
    user_words: UserWords = setting(
        "counted", Choice(get_args(UserWords)), "Whether positions and lengths count the words of user turns"
    )

    def __post_init__(self) -> None:
        for name, declared in SETTINGS.items():
            object.__setattr__(self, name, declared.kind.validate(name, getattr(self, name)))

    @classmethod
    def of(cls, *given: Mapping[str, Any]) -> "Settings":
        """Make settings from mappings. Later mappings override earlier mappings, and None counts as not given. Grades
        that are not named keep their default gain. Raises InputError for an unknown setting and for a value that is
        not allowed."""
        values = {name: value for one in given for name, value in one.items() if value is not None}
        for name, value in values.items():
            declared = SETTINGS.get(name)
            if declared is None:
                what = f"there is no scoring setting {name!r}{suggestion(name, SETTINGS)}"
                raise InputError(what, allowed=", ".join(SETTINGS))
            if isinstance(declared.kind, NumbersByGrade):
                values[name] = {**declared.default, **declared.kind.validate(name, value)}
        return cls(**values)

    @property
    def of_values(self) -> str:
        """The settings that values of conversations depend on, as text: equal texts give equal values."""
        return ascii({name: getattr(self, name) for name, declared in SETTINGS.items() if not declared.of_intervals})

    def limit(self, unit: Unit) -> int:
        """Return L in the given unit."""
        return self.patience if unit == "words" else self.patience_characters

    def gain(self, grade: int, place: Place | None = None) -> float:
        """Return the gain of a relevance grade, in [0, 1]. Raises InputError, with `place`, if the grade has no
        gain."""
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
        """Return a JSON value that names every parameter, to be stored with the scores."""
        return {name: declared.kind.as_json(getattr(self, name)) for name, declared in SETTINGS.items()}


# Each setting by its name, in the order in which they are printed.
SETTINGS: Mapping[str, Setting] = declared_settings(Settings)


def scoring_settings(
    scoring: Mapping[str, Any],
    topics: TopicSet,
    gold: GoldTable | None,
    changes: Mapping[str, Any] | None = None,
) -> Settings:
    """Return the settings of an audit (`scoring`), overridden by `changes`. Grades that are not named keep their
    default gain. Raises InputError for a setting out of range, a weight of an attribute set that `topics` does not
    define, and a grade in `gold` without a gain."""
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
            "scoring setting weights: all attribute sets have weight 0",
            allowed="a weight above 0 for at least one set",
        )
