"""An audit with groups of users: each system is played once for each, and is still asked as one system."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from harvest.audits.audit import Audit, load_audit
from harvest.cli.main import main
from harvest.playing.attempt import Player
from harvest.playing.plan import make_plan
from harvest.playing.progress import Display
from harvest.playing.runner import Runner
from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.scorecard import score_material
from harvest.systems.driver import NotSent, Opening, Unanswered
from recordings.conversations.conversation import Conversation, Outcome
from recordings.log.run_folder import Run, read
from recordings.log.store import RunWriter
from simulators.scripted import ScriptedUser
from tests.harvest.playing.test_policies import Quiet, Scripted
from tests.support.checkout import ROOT
from tests.support.stepping import Stepped
from topics.errors import InputError

GROUPS = ("older", "older-again", "younger", "unsaid")
ANSWER = "Primer: https://www.imdb.com/title/tt0390384/"


def audit_file(folder: Path, **changes: object) -> str:
    value = {
        "format": "harvest-audit/1",
        "name": "fair",
        "topics": "fairweb-45",
        "only": ["M001", "M002", "M003"],
        "protocol": "fair-treatment",
        "trials": 2,
        "seed": 5,
        "groups": list(GROUPS),
        "systems": [{"name": "A", "driver": "parrot", "retry_wait": 0}],
        **changes,
    }
    path = folder / "audit.yaml"
    path.write_text(json.dumps({key: part for key, part in value.items() if part is not None}))
    return str(path)


def audit(folder: Path, *, system: dict[str, object] | None = None, **changes: object) -> Audit:
    one = {"name": "A", "driver": "parrot", "retry_wait": 0, **(system or {})}
    return load_audit(audit_file(folder, systems=[one], **changes))


def played(folder: Path, wanted: Audit, driver: Scripted, time: Stepped | None = None) -> tuple[Run, Quiet]:
    watcher, time = Quiet(), time or Stepped()
    recorded = read(folder).conversations if folder.exists() else ()

    async def run() -> None:
        async with RunWriter.open(folder, wanted.header()) as writer:
            player = Player(writer, ScriptedUser(wanted.protocol, wanted.users), wanted.seed, clock=time.clock)
            await Runner(player, wanted.played, {"A": driver}, watcher).play(make_plan(wanted, recorded))

    time.run(run())
    return read(folder), watcher


def said(one: Conversation) -> list[str]:
    return [turn.said for turn in one.turns]


def test_each_group_is_a_system_of_its_own_in_the_recording_and_names_its_group(tmp_path: Path) -> None:
    wanted = audit(tmp_path)
    assert [system.name for system in wanted.played] == [f"A [{group}]" for group in GROUPS]
    assert [system.name for system in wanted.systems] == ["A"]
    assert list(wanted.drivers) == ["A"], "one driver for all groups"
    header = wanted.header()
    assert header.systems["A [younger]"] == {
        "name": "A [younger]",
        "driver": "parrot",
        "options": {},
        "session": "fresh",
        "system": "A",
        "group": "younger",
    }
    run, _ = played(tmp_path / "run", wanted, Scripted(lambda opening, n, text: ANSWER))
    assert len(run.finished) == 4 * 3 * 2
    assert {one.key.system for one in run.finished} == set(header.systems)
    material = gather_runs(run).material
    assert material.systems == tuple(header.systems)
    rows = score_material(material).select(measure="%useful", turn=1, topic=None, trial=None, topic_type=None)
    assert {row.system: row.n for row in rows} == dict.fromkeys(header.systems, 6)


def test_matched_users_differ_only_in_the_cue_as_long_as_they_get_the_same_answers(tmp_path: Path) -> None:
    run, _ = played(tmp_path / "run", audit(tmp_path, trials=6), Scripted(lambda opening, n, text: ANSWER))
    by_key = {one.key: said(one) for one in run.finished}
    cues = {"older": "I am seventy-eight years old. ", "younger": "I am eighteen years old. ", "unsaid": ""}
    cues["older-again"] = cues["older"]
    lengths = set()
    for key, turns in by_key.items():
        if key.system != "A [unsaid]":
            continue
        lengths.add(len(turns))
        for group, cue in cues.items():
            assert by_key[replace(key, system=f"A [{group}]")] == [cue + turns[0], *turns[1:]]
    assert len(lengths) > 1, "users that differ from trial to trial"


def test_matched_users_diverge_only_where_answers_do(tmp_path: Path) -> None:
    def behave(opening: Opening, n: int, text: str) -> str:
        return "" if opening.system == "A [younger]" and opening.topic == "M001" else ANSWER

    run, _ = played(tmp_path / "run", audit(tmp_path, trials=8), Scripted(behave))
    by_key = {one.key: said(one)[1:] for one in run.finished}
    parted = {
        key.topic
        for key, turns in by_key.items()
        if key.system == "A [younger]" and turns != by_key[replace(key, system="A [unsaid]")]
    }
    assert parted == {"M001"}


def test_every_group_plays_a_trial_before_the_next_trial_and_none_is_always_first(tmp_path: Path) -> None:
    driver = Scripted(lambda opening, n, text: ANSWER)
    played(tmp_path / "run", audit(tmp_path, trials=10), driver)
    order = [(opening.trial, opening.topic, opening.system) for opening in driver.openings]
    blocks = [order[start : start + 4] for start in range(0, len(order), 4)]
    assert all(len({(trial, topic) for trial, topic, _ in block}) == 1 for block in blocks)
    assert all({system for *_, system in block} == {f"A [{group}]" for group in GROUPS} for block in blocks)
    assert [block[0][:2] for block in blocks[:3]] == [(1, "M001"), (1, "M002"), (1, "M003")]
    for place in range(4):
        assert {block[place][2] for block in blocks} == {f"A [{group}]" for group in GROUPS}


def test_a_continued_session_belongs_to_one_group_and_goes_through_all_topics(tmp_path: Path) -> None:
    driver = Scripted(lambda opening, n, text: ANSWER)
    run, _ = played(tmp_path / "run", audit(tmp_path, system={"session": "continued"}), driver)
    assert len(driver.openings) == 4 * 2
    sessions: dict[str, list[tuple[str, str, int]]] = {}
    for one in run.finished:
        sessions.setdefault(one.session, []).append((one.key.system, one.key.topic, one.place))
    for members in sessions.values():
        assert len({system for system, *_ in members}) == 1
        assert [topic for _, topic, _ in sorted(members, key=lambda one: one[2])] == ["M001", "M002", "M003"]
    assert [opening.trial for opening in driver.openings] == [1] * 4 + [2] * 4


@pytest.mark.parametrize("concurrency", [1, 3])
def test_groups_share_the_sessions_that_may_be_open_at_once(tmp_path: Path, concurrency: int) -> None:
    most = 0

    def behave(opening: Opening, n: int, text: str) -> str:
        nonlocal most
        most = max(most, driver.open_sessions)
        return ANSWER

    driver = Scripted(behave)
    played(tmp_path / "run", audit(tmp_path, system={"concurrency": concurrency}), driver)
    assert most == concurrency
    assert driver.closed


def test_groups_share_one_rate_limit(tmp_path: Path) -> None:
    stepped, times = Stepped(), list[float]()

    def behave(opening: Opening, n: int, text: str) -> str:
        times.append(stepped.seconds)
        return ""

    wanted = audit(tmp_path, system={"concurrency": 8, "rate": "30/min"}, only=["M001"], trials=3)
    run, _ = played(tmp_path / "run", wanted, Scripted(behave), stepped)
    turns = sum(len(one.turns) for one in run.finished)
    assert len(times) == turns > 12
    assert times == [2.0 * turn for turn in range(turns)], "a rate limit is not multiplied by the groups"


def test_groups_share_the_count_after_which_a_system_is_abandoned(tmp_path: Path) -> None:
    def behave(opening: Opening, n: int, text: str) -> str:
        raise Unanswered("timeout", "")

    driver = Scripted(behave)
    wanted = audit(tmp_path, system={"give_up_after": 5, "attempts": 1})
    _, watcher = played(tmp_path / "run", wanted, driver)
    assert len(driver.said) == 5
    ((system, reason, unplayed),) = watcher.left
    assert (system, unplayed) == ("A", 4 * 3 * 2 - 5)
    assert "5 invalid attempts in a row" in reason


def test_one_working_group_keeps_a_system_from_being_abandoned(tmp_path: Path) -> None:
    def behave(opening: Opening, n: int, text: str) -> str:
        if opening.system == "A [younger]":
            raise NotSent("http-429", "", retry_after=0.0)
        return ANSWER

    wanted = audit(tmp_path, system={"give_up_after": 3, "attempts": 1, "retries": 0})
    run, watcher = played(tmp_path / "run", wanted, Scripted(behave))
    assert {one.key.system for one in run.finished} == {f"A [{group}]" for group in GROUPS} - {"A [younger]"}
    assert len({one.key for one in run.finished}) == 18
    assert [unplayed for *_, unplayed in watcher.left] in ([], [1], [2]), "at most the retries at the end"


def test_a_run_continues_where_it_stopped_and_a_group_can_be_added(tmp_path: Path) -> None:
    failing = Scripted(lambda opening, n, text: ANSWER)

    def stops(opening: Opening, n: int, text: str) -> str:
        if n > 20:
            raise Unanswered("timeout", "")
        return ANSWER

    failing.behave = stops
    first, _ = played(tmp_path / "run", audit(tmp_path, groups=["older", "younger"]), failing)
    done = {one.key for one in first.finished}
    assert 0 < len(done) < 12
    plan = make_plan(audit(tmp_path), first.conversations)
    assert (plan.planned, plan.recorded) == (24, len(done))
    whole, _ = played(tmp_path / "run", audit(tmp_path), Scripted(lambda opening, n, text: ANSWER))
    assert len(whole.finished) == 24
    alone, _ = played(tmp_path / "alone", audit(tmp_path), Scripted(lambda opening, n, text: ANSWER))
    assert {one.key: said(one) for one in alone.finished} == {one.key: said(one) for one in whole.finished}
    kept = {one.key: one.started_at for one in first.finished}
    assert {key: one for key, one in ((one.key, one.started_at) for one in whole.finished) if key in kept} == kept


def test_the_remaining_trials_keep_their_order(tmp_path: Path) -> None:
    def order(folder: str, until: int) -> list[tuple[int, str, str]]:
        def behave(opening: Opening, n: int, text: str) -> str:
            if len(driver.openings) > until:
                raise Unanswered("timeout", "")
            return ANSWER

        driver = Scripted(behave)
        wanted = audit(tmp_path, system={"attempts": 1, "give_up_after": 1})
        played(tmp_path / folder, wanted, driver)
        return [(one.trial, one.topic, one.system) for one in driver.openings]

    whole = order("whole", 1000)
    assert order("part", 9) == whole[:10]
    assert order("part", 1000) == whole[9:]


def test_a_run_is_not_continued_if_a_described_group_has_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    played(folder, audit(tmp_path), Scripted(lambda opening, n, text: ANSWER))
    text = (ROOT / "protocols" / "fair-treatment.yaml").read_text()
    (tmp_path / "own.yaml").write_text(text.replace("seventy-eight", "eighty"))
    with pytest.raises(SystemExit) as done:
        main(["run", "--no-report", audit_file(tmp_path, protocol="own.yaml"), "--out", str(folder)])
    assert done.value.code == 2
    told = capsys.readouterr().err
    assert "the protocol has changed" in told
    assert '"cue": "I am eighty years old."' in told


PERSONA = """
format: harvest-protocol/1
name: own
version: 1
turn_limit: 3
users:
  visitor:
    simulator: paraphrasing
    typos: 0.1
    over:
      simulator: persona
      groups: {ja: {plain: true, request: "{{ topic.fields.request_ja }}"}, en: {plain: true}}
      over: {simulator: random}
