"""The population of an audit: each trial draws its user, with declared weights.

    population:
      patient: {weight: 0.6}                                                   # the protocol's own users
      hasty: {weight: 0.4, users: {visitor: {simulator: agenda, patience: 0}}}

The draw depends only on the audit's seed, the topic and the trial. So all systems meet the same user in the same
trial, and a run that is resumed or spread over several machines draws the same users. The user of a trial draws the
same random numbers whichever member it is, so members differ only in their definition and in the system's own
randomness.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from harvest.audits.arms import Arm, ArmEntry, read_arm, refuse_alike
from protocols.protocol import Protocol
from topics.document import Document
from topics.identity import generator
from topics.topic import Topic

# Shares are rounded to twelve digits: a smaller one would have three significant digits or none.
_LEAST_SHARE = 1e-9


class MemberEntry(ArmEntry):
    """A member of the population as written in the audit file: a weight, and the same keys as an arm."""

    weight: Annotated[float, Field(gt=0, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True)
class Member:
    """A member of the population. share: its part of the population, in (0, 1]; all shares sum to 1 within rounding.
    arm: how it plays."""

    name: str
    share: float
    arm: Arm

    def definition(self) -> dict[str, Any]:
        return {"share": self.share, "changes": dict(self.arm.definition)}


def read_population(
    document: Document, entries: Mapping[str, MemberEntry], protocol: Protocol, topics: Sequence[Topic]
) -> tuple[Member, ...]:
    """Read the population of an audit; () if it has none. Raises InputError, with its place, for a member that cannot
    be played, that equals another one, or that is the only one."""
    refuse_alike(document, ("population",), entries, "members")
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
                f"the weight {entry.weight:g} of {name!r} is so small that no trial would draw this user",
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
        what = "a population of one member has nothing to draw from"
        raise document.error(("population",), what, advice="add another, or name the user in the protocol", key=True)
    return tuple(found)


def draw_member(population: Sequence[Member], seed: int, topic: str, trial: int) -> Member:
    """Draw the member that a trial of the topic meets on every system, by their shares and independently of other
    trials. seed: the seed of the audit. trial: from 1."""
    drawn = float(generator(seed, "population", topic, trial).random())
    for member in population:
        if drawn < member.share:
            return member
        drawn -= member.share
    return population[-1]
