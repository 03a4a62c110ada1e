"""Conversations as acts: out of recordings, out of data sets, and out of our own files."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from protocols.answer import Answer
from protocols.route import Route
from recordings.acts.dialogue import ActTurn, Dialogue, extract_dialogue, extract_dialogues
from recordings.acts.reading import query_act, read_act_lines, read_dialogues, read_iard, read_queries, write_act_lines
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, TrialKey, Turn
from scoring.simulation.act_model import START, STOP, decisions_of
from tests.support.simulated_dialogues import IARD, SIM4IA, iard
from topics.errors import InputError

THREE = IARD.parent / "three_dialogues.json"


def conversation(
    outcome: Outcome | None, labels: str = "xo", *, trial: int = 1, attempt: int = 1, topic: str = "M002"
) -> Conversation:
    turns = tuple(
        Turn(
            number,
            "ask" if number == 1 else "more",
            "words",
            SystemTurn(Answer("an answer", ())),
            None if label == "-" else Route(number, "ask", label, "rule", "1", (), "next"),
        )
        for number, label in enumerate(labels, 1)
    )
    return Conversation(TrialKey("B1", topic, trial), f"{topic}-{trial}", attempt, turns, outcome)


def test_acts_are_the_states_of_user_turns_and_answers_their_labels() -> None:
    found = extract_dialogue(conversation(Outcome("user-stopped", "satisfied"), "xo-"))
    assert found is not None
    assert found.turns == (ActTurn("ask", "x"), ActTurn("more", "o"), ActTurn("more"))
    assert (found.ended, found.score, found.system, found.topic) == (True, 0.5, "B1", "M002")


@pytest.mark.parametrize(
    ("outcome", "ended"),
    [
        (Outcome("user-stopped", "satisfied"), True),
        (Outcome("completed", "script-ended"), True),
        (Outcome("breakdown"), True),
        (Outcome("turn-limit"), False),
        (Outcome("system-ended"), False),
        (Outcome("no-match"), False),
        (Outcome("user-stopped", "no-branch"), False),
        (Outcome("user-stopped", "endpoint-failed"), False),
        (None, False),
    ],
)
def test_only_a_user_who_chose_to_leave_has_ended_a_dialogue(outcome: Outcome | None, ended: bool) -> None:
    found = extract_dialogue(conversation(outcome))
    assert found is not None
    assert found.ended is ended
    decisions = list(decisions_of(found))
    assert (decisions[-1].act == STOP) is ended


def test_an_invalid_attempt_says_nothing_about_users_and_is_counted_if_no_other_is_valid() -> None:
    failed = Outcome("invalid", "timeout")
    found = extract_dialogues(
        [
            conversation(failed, trial=1),
            conversation(Outcome("completed"), trial=1, attempt=2),
            conversation(failed, trial=2),
            conversation(Outcome("completed"), "", trial=3),
        ]
    )
    assert [one.id for one in found.kept] == ["B1/M002/1"]
    assert found.left_out == (("no user turn", 1), ("no valid attempt: failed or interrupted", 1))


def test_a_trial_is_one_dialogue_for_any_number_of_attempts() -> None:
    found = extract_dialogues([conversation(None, "x"), conversation(Outcome("completed"), "xo", attempt=2)])
    assert [(one.length, one.ended) for one in found.kept] == [(2, True)]


def test_iard_is_read_as_the_intents_of_the_seeker_and_the_actions_of_the_recommender() -> None:
    with_seeker_last = read_iard(THREE)[1]
    value = json.loads(THREE.read_text(encoding="utf-8"))[with_seeker_last.id]
    seekers = [one for one in value["dialogue_info"].values() if one["role"] == "seeker"]
    assert len(with_seeker_last.turns) == len(seekers)
    assert with_seeker_last.turns[-1].answer is None
    for turn, said in zip(with_seeker_last.turns, seekers):
        intents = set(said["top-level intent/action"])
        assert turn.act == "+".join(sorted(intents - {"OTH"} or intents))
    assert [one.score for one in read_iard(THREE)] == [1.0, 1.0, 0.0]


def test_the_finer_level_of_iard_uses_the_first_informative_intent() -> None:
    for one, value in zip(read_iard(THREE, level="sub"), json.loads(THREE.read_text(encoding="utf-8")).values()):
        seekers = [row["sub-intent/action"] for row in value["dialogue_info"].values() if row["role"] == "seeker"]
        expected = [next((intent for intent in intents if intent != "OTH"), "OTH") for intents in seekers]
        assert [turn.act for turn in one.turns] == expected


def test_the_stored_acts_of_iard_contain_what_its_readme_says() -> None:
    dialogues = iard()
    assert len(dialogues) == 336
    assert sum(one.score for one in dialogues) == 253  # accepted, as the authors count
    assert {one.id: one for one in dialogues}[read_iard(THREE)[0].id] == read_iard(THREE)[0]
    assert len({one.unit for one in dialogues}) == 156


def test_a_recommender_who_speaks_first_does_not_open_the_dialogue() -> None:
    first = json.loads(THREE.read_text(encoding="utf-8"))
    opened = [name for name, row in first.items() if next(iter(row["dialogue_info"].values()))["role"] == "recommender"]
    assert opened
    for one in read_iard(THREE):
        assert next(iter(decisions_of(one))).answer is None


@pytest.mark.parametrize(
    ("query", "before", "act"),
    [
        ("3D printer", None, "query"),
        ("malaria", "Malaria!", "repeat"),
        ("social impact of malaria", "malaria", "specify"),
        ("classical music", "classical music and health", "generalise"),
        ("gender and malaria", "history of malaria", "rephrase"),
        ("Chinese music", "jazz", "change"),
    ],
)
def test_a_query_is_named_by_the_words_it_shares_with_the_one_before(query: str, before: str | None, act: str) -> None:
    assert query_act(query, before) == act


def test_the_ends_of_sim4ia_sessions_are_censored_because_the_next_query_was_removed() -> None:
    sessions = read_queries(SIM4IA)
    assert (len(sessions), sum(one.length for one in sessions)) == (35, 203)
    assert not any(one.ended for one in sessions)


def test_written_acts_are_read_back(tmp_path: Path) -> None:
    dialogues = (
        Dialogue("1", (ActTurn("ask", "x"), ActTurn("b é", None)), True, "anna", "B1", "M002", 0.25),
        Dialogue("2", (ActTurn("ask"),), False),
    )
    write_act_lines(tmp_path / "acts.jsonl", dialogues, source="a test")
    first, second = read_act_lines(tmp_path / "acts.jsonl")
    assert first == dialogues[0]
    assert (second.turns, second.ended, math.isnan(second.score)) == (dialogues[1].turns, False, True)
    assert read_dialogues(tmp_path / "acts.jsonl").kept[0] == first
    with pytest.raises(FileExistsError):
        write_act_lines(tmp_path / "acts.jsonl", dialogues)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('{"turns": [["a", null]], "ended": true}', "the key 'id' is missing"),
        ('{"id": "a", "turns": [["a", null]], "ended": true, "ended": false}', "the key 'ended' appears twice"),
        ('{"id": 7, "turns": [["a", null]], "ended": true}', "'id' is not text"),
        ('{"id": "1", "turns": [], "ended": true}', "has no turns"),
        ('{"id": "1", "turns": [["a"]], "ended": true}', r"turn 1 is not \[act, answer\]"),
        ('{"id": "1", "turns": [["a", "o"]]}', "'ended' is neither true nor false"),
        ('{"id": "1", "turns": [["a", "o"]], "ended": true, "score": "high"}', "'score' is not a number"),
        ('{"id": "1", "turns": [["a", "o"]], "ended": true, "person": 3}', "'person' is not text"),
        ('{"id": "1", "turns": [["a", "o"]], "ended": true, "scor": 1}', "the key 'scor' is unknown"),
    ],
)
def test_a_line_that_is_not_a_dialogue_is_named(tmp_path: Path, line: str, fault: str) -> None:
    path = tmp_path / "acts.jsonl"
    path.write_text('{"format": "harvest-acts/1"}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=fault) as raised:
        read_act_lines(path)
    assert f"{path}:2" in str(raised.value)


def test_a_query_without_a_word_is_refused(tmp_path: Path) -> None:
    (tmp_path / "q.json").write_text(json.dumps({"s": ["tea", " ?!"]}))
    with pytest.raises(InputError, match="session s: query 2 contains no word"):
        read_dialogues(tmp_path / "q.json")


def test_a_repeated_dialogue_is_refused(tmp_path: Path) -> None:
    row = '{"id": "1", "turns": [["a", "o"]], "ended": true}\n'
    (tmp_path / "acts.jsonl").write_text('{"format": "harvest-acts/1"}\n' + row + row, encoding="utf-8")
    with pytest.raises(InputError, match=r"is repeated \(first in line 2\)"):
        read_act_lines(tmp_path / "acts.jsonl")


def test_an_unknown_kind_of_dialogue_is_refused_with_the_known_kinds(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"answer": 42}', encoding="utf-8")
    for path in (tmp_path / "other.json", tmp_path):
        with pytest.raises(InputError, match="harvest-acts/1"):
            read_dialogues(path)
    with pytest.raises(InputError, match="no such file"):
        read_dialogues(tmp_path / "gone.json")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"1": ["a"], "2": ["a", 3]}', "session 2: query 2 is not text"),
        ('{"1": ["a"], "2": []}', "session 2 has no query"),
        ('{"1": ["a"], "2": "a"}', "session 2 has no query"),
        ('{"1": {"dialogue_info": {"S1": {"role": "boss"}}}}', "dialogue 1, utterance S1 has no role"),
        ('{"1": {"dialogue_info": {"S1": {"role": "seeker"}}}}', "has no 'top-level intent/action'"),
    ],
)
def test_a_fault_in_a_data_set_is_named_with_its_dialogue_and_place(tmp_path: Path, text: str, fault: str) -> None:
    path = tmp_path / "data.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=fault) as raised:
        read_dialogues(path)
    assert str(path) in str(raised.value)


def test_an_act_is_that_of_a_simulated_user_or_else_the_protocols_state() -> None:
    told = conversation(Outcome("completed"), "xo")
    first, second = told.turns
    found = extract_dialogue(replace(told, turns=(replace(first, user="visitor", act="refine"), second)))
    assert found is not None
    assert [turn.act for turn in found.turns] == ["refine", "more"]


def test_each_kind_of_file_is_recognised_by_its_content() -> None:
    assert len(read_dialogues(THREE).kept) == 3
    assert len(read_dialogues(SIM4IA).kept) == 35
    assert len(read_dialogues(IARD).kept) == 336


def test_a_simulated_user_is_one_wherever_it_was_played_and_every_person_is_a_different_one() -> None:
    one = conversation(Outcome("completed"))
    other = replace(one, key=replace(one.key, system="B2 [older]"))
    played = extract_dialogues([one, other, replace(one, key=replace(one.key, trial=2))], seed=7).kept
    assert len({found.unit for found in played}) == 2
    for change in (replace(one, user="visitor"), replace(one, key=replace(one.key, topic="M003"))):
        (there,) = extract_dialogues([change], seed=7).kept
        assert there.unit != played[0].unit
    assert extract_dialogues([one], seed=8).kept[0].unit != played[0].unit, "another seed draws another user"
    assert len({found.unit for found in extract_dialogues([one, other]).kept}) == 2, "an import"
    chats = [replace(one, user="human"), replace(other, user="human")]
    assert len({found.unit for found in extract_dialogues(chats, seed=7).kept}) == 2, "a chat"


def test_a_file_of_acts_names_the_owner_of_a_simulated_dialogue(tmp_path: Path) -> None:
    kept = extract_dialogues([conversation(Outcome("completed"))], seed=7).kept
    write_act_lines(tmp_path / "acts.jsonl", kept)
    assert read_act_lines(tmp_path / "acts.jsonl") == kept


def _iard_file(path: Path, **changes: object) -> Path:
    said = {"role": "seeker", "worker_id": 1, "top-level intent/action": ["Ask"], "sub-intent/action": ["Ask"]}
    rows = {str(n): {"dialogue_info": {"S1": {**said, **changes}}} for n in range(5)}
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def test_a_seeker_whom_iard_does_not_name_is_unknown(tmp_path: Path) -> None:
    unnamed = read_iard(_iard_file(tmp_path / "unnamed.json", worker_id=None))
    assert len({one.unit for one in unnamed}) == 5
    assert {one.person for one in unnamed} == {""}
    assert {one.person for one in read_iard(_iard_file(tmp_path / "named.json", worker_id=17))} == {"17"}
    with pytest.raises(InputError, match="dialogue 0, utterance S1: 'worker_id' is neither a number nor text"):
        read_iard(_iard_file(tmp_path / "list.json", worker_id=[1]))


@pytest.mark.parametrize("name", ["start", "stop"])
def test_a_reserved_act_name_is_refused_with_file_dialogue_and_turn(tmp_path: Path, name: str) -> None:
    path = _iard_file(tmp_path / "iard.json", **{"top-level intent/action": [name]})
    with pytest.raises(InputError, match=rf"iard.json: dialogue 0, turn 1: the act is called '{name}'"):
        read_dialogues(path)
    assert {START, STOP} == {"start", "stop"}


def test_a_repeated_session_is_refused_at_its_second_place(tmp_path: Path) -> None:
    """JSON would keep the last and lose the first without a word."""
    path = tmp_path / "sessions.json"
    path.write_text('{"1": ["a b"],\n "1": ["c"]}', encoding="utf-8")
    for read in (read_queries, read_dialogues):
        with pytest.raises(InputError, match=r"sessions.json:2:2: the key '1' appears twice"):
            read(path)
    path.write_text(json.dumps({"1": {"dialogue_info": {}}})[:-1] + ', "1": {"dialogue_info": {}}}', encoding="utf-8")
    with pytest.raises(InputError, match="the key '1' appears twice"):
        read_iard(path)