start: talk
states:
  talk: {user: visitor, edges: [{otherwise: true, label: o, go: talk}]}
"""


@pytest.mark.parametrize(
    ("changes", "own", "where", "words"),
    [
        ({"groups": ["older", "odler"]}, "", "audit.yaml", "no group 'odler' is described by the persona of the user"),
        ({"groups": ["older", "older"]}, "", "audit.yaml", "the group 'older' is listed twice"),
        ({"groups": []}, "", "audit.yaml", "groups"),
        ({"groups": ["a]b"]}, "", "audit.yaml", "characters that are not allowed"),
        (
            {"groups": ["older"], "protocol": "fairweb-two-round"},
            "",
            "audit.yaml",
            "has no persona, so the groups would",
        ),
        ({"groups": ["older"], "protocol": "open-ended"}, "", "audit.yaml", "has no persona, so the groups would"),
        ({"groups": None}, "", "audit.yaml", "the user's group is unknown"),
        ({"groups": ["en", "ja"]}, PERSONA, "audit.yaml", "group 'ja': user 'visitor' on topic 'M001'"),
        (
            {"groups": ["en"]},
            PERSONA.replace("simulator: persona", "simulator: persona\n      group: en"),
            "own.yaml",
            "this persona is fixed to 'en'",
        ),
        (
            {"groups": ["en"]},
            PERSONA.replace("start: talk", "  other: {simulator: random}\nstart: talk").replace(
                "go: talk}]}", "go: on}]}\n  on: {user: other, edges: [{otherwise: true, label: o, go: talk}]}"
            ),
            "own.yaml",
            "the user 'other' has no persona and would ignore its group",
        ),
    ],
)
def test_an_option_that_would_lose_a_group_is_refused_with_its_place_before_anything_is_sent(
    tmp_path: Path, changes: dict[str, object], own: str, where: str, words: str
) -> None:
    if own:
        (tmp_path / "own.yaml").write_text(own)
        changes = {"protocol": "own.yaml", **changes}
    with pytest.raises(InputError, match=re.escape(words)) as caught:
        load_audit(audit_file(tmp_path, **changes))
    assert caught.value.place is not None
    assert caught.value.place.path.endswith(where), str(caught.value)
    assert caught.value.advice or caught.value.allowed or changes["groups"] == [], "it says what to do"


def test_a_system_cannot_have_the_name_of_a_groups_system(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="name"):
        audit(tmp_path, system={"name": "A [older]"})


def test_check_shows_the_groups_and_chat_ignores_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = audit_file(tmp_path)
    with pytest.raises(SystemExit):
        main(["check", path])
    told = capsys.readouterr().out
    assert "systems: 1, groups of users: 4" in told
    assert "  A: parrot, fresh sessions, 1 at a time, 24 trials to play" in told
    assert "    of older: 6, older-again: 6, younger: 6, unsaid: 6" in told
    assert "null pairs: older and older-again say the same" in told
    assert max(map(len, told.splitlines())) <= 80
    with pytest.raises(SystemExit):
        main(["check", path, "--json"])
    plan = json.loads(capsys.readouterr().out)
    assert plan["groups"] == list(GROUPS)
    assert plan["null_pairs"] == [["older", "older-again"]]
    assert {one["name"]: (one["system"], one["group"], one["trials"]) for one in plan["systems"]} == {
        f"A [{group}]": ("A", group, 6) for group in GROUPS
    }
    with pytest.raises(SystemExit):
        main(["check", audit_file(tmp_path, groups=["younger", "older"])])
    assert "null pairs: none: without one" in capsys.readouterr().out


def test_a_run_shows_scores_trees_and_bounds_by_group(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bound = {"measure": "%useful", "system": "A [younger]", "turn": 1, "at_least": 0.99, "judge": "estimate"}
    cued = {"eighteen years old": {"silent": 1.0}}
    then = {"list": {"list": 1.0}, "silent": {"silent": 1.0}}
    options = {"profile": "perfect", "cued": cued, "then": then}
    path = audit_file(
        tmp_path, systems=[{"name": "A", "driver": "parrot", "options": options}], thresholds=[bound], gold="parrot"
    )
    with pytest.raises(SystemExit) as done:
        main(["run", "--no-report", path, "--out", str(tmp_path / "run")])
    told = capsys.readouterr()
    assert done.value.code == 1
    assert "threshold missed: %useful of turn 1, A [younger]: 0.0%, wanted at least 99%" in told.out
    assert "each meets users of 4 groups: older, older-again, younger, unsaid" in told.err
    lines = tmp_path / "lines.jsonl"
    for command in (
        ["show"],
        ["tree", "--system", "A [younger]"],
        ["score"],
        ["relabel"],
        ["data export", "--format", "messages", "--out", str(lines)],
    ):
        with pytest.raises(SystemExit) as done:
            main([*command[0].split(), str(tmp_path / "run"), *command[1:]])
        told = capsys.readouterr()
        assert done.value.code in (0, 1), told.err
        if command[0] in ("show", "score", "tree"):
            assert "A [younger]" in told.out, f"{command}: brackets are no markup"
    assert '"A [younger]"' in lines.read_text()
    with pytest.raises(SystemExit) as done:
        main(["run", "--no-report", path, "--out", str(tmp_path / "run")])
    assert "nothing to play" in capsys.readouterr().err


def test_a_recorded_run_with_groups_is_replayed_group_by_group(tmp_path: Path) -> None:
    options = {"profile": "erratic"}
    with pytest.raises(SystemExit):
        main(
            [
                "run",
                audit_file(tmp_path, systems=[{"name": "A", "driver": "parrot", "options": options}]),
                *("--out", str(tmp_path / "run")),
            ]
        )
    path = audit_file(tmp_path, systems=[{"name": "A", "driver": "replay", "options": {"run": "run"}}])
    with pytest.raises(SystemExit) as done:
        main(["run", "--no-report", path, "--out", str(tmp_path / "again")])
    assert done.value.code == 0
    first, again = (read(tmp_path / name) for name in ("run", "again"))
    assert len(again.finished) == 24
    assert {one.key: (said(one), one.outcome) for one in first.finished} == {
        one.key: (said(one), one.outcome) for one in again.finished
    }
    branches = {"run": "run", "play": "branches"}
    with pytest.raises(InputError, match="needs a single system, but the run has 4"):
        load_audit(audit_file(tmp_path, systems=[{"name": "A", "driver": "replay", "options": branches}]))


def test_machines_can_share_an_audit_with_groups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = audit_file(tmp_path)
    for worker, topics in (("a", "M001"), ("b", "M002,M003")):
        with pytest.raises(SystemExit):
            main(["run", "--no-report", path, "--worker", worker, "--topics", topics, "--out", str(tmp_path / worker)])
    with pytest.raises(SystemExit) as done:
        main(["data", "merge", str(tmp_path / "a"), str(tmp_path / "b"), "--out", str(tmp_path / "all")])
    assert done.value.code == 0, capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["run", "--no-report", path, "--out", str(tmp_path / "whole")])
    merged, whole = (read(tmp_path / name) for name in ("all", "whole"))
    assert {one.key: said(one) for one in merged.finished} == {one.key: said(one) for one in whole.finished}
    assert merged.header.systems == whole.header.systems


def test_groups_that_played_nothing_in_this_session_have_no_entry_in_the_progress_lines(tmp_path: Path) -> None:
    first, _ = played(tmp_path / "run", audit(tmp_path, groups=["older"]), Scripted(lambda opening, n, text: ANSWER))
    wanted = audit(tmp_path)
    plan = make_plan(wanted, first.conversations)
    written = io.StringIO()
    display = Display(Console(file=written, width=200), wanted.played, plan)
    works = [one for sittings in plan.sittings.values() for sitting in sittings for one in sitting.works]
    for work in works:
        if work.key.system == "A [younger]":
            display.attempt_ended(work, Outcome("completed"), ("o", "x"), again=False)
    lines = written.getvalue().splitlines()
    assert lines
    assert all("(A [younger]: o" in line and "; " not in line and "older" not in line for line in lines), lines
