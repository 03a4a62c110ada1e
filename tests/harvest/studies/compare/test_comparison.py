"""`harvest compare`: which systems differ, what is refused, and what a person reads."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harvest.studies.compare.comparison import compare_runs
from harvest.studies.compare.figures import comparison_tables
from harvest.studies.compare.notes import omission_notes
from harvest.studies.scores.gathered import score_runs
from harvest.studies.trees.parting_figures import COMMAND
from protocols.library import load_protocol
from recordings.conversations.conversation import Outcome
from recordings.files.json_text import Json
from recordings.formats.imports import record
from recordings.log.header import make_header
from recordings.log.run_folder import read
from scoring.notation import parse
from tests.support.command_line import harvest
from tests.support.scoring_examples import CHAT, MOVIE, conversation, movie, topic_set
from tests.support.study_rows import figures
from topics.decimals import round_roughly
from topics.errors import InputError
from topics.topic import Topic

Labels = Mapping[str, Mapping[str, Sequence[str]]]
"""By system and topic, the labels of each trial; `!` for one that the infrastructure failed."""


def recorded(
    folder: Path,
    labels: Labels,
    *,
    system: Mapping[str, Json] | None = None,
    protocol: str = "fairweb-two-round",
    **audit: Json,
) -> Path:
    names = dict.fromkeys(topic for own in labels.values() for topic in own)
    header = make_header(
        audit={"name": "t", "trials": max(len(each) for own in labels.values() for each in own.values()), **audit},
        protocol=load_protocol(protocol),
        topics=topic_set(*(Topic(name, MOVIE if name.startswith("M") else CHAT, f"{name}?") for name in names)),
        systems={name: {"name": name, "driver": "python", **(system or {})} for name in labels},
    )
    record(
        folder,
        [
            conversation(
                *[("say", f"see {movie(turn)}") for turn in range(1, 3)],
                labels="oo" if text == "!" else text,
                topic=topic,
                system=name,
                trial=trial,
                outcome=Outcome("invalid", "timeout") if text == "!" else None,
            )
            for name, own in labels.items()
            for topic, each in own.items()
            for trial, text in enumerate(each, 1)
        ],
        header,
    )
    return folder


def drawn(seed: int, topics: int, trials: int, **chances: float) -> Labels:
    """Topics that differ alike for all systems; the same chance for both turns."""
    rng = np.random.default_rng(seed)
    base = rng.uniform(-0.2, 0.2, topics)
    return {
        system: {
            f"{'MC'[row % 2]}{row:02}": [
                "".join("o" if rng.random() < chance + base[row] else "x" for _ in range(2)) for _ in range(trials)
            ]
            for row in range(topics)
        }
        for system, chance in chances.items()
    }


def document(*words: object) -> dict[str, Any]:
    done = harvest("compare", *words, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def test_the_figures_are_those_of_score_if_all_systems_have_all_topics(tmp_path: Path) -> None:
    run = recorded(tmp_path / "run", drawn(1, 8, 3, A=0.6, B=0.5))
    scored = {
        (row.system, row.measure, row.turn): row.value
        for row in score_runs(run, measures=["breakdown"]).rows
        if (row.topic, row.trial, row.topic_type) == (None, None, None)
    }
    value = document(run, "-m", "%useful", "-m", "ave%useful", "-m", "%recovery", "-m", "breakdown")
    assert len(figures(value, "system")) == 10
    for one in figures(value, "system"):
        assert one["estimate"] == pytest.approx(scored[one["system"], one["measure"], one["turn"]]), one
    usual = {(one["measure"], one["turn"]) for one in figures(document(run), "difference")}
    assert usual == {("%useful", 1), ("%useful", 2), ("ave%useful", None), ("%recovery", None)}, "gold is not there"


@pytest.mark.parametrize("topics", [6, 9])
def test_a_topic_without_a_part_in_a_difference_does_not_drive_it(tmp_path: Path, topics: int) -> None:
    same = {f"M{row:02}": ["ox", "xo"] for row in range(topics)}
    run = recorded(tmp_path / "run", {"A": same | {"M01": ["oo", "oo"]}, "B": same})
    said = " ".join(harvest("compare", run, "-m", "ave%useful", width=200).stdout.split())
    assert "driven by M01 100% of it" in said
    assert " 0%" not in said
    assert "-0%" not in said


def test_eight_topics_that_cannot_decide_say_what_would_and_which_topics_drive_it(tmp_path: Path) -> None:
    run = recorded(tmp_path / "run", drawn(4, 8, 10, A=0.6, B=0.5))
    told = harvest("compare", run, "-m", "%useful S1", width=80)
    assert told.returncode == 0
    first, *rest = told.stdout.splitlines()
    value = document(run, "-m", "%useful S1")
    (row,), parts = figures(value, "difference"), figures(value, "part in the difference")
    (needed,) = figures(value, "topics that would settle it")
    assert first == "A and B: cannot tell in %useful S1."
    assert row["verdict"] == "cannot tell"
    assert needed["estimate"] > 8
    said = " ".join(" ".join(rest).split())
    assert "Over 8 common topics with 10 trials of each. Would it hold for other topics of this kind?" in said
    assert f"roughly {round_roughly(needed['estimate'])} topics like these" in said
    assert f"driven by {parts[0]['topic']} " in said
    assert sum(one["estimate"] for one in parts) == pytest.approx(row["estimate"])
    without = figures(value, "difference without the topic", topic=parts[0]["topic"])[0]["estimate"]
    assert abs(without) < abs(row["estimate"])
    assert row["low"] < row["estimate"] < row["high"]
    these = harvest("compare", run, "-m", "%useful S1", "--estimand", "these", width=80).stdout
    assert "Would it hold for more trials of these topics?" in " ".join(these.split())


def test_results_for_exactly_these_topics_come_first_if_they_are_clear(tmp_path: Path) -> None:
    labels = {"A": {f"T{n}": ["oo"] * 3 + ["ox"] for n in range(4)}, "B": {f"T{n}": ["xx"] * 4 for n in range(4)}}
    run = recorded(tmp_path / "run", labels)
    told = " ".join(harvest("compare", run, "-m", "ave%useful", "-m", "%recovery", width=80).stdout.split())
    assert told.startswith(  # 7 of 8 turns and none: a difference of 87.5 points
        "A and B: on these topics alone, A is better in ave%useful (by 87.5 points), and for others like them it "
        "cannot be told; nothing to compare in %recovery. Over 4 common topics with 4 trials of each. Would it hold "
        "for other topics of this kind? For these topics alone: --estimand these."
    )
    assert figures(document(run, "-m", "ave%useful"), "difference")[0]["verdict"] == "too few", "rows stay as they were"
    these = harvest("compare", run, "-m", "ave%useful", "--estimand", "these", width=80).stdout
    assert these.startswith("A and B: A is better in ave%useful (by 87.5 points).")
    assert "--estimand these" not in these
    shown = compare_runs([run], measures=["ave%useful", "%recovery"])._repr_html_()
    assert ">too few; on these topics alone, A</td>" in shown
    assert ">no value</td>" in shown, "of %recovery: no first turn of A failed"


def test_a_difference_is_reported_in_a_sentence_with_its_size_and_every_system_has_its_letters(
    tmp_path: Path,
) -> None:
    run = recorded(tmp_path / "run", drawn(5, 12, 4, A=0.3, B=0.3, C=0.8))
    told = harvest("compare", run, "-m", "ave%useful", width=120).stdout
    value = document(run, "-m", "ave%useful")
    size = -figures(value, "difference", system="A", other="C")[0]["estimate"]
    assert f"A and C: C is better in ave%useful (by {100 * size:.1f} points)." in told
    assert "A and B: cannot tell in ave%useful." in told
    assert value["measures"][0]["letters"] == {"A": "b", "B": "b", "C": "a"}
    assert [one["system"] for one in figures(document(run, "--systems", "C,A"), "system")][:2] == ["C", "A"]
    assert document(run, "-m", "ave%useful") == value, "the same seed"
    printed = harvest("compare", run, width=80).stdout.splitlines()
    assert max(len(line) for line in printed if not line.startswith(COMMAND)) <= 80, "commands are to be copied whole"


def test_a_mean_that_is_withheld_next_to_reported_turns_is_explained_and_a_notebook_has_the_reason(
    tmp_path: Path,
) -> None:
    run = recorded(tmp_path / "run", drawn(5, 12, 4, A=0.2, B=0.9))
    found = compare_runs([run], measures=["ave%useful", "%useful S1"])
    mean = next(one for one in found.measures if one.measure == "ave%useful")
    assert "their mean, cannot" not in " ".join(map(str, comparison_tables(found, width=80)))
    why = "differences of trials near each other in time are alike"
    (pair,) = mean.pairs
    withheld = replace(mean, pairs=(replace(pair, verdict="cannot tell", why=why, corrected=math.nan),))
    found = replace(found, measures=tuple(withheld if one is mean else one for one in found.measures))
    told = " ".join(map(str, comparison_tables(found, width=80)))
    assert "%useful S1 can be told although ave%useful, their mean, cannot: " in told
    shown = found._repr_html_()
    assert f">cannot tell: {why}</td>" in shown
    heads = re.findall(r"<th[^>]*>([^<]*)</th>", shown)
    assert len(heads) == len(set(heads)), "each column has a name of its own"


@pytest.mark.parametrize("width", range(60, 90, 3))
def test_a_p_and_its_number_stay_on_one_line(tmp_path: Path, width: int) -> None:
    run = recorded(tmp_path / "run", drawn(5, 8, 3, A=0.3, B=0.8))
    lines = [str(line).rstrip() for line in comparison_tables(compare_runs([run]), width=width)]
    assert any(" p <.0" in line or " p .0" in line for line in lines)
    assert not [line for line in lines if line.endswith(" p")]


def test_topics_without_a_valid_trial_are_left_out_for_all_systems_and_counted(tmp_path: Path) -> None:
    labels = {"A": {f"C{i}": ["oo", "ox"] for i in range(6)}, "B": {f"C{i}": ["xx", "ox"] for i in range(6)}}
    labels["B"]["C0"] = ["!", "!"]
    run = recorded(tmp_path / "run", labels)
    value = document(run, "-m", "%useful S1")
    assert value["invalid"] == {"A": 0, "B": 2}
    (row,) = figures(value, "difference")
    assert (row["topics"], value["measures"][0]["topics_left_out"]) == (5, ["C0"])
    assert row["p_least"] == pytest.approx(1 / 16), "of 5 topics, by exchanging their sides"
    told = harvest("compare", run, "-m", "%useful S1", width=100).stdout
    assert "invalid trials, in no figure: B 2" in told
    assert "1 topic without a value of some system, left out: %useful S1" in told
    assert "too few topics to tell in %useful S1" in told
    assert "5 topics give no p below .062" in told


def test_one_topic_is_reported_as_enough_to_compare_its_conversations(tmp_path: Path) -> None:
    run = recorded(tmp_path / "run", {"A": {"M01": ["oo"] * 9 + ["xo"]}, "B": {"M01": ["xx"] * 9 + ["ox", "oo"]}})
    advice = "with one topic, use --estimand these, which compares its conversations as independent ones"
    told = " ".join(harvest("compare", run, "-m", "ave%useful", width=80).stdout.split())
    assert told.startswith("A and B: on this topic alone, A is better in ave%useful (by 81.4 points), and for others")
    assert advice in told
    these = " ".join(harvest("compare", run, "-m", "ave%useful", "--estimand", "these", width=80).stdout.split())
    assert "A is better in ave%useful" in these
    assert advice not in these


def test_types_of_topics_are_compared_separately_on_request(tmp_path: Path) -> None:
    run = recorded(tmp_path / "run", drawn(6, 10, 2, A=0.7, B=0.4))
    rows = figures(document(run, "-m", "%useful S1", "--by-type"), "difference")
    assert [(row["topic_type"], row["topics"]) for row in rows] == [(None, 10), ("movie", 5), ("chat", 5)]
    assert "%useful S1 [movie]" in harvest("compare", run, "-m", "%useful S1", "--by-type").stdout


def test_one_system_at_two_dates_is_compared_and_the_differences_are_reported(tmp_path: Path) -> None:
    one, other = drawn(7, 8, 3, A=0.5), drawn(8, 9, 3, A=0.5)
    runs = [recorded(tmp_path / "jan", one), recorded(tmp_path / "feb", other)]
    value = document(*runs)
    assert value["systems"] == ["A@jan", "A@feb"]
    assert [part["run"] for part in value["sources"]] == ["jan", "feb"]
    assert [part["what"] for part in value["differences"]] == ["topics"]
    assert "the runs differ" in harvest("compare", *runs).stdout


def test_audits_that_score_differently_are_refused_unless_all_are_scored_like_the_first(tmp_path: Path) -> None:
    labels = drawn(9, 6, 2, A=0.5)
    runs = [
        recorded(tmp_path / name, labels, scoring={"patience": patience, "gains": {"L1": 0.3}})
        for name, patience in (("jan", 600), ("feb", 900))
    ]
    refused = harvest("compare", *runs)
    assert refused.returncode == 2
    assert "score in different ways" in refused.stderr
    settings = document(*runs, "--across", "scoring")["settings"]
    assert (settings["patience"], settings["gains"]["1"]) == (600, 0.3)


def test_continued_sessions_are_resampled_whole_and_parting_is_not_tested(tmp_path: Path) -> None:
    """A and B are alike on every topic, but one session of five failed throughout, as in the pilot study."""
    labels = {
        system: {f"M{n:02}": ["xx" if trial == bad else "oo" for trial in range(5)] for n in range(12)}
        for system, bad in (("A", 2), ("B", 9))
    }
    fresh = document(recorded(tmp_path / "fresh", labels), "-m", "ave%useful", "--estimand", "these")
    assert figures(fresh, "difference")[0]["verdict"] == "worse"
    run = recorded(tmp_path / "run", labels, system={"session": "continued"})
    for estimand in ("like-these", "these"):
        value = document(run, "-m", "ave%useful", "--estimand", estimand)
        (row,) = figures(value, "difference")
        assert (row["verdict"], row["sessions"], not figures(value, "trials of each topic that would settle it")) == (
            "cannot tell",
            5,
            estimand == "like-these",
        )
        assert row["low"] < -0.4 < 0 < row["high"]
        (note,) = value["notes"]
        assert note.startswith("Sessions of A, B go on from topic to topic")
        (parting,) = value["parting"]
        assert (parting["p"], parting["first_answers"]["p"], parting["divergence"] > 0) == (None, None, True)
        assert {turn["p_corrected"] for turn in parting["turns"]} == {None}
    printed = harvest("compare", run, "-m", "ave%useful", width=80).stdout
    told = " ".join(printed.split())
    assert "p: t test clustered by topic and session;" in told
    assert "no p: sessions go on from topic to topic" in told
    assert "nan" not in told
    few = recorded(
        tmp_path / "few",
        {name: {topic: each[:3] for topic, each in own.items()} for name, own in labels.items()},
        system={"session": "continued"},
    )
    told = " ".join(harvest("compare", few, width=80).stdout.split())
    assert told.count("no interval and no p: 3 sessions: too few to compare") == 1


@pytest.mark.parametrize(
    ("measures", "systems", "said"),
    [
        (["CVaR(R)"], [], "computed over many conversations at once"),
        (["transition(x, o)"], [], "computed over many conversations at once"),
        (["%useful S3"], [], "no conversation can have that many turns"),
        ([], ["A", "C"], "'C' is not a system of these runs"),
        ([], ["A"], "a comparison needs two systems, but got 1 system"),
    ],
)
def test_an_impossible_comparison_is_refused(
    tmp_path: Path, measures: list[str], systems: list[str], said: str
) -> None:
    run = read(recorded(tmp_path / "run", drawn(1, 4, 2, A=0.5, B=0.5)))
    with pytest.raises(InputError, match=said.replace("(", r"\(")):
        compare_runs([run], measures=[parse(text) for text in measures], systems=systems)


@pytest.mark.parametrize(
    ("measure", "advice"),
    [
        ("pooled(WAN(Correctness))", "write WAN(Correctness), or see each system's value: "),
        ("pooled(GF)", "write GF, or see each system's value: "),
        ("excess", "see each system's value: harvest score RUN -m excess"),
        ("pooled(WAN(Fair_treatment))", "ask `harvest score` for pooled(WAN(Fair_treatment))"),
        ("WAN(Fair_treatment)", "ask `harvest score` for pooled(WAN(Fair_treatment))"),
    ],
)
def test_a_refused_measure_gets_advice_that_is_not_refused_too(tmp_path: Path, measure: str, advice: str) -> None:
    run = read(recorded(tmp_path / "run", drawn(1, 4, 2, A=0.5, B=0.5)))
    with pytest.raises(InputError) as refused:
        compare_runs([run], measures=[parse(measure)])
    assert (refused.value.advice or "").startswith(advice)


def test_where_few_answers_were_judged_a_note_says_how_to_judge_what_can_be_compared(tmp_path: Path) -> None:
    run = read(recorded(tmp_path / "run", drawn(1, 4, 2, A=0.5, B=0.5)))
    found = compare_runs([run], measures=[parse("WAN(Correctness)"), parse("ave%useful")])
    (note,) = (str(line) for line in omission_notes(found) if "--topics N" in str(line))
    assert note.startswith("WAN(Correctness): only topics in which answers of every system were judged can be compared")


def test_a_system_that_was_played_in_cells_is_not_one_of_them(tmp_path: Path) -> None:
    run = read(recorded(tmp_path / "run", drawn(1, 4, 2, **{"A [en]": 0.5, "A [de]": 0.5, "B [en]": 0.5})))
    with pytest.raises(InputError, match="'A' is not a system of these runs") as refused:
        compare_runs([run], systems=["A", "B [en]"])
    assert refused.value.advice == "choose a cell of A, or compare systems over all cells: harvest robustness RUN"


def test_systems_without_a_valid_conversation_are_named(tmp_path: Path) -> None:
    run = recorded(tmp_path / "run", {"A": {"M0": ["oo"]}, "B": {"M0": ["!"]}})
    with pytest.raises(InputError, match="a comparison needs two systems, but no trial of B is valid") as refused:
        compare_runs([read(run)])
    assert "show RUN --all" in str(refused.value)
    with pytest.raises(InputError, match="no trial of B is valid"):
        compare_runs([read(run)], systems=["A", "B"])


def test_a_run_in_which_a_system_never_answered_is_named_next_to_another(tmp_path: Path) -> None:
    labels = {"A": {"M0": ["oo"] * 2, "M1": ["xo"] * 2}, "B": {"M0": ["xo"] * 2, "M1": ["oo"] * 2}}
    well = recorded(tmp_path / "well", labels)
    down = recorded(tmp_path / "down", {"C": {"M0": ["!"] * 2}})
    said = "no trial of C in down is valid, so no figure holds any"
    for command in ("compare", "variance", "score"):
        done = harvest(command, down, well, width=200)
        assert (done.returncode, said in done.stdout + done.stderr) == (0, True), command
    differences = json.loads(harvest("compare", down, well, "--json").stdout)["differences"]
    assert (differences[0]["what"], differences[0]["runs"]) == ("invalid", {"down": 0, "well": 8})
    assert f"`harvest show {down} --all` lists what went wrong" in differences[0]["said"]
    alike = json.loads(harvest("compare", well, recorded(tmp_path / "again", labels), "--json").stdout)
    assert "invalid" not in [one["what"] for one in alike["differences"]]


def test_a_silent_system_of_one_run_is_named_unless_others_were_requested(tmp_path: Path) -> None:
    labels = {"A": {"M0": ["oo"] * 2, "M1": ["xo"] * 2}, "B": {"M0": ["xo"] * 2, "M1": ["oo"] * 2}}
    run = recorded(tmp_path / "run", {**labels, "C": {"M0": ["!"] * 2}})
    said = "no trial of C is valid, so no figure holds any: `harvest show RUN --all` lists what went wrong"
    for command, systems in (("compare", ["--systems", "A,B"]), ("variance", ["--system", "A", "--system", "B"])):
        done = harvest(command, run, width=200)
        assert (done.returncode, said in done.stdout) == (0, True), command
        chosen = harvest(command, run, *systems, width=200)
        assert (chosen.returncode, "of C" in chosen.stdout) == (0, False), command
    assert any(said in note for note in json.loads(harvest("compare", run, "--json").stdout)["notes"])


def test_a_measure_without_a_value_gives_the_reason_and_says_that_nothing_was_measured(tmp_path: Path) -> None:
    run = recorded(tmp_path / "run", drawn(1, 4, 2, A=0.5, B=0.5))
    done = harvest("compare", run, "-m", "cost", width=300)
    assert done.returncode == 3
    assert "note: cost, A, B: no value: the system reports no count for one of the turns, or the" in done.stdout
    assert "have no price for it" in done.stdout
    both = harvest("compare", run, "-m", "cost", "-m", "ave%useful", width=300)
    assert (both.returncode, "cost, A, B: no value" in both.stdout) == (0, True)
    assert "no value:" not in harvest("compare", run, "-m", "ave%useful", width=300).stdout


def test_with_one_trial_of_each_topic_the_reason_for_the_missing_p_is_given(tmp_path: Path) -> None:
    once = recorded(tmp_path / "once", drawn(1, 4, 1, A=0.9, B=0.1))
    said = harvest("compare", once, "--estimand", "these", width=200).stdout
    why = "no interval and no p: 4 of 4 topics have one trial only, so trials cannot be seen to differ"
    assert said.count(why) == 1
    twice = recorded(tmp_path / "twice", drawn(1, 4, 2, A=0.9, B=0.1))
    for run, words in ((once, ()), (twice, ("--estimand", "these"))):
        assert "no interval and no p" not in harvest("compare", run, "-m", "ave%useful", *words, width=200).stdout


def test_trees_are_not_tested_if_protocols_have_other_states(tmp_path: Path) -> None:
    one = recorded(tmp_path / "one", {"A": {f"M{n}": ["oo"] * 4 for n in range(6)}})
    labels = {"B": {f"M{n}": ["xo"] * 4 for n in range(6)}}
    for protocol, tested in (("fairweb-two-round", True), ("recovery", False)):
        other = recorded(tmp_path / protocol, labels, protocol=protocol)
        (parted,) = compare_runs([read(one), read(other)]).parted
        assert (parted.p == parted.p, "other states" in parted.refused) == (tested, not tested)


def test_an_empty_name_is_refused(tmp_path: Path) -> None:
    run = recorded(tmp_path / "run", drawn(1, 4, 2, A=0.5, B=0.5))
    for words, said in (
        (("--systems", "A,"), "one of the names in --systems is empty"),
        (("-m", " "), "--measure is empty"),
    ):
        done = harvest("compare", run, *words)
        assert (done.returncode, said in done.stderr) == (2, True)


def test_partings_are_reported_with_complete_commands_that_show_them(tmp_path: Path) -> None:
    failing = {"A": {f"M{n}": ["oo"] * 4 for n in range(6)}, "B": {f"M{n}": ["xo"] * 4 for n in range(6)}}
    failing["A"]["M5"][0] = "xo"
    run = recorded(tmp_path / "a run", failing)
    said = harvest("compare", run, width=60).stdout.splitlines()
    assert " 100%  U ask → S x: A 4% (1/24), B 100% (24/24); p <.001" in said
    assert f"       harvest show '{run}' --system A --topic M0 --trial 1" in said
    (parting,) = json.loads(harvest("compare", run, "--json").stdout)["parting"]
    assert (parting["turns"][0]["branch"], parting["turns"][0]["came"]) == ("S x", [24, 24])
    assert harvest("show", run, "--system", "B", "--topic", "M0", "--trial", "1").returncode == 0


def test_the_reason_for_missing_partings_is_a_note(tmp_path: Path) -> None:
    once = recorded(
        tmp_path / "once", {"A": {f"M{n}": ["oo"] for n in range(4)}, "B": {f"M{n}": ["xo"] for n in range(4)}}
    )
    assert (
        "no p of single turns: every topic has one trial on either side" in harvest("compare", once, width=200).stdout
    )
    bare = recorded(tmp_path / "bare", {name: {f"M{n}": ["??"] * 2 for n in range(4)} for name in "AB"})
    assert "no answer has a label" in harvest("compare", bare, "-m", "R", width=200).stdout


@pytest.mark.parametrize(("systems", "closed"), [(3, True), (6, True), (7, False)])
def test_the_test_of_several_systems_has_its_name_and_effects_name_their_population(
    tmp_path: Path, systems: int, closed: bool
) -> None:
    """Up to six systems it is closed testing, whose p a reader of Carterette or Sakai would not compute."""
    chances = {f"S{number}": 0.4 + 0.05 * number for number in range(systems)}
    run = recorded(tmp_path / "run", drawn(4, 6, 2, **chances))
    said = " ".join(harvest("compare", run, "-m", "ave%useful", width=80).stdout.split())
    assert "p: " + "closed " * closed + "randomised Tukey HSD over all pairs" in said
    assert ("two systems differ if every hypothesis that they are alike is rejected" in said) == closed
    assert f"effect: difference / √(residual variance over the {systems} systems shown)" in said


@pytest.mark.parametrize(("estimand", "of"), [("like-these", "topics like these"), ("these", "these topics")])
def test_the_head_of_the_column_says_which_topics_the_intervals_are_about(
    tmp_path: Path, estimand: str, of: str
) -> None:
    run = recorded(tmp_path / "run", drawn(4, 6, 4, A=0.6, B=0.5))
    lines = harvest("compare", run, "-m", "ave%useful", "--estimand", estimand, width=60).stdout.splitlines()
    head = next(place for place, line in enumerate(lines) if "difference [low, high]" in line)
    assert of in lines[head + 1]
    assert lines[head].index("high]") + len("high]") == lines[head + 1].index(of) + len(of)


def test_topics_won_in_a_ratio_of_sums_are_described_as_topics_own_ratios(tmp_path: Path) -> None:
    run = recorded(tmp_path / "run", drawn(5, 8, 3, A=0.5, B=0.4))
    said = " ".join(harvest("compare", run, "-m", "%recovery", "-m", "ave%useful", width=80).stdout.split())
    assert (
        "%recovery: a ratio of sums over topics and trials; its W/T/L is of topics' own ratios, without those where a "
        "side has none"
    ) in said
    alone = " ".join(harvest("compare", run, "-m", "ave%useful", width=80).stdout.split())
    assert "a ratio of sums" not in alone


def test_a_figure_over_fewer_topics_than_in_score_says_so(tmp_path: Path) -> None:
    labels = {
        "A": {"M1": ["xo", "xx"], "C2": ["oo", "oo"], "C3": ["xo", "ox"], "C4": ["xx", "ox"]},
        "B": {"M1": ["xo", "oo"], "C2": ["oo", "oo"], "C3": ["!", "!"], "C4": ["xx", "ox"]},
    }
    lines = harvest("compare", recorded(tmp_path / "run", labels), "-m", "ave%useful", width=80).stdout.splitlines()
    (row,) = [line for line in lines if line.strip().startswith("ave%useful, in common")]
    assert row.split()[-1] == "3"
    assert any("1 topic without a value of some system, left out: ave%useful" in line for line in lines)
