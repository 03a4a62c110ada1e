"""Audits: the topics, the protocol, the systems, the number of trials, and the thresholds for failing.

`load_audit` reads an audit file and resolves all names in it (topics, protocol, gold, options of drivers). An audit
that cannot work is rejected, with file:line:column, before anything is sent.
"""

import hashlib
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from harvest.audits import audit_file, probes, sent_files
from harvest.audits.arms import Arm, read_arms
from harvest.audits.caps import read_caps
from harvest.audits.design import Design, read_design
from harvest.audits.exposures import read_exposures, refuse_keys_in_clear
from harvest.audits.factors import read_factors
from harvest.audits.groups import check_groups
from harvest.audits.scoring_section import Threshold
from harvest.audits.system import System, check_session_turns, read_systems, set_pace
from harvest.drivers.registry import build_driver, driver_files, options_model
from harvest.systems.driver import Driver, Surroundings
from harvest.systems.exposure import Exposure
from harvest.voices.endpoints import Endpoints, read_endpoints
from protocols.library import check_topics, load_protocol
from protocols.protocol import Protocol
from recordings.log.caps import Caps
from recordings.log.header import Header, make_header
from recordings.log.shard import Shard
from simulators.registry import build_users, file_hashes
from simulators.user import User
from topics.counting import pluralize
from topics.document import Document
from topics.errors import InputError, Place
from topics.gold import GoldTable
from topics.library import load_gold, load_topics
from topics.regular_file import read_regular
from topics.source_file import load_sources
from topics.topic import Topic, TopicSet

_Loaded = TypeVar("_Loaded")


