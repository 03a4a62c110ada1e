"""Fit, simulate, fit again: what was put in comes out, as a file that can be played."""

from __future__ import annotations

import json
import math
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.table import Table

from harvest.cli.main import main
from harvest.studies.users.fitted_users import fit_notes, fit_user, fitted_options, foresight, stays_of, stop_fits
from harvest.studies.users.played_users import CANDIDATES, DEFAULT, Candidates
from harvest.studies.users.simulation_figures import check_tables, fit_tables, scores_verdict
from protocols.answer import Answer
from protocols.route import Say, Stop
from recordings.acts.dialogue import ActTurn, Dialogue
from recordings.acts.reading import read_dialogues, write_act_lines
from scoring.inference.proportions import jeffreys_ends
from scoring.simulation.act_model import fit_acts
from scoring.simulation.halves import NoiseFloor, Spread
from scoring.simulation.realism import matrix_divergence, realism
from simulators import fitted, markov
from simulators.fitted import Share, read_user
from simulators.stopping.hazard import Geometric, Hazard, TwoAlpha
from simulators.user import Observation, Scenario, State, Streams
from tests.scoring.simulation.test_act_model import dialogue
from tests.support.checkout import DATA, ROOT
from tests.support.simulated_dialogues import (
    IARD,
    SIM4IA,
    dialogues_with,
    fitted_markov,
    hazard_after,
    iard,
    played,
    quickly_drawn,
    six_acts,
)
from topics.errors import InputError
from topics.topic import Topic, TopicType

# MEASURES §12: weighted JSD of recovering a known act matrix, in bits, by the number of transitions.
RECOVERY = {300: 0.051, 3_000: 0.003, 30_000: 0.0003}


def user_with(stop: object, *, smoothing: float = 0.5) -> markov.MarkovUser:
    acts = {"ask": ("ask",), "more": ("more",)}
    rows = (
        {"after": ("start",), "answer": "*", "next": {"ask": 1.0}},
        {"after": ("ask",), "answer": "*", "next": {"more": 1.0}},
        {"after": ("more",), "answer": "*", "next": {"more": 1.0}},
    )
    return markov.build(markov.Options.model_validate({"rows": rows, "words": acts, "stop": stop}))


@pytest.mark.parametrize("size", [300, pytest.param(3_000, marks=pytest.mark.soak)])
def test_a_fitted_matrix_is_recovered_from_what_its_user_does(size: int) -> None:
    people = six_acts(iard())
    known, user = fit_acts(people), fitted_markov(people)
    found = [matrix_divergence(known, dialogues_with(user, size, seed=seed)) for seed in range(1, 4)]
    assert np.mean(found) <= RECOVERY[size]


def test_thirty_thousand_transitions_settle_the_matrix() -> None:
    people = six_acts(iard())
    known, user = fit_acts(people), fitted_markov(people)
    found = [matrix_divergence(known, quickly_drawn(user, 4_000, np.random.default_rng(seed))) for seed in (1, 2)]
    assert np.mean(found) <= RECOVERY[30_000]
    again = fitted_markov(quickly_drawn(user, 4_000, np.random.default_rng(3)))
    for act in ("GiveFeedback", "OTH"):
        assert again.table.row([act]) == pytest.approx(user.table.row([act]), abs=0.02)


def test_fast_sampling_has_the_probabilities_of_the_user_itself() -> None:
    for stop in ("table", "hazard"):
        user = fitted_markov(six_acts(iard()), stop=stop)
        slow = [played(user, trial) for trial in range(200)]
        quick = quickly_drawn(user, 4_000, np.random.default_rng(2))
        spread = np.std([one.length for one in quick]) / math.sqrt(200)
        assert abs(np.mean([one.length for one in slow]) - np.mean([one.length for one in quick])) < 4 * spread
        state = user.start(Scenario(Topic("T1", TopicType("any"), "a request")), Streams(1))
        for turn in (1, 2, 3):
            chance = next(
                one
                for one in user.distribution(state, Observation(_answer(), None) if turn > 1 else None)
                if not isinstance(one.action, Stop)
            )
            state = chance.state
            chances = user.distribution(state, Observation(_answer(), None))
            leaving = sum(chance.probability for chance in chances if isinstance(chance.action, Stop))
            expected = user.table.row(state.acts)["stop"] if user.stop is None else hazard_after(user.stop, turn)
            assert leaving == pytest.approx(expected)


def _answer() -> Answer:
    return Answer("an answer", ())


