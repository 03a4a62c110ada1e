"""`harvest export` says what it leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest

from harvest.cli.main import main
from recordings.conversation import INVALID, Outcome
from recordings.header import make_header
from recordings.imports import record
from tests.support.scoring_examples import CHAT, conversation, topic_set
from topics.topic import Topic


def exported(tmp_path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    topics = topic_set(*(Topic(name, CHAT, f"About {name}?") for name in ("T1", "T2")))
    header = make_header(audit={"name": "t"}, protocol=None, topics=topics, systems={"mine": {}})
    talks = [
        conversation(("say", "well"), labels="o", topic="T1", system="mine"),
        conversation(("say", ""), labels="?", topic="T2", system="mine", outcome=Outcome(INVALID, "timeout")),
    ]
    record(tmp_path / "run", talks, header)
    with pytest.raises(SystemExit) as stop:
        main(["export", str(tmp_path / "run"), "--format", "messages", "--out", str(tmp_path / "out.jsonl"), *options])
    assert stop.value.code == 0
    return capsys.readouterr().err


def test_trials_without_a_valid_attempt_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "note: 1 trial without a valid attempt left out" in exported(tmp_path, capsys)


def test_nothing_is_left_out_of_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = exported(tmp_path, capsys, "--all")
    assert "left out" not in said
    assert "2 conversations written" in said
