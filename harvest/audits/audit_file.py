"""The schema of audit files, before names are resolved."""

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from harvest.audits.arms import Arm, ArmEntry, read_arm, refuse_similar_names
from harvest.audits.design import DesignEntry
from harvest.audits.scoring_section import Scoring, Threshold
from harvest.systems.limits import BUSY_TIMEOUT
from protocols.protocol import Protocol
from topics.document import (
    Document,
    StrictModel,
    name_validator,
    read_document,
    validation_error,
)
from topics.errors import InputError, Place
from topics.identity import generator
from topics.names import LONGEST
from topics.topic import Topic, TopicSet

FORMAT = "harvest-audit/1"

# Shares are rounded to twelve digits: a smaller one would have three significant digits or none.
_LEAST_SHARE = 1e-9


class MemberEntry(ArmEntry):
    """A member of the population as written in the audit file: a weight, and the keys of an arm."""

    weight: Annotated[float, Field(gt=0, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True)
class Member:
    """A member of the population. `share` is the share of the population in (0, 1]; all shares sum to 1 within
    rounding. `arm` defines how the member plays."""

    name: str
    share: float
    arm: Arm

    def definition(self) -> dict[str, Any]:
        return {"share": self.share, "changes": dict(self.arm.definition)}


def read_population(
    document: Document, entries: Mapping[str, MemberEntry], protocol: Protocol, topics: Sequence[Topic]
) -> tuple[Member, ...]:
    """Read the population of an audit, or () if the audit has none. Raises InputError, with its place in the audit,
    for a member that cannot be played or equals another member, and for a population of one member."""
    refuse_similar_names(document, ("population",), entries, "members")
    found: list[Member] = []
    # Weights are scaled before they are summed, as the sum of large ones may overflow. Shares are rounded, so that the
    # weights 3 and 1 are the same population as .3 and .1.
    largest = max((entry.weight for entry in entries.values()), default=1.0)
    scaled = {name: entry.weight / largest for name, entry in entries.items()}
    total = math.fsum(scaled.values())
    shares = {name: round(weight / total, 12) for name, weight in scaled.items()}
    for name, entry in entries.items():
        loc = ("population", name)
        if shares[name] < _LEAST_SHARE:
            raise document.error(
                (*loc, "weight"),
                f"the weight {entry.weight:g} of {name!r} is too small: no trial would draw this user",
                allowed=f"weights that give every member a share of {_LEAST_SHARE:g} or more of the population",
                advice="give it a larger weight, or remove the member",
            )
        arm = read_arm(document, loc, name, entry, protocol, topics)
        for other in found:
            if other.arm.definition == arm.definition:
                what = f"the members {other.name!r} and {name!r} of the population are the same user"
                raise document.error(loc, what, advice="add up their weights, or change one", key=True)
        found.append(Member(name, shares[name], arm))
    if len(found) == 1:
        what = "a population needs at least two members"
        raise document.error(("population",), what, advice="add another, or name the user in the protocol", key=True)
    return tuple(found)


def draw_member(population: Sequence[Member], seed: int, topic: str, trial: int) -> Member:
    """Draw the member of the population for a trial of a topic. All systems meet the same member. Members are drawn
    by their shares, independently of other trials. `seed` is the seed of the audit, and `trial` starts at 1."""
    drawn = float(generator(seed, "population", topic, trial).random())
    for member in population:
        if drawn < member.share:
            return member
        drawn -= member.share
    return population[-1]


Name = Annotated[str, Field(max_length=LONGEST), name_validator(" ._+-")]

Positive = Annotated[int, Field(ge=1)]
Trials = Annotated[int, Field(ge=1, le=1_000_000)]
Share = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(ge=0, le=86400)]

# The order of the topics in a trial.
Order = Literal["as-written", "shuffled", "latin"]


class SystemEntry(StrictModel):
    """A system as written in an audit file. docs/commands.md explains each key."""

    name: Name
    driver: str
    options: dict[str, Any] = Field(default_factory=dict)
    session: Literal["fresh", "continued"] = "fresh"
    session_turns: Positive | None = None
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


_Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class PriceEntry(StrictModel):
    """The price of a system or an endpoint as written: of a million tokens, or of each turn."""

    input: _Amount | None = None
    output: _Amount | None = None
    turn: _Amount | None = None

    @model_validator(mode="after")
    def _check_whole(self) -> "PriceEntry":
        if ((self.input is None, self.output is None), self.turn is None) not in (
            ((False, False), True),
            ((True, True), False),
        ):
            raise validation_error(
                "this is not a whole price", allowed="{input: 0.15, output: 0.6} for a million tokens, or {turn: 0.01}"
            )
        return self


class AuditFile(StrictModel):
    """An audit file as written, before names are resolved."""

    format: Literal["harvest-audit/1"]
    name: Name
    about: str = ""
    topics: str
    only: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    protocol: str
    gold: str | None = None
    sources: str | None = None
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
    design: DesignEntry | None = Field(None, examples=["design: {languages: [en, de]}"])
    population: Annotated[dict[Name, MemberEntry], Field(min_length=1)] | None = Field(
        None, examples=["population: {patient: {weight: 0.6}, hasty: {weight: 0.4, users: {…}}}"]
    )
    endpoints: dict[Name, dict[str, Any]] = Field(default_factory=dict)
    evidence: bool = True
    placebo: bool = False
    harm: Literal["declared"] | None = None
    max_invalid: Share = 0.1
    max_cost: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    max_tokens: Positive | None = None
    max_turns: Positive | None = None
    prices: dict[Name, PriceEntry] = Field(default_factory=dict)
    scoring: Scoring = Scoring()
    thresholds: tuple[Threshold, ...] = ()


def shipped_audits() -> tuple[str, ...]:
    """Return the names of the audits that come with Harvest."""
    folder = resources.files("harvest") / "audits"
    return tuple(sorted(entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name.endswith(".yaml")))


def read_audit(name_or_path: str) -> tuple[Document, AuditFile]:
    """Read an audit without resolving any name or reading any secret. Raises InputError, with file, line and column."""
    path = Path(name_or_path)
    if not path.is_file() and name_or_path in shipped_audits():
        path = Path(str(resources.files("harvest") / "audits" / f"{name_or_path}.yaml"))
    if path.is_dir():
        raise _folder_error(path)
    document = read_document(path)
    if isinstance(document.value, dict) and document.value.get("format") != FORMAT:
        raise document.other_format_error(FORMAT) or document.error(
            ("format",), "not an audit file of a supported version", allowed=f"format: {FORMAT}"
        )
    return document, document.validate_as(AuditFile)


def _folder_error(folder: Path) -> InputError:
    """Return the error for a folder in place of an audit, which says what the folder is good for."""
    from recordings.log.run_folder import is_run  # late: only this mistake needs it

    if is_run(folder):
        return InputError(
            "this is the folder of a run, not an audit file",
            place=Place(str(folder)),
            advice="read it with harvest show, score, report or compare; continue it with "
            f"harvest run AUDIT --out {shlex.quote(str(folder))}",
        )
    inside = folder / "audit.yaml"
    return InputError(
        "this is a folder, not an audit file",
        place=Place(str(folder)),
        advice=f"give the audit in it: {inside}" if inside.is_file() else "give an audit file; harvest init writes one",
    )


def read_trials_of(document: Document, file: AuditFile, known: TopicSet, topics: TopicSet) -> dict[str, int]:
    """Return the number of trials of each played topic for which the audit sets a number. `known` are all topics of the
    set. Raises InputError, with its place."""
    own = file.trials_of or {}
    for topic_id in own:
        with document.add_place(("trials_of", topic_id)):
            known[topic_id]
        if file.only is not None and topic_id not in file.only:
            raise document.error(
                ("trials_of", topic_id),
                f"topic {topic_id!r} is not played, so it cannot have a number of trials",
                allowed=", ".join(file.only),
                advice="add it to `only`, or leave it out here",
                key=True,
            )
    return {topic.id: own[topic.id] for topic in topics.topics if topic.id in own}
