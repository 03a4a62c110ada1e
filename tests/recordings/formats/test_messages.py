"""OpenAI-style messages: texts come back exactly, and what others write is taken as far as it can be told apart."""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given

from protocols.answer import Answer, Attachment, Offer, Source, ToolCall
from recordings.conversations.conversation import Conversation, SystemTurn, TrialKey, Turn
from recordings.files.errors import RunError
from recordings.formats.imports import import_header, record
from recordings.formats.messages import read_messages
from recordings.formats.messages_export import messages_line, write_messages
from recordings.formats.transcript import read_transcript
from tests.recordings.formats.test_transcript import TOPICS, conversations
from tests.support.checkout import DATA
from topics.errors import InputError
from topics.topic import Topic, TopicSet, TopicType


def read(path: Path, *rows: object, system: str = "B", topic: str = "M001") -> list[Conversation]:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return list(read_messages(path, system=system, topic=topic).conversations)


def message(role: str, content: object) -> dict[str, object]:
    return {"role": role, "content": content}


TALK = {"messages": [message("user", "Hi"), message("assistant", "Ho")] * 2}


def of(**metadata: object) -> str:
    """A line of two turns."""
    return json.dumps({**TALK, "metadata": metadata})


@given(conversations())
def test_written_messages_are_read_back_exactly(given: Conversation) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "x.jsonl"
        file.write_bytes(messages_line(given))
        file.read_text(encoding="utf-8")
        assert read_messages(file).conversations == (given,)


def test_the_parts_of_an_answer_are_read_back(tmp_path: Path) -> None:
    answer = replace(
        Answer.of("Alpha.", sources=(Source("https://example.org/a", "A", 0, 5, "card"), Source("", "b.pdf"))),
        thoughts="hm",
        calls=(ToolCall("search", "{}"),),
        offers=(Offer("More?"),),
        attachments=(Attachment("a.png", "image/png", 7),),
        refused=True,
    )
    turns = (Turn(1, "", "Films?", SystemTurn(answer)), Turn(2, "", "More?", SystemTurn(Answer.of("Beta."))))
    write_messages([Conversation(TrialKey("B", "M001", 1), "id", 1, turns, None)], tmp_path / "x.jsonl")
    (back,) = read_messages(tmp_path / "x.jsonl").conversations
    assert [turn.reply.answer for turn in back.turns if turn.reply] == [answer, Answer.of("Beta.")]


def test_the_measurements_of_a_reply_are_read_back(tmp_path: Path) -> None:
    reply = SystemTurn(
        Answer.of("Alpha."),
        asked_at="2026-03-01T10:00:00.000000+00:00",
        first_seconds=0.5,
        seconds=1.25,
        finish="length",
        tokens={"prompt": 3, "completion": 2},
        pieces=((0.5, 3), (1.25, 6)),
        ended=True,
        sends=2,
        sent_as="Films ?",
        model="m-1",
        notes=("it was slow",),
        greeting="Welcome!",
    )
    given = Conversation(TrialKey("B", "M001", 1), "id", 1, (Turn(1, "", "Films?", reply),), None)
    write_messages([given], tmp_path / "x.jsonl")
    (back,) = read_messages(tmp_path / "x.jsonl").conversations
    assert back.turns[0].reply == reply


def test_a_run_of_a_version_without_parts_has_the_same_conversations(tmp_path: Path) -> None:
    thinking = {"type": "thinking", "thinking": "Hm."}
    row = {"messages": [message("user", "Hi"), message("assistant", [thinking, "Ho"])], "id": "a"}
    (now,) = read(tmp_path / "x.jsonl", row)
    reply = now.turns[0].reply
    assert reply is not None
    assert reply.answer.thoughts == "Hm."
    before = replace(now, turns=(replace(now.turns[0], reply=SystemTurn(Answer.of("Ho"))),))
    header = import_header([before], TopicSet("imported", (Topic("M001", TopicType("unknown"), "Hi"),), {}))
    assert record(tmp_path / "run", [before], header).written == 1
    again = record(tmp_path / "run", [now], header)
    assert (again.written, again.known) == (0, 1)
    other = replace(now, turns=(replace(now.turns[0], reply=SystemTurn(Answer.of("No"))),))
    with pytest.raises(RunError, match="a different conversation is already recorded"):
        record(tmp_path / "run", [other], header)


