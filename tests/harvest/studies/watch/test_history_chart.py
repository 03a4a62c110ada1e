"""The history of a watched audit, in words and as a picture: where a figure moved is said in both."""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

import pytest
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harvest.studies.watch.changes import find_moves
from harvest.studies.watch.history import Look, LookFigure, LookSystem, WatchRules
from harvest.studies.watch.history_chart import audit_points, history_chart, value_axis
from harvest.studies.watch.history_tables import audit_times, history_tables
from recordings.files.times import stamp
from tests.support.command_line import harvest
from tests.support.histories import write_history

NAME = "ave%useful"
SVG = "{http://www.w3.org/2000/svg}"


def look(week: int, value: float | None) -> Look:
    figure = LookFigure(
        value=value or 0.0, n=30, low=-0.05, high=0.05, evidence=((0.0,), (0.0,)), verdict="cannot tell"
    )
    system = LookSystem(planned=30, valid=30 if value else 0, figures={NAME: figure} if value else {})
    day = f"2026-{1 + week // 4:02}-{1 + 7 * (week % 4):02}T03:17:00.000Z"
    return Look(at=day, run=f"run-{week}", baseline="b", systems={"bot": system})


@pytest.fixture
def dropped() -> tuple[Look, ...]:
    """Eight good audits, one that could not be measured, and five bad ones."""
    values = [0.90, 0.91, 0.89, 0.9, 0.92, 0.9, 0.88, 0.91, None, 0.61, 0.6, 0.62, 0.59, 0.6]
    return tuple(look(week, value) for week, value in enumerate(values))


def test_a_drop_is_placed_at_the_first_audit_that_shows_it_beyond_one_that_could_not_be_measured(
    dropped: tuple[Look, ...],
) -> None:
    ((place, one),) = find_moves(dropped, "bot", NAME).items()
    assert place == 9
    assert [one.before, one.after] == pytest.approx([0.90125, 0.604])
    words = [part.plain for part in history_tables(dropped, "bot", NAME) if isinstance(part, Text)]
    assert words[0].startswith("moved from 90.1% to 60.4% with the audit of 2026-03-08 03:17 (p ")
    assert "raises no alarm" in words[1]


@pytest.mark.parametrize(("reach", "kept"), [(0.1, True), (0.2, False)])
def test_a_move_that_lost_conversations_could_have_caused_is_not_a_move(
    dropped: tuple[Look, ...], reach: float, kept: bool
) -> None:
    """Users failed in the last five audits, and in one of the first."""

    def with_losses(place: int, one: Look) -> Look:
        figures = one.systems["bot"].figures
        if place in (2, *range(9, 14)):
            figures = {NAME: figures[NAME].model_copy(update={"cut": (reach, reach)})}
        return one.model_copy(update={"systems": {"bot": one.systems["bot"].model_copy(update={"figures": figures})}})

    looks = [with_losses(place, one) for place, one in enumerate(dropped)]
    assert list(find_moves(looks, "bot", NAME)) == [9] * kept
    rising = [one.model_copy(update={"at": other.at}) for one, other in zip(reversed(looks), dropped, strict=True)]
    assert len(find_moves(rising, "bot", NAME)) == kept


def test_a_stable_or_short_history_is_reported_as_such(dropped: tuple[Look, ...]) -> None:
    console = Console(width=100, file=io.StringIO(), record=True)
    console.print(next(iter(history_tables(dropped, "bot", NAME))))
    assert "difference [low, high]" in console.export_text(), "brackets are no markup"
    (few,) = [part.plain for part in history_tables(dropped[:5], "bot", NAME) if isinstance(part, Text)]
    assert few == "change points are looked for among 8 audits or more, and here are 5"
    (none,) = [part.plain for part in history_tables(dropped[:8], "bot", NAME) if isinstance(part, Text)]
    assert none.startswith("no change point is found")


def test_a_change_that_was_soon_repaired_is_not_denied_in_hindsight() -> None:
    told = list[Look]()
    for week, word in enumerate(["cannot tell"] * 3 + ["fell", "alarm", "changed", "perhaps back", "back"]):
        one = look(week, 0.75 if word in ("fell", "alarm", "changed") else 0.9)
        figure = one.systems["bot"].figures[NAME].model_copy(update={"word": word})
        system = one.systems["bot"].model_copy(update={"figures": {NAME: figure}})
        told.append(one.model_copy(update={"systems": {"bot": system}}))
    assert not find_moves(told, "bot", NAME)
    (last,) = [part.plain for part in history_tables(told, "bot", NAME) if isinstance(part, Text)]
    assert "the verdicts above stand by themselves" in last