@dataclass(frozen=True, slots=True, repr=False)
class Audit:
    """An audit with all names resolved, as returned by `load_audit`.

    `gold` is None if nothing is judged, and `gold_source` is the name or path of the gold as written, or "". `trials`
    is the number of trials of each topic with each system, from 1; `trials_of` maps the ids of some topics to different
    numbers. `max_invalid` is the largest allowed share of invalid attempts, in [0, 1]. `scoring` has the scoring
    settings in the audit, and `thresholds` the bounds that figures must keep. `secrets` are values to redact.
    `drivers`, by system name, are built but not yet opened (see `equipped`). `users` are the simulated users of the
    protocol by name, and `endpoints` the models that word their turns. Every system meets each of the `groups` of
    users. `order` is the order of the topics within a trial. Every system is played in each of the `arms`, with the
    control first. Each trial draws a user from the `population`. With `placebo`, `harvest watch run` also plays a
    placebo, a system with known answers. `exposures` describe the effects of each system and each endpoint on this
    machine. `harm` is "declared" if the audit declares that its users ask for harm. `imports` is True if the code that
    the audit names was imported. `shard` is the part of the trials to play on this machine, with this machine's limits,
    or None for all trials. `caps` limits what the whole audit may use, or is None. `design` has the words and places of
    its arms, or is None. `plays` counts how often the audit is played.
    """

    document: Document
    name: str
    about: str
    topics: TopicSet
    protocol: Protocol
    gold: GoldTable | None
    gold_source: str
    trials: int
    seed: int
    systems: tuple[System, ...]
    evidence: bool
    max_invalid: float
    scoring: dict[str, Any]
    thresholds: tuple[Threshold, ...]
    secrets: set[str] = field(default_factory=set)
    drivers: dict[str, Driver] = field(default_factory=dict)
    users: dict[str, User] = field(default_factory=dict)
    endpoints: Endpoints = field(default_factory=lambda: Endpoints({}))
    groups: tuple[str, ...] = ()
    order: audit_file.Order = "as-written"
    arms: tuple[Arm, ...] = ()
    population: tuple[audit_file.Member, ...] = ()
    trials_of: Mapping[str, int] = field(default_factory=dict)
    placebo: bool = False
    shard: Shard | None = None
    exposures: tuple[Exposure, ...] = ()
    imports: bool = True
    harm: Literal["declared"] | None = None
    caps: Caps | None = None
    design: Design | None = None
    plays: Iterator[int] = field(default_factory=itertools.count, repr=False, compare=False)

    def __repr__(self) -> str:
        size = f"{pluralize(len(self.topics.topics), 'topic')} × {pluralize(self.trials, 'trial')}"
        return (
            f"<Audit {self.name}: {size}, protocol {self.protocol.name}, {', '.join(one.name for one in self.systems)}>"
        )

    def trials_with(self, topic: Topic) -> int:
        """Return the number of trials of `topic` with each system."""
        return self.trials_of.get(topic.id, self.trials)

    @property
    def trial_range(self) -> tuple[int, int]:
        """The smallest and the largest number of trials of any topic."""
        each = [self.trials_with(topic) for topic in self.topics.topics]
        return min(each), max(each)

    @property
    def trials_in_words(self) -> str:
        """The number of trials for people: `4`, or `2 to 9` if the number differs between topics."""
        fewest, most = self.trial_range
        return str(most) if fewest == most else f"{fewest} to {most}"

    @property
    def played(self) -> tuple[System, ...]:
        """The recorded systems: one for each combination of a system, a group and an arm."""
        if self.population:
            return tuple(replace(system, population=self.population) for system in self.systems)
        met = tuple(system.for_group(group) for system in self.systems for group in self.groups) or self.systems
        return tuple(system.in_arm(arm) for system in met for arm in self.arms) or met

    @property
    def factors(self) -> dict[str, list[str]]:
        """The levels of each factor, or {} if the audit has no factors."""
        names = self.arms[0].levels if self.arms else {}
        return {name: list(dict.fromkeys(arm.levels[name] for arm in self.arms)) for name in names}

    @property
    def doors(self) -> tuple[System, ...]:
        """The systems to contact: every system, and every system from each place of the design."""
        places = self.design.vantages.values() if self.design is not None else ()
        return (*self.systems, *(system.from_place(place) for system in self.systems for place in places))

    @property
    def protocols(self) -> tuple[Protocol, ...]:
        """The protocol, and its variants with the simulated users of each arm and population member."""
        return (
            self.protocol,
            *(arm.protocol for arm in self.arms),
            *(member.arm.protocol for member in self.population),
        )

    def member_of(self, topic: Topic, trial: int) -> audit_file.Member | None:
        """Return the member of the population who takes part in a trial, or None if the audit has no population."""
        return audit_file.draw_member(self.population, self.seed, topic.id, trial) if self.population else None

    @property
    def folder(self) -> Path:
        """The folder of the audit file, to which paths in the audit are relative."""
        return Path(self.document.path).resolve().parent

    def header(self) -> Header:
        """Return the header of a run of this audit."""
        return make_header(
            audit=self.as_json(),
            protocol=self.protocol,
            topics=self.topics,
            systems={system.name: system.definition() for system in self.played},
            seed=self.seed,
            folder=self.folder,
        )

    def build(self, system: System) -> Driver:
        """Build a driver for `system`. Raises InputError, with its place, for bad options or a missing secret."""
        surroundings = Surroundings(
            system.name,
            self.folder,
            topics=self.topics,
            secrets=self.secrets,
            recorded_as=tuple(one.name for one in self.played if system.name in (one.of, one.door)),
            imports=self.imports,
        )
        options_loc = (*system.loc, "options")
        loc = options_loc if options_loc in self.document.marks else system.loc
        return build_driver(system.driver, system.options, surroundings, document=self.document, loc=loc)

    def equipped(self) -> "Audit":
        """Return the audit with drivers and endpoints for one play, which closes them. The first play gets the drivers
        that the audit was checked with, and each later play gets new drivers: a driver remembers what it learned about
        its system, and its connections belong to the event loop of one play."""
        if next(self.plays) == 0:  # one step, so that two threads cannot both be the first
            return self
        equipped = replace(self, drivers={}, endpoints=self.endpoints.renewed())
        _build_drivers(equipped)
        return equipped

    def as_json(self) -> dict[str, Any]:
        """Return the resolved audit as JSON values for the header of a run."""
        return {
            "name": self.name,
            "about": self.about,
            "trials": self.trials,
            **({"trials_of": dict(self.trials_of)} if self.trials_of else {}),
            **({"shard": self.shard.as_json()} if self.shard else {}),
            "seed": self.seed,
            **({"order": self.order} if self.order != "as-written" else {}),
            "topics": self.topics.name,
            "protocol": self.protocol.name,
            **({"groups": list(self.groups)} if self.groups else {}),
            **({"arms": [arm.name for arm in self.arms]} if self.arms else {}),
            **({"factors": factors} if (factors := self.factors) else {}),
            **({"design": self.design.as_json()} if self.design else {}),
            **({"population": {one.name: one.share for one in self.population}} if self.population else {}),
            "gold": self.gold_source,
            **({"sources": name} if (name := self.topics.sources.name) else {}),
            "scoring": self.scoring,
            **({"user_files": files} if (files := file_hashes(self.protocol)) else {}),
            **({"endpoints": self.endpoints.definition()} if self.endpoints else {}),
            **self._fingerprints(),
            **({"harm": self.harm} if self.harm else {}),
            **({"caps": self.caps.as_json()} if self.caps else {}),
            "max_invalid": self.max_invalid,
            "thresholds": [threshold.model_dump(exclude_none=True) for threshold in self.thresholds],
        }

    def _fingerprints(self) -> dict[str, dict[str, Any]]:
        """Return the defaults of the systems' drivers that the audit does not set, and a hash of each of their files.
        The header of a run stores these values, so that the run cannot be resumed with another program, function,
        certificate or site under the old name. A run with an older header has no such values and is resumed without
        this check."""
        defaults: dict[str, Any] = {}
        files: dict[str, Any] = {}
        for system in self.doors:
            options = options_model(system.driver).model_validate(system.options)
            values = options.model_dump(mode="json")
            defaults[system.name] = {key: value for key, value in values.items() if key not in system.options}
            hashes = {}
            for name, path in driver_files(system.driver, options, self.folder):
                try:
                    hashes[name] = hashlib.blake2b(read_regular(path), digest_size=16).hexdigest()
                except OSError:
                    hashes[name] = ""
            if hashes:
                files[system.name] = hashes
        return {"system_defaults": defaults, "system_files": files}