def test_a_conversation_without_a_topic_gets_one_from_its_id(tmp_path: Path) -> None:
    rows = [{**TALK, "conversation_id": name} for name in ("a-1", 'b "2"')]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = read_messages(tmp_path / "x.jsonl")
    first, second = (one.key.topic for one in found.conversations)
    assert first == "a-1"
    assert re.fullmatch("b-2-[0-9a-f]{8}", second)
    assert any(warning.startswith("2 conversations without a topic") for warning in found.warnings)
    assert not any("without a topic" in warning for warning in read_messages(tmp_path / "x.jsonl", topic="T").warnings)


@pytest.mark.parametrize("parts", [[1], [{}, {}], [{"sources": [{"title": "A"}]}], [{"thoughts": 7}]])
def test_impossible_parts_are_refused(parts: list[object], tmp_path: Path) -> None:
    row = {"messages": [message("user", "a"), message("assistant", "b")], "metadata": {"parts": parts}}
    with pytest.raises(InputError) as fault:
        read(tmp_path / "x.jsonl", row)
    assert "x.jsonl:1" in str(fault.value)


def test_figure_5_survives_the_message_format(tmp_path: Path) -> None:
    read = read_transcript(DATA / "gfrc_m002_B1.txt", system="B", topics=TOPICS)
    write_messages(read.conversations, tmp_path / "x.jsonl")
    assert read_messages(tmp_path / "x.jsonl", topics=TOPICS).conversations == read.conversations
    row = json.loads((tmp_path / "x.jsonl").read_text())
    assert [one["role"] for one in row["messages"]] == ["user", "assistant", "user", "assistant"]
    assert row["metadata"]["labels"] == ["o", "o"]


def test_a_line_without_metadata_uses_the_callers_values(tmp_path: Path) -> None:
    row = {"messages": [message("user", "Hello"), message("assistant", "Hi")]}
    found = read(tmp_path / "x.jsonl", row, row)
    assert [one.key for one in found] == [TrialKey("B", "M001", 1), TrialKey("B", "M001", 2)]
    assert found[0].valid
    assert found[0].turns[0].label is None
    assert found[0].trial_id != found[1].trial_id


def test_contents_in_parts_system_prompts_and_refusals(tmp_path: Path) -> None:
    rows = [
        message("system", "Be short."),
        message("developer", [{"type": "text", "text": "And kind."}]),
        message("user", [{"type": "text", "text": "Hello "}, {"type": "input_text", "text": "there"}]),
        {"role": "assistant", "content": None, "refusal": "I cannot."},
        message("user", "Please"),
        message("user", "and thank you"),
        message("assistant", "One"),
        message("assistant", ["Two", "three"]),
    ]
    (tmp_path / "x.jsonl").write_text(json.dumps({"messages": rows}))
    found = read_messages(tmp_path / "x.jsonl", system="B", topic="M001")
    (conversation,) = found.conversations
    said = [(turn.said, turn.reply.answer.text if turn.reply else None) for turn in conversation.turns]
    assert said == [("Hello there", "I cannot."), ("Please\nand thank you", "One\nTwo\nthree")]
    assert found.prompts == {TrialKey("B", "M001", 1): ("Be short.", "And kind.")}


def test_a_greeting_is_a_turn_without_user_words(tmp_path: Path) -> None:
    rows = [message("assistant", "Welcome!"), message("user", "Hello"), message("assistant", "Hi")]
    (conversation,) = read(tmp_path / "x.jsonl", {"messages": rows})
    assert [turn.said for turn in conversation.turns] == ["", "Hello"]