def test_looks_of_one_minute_are_named_by_their_seconds_and_of_one_second_by_their_runs(
    dropped: tuple[Look, ...],
) -> None:
    later = replace_at(dropped[0], "2026-01-01T03:17:40.000Z", "run-b")
    names = audit_times((dropped[0], later, dropped[1]))
    assert names == ["2026-01-01 03:17:00", "2026-01-01 03:17:40", "2026-01-08 03:17"]
    again = replace_at(dropped[0], "2026-01-01T03:17:40.500Z", "run-c")
    assert audit_times((dropped[0], later, again)) == ["2026-01-01 03:17:00", "run-b", "run-c"]


def test_a_new_baseline_is_marked_in_the_table_and_in_the_picture() -> None:
    looks = [*FALL, *(one.model_copy(update={"at": f"2026-02-0{n}T04:12:00.000Z"}) for n, one in enumerate(FALL, 1))]
    said = "new baseline with the audit of 2026-02-01 04:12: differences above it are from another one"
    for baseline, marks in (("b", 0), ("c", 1)):
        renewed = [*looks[:3], *(one.model_copy(update={"baseline": baseline}) for one in looks[3:])]
        parts = list(history_tables(renewed, "bot", NAME))
        assert [part.plain for part in parts if isinstance(part, Text)].count(said) == marks
        assert isinstance(parts[0], Table)
        assert [row.end_section for row in parts[0].rows].count(True) == marks
        assert history_chart(renewed, [("bot", NAME)]).count(">new baseline<") == marks


def test_confirmed_changes_and_others_have_their_own_marks_in_the_key() -> None:
    confirmed, other = ">a confirmed change<", ">an alarm or a move, unconfirmed<"
    drawn = history_chart(FALL, [("bot", NAME)])
    assert confirmed in drawn
    assert other in drawn
    drawn = history_chart(FALL[:2], [("bot", NAME)])
    assert confirmed not in drawn
    assert other in drawn


def replace_at(look: Look, at: str, run: str) -> Look:
    return look.model_copy(update={"at": at, "run": run})


def test_differences_are_in_the_table_and_the_baseline_in_the_picture(dropped: tuple[Look, ...]) -> None:
    assert ">baseline, " not in history_chart(dropped, [("bot", NAME)]), "early histories have no differences"
    figure = dropped[9].systems["bot"].figures[NAME].model_copy(update={"difference": -0.29})
    system = dropped[9].systems["bot"].model_copy(update={"figures": {NAME: figure}})
    looks = [*dropped[:9], dropped[9].model_copy(update={"systems": {"bot": system}})]
    assert ">baseline, and ± what matters<" in history_chart(looks, [("bot", NAME)])
    console = Console(width=100, file=io.StringIO(), record=True)
    console.print(next(iter(history_tables(looks, "bot", NAME))))
    assert "61.0% -29.0 [-5.0, +5.0]" in " ".join(console.export_text().split())


def test_the_picture_has_the_series_the_levels_and_both_in_words(dropped: tuple[Look, ...]) -> None:
    root = ElementTree.fromstring(history_chart(dropped, [("bot", NAME)]))
    words = [text for part in root.iter() for text in [part.text or ""] if text.strip()]
    assert "mean between change points" in words
    assert any("moved with the audit of 2026-03-08 03:17" in text for text in words)
    assert "could not be measured" in words
    two = ElementTree.fromstring(history_chart(dropped[:5], [("bot", NAME), ("bot", NAME)]))
    assert float(two.attrib["height"]) > float(root.attrib["height"])


def known(at: str, value: float, difference: float, word: str) -> Look:
    """A look at a baseline of `value - difference`, with an interval of 6 points on each side."""
    verdict: Literal["changed", "same", "cannot tell"] = (
        "changed" if word == "changed" else "same" if word == "same" else "cannot tell"
    )
    figure = LookFigure(
        value=value, n=30, low=difference - 0.06, high=difference + 0.06, difference=difference, word=word,
        verdict=verdict, evidence=((0.0,), (0.0,)),
    )  # fmt: skip
    system = LookSystem(planned=30, valid=30, figures={NAME: figure})
    return Look(at=at, run=at, baseline="b", systems={"bot": system}, rules=WatchRules(matters=0.04))


FALL = (
    known("2026-01-08T04:12:00.000Z", 0.86, 0.06, "cannot tell"),
    known("2026-01-15T04:12:00.000Z", 0.70, -0.10, "fell"),
    known("2026-01-29T04:12:00.000Z", 0.66, -0.14, "changed"),
)


