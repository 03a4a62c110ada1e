"""Files of other programs, each against a count by hand: dialogues, order, roles, steps, ends, acts and judgments."""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
import zipfile
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from protocols.answer import Source, ToolCall
from recordings.conversations.conversation import Conversation, SystemTurn
from recordings.formats.importers import IMPORTERS, Found, Request
from recordings.formats.recognition import recognise_format
from recordings.formats.shapes.audit_table import lines_of
from recordings.formats.shapes.library import SHAPES
from tests.support.checkout import DATA
from tests.support.shape_examples import (
    CONVOKIT,
    DIALOGUEKIT,
    EXAMPLES,
    IKAT_2023,
    INSPECT_LOG,
    INSPECT_SAMPLES,
    SDIALOG,
    TOPICS,
    archive,
    dumped,
    form_of,
)
from topics.errors import InputError


def written(tmp_path: Path, data: bytes, name: str = "file.json") -> Path:
    (tmp_path / name).write_bytes(data)
    return tmp_path / name


def imported(form: str, *files: Path, **more: object) -> Found:
    return IMPORTERS[form].read(Request(files, **more))  # type: ignore[arg-type]


def reply(conversation: Conversation, turn: int = 1) -> SystemTurn:
    found = conversation.turns[turn - 1].reply
    assert found is not None
    return found