def test_geometric_patience_is_recovered_within_two_standard_errors() -> None:
    user = user_with({"model": "geometric", "p": 0.3})
    found = stop_fits([played(user, trial, seed=4) for trial in range(500)])["geometric"].parameters["p"]
    assert abs(found.value - 0.3) <= 2 * found.error


def test_the_hazard_is_recovered_within_two_standard_errors() -> None:
    user = user_with({"model": "hazard", "constant": -3.0, "turn": 0.4, "coverage": 0.0})
    found = stop_fits([played(user, trial, seed=4) for trial in range(600)])["hazard"].parameters
    for name, truth in (("constant", -3.0), ("turn", 0.4)):
        assert abs(found[name].value - truth) <= 2 * found[name].error, name


def test_the_shipped_hazard_of_turn_and_coverage_is_recovered_within_two_standard_errors() -> None:
    user = user_with({"model": "hazard"})
    dialogues = [
        played(user, trial, seed=9, label=lambda turn, trial=trial: "o" if (turn * 7 + trial) % 5 < 2 else "x")  # type: ignore[misc]
        for trial in range(700)
    ]
    found = stop_fits(dialogues)["hazard"].parameters
    for name, truth in (("constant", -2.72), ("turn", 0.11), ("coverage", 1.78)):
        assert abs(found[name].value - truth) <= 2 * found[name].error, name


def test_a_cut_at_a_turn_limit_does_not_shorten_patience() -> None:
    user = user_with({"model": "geometric", "p": 0.2})
    cut = [played(user, trial, seed=5, longest=3) for trial in range(800)]
    assert sum(not one.ended for one in cut) > 200
    found = stop_fits(cut)["geometric"].parameters["p"]
    assert abs(found.value - 0.2) <= 2 * found.error


def test_after_a_cut_the_last_answer_is_not_an_opportunity_to_leave() -> None:
    (stay,) = stays_of([dialogue("abc", answers="oxo", ended=False), dialogue("a", answers="o", ended=False)])
    assert (stay.labels, stay.ended) == (("o", "x"), False)


def _ends(share: Share) -> tuple[float, float]:
    assert share.low is not None
    assert share.high is not None
    return share.low, share.high


def test_one_person_alone_gives_shares_without_intervals(tmp_path: Path) -> None:
    dialogues = [dialogue("abab" if n % 3 else "ab", name=str(n)) for n in range(20)]
    known = fit_user(dialogues, name="x")
    alone = fit_user([replace(one, person="she") for one in dialogues], name="x")
    shares = [share for row in alone.rows for share in row.next.values()]
    assert {(share.low, share.high) for share in shares} == {(None, None)}
    assert {one.error for model in alone.stopping for one in model.parameters.values()} == {None}
    assert [[share.k for share in row.next.values()] for row in known.rows] == [
        [share.k for share in row.next.values()] for row in alone.rows
    ]
    (tmp_path / "user.yaml").write_text(alone.text())
    assert read_user(tmp_path / "user.yaml") == alone
    (note,) = (one for one in fit_notes([replace(one, person="she") for one in dialogues]) if "one person" in one)
    assert "all dialogues are of one person" in note
    assert not any("one person" in one for one in fit_notes(dialogues))


def test_a_row_of_one_person_counts_its_dialogues_as_one() -> None:
    """Of many people one alone says `c`: her decisions after it hang together, whatever their share is."""
    hers = [replace(dialogue("aca" if n % 2 else "acb", name=f"h{n}"), person="she") for n in range(30)]
    others = [dialogue("ab", name=str(n)) for n in range(30)]
    (row,) = [row for row in fit_user([*hers, *others], name="x").rows if row.after == ("c",)]
    low, high = _ends(row.next["a"])
    assert row.n == 30
    assert high - low > 0.7


def test_every_share_has_the_interval_of_jeffreys_if_every_dialogue_is_another_users() -> None:
    file = fit_user([replace(one, person="") for one in iard()], name="seekers")
    people = fit_user(iard(), name="seekers")
    for apart, together in zip(file.rows, people.rows, strict=True):
        for act, share in together.next.items():
            own, others = _ends(share), _ends(apart.next[act])
            assert own[0] <= others[0]
            assert own[1] >= others[1]
    assert sum(row.n for row in file.rows) == file.source.decisions == 2597
    for row in file.rows:
        assert sum(share.k for share in row.next.values()) == row.n
        assert sum(share.p for share in row.next.values()) == pytest.approx(1, abs=1e-5)
        for share in row.next.values():
            low, high = jeffreys_ends(share.k, row.n)
            assert (share.low, share.high) == pytest.approx((float(low), float(high)), abs=1e-6)


