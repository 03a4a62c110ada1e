"""What is written for other programs comes back as it was, and is what the format's own readers ask for."""

from __future__ import annotations

import csv
import json
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.answer import Answer, Attachment, Offer, Source, ToolCall
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, Turn
from recordings.formats.exporters import EXPORTERS, Export
from recordings.formats.importers import IMPORTERS, Found, Request
from recordings.formats.imports import record
from recordings.formats.recognition import recognise_format
from recordings.judged.judgments import Judgment, Layer, Target, write_layer
from recordings.log.header import make_header
from tests.recordings.formats.test_transcript import conversations, times, words
from tests.support.checkout import DATA
from tests.support.scoring_examples import conversation
from tests.support.shape_examples import IKAT_2025, dumped
from topics.errors import InputError

HEADER = make_header(audit={"name": "t"}, protocol=None, topics=None, systems={"B1": {}})
ALIKE = ("messages", "table", "dialoguekit", "atif", "otlp")


def exported(
    form: str, folder: Path, *given: Conversation, name: str = "out", team: str = ""
) -> tuple[Path, list[str]]:
    out = folder / name
    return out, list(EXPORTERS[form].write(Export(folder, HEADER, given, {}, team), out) or ())


def imported(form: str, file: Path) -> Found:
    if file.is_dir():
        file /= "utterances.jsonl"
    return IMPORTERS[form].read(Request((file,), strict=True))


seconds = st.none() | st.floats(0.000001, 10_000)
sources = st.builds(Source, words, words, st.integers(-1, 9), st.integers(-1, 9), st.just("beside"), words)
calls = st.builds(ToolCall, words, words | st.sampled_from(["{}", '{"day": 1}', '{"a": NaN}', "[1]", "1e999"]))


@st.composite
def whole_replies(draw: st.DrawFn, given: SystemTurn) -> SystemTurn:
    """A reply with the same text and links, and everything that may come with them."""
    answer = replace(
        given.answer,
        sources=tuple(draw(st.lists(sources, max_size=2))),
        thoughts=draw(words),
        calls=tuple(draw(st.lists(calls, max_size=2))),
        offers=tuple(draw(st.lists(st.builds(Offer, words, words), max_size=1))),
        attachments=tuple(draw(st.lists(st.builds(Attachment, words, words), max_size=1))),
        refused=draw(st.booleans()),
        refusal=draw(words),
    )
    tokens = draw(st.dictionaries(st.sampled_from(["prompt", "completion", "reasoning"]), st.integers(0, 10**6)))
    return SystemTurn(
        answer,
        asked_at=draw(times),
        first_seconds=draw(seconds),
        seconds=draw(seconds),
        finish=draw(words),
        tokens=tokens,
        ended=draw(st.booleans()),
        sends=draw(st.integers(1, 3)),
        sent_as=draw(words),
        model=draw(words),
        notes=tuple(draw(st.lists(words, max_size=1))),
    )


@st.composite
def whole_conversations(draw: st.DrawFn) -> Conversation:
    one = draw(conversations())
    if draw(st.booleans()):
        return one
    presses = st.none() | st.builds(Offer, words, words)
    turns = [
        replace(
            turn,
            pressed=draw(presses),
            reply=turn.reply and draw(whole_replies(turn.reply)) if draw(st.booleans()) else turn.reply,
        )
        for turn in one.turns
    ]
    return replace(one, turns=tuple(turns))


several = st.lists(whole_conversations(), min_size=1, max_size=2, unique_by=lambda one: (one.key, one.attempt)).map(
    lambda found: [replace(one, trial_id=f"{one.trial_id}{at}") for at, one in enumerate(found)]
)


