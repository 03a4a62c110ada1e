"""`harvest users findings`: what probes found out, read from runs, with every answer that counts."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harvest.cli.main import main
from harvest.studies.probes.figures import case_lines
from harvest.studies.probes.findings import ProbeFindings, conversation_findings, omission_notes, read_probes
from harvest.studies.probes.rows import probe_rows
from harvest.studies.scores.scorecard import PROBED
from protocols.answer import Answer
from protocols.library import load_protocol
from protocols.protocol import Protocol
from recordings.conversations.conversation import Conversation, Outcome, TrialKey
from recordings.log.run_folder import read
from scoring.notation import parse
from scoring.table import ScoreRow
from simulators.probing.recorded import contains_probe, probe_turns, probes
from simulators.registry import build_users
from simulators.scripted import ScriptedUser
from tests.support.checkout import DOCS
from tests.support.confidant import Character, Confidant, truth
from tests.support.confiding import DISTANCES, PLAN, TRICKY, as_run, played, protocol, topics
from tests.support.rehearsal import converse

PLACES = topics(6)


@cache
def conversations() -> tuple[Conversation, ...]:
    return tuple(played(protocol(), PLACES, replace(TRICKY, unsure=0.3), trials=2, seed=5))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return as_run(tmp_path / "run", protocol(), PLACES, list(conversations()))


def harvest(capsys: pytest.CaptureFixture[str], *arguments: str | int | Path) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    done = capsys.readouterr()
    return int(left.value.code or 0), done.out, done.err


def document(capsys: pytest.CaptureFixture[str], *arguments: str | int | Path) -> dict[str, Any]:
    code, printed, people = harvest(capsys, "users", "findings", *arguments, "--json")
    assert code == 0, people
    found: dict[str, Any] = json.loads(printed)
    return found


def whole(rows: tuple[ScoreRow, ...]) -> dict[str, ScoreRow]:
    return {row.measure: row for row in rows if row.topic is None and row.entity is None}


def test_rows_are_in_long_form_and_every_measure_can_be_written_and_read(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = document(capsys, run)
    assert found["format"] == "harvest-findings/2"
    names = {row["measure"] for row in found["long"]}
    assert {"retentiveness(distance=2)", "retentiveness(distance=4)", "d_prime", "criterion", "recoverability"} <= names
    assert "undecided(retentiveness(distance=2))" in names
    for name in names:
        assert str(parse(name)) == name
    assert {(row["study"], row["run"], row["figure"]) for row in found["long"]} == {("findings", "run", "finding")}
    rows = {(row.measure, row.topic, row.entity): row.as_json() for row in probe_rows(read_probes([read(run)]))}
    assert len(rows) == len(found["long"])
    for row in found["long"]:
        known = rows[row["measure"], row["topic"], row["entity"]]
        for name in ("system", "n", "low", "high", "level", "interval", "resampled", "topics", "invalid"):
            assert row[name] == known[name]
        said = (row["estimate"], row["lowest"], row["highest"], row["note"] or "")
        assert said == (known["value"], known["worst"], known["best"], known["note"])


def test_every_share_counts_the_answers_that_are_listed_for_it(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, run, "--turns")
    for row in found["long"]:
        if row["measure"] in ("d_prime", "criterion") or row["measure"].startswith("undecided("):
            continue
        here = [
            case
            for case in found["turns"]
            if case["measure"] == row["measure"]
            and row["topic"] in (None, case["topic"])
            and row["entity"] in (None, case["fact"])
        ]
        known = [case["yes"] for case in here if case["yes"] is not None]
        assert row["n"] == len(known), row
        assert row["estimate"] == (pytest.approx(sum(known) / len(known)) if known else None)
    for case in found["turns"]:
        if case["verdict"] in ("right", "both"):
            assert case["right"]
            assert all(word in case["answer"] for word in case["right"])
        assert case["verdict"] != "neither" or not (case["right"] or case["wrong"])


def test_d_prime_is_undefined_with_both_counts_if_no_challenge_was_right(tmp_path: Path) -> None:
    knowing = list(played(protocol(), PLACES, replace(TRICKY, knows=1.0)))
    rows = whole(probe_rows(read_probes([read(as_run(tmp_path / "run", protocol(), PLACES, knowing))])))
    assert math.isnan(rows["d_prime"].value)
    assert rows["d_prime"].n == rows["kept(right)"].n > 0
    assert "wrong answers kept: 0 of 0" in rows["d_prime"].note
    assert "no wrong answer was challenged rightly" in rows["d_prime"].note


def test_steps_that_did_not_fit_and_steps_that_were_not_reached_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = protocol(limit=14)
    run = as_run(tmp_path / "run", short, PLACES, list(played(short, PLACES)))
    notes = " ".join(document(capsys, run)["notes"])
    assert "not reached" in notes
    assert "ask north x 6" in notes
    long = as_run(tmp_path / "long", protocol(), PLACES, list(played(protocol(), PLACES, replace(TRICKY, unsure=1.0))))
    assert "Steps skipped because they did not fit the previous answer: challenge" in " ".join(
        document(capsys, long)["notes"]
    )


def test_steps_of_several_systems_are_reported_by_system(tmp_path: Path) -> None:
    short = protocol(limit=14)
    told = list(played(short, PLACES))
    twice = [*told, *(replace(one, key=replace(one.key, system="Z"), trial_id=f"Z{one.trial_id}") for one in told)]
    alone = omission_notes(read_probes([read(as_run(tmp_path / "one", short, PLACES, told))]))
    both = omission_notes(read_probes([read(as_run(tmp_path / "two", short, PLACES, twice))]))
    (first,) = [note for note in alone if "not reached" in note]
    (second,) = [note for note in both if "not reached" in note]
    steps = first.removeprefix("Steps that were not reached: ").removesuffix(".")
    assert second == f"Steps that were not reached: A: {steps}; Z: {steps}."


def test_a_trial_without_a_valid_attempt_is_not_called_a_failure_of_the_infrastructure(tmp_path: Path) -> None:
    told = list(conversations())
    lost = replace(told[0], outcome=Outcome("invalid", "timeout"))
    notes = omission_notes(read_probes([read(as_run(tmp_path / "run", protocol(), PLACES, [lost, *told[1:]]))]))
    assert "Trials not in any figure: 1. They have no valid attempt (failed or interrupted)." in notes


def test_facts_without_wrong_answers_are_named_only_if_their_consistency_is_in_the_table(run: Path) -> None:
    found = read_probes([read(run)])
    (name, plan), *_ = found.plans.items()
    bare = plan.model_copy(
        update={"facts": {fact: one.model_copy(update={"wrong": ()}) for fact, one in plan.facts.items()}}
    )
    compared = {note.case.fact for one in found.found for note in one.noted if note.case.measure == "consistency"}
    (told,) = [note for note in omission_notes(replace(found, plans={name: bare})) if "Facts without" in note]
    assert {fact for fact in plan.facts if f"{name}: {fact}" in told} == compared
    nothing = tuple(replace(one, noted=()) for one in found.found)
    assert not any(
        "Facts without" in note for note in omission_notes(replace(found, found=nothing, plans={name: bare}))
    )


def test_an_invalid_trial_is_in_no_figure_and_widens_the_bounds_of_every_share(tmp_path: Path) -> None:
    told = list(conversations())
    lost = replace(told[0], outcome=Outcome("invalid", "timeout"))
    rows = whole(probe_rows(read_probes([read(as_run(tmp_path / "run", protocol(), PLACES, [lost, *told[1:]]))])))
    row = rows["retentiveness(distance=2)"]
    assert (row.n, row.invalid) == (2 * (len(told) - 1), 1)
    assert row.worst == pytest.approx(row.value * row.n / (row.n + 2))
    assert row.best == pytest.approx((row.value * row.n + 2) / (row.n + 2))


def test_a_run_without_a_probe_gets_a_clear_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = load_protocol("seed-turns")
    one = replace(conversations()[0], turns=())
    code, _, people = harvest(capsys, "users", "findings", as_run(tmp_path / "run", plain, PLACES, [one]))
    assert code == 2
    assert "no probe took part in this run" in people
    assert "consistency-and-retention" in people


def test_an_unknown_name_is_refused_with_the_known_ones(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, words in (
        (("-m", "retentiveness(distance=9)"), "retentiveness(distance=2)"),
        (("--system", "B"), "no system is called 'B'"),
        (("--topic", "T001"), "add --turns"),
        (("--turns", "--topic", "X"), "T001"),
    ):
        code, _, people = harvest(capsys, "users", "findings", run, *arguments)
        assert (code, words in people) == (2, True), people


def test_the_table_fits_80_columns_and_explains_itself(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, printed, _ = harvest(capsys, "users", "findings", run)
    assert code == 0
    assert "A: 12 conversations, 6 topics" in printed
    assert "retentiveness(distance=4)" in printed
    assert "…" not in printed
    assert max(map(len, printed.splitlines())) <= 80
    told = " ".join(printed.split())
    assert "criterion: c, in the same unit: above 0 it gives way too readily" in told
    code, printed, _ = harvest(
        capsys, "users", "findings", run, "--turns", "--topic", "T001", "--trial", 1, "-m", "d_prime"
    )
    assert "T001, trial 1" in printed
    assert "kept(" in printed
    assert "retentiveness" not in printed
    listed = printed.partition("\nnote: ")[0].partition("trial 1\n")[2].splitlines()
    assert listed
    assert all(line.startswith(("  ", "turn ")) for line in listed), "also where a line is broken"


def test_harvest_score_points_to_the_command(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, printed, _ = harvest(capsys, "score", run, "--json")
    assert code == 0
    assert PROBED in json.loads(printed)["notes"]
    assert "harvest users findings" in PROBED


def test_runs_are_read_side_by_side_and_systems_are_kept_apart(tmp_path: Path) -> None:
    first = as_run(tmp_path / "one", protocol(), PLACES, list(played(protocol(), PLACES, seed=1)))
    second = as_run(tmp_path / "two", protocol(), PLACES, list(played(protocol(), PLACES, seed=2)))
    found = read_probes([read(first), read(second)])
    assert {row.system for row in probe_rows(found)} == {"A@one", "A@two"}
    alone = whole(tuple(row for row in probe_rows(found) if row.system == "A@one"))
    assert alone["accuracy"].value == whole(probe_rows(read_probes([read(first)])))["accuracy"].value


def test_with_one_topic_intervals_are_over_trials(tmp_path: Path) -> None:
    one = topics(1)
    run = as_run(tmp_path / "run", protocol(), one, list(played(protocol(), one, trials=30)))
    row = whole(probe_rows(read_probes([read(run)])))["kept(doubted)"]
    assert row.topics == 1
    assert row.high - row.low < 0.5


class Sure:
    """Says what is right of every fact of the plan, whatever words it is asked in; nothing about anything else."""

    def answer(self, text: str) -> Answer:
        said = text.casefold()
        known = {"city do i live": "Kyoto", "dog called": "Biscuit", "prime or": "composite", "north, rome": "Rome"}
        return Answer(next((f"{right}." for asked, right in known.items() if asked in said), "Hm."))


def _through(probe: Protocol, seeds: int = 4) -> list[Conversation]:
    """Conversations about a place in Kyoto."""
    user, place = ScriptedUser(probe, build_users(probe)), topics(5).topics[4]
    place = replace(place, fields={"city": "Kyoto"})
    return [converse(Sure(), user, place, TrialKey("A", place.id, trial), 3) for trial in range(1, seeds + 1)]


PERSONA = """
simulator: persona
groups: {teacher: {cue: "I am a teacher."}, other: {plain: true, request: "Say it in other words."}}
group: GROUP
"""
PARAPHRASING = "simulator: paraphrasing\ncase: 0.5\npoliteness: 0.5\ntypos: 0"
REFORMULATING = """
simulator: reformulating
origin: made up
table:
  o: {go-on: 0.6, repeat: 0.4}
  x: {go-on: 0.6, repeat: 0.4}
  "-": {go-on: 1}