@pytest.mark.parametrize("order", [1, pytest.param(2, marks=pytest.mark.soak)])
@pytest.mark.parametrize("stop", ["turn-and-act", "table", "geometric", "hazard"])
def test_a_file_is_read_back_as_it_was_written(tmp_path: Path, order: int, stop: str) -> None:
    written = fit_user(iard()[:80], name="seekers", files=["acts.jsonl"], order=2 if order == 2 else 1, stop=stop)
    (tmp_path / "user.yaml").write_text(written.text(), encoding="utf-8")
    assert read_user(tmp_path / "user.yaml") == written


def test_a_fitted_file_is_played_with_the_probabilities_in_it(tmp_path: Path) -> None:
    file = fit_user(iard(), name="seekers")
    (tmp_path / "user.yaml").write_text(file.text(), encoding="utf-8")
    words = {act: (f"{act}: {{{{ topic.request }}}}",) for act in file.options.acts}
    user = fitted.build(fitted.Options.model_validate({"file": str(tmp_path / "user.yaml"), "words": words}))
    assert user.name == "seekers"
    state = user.start(Scenario(Topic("T1", TopicType("any"), "a film")), Streams(1))
    opening = next(row for row in file.rows if row.after == ("start",))
    for chance in user.distribution(state, None):
        assert not isinstance(chance.action, Stop)
        assert chance.probability == pytest.approx(opening.next[chance.action.state].p, abs=1e-6)
        assert chance.action.text == f"{chance.action.state}: a film"


def test_a_stop_model_in_the_options_replaces_the_files(tmp_path: Path) -> None:
    file = fit_user(iard()[:50], name="seekers", stop="hazard")
    (tmp_path / "user.yaml").write_text(file.text(), encoding="utf-8")
    words = {act: (act,) for act in file.options.acts}
    path = str(tmp_path / "user.yaml")
    own = fitted.build(fitted.Options.model_validate({"file": path, "words": words}))
    assert isinstance(own, markov.MarkovUser)
    assert isinstance(own.stop, Hazard)
    changed = {"file": path, "words": words, "stop": {"model": "geometric", "p": 0.5}}
    other = fitted.build(fitted.Options.model_validate(changed))
    assert isinstance(other, markov.MarkovUser)
    assert other.stop == Geometric.model_validate({"p": 0.5})


def test_a_user_without_words_is_refused_with_the_file_and_the_act(tmp_path: Path) -> None:
    path = tmp_path / "user.yaml"
    path.write_text(fit_user(iard()[:50], name="seekers").text(), encoding="utf-8")
    with pytest.raises(InputError, match="has no words") as raised:
        fitted.build(fitted.Options.model_validate({"file": str(path)}))
    assert str(path) in str(raised.value)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("format: harvest-user/2", "format: harvest-user/9", "its format is 'harvest-user/9'"),
        ("format: harvest-user/2", "format: harvest-user/1", "a harvest-user/1 file cannot have stretches"),
        ("- turn: 1", "- turn: 2", "the first stretch must start at turn 1"),
        ("simulator: markov", "simulator: mind-reader", "not one of the words allowed"),
        ("name: seekers", "nane: seekers", "unknown key 'nane'"),
        ("stop: 3", "stop: -3", "at least 0"),
    ],
)
def test_a_damaged_file_is_refused_at_its_place(tmp_path: Path, old: str, new: str, fault: str) -> None:
    text = fit_user([dialogue("aab", name=str(n)) for n in range(3)], name="seekers").text()
    assert old in text
    (tmp_path / "user.yaml").write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(fault)) as raised:
        read_user(tmp_path / "user.yaml")
    assert "user.yaml:" in str(raised.value)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("next: {b: 3}", "next: {b: 30}", "decisions: the counts in options sum to 39 decisions (here: 12)"),
        ("decisions: 12", "decisions: 5", "decisions: the counts in options sum to 12 decisions (here: 5)"),
        ("k: 3, p: 0", "k: 2, p: 0", "k: 'c' was counted 3 times here (here: 2)"),
        (", p: 0.", ", p: 0.1", "p: the counts imply 0."),
        ("  n: 3", "  n: 4", "n: the counts sum to 3 here (here: 4)"),
        ("smoothing: witten-bell", "smoothing: additive", "p: the counts imply 0."),
    ],
)
def test_a_file_whose_counts_and_rows_disagree_is_refused_where_they_differ(
    tmp_path: Path, old: str, new: str, fault: str
) -> None:
    text = fit_user([dialogue("acb", name=str(n)) for n in range(3)], name="seekers", stop="table").text()
    assert read_user(_written(tmp_path, text)).source.decisions == 12
    assert old in text
    with pytest.raises(InputError, match=re.escape(fault)) as raised:
        read_user(_written(tmp_path, text.replace(old, new, 1)))
    assert re.search(r"user.yaml:[0-9]+:[0-9]+: ", str(raised.value))
    assert "rows" in str(raised.value)