@pytest.mark.parametrize("form", ["messages", "dialoguekit", "atif", "otlp"])
@given(given=several)
def test_a_conversation_is_read_back_exactly(form: str, given: Sequence[Conversation]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file, _ = exported(form, Path(folder), *given)
        assert recognise_format([file]) == form
        assert imported(form, file).conversations == tuple(given)


@settings(max_examples=10)  # each writes five files to the disk
@given(given=several)
def test_a_corpus_of_convokit_is_read_back_exactly_but_for_conversations_without_words(
    given: Sequence[Conversation],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        out, _ = exported("convokit", Path(folder), *given)
        assert imported("convokit", out).conversations == tuple(one for one in given if one.turns)


def clean(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "\ufffd")


def in_a_table(one: Conversation) -> Conversation:
    """The conversation without what the page says a table leaves out."""
    turns = []
    for turn in one.turns:
        reply = turn.reply
        if reply is not None:
            answer = replace(reply.answer, text=clean(reply.answer.text))
            reply = replace(reply, answer=answer, model=clean(reply.model), finish=clean(reply.finish))
        route = turn.route and replace(turn.route, state=clean(turn.route.state), target=clean(turn.route.target))
        told: dict[str, Any] = {"user": "", "worded": "", "choice": None, "session": ""}
        words = {"state": clean(turn.state), "said": clean(turn.said), "act": clean(turn.act)}
        turns.append(replace(turn, reply=reply, route=route, **(told | words)))
    outcome = one.outcome
    if outcome is not None:
        outcome = replace(outcome, reason=clean(outcome.reason), detail=clean(outcome.detail), choice=None)
    names: dict[str, Any] = {
        name: clean(getattr(one, name)) for name in ("trial_id", "session", "user", "worker", "member")
    }
    key = replace(one.key, system=clean(one.key.system))
    return replace(one, key=key, turns=tuple(turns), outcome=outcome, **names)


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
@given(given=several)
def test_a_table_has_everything_except_draws_of_users(name: str, given: Sequence[Conversation]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file, _ = exported("table", Path(folder), *given, name=name)
        assert recognise_format([file]) == "table"
        assert imported("table", file).conversations == tuple(map(in_a_table, given))


OPENED = "2026-03-01T10:00:00.000000+00:00"


def desk() -> Conversation:
    """Two turns, the first with a source, a thought and a call, the second without an answer because of a timeout."""
    one = conversation(
        ("When do you open?", "At nine."), labels="o", topic="hours", outcome=Outcome("invalid", "timeout")
    )
    answer = replace(
        Answer.of("At nine.", sources=(Source("https://a.example/hours", "Hours"),)),
        thoughts="Look it up.",
        calls=(ToolCall("hours", '{"day": 1}'), ToolCall("log", "NaN")),
    )
    tokens = {"prompt": 9, "completion": 3}
    reply = SystemTurn(answer, OPENED, 0.25, 1.5, "stop", tokens, model="m-1")
    first = replace(one.turns[0], reply=reply, act="ask+greet")
    return replace(one, turns=(first, Turn(2, "ask", "Sunday?")), ended_at="2026-03-01T10:01:00.000000+00:00")


def test_calls_are_a_message_before_the_answer_as_in_logs_of_agents(tmp_path: Path) -> None:
    file, _ = exported("messages", tmp_path, desk())
    line = json.loads(file.read_text())
    call = {"id": "call_1_1", "type": "function", "function": {"name": "hours", "arguments": '{"day": 1}'}}
    assert [one["role"] for one in line["messages"]] == ["user", "assistant", "assistant", "user"]
    assert line["messages"][1]["content"] is None
    assert line["messages"][1]["tool_calls"][0] == call
    assert line["messages"][2] == {"role": "assistant", "content": "At nine."}


def test_steps_of_a_trajectory_are_numbered_without_gaps_and_arguments_are_objects(tmp_path: Path) -> None:
    file, _ = exported("atif", tmp_path, desk())
    trajectory = json.loads(file.read_text())
    assert [one["step_id"] for one in trajectory["steps"]] == [1, 2, 3, 4]
    assert [one["source"] for one in trajectory["steps"]] == ["user", "agent", "agent", "user"]
    assert trajectory["agent"] == {"name": "B1", "version": "unknown", "model_name": "m-1"}
    before, given = trajectory["steps"][1:3]
    assert before["reasoning_content"] == "Look it up."
    assert [one["arguments"] for one in before["tool_calls"]] == [{"day": 1}, {"arguments": "NaN"}]
    assert given["message"] == "At nine."
    assert given["metrics"] == {"prompt_tokens": 9, "completion_tokens": 3}


def test_acts_of_both_sides_and_satisfaction_are_in_a_dialogue_and_are_read_back(tmp_path: Path) -> None:
    one = desk()
    about = Target(one.trial_id, 1, 1).about()
    judgments = (
        Judgment(about, "act", "Answer+Offer"),
        Judgment(about, "satisfaction", 4),
        Judgment(about, "Fluency", 1),
    )
    record(tmp_path / "run", [one], HEADER)
    write_layer(tmp_path / "run", Layer("human", "annotator", judgments=judgments))
    out = tmp_path / "dialogues.json"
    EXPORTERS["dialoguekit"].write(Export(tmp_path / "run", HEADER, (one,), {}), out)
    (dialogue,) = json.loads(out.read_text())
    intents = [[act["intent"] for act in said["dialogue_acts"]] for said in dialogue["conversation"]]
    assert intents == [["ask", "greet"], ["Answer", "Offer"], []]
    assert dialogue["conversation"][1]["satisfaction"] == 4
    (layer,) = imported("dialoguekit", out).layers
    assert {(one.criterion, one.value) for one in layer.judgments} == {("act", "Answer+Offer"), ("satisfaction", 4)}


def test_spans_have_times_parents_and_errors(tmp_path: Path) -> None:
    file, _ = exported("otlp", tmp_path, desk())
    (resource,) = json.loads(file.read_text())["resourceSpans"]
    first, second, root = resource["scopeSpans"][0]["spans"]
    assert {one["traceId"] for one in (first, second, root)} == {root["traceId"]}
    assert first["parentSpanId"] == second["parentSpanId"] == root["spanId"]
    assert "parentSpanId" not in root
    assert (len(root["traceId"]), len(root["spanId"])) == (32, 16)
    start = 1_772_359_200_000_000_000  # 2026-03-01T10:00:00Z
    assert (first["startTimeUnixNano"], first["endTimeUnixNano"]) == (str(start), str(start + 1_500_000_000))
    assert (second["startTimeUnixNano"], second["endTimeUnixNano"]) == (str(start + 1_500_000_000),) * 2
    assert (root["startTimeUnixNano"], root["endTimeUnixNano"]) == (str(start), str(start + 60_000_000_000))
    assert "status" not in first
    assert second["status"] == root["status"] == {"code": 2, "message": "timeout"}
    told = {one["key"]: one["value"] for one in first["attributes"]}
    assert told["gen_ai.operation.name"] == {"stringValue": "invoke_agent"}
    assert told["gen_ai.response.finish_reasons"] == {"arrayValue": {"values": [{"stringValue": "stop"}]}}
    assert told["gen_ai.usage.input_tokens"] == {"intValue": "9"}
    assert told["gen_ai.response.time_to_first_chunk"] == {"doubleValue": 0.25}
    assert told["harvest.label"] == {"stringValue": "o"}
    (said,) = json.loads(told["gen_ai.output.messages"]["stringValue"])
    assert [part["type"] for part in said["parts"]] == ["reasoning", "tool_call", "tool_call", "text"]


def refused_by_ikat(row: dict[str, Any]) -> list[str]:
    """What the track's validator of 2025 refuses of a line, written from its description."""
    found = [f"no {key}" for key in ("team_id", "run_id", "run_type") if key not in row["metadata"]]
    if row["metadata"]["run_type"] not in ("manual", "automatic", "generation-only"):
        found.append("run_type")
    if not isinstance(row["references"], dict):
        found.append("references")
    for one in row["responses"]:
        if not isinstance(one["text"], str) or "ptkb_provenance" not in one or not isinstance(one["citations"], dict):
            found.append("response")
        found += [f"not in the references: {name}" for name in one["citations"] if name not in row["references"]]
    return found


def test_a_run_of_ikat_passes_the_checks_of_the_track(tmp_path: Path) -> None:
    run = tmp_path / "run.jsonl"
    run.write_bytes(b"".join(dumped(row) + b"\n" for row in IKAT_2025))
    given = IMPORTERS["ikat"].read(Request((run,), strict=True)).conversations
    again = replace(given[0], key=replace(given[0].key, trial=2))
    out, notes = exported("ikat", tmp_path, *given, again, team="us")
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [refused_by_ikat(row) for row in rows] == [[]] * 4
    names = [(row["metadata"]["team_id"], row["metadata"]["run_id"], row["turn_id"]) for row in rows]
    assert names == [("us", run, turn) for run in ("r25", "r25-2") for turn in ("1-1_1", "1-1_2")]
    assert rows[0]["references"] == rows[0]["responses"][0]["citations"] == {"doc-3:1": 1.0}
    assert notes == ["1 reference that no passage of ClueWeb22 has as its name (such as 'doc-3:1')"]
    back = imported("ikat", out).conversations
    assert [turn.reply for turn in back[0].turns] == [turn.reply for turn in given[0].turns]


def test_turns_that_the_track_would_drop_are_reported(tmp_path: Path) -> None:
    passages = tuple(Source("", f"clueweb22-en0000-00-{number:05}:0") for number in range(1001))
    one = conversation(("Why?", "word " * 250), ("And?", "\u2003word" * 251), topic="9-1")
    cited = replace(one.turns[0], reply=SystemTurn(Answer.of("word " * 250, sources=passages)))
    _, notes = exported("ikat", tmp_path, replace(one, turns=(cited, one.turns[1])), one, team="us")
    assert notes == [
        "2 answers of more than 250 words (9-1_2 of B1 has 251): the track drops whole responses from the end until a "
        "turn has no more",
        "1 turn with more than 1000 references (9-1_1 of B1 has 1001): the track drops the others",
        "2 turns more than once in a run, which the track does not allow: 9-1_1 of B1",
    ]


def test_utterances_of_the_user_simulation_track_come_back_with_sources_and_ends(tmp_path: Path) -> None:
    one = replace(desk(), outcome=Outcome("user-stopped", "left"))
    file, _ = exported("usersim", tmp_path, one)
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(row["participant_name"], row["text"], row["is_final"]) for row in rows] == [
        ("user", "When do you open?", False),
        ("agent", "At nine.", False),
        ("user", "Sunday?", True),
    ]
    assert rows[1]["sources"] == [{"id": "https://a.example/hours", "title": "Hours", "url": "https://a.example/hours"}]
    (back,) = imported("usersim", file).conversations
    assert [turn.said for turn in back.turns] == ["When do you open?", "Sunday?"]
    assert back.turns[0].reply is not None
    assert back.turns[0].reply.answer.sources == (Source("https://a.example/hours", "Hours"),)
    assert back.outcome == one.outcome


def test_other_programs_read_a_table_with_its_types(tmp_path: Path) -> None:
    polars: Any = import_module("polars")
    file, notes = exported("table", tmp_path, desk(), replace(desk(), attempt=2, turns=()), name="out.parquet")
    assert notes == ["conversations without a turn, which have no row: 1"]
    frame = polars.read_parquet(file)
    assert frame["turn"].to_list() == [1, 2]
    assert frame["answered"].to_list() == [True, False]
    assert frame["answer"].to_list() == ["At nine.", None]
    assert frame["seconds"].to_list() == [1.5, None]
    assert frame["prompt_tokens"].to_list() == [9, None]
    assert [str(kind) for kind in frame[["trial", "seconds", "prompt"]].dtypes] == ["Int64", "Float64", "String"]
    rows, _ = exported("table", tmp_path, desk(), name="out.csv")
    assert polars.read_csv(rows).columns == frame.columns


def test_parquet_without_pyarrow_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"pip install 'conversation-harvest\[parquet\]', or use CSV"):
        exported("table", tmp_path, desk(), name="out.parquet")


def test_a_workbook_is_refused_rather_than_written_as_csv(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"not as a workbook\n.*ends in \.csv"):
        exported("table", tmp_path, desk(), name="answers.XLSX")
    assert not (tmp_path / "answers.XLSX").exists()


def test_columns_with_the_same_names_in_other_tables_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("system,topic,prompt,answer,place,parts,seconds\nB1,T1,Hi,Ho,Berlin,two,3 s\n")
    (found,) = imported("table", tmp_path / "t.csv").conversations
    assert (found.place, found.turns[0].reply) == (1, SystemTurn(Answer("Ho")))


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("links", "'{' in the column links is not a list in JSON"),
        ("seconds", "'{' in the column seconds is not a number"),
    ],
)
def test_a_changed_cell_is_refused_with_its_line(tmp_path: Path, cell: str, said: str) -> None:
    file, _ = exported("table", tmp_path, desk(), name="t.csv")
    with file.open(newline="") as rows:
        table = list(csv.DictReader(rows))
    table[0][cell] = "{"
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, table[0])
        writer.writeheader()
        writer.writerows(table)
    with pytest.raises(InputError, match=re.escape(said)) as raised:
        imported("table", file)
    assert raised.value.place is not None
    assert raised.value.place.line == 2


