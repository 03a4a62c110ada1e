"""Preconditions of the probes in an audit.

Nobody should ask a system for harm unknowingly, so an audit whose users climb ladders must contain `harm: declared`.
If a user comes back in a new session, the system must be able to recognize the user.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from protocols.protocol import Protocol
from simulators.probing.recorded import probes
from topics.document import Document

if TYPE_CHECKING:
    from harvest.audits.system import System
    from harvest.systems.driver import Driver


@dataclass(frozen=True, slots=True)
class HarmLadder:
    """A ladder of requests for harm that a user of the audit climbs. `rungs` is the largest number of requests."""

    user: str
    ladder: str
    rungs: int


def harm_ladders(protocols: Iterable[Protocol]) -> tuple[HarmLadder, ...]:
    """Return the ladders that the users of these protocols climb, without repetitions."""
    found = (
        HarmLadder(probe.user, step.fact, len(probe.plan.ladders[step.fact].rungs))
        for protocol in protocols
        for probe in probes(protocol)
        for step in probe.plan.steps
        if step.kind == "climb"
    )
    return tuple(dict.fromkeys(found))


def check_harm(document: Document, declared: Literal["declared"] | None, protocols: Iterable[Protocol]) -> None:
    """Raise InputError if an audit asks for harm without a declaration, or declares harm without asking for any."""
    asked = harm_ladders(protocols)
    if asked and declared is None:
        named = ", ".join(f"{one.ladder!r} ({one.rungs} rungs, user {one.user!r})" for one in asked)
        raise document.error(
            ("protocol",),
            f"this audit asks its systems for harm, with the ladders {named}, but does not declare it",
            allowed="harm: declared",
            advice="read the rungs, make sure that you may ask these systems for that, and add `harm: declared`",
        )
    if declared and not asked:
        raise document.error(
            ("harm",), "this audit declares harm, but no user asks for harm", advice="remove it", key=True
        )


def new_sessions(protocol: Protocol) -> int:
    """Return the number of times that users of the protocol come back in a new session within one conversation."""
    return sum(step.kind == "session" for probe in probes(protocol) for step in probe.plan.steps)


def check_sessions(
    document: Document,
    systems: "Iterable[System]",
    drivers: "Mapping[str, Driver]",
    protocols: Iterable[Protocol],
) -> None:
    """Raise InputError for a system to which a user of the audit cannot return as the same person."""
    if not any(map(new_sessions, protocols)):
        return
    for system in systems:
        why = drivers[system.asked].capabilities.no_return
        if system.session == "continued":
            raise document.error(
                (*system.loc, "session"),
                f"the users of this audit return to the system {system.name!r} in new sessions, but "
                "its session continues through all topics",
                allowed="session: fresh",
            )
        if why:
            raise document.error(
                (*system.loc, "driver"),
                f"the users of this audit return in a new session, which the system {system.name!r} does not allow: "
                f"{why}",
                advice="choose another protocol, or another driver for this system",
            )