def test_rows_may_be_left_out_of_a_file_but_counts_may_not(tmp_path: Path) -> None:
    file = fit_user([dialogue("acb", name=str(n)) for n in range(3)], name="seekers")
    held = read_user(_written(tmp_path, file.model_copy(update={"rows": ()}).text()))
    assert isinstance(held, fitted.UserFile)
    assert held.rows == ()
    with pytest.raises(InputError, match="the row for the counts after"):
        read_user(_written(tmp_path, file.model_copy(update={"rows": file.rows[:-1]}).text()))
    bare = file.model_copy(update={"rows": (), "options": markov.Options.model_validate({})})
    with pytest.raises(InputError, match="without counts"):
        read_user(_written(tmp_path, bare.text()))


def _written(folder: Path, text: str) -> Path:
    path = folder / "user.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_two_alpha_is_fitted_only_if_answers_were_judged() -> None:
    with pytest.raises(InputError, match="two-alpha"):
        fitted_options(iard(), stop="two-alpha")
    judged = [dialogue("ab", answers="ox", name=str(n)) for n in range(9)] + [dialogue("a", answers="o", name="9")]
    with pytest.raises(InputError, match="after useless answers"):
        fitted_options(judged, answers="labels", stop="two-alpha")  # nobody went on after a useless answer
    judged.append(dialogue("aba", answers="oxo", name="10"))
    assert isinstance(fitted_options(judged, answers="labels", stop="two-alpha").stop, TwoAlpha)


def harvest(capsys: pytest.CaptureFixture[str], *arguments: str | int | Path) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    done = capsys.readouterr()
    return int(left.value.code or 0), done.out, done.err


def test_the_command_fits_and_writes_and_never_overwrites_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, data = tmp_path / "user.yaml", tmp_path / "acts.jsonl"
    write_act_lines(data, iard()[:100])
    code, printed, people = harvest(
        capsys, "users", "fit", data, "--out", out, "--stop", "hazard", "--json", "--folds", 2
    )
    assert code == 0
    found = json.loads(printed)
    assert found["format"] == "harvest-simulation/1"
    assert found["foresight"]["order 1"]["low"] > 1
    assert read_user(out).source.dialogues == found["user"]["source"]["dialogues"] == 100
    assert "words" in people
    code, _, people = harvest(capsys, "users", "fit", data, "--out", out)
    assert (code, "this file exists already" in people, "remove the file first" in people) == (2, True, True)
    code, _, people = harvest(capsys, "users", "fit", data, "--out", tmp_path / "nowhere" / "u.yaml", "--folds", 2)
    assert (code, "cannot be written" in people) == (2, True)


def test_the_command_prints_the_fit_of_every_user_and_marks_the_one_it_writes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    formats = {}
    for given in ("best", "table", "hidden-states", "hidden-and-table"):
        out = tmp_path / f"{given}.yaml"
        code, printed, _ = harvest(capsys, "users", "fit", SIM4IA, "--folds", 2, "--stop", given, "--out", out)
        assert code == 0
        rows = [line.split() for line in printed[printed.index("could be") :].splitlines()]
        worth = {row[0]: row for row in rows if row and row[0] in CANDIDATES and row[1] != "n/a"}
        assert list(worth) == ["turn-and-act", "table", "hidden-states", "hidden-and-table"], (
            "no end was seen, so no stop model"
        )
        (marked,) = [name for name, row in worth.items() if row[-1] == "yes"]
        assert marked == given or given == "best"
        assert worth["turn-and-act"][2] == "reference"
        assert {row[-2] if row[-1] == "yes" else row[-1] for row in worth.values()} == {"203"}
        formats[given] = (marked, type(read_user(out)).__name__)
    assert formats["table"][1] == "UserFile"
    assert formats["hidden-states"][1] == formats["hidden-and-table"][1] == "HiddenFile"
    assert formats["best"][1] == ("HiddenFile" if formats["best"][0].startswith("hidden-") else "UserFile")
    code, _, people = harvest(capsys, "users", "fit", SIM4IA, "--order", 2, "--stop", "hidden-and-table")
    assert (code, "allowed: --order 1" in people) == (2, True)
    _, printed, _ = harvest(capsys, "users", "fit", SIM4IA, "--folds", 2, "--stop", "table", "--json")
    held = json.loads(printed)["candidates"]
    assert held["chosen"] == "table"
    assert held["held_out"]["table"]["bits"] == pytest.approx(float(worth["table"][1]), abs=6e-4)
    assert set(held["left_out"]) == {"geometric", "two-alpha", "hazard"}


