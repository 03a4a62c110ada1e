"""Headers: a run goes on only as what it was, and says what has changed if it is not."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from protocols.library import load_protocol
from protocols.protocol import Protocol
from recordings.files.errors import RunError
from recordings.files.times import stamp
from recordings.log.continuation import added_names, differences, extend_header
from recordings.log.header import Header, git_commit, make_header, read_header, software, trial_identity
from recordings.log.store import RunWriter
from topics.errors import Place
from topics.library import load_topics
from topics.topic import TopicSet

TOPICS = load_topics("fairweb-45")
PROTOCOL = load_protocol("fairweb-two-round")
SYSTEM = {"name": "B", "driver": "parrot", "options": {"profile": "steady"}, "session": "fresh"}


def clock() -> datetime:
    return datetime(2024, 5, 1, 12, 0, tzinfo=UTC)


def some(*names: str) -> TopicSet:
    return replace(TOPICS, topics=tuple(topic for topic in TOPICS.topics if topic.id in names))


def header(
    *,
    topics: TopicSet | None = None,
    protocol: Protocol | None = PROTOCOL,
    systems: dict[str, object] | None = None,
    seed: int = 1,
    trials: int = 2,
) -> Header:
    return make_header(
        audit={"name": "test", "trials": trials},
        protocol=protocol,
        topics=topics or some("M001", "M002"),
        systems=systems or {"B": SYSTEM},
        seed=seed,
        clock=clock,
    )


def reworded(topics: TopicSet, name: str, request: str) -> TopicSet:
    return replace(
        topics,
        topics=tuple(replace(topic, request=request) if topic.id == name else topic for topic in topics.topics),
    )


def test_a_header_comes_back_from_its_json() -> None:
    made = header()
    back = Header.from_json(json.loads(json.dumps(made.as_json())), Place("run.json"))
    assert back.as_json() == made.as_json()
    assert differences(made, back) == []
    topics = back.topic_set()
    assert topics is not None
    assert topics.topics == some("M001", "M002").topics


def test_times_are_utc_and_versions_are_named() -> None:
    made = header()
    assert made.created_at == "2024-05-01T12:00:00.000000+00:00"
    assert {"python", "platform", "conversation-harvest", "numpy"} <= set(made.software)
    assert software()["python"].count(".") == 2
    with pytest.raises(ValueError, match="no time zone"):
        stamp(datetime(2024, 1, 1))


def test_the_commit_of_a_folder_is_optional(tmp_path: Path) -> None:
    assert git_commit(tmp_path / "absent") == ""


def test_nothing_differs_from_itself() -> None:
    assert differences(header(), header(trials=9)) == []


def test_a_changed_topic_is_shown() -> None:
    lines = differences(header(), header(topics=reworded(some("M001", "M002"), "M002", "Please list up westerns.")))
    assert lines[0] == "topic M002 has changed:"
    assert any(line.startswith("  +") and "Please list up westerns." in line for line in lines)
    assert any(line.startswith("  -") and "time travel" in line for line in lines)
    assert not any("M001" in line for line in lines)


def test_a_changed_protocol_is_shown() -> None:
    lines = differences(header(), header(protocol=replace(PROTOCOL, turn_limit=7)))
    assert lines[0] == "the protocol has changed:"
    assert any(line.startswith("  +") and "7" in line for line in lines)
    assert len(lines) <= 14


def test_of_another_protocol_the_names_are_said_and_no_diff_that_nobody_reads() -> None:
    (line,) = differences(header(), header(protocol=load_protocol("seed-turns")))
    assert line == f"it was recorded with the protocol {PROTOCOL.name!r}, and now there is the protocol 'seed-turns'"
    (line,) = differences(header(protocol=None), header())
    assert "no protocol (a person spoke)" in line


def test_of_many_changed_topics_the_first_are_shown_and_the_others_named() -> None:
    every = load_topics("fairweb-45")
    other = replace(every, topics=tuple(replace(topic, request="Please list up westerns.") for topic in every.topics))
    lines = differences(header(topics=every), header(topics=other))
    assert sum(line.endswith("has changed:") for line in lines) == 3
    assert lines[-1].startswith("and 42 more (topic M004, M005")
    assert len(lines) < 50
    assert all(len(line) < 130 for line in lines)


def test_words_that_explain_a_protocol_may_be_mended() -> None:
    assert differences(header(), header(protocol=replace(PROTOCOL, about="Better words."))) == []


def test_a_changed_system_and_a_changed_seed_are_shown() -> None:
    changed = {**SYSTEM, "options": {"profile": "erratic"}}
    lines = differences(header(), header(systems={"B": changed}, seed=2))
    assert lines[0] == "the seed was 1 and is now 2"
    assert lines[1] == "system B has changed:"
    assert any("erratic" in line for line in lines)


def test_added_topics_and_systems_are_merged_in_their_order() -> None:
    old = header(topics=some("M002", "M001"))
    new = header(topics=some("R001", "M001", "M003"), systems={"B": SYSTEM, "C": {"name": "C"}}, trials=5)
    assert differences(old, new) == []
    assert added_names(old, new) == {"topics": ["M003", "R001"], "systems": ["C"]}
    united = extend_header(old, new, "2024-06-01")
    topics = united.topic_set()
    assert topics is not None
    assert [topic.id for topic in topics.topics] == ["M001", "M002", "M003", "R001"]
    assert set(united.hashes["topics"]) == {"M001", "M002", "M003", "R001"}
    assert list(united.systems) == ["B", "C"]
    assert united.audit == {"name": "test", "trials": 5}
    assert united.changes[0] == {
        "at": "2024-06-01",
        "added": {"topics": ["M003", "R001"], "systems": ["C"]},
        "audit_before": {"name": "test", "trials": 2},
        "software": dict(new.software),
    }


def test_a_header_that_adds_nothing_changes_nothing() -> None:
    old = header()
    assert extend_header(old, header(), "2024-06-01") is old


def clustered(topics: TopicSet, **clusters: str) -> TopicSet:
    return replace(
        topics, topics=tuple(replace(topic, cluster=clusters.get(topic.id, topic.cluster)) for topic in topics.topics)
    )


def test_a_cluster_changes_no_identity() -> None:
    old, new = header(), header(topics=clustered(some("M001", "M002"), M001="a"))
    assert (differences(old, new), new.hashes) == ([], old.hashes)


def test_a_run_that_goes_on_takes_the_clusters_that_its_topics_have_now() -> None:
    old = header(topics=clustered(some("M001", "M002", "M003"), M001="a", M003="kept"))
    united = extend_header(old, header(topics=clustered(some("M001", "M002"), M002="b")), "2024-06-01")
    topics = united.topic_set()
    assert topics is not None
    assert {topic.id: topic.cluster for topic in topics.topics} == {"M001": None, "M002": "b", "M003": "kept"}
    assert extend_header(united, header(topics=clustered(some("M001", "M002"), M002="b")), "2024-06-02") is united


async def test_a_run_is_refused_with_the_diff_and_left_as_it_was(tmp_path: Path) -> None:
    await RunWriter.create(tmp_path / "run", header(), clock=clock).close()
    before = {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()}
    changed = header(topics=reworded(some("M001", "M002"), "M001", "Something else."))
    with pytest.raises(
        RunError, match=r"recorded with different settings:(?s:.*)topic M001 has changed(?s:.*)undo the change"
    ):
        RunWriter.resume(tmp_path / "run", changed)
    assert {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()} == before


async def test_what_an_audit_no_longer_names_stays(tmp_path: Path) -> None:
    await RunWriter.create(tmp_path / "run", header(), clock=clock).close()
    await RunWriter.resume(tmp_path / "run", header(topics=some("M002"), trials=1), clock=clock).close()
    kept = read_header(tmp_path / "run")
    assert list(kept.hashes["topics"]) == ["M001", "M002"]
    assert kept.audit == {"name": "test", "trials": 1}


def test_a_trial_is_known_by_its_content() -> None:
    first = trial_identity(PROTOCOL, TOPICS["M001"], SYSTEM, 1)
    assert first == trial_identity(
        load_protocol("fairweb-two-round"), load_topics("fairweb-45")["M001"], dict(SYSTEM), 1
    )
    others = {
        trial_identity(PROTOCOL, TOPICS["M001"], SYSTEM, 2),
        trial_identity(PROTOCOL, TOPICS["M002"], SYSTEM, 1),
        trial_identity(PROTOCOL, TOPICS["M001"], {**SYSTEM, "name": "C"}, 1),
        trial_identity(load_protocol("seed-turns"), TOPICS["M001"], SYSTEM, 1),
        trial_identity(None, TOPICS["M001"], SYSTEM, 1),
        trial_identity(None, "M001", SYSTEM, 1),
    }
    assert len(others | {first}) == 7