def test_every_shape_has_an_example() -> None:
    assert {form_of(name) for name in EXAMPLES} == set(SHAPES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_file_is_recognised_and_read_as_counted_by_hand(tmp_path: Path, name: str) -> None:
    example = EXAMPLES[name]
    file = written(tmp_path, example.data)
    assert recognise_format([file]) == form_of(name)
    found = imported(form_of(name), file)
    assert found.left_out == ()
    told = [
        (
            *(one.key.system, one.key.topic, one.key.trial),
            [(turn.said, turn.reply.answer.text if turn.reply else None) for turn in one.turns],
            one.outcome.kind if one.outcome else "interrupted",
        )
        for one in found.conversations
    ]
    assert told == example.told
    if example.acts:
        assert [turn.act for one in found.conversations for turn in one.turns] == example.acts
    judged = [(one.criterion, one.value) for layer in found.layers for one in layer.judgments]
    assert sorted(judged, key=repr) == sorted(example.judged, key=repr)
    assert imported(form_of(name), file, recorded=found.conversations).conversations == found.conversations


def test_steps_between_question_and_answer_are_parts_of_the_answer(tmp_path: Path) -> None:
    for name, calls, thoughts, tokens in (
        ("inspect", (ToolCall("opening_hours", '{"day": "Mon"}'),), "Easy.", {"prompt": 12, "completion": 3}),
        ("atif", (ToolCall("hours", '{"day": 1}'),), "Look it up.", {"prompt": 14, "completion": 3}),
    ):
        first = reply(imported(name, written(tmp_path, EXAMPLES[name].data)).conversations[0])
        assert (first.answer.calls, first.answer.thoughts, dict(first.tokens)) == (calls, thoughts, tokens)
    refund = reply(imported("tau2", written(tmp_path, EXAMPLES["tau2"].data)).conversations[0], 2)
    assert refund.answer.calls == (ToolCall("refund", '{"order": 4}'),)
    (spans,) = imported("otlp", written(tmp_path, EXAMPLES["otlp"].data)).conversations
    assert reply(spans, 2).answer.calls == (ToolCall("hours", '{"day": 2}'),)
    assert [turn.reply.asked_at for turn in spans.turns if turn.reply] == [
        "1970-01-01T00:00:01.000000+00:00",
        "1970-01-01T00:00:02.000000+00:00",
    ]


def test_left_out_parts_are_counted(tmp_path: Path) -> None:
    for name, said in (
        ("inspect", "tool messages: 1"),
        ("tau2", "tool messages: 1"),
        ("atif", "results of tools: 1"),
        ("dialoguekit", "values of slots: 1"),
        ("sdialog", "events besides utterances: 1"),
        ("ikat", "responses of lower ranks: 1"),
        ("ikat", "turns without the user's words (give the topics, too): 2"),
    ):
        found = imported(name, written(tmp_path, EXAMPLES[name].data))
        assert any(said in warning for warning in found.warnings), (name, found.warnings)


def test_an_agent_may_be_only_an_id(tmp_path: Path) -> None:
    dialogue = {**DIALOGUEKIT[0], "agent": "A1", "user": "U1"}
    found = imported("dialoguekit", written(tmp_path, dumped([dialogue])))
    assert [one.key.system for one in found.conversations] == ["A1"]


def test_the_times_of_utterances_are_those_of_sending(tmp_path: Path) -> None:
    one, other = imported("convokit", written(tmp_path, EXAMPLES["convokit"].data)).conversations
    assert reply(one).asked_at == reply(other).asked_at == "2023-11-14T22:13:20.000000+00:00"


def test_a_speaker_may_be_named_as_the_user(tmp_path: Path) -> None:
    file = written(tmp_path, dumped(SDIALOG))
    named = imported("sdialog", file, user="Dr. Bo")
    assert [turn.said for one in named.conversations for turn in one.turns] == ["", "Since when?"]
    assumed = "the first speaker counts as the user, unless --user names another: 1 conversation"
    assert assumed in imported("sdialog", file).warnings
    assert assumed not in named.warnings
    with pytest.raises(InputError, match="no speaker is called 'Cy'"):
        imported("sdialog", file, user="Cy", strict=True)
    third = {**CONVOKIT[2], "speaker": "c"}
    crowd = written(tmp_path, b"\n".join(map(dumped, [*CONVOKIT[:2], third])))
    with pytest.raises(InputError, match=r"3 people speak: a, b, c\n  do: name the user with --user NAME"):
        imported("convokit", crowd)
    assert len(imported("convokit", crowd, user="a").conversations) == 2


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([CONVOKIT[1]], "an utterance answers 'u1', which is not in the file"),
        ([CONVOKIT[0], CONVOKIT[0]], "the utterance 'u1' is repeated"),
        ([{**CONVOKIT[0], "reply_to": "u2"}, CONVOKIT[1]], "answer each other in a cycle"),
    ],
)
def test_utterances_that_do_not_form_a_tree_are_refused(tmp_path: Path, rows: list[object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        imported("convokit", written(tmp_path, b"\n".join(map(dumped, rows))))


def test_the_columns_of_thousands_of_faults_are_not_searched(tmp_path: Path) -> None:
    lost = {**SDIALOG, "turns": [{"speaker": "Ann", "text": "Hi"}, {"speaker": "Bo"}]}
    found = imported("sdialog", written(tmp_path, dumped([*[lost] * 40, SDIALOG])))
    places = [fault.place for fault in found.left_out]
    assert (len(found.conversations), len(places)) == (1, 40)
    assert [place is not None and place.line for place in places] == [1] * 40
    assert {place is not None and place.column > 0 for place in places[:20]} == {True}
    assert {place is not None and place.column for place in places[22:]} == {0}


def test_a_run_of_ikat_takes_the_users_words_from_the_topics(tmp_path: Path) -> None:
    run, topics = written(tmp_path, dumped(IKAT_2023), "run.json"), written(tmp_path, dumped(TOPICS), "topics.json")
    assert recognise_format([run, topics]) == "ikat"
    (found,) = imported("ikat", run, topics).conversations
    assert [turn.said for turn in found.turns] == ["Which phone?", "Why?"]
    assert [turn.state for turn in found.turns] == ["9-1_1", "9-1_2"]
    assert reply(found).answer.sources == (Source("", "doc-1:0", text="A phone."),)


def test_the_sources_of_an_answer_in_the_rag_track_are_those_it_cites(tmp_path: Path) -> None:
    (found,) = imported("rag", written(tmp_path, EXAMPLES["rag"].data)).conversations
    assert [(one.href, one.title) for one in reply(found).answer.sources] == [
        ("https://example.org/a", "https://example.org/a"),
        ("", "doc-9"),
    ]


def test_the_passages_of_topics_of_2021_are_responses(tmp_path: Path) -> None:
    topics = [{"number": 106, "turn": [{"number": 1, "raw_utterance": "Why?", "passage": "Because."}]}]
    (found,) = imported("trec-topics", written(tmp_path, dumped(topics))).conversations
    assert reply(found).answer.text == "Because."


def test_topics_without_responses_are_not_conversations(tmp_path: Path) -> None:
    bare = [{"number": 31, "turn": [{"number": 1, "raw_utterance": "Why?"}]}]
    with pytest.raises(InputError, match="this topic has no responses"):
        imported("trec-topics", written(tmp_path, dumped(bare)))


def test_columns_of_other_names_are_named(tmp_path: Path) -> None:
    file = written(tmp_path, b"bot,slug,Frage,Antwort,land\nB1,T1,Wann?,Um neun.,DE\nB1,T1,Wann?,,AT\n")
    named = {"system": "bot", "topic": "slug", "prompt": "frage", "answer": "Antwort", "country": "land"}
    found = imported("table", file, columns=named)
    assert [(one.key.system, one.key.topic, reply(one).answer.text) for one in found.conversations] == [
        ("B1", "T1-DE", "Um neun."),
        ("B1", "T1-AT", ""),
    ]
    for columns, message in (
        ({}, "there is no column for the prompt"),
        ({"prompt": "Farge"}, "there is no column 'Farge'"),
    ):
        with pytest.raises(InputError, match=message) as fault:
            imported("table", file, columns=columns)
        assert str(fault.value).startswith(f"{file}:2")


def test_pairs_of_prompt_and_answer_in_json_are_rows_too(tmp_path: Path) -> None:
    rows = [
        {"question_id": 81, "Model": "m-7", "prompt": "When?", "completion": "At nine.", "score": None},
        {"question_id": 81, "Model": "m-7", "prompt": "When?", "completion": None},
        {"question_id": 82, "Model": "m-8", "prompt": "Why?", "completion": 7},
    ]
    for data in (dumped(rows), b"\n".join(map(dumped, rows))):
        file = written(tmp_path, data)
        assert recognise_format([file]) == "table"
        found = imported("table", file).conversations
        assert [(*_key(one), one.turns[0].said, reply(one).answer.text) for one in found] == [
            *(("m-7", "81", 1, "When?", "At nine."), ("m-7", "81", 2, "When?", "")),
            ("m-8", "82", 1, "Why?", "7"),
        ]


def _key(one: Conversation) -> tuple[str, str, int]:
    return one.key.system, one.key.topic, one.key.trial


def test_a_table_from_a_spreadsheet_in_utf_16_is_read(tmp_path: Path) -> None:
    file = written(tmp_path, "topic\tprompt\tanswer\nT1\tÖffnung?\tUm neun.\n".encode("utf-16"))
    assert recognise_format([file]) == "table"
    (found,) = imported("table", file).conversations
    assert (found.turns[0].said, reply(found).answer.text) == ("Öffnung?", "Um neun.")


def test_rows_of_chats_in_parquet_are_messages(tmp_path: Path) -> None:
    talk = [
        {"role": "user", "content": "When?", "timestamp": None},
        {"role": "assistant", "content": "At nine.", "timestamp": datetime(2023, 4, 9, tzinfo=UTC)},
    ]
    rows = [
        {"conversation_hash": f"c{i}", "model": "gpt-x", "conversation": talk, "turn": 1, "toxic": False}
        for i in range(3)
    ]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "train.parquet")
    file = tmp_path / "train.parquet"
    assert recognise_format([file]) == "messages"
    found = imported("messages", file)
    assert [_key(one) for one in found.conversations] == [("gpt-x", f"c{i}", 1) for i in range(3)]
    assert {reply(one).answer.text for one in found.conversations} == {"At nine."}
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(InputError, match="this Parquet file cannot be read"):
        imported("messages", file)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("prompt,answer,prompt\na,b,c\n", "the column 'prompt' occurs twice"),
        ("prompt,answer,Prompt\na,b,c\n", "the column 'prompt' occurs twice"),
        ("prompt,answer\na,b,c\n", "the row has 3 cells, but there are 2 columns"),
        ("prompt,answer,turn,topic\na,b,1,T\na,b,1,T\n", ":3: this row is turn 1 of its conversation, as is line 2"),
        ("prompt,answer,turn\na,b,first\n", ":2: the turn 'first' is not a whole number"),
        ('prompt,answer\n"a,b\n', "this is not CSV"),
    ],
)
def test_faults_of_a_table_are_named(tmp_path: Path, table: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        imported("table", written(tmp_path, table.encode()), topic="T", strict=True)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"a.txt": b"x"}, "this archive is not a log of Inspect"),
        ({"header.json": b"{}", "samples/1.json": dumped(INSPECT_SAMPLES[0])}, "this is not a log of Inspect"),
        ({"header.json": dumped(INSPECT_LOG), "samples/1.json": b"{"}, "file.eval/samples/1.json:1:2: not valid JSON"),
    ],
)
def test_faults_of_an_archive_are_named_with_the_member(
    tmp_path: Path, members: dict[str, bytes], message: str
) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        imported("inspect", written(tmp_path, archive(members), "file.eval"))