def test_audits_are_drawn_at_their_dates_with_their_intervals_in_the_band_of_the_baseline() -> None:
    root = ElementTree.fromstring(history_chart(FALL, [("bot", NAME)]))
    texts = [(float(part.get("x") or 0), part.text or "") for part in root.iter(f"{SVG}text")]
    dates = {words: x for x, words in texts if re.fullmatch(r"2026-01-\d\d", words)}
    assert {"2026-01-08", "2026-01-15", "2026-01-29"} <= set(dates)
    ticks = {words: place for place, words in texts if re.fullmatch(r"\d+", words)}
    assert set(ticks) >= {"60", "70", "80", "90"}
    marks = [(float(part.get("cx") or 0), float(part.get("cy") or 0)) for part in root.iter(f"{SVG}circle")]
    heights = [float(part.get("y") or 0) - 4 for part in root.iter(f"{SVG}text") if part.text in ("60", "80")]
    point = abs(heights[0] - heights[1]) / 20  # pixels of a point
    (band,) = [
        part
        for part in root.iter(f"{SVG}rect")
        if part.get("class") == "f-hair" and float(part.get("width") or 0) != 26
    ]
    assert float(band.get("height") or 0) == pytest.approx(8 * point, abs=0.2), "4 points on each side"
    assert marks[0][0] == pytest.approx(dates["2026-01-08"], abs=0.2)
    lines = [re.fullmatch(r"M(\S+) (\S+)L(\S+) (\S+)", part.get("d") or "") for part in root.iter(f"{SVG}path")]
    upright = [tuple(map(float, found.groups())) for found in lines if found and found[1] == found[3]]
    intervals = [one for one in upright if abs(one[1] - one[3]) > 20]
    assert len(intervals) == 3
    assert [abs(one[1] - one[3]) for one in intervals] == pytest.approx([12 * point] * 3, abs=0.3)
    between = (intervals[2][0] - intervals[1][0]) / (intervals[1][0] - intervals[0][0])
    assert between == pytest.approx(2, abs=0.01), "two weeks are twice as wide as one"


def test_no_share_is_drawn_beyond_its_range() -> None:
    near = (known("2026-01-08T04:12:00.000Z", 0.99, 0.0, "same"), known("2026-01-15T04:12:00.000Z", 0.01, 0.0, "same"))
    (high, low) = points = audit_points(near, "bot", NAME)
    assert (high.high, low.low) == (100, 0)
    assert (high.low, low.high) == pytest.approx((93, 7))
    for marks in range(2, 9):
        axis = value_axis(points, 0.0, 1.0, marks)
        assert (axis.low, axis.high) == pytest.approx((0, 100))


@pytest.mark.parametrize("seconds", [0, 20, 600, 7_200, 200_000, 3_000_000, 40_000_000])
def test_dates_are_few_and_in_order_for_any_length_of_history(seconds: int) -> None:
    first = datetime(2026, 1, 8, 4, 12, tzinfo=UTC)
    times = [first + place * timedelta(seconds=seconds) / 12 for place in range(13)]
    looks = [known(stamp(time), 0.8, 0.0, "same") for time in times]
    root = ElementTree.fromstring(history_chart(looks, [("bot", NAME)]))
    written = [part for part in root.iter(f"{SVG}text") if re.search(r"\d\d[-:]\d\d", part.text or "")]
    places = [float(part.get("x") or 0) for part in written]
    assert 1 <= len(places) <= 8
    assert places == sorted(set(places))
    assert all(40 < place < 750 for place in places)


@pytest.mark.parametrize(("width", "tables"), [(120, 1), (80, 2), (60, 2), (0, 1)])
def test_the_terminal_draws_each_audit_next_to_the_table_or_below_it(width: int, tables: int) -> None:
    parts = list(history_tables(FALL, "bot", NAME, width))
    assert sum(isinstance(part, Table) for part in parts) == tables
    console = Console(width=width or 100, file=io.StringIO(), record=True)
    console.print(*parts)
    lines = console.export_text().splitlines()
    drawn = [one for one in lines if "│" in one and "2026" in one]
    assert len(drawn) == (3 if width else 0)
    for one, side in zip(drawn, (1, -1, -1), strict=False):
        assert (one.index("●") - one.index("│")) * side > 0
        assert one[one.index("●") - 1] == one[one.index("●") + 1] == "─"
    assert ("░" in drawn[-1]) if width else True


def test_the_command_prints_and_draws_it(dropped: tuple[Look, ...], tmp_path: Path) -> None:
    write_history(tmp_path / "history.jsonl", dropped)
    done = harvest("watch", "history", "history.jsonl", "--figure", "history.svg", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "moved from 90.1% to 60.4%" in done.stdout
    assert ElementTree.parse(tmp_path / "history.svg").getroot().tag.endswith("svg")
    again = harvest("watch", "history", "history.jsonl", "--figure", "history.svg", cwd=tmp_path)
    assert (again.returncode, "exists already" in again.stderr) == (2, True)


def test_the_last_audits_are_printed_and_change_points_are_those_of_all() -> None:
    def printed(last: int | None) -> str:
        console = Console(file=io.StringIO(), width=100)
        console.print(*history_tables(FALL, "bot", NAME, 100, last))
        return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]

    every, few = printed(None), printed(1)
    assert f"{len(FALL) - 1} earlier audits: --last with a larger number, or --csv" in few
    times = audit_times(FALL)
    assert [time in few for time in times] == [False] * (len(FALL) - 1) + [True]
    assert few.partition("moved from")[2] == every.partition("moved from")[2]
    assert printed(len(FALL)) == every