def test_the_command_prints_rows_with_intervals_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    code, printed, _ = harvest(capsys, "users", "fit", SIM4IA, "--folds", 2)
    assert code == 0
    assert "95% interval" in printed
    assert "35 dialogues of 35 users, 203 decisions, 35 cut off" in " ".join(printed.split())


def test_the_tables_of_a_fit_explain_each_column_and_missing_intervals() -> None:
    labelled = [
        replace(one, turns=tuple(replace(turn, answer="o") for turn in one.turns))
        for one in (dialogue("ab" * (n % 3 + 1), name=str(n)) for n in range(12))
    ]
    tables = {}
    for answers in ("nothing", "labels"):
        file = fit_user(labelled, name="x", files=["a"], answers=answers)
        held_out = foresight(labelled, answers=answers, folds=3, seed=1)
        matrix, *_, worth = fit_tables(file, held_out, Candidates({}, DEFAULT))
        tables[answers] = [str(column.header) for column in matrix.columns]
        assert "seen: share of the n; smoothed: the same after smoothing; both over all turns" in str(matrix.caption)
        intervals = list(worth.columns[4].cells)
        assert intervals[0] == "reference"
        assert all(intervals)
    assert tables["nothing"] == ["after", "n", "then", "seen", "95% interval", "smoothed"]
    assert tables["labels"] == ["after", "answer", "n", "then", "seen", "95% interval", "smoothed"]


def test_the_command_checks_and_names_values_within_and_beyond_the_floor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    drawn = quickly_drawn(fitted_markov(iard()), 200, np.random.default_rng(3))
    write_act_lines(tmp_path / "simulated.jsonl", drawn)
    quick = ("--splits", 20, "--folds", 2, "--replications", 100)
    code, printed, _ = harvest(capsys, "users", "check", IARD, tmp_path / "simulated.jsonl", "--json", *quick)
    assert code == 0
    found = json.loads(printed)
    assert found["verdict"] == "beyond"
    assert found["behaviour"]["JSD(acts)"]["verdict"] == "within"
    assert found["behaviour"]["KS(length)"]["verdict"] == "beyond"
    assert found["testing"]["scores"] is None  # simulated dialogues without scores
    assert found["testing"]["ranking"]["tau"] is None
    code, printed, _ = harvest(capsys, "users", "check", IARD, tmp_path / "simulated.jsonl", *quick)
    words = " ".join(printed.split())
    assert "behaviour: beyond: they differ by more than halves of the real users do (p 0.0" in words
    assert "words are not compared: at least one side has only acts" in words
    assert found["p"] <= 0.05
    assert found["behaviour"]["KS(length)"]["p"] == pytest.approx(1 / 101)
    assert "…" not in printed, "nothing is cut on 80 columns"


def test_files_of_two_sources_keep_their_people_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "two"):
        rows = [Dialogue(str(n), (ActTurn("ask"),), True, person=str(n)) for n in range(3)]
        write_act_lines(tmp_path / f"{name}.jsonl", rows)
    code, printed, _ = harvest(
        capsys, "users", "fit", tmp_path / "one.jsonl", tmp_path / "two.jsonl", "--json", "--folds", 2
    )
    assert code == 0
    assert json.loads(printed)["user"]["source"]["users"] == 6


def test_a_user_that_was_played_twice_is_one_and_makes_no_error_or_interval_smaller() -> None:
    once = [replace(one, person="", draws=one.id) for one in iard()[:120]]
    twice = [replace(one, id=f"{system}/{one.id}", system=system) for one in once for system in "AB"]
    alone, both = fit_user(once, name="u"), fit_user(twice, name="u")
    assert (both.source.dialogues, both.source.users) == (240, 120)
    for single, double in zip(alone.stopping, both.stopping, strict=True):
        for name, parameter in single.parameters.items():
            assert double.parameters[name].value == pytest.approx(parameter.value, abs=1e-5)
            assert double.parameters[name].error == pytest.approx(parameter.error, abs=1e-5)
    for row, same in zip(alone.rows, both.rows, strict=True):
        for act, share in row.next.items():
            assert same.next[act].k == 2 * share.k
            assert (same.next[act].low, same.next[act].high) == pytest.approx((share.low, share.high), abs=1e-5)
    taken_apart = fit_user([replace(one, draws="") for one in twice], name="u")
    apart, together = (one.stopping[0].parameters["p"].error for one in (taken_apart, both))
    assert apart is not None
    assert together == pytest.approx(apart * math.sqrt(2), rel=1e-3)
    held = foresight(twice, folds=4)["order 1"]
    assert held.units == 120


