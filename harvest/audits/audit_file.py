"""The schema of audit files, before names are resolved."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, create_model

from harvest.audits.arms import ArmEntry
from harvest.audits.population import MemberEntry
from harvest.audits.threshold import Threshold
from harvest.systems.limits import BUSY_TIMEOUT
from scoring.settings import SETTINGS, ByGrade, ByName, Choice, Kind, Number
from topics.document import StrictModel
from topics.written_form import written_form

Name = Annotated[
    str,
    Field(max_length=60),
    written_form(
        r"[A-Za-z0-9][A-Za-z0-9 ._+-]*",
        "letters (a to z), digits, spaces and . _ + -, beginning with a letter or digit",
    ),
]

Positive = Annotated[int, Field(ge=1)]
Trials = Annotated[int, Field(ge=1, le=1_000_000)]
Share = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(ge=0, le=86400)]

# In which the topics of a trial are played.
Order = Literal["as-written", "shuffled", "latin"]


class SystemEntry(StrictModel):
    """A system as written in an audit file; docs/commands.md explains each key."""

    name: Name
    driver: str
    options: dict[str, Any] = Field(default_factory=dict)
    session: Literal["fresh", "continued"] = "fresh"
    vantage: Name | None = None
    concurrency: Positive = 1
    rate: str | None = None
    delay: Seconds | None = None
    turn_timeout: Annotated[float, Field(gt=0, le=86400)] = 300
    retries: Annotated[int, Field(ge=0, le=20)] = 2
    retry_wait: Seconds = 1
    attempts: Annotated[int, Field(ge=1, le=20)] = 2
    give_up_after: Positive = 10
    busy_timeout: Annotated[float, Field(gt=0, le=86400)] = BUSY_TIMEOUT


def _as_type(kind: Kind) -> Any:
    match kind:
        case Choice():
            return Literal[(*kind.words, *kind.earlier)]
        case Number():
            return Annotated[int if kind.whole else float, Field(ge=kind.least, le=kind.most)]
        case ByName():
            return dict[str, _as_type(kind.number)]  # type: ignore[misc]
        case ByGrade():
            return dict[Annotated[str, written_form(r"L?[0-9]", "L0 to L9, or 0 to 9")], _as_type(kind.number)]  # type: ignore[misc]


if TYPE_CHECKING:
    Scoring = StrictModel
else:
    Scoring = create_model(
        "Scoring",
        __base__=StrictModel,
        __doc__="How the figures of an audit are made: the settings that it gives; docs/measures.md explains each.",
        **{name: (_as_type(declared.kind) | None, None) for name, declared in SETTINGS.items()},
    )


class AuditFile(StrictModel):
    """An audit file as written, before names are resolved."""

    format: Literal["harvest-audit/1"]
    name: Name
    about: str = ""
    topics: str
    only: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    protocol: str
    gold: str | None = None
    trials: Trials
    trials_of: Annotated[dict[str, Trials], Field(min_length=1)] | None = None
    seed: Annotated[int, Field(ge=0)] = 1
    order: Order = "as-written"
    systems: Annotated[tuple[SystemEntry, ...], Field(min_length=1)]
    groups: Annotated[tuple[Name, ...], Field(min_length=1)] | None = Field(None, examples=["groups: [older, younger]"])
    arms: Annotated[dict[Name, ArmEntry], Field(min_length=1)] | None = Field(
        None, examples=["arms: {as written: {}, thanks: {wording: {politeness: 1}}}"]
    )
    factors: Annotated[dict[Name, dict[Name, ArmEntry]], Field(min_length=1)] | None = Field(
        None, examples=["factors: {patience: {patient: {}, hasty: {users: {visitor: {patience: 0}}}}}"]
    )
    population: Annotated[dict[Name, MemberEntry], Field(min_length=1)] | None = Field(
        None, examples=["population: {patient: {weight: 0.6}, hasty: {weight: 0.4, users: {…}}}"]
    )
    endpoints: dict[Name, dict[str, Any]] = Field(default_factory=dict)
    evidence: bool = True
    placebo: bool = False
    harm: Literal["declared"] | None = None
    max_invalid: Share = 0.1
    scoring: Scoring = Scoring()
    thresholds: tuple[Threshold, ...] = ()
