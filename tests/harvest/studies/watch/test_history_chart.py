"""The history of a watched audit, in words and as a picture: where a figure moved is said in both."""

from __future__ import annotations

import io
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console
from rich.text import Text

from harvest.studies.watch.changes import find_moves
from harvest.studies.watch.history import Look, LookFigure, LookSystem
from harvest.studies.watch.history_chart import history_chart
from harvest.studies.watch.history_tables import audit_times, history_tables
from tests.support.command_line import harvest
from tests.support.histories import write_history

NAME = "ave%useful"


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


def test_a_drop_is_placed_at_the_first_audit_that_shows_it_past_one_that_could_not_be_measured(
    dropped: tuple[Look, ...],
) -> None:
    ((place, one),) = find_moves(dropped, "bot", NAME).items()
    assert place == 9
    assert [one.before, one.after] == pytest.approx([0.90125, 0.604])
    words = [part.plain for part in history_tables(dropped, "bot", NAME) if isinstance(part, Text)]
    assert words[0].startswith("moved from 90.1% to 60.4% with the audit of 2026-03-08 03:17 (p ")
    assert "raises no alarm" in words[1]


@pytest.mark.parametrize(("reach", "kept"), [(0.1, True), (0.2, False)])
def test_a_move_that_what_was_cut_short_could_have_made_is_none(
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


def test_where_nothing_moved_or_too_little_was_seen_that_is_said(dropped: tuple[Look, ...]) -> None:
    console = Console(width=100, file=io.StringIO(), record=True)
    console.print(next(iter(history_tables(dropped, "bot", NAME))))
    assert "difference [low, high]" in console.export_text(), "brackets are no markup"
    (few,) = [part.plain for part in history_tables(dropped[:5], "bot", NAME) if isinstance(part, Text)]
    assert few == "change points are looked for among 8 audits or more, and here are 5"
    (none,) = [part.plain for part in history_tables(dropped[:8], "bot", NAME) if isinstance(part, Text)]
    assert none.startswith("no change point is found")


def test_looks_of_one_minute_are_known_by_their_runs(dropped: tuple[Look, ...]) -> None:
    again = replace_at(dropped[0], "2026-01-01T03:17:40.000Z", "run-b")
    assert audit_times((dropped[0], again, dropped[1])) == ["run-0", "run-b", "2026-01-08 03:17"]


def replace_at(look: Look, at: str, run: str) -> Look:
    return look.model_copy(update={"at": at, "run": run})


def test_differences_are_in_the_table_and_the_baseline_in_the_picture(dropped: tuple[Look, ...]) -> None:
    assert ">baseline<" not in history_chart(dropped, [("bot", NAME)]), "early histories have no differences"
    figure = dropped[9].systems["bot"].figures[NAME].model_copy(update={"difference": -0.29})
    system = dropped[9].systems["bot"].model_copy(update={"figures": {NAME: figure}})
    looks = [*dropped[:9], dropped[9].model_copy(update={"systems": {"bot": system}})]
    assert ">baseline<" in history_chart(looks, [("bot", NAME)])
    console = Console(width=100, file=io.StringIO(), record=True)
    console.print(next(iter(history_tables(looks, "bot", NAME))))
    assert "61.0% -29.0 [-5.0, +5.0]" in " ".join(console.export_text().split())


def test_the_picture_has_the_series_the_levels_and_both_in_words(dropped: tuple[Look, ...]) -> None:
    root = ElementTree.fromstring(history_chart(dropped, [("bot", NAME)]))
    words = [text for part in root.iter() for text in [part.text or ""] if text.strip()]
    assert "mean between change points" in words
    assert any("moved at look 10" in text for text in words)
    two = ElementTree.fromstring(history_chart(dropped[:5], [("bot", NAME), ("bot", NAME)]))
    assert float(two.attrib["height"]) > float(root.attrib["height"])


@pytest.mark.parametrize("looks", [1, 2, 13])
def test_no_half_look_is_on_the_axis(dropped: tuple[Look, ...], looks: int) -> None:
    root = ElementTree.fromstring(history_chart(dropped[:looks], [("bot", NAME)]))
    marks = [float(part.text or "") for part in root.iter() if re.fullmatch(r"[0-9.]+", part.text or "")]
    across = marks[marks.index(100.0) + 1 :]
    assert across == sorted(across) != []
    assert all(mark.is_integer() for mark in across)


def test_the_command_says_it_and_draws_it(dropped: tuple[Look, ...], tmp_path: Path) -> None:
    write_history(tmp_path / "history.jsonl", dropped)
    done = harvest("watch", "history", "history.jsonl", "--figure", "history.svg", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "moved from 90.1% to 60.4%" in done.stdout
    assert ElementTree.parse(tmp_path / "history.svg").getroot().tag.endswith("svg")
    again = harvest("watch", "history", "history.jsonl", "--figure", "history.svg", cwd=tmp_path)
    assert (again.returncode, "exists already" in again.stderr) == (2, True)
