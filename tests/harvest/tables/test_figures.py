"""The table of figures: nothing in it is cut, and what has no interval says why."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Sequence

import pytest
from rich.console import Console

from harvest.tables.figures import estimand_of, figures
from scoring.measures.tokens import COST
from scoring.table import ScoreRow


def row(measure: str, system: str, *, scorers: str | None = None, note: str = "", low: float = 0.0014) -> ScoreRow:
    interval = "bootstrap" if low == low else None
    high = 0.0055 if low == low else low
    return ScoreRow(
        measure,
        system,
        None,
        None,
        None,
        0.0026,
        30,
        low=low,
        high=high,
        level=0.95,
        interval=interval,
        resampled="topics",
        scorers=scorers,
        note=note,
    )


def printed(rows: Sequence[ScoreRow], systems: Sequence[str], width: int, asked: Sequence[str] = ()) -> str:
    console = Console(width=width, file=io.StringIO(), record=True, force_terminal=True)
    for part in figures(rows, systems, width=width, asked=asked):
        console.print(part)
    return console.export_text()


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_a_name_that_differs_between_systems_truncates_no_figure(width: int) -> None:
    rows = [
        row("SWAN", "A", scorers="people, rules"),
        row("SWAN", "B", scorers="rules"),
        *(row("R", system) for system in "AB"),
    ]
    text = printed(rows, ["A", "B"], width)
    assert text.count("0.0026 [.0014, .0055]") == 4
    assert text.count(" 30 ") + text.count(" 30\n") == 4
    assert "…" not in text


def test_a_ratio_over_trials_is_distinguished_from_that_of_one_trial() -> None:
    """The GFRC paper prints 9/14 of one trial. Over trials it is another figure, and the legend says so."""
    text = " ".join(printed([row("%recovery", "A"), row("R", "A")], ["A"], 80).split())
    assert "%recovery: one ratio of sums over topics and trials" in text
    assert "one ratio of sums" not in " ".join(printed([row("R", "A")], ["A"], 80).split())


def test_a_missing_interval_is_explained() -> None:
    few = row("R", "A", note="2 topics: too few to resample", low=float("nan"))
    assert "no interval: R (2 topics: too few to resample)" in printed([few], ["A"], 80)
    assert "no interval" not in printed([row("R", "A")], ["A"], 80)


def test_a_requested_measure_without_a_value_says_where_it_has_one() -> None:
    none = dataclasses.replace(row("cost", "A", note="no value", low=float("nan")), value=float("nan"), n=0)
    console = Console(width=200, file=io.StringIO(), record=True)
    for part in figures([none], ["A"], width=200, asked=["cost"]):
        console.print(part)
    assert f"cost, A: no value: {COST.undefined}" in console.export_text()


def test_a_long_name_of_a_run_is_broken_between_its_parts() -> None:
    systems = ["A@a-long-name-of-the-first-run-2026-11-01", "A@a-long-name-of-the-second-run-2026-11-02"]
    lines = printed([row("R", system) for system in systems], systems, 80).splitlines()
    heads = [line.split() for line in lines[: next(i for i, line in enumerate(lines) if "─" in line)] if line.strip()]
    assert heads == [
        ["A@a-long-name-of-the-", "A@a-long-name-of-the-"],
        ["first-run-2026-11-01", "second-run-2026-11-02"],
        ["measure", *["[topics", "like", "these]"], "n", *["[topics", "like", "these]"], "n"],
    ]


@pytest.mark.parametrize("width", [60, 80, 100])
def test_large_values_are_printed_in_full_too(width: int) -> None:
    large = dataclasses.replace(row("tokens_out", "A"), value=12345.6, low=10000.25, high=23456.75)
    text = printed([large, row("R", "A"), dataclasses.replace(large, system="B")], ["A", "B"], width)
    assert text.count("12345.6000 [10000.2500, 23456.7500]") == 2
    assert "…" not in text


def test_the_legend_says_for_which_measures_1_is_good_if_others_are_in_the_table() -> None:
    assert "from 0 to 1, 1 is good\n" in printed([row("R", "A")], ["A"], 120)
    beside = printed([row(name, "A") for name in ("R", "U-measure", "Q(latency, beta=0.9)")], ["A"], 200)
    assert "from 0 to 1, 1 is good: R; from 0 upwards, high is good: U-measure; 0 is good: Q(latency" in beside


@pytest.mark.parametrize(
    ("resampled", "of"),
    [
        (["topics", "topics"], "topics like these"),
        (["topics", "topics+trials", "nothing", None], "topics like these"),
        (["trials"], "this topic"),
        (["dialogues"], "dialogues like these"),
        (["topics", "trials"], ""),
        (["nothing"], ""),
        ([], ""),
    ],
)
def test_the_head_of_a_column_describes_its_intervals_or_is_empty_if_they_differ(
    resampled: list[str | None], of: str
) -> None:
    assert estimand_of(resampled) == of


def test_invalid_trials_bound_the_shown_share_whichever_it_is() -> None:
    first = dataclasses.replace(row("%useful", "A"), turn=1, invalid=3, worst=0.4, best=0.6)
    text = " ".join(printed([first], ["A"], 100).split())
    assert "A: invalid trials, not in any figure: 3; %useful S1 would be 40.0% had all of them been useless" in text
    whole = dataclasses.replace(row("ave%useful", "A"), invalid=3, worst=0.5, best=0.6)
    text = " ".join(printed([first, whole], ["A"], 100).split())
    assert "ave%useful would be 50.0%" in text
    assert "%useful S1 would be" not in text


def test_every_requested_share_and_rate_has_its_bounds() -> None:
    mean = dataclasses.replace(row("ave%useful", "A"), invalid=3, worst=0.5, best=0.6)
    first = dataclasses.replace(row("%useful", "A"), turn=1, invalid=3, worst=0.4, best=0.6)
    rate = dataclasses.replace(row("P(breakdown)", "A"), invalid=3, worst=0.25, best=0.0)
    names = ["ave%useful", "%useful", "P(breakdown)"]
    text = " ".join(printed([mean, first, rate], ["A"], 100, asked=names).split())
    assert "ave%useful would be 50.0% had all of them been useless, 60.0% useful" in text
    assert "%useful S1 would be 40.0% had all of them been useless, 60.0% useful" in text
    assert "P(breakdown) would be" in text