def test_a_question_without_an_answer_is_invalid(tmp_path: Path) -> None:
    (conversation,) = read(tmp_path / "x.jsonl", {"messages": [message("user", "Hello")]})
    assert conversation.outcome is not None
    assert (conversation.outcome.kind, conversation.outcome.reason) == ("invalid", "no-reply")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{", "not valid JSON"),
        ("[]", "has no 'messages'"),
        ('{"messages": {}}', "has no 'messages'"),
        ('{"messages": [], "metadata": 3}', "'metadata' is not an object"),
        ('{"messages": [{"role": "narrator", "content": "x"}]}', "message 1 has the unknown role 'narrator'"),
        ('{"messages": ["x"]}', "message 1 is not an object"),
        ('{"messages": [{"content": "x"}]}', "message 1 has the unknown role None"),
        ('{"messages": [{"role": "user"}]}', "message 1 has no content"),
        ('{"messages": [{"role": "user", "content": [{"image_url": "x"}]}]}', "has a part without a type"),
        ('{"messages": [], "metadata": {"trial": -1}}', "metadata.trial is not a number from 1"),
        (f'{{"messages": [], "metadata": {{"trial": {10**30}}}}}', "is not a number from 1 to 999999999"),
        ('{"messages": [], "metadata": {"attempt": 1000000000}}', "is not a number from 1 to 999999999"),
        ('{"messages": [], "metadata": {"labels": "ox"}}', "metadata.labels is not a list of strings"),
        (
            '{"messages": [], "metadata": {"labels": ["useful"]}}',
            "metadata.labels contains 'useful', which is not a label",
        ),
        ('{"messages": [], "metadata": {"system": 7.5}}', "metadata.system is not text"),
        (of(system="a@b"), "'a@b' cannot be the name of a system: it has an @"),
        (of(system="a\ud800"), "cannot be the name of a system: it contains half a character"),
        (of(system="../x"), "'../x' cannot be the name of a system: it is a path"),
        (of(outcome="Breakdown"), "'Breakdown' is not an outcome: did you mean 'breakdown'?"),
        (of(outcome="great"), "'great' is not an outcome"),
        (of(started_at="yesterday"), "'yesterday' is not a time"),
        (of(lables=["o", "x"]), "unknown key 'lables' in metadata: did you mean 'labels'?"),
        (json.dumps({**TALK, "Metadata": {"trial": 2}}), "unknown key 'Metadata': did you mean 'metadata'?"),
        (of(labels=["o"]), "metadata.labels has 1 value for 2 answers"),
        (of(labels=["o", "x", "x"]), "metadata.labels has 3 values for 2 answers"),
        (of(labels=["o", "x", None]), "metadata.labels has 3 values for 2 answers"),
        (of(acts=["a", "b", "c"]), "metadata.acts has 3 values for 2 turns"),
        (of(states=["a"]), "metadata.states has 1 value for 2 turns"),
        (of(links=[None]), "metadata.links has 1 value for 2 answers"),
        (of(links=[3, None]), "metadata.links contains something that is not a list of links"),
        (of(outcome="breakdown", missing=999999), "metadata.missing is not a number from 0 to 10000"),
        (of(most_turns=10**9 - 1), "metadata.most_turns is not a number from 0 to 10000"),
        (of(missing=2), "metadata.missing is given without an outcome"),
    ],
)
def test_faults_are_named_with_the_line(tmp_path: Path, row: str, message: str) -> None:
    good = '{"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]}'
    (tmp_path / "x.jsonl").write_text(f"{good}\n\n{row}\n{good}\n")
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        read_messages(tmp_path / "x.jsonl", system="B", topic="M001")
    assert str(caught.value).startswith(f"{tmp_path / 'x.jsonl'}:3")


def test_labels_may_cover_turns_without_answers_and_turns_that_never_came(tmp_path: Path) -> None:
    unanswered = {"messages": [*TALK["messages"], message("user", "?")]}
    for row, labels, found in (
        (TALK, ["o", None], ["o", None]),
        (TALK, ["o", "x", "-", "-"], ["o", "x"]),
        (unanswered, ["o", "x"], ["o", "x", None]),
        (unanswered, ["o", "x", "-"], ["o", "x", None]),
    ):
        (one,) = read(tmp_path / "x.jsonl", {**row, "metadata": {"labels": labels}})
        assert [turn.label for turn in one.turns] == found
    with pytest.raises(InputError, match="3 values for 2 answers"):
        read(tmp_path / "x.jsonl", {**unanswered, "metadata": {"labels": ["o", "x", "x"]}})