def load_audit(
    name_or_path: str,
    *,
    trials: int | None = None,
    seed: int | None = None,
    only: tuple[str, ...] | None = None,
    shard: Shard | None = None,
    caps: Mapping[str, float] | None = None,
    keys_in_clear: bool = False,
    imports: bool = True,
    show: Callable[[tuple[Exposure, ...]], object] | None = None,
) -> Audit:
    """Read an audit and resolve all names in it. The arguments override the file.

    `name_or_path` is an audit file, or the name of a shipped audit (`demo`). `trials` is the number of trials of every
    topic with each system, from 1. `seed` is the seed of all random draws. `only` has the ids of the topics to play.
    `shard` is the part of the trials to play. `caps` limits the `cost`, `tokens` or `turns` of the audit.
    `keys_in_clear` allows keys to be sent to other machines over plain http. With `imports=False`, which suits callers
    that play nothing, the code that the audit names is not imported. `show` is called with all exposures of the audit
    before any of them takes effect. Raises InputError, with file, line and column.
    """
    document, file = audit_file.read_audit(name_or_path)
    exposures = read_exposures(document, file)
    if show is not None:
        show(exposures)
    if not keys_in_clear:
        refuse_keys_in_clear(exposures, document)
    audit = replace(_resolve(document, file, only=only, trials=trials), exposures=exposures, imports=imports)
    if seed is not None:
        audit = replace(audit, seed=seed)
    surroundings = Surroundings("", audit.folder, topics=audit.topics, secrets=audit.secrets)
    audit = replace(audit, endpoints=read_endpoints(document, file.endpoints, surroundings))
    _build_drivers(audit)
    systems = tuple(set_pace(*pair, audit.drivers) for pair in zip(audit.systems, file.systems))
    most = read_caps(document, file, caps or {}, systems, audit.drivers)
    if shard is not None:
        systems = tuple(replace(system, limits=system.limits.divide_among(shard.of)) for system in systems)
    return replace(audit, systems=systems, shard=shard, caps=most)