ZSTD_MEMBERS = {"header.json": dumped(INSPECT_LOG), "samples/a.json": dumped(INSPECT_SAMPLES[0])}


def zstd_archive() -> bytes:
    """A log as Inspect writes it today."""
    module = import_module("zipfile" if sys.version_info >= (3, 14) else "backports.zstd.zipfile")
    held = io.BytesIO()
    with module.ZipFile(held, "w", 93) as file:
        for name, data in ZSTD_MEMBERS.items():
            file.writestr(name, data)
    return held.getvalue()


def test_a_log_compressed_by_zstd_is_read(tmp_path: Path) -> None:
    (found,) = imported("inspect", written(tmp_path, zstd_archive(), "file.eval")).conversations
    assert reply(found).answer.text == "At nine."


def test_a_damaged_member_is_left_out_and_named(tmp_path: Path) -> None:
    data = archive({**ZSTD_MEMBERS, "samples/b.json": dumped(INSPECT_SAMPLES[1])}, zipfile.ZIP_STORED)
    found = imported("inspect", written(tmp_path, data.replace(b'"When?"', b'"Whin?"'), "file.eval"))
    assert [one.key.trial for one in found.conversations] == [1]
    (fault,) = found.left_out
    assert "samples/b.json: the member cannot be read: Bad CRC-32" in str(fault)


