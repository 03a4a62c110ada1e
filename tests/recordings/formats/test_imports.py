"""Imported conversations in a run folder: the same values, once, beside each other."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recordings.conversations.conversation import Conversation
from recordings.events.events import events_of
from recordings.files.errors import RunError
from recordings.formats.imports import ImportCounts, import_header, record
from recordings.formats.transcript import Transcript, parse_transcript, read_transcript
from recordings.formats.transcript_export import transcript_text
from recordings.judged.gold_layers import keep_gold, read_gold_layers
from recordings.log.run_folder import read
from tests.recordings.formats.test_transcript import TOPICS, conversations, positions
from tests.support.checkout import DATA
from topics.errors import InputError
from topics.topic import Topic, TopicSet, TopicType


def clock() -> datetime:
    return datetime(2024, 1, 1, tzinfo=UTC)


def figure_5(system: str) -> Transcript:
    return read_transcript(DATA / f"gfrc_m002_{system}1.txt", system=system, trial=1, topics=TOPICS)


def put(run: Path, transcript: Transcript) -> ImportCounts:
    header = import_header(transcript.conversations, TOPICS, source={"file": "x"}, clock=clock)
    return record(run, transcript.conversations, header, clock=clock)


def test_figure_5_in_one_run_by_two_imports(tmp_path: Path) -> None:
    run = tmp_path / "run"
    for system in "BG":
        transcript = figure_5(system)
        assert put(run, transcript) == ImportCounts(1, 0)
        keep_gold(run, transcript.gold, source=system, notes=transcript.notes, clock=clock)
    recorded = read(run)
    assert [replace(one, worker="") for one in recorded.finished] == [
        *figure_5("B").conversations,
        *figure_5("G").conversations,
    ]
    assert positions(recorded.finished[0])["tt2397535"] == 107
    assert positions(recorded.finished[1])["tt0816692"] == 560
    topics = recorded.header.topic_set()
    assert topics is not None
    assert [topic.id for topic in topics.topics] == ["M002"]
    assert list(recorded.header.systems) == ["B", "G"]
    assert len(read_gold_layers([run], topics)) == 18  # 10 + 10, two of them in both


def test_importing_again_adds_nothing(tmp_path: Path) -> None:
    put(tmp_path / "run", figure_5("B"))
    assert put(tmp_path / "run", figure_5("B")) == ImportCounts(0, 1)
    assert len(read(tmp_path / "run").conversations) == 1


def test_another_conversation_under_the_same_name_is_refused(tmp_path: Path) -> None:
    put(tmp_path / "run", figure_5("B"))
    other = figure_5("G")
    (conversation,) = other.conversations
    known = figure_5("B").conversations[0]
    renamed = replace(other, conversations=(replace(conversation, key=known.key, trial_id=known.trial_id),))
    with pytest.raises(RunError, match="a different conversation is already recorded as B, M002, trial 1, attempt 1"):
        put(tmp_path / "run", renamed)


def test_a_repeated_conversation_is_written_once_and_conflicting_ones_not_at_all(tmp_path: Path) -> None:
    one, other = (figure_5(system).conversations[0] for system in "BG")
    header = import_header([one], TOPICS, clock=clock)
    assert record(tmp_path / "run", [one, one], header, clock=clock) == ImportCounts(1, 1)
    assert len(read(tmp_path / "run").conversations) == 1
    renamed = replace(other, key=one.key, trial_id=one.trial_id)
    with pytest.raises(RunError, match="two different conversations have the same name: B, M002, trial 1, attempt 1"):
        record(tmp_path / "new", [one, renamed], header, clock=clock)
    assert not (tmp_path / "new").exists()


def test_a_refused_import_writes_none_of_its_conversations(tmp_path: Path) -> None:
    put(tmp_path / "run", figure_5("B"))
    one, other = (figure_5(system).conversations[0] for system in "BG")
    renamed = replace(other, key=one.key, trial_id=one.trial_id)
    header = import_header([one, other], TOPICS, source={"file": "x"}, clock=clock)
    before = {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()}
    with pytest.raises(RunError, match="a different conversation is already recorded"):
        record(tmp_path / "run", [other, renamed], header, clock=clock)
    assert {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()} == before


def test_an_exported_run_is_imported_unchanged(tmp_path: Path) -> None:
    put(tmp_path / "run", figure_5("G"))
    first = read(tmp_path / "run").finished
    file = tmp_path / "x.txt"
    file.write_text(transcript_text(first))
    again = read_transcript(file, topics=TOPICS)
    assert again.conversations == first
    put(tmp_path / "again", again)
    assert read(tmp_path / "again").finished == first


@given(st.lists(conversations(), min_size=1, max_size=2, unique_by=lambda one: one.trial_id))
@settings(max_examples=15, deadline=None)
def test_every_conversation_is_read_back_from_its_events(
    tmp_path_factory: pytest.TempPathFactory, given: list[Conversation]
) -> None:
    run = tmp_path_factory.mktemp("run") / "run"
    record(run, given, import_header(given, None, clock=clock), clock=clock)
    found = {one.trial_id: one for one in read(run).conversations}
    assert {one.trial_id: replace(one, worker=one.worker or "000001") for one in given} == found
    assert all(len(events_of(one)) >= 2 for one in given)


def test_a_file_whose_missing_turns_an_earlier_version_did_not_count_adds_nothing(tmp_path: Path) -> None:
    text = "###### system=B trial=1\n##### M002\n### U1\nHello\n### S1 x\nNo.\n### U2\n### S2 -\n"
    now = parse_transcript(text, "x.txt", topics=TOPICS)
    (conversation,) = now.conversations
    assert conversation.outcome is not None
    assert conversation.outcome.missing == 1
    before = replace(conversation, outcome=replace(conversation.outcome, missing=None))
    assert put(tmp_path / "run", replace(now, conversations=(before,))) == ImportCounts(1, 0)
    assert put(tmp_path / "run", now) == ImportCounts(0, 1)


def test_no_importer_writes_a_topic_that_could_not_be_read_again(tmp_path: Path) -> None:
    (one,) = figure_5("B").conversations
    named = replace(one, key=replace(one.key, topic="a b"))
    topics = TopicSet("imported", (Topic("a b", TopicType("unknown"), "Hi"),), {})
    with pytest.raises(InputError, match="'a b' cannot be the id of a topic"):
        import_header([named], topics, clock=clock)
