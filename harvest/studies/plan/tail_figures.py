"""A plan for a tail of a score, for people: what shows it, then the grid."""

import math
from collections.abc import Callable, Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from harvest.studies.plan.planning import WANTED
from harvest.studies.plan.tail_planning import TailDesign, TailPlan
from harvest.studies.plan.words import design_table, hours_after, in_percent, user_turns
from harvest.terminal import printable
from scoring.inference.interval import FEWEST
from scoring.inference.tail_power import TailPower
from topics.counting import pluralize


def tail_plan_tables(plan: TailPlan) -> Iterator[RenderableType]:
    """What a person sees: the answer, what it rests on, then how often either bound is shown and what designs cost."""
    yield Text(tail_answer(plan), style="bold")
    yield Padding(Text(_recommendation(plan)), (0, 0, 0, 2))
    yield Text()
    yield from (Text(line) for line in _grounds(plan))
    above, below = ("missed", "kept") if plan.worst == "low" else ("kept", "missed")
    yield _grid(plan, f"bound {plan.distance:g} above it: shown {above}", _below)
    yield _grid(plan, f"bound {plan.distance:g} below it: shown {below}", _above)
    costs = ((one.topics, one.trials, Text(f"{one.turns:,}{hours_after(one.hours)}")) for one in plan.designs)
    yield design_table("user turns" + (" at most" if plan.turns_at_most else ""), costs)
    yield from (Text(line, style="dim") for line in _legend(plan))
    yield from (Text(f"note: {note}") for note in plan.notes)


def tail_answer(plan: TailPlan) -> str:
    """What the audit as it stands would show, in one sentence."""
    now, name = plan.present, printable(plan.measure, line=True)
    lower, higher = (now.least(take) for take in (_below, _above))
    if math.isnan(lower):
        return f"{_design(now)} give no interval of {name}: {next(iter(now.powers.values())).note}."
    above, below = ("miss", "keep") if plan.worst == "low" else ("keep", "miss")
    return (
        f"{_design(now)} would show {name} to {above} a bound {plan.distance:g} above it in {in_percent(lower)} of "
        f"studies, and to {below} one {plan.distance:g} below it in {in_percent(higher)}."
    )


def _below(power: TailPower) -> float:
    return power.below


def _above(power: TailPower) -> float:
    return power.above


def _recommendation(plan: TailPlan) -> str:
    smallest = plan.smallest
    if smallest is not None:
        cost = f"{user_turns(smallest.turns)}{' at most' if plan.turns_at_most else ''}"
        return (
            f"{_design(smallest)} is the cheapest design below that shows both in 4 studies of 5 "
            f"({in_percent(smallest.least(_below))} and {in_percent(smallest.least(_above))}; "
            f"{cost}{hours_after(smallest.hours)})."
        )
    return "No design below shows both in 4 studies of 5: topics help more than trials, or take a larger --detect."


def _grounds(plan: TailPlan) -> Iterator[str]:
    name = printable(plan.measure, line=True)
    if not plan.pilots:
        yield f"as stated: {name} is {plan.values['']:.4f}, if scores are beta distributed"
        return
    each = ", ".join(f"{printable(system, line=True)} {value:.4f}" for system, value in plan.values.items())
    yield f"from the pilot: {name} of {each}"
    if len(plan.values) > 1:
        yield "each system is simulated, with bounds around its own; shown is the one of which least can be shown"
    for system in plan.values:
        power = plan.present.powers[system]
        if power not in plan.present.shown and plan.present.topics >= plan.least_topics:
            yield (
                f"{printable(system, line=True)}: most studies have no interval of it ({power.note}); it is left out "
                "where that is so"
            )


def _grid(plan: TailPlan, title: str, take: Callable[[TailPower], float]) -> RenderableType:
    return design_table(title, ((one.topics, one.trials, _cell(one, take)) for one in plan.designs))


def _cell(design: TailDesign, take: Callable[[TailPower], float]) -> Text:
    share = design.least(take)
    if math.isnan(share):
        return Text("no interval")
    width = max(one.width for one in design.shown)
    return Text(f"{in_percent(share)} ±{width / 2:.4f}", style="bold" if share >= WANTED else "")


def _legend(plan: TailPlan) -> Iterator[str]:
    powers = [own for one in plan.designs for own in one.powers.values()]
    errors = [own.error for own in powers if own.with_interval]
    error = f" (simulation error up to {100 * max(errors):.1f} points)" if errors else ""
    yield (
        f"shown: share of simulated studies whose {100 * plan.settings.level:g}% interval of `harvest score` lies "
        f"wholly on that side of the bound, as a threshold of the audit asks, ± half its width{error}; bold from "
        f"{in_percent(WANTED)}"
    )
    yield "it speaks of topics like these, of one system: systems are not compared in tails"
    if any(one.topics < plan.least_topics for one in plan.designs):
        few = plan.least_topics < math.ceil(FEWEST / plan.share) + 1
        why = f"the worst share must hold {FEWEST} topics" if few else "a mean of the worst depends on a few topics"
        yield (f"no interval: {why}, so {plan.least_topics} topics are the fewest; more trials do not replace them")
    some = [own.with_interval for one in plan.designs for own in one.shown if own.with_interval < 1]
    if some:
        yield f"as few as {in_percent(min(some))} of the studies of a design have an interval; the others show nothing"
    if any(math.isnan(one.hours) for one in plan.designs):
        yield "hours: unknown, since the audit sets no rate and no pilot shows how long a conversation takes"


def _design(one: TailDesign) -> str:
    return f"{pluralize(one.topics, 'topic')} × {pluralize(one.trials, 'trial')}"
