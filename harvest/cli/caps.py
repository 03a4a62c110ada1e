"""The options for caps, and the possible cost of a run."""

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import click

from harvest.audits.audit import Audit
from harvest.cli.parameters import NumberRange, WholeNumberRange
from harvest.playing.plan import Plan, own_caps
from recordings.log.caps import Amounts, Caps, Door, Standing, round_of
from topics.counting import pluralize


def cap_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --max-cost, --max-tokens and --max-turns to a command. Their values are passed as `caps`, by the kinds of
    `recordings.log.caps.Amounts`."""

    @functools.wraps(command)
    def capped(**own: Any) -> Any:
        given = {kind: own.pop(f"max_{kind}") for kind in Amounts._fields}
        return command(caps={kind: float(most) for kind, most in given.items() if most is not None}, **own)

    above_zero = NumberRange(0, min_open=True)
    for option in (
        click.option("--max-turns", type=WholeNumberRange(1), help="Stop before more user turns are sent."),
        click.option("--max-tokens", type=WholeNumberRange(1), help="Stop before more tokens are read and written."),
        click.option("--max-cost", type=above_zero, help="Stop before it costs more, by the audit's `prices`."),
    ):
        capped = option(capped)
    return capped


def cap_lines(audit: Audit, plan: Plan) -> Iterator[str]:
    """Yield lines about the caps of an audit, the part of the run they apply to, and the largest possible cost of the
    rest of the plan, if it is known."""
    caps, shard = audit.caps, audit.shard
    if caps is None:
        return
    number = max((round_of(sitting.block[0], shard) for own in plan.sittings.values() for sitting in own), default=0)
    whole = ", ".join(f"{kind} {most:g}" for kind, most in caps.most.items())
    own = own_caps(audit) or caps
    share = ", ".join(f"{kind} {most:.6g}" for kind, most in own.most.items())
    held = f"{share} on this machine, of {whole} in all" if shard else whole
    trials = len(audit.topics.topics) * len(audit.played)
    yield f"at most {held}; {pluralize(number, 'round')} of up to {pluralize(trials, 'trial')} are planned"
    costs = most_costs(audit, caps, plan)
    if costs is not None:
        yield f"the rest costs at most {costs:.6g}, by the prices of turns, including retries"
    elif "cost" in caps.most:
        yield "what the rest costs cannot be known before: tokens are priced, and answers differ in length"


def most_costs(audit: Audit, caps: Caps, plan: Plan) -> float | None:
    """Return the largest possible cost of the plan, or None if it depends on tokens."""
    doors = [Door(one.name) for one in audit.systems]
    doors += [Door(name, is_system=False) for name in audit.endpoints.definition()]
    if "cost" not in caps.most or any(map(caps.needs_counts, doors)):
        return None
    costs = 0.0
    requests = 0
    for system in audit.played:
        works = [work for sitting in plan.sittings[system.name] for work in sitting.works]
        turns = sum(audit.protocol.most_turns(work.topic) for work in works) * system.limits.attempts
        requests += turns
        costs += turns * (1 + system.limits.retries) * caps.least(Door(system.asked)).cost
    for name, most in audit.endpoints.count_most_requests(audit.protocols, requests).items():
        costs += most * caps.least(Door(name, is_system=False)).cost
    return costs


def expectation_lines(standings: Iterable[Standing]) -> Iterator[str]:
    """Yield lines about what a recorded run has used so far, and what all of its rounds would use at this rate."""
    for one in standings:
        yield one.progress
        if 0 < one.whole < one.planned:
            spent, caps = one.ledger.spent, one.caps
            each = Amounts(*(amount * one.planned / one.whole for amount in spent))
            about = ", ".join(f"{kind} {getattr(each, kind):.3g}" for kind in caps.most)
            yield f"at this rate, all {pluralize(one.planned, 'round')} take about {about}"
