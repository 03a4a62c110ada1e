"""The JSON document, long-form rows and printed tables of an allocation of trials to topics."""

import json
import math
import re
import textwrap
from collections.abc import Iterator
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harvest.studies.plan.allocation import SEEN_ENOUGH, SURELY, Spending
from harvest.studies.plan.words import simulated
from harvest.studies.scores.trial_values import key_name
from harvest.tables.long_rows import LongRow, unit_of
from harvest.tables.study_form import StudyForm
from harvest.terminal import printable
from scoring.table import is_percentage
from topics.counting import pluralize
from topics.decimals import decimal, percent

FORMAT = "harvest-allocation/1"

_PLAIN_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_YAML_WORDS = {"yes", "no", "on", "off", "true", "false", "null", "y", "n"}
_WIDTH = 78  # columns


def spending_form(spending: Spending) -> StudyForm:
    """Return the printable form of an allocation, with a `harvest-allocation/1` document. Undefined values are null."""
    head = {
        "format": FORMAT,
        "audit": spending.audit,
        "measure": spending.key[0],
        "turn": spending.key[1],
        "estimand": "these",
        "systems": list(spending.systems),
        "total": spending.total,
        "trials": spending.usual_trials,
        "trials_of": {each.topic: each.trials for each in spending.topics if each.trials != spending.usual_trials},
        "floor": spending.found.floor,
        "unseen": simulated(spending.unseen),
        "settings": spending.basis.settings.as_json(),
        "seed": spending.basis.seed,
        "notes": list(spending.notes),
    }
    return StudyForm(
        head=head,
        rows=lambda: spending_rows(spending),
        tables=lambda _: spending_tables(spending),
        sources=spending.basis.pilots,
    )


def spending_rows(spending: Spending) -> Iterator[LongRow]:
    """Yield interval widths over all topics, and then each topic's trials, spread and probability of an unseen path."""
    name, turn = spending.key
    common: dict[str, Any] = {
        "study": "plan",
        "run": ", ".join(str(each["run"]) for each in spending.basis.pilots),
        "measure": name,
        "turn": turn,
    }
    unit, found = unit_of(is_percentage(name)), spending.found
    whole: dict[str, Any] = {**common, "topics": len(spending.topics), "estimand": "these"}
    for figure, width in (
        ("width of the interval", found.width),
        ("width of the interval with equal trials", found.equal_width),
        ("width of the interval with the pilot continued", spending.continued_width),
    ):
        yield LongRow(**whole, figure=figure, unit=unit, estimate=width)
    yield LongRow(
        **whole, figure="narrower by", unit="share", estimate=found.narrower, low=found.low, high=found.high,
        level=0.9, interval="range of 9 in 10 simulated studies",
    )  # fmt: skip
    for each in spending.topics:
        own: dict[str, Any] = {**common, "topic": each.topic}
        yield LongRow(**own, figure="trials proposed", unit="count", estimate=float(each.trials), trials=each.trials)
        yield LongRow(**own, figure="spread of trials, foretold", unit=unit, estimate=each.spread, trials=each.pilot)
        yield LongRow(
            **own,
            figure="chance of a way not seen",
            unit="share",
            estimate=each.unseen,
            low=each.unseen_low,
            high=each.unseen_high,
            level=spending.basis.settings.level,
            interval="Good-Turing" if each.pilot else "",
            trials=each.pilot,
            note="stop" if each.stop else "",
        )