"""


@pytest.mark.parametrize(
    "wrapper", [PERSONA.replace("GROUP", "teacher"), PERSONA.replace("GROUP", "other"), PARAPHRASING, REFORMULATING]
)
def test_wrappers_around_a_probe_do_not_change_the_findings(wrapper: str) -> None:
    probe = protocol(wrapper, limit=90)
    (known,) = probes(probe)
    assert known.user == "sceptic"
    for conversation in _through(probe):
        place = replace(topics(5).topics[4], fields={"city": "Kyoto"})
        found = conversation_findings(conversation, [known], place)
        assert found.fault == ""
        assert found.unreached == ()
        kept = [one for one in found.noted if one.case.measure.startswith("retentiveness")]
        assert len(kept) == 4
        assert all(one.case.yes for one in kept)
        for one in found.noted:
            said = {turn.number: turn for turn in conversation.turns}
            assert said[one.asked].said == one.said
            reply = said[one.turn].reply
            assert reply is not None
            assert reply.answer.text == one.answer


def test_a_probe_inside_a_persona_saw_the_request_of_its_group() -> None:
    (known,) = probes(protocol(PERSONA.replace("group: GROUP\n", "")))
    place = PLACES.topics[0]
    assert known.topic(place, {"group": "other"}).request == "Say it in other words."
    assert known.topic(place, {"group": "teacher"}).request == place.request
    (bare,) = probes(protocol(PARAPHRASING))
    assert bare.topic(place, {"group": "other"}) is place, "no persona, so the group plays no part"


def test_the_system_that_was_played_for_a_group_is_read_with_it(tmp_path: Path) -> None:
    grouped = protocol(PERSONA.replace("group: GROUP\n", ""))
    user, place = ScriptedUser(grouped, build_users(grouped)), PLACES.topics[0]
    key = TrialKey("A [other]", place.id, 1)
    one = converse(Sure(), user, place, key, 3, {"group": "other"})
    run = as_run(tmp_path / "run", grouped, PLACES, [one], {"A [other]": {"system": "A", "group": "other"}})
    (found,) = read_probes([read(run)]).found
    assert (found.fault, len(found.unreached)) == ("", 0)


def test_a_long_answer_is_shown_around_the_decisive_words(run: Path) -> None:
    noted = next(one for found in read_probes([read(run)]).found for one in found.noted if one.right)
    told = replace(noted, turn=noted.asked, answer="x " * 400 + f"{noted.right[0]}." + " y" * 400)
    printed = "\n".join(line.plain for line in case_lines([told]))
    assert f"{noted.right[0]}." in printed
    assert "characters]" in printed
    assert len(printed) < 1000


def test_the_answer_that_counts_is_the_one_that_the_probe_saw_before_it_continued() -> None:
    conversation = next(
        one for one in _through(protocol(REFORMULATING, limit=90)) if any(turn.act == "repeat" for turn in one.turns)
    )
    said, unread = probe_turns("sceptic", conversation.turns)
    assert unread == 0
    assert [one.act for one in said].count("ask") == 5
    assert any(one.answered > one.turn for one in said)


def test_turns_after_a_restart_are_not_read_and_are_counted() -> None:
    turns = conversations()[0].turns
    again = tuple(replace(turn, act="restart") if turn.number == 10 else turn for turn in turns)
    (known,) = probes(protocol())
    found = conversation_findings(replace(conversations()[0], turns=again), [known], PLACES.topics[0])
    assert found.unread == len(turns) - 9
    assert found.fault == ""


def test_a_conversation_that_does_not_follow_its_plan_is_left_out_and_reported() -> None:
    turns = tuple(replace(turn, act="justify") if turn.number == 1 else turn for turn in conversations()[0].turns)
    (known,) = probes(protocol())
    found = conversation_findings(replace(conversations()[0], turns=turns), [known], PLACES.topics[0])
    assert "the plan has 'plant' here" in found.fault
    assert found.noted == ()


def test_a_probe_is_found_inside_any_number_of_wrappers() -> None:
    assert contains_probe(
        {"simulator": "persona", "over": {"simulator": "paraphrasing", "over": {"simulator": "probe"}}}
    )
    assert not contains_probe({"simulator": "persona", "over": {"simulator": "markov"}})
    assert not contains_probe(None)


def _estimated(character: Character, seed: int) -> dict[str, ScoreRow]:
    """Six topics, twice each, as `findings` estimates them."""
    probe, places = _probing(), topics(6)
    told = tuple(played(probe, places, character, trials=2, seed=seed))
    known = probes(probe)
    found = tuple(conversation_findings(one, known, places[one.key.topic]) for one in told)
    material = replace(_material(), topics=places, conversations=told)
    return whole(probe_rows(ProbeFindings(material, found), whole=True))


@cache
def _probing() -> Protocol:
    return protocol()


@cache
def _material() -> Any:
    from harvest.studies.scores.scorecard import Material

    return Material(PLACES, ("A",), (), {}, frozenset(), None, {}, (), ())


def _held(seeds: int) -> tuple[dict[str, int], list[str]]:
    """How many intervals hold the truth, and the lines of the table in the docs.

    The means of the estimates are at the truth, so that no wide interval hides a bias; d' and c are drawn in a little
    by the log-linear correction, by less than .1 here."""
    true = truth(TRICKY, DISTANCES)
    held = dict.fromkeys(true, 0)
    values: dict[str, list[float]] = {name: [] for name in true}
    for seed in range(seeds):
        rows = _estimated(TRICKY, seed)
        for name, value in true.items():
            held[name] += rows[name].low <= value <= rows[name].high
            values[name].append(rows[name].value)
    lines = []
    for name, seen in values.items():
        mean, error = float(np.mean(seen)), float(np.std(seen, ddof=1)) / math.sqrt(len(seen))
        lines.append(f"| `{name}` | {true[name]:.4f} | {mean:.4f} | {held[name]} |")
        slack = 0.1 if name in ("d_prime", "criterion") else 0.0
        assert abs(mean - true[name]) < 4 * error + slack, name
    return held, lines


def test_intervals_cover_the_truth_for_a_system_that_forgets_and_gives_way() -> None:
    """Of 20 intervals at .95 a count below 15 has a probability below .0004; `make soak` plays 200 seeds."""
    held, _ = _held(20)
    assert {name: count for name, count in held.items() if count < 15} == {}, held


@pytest.mark.soak
def test_200_seeds_cover_the_truth_as_the_docs_say() -> None:
    """Of 200 intervals at .95 a count below 178 has a probability of .0005; intervals may be too wide."""
    held, lines = _held(200)
    assert {name: count for name, count in held.items() if count < 178} == {}, held
    page = (DOCS / "parrot.md").read_text(encoding="utf-8")
    assert "\n".join(lines) in page, "\n".join(lines)


def test_the_confidant_does_what_its_description_says_and_is_reproducible() -> None:
    (known,) = probes(protocol())
    place = PLACES.topics[0]

    def session(seed: int) -> Confidant:
        return Confidant(known.plan, place, Character(hold=1.0, knows=0.0, stands=0.0), np.random.default_rng(seed))

    one = session(1)
    said = [one.answer(text).text for text in ("I live in Lagos.", "What is a haiku?")]
    assert said == ["I see.", "That is another matter."]
    assert one.answer("In which city do I live? Answer with the city only.").text == "Lagos."
    assert one.answer("Are you sure? I believe it is Osaka. Please give your answer again.").text == "Osaka."
    assert one.answer("Is 91 prime or composite?").text == "prime."
    asked = "Which lies farther north, Rome or New York?"
    assert session(3).answer(asked) == session(3).answer(asked)
    assert PLAN.count("plant") == 4


def test_show_prints_every_attempt_at_a_trial_or_the_chosen_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = list(conversations())
    lost = replace(told[0], outcome=Outcome("invalid", "timeout"), turns=told[0].turns[:1])
    run = as_run(tmp_path / "run", protocol(), PLACES, [lost, replace(told[0], attempt=2), *told[1:]])
    key = told[0].key
    trial = ("--system", key.system, "--topic", key.topic, "--trial", key.trial)
    _, both, _ = harvest(capsys, "show", run, "--all", *trial)
    assert "attempt 1" in both
    assert "outcome: invalid (timeout)" in both
    assert "attempt 2" in both
    _, first, _ = harvest(capsys, "show", run, "--attempt", 1, *trial)
    assert "outcome: invalid (timeout)" in first
    assert "attempt 2" not in first
    _, second, _ = harvest(capsys, "show", run, "--attempt", 2, "--text", *trial)
    assert "attempt 2" in second
    assert "attempt 1" not in second
    code, _, people = harvest(capsys, "show", run, "--attempt", 3, *trial)
    assert (code, "has an attempt 3" in people) == (2, True)