def test_candidates_of_sim4ia_are_different_and_ordered_by_how_often_they_were_drawn(tmp_path: Path) -> None:
    draws = ["b", "a", "a", *"cdefghijk", " a ", "b"]
    talks = [conversation(("known", "-"), (words, "-"), topic="1", trial=at) for at, words in enumerate(draws, 1)]
    lone = conversation(("z", "-"), topic="2")
    out, notes = exported("sim4ia", tmp_path, *talks, lone, team="us")
    meta = {"team_name": "us", "approach_description": "", "task": "Task_B", "run_name": "B1"}
    assert json.loads(out.read_text()) == {"meta": meta, "1": list("abcdefghij"), "2": ["z"]}
    assert notes[1:] == ["1 topic with fewer than 10 different candidates (2): play more trials"]
    with pytest.raises(InputError, match="one system, but there are B1, B2"):
        exported("sim4ia", tmp_path, lone, conversation(("z", "-"), system="B2"))
    with pytest.raises(InputError, match="cannot be called 'meta'"):
        exported("sim4ia", tmp_path, conversation(("z", "-"), topic="meta"))


@pytest.mark.parametrize("file", sorted((DATA / "transcripts").glob("*.[je]*")), ids=lambda file: file.name[:20])
@pytest.mark.parametrize("most", [100, pytest.param(10_000, marks=pytest.mark.soak)])
def test_public_files_are_read_back_from_every_format(file: Path, most: int, tmp_path: Path) -> None:
    given = IMPORTERS[recognise_format([file])].read(Request((file,), strict=True)).conversations[:most]
    assert given
    for form in ALIKE:
        out, _ = exported(form, tmp_path, *given, name=f"out.{form}")
        assert imported(form, out).conversations == given, form