def spending_tables(spending: Spending) -> Iterator[RenderableType]:
    """Yield the printed allocation, starting with the lines to paste into the audit."""
    yield trials_lines(spending)
    yield Text()
    yield Text(_answer_sentence(spending), style="bold")
    if (spending.found.trials == spending.found.equal).all():
        yield Text(
            "Equal trials may go on in the pilot's own folder, whose trials then count: "
            f"±{_half_width(spending, spending.continued_width)}."
        )
    else:
        better = spending.continued_width < spending.found.width
        yield Text(
            "Play them into a new folder: the pilot chose these numbers, so an estimate must not hold its trials. "
            "Equal trials could go on in the pilot's folder and keep them: "
            f"±{_half_width(spending, spending.continued_width)}"
            + (", which is narrower, if the systems are still the same." if better else ".")
        )
    if math.isnan(spending.unseen):
        yield Text("Nothing is known of new ways through the conversations.")
    else:
        stopping = sum(each.stop for each in spending.topics)
        stop = f"{pluralize(stopping, 'topic')} can stop there" if stopping else "no topic can stop there"
        yield Text(
            "New ways through a conversation: the next trial of a topic shows one with a chance of "
            f"{percent(spending.unseen)} on average. For trees alone, {stop}."
        )
    yield _table(spending)
    yield from (Text(line, style="dim") for line in _legend(spending))
    yield from (Text(f"note: {printable(note, line=True)}") for note in spending.notes)


def trials_lines(spending: Spending) -> str:
    """Return `trials:` and, if topics have different numbers of trials, `trials_of:` for an audit."""
    own = []
    for each in spending.topics:
        plain = _PLAIN_KEY.fullmatch(each.topic) and each.topic.lower() not in _YAML_WORDS
        if each.trials != spending.usual_trials:
            own.append(f"{each.topic if plain else json.dumps(each.topic)}: {each.trials}")
    lines = [f"trials: {spending.usual_trials}"]
    if own:
        inside = textwrap.wrap(", ".join(own), _WIDTH, break_long_words=False, break_on_hyphens=False)
        lines += ["trials_of: {", *(f"  {line}" for line in inside), "  }"]
    return "\n".join(lines)


def _answer_sentence(one: Spending) -> str:
    found, count = one.found, f"{one.total:,} trials of each system"
    measure, equal = printable(key_name(one.key), line=True), f"±{_half_width(one, one.found.equal_width)}"
    if (found.trials == found.equal).all():
        return (
            f"Equal trials: this pilot gives no reason to share {count} in another way; the interval of a difference "
            f"for these topics would be {equal} of {measure}."
        )
    # As a range, since a single study can be unlucky.
    low, high = (f"{percent(abs(end))} {'wider' if end < 0 else 'narrower'}" for end in (found.low, found.high))
    return (
        f"These {count} would narrow the interval of a difference for these topics by {percent(found.narrower)}: "
        f"±{_half_width(one, found.width)} of {measure} instead of {equal} with equal trials "
        f"(single studies: 9 in 10 from {low} to {high}). Every topic still counts alike."
    )


def _half_width(one: Spending, width: float) -> str:
    if math.isnan(width):
        return "n/a"
    return f"{decimal(100 * width / 2, 1)} points" if is_percentage(one.key[0]) else f"{width / 2:.4f}"


def _table(one: Spending) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("topic")
    for heading in ("pilot", "spread", "trials", "new way"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("")
    for each in one.topics:
        chance = f"{percent(each.unseen)} [{decimal(100 * each.unseen_low, 0)}, {decimal(100 * each.unseen_high, 0)}]"
        table.add_row(
            Text(printable(each.topic, line=True)),
            str(each.pilot),
            decimal(100 * each.spread, 1) if is_percentage(one.key[0]) else f"{each.spread:.4f}",
            str(each.trials),
            "n/a" if math.isnan(each.unseen) else chance,
            "stop" if each.stop else "",
        )
    return table


def _legend(one: Spending) -> Iterator[str]:
    points = ", in points" if is_percentage(one.key[0]) else ""
    yield f"pilot: trials with a value, of {', '.join(printable(name, line=True) for name in one.systems)} together"
    yield (
        f"spread: standard deviation between trials of the topic{points}, foretold: few trials say little, so it is "
        "drawn towards that of all topics"
    )
    yield (
        f"new way: chance that the next trial takes a way that its system did not take on this topic (Good-Turing), "
        f"[low, high]: {100 * one.basis.settings.level:g}%; stop: at most {100 * SEEN_ENOUGH:g}%, and its high end at "
        f"most {100 * SURELY:g}%, which takes about 30 trials"
    )
    yield (
        f"no topic has fewer than {pluralize(one.found.floor, 'trial')}; the difference is between two systems or two "
        "runs, simulated as `harvest compare --estimand these` computes"
    )
