"""Trials proposed for each topic, for people: lines for the audit, what they narrow, and what is still unseen."""

import json
import math
import re
import textwrap
from collections.abc import Iterator

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harvest.studies.plan.allocation import SEEN_ENOUGH, SURELY, Spending, SpentTopic
from harvest.studies.scores.trial_values import key_name
from harvest.terminal import printable
from scoring.table import is_percentage
from topics.counting import pluralize

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_WORDS = {"yes", "no", "on", "off", "true", "false", "null", "y", "n"}
_WIDTH = 78  # columns


def spending_tables(one: Spending) -> Iterator[RenderableType]:
    """What a person sees. The lines for the audit come first, ready to be pasted."""
    yield trials_lines(one)
    yield Text()
    yield Text(_answer(one), style="bold")
    yield Text(_continued_note(one))
    yield Text(_new_ways(one))
    yield _table(one)
    yield from (Text(line, style="dim") for line in _legend(one))
    yield from (Text(f"note: {printable(note, line=True)}") for note in one.notes)


def trials_lines(one: Spending) -> str:
    """`trials:` and `trials_of:` as an audit has them; only the first where all topics have as many."""
    own = [f"{_yaml(each.topic)}: {each.trials}" for each in one.topics if each.trials != one.usual]
    lines = [f"trials: {one.usual}"]
    if own:
        inside = textwrap.wrap(", ".join(own), _WIDTH, break_long_words=False, break_on_hyphens=False)
        lines += ["trials_of: {", *(f"  {line}" for line in inside), "  }"]
    return "\n".join(lines)


def _yaml(topic: str) -> str:
    return topic if _PLAIN.fullmatch(topic) and topic.lower() not in _WORDS else json.dumps(topic)


def _answer(one: Spending) -> str:
    found, count = one.found, f"{one.total:,} trials of each system"
    if (found.trials == found.equal).all():
        return (
            f"Equal trials: this pilot gives no reason to share {count} in another way; the interval of a difference "
            f"for these topics would be ±{_half(one, found.equal_width)} of {_measure(one)}."
        )
    return (
        f"These {count} would narrow the interval of a difference for these topics by {100 * found.narrower:.0f}%: "
        f"±{_half(one, found.width)} of {_measure(one)} instead of ±{_half(one, found.equal_width)} with equal trials "
        f"(single studies: {_range(found.low, found.high)}). Every topic still counts alike."
    )


def _range(low: float, high: float) -> str:
    """In words, since a study can have bad luck: 9 in 10 lie between."""
    ends = [f"{100 * abs(end):.0f}% {'wider' if end < 0 else 'narrower'}" for end in (low, high)]
    return f"9 in 10 from {ends[0]} to {ends[1]}"


def _continued_note(one: Spending) -> str:
    if (one.found.trials == one.found.equal).all():
        return (
            "Equal trials may go on in the pilot's own folder, whose trials then count: "
            f"±{_half(one, one.continued_width)}."
        )
    better = one.continued_width < one.found.width
    return (
        "Play them into a new folder: the pilot chose these numbers, so an estimate must not hold its trials. Equal "
        f"trials could go on in the pilot's folder and keep them: ±{_half(one, one.continued_width)}"
        + (", which is narrower, if the systems are still the same." if better else ".")
    )


def _new_ways(one: Spending) -> str:
    stopping = sum(each.stop for each in one.topics)
    if math.isnan(one.unseen):
        return "Nothing is known of new ways through the conversations."
    stop = f"{pluralize(stopping, 'topic')} can stop there" if stopping else "no topic can stop there"
    return (
        "New ways through a conversation: the next trial of a topic shows one with a chance of "
        f"{100 * one.unseen:.0f}% on average. For trees alone, {stop}."
    )


def _table(one: Spending) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("topic")
    for heading in ("pilot", "spread", "trials", "new way"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("")
    for each in one.topics:
        table.add_row(
            Text(printable(each.topic, line=True)),
            str(each.pilot),
            _value(one, each.spread),
            str(each.trials),
            _chance(each),
            "stop" if each.stop else "",
        )
    return table


def _chance(each: SpentTopic) -> str:
    if math.isnan(each.unseen):
        return "n/a"
    return f"{100 * each.unseen:.0f}% [{100 * each.unseen_low:.0f}, {100 * each.unseen_high:.0f}]"


def _legend(one: Spending) -> Iterator[str]:
    points = ", in points" if is_percentage(one.key[0]) else ""
    yield f"pilot: trials with a value, of {', '.join(printable(name, line=True) for name in one.systems)} together"
    yield (
        f"spread: standard deviation between trials of the topic{points}, foretold: few trials say little, so it is "
        "drawn towards that of all topics"
    )
    yield (
        f"new way: chance that the next trial takes a way that its system did not take on this topic (Good-Turing), "
        f"[low, high]: {100 * one.settings.level:g}%; stop: at most {100 * SEEN_ENOUGH:g}%, and its high end at most "
        f"{100 * SURELY:g}%, which takes about 30 trials"
    )
    yield (
        f"no topic has fewer than {pluralize(one.found.floor, 'trial')}; the difference is between two systems or two "
        "runs, simulated as `harvest compare --estimand these` computes"
    )


def _measure(one: Spending) -> str:
    return printable(key_name(one.key), line=True)


def _half(one: Spending, width: float) -> str:
    if math.isnan(width):
        return "n/a"
    return f"{100 * width / 2:.1f} points" if is_percentage(one.key[0]) else f"{width / 2:.4f}"


def _value(one: Spending, value: float) -> str:
    return f"{100 * value:.1f}" if is_percentage(one.key[0]) else f"{value:.4f}"
