"""A system under audit, as defined in the audit and as played for a group, an arm or a population of users."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from harvest.audits.arms import Arm
from harvest.audits.audit_file import Member, SystemEntry
from harvest.audits.groups import grouped_name
from harvest.audits.vantage import Vantage
from harvest.systems.driver import Driver
from harvest.systems.limits import Limits
from protocols.protocol import Protocol
from topics.counting import pluralize
from topics.document import Document
from topics.errors import InputError
from topics.names import first_lookalikes
from topics.topic import Topic
from topics.yaml_values import Loc


@dataclass(frozen=True, slots=True)
class System:
    """A system under audit.

    `options` are as written in the audit, never with a secret. `session` is `fresh` for each conversation, or
    `continued` through all topics of a trial. `session_turns` is the largest number of user turns that the topics of
    one continued session may take; 0 if a session goes through all topics. `loc` is the location of the system in the
    audit file. `group` is the group of the users, or "". `arm` is the arm in which the system is played, or None. `of`
    is the name of the system that is actually asked; its groups and arms share that system's limits and driver.
    `vantage` is the region or network from which the system is asked, or "". Each trial draws a user from the
    `population`.
    """

    name: str
    driver: str
    options: dict[str, Any]
    session: Literal["fresh", "continued"]
    limits: Limits
    loc: Loc
    group: str = ""
    arm: Arm | None = None
    of: str = ""
    vantage: str = ""
    population: tuple[Member, ...] = ()
    session_turns: int = 0

    @property
    def asked(self) -> str:
        """The name of the system that is actually asked: `of` if the system has a group or an arm, else `name`."""
        return self.of or self.name

    @property
    def door(self) -> str:
        """The name of the driver that asks the system: one for each place, or the system's own."""
        place = self.arm.vantage if self.arm is not None else None
        return self.asked if place is None else grouped_name(self.asked, place.name)

    def for_group(self, group: str) -> System:
        """Return the separately recorded system that meets users of `group`."""
        return replace(self, name=grouped_name(self.name, group), group=group, of=self.asked)

    def in_arm(self, arm: Arm) -> System:
        """Return the separately recorded system that is played in an arm."""
        there = self if arm.vantage is None else self.from_place(arm.vantage)
        return replace(there, name=grouped_name(self.name, arm.name), arm=arm, of=self.asked, loc=self.loc)

    def from_place(self, place: Vantage) -> System:
        """Return the system as it is contacted from a place."""
        name, options = grouped_name(self.asked, place.name), place.options_of(self.asked, self.options)
        return replace(self, name=name, options=options, vantage=place.name, loc=place.loc)

    def definition(self) -> dict[str, Any]:
        """Return the identity of the system, without its limits. A changed identity means a different system."""
        own: dict[str, Any] = {
            "name": self.name,
            "driver": self.driver,
            "options": self.options,
            "session": self.session,
        }
        if self.session_turns:
            own["session_turns"] = self.session_turns
        if self.vantage:
            own["vantage"] = self.vantage
        if self.population:
            own["population"] = {member.name: member.definition() for member in self.population}
        if self.of:
            own["system"] = self.of
        if self.arm is not None:
            own |= {"arm": self.arm.name, "changes": dict(self.arm.definition)}
            own |= {"levels": dict(self.arm.levels)} if self.arm.levels else {}
        return {**own, "group": self.group} if self.group else own


def read_systems(document: Document, entries: Sequence[SystemEntry]) -> tuple[System, ...]:
    """Read the systems of an audit file. Raises InputError, with its place in the audit, for a repeated name or an
    invalid rate."""
    systems: list[System] = []
    for i, entry in enumerate(entries):
        loc: Loc = ("systems", i)
        if any(entry.name == earlier.name for earlier in systems):
            raise document.error((*loc, "name"), f"two systems are called {entry.name!r}", advice="rename one")
        if alike := first_lookalikes((*(earlier.name for earlier in systems), entry.name)):
            what = f"the systems {alike[0]!r} and {alike[1]!r} look alike"
            raise document.error((*loc, "name"), what, advice="rename one")
        apart = 0.0
        if entry.rate is not None:
            found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*/\s*(s|min|h)\s*", entry.rate)
            if not found or float(found[1]) <= 0:
                what = f"rate {entry.rate!r} is not understood"
                raise document.error((*loc, "rate"), what, allowed="turns per time: 2/s, 30/min, 500/h")
            apart = {"s": 1.0, "min": 60.0, "h": 3600.0}[found[2]] / float(found[1])
        limits = Limits(
            concurrency=entry.concurrency,
            spacing=max(entry.delay or 0.0, apart),
            turn_timeout=entry.turn_timeout,
            retries=entry.retries,
            retry_wait=entry.retry_wait,
            attempts=entry.attempts,
            give_up_after=entry.give_up_after,
            busy_timeout=entry.busy_timeout,
        )
        if entry.session_turns is not None and entry.session == "fresh":
            raise document.error(
                (*loc, "session_turns"),
                f"the system {entry.name!r} has a new session for each conversation, so no session has to be renewed",
                allowed="session_turns with session: continued",
                advice="remove session_turns, or write session: continued",
                key=True,
            )
        systems.append(
            System(
                entry.name,
                entry.driver,
                entry.options,
                entry.session,
                limits,
                loc,
                vantage=entry.vantage or "",
                session_turns=entry.session_turns or 0,
            )
        )
    return tuple(systems)


def check_session_turns(
    document: Document, systems: Iterable[System], protocol: Protocol, topics: Iterable[Topic]
) -> None:
    """Raise InputError, with its place in the audit, for a session that is too short for one conversation."""
    longest = max(topics, key=protocol.most_turns)
    needed = protocol.most_turns(longest)
    for system in systems:
        if 0 < system.session_turns < needed:
            raise document.error(
                (*system.loc, "session_turns"),
                f"a session of {pluralize(system.session_turns, 'user turn')} is too short for the topic "
                f"{longest.id!r}, which may take {needed}",
                allowed=f"a whole number from {needed}",
                advice="give a larger number, or a protocol with fewer turns",
            )


def set_pace(system: System, entry: SystemEntry, drivers: Mapping[str, Driver]) -> System:
    """Return the system. If the audit sets no pace, the system gets the default pace of its driver."""
    if entry.delay is not None or entry.rate is not None:
        return system
    pace = drivers[system.name].capabilities.pace
    return replace(system, limits=replace(system.limits, spacing=pace))


def choose_system(systems: Sequence[System], name: str | None) -> System:
    """Return the system of an audit called `name`, or its only one. Raises InputError if there is no such system."""
    names = ", ".join(system.name for system in systems)
    if name is None and len(systems) > 1:
        raise InputError("the audit has several systems", allowed=names, advice="choose one with --system")
    for system in systems:
        if name in (None, system.name):
            return system
    raise InputError(f"the audit has no system {name!r}", allowed=names)
