"""Every version of the format that was ever written stays readable: one kept run for each."""

from __future__ import annotations

import re
import shutil
from importlib import resources
from pathlib import Path

import pytest

from protocols.library import decode_protocol
from recordings.events.event_lines import FORMAT as EVENTS
from recordings.files.evidence import evidence_fault
from recordings.judged.gold_layers import read_gold_layers
from recordings.judged.judgments import FORMAT as JUDGMENTS
from recordings.log.header import FORMAT as RUN
from recordings.log.run_folder import read
from recordings.log.store import RunWriter
from recordings.merging.merge import merge

SAMPLES = Path(str(resources.files("recordings") / "samples"))
V1 = SAMPLES / "run-1"


def test_there_is_a_sample_for_every_major_version_up_to_now() -> None:
    now = int(RUN.partition("/")[2])
    assert sorted(folder.name for folder in SAMPLES.glob("run-*")) == [f"run-{number}" for number in range(1, now + 1)]
    assert (EVENTS, JUDGMENTS) == ("harvest-events/1", "harvest-judgments/1")


@pytest.mark.parametrize("sample", sorted(SAMPLES.glob("run-*")), ids=lambda folder: str(folder.name))
def test_a_sample_is_read_scored_continued_and_merged(sample: Path, tmp_path: Path) -> None:
    run = read(sample)
    assert run.finished
    topics = run.header.topic_set()
    assert topics is not None
    assert len(read_gold_layers([sample], topics)) == 1
    assert decode_protocol(run.header.protocol).name == "fairweb-two-round"
    copy = tmp_path / "copy"
    shutil.copytree(sample, copy)
    RunWriter.resume(copy)._lock.release()
    merge([sample, copy], tmp_path / "merged")
    assert [one.key for one in read(tmp_path / "merged").finished] == [one.key for one in run.finished]


def test_version_1_contains_the_same_as_when_it_was_written() -> None:
    run = read(V1, keep_rows=True)
    assert [(one.key.trial, one.attempt, one.worker) for one in run.conversations] == [
        (1, 1, "000001"),
        (2, 1, "000001"),
        (2, 2, "east-000002"),
        (3, 1, "000001"),
    ]
    assert [(one.key.trial, one.attempt, one.outcome.kind if one.outcome else "") for one in run.finished] == [
        (1, 1, "completed"),
        (2, 2, "breakdown"),
    ]
    assert [one.key.trial for one in run.interrupted] == [3]
    assert len(run.damage) == 1
    assert re.search(r"trials-000001\.jsonl:16: the last line is torn after 22 bytes", run.damage[0])
    first = run.finished[0]
    assert [turn.label for turn in first.turns] == ["o", "o"]
    assert [turn.state for turn in first.turns] == ["ask", "more"]
    reply = first.turns[1].reply
    assert reply is not None
    assert reply.answer.text == (
        "もう一つ: Primer (2004), https://www.imdb.com/title/tt0390384/ \u2028 half: \ud83d, and [redacted:secret]."
    )
    assert (reply.first_seconds, reply.seconds, reply.finish, reply.sends) == (0.25, 1.5, "stop", 1)
    assert reply.tokens == {"prompt": 20, "completion": 12}
    assert reply.pieces == ((0.25, 5), (1.5, len(reply.answer.text) + len("a-secret-of-this-sample") - 17))
    route = first.turns[0].route
    assert route is not None
    assert (route.rule, route.target, route.evidence[0].quote) == (
        "list",
        "more",
        "https://www.imdb.com/title/tt1276104/",
    )
    assert [(failure.reason, failure.partial) for failure in run.failures] == [("timeout", "Loo")]
    assert [attempt.rows[-1].get("redacted") for attempt in run.attempts] == [1, 0, 0, None]
    assert run.header.seed == 7


def test_version_1_exhibits_match_their_names() -> None:
    run = read(V1)
    addresses = {
        address
        for conversation in run.conversations
        for turn in conversation.turns
        if turn.reply is not None
        for address in turn.reply.evidence.values()
    } | {address for failure in run.failures for address in failure.evidence.values()}
    assert len(addresses) == 4
    assert {evidence_fault(V1, address) for address in addresses} == {""}