def test_observations_around_the_calls_of_models_are_counted(tmp_path: Path) -> None:
    asked = json.dumps([{"role": "user", "content": "[When?]"}])
    about = {"traceId": "t", "startTime": "2026-03-01T10:00:00Z"}
    observed = [
        {**about, "id": "a", "type": "SPAN", "input": {"question": "[When?]"}, "output": {"answer": "At nine."}},
        {**about, "id": "b", "type": "GENERATION", "input": asked, "output": "At nine.", "model": "m-9"},
        {**about, "id": "c", "type": "EVENT", "input": None, "output": None},
    ]
    found = imported("langfuse", written(tmp_path, dumped(observed)))
    (one,) = found.conversations
    assert (one.key.system, one.turns[0].said, reply(one).answer.text) == ("m-9", "[When?]", "At nine.")
    assert any("steps around the calls of models: 2" in warning for warning in found.warnings)
    spans = imported("langfuse", written(tmp_path, dumped(observed[:1]))).conversations[0]
    assert (spans.turns[0].said, reply(spans).answer.text) == ("[When?]", "At nine.")


def test_an_infinite_judgment_is_left_out(tmp_path: Path) -> None:
    data = EXAMPLES["tau2"].data.replace(b'"reward": 1.0', b'"reward": 1e999')
    found = imported("tau2", written(tmp_path, data))
    assert (len(found.conversations), found.layers) == (3, ())
    assert any("judgments that are no finite number: 1" in warning for warning in found.warnings)


def test_search_sessions_are_redirected_to_their_reader(tmp_path: Path) -> None:
    file = written(tmp_path, dumped({"1": ["films", "films 2024"]}))
    with pytest.raises(InputError, match=r"search sessions.*\n  do: .*harvest users fit"):
        recognise_format([file])


@pytest.mark.parametrize("judged", [[{"data": {"id": "a"}, "annotations": []}], {"instance_id_to_label_to_value": {}}])
def test_judgments_are_redirected_to_their_reader(tmp_path: Path, judged: object) -> None:
    with pytest.raises(InputError, match="harvest judge sheet RUN --import FILE"):
        recognise_format([written(tmp_path, dumped(judged))])


def test_files_of_different_formats_are_imported_separately(tmp_path: Path) -> None:
    files = [written(tmp_path, EXAMPLES[name].data, f"{name}.json") for name in ("tau2", "rag")]
    with pytest.raises(InputError, match=r"different formats \(tau2.json: tau2, rag.json: rag\)"):
        recognise_format(files)