def test_foreign_keys_may_remain_and_are_named(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(
        json.dumps({**TALK, "tools": [], "metadata": {"session_id": "7", "status": "ok", "model": "m"}}) + "\n"
    )
    found = read_messages(tmp_path / "x.jsonl", system="B", topic="M001")
    (said,) = found.warnings
    assert said.endswith("are not recorded: metadata.session_id, metadata.status, metadata.model, tools")
    for told in ({}, {"id": "c7", "created_at": "2026-01-01", "metadata": {"trial": 3}}):  # a number is enough
        (tmp_path / "x.jsonl").write_text(json.dumps({**TALK, **told}) + "\n")
        assert read_messages(tmp_path / "x.jsonl", system="B", topic="M001").warnings == ()


def test_an_empty_text_of_the_assistant_is_an_answer(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(json.dumps({"messages": [message("user", "a"), message("assistant", "")]}) + "\n")
    (one,) = read_messages(tmp_path / "x.jsonl", system="B", topic="M001").conversations
    assert one.outcome is not None
    assert (one.outcome.kind, one.turns[0].reply and one.turns[0].reply.answer.text) == ("completed", "")


@pytest.mark.parametrize("topic", ["a b", "films/2024", "-x", "x" * 61, "th²", "the\u0301", "Tоpic", "a\n"])
def test_a_topic_unfit_for_a_run_is_refused_with_its_line(tmp_path: Path, topic: str) -> None:
    file = tmp_path / "m.jsonl"
    rows = [
        {"messages": [{"role": "user", "content": "Hi"}], "metadata": {"system": "S", "topic": name}}
        for name in ("M1", topic)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InputError, match="cannot be the id of a topic") as caught:
        read_messages(file)
    assert caught.value.place is not None
    assert caught.value.place.line == 2
    assert "letters, digits" in str(caught.value.allowed)


def test_missing_information_is_requested(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"messages": []}')
    assert read_messages(tmp_path / "x.jsonl", topic="M001").conversations[0].key.system == "x"
    with pytest.raises(InputError, match="no topic is given"):
        read_messages(tmp_path / "x.jsonl", system="B")
    with pytest.raises(InputError, match="topic 'M999' is not in the topic set"):
        read_messages(tmp_path / "x.jsonl", system="B", topic="M999", topics=TOPICS)


def test_another_conversation_under_the_same_trial_is_refused(tmp_path: Path) -> None:
    rows = [{"messages": [message("user", text)], "metadata": {"trial": 2}} for text in ("Hi", "Ho")]
    with pytest.raises(InputError, match=r"x\.jsonl:2: B, M001, trial 2 is repeated \(first in line 1\)"):
        read(tmp_path / "x.jsonl", *rows)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(b"\xef\xbb\xbf\n\n")
    with pytest.raises(InputError, match="this file contains no conversation"):
        read_messages(tmp_path / "x.jsonl", system="B", topic="M001")


def test_bytes_that_are_not_text_are_named(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(b'\n{"messages": "\xff"}\n')
    with pytest.raises(InputError, match=r"x\.jsonl:2:15: the byte 0xff is not UTF-8"):
        read_messages(tmp_path / "x.jsonl", system="B", topic="M001")


def test_an_export_marks_unlabelled_answers_as_unlabelled() -> None:
    turns = (
        Turn(1, "", "a", SystemTurn(Answer.of("b"))),
        Turn(2, "", "c", SystemTurn(Answer.of("d"))),
        Turn(3, "", "e"),
    )
    row = json.loads(messages_line(Conversation(TrialKey("B", "M001", 1), "id", 1, turns, None)))
    assert row["metadata"]["labels"] == [None, None]


NOW = datetime(2026, 2, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("metadata", "told"),
    [
        ({"labels": ["o", "-"]}, "labels are - (no such turn) for answers that exist"),
        ({"labels": ["-", "o"]}, "labels are - (no such turn) for answers that exist"),
        ({"started_at": "2026-01-02", "ended_at": "2026-01-01"}, "the end is before the beginning"),
        ({"started_at": "2026-01-01T12:00:00+02:00", "ended_at": "2026-01-01T10:30:00Z"}, ""),
        ({"started_at": "2999-01-01T00:00:00Z"}, "a time is in the future"),
        ({"started_at": "2026-01-31", "ended_at": "2026-03-01"}, "a time is in the future"),
        ({"started_at": "2026-02-01T10:00:00Z", "ended_at": "2026-02-01T11:00:00Z"}, ""),
        ({"place": 3}, "the place is above 1, but the session has no name"),
        ({"place": 3, "session": "s"}, ""),
        ({"attempt": 3}, "the attempt is above 1, but the trial has no number"),
        ({"attempt": 3, "trial": 1}, ""),
        ({"detail": 5}, "metadata.detail (without an outcome)"),
        ({"reason": "stop", "detail": None}, "metadata.reason (without an outcome)"),
        ({"outcome": "completed", "reason": "stop", "detail": "d"}, ""),
        ({"labels": ["o", "-"], "outcome": "completed"}, ""),
    ],
)
def test_oddities_are_counted_named_and_kept(tmp_path: Path, metadata: dict[str, object], told: str) -> None:
    (tmp_path / "x.jsonl").write_text(f"{of()}\n" + f"{of(**metadata)}\n" * 2)
    found = read_messages(tmp_path / "x.jsonl", system="B", topic="M001", strict=False, clock=lambda: NOW)
    assert not found.left_out
    said = [one for one in found.warnings if "once each" not in one]
    assert [told in one for one in said] == [True] * bool(told)
    if told and "without an outcome" not in told:
        assert "x.jsonl:2" in said[0]


def test_completed_without_an_answer_is_reported(tmp_path: Path) -> None:
    rows = [{"messages": messages, "metadata": {"outcome": "completed"}} for messages in ([message("user", "a")], [])]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (said,) = read_messages(tmp_path / "x.jsonl", system="B", topic="M001").warnings
    assert "the outcome is completed, but there is no answer: 2 conversations" in said