def _resolve(
    document: Document, file: audit_file.AuditFile, *, only: tuple[str, ...] | None, trials: int | None
) -> Audit:
    """Read all files that the audit names. Endpoints and drivers are not built yet."""
    folder = Path(document.path).resolve().parent
    whole = _load_named(document, "topics", file.topics, folder, load_topics)
    topics = whole
    if chosen := only or file.only:
        for i, topic_id in enumerate(chosen):
            with document.add_place(("only", i) if only is None else ("topics",)):
                whole[topic_id]
        topics = whole.only(chosen)
    protocol = _load_named(document, "protocol", file.protocol, folder, load_protocol)
    if file.sources:
        table = _load_named(document, "sources", file.sources, folder, load_sources)
        topics = replace(topics, sources=replace(table, name=file.sources))
    gold = _load_named(document, "gold", file.gold, folder, lambda name: load_gold(name, topics)) if file.gold else None
    groups = file.groups or ()
    with document.add_place(("protocol",)):
        check_topics(protocol, topics)
        users = build_users(protocol)
    design = None
    if file.design is not None:
        design = read_design(document, file.design, protocol, whole.topics)
        kept = {topic.id for topic in design.topics}
        topics = topics.only(topic.id for topic in topics.topics if topic.id in kept)
    check_groups(document, groups, protocol, users, topics.topics)
    if file.arms and design is not None:
        what = "an audit has arms or a design, not both: the cells of a design are arms"
        raise document.error(("design",), what, advice="make factors of the arms, which are combined with it", key=True)
    if file.arms and file.factors:
        what = "an audit has arms or factors, not both: factors make arms of all combinations of their levels"
        raise document.error(("factors",), what, advice="make a factor of the arms", key=True)
    if file.population and (groups or file.arms or file.factors or design is not None):
        other = "groups" if groups else "arms"
        what = f"an audit has {other} or a population, not both: a trial of each of the {other} meets one user"
        raise document.error(("population",), what, advice="write an audit for each", key=True)
    if file.factors or design is not None:
        own = file.factors or {}
        arms = read_factors(document, own, protocol, topics.topics, design=design, grouped=bool(groups))
    else:
        arms = read_arms(document, file.arms or {}, protocol, topics.topics, grouped=bool(groups))
    for arm in arms if groups else ():
        if arm.protocol != protocol:  # else its users have been checked
            check_groups(document, groups, arm.protocol, build_users(arm.protocol), topics.topics)
    return Audit(
        document=document,
        name=file.name,
        about=file.about,
        topics=topics,
        protocol=protocol,
        gold=gold,
        gold_source=file.gold or "",
        trials=trials or file.trials,
        seed=file.seed,
        systems=read_systems(document, file.systems),
        evidence=file.evidence,
        max_invalid=file.max_invalid,
        scoring=file.scoring.model_dump(exclude_none=True),
        thresholds=file.thresholds,
        users=users,
        groups=groups,
        order=file.order,
        placebo=file.placebo,
        arms=arms,
        population=audit_file.read_population(document, file.population or {}, protocol, topics.topics),
        trials_of=audit_file.read_trials_of(document, file, whole, topics) if trials is None else {},
        harm=file.harm,
        design=design,
    )


def _load_named(document: Document, key: str, name: str, folder: Path, load: Callable[[str], _Loaded]) -> _Loaded:
    beside = folder / name
    is_path = "/" in name or name.endswith((".yaml", ".yml", ".csv", ".tsv"))
    with document.add_place((key,)):
        return load(str(beside) if is_path or beside.is_file() else name)


def _build_drivers(audit: Audit) -> None:
    document = audit.document
    with document.add_place(("protocol",)):
        for protocol in audit.protocols:
            audit.endpoints.check(protocol)
    probes.check_harm(document, audit.harm, audit.protocols)
    for system in audit.doors:
        driver = audit.drivers[system.name] = audit.build(system)
        missing = sorted(need for need in audit.protocol.needs if not getattr(driver.capabilities, need, False))
        if missing:
            raise document.error(
                (*system.loc, "driver"),
                f"the protocol {audit.protocol.name!r} needs {', '.join(missing)}, which the driver "
                f"{system.driver!r} does not support",
                advice="choose another driver, or a protocol that does not need it",
            )
    sent_files.check_sent_files(document, audit.systems, audit.drivers, audit.protocol, audit.topics.topics)
    if not audit.topics.topics:
        raise InputError("the audit has no topics to play", place=Place(document.path))
    probes.check_sessions(document, audit.systems, audit.drivers, audit.protocols)
    check_session_turns(document, audit.systems, audit.protocol, audit.topics.topics)