def test_runs_with_one_seed_have_the_same_users(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    audit = {
        "format": "harvest-audit/1",
        "name": "twins",
        "seed": 3,
        "trials": 1,
        "protocol": "open-ended",
        "topics": "fairweb-45",
        "only": [f"M{number:03}" for number in range(1, 13)],
        "systems": [{"name": "A", "driver": "parrot"}, {"name": "B", "driver": "parrot"}],
    }
    (tmp_path / "audit.yaml").write_text(json.dumps(audit))
    for run in ("one", "two"):
        code, _, people = harvest(capsys, "run", tmp_path / "audit.yaml", "--out", tmp_path / run)
        assert code == 0, people
    for runs in ((tmp_path / "one",), (tmp_path / "one", tmp_path / "two")):
        code, printed, people = harvest(capsys, "users", "fit", *runs, "--json", "--folds", 2)
        assert code == 0, people
        source = json.loads(printed)["user"]["source"]
        assert (source["dialogues"], source["users"]) == (24 * len(runs), 12)


def test_the_digits_on_the_page_are_those_of_the_command_and_other_seeds_agree_with_its_text(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = " ".join((ROOT / "docs/simulators/validation.md").read_text("utf-8").split())
    sessions = read_dialogues(SIM4IA).kept
    bits = [foresight(sessions, seed=seed)["order 1"].bits for seed in range(20)]
    assert f"between {min(bits):.3f} and {max(bits):.3f} bits on Sim4IA" in page
    _, printed, _ = harvest(capsys, "users", "fit", SIM4IA)
    (line,) = [line.split() for line in printed.splitlines() if line.strip().startswith("order 1")]
    assert f"| order 1 | {line[2]} | {line[3]} | {line[4]} {line[5]} {line[6]} |" in page


SCORE = {"system": "A", "topic": "M001", "trial": 1, "turn": None, "entity": None, "measure": "R", "value": 0.5}


@pytest.mark.parametrize(
    "row", ["text", {key: value for key, value in SCORE.items() if key != "measure"}, {**SCORE, "value": "zz"}, 3, None]
)
def test_an_edited_file_of_scores_is_refused_with_its_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], row: object
) -> None:
    run = tmp_path / "run"
    shutil.copytree(ROOT / "recordings" / "samples" / "run-1", run)
    (run / "scores.json").write_text(json.dumps({"rows": [SCORE, row]}), encoding="utf-8")
    code, _, people = harvest(capsys, "users", "check", run, run, "--measure", "R")
    assert code == 2
    assert "scores.json: row 2 is not a score" in " ".join(people.split())
    assert f"harvest score {run} --keep" in " ".join(people.split())


def test_a_measure_needs_runs_and_not_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "q.json").write_text('{"1": ["a", "a b"], "2": ["c"]}', encoding="utf-8")
    code, _, people = harvest(capsys, "users", "check", tmp_path / "q.json", tmp_path / "q.json", "--measure", "R")
    assert code == 2
    assert "--measure R reads the stored scores of a run, but this is a file" in " ".join(people.split())