@pytest.mark.parametrize(
    ("data", "form"),
    [
        (b"##### M002\n### U1\nHi\n", "gfrc"),
        (b'{"dialogue-id": "1", "turns": []}', "dbdc"),
        (b'[{"id": "1", "turns": [{"sender": "customer", "utterances": ["Hi"]}]}]', "dialeval"),
        (b'[{"number": 1, "turn": [{"number": "1", "participant": "User", "utterance": "Hi"}]}]', "cast2022"),
        (
            b'{"messages": [{"role": "user", "content": "Hi"}], "input": "a", "output": "b", "session_id": "s"}',
            "messages",
        ),
        (b'{"conversations": [{"from": "human", "value": "Hi"}]}', "messages"),
        (b'\xef\xbb\xbf{"mapping": {"a": {"parent": null}}}', "messages"),
        (b"{broken", ""),
        (b"", ""),
        (b"Dear Ann,\n", ""),
        (b'{"input": "a", "output": "b"}', ""),
    ],
)
def test_older_formats_are_recognised_too(tmp_path: Path, data: bytes, form: str) -> None:
    assert recognise_format([written(tmp_path, data)]) == form


@given(st.text(alphabet='a",\r\n\x85\u2028'))
def test_a_table_has_the_lines_that_the_module_csv_reports(text: str) -> None:
    assert list(lines_of(text)) == list(io.StringIO(text, newline=""))


DESK = DATA / "convokit_desk"


def said_in(found: Found) -> list[tuple[str, list[tuple[str, str | None]]]]:
    return [
        (one.key.topic, [(turn.said, turn.reply.answer.text if turn.reply else None) for turn in one.turns])
        for one in found.conversations
    ]


TOLD = [
    ("t1", [("When do you open?", "At nine."), ("On Sunday?", "We are closed.")]),
    ("s1", [("", "Hello!"), ("A refund, please.", "Which order?")]),
    ("s1", [("", "Hello!"), ("A refund, please.", "Of course.")]),
]


def test_a_corpus_says_in_files_of_its_own_who_is_the_user(tmp_path: Path) -> None:
    """As ConvoKit 5.0.0 writes it. The user does not speak first in every conversation."""
    found = imported("convokit", DESK / "utterances.jsonl", user="role=customer")
    assert said_in(found) == TOLD
    assert {one.key.system for one in found.conversations} == {"utterances"}
    assert reply(found.conversations[0]).asked_at == "2023-11-14T22:13:20.000000+00:00"
    with pytest.raises(InputError, match=r"nobody in this conversation has role=tutor\n  allowed: role=customer"):
        imported("convokit", DESK / "utterances.jsonl", user="role=tutor")
    corpus = Path(shutil.copytree(DESK, tmp_path / "desk"))
    speakers = json.loads((corpus / "speakers.json").read_text())
    speakers["desk-bot"]["meta"]["is_ai"] = True
    (corpus / "speakers.json").write_bytes(dumped(speakers))
    found = imported("convokit", corpus / "utterances.jsonl")
    assert said_in(found) == TOLD
    assert {one.key.system for one in found.conversations} == {"desk-bot"}
    assert not any("first speaker" in warning for warning in found.warnings)
    (corpus / "speakers.json").write_text("{")
    with pytest.raises(InputError, match=r"speakers\.json"):
        imported("convokit", corpus / "utterances.jsonl")


def test_a_corpus_in_the_older_layout_is_read_as_well(tmp_path: Path) -> None:
    """ConvoKit up to 2.3: a list of utterances, users, and metadata without `meta`."""
    names = {"speaker": "user", "conversation_id": "root"}
    lines = [json.loads(line) for line in (DESK / "utterances.jsonl").read_text().splitlines()]
    older = [{names.get(key, key): value for key, value in line.items()} for line in lines]
    (tmp_path / "utterances.json").write_bytes(dumped(older))
    users = {name: value["meta"] for name, value in json.loads((DESK / "speakers.json").read_text()).items()}
    (tmp_path / "users.json").write_bytes(dumped(users))
    assert recognise_format([tmp_path / "utterances.json"]) == "convokit"
    assert said_in(imported("convokit", tmp_path / "utterances.json", user="role=customer")) == TOLD
