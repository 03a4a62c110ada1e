"""An audit in arms: the same needs and draws in each, one system asked, and what cannot be played refused in a line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harvest.audits.audit import load_audit
from harvest.playing.plan import make_plan, queue_sittings
from harvest.playing.play import play
from recordings.log.run_folder import Run
from tests.support.command_line import harvest
from topics.errors import InputError

ARMS = {"as written": {}, "typos": {"wording": {"typos": 0.3}}, "small": {"wording": {"case": 1}}}
WORDS = {
    "format": "harvest-wordings/1",
    "states": {"more": "Encore ?", "insist": "Réponds !"},
    "topics": {"M001": {"ask": "Quels films ?"}, "M002": {"ask": "Et ceux-ci ?"}},
}


def audit_file(folder: Path, **changes: object) -> str:
    value = {
        "format": "harvest-audit/1",
        "name": "robust",
        "topics": "fairweb-45",
        "only": ["M001", "M002"],
        "protocol": "fairweb-two-round",
        "trials": 3,
        "systems": [{"name": "A", "driver": "parrot"}, {"name": "B", "driver": "parrot"}],
        "arms": ARMS,
        **changes,
    }
    path = folder / "audit.yaml"
    path.write_text(json.dumps({key: part for key, part in value.items() if part is not None}))
    return str(path)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("arms")
    (folder / "words.yaml").write_text(json.dumps(WORDS))
    arms = {**ARMS, "french": {"texts": "words.yaml"}}
    return play(load_audit(audit_file(folder, arms=arms)), folder / "run")


def said(run: Run, arm: str, state: str = "ask") -> dict[tuple[str, int], str]:
    """What users of A said in a state, by topic and trial."""
    return {
        (one.key.topic, one.key.trial): turn.said
        for one in run.finished
        if one.key.system == f"A [{arm}]"
        for turn in one.turns
        if turn.state == state
    }


def test_each_system_is_played_in_each_arm_and_arms_differ_only_in_words(run: Run) -> None:
    assert {one.key.system for one in run.finished} == {f"{name} [{arm}]" for name in "AB" for arm in (*ARMS, "french")}
    control = said(run, "as written")
    assert len(control) == 6
    for arm in ("typos", "small"):
        assert said(run, arm).keys() == control.keys()
    small = said(run, "small")
    assert all(small[key] != text and small[key].lower() == text.lower() for key, text in control.items())
    assert set(said(run, "french").values()) == {"Quels films ?", "Et ceux-ci ?"}
    assert {*said(run, "french", "more").values(), *said(run, "french", "insist").values()} <= {"Encore ?", "Réponds !"}


def test_a_user_that_is_only_reworded_draws_the_same_as_the_control(tmp_path: Path) -> None:
    arms = {"one": {}, "two": {"wording": {"typos": 0}}, "other": {"users": {"visitor": {"simulator": "random"}}}}
    found = play(load_audit(audit_file(tmp_path, arms=arms, protocol="open-ended")), tmp_path / "run")
    turns = [
        {
            (one.key.topic, one.key.trial): [turn.said for turn in one.turns]
            for one in found.finished
            if one.key.system == f"A [{arm}]"
        }
        for arm in arms
    ]
    assert turns[0] == turns[1]
    assert turns[0].keys() == turns[2].keys()
    assert turns[0] != turns[2]


def test_the_arms_of_a_trial_are_one_block_in_random_order(tmp_path: Path) -> None:
    audit = load_audit(audit_file(tmp_path, trials=30))
    plan = make_plan(audit)
    own = [system for system in audit.played if system.of == "A"]
    queue = [sitting.works[0] for sitting in queue_sittings(plan, own, audit.seed)]
    blocks = [queue[place : place + 3] for place in range(0, len(queue), 3)]
    assert all(len({(work.key.topic, work.key.trial) for work in block}) == 1 for block in blocks)
    firsts = {block[0].arm.name for block in blocks if block[0].arm is not None}
    assert firsts == set(ARMS)


def test_a_run_continues_and_its_paths_are_those_of_the_rules(run: Run, tmp_path: Path) -> None:
    done = harvest("relabel", run.path)
    assert done.returncode == 0, done.stderr
    assert "0 of 48 conversations would have continued differently." in done.stdout
    folder = run.path.parent
    audit = str(folder / "audit.yaml")
    again = harvest("run", audit, "--out", run.path)
    assert again.returncode == 0
    assert "nothing to play" in again.stderr
    changed = json.loads((folder / "audit.yaml").read_text())
    changed["arms"]["typos"] = {"wording": {"typos": 0.4}}
    other = folder / "other.yaml"
    other.write_text(json.dumps(changed))
    refused = harvest("run", other, "--out", run.path)
    assert refused.returncode == 2
    assert "A [typos]" in refused.stderr


def test_check_lists_the_arms(run: Run) -> None:
    done = harvest("check", run.path.parent / "audit.yaml")
    assert "in as written: 6, typos: 6, small: 6, french: 6" in done.stdout


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"arms": {"one": {}}}, "an audit with arms needs at least two arms"),
        ({"arms": {"one": {}, "two": {}}}, "the arms 'one' and 'two' are the same"),
        ({"arms": {"one": {}, "two": {"wording": {}}}}, "give at least one rate"),
        ({"arms": {"one": {}, "two": {"wording": {"typo": 1}}}}, "did you mean 'typos'?"),
        ({"arms": {"one": {}, "two": {"wording": {"typos": 2}}}}, "must be at most 1"),
        ({"arms": {"one": {}, "two": {"users": {"visitor": {"simulator": "markov"}}}}}, "has no user 'visitor'"),
        ({"arms": {"one": {}, "two": {"texts": "nowhere.yaml"}}}, "nowhere.yaml"),
    ],
)
def test_an_unplayable_audit_is_refused_at_its_place(tmp_path: Path, changes: dict[str, object], words: str) -> None:
    with pytest.raises(InputError) as fault:
        load_audit(audit_file(tmp_path, **changes))
    assert words in str(fault.value)
    assert fault.value.place is not None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"topics": {"M001": {"ask": "a"}}}, "topic 'M002' has no words for the state 'ask'"),
        ({"states": {"more": "Encore ?"}}, "for the state 'insist'"),
        ({"states": {**WORDS["states"], "mroe": "x"}}, "has no words of its own in a state 'mroe'"),  # type: ignore[dict-item]
        ({"format": "harvest-wordings/2"}, "harvest-wordings/1"),
        ({"topics": {"M001": {"ask": "  "}, "M002": {"ask": "b"}}}, "a text with words"),
    ],
)
def test_a_file_of_texts_is_complete(tmp_path: Path, changes: dict[str, object], words: str) -> None:
    (tmp_path / "words.yaml").write_text(json.dumps({**WORDS, **changes}))
    with pytest.raises(InputError) as fault:
        load_audit(audit_file(tmp_path, arms={"one": {}, "two": {"texts": "words.yaml"}}))
    assert words in str(fault.value)
    assert fault.value.place is not None
    assert fault.value.place.path.endswith("words.yaml")


def test_arms_and_groups_that_look_alike_in_tables_are_refused(tmp_path: Path) -> None:
    arms = {"as written": {}, "Thanks": {"wording": {"politeness": 1}}, "thanks ": {"wording": {"typos": 0.2}}}
    with pytest.raises(InputError, match="the arms 'Thanks' and 'thanks ' differ only") as refused:
        load_audit(audit_file(tmp_path, arms=arms))
    assert refused.value.place is not None
    assert refused.value.place.line


def test_a_missing_file_of_texts_is_reported_where_it_is_named(tmp_path: Path) -> None:
    path = audit_file(tmp_path, arms={"one": {}, "two": {"texts": "absent.yaml"}})
    with pytest.raises(InputError, match=r"absent\.yaml") as refused:
        load_audit(path)
    assert refused.value.place is not None
    assert (refused.value.place.path, bool(refused.value.place.column)) == (path, True)
    assert refused.value.advice
