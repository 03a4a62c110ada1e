"""A plan for one turn of the conversation tree, for people: topics or trials, then the grid."""

import math
from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from harvest.studies.plan.node_paths import ARROW
from harvest.studies.plan.node_planning import NodeDesign, NodePlan
from harvest.studies.plan.planning import WANTED
from harvest.studies.plan.words import ALIKE, design_table, hours_after, in_percent, points, user_turns
from harvest.terminal import printable
from scoring.stochastic.node_power import NodePower
from topics.counting import pluralize


def node_plan_tables(plan: NodePlan) -> Iterator[RenderableType]:
    """What a person sees: the answer, what it rests on, then power, trials that come and costs by design."""
    yield Text(node_answer(plan), style="bold")
    yield Padding(Text(_recommendation(plan)), (0, 0, 0, 2))
    yield Text()
    yield from (Text(line) for line in _grounds(plan))
    designs = plan.designs
    yield design_table("named", ((one.topics, one.trials, _cell(one.power)) for one in designs))
    come = ((one.topics, one.trials, Text(f"{one.power.come:,.0f}")) for one in designs)
    yield design_table("trials of one system that come there", come)
    costs = ((one.topics, one.trials, Text(f"{one.turns:,}{hours_after(one.hours)}")) for one in designs)
    yield design_table("user turns", costs)
    yield from (Text(line, style="dim") for line in _legend(plan))
    if len(plan.by_system) > 1:
        each = ", ".join(f"{printable(name, line=True)} {in_percent(one)}" for name, one in plan.by_system.items())
        yield Text(f"note: in the pilot, {each}; their mean is simulated")


def node_path(plan: NodePlan) -> str:
    """`U ask → S o`."""
    return printable(ARROW.join(plan.path), line=True)


def node_answer(plan: NodePlan) -> str:
    """Topics or trials, in one sentence, and whether any design of the grid is enough."""
    now, topics, trials = plan.present.power, plan.more_topics.power, plan.more_trials.power
    if now.found >= WANTED:
        said = f"Neither: {_design(plan.present)} names {node_path(plan)} in {in_percent(now.found)} of studies"
    else:
        far, error = topics.found - trials.found, math.hypot(topics.found_error, trials.found_error)
        which = "Topics" if far > 0 else "Trials"
        if abs(far) <= ALIKE * error:
            which = "Either"
        elif math.isnan(far):
            which = "Trials" if math.isnan(topics.found) and trials.found == trials.found else "Either"
        said = (
            f"{which}: twice the topics would name {node_path(plan)} in {in_percent(topics.found)} of studies instead "
            f"of {in_percent(now.found)}, twice the trials in {in_percent(trials.found)}"
        )
    enough = "" if plan.smallest else "; no design below names it in 4 studies of 5"
    return f"Topics or trials? {said}{enough}."


def _recommendation(plan: NodePlan) -> str:
    smallest = plan.smallest
    if smallest is not None:
        return (
            f"{_design(smallest)} is the cheapest design below that names it in 4 studies of 5 "
            f"({in_percent(smallest.power.found)}; {user_turns(smallest.turns)}"
            f"{hours_after(smallest.hours)})."
        )
    if plan.beyond is None:
        return "Too few conversations come there in these designs to say how many would do."
    topics, trials = plan.beyond
    return f"About {topics:,} topics with {pluralize(trials, 'trial')} of each would."


def _grounds(plan: NodePlan) -> Iterator[str]:
    yield (
        f"from the pilot: of {pluralize(plan.came, 'trial')} of {pluralize(plan.came_topics, 'topic')} that came "
        f"there, {plan.took} took {printable(plan.path[-1], line=True)}; topics counting alike, {_share(plan.share)}, "
        f"with a spread between topics of {100 * plan.spread:.1f} points"
    )
    yield (
        f"to be found: {_share(plan.changed)} with one system and {_share(plan.share)} with the other, a difference of "
        f"{points(round(100 * abs(plan.share - plan.changed), 6))}"
    )


def _cell(one: NodePower) -> Text:
    if math.isnan(one.found):
        return Text("no test")
    return Text(in_percent(one.found), style="bold" if one.found >= WANTED else "")


def _legend(plan: NodePlan) -> Iterator[str]:
    errors = [one.power.found_error for one in plan.designs if not math.isnan(one.power.found_error)]
    error = f" (simulation error up to {100 * max(errors):.1f} points)" if errors else ""
    yield (
        f"named: share of simulated studies in which `harvest compare` names this turn, with p at most "
        f"{1 - plan.settings.level:.3g} corrected over all turns tested{error}; bold from {in_percent(WANTED)}"
    )
    yield "it speaks of the topics that are played; they are simulated to vary as the pilot's do"
    if len(errors) < len(plan.designs):
        yield "no test: a topic needs several trials, and a turn conversations that could make p small enough"
    if plan.systems == 1:
        yield "one system: what is compared are two audits of it; turns are of one of them"
    if any(math.isnan(one.hours) for one in plan.designs):
        yield "hours: unknown, since the audit sets no rate and the pilot does not show how long a conversation takes"


def _design(one: NodeDesign) -> str:
    return f"{pluralize(one.topics, 'topic')} × {pluralize(one.trials, 'trial')}"


def _share(share: float) -> str:
    return f"{100 * share:.1f}%"
