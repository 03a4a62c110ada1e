"""Where marks are drawn, worked by hand, and how a section is arranged."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from harvest.report.bars import DIFFERENCE, PERCENT, difference_scale, scale_from_zero
from harvest.report.blocks import arrange, as_blocks, details, table, text
from harvest.report.flow import Flow, flow_chart
from harvest.report.forest import difference_forest
from harvest.report.page import _TEMPLATES, _typeset
from harvest.studies.compare.comparison import compare_runs
from harvest.studies.trees.figures import tree_figures
from harvest.tables.drawing.layout import select_branches
from recordings.log.run_folder import read
from recordings.trees.builder import LABEL, TreeBuilder
from scoring.comparison.pairs import Pair, Pairs
from tests.support.reported import small_run

NAN = math.nan


def test_a_share_is_drawn_at_its_percentage() -> None:
    bar = PERCENT.bar("%useful", "56.0% [50.0, 61.1]", (0.56, 0.5, 0.611), of="B", series=1)
    assert (bar.value, bar.low, bar.high) == pytest.approx((0.56, 0.5, 0.611))
    assert bar.ticks == ((0, "0"), (0.25, "25"), (0.5, "50"), (0.75, "75"), (1, "100"))
    block = bar.as_block()
    assert (block["zero"], block["band"], block["unit"], block["series"]) == (None, None, "percent", 1)


def test_a_point_of_a_difference_is_as_wide_as_one_of_a_value() -> None:
    bar = difference_scale((0.324, 0.217, 0.403), share=True).difference("A − B", "", (0.324, 0.217, 0.403), 0.03)
    assert (bar.zero, bar.value, bar.low, bar.high) == pytest.approx((0.5, 0.824, 0.717, 0.903))
    assert bar.band == pytest.approx(0.03)
    assert bar.series == DIFFERENCE
    assert [label for _, label in bar.ticks] == ["−50", "−25", "0", "25", "50"]


def test_a_difference_beyond_50_points_has_an_axis_of_100_to_each_side() -> None:
    bar = difference_scale((0.6, 0.2, NAN), share=True).difference("", "", (0.6, 0.2, NAN), 0.03)
    assert (bar.value, bar.low, bar.band) == pytest.approx((0.8, 0.6, 0.015))
    assert bar.as_block()["high"] is None


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5))
def test_zero_is_in_the_middle_and_every_difference_on_the_axis(values: list[float]) -> None:
    scale = difference_scale(values, share=False)
    bars = [scale.difference("", "", (value, NAN, NAN), NAN) for value in values]
    assert all(bar.zero == pytest.approx(0.5) for bar in bars)
    assert all(0 <= bar.value <= 1 for bar in bars)
    assert all((bar.value - 0.5) * value >= -1e-9 for bar, value in zip(bars, values, strict=True)), "on its side"


def test_a_value_of_its_own_scale_is_a_part_of_the_way_from_zero() -> None:
    bar = scale_from_zero([0.0089, 0.0097, 0.0057], "R").bar("R", "", (0.0057, NAN, NAN))
    assert bar.ticks[0] == (0, "0")
    assert bar.value == pytest.approx(0.0057 / float(bar.ticks[-1][1])), "to the next round number"


def test_warnings_are_one_list_after_the_first_table_and_explanations_are_last_and_closed() -> None:
    shown = table(["measure"], [["R"]])
    warnings = text("read this first", "warn"), text("and this", "warn")
    given = [warnings[0], text("lead"), shown, warnings[1], text("p: of a test", "dim")]
    closed, words = details("As a table", []), {"list": ["n: trials"], "tone": "dim"}
    assert arrange([*given, closed, words, text("end")]) == [
        text("lead"),
        shown,
        {"list": ["read this first", "and this"], "tone": "warn"},
        text("end"),
        closed,
        details("How to read this", [text("p: of a test", "dim"), words]),
    ]


def test_a_section_of_explanations_alone_stays_open() -> None:
    alone = [text("No answer has a label.", "dim")]
    assert arrange(alone) == alone


def test_printed_lines_with_dashes_are_a_list() -> None:
    assert as_blocks([Text("to settle it:"), Text("- GF: 30 topics"), Text("- R: 40 topics"), Text("end")]) == [
        text("to settle it:"),
        {"list": ["GF: 30 topics", "R: 40 topics"], "tone": ""},
        text("end"),
    ]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("-2.0 points [-7.2, +3.2]", '−2.0 points <span class="whole">[−7.2, +3.2]</span>'),
        ("it fell by -.0123", "it fell by −.0123"),
        ("gpt-4-1 of 2026-11-29, U-2", 'gpt-4-1 of <span class="whole">2026-11-29</span>, U-2'),
        ("the alarm of 2026-11-29 15:54", 'the alarm of <span class="whole">2026-11-29 15:54</span>'),
        ("<b>[1]</b>", '&lt;b&gt;<span class="whole">[1]</span>&lt;/b&gt;'),
    ],
)
def test_minus_signs_are_set_and_intervals_kept_whole_and_names_left_alone(given: str, shown: str) -> None:
    assert _typeset(given) == shown


def test_eight_systems_have_eight_marks() -> None:
    symbol = _TEMPLATES.get_template("bars.html").module.symbol  # type: ignore[attr-defined]
    marks = [re.sub(r"\s+", " ", str(symbol(series, True, 0, 0))).strip() for series in range(8)]
    assert len(set(marks)) == 8
    assert all(mark.startswith("<") for mark in marks)


def flow(*paths: str, marked: frozenset[tuple[str, ...]] = frozenset()) -> str:
    builder = TreeBuilder(LABEL)
    for path in paths:
        builder.add_path(("system" if place % 2 else "user", word, None) for place, word in enumerate(path.split()))
    tree = builder.tree()
    return flow_chart([Flow("A", tree_figures(tree), select_branches(tree), 0, marked)])


def test_the_height_of_a_block_is_its_share_of_all_conversations() -> None:
    drawn = flow(*["ask o more o"] * 6, *["ask o more x"] * 3, *["ask x"] * 3)
    high = {
        title.partition(":")[0]: float(height)
        for height, title in re.findall(r'<rect [^>]*?height="([\d.]+)"[^>]*><title>([^<]*)</title>', drawn)
    }
    whole = high["U ask"] + 1  # a pixel between blocks
    assert high["U ask → S o"] + 1 == pytest.approx(whole * 9 / 12, abs=0.06)
    assert high["U ask → S x"] + 1 == pytest.approx(whole * 3 / 12, abs=0.06)
    assert high["U ask → S o → U more → S o"] + 1 == pytest.approx(whole * 6 / 12, abs=0.06)
    assert high["U ask → S x → ■ end"] == pytest.approx(whole * 3 / 12, abs=0.06)
    assert "not useful 25%" in drawn
    assert "framed" not in drawn


def test_where_two_systems_differ_the_block_is_framed() -> None:
    drawn = flow("ask o", "ask x", marked=frozenset({("U ask", "S o")}))
    (framed,) = re.findall(r"<rect [^>]*stroke-opacity[^>]*><title>([^<]*)</title>", drawn)
    assert framed.startswith("U ask → S o: 50%")
    assert "framed: where the systems differ" in drawn


def test_of_many_systems_only_drawn_pairs_are_computed(tmp_path: Path) -> None:
    systems = "".join(
        f"  - {{name: S{number}, driver: parrot, options: {{profile: erratic}}}}\n" for number in range(7)
    )
    found = compare_runs([read(small_run(tmp_path, systems, trials=2))], measures=["ave%useful"])
    (measure,) = found.measures
    asked = []

    def described(at: int) -> Pair:
        asked.append(at)
        return measure.pairs[at]

    watched = replace(found, measures=(replace(measure, pairs=Pairs(len(measure.pairs), described)),))
    (drawn,) = difference_forest(watched, math.nan, turned=False)
    assert sorted(asked) == list(range(12)), "of 60 systems, there are 1,770"
    assert "The first 12 of 21 pairs" in str(drawn)