def test_a_check_says_how_many_lengths_were_cut_off_and_how_many_users_are_too_few(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_act_lines(tmp_path / "real.jsonl", [dialogue("a" * (n % 6 + 1), name=str(n)) for n in range(60)])
    for name, turns in (("one", "a"), ("three", "aaa"), ("again", "aaa")):
        write_act_lines(tmp_path / f"{name}.jsonl", [dialogue(turns, name=str(n), ended=False) for n in range(60)])
    few = [dialogue("ab", name=str(n), person=str(n % 4)) for n in range(40)]
    write_act_lines(tmp_path / "few.jsonl", few)

    def told(real: str, simulated: str) -> tuple[str, dict[str, Any]]:
        paths = tmp_path / f"{real}.jsonl", tmp_path / f"{simulated}.jsonl"
        options = ("--splits", 20, "--folds", 2, "--replications", 100)
        words = " ".join(harvest(capsys, "users", "check", *paths, *options)[1].split())
        return words, json.loads(harvest(capsys, "users", "check", *paths, *options, "--json")[1])

    words, value = told("real", "one")
    assert "lengths are not compared" in words
    assert value["behaviour"]["W1(length)"]["value"] is None
    assert value["behaviour"]["W1(length)"]["verdict"] == "n/a"
    words, value = told("three", "one")
    assert value["behaviour"]["KS(length)"]["verdict"] == "n/a"
    words, value = told("three", "again")
    assert (
        "lengths are not compared: up to 2 turns, the range that both sides cover, no user was seen to leave"
    ) in words
    assert {value["behaviour"][name][key] for name in ("KS(length)", "W1(length)") for key in ("value", "verdict")} == {
        None,
        "n/a",
    }
    assert value["verdict"] == "within"
    assert (
        "behaviour: within: no difference was found (p 1.000 over all measures) (in JSD(acts), JSD(transitions))"
        in words
    )
    words, value = told("real", "three")
    assert "compared up to 2 turns, where 67% of the real users and 100% of the simulated ones are still there" in words
    assert value["lengths"] == {"horizon": 2, "beyond": 1}
    words, value = told("few", "real")
    assert "groups have 2 users; a verdict needs" in words
    assert (value["verdict"], value["behaviour"]["JSD(acts)"]["users"]) == ("undecided", 2)


def test_users_who_have_no_act_in_common_are_reported_even_if_they_are_few(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_act_lines(tmp_path / "real.jsonl", [dialogue("ab" * (n % 3 + 1), name=str(n)) for n in range(8)])
    write_act_lines(tmp_path / "other.jsonl", [dialogue("cd" * (n % 3 + 1), name=str(n)) for n in range(8)])
    paths = tmp_path / "real.jsonl", tmp_path / "other.jsonl"
    options = ("--splits", 20, "--folds", 2, "--replications", 100)
    value = json.loads(harvest(capsys, "users", "check", *paths, *options, "--json")[1])
    assert value["verdict"] == "no act in common"
    assert {value["behaviour"][name]["verdict"] for name in ("JSD(acts)", "JSD(transitions)")} == {"no act in common"}
    words = " ".join(harvest(capsys, "users", "check", *paths, *options)[1].split())
    assert "behaviour: real and simulated users have no act in common" in words
    assert "real users do a, b, simulated ones c, d" in words


def test_acts_that_are_numbers_of_nodes_cause_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = DATA / "cast2022" / "2022_evaluation_topics_tree_v1.0.json"
    assert harvest(capsys, "data", "import", "--format", "cast2022", tree, "--out", tmp_path / "run")[0] == 0
    code, _, people = harvest(capsys, "users", "fit", tmp_path / "run", "--json", "--folds", 2)
    assert code == 0, people
    assert "50 acts, 33 of them seen fewer than 5 times" in " ".join(people.split())
    assert "numbers of nodes or turns, not what users did" in " ".join(people.split())
    assert fit_notes(iard()) == ()


def test_rows_by_turn_are_counted_and_smoothed_as_written(tmp_path: Path) -> None:
    dialogues = [dialogue("ab" if n % 2 else "abb", name=str(n)) for n in range(60)]
    options = fitted_options(dialogues)
    assert [one.turn for one in options.stretches] == [1, 2], "the last stretch takes what is left"
    turns, table = options.turn_table(), options.table()
    assert turns is not None
    base = table.row(["b"], "-")
    late = turns.row(["b"], "-", 2, base)
    # After turn 2 thirty of sixty leave, and after turn 3 the thirty that are left: 60 of 90, two outcomes.
    assert late["stop"] == pytest.approx((60 + 2 * base["stop"]) / 92)
    assert sum(late.values()) == pytest.approx(1)
    assert turns.row(["b"], "-", 1, base) == base, "never seen there"
    user = fitted_markov(dialogues, stop="turn-and-act")
    leaving = [chance for chance in user.distribution(*_after_two(user)) if isinstance(chance.action, Stop)]
    assert [chance.probability for chance in leaving] == [pytest.approx(late["stop"])]


def _after_two(user: markov.MarkovUser) -> tuple[State, Observation]:
    """A user after the acts a and b, with the answer to b."""
    seen = Observation(Answer("yes"), None)
    for seed in range(1000):
        state = user.start(Scenario(Topic("T1", TopicType("any"), "?")), Streams(seed))
        action, state = user.respond(state, None, Streams(seed).at(1))
        said = [action]
        action, state = user.respond(state, seen, Streams(seed).at(2))
        said.append(action)
        if [one.state for one in said if isinstance(one, Say)] == ["a", "b"]:
            return state, seen
    raise AssertionError("a and b are what nearly everybody does")


def test_counts_that_the_stretches_do_not_sum_to_are_refused(tmp_path: Path) -> None:
    text = fit_user([dialogue("acb", name=str(n)) for n in range(3)], name="seekers").text()
    assert text.count("next: {b: 3}") == 2
    with pytest.raises(
        InputError, match=re.escape("stretches: after c (*) the stretches sum to b 3, but the table counts b 30")
    ):
        read_user(_written(tmp_path, text.replace("next: {b: 3}", "next: {b: 30}", 1)))


def test_a_user_file_of_format_1_is_read_and_played_as_before(tmp_path: Path) -> None:
    new = fit_user(iard()[:60], name="seekers", stop="table")
    path = _written(tmp_path, new.text().replace("format: harvest-user/2", "format: harvest-user/1"))
    held = read_user(path)
    assert isinstance(held, fitted.UserFile)
    assert (held.format, held.options) == ("harvest-user/1", new.options)
    words = {act: (act,) for act in held.options.acts}
    user = fitted.build(fitted.Options.model_validate({"file": str(path), "words": words}))
    assert isinstance(user, markov.MarkovUser)
    assert user.turns is None
    table = held.options.table()
    state = user.start(Scenario(Topic("T1", TopicType("any"), "?")), Streams(1))
    first, state = user.respond(state, None, Streams(1).at(1))
    assert isinstance(first, Say)
    stop = [
        one.probability
        for one in user.distribution(state, Observation(Answer("x"), None))
        if isinstance(one.action, Stop)
    ]
    wanted = table.row([first.state], "-")["stop"]
    assert stop == ([pytest.approx(wanted)] if wanted else [])


def test_p_and_floor_of_the_scores_are_one_verdict() -> None:
    def floor(verdict: str) -> NoiseFloor:
        most = {"within": 1.0, "beyond": 0.001, "undecided": 1.0}[verdict]
        spread = Spread(0.001, 0.0, most, 0.0, most, 200)
        users = 5 if verdict == "undecided" else 60
        found = NoiseFloor(spread, Spread(0.0076, 0.0, 1.0, 0.0, 1.0, 200), users, users)
        assert found.verdict == verdict
        return found

    assert "they differ (p at most 0.05), but only slightly" in scores_verdict(0.0005, floor("within"))
    assert "more than halves of the real users" in scores_verdict(0.0005, floor("beyond"))
    assert "too small to estimate by how much" in scores_verdict(0.0005, floor("undecided"))
    assert scores_verdict(0.4, floor("within")) == "these dialogues show no difference (p above 0.05)"
    assert "use more dialogues" in scores_verdict(0.4, floor("beyond"))
    assert scores_verdict(math.nan, floor("within")) == "no conclusion is possible"


def test_bounds_of_the_floor_have_the_digits_of_the_figure_and_captions_begin_at_the_left() -> None:
    people = [Dialogue(str(n), (ActTurn("ask"),) * (1 + n % 3), True, score=n % 2, system="A") for n in range(60)]
    found = realism(people, people[:40], splits=20, folds=2, replications=100)
    parts = list(check_tables(found))
    rows = [cell for part in parts if isinstance(part, Table) for column in part.columns for cell in column.cells]
    bounds = [cell for cell in rows if isinstance(cell, str) and cell.startswith("[")]
    assert any(re.fullmatch(r"\[\d\.\d{4}, \d\.\d{4}\]", cell) for cell in bounds)
    captions = [part.caption_justify for part in parts if isinstance(part, Table) and part.caption]
    assert captions == ["left"]
    assert any(str(part).startswith("scores: ") for part in parts)


def spoken(*acts: str, answers: str = "", person: str = "") -> Dialogue:
    return Dialogue(
        person, tuple(ActTurn(act, answer) for act, answer in zip(acts, answers, strict=True)), True, person
    )


def test_a_protocol_that_left_users_no_choice_is_reported() -> None:
    scripted = [
        spoken("ask", more, "thanks", answers=f"{label}oo", person=f"{n}{label}")
        for n in range(4)
        for label, more in (("o", "more"), ("x", "insist"))
    ]
    assert [note for note in fit_notes(scripted) if "returns that protocol" in note]
    # One who goes on otherwise after the same answer chose.
    chose = [*scripted, spoken("ask", "insist", answers="oo", person="another")]
    assert not [note for note in fit_notes(chose) if "returns that protocol" in note]
    # Too few situations came twice to tell.
    assert not [note for note in fit_notes(scripted[:2]) if "returns that protocol" in note]
    assert not [
        note for note in fit_notes([spoken("ask", answers="o", person=str(n)) for n in range(9)]) if "protocol" in note
    ]
