"""What a history comes to: the state of a watch is read off its lines, and lines from before states were count, too."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.studies.watch.baseline import read_baseline
from harvest.studies.watch.history import (
    Look,
    LookFigure,
    LookSystem,
    alarm_waits,
    own_look,
    read_history,
    state_after,
    whole_history,
)
from recordings.files.times import unix_seconds
from scoring.inference.drift import SAME_BUDGET, SAME_SHARE
from scoring.inference.watch_state import WatchState
from scoring.inference.watched_audit import JudgingRules
from tests.support.histories import write_history
from topics.errors import InputError

KEPT = Path(__file__).parents[3] / "data" / "watched"
"""Eight audits that an earlier version judged: as blessed, four at 60% instead of 90%, and three after the repair. It
called the seventh *changed* anew, and left an alarm at the sixth and the eighth."""

RULES = JudgingRules(0.03)


def looks() -> tuple[Look, ...]:
    return read_history(KEPT / "before_states.history.jsonl")


def state(of: tuple[Look, ...]) -> WatchState:
    known = read_baseline(KEPT / "before_states.baseline.json").systems["bot"].figures["ave%useful"]
    return state_after(of, "bot", "ave%useful", known.select_topics(list(known.topics)), RULES)


def test_lines_of_an_earlier_version_are_read_and_converted_to_states() -> None:
    every = looks()
    assert [one.systems["bot"].figures["ave%useful"].verdict for one in every] == [
        *("cannot tell", "cannot tell"),
        *["changed"] * 3,
        *("cannot tell", "changed", "cannot tell"),
    ]
    assert [state(every[:count]).name for count in range(9)] == [
        *("watching", "watching", "alarm"),
        *["changed"] * 3,
        *("changed", "changed", "perhaps back"),
    ]
    changed = state(every[:5])
    assert (changed.since, changed.confirmed) == (unix_seconds(every[1].at), unix_seconds(every[2].at))
    assert changed.change == pytest.approx(-0.305, abs=0.01)
    assert changed.levels == (0.0, 0.0), "what it went on collecting against the baseline is closed"


def test_looks_that_were_read_are_written_so_that_they_read_back_equal(tmp_path: Path) -> None:
    write_history(tmp_path / "again.jsonl", looks())
    again = read_history(tmp_path / "again.jsonl")
    assert [one.has_same_content(other) for one, other in zip(again, looks(), strict=True)] == [True] * 8
    (first, *_) = (tmp_path / "again.jsonl").read_text().splitlines()
    assert json.loads(first)["format"] == "harvest-history/1"
    assert state(again).audits == state(looks()).audits


def figure(n: int = 40, **of: object) -> LookFigure:
    return LookFigure.model_validate({"value": 0.9, "n": n, "low": -0.1, "high": 0.1, "verdict": "cannot tell", **of})


def look(one: LookFigure) -> Look:
    system = LookSystem(planned=40, valid=40, figures={"ave%useful": one})
    return Look(at="2026-01-01T00:00:00Z", run="r", baseline="b", systems={"bot": system})


@pytest.mark.parametrize(
    ("one", "waits"),
    [
        (figure(alarm=True), True),
        (figure(alarm=True, verdict="changed"), False),
        (figure(alarm=True, verdict="changed", waits=True), True),
        (figure(alarm=False, waits=False), False),
        (figure(word="fell", evidence=((0.0,), (0.0,))), True),
        (figure(word="rose", evidence=((0.0,), (0.0,))), True),
        (figure(word="cannot tell", evidence=((0.0,), (0.0,))), False),
        (figure(word="fell"), False),  # a figure that is only shown
    ],
)
def test_an_alarm_can_be_confirmed_by_a_second_change_and_so_can_a_fall(one: LookFigure, waits: bool) -> None:
    assert alarm_waits([look(one)]) == waits


def test_looks_at_one_run_share_the_error_of_calling_it_the_same() -> None:
    once = figure(left=SAME_BUDGET, spent=0.035)
    assert once.remaining_budget(40) == SAME_BUDGET, "judged again with the same trials it is the same look"
    assert once.remaining_budget(80) == pytest.approx(0.015)
    assert figure().remaining_budget(80) == pytest.approx((1 - SAME_SHARE) * SAME_BUDGET), "of an earlier version"
    assert own_look([look(once)], "b", "2026-01-01T00:00:00Z") == look(once)
    assert own_look([look(once)], "b", "2026-01-02T00:00:00Z") is None


def test_without_enough_runs_the_line_contains_the_interval_of_these_runs(tmp_path: Path) -> None:
    few = figure(low=None, high=None, these=(-0.3, -0.1), own=0.01, confirms=(True, False))
    assert few.shown == (-0.3, -0.1)
    assert figure(low=None, high=None).shown is None
    write_history(tmp_path / "few.jsonl", (look(few),))
    (read,) = read_history(tmp_path / "few.jsonl")
    assert read.has_same_content(look(few))


def dated(at: str, n: int = 40, **of: object) -> Look:
    return look(figure(n, evidence=((0.0,), (0.0,)), **of)).model_copy(
        update={"at": f"2026-01-{at}T00:00:00Z", "run": at}
    )


def written(path: Path, *looks: Look) -> Path:
    write_history(path, looks)
    return path


def test_a_run_that_is_judged_again_gets_a_line_that_names_the_one_before_it(tmp_path: Path) -> None:
    path = written(tmp_path / "h.jsonl", dated("01", word="changed"), dated("02"), dated("01", n=80))
    first, _, again = (json.loads(line) for line in path.read_text().splitlines())
    assert (first["revises"], again["revises"]) == ("", first["hash"])
    history = whole_history(path)
    assert [(one.run, one.systems["bot"].figures["ave%useful"].n) for one in history.looks] == [("01", 80), ("02", 40)]
    assert [one.verdict_text for one in history.earlier(history.looks[0])] == ["bot ave%useful changed"]
    assert history.earlier(history.looks[1]) == ()
    before = path.read_text()
    written(path, dated("01", n=80), dated("02"))
    assert path.read_text() == before, "what says the same is there already"
    written(path, dated("01", word="changed"))
    assert len(whole_history(path).lines) == 4, "the last one counts, also where it says what an earlier one said"


def test_looks_count_in_order_of_time_whenever_they_were_added(tmp_path: Path) -> None:
    path = written(tmp_path / "h.jsonl", *(dated(day) for day in ("03", "01", "02")))
    assert [one.run for one in read_history(path)] == ["01", "02", "03"]


@given(st.integers(0, 10**6), st.sampled_from(["bot", 'é {[ \\ "', "}"]))
def test_a_line_that_is_truncated_anywhere_is_skipped_and_kept(cut: int, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "h.jsonl"
        whole = dated("02").model_copy(update={"systems": {name: dated("02").systems["bot"]}})
        written(path, dated("01"), whole)
        first, second = path.read_bytes().splitlines()
        torn = first + b"\n" + second[: 1 + cut % (len(second) - 1)]
        path.write_bytes(torn)
        history = whole_history(path)
        assert ([one.run for one in history.looks], [str(place) for place in history.torn]) == (["01"], [f"{path}:2"])
        (said,) = history.damage(path, unix_seconds("2026-02-01T00:00:00Z"))
        assert said.startswith(f"{path}:2: this line is incomplete")
        written(path, dated("03"))
        assert path.read_bytes().startswith(torn + b"\n")
        history = whole_history(path)
        assert ([one.run for one in history.looks], len(history.torn)) == (["01", "03"], 1)


@pytest.mark.parametrize("zeros", [1, 40, 4096])
@pytest.mark.parametrize("kept", ["", "half", "whole"])
def test_zeros_left_by_a_power_cut_are_skipped_like_a_truncated_line(tmp_path: Path, kept: str, zeros: int) -> None:
    path = tmp_path / "h.jsonl"
    written(path, dated("01"), dated("02"))
    first, second = path.read_bytes().splitlines()
    left = {"": b"", "half": second[:40], "whole": second}[kept]
    path.write_bytes(first + b"\n" + left + b"\0" * zeros)
    runs = ["01", "02"] if kept == "whole" else ["01"]
    torn = [] if kept == "whole" else [f"{path}:2"]
    for further in ([], ["03"]):
        for run in further:
            written(path, dated(run))
        history = whole_history(path)
        assert [one.run for one in history.looks] == [*runs, *further]
        assert [str(place) for place in history.torn] == torn


def test_a_last_line_that_lacks_only_its_end_is_a_look(tmp_path: Path) -> None:
    path = written(tmp_path / "h.jsonl", dated("01"), dated("02"))
    path.write_bytes(path.read_bytes()[:-1])
    written(path, dated("03"))
    assert ([one.run for one in read_history(path)], whole_history(path).torn) == (["01", "02", "03"], ())


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ('"n":40', '"n":41'),
        ('"value":0.9', '"value":0.8'),
        ('"run":"01"', '"run":"02"'),
        ('"revises":""', '"revises":"0"'),
    ],
)
def test_a_changed_line_is_not_a_look_until_somebody_vouches_for_it(tmp_path: Path, was: str, now: str) -> None:
    path = written(tmp_path / "h.jsonl", dated("01"))
    text = path.read_text()
    path.write_text("\n" + text.replace(was, now))
    with pytest.raises(InputError, match=r"h\.jsonl:2:\d+: this look was changed after it was written"):
        read_history(path)
    own = json.loads(text)["hash"]
    path.write_text(text.replace(was, now).replace(f',"hash":"{own}"', ""))
    assert len(read_history(path)) == 1
    (said,) = whole_history(path).damage(path, unix_seconds("2027-01-01T00:00:00Z"))
    assert "h.jsonl:1: it has no hash, so changes to it cannot be detected" in said
    path.write_text(json.dumps(json.loads(text), indent=None, separators=(" , ", " : ")) + "\n")
    assert len(read_history(path)) == 1, "it is of what the line says, and not of how it is written"


@pytest.mark.parametrize(
    ("glue", "torn"), [(lambda first, second: first + second, 0), (lambda first, second: first[:-40] + second, 1)]
)
def test_looks_on_one_line_are_read_one_by_one(tmp_path: Path, glue: Callable[[str, str], str], torn: int) -> None:
    """As `cat` joins them where the first file has lost its last line break, or its last look breaks off."""
    first, second = (written(tmp_path / f"{name}.jsonl", dated(name)).read_text() for name in ("01", "02"))
    path = tmp_path / "both.jsonl"
    path.write_text(f"{second}{glue(first.rstrip(), second)}")
    history = whole_history(path)
    assert [len(history.lines), len(history.torn)] == [3 - torn, torn]
    said = list(history.damage(path, unix_seconds("2027-01-01T00:00:00Z")))
    assert f"{path}:2: this line has several looks; each of them counts" in said


def test_a_look_from_the_future_is_named_and_is_not_the_last_one(tmp_path: Path) -> None:
    path = written(tmp_path / "h.jsonl", dated("01"), dated("09", alarm=True, waits=True))
    history, now = whole_history(path), unix_seconds("2026-01-05T00:00:00Z")
    (said,) = history.damage(path, now)
    assert "the look at 09 is dated 2026-01-09T00:00, which is in the future" in said
    assert alarm_waits(history.looks)
    assert not alarm_waits(history.cut_after(now).looks)
    assert list(history.damage(path, unix_seconds("2026-01-09T00:00:00Z"))) == []
    (said,) = history.damage(path, unix_seconds("2025-12-31T00:00:00Z"))
    assert "the look at 01 is dated 2026-01-01T00:00, and 1 more look after it, which is in the future" in said
