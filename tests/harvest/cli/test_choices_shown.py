"""What simulated users chose among: recorded, shown, exported and read again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from protocols.route import Choice
from recordings.events.events import Asked
from recordings.events.redacted_events import redacted_event
from recordings.formats.messages import read_messages
from recordings.formats.transcript import read_transcript
from recordings.log.run_folder import read
from recordings.secrets.redaction import Redactor
from tests.support.command_line import harvest

AUDIT = """\
format: harvest-audit/1
name: chosen
topics: fairweb-45
only: [M001, M002]
protocol: protocol.yaml
trials: 4
seed: 3
systems:
  - {name: A, driver: parrot}
"""
PROTOCOL = """\
format: harvest-protocol/1
name: talking
version: 1
turn_limit: 6
rules:
  unanswered: {any: [{empty: {}}, {error_page: {}}, {refusal: {}}]}
users:
  typist: {simulator: paraphrasing, typos: 0.5, over: {simulator: agenda, patience: 1}}
start: open
states:
  open:
    say: "{{ topic.request }}"
    edges: [{otherwise: true, label: o, go: talk}]
  talk:
    user: typist
    edges:
      - {if: unanswered, label: x, go: talk}
      - {otherwise: true, label: o, go: talk}
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chosen")
    (folder / "audit.yaml").write_text(AUDIT)
    (folder / "protocol.yaml").write_text(PROTOCOL)
    done = harvest("run", "audit.yaml", "--out", "run", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "run"


def test_every_turn_of_a_simulated_user_and_its_leaving_are_recorded_with_their_probabilities(run: Path) -> None:
    left = 0
    for one in read(run).finished:
        assert one.turns[0].choice is None, "the protocol's own words"
        for turn in one.turns[1:]:
            assert turn.choice is not None
            assert 0 < (turn.choice.probability or 0) <= 1 - turn.choice.hazard + 1e-9
            assert turn.choice.noise["typos"][0] >= turn.choice.noise["typos"][1]
        assert one.outcome is not None
        if one.outcome.kind == "user-stopped":
            left += 1
            assert one.outcome.choice is not None
            assert one.outcome.choice.leaving[one.outcome.reason] == one.outcome.choice.probability
    assert left


def test_show_says_how_likely_each_choice_of_the_user_was(run: Path) -> None:
    shown = harvest("show", "run", "--topic", "M001", "--trial", "1", cwd=run.parent).stdout
    assert "\n  P(ask) = 1; changed typos " in shown
    assert "took the answer for " in shown
    assert "P(leaving) = " in shown
    listed = json.loads(harvest("show", "run", "--json", "--topic", "M001", "--trial", "1", cwd=run.parent).stdout)
    (row,) = listed["trials"]
    assert row["turns"][0]["choice"] is None
    assert row["turns"][1]["choice"]["probability"] == 1.0
    assert ("leaving" in row["choice"]) == (row["outcome"] == "user-stopped")


def test_exports_contain_choices_and_imports_read_them(run: Path) -> None:
    recorded = read(run).finished
    for form, ending in (("messages", "jsonl"), ("gfrc", "txt")):
        done = harvest("data", "export", "run", "--format", form, "--out", f"all.{ending}", cwd=run.parent)
        assert done.returncode == 0, done.stderr
        path = run.parent / f"all.{ending}"
        found = (read_messages(path) if form == "messages" else read_transcript(path)).conversations
        again = {one.key: one for one in found}
        for one in recorded:
            assert [turn.choice for turn in again[one.key].turns] == [turn.choice for turn in one.turns], form
            mine, other = one.outcome, again[one.key].outcome
            assert mine is not None
            assert other is not None
            assert mine.choice == other.choice


def test_secrets_are_removed_from_choices_as_from_everything_else() -> None:
    secret = "sk-verysecretvalue123"
    told = Choice(0.5, {"left": 0.5}, f"key {secret}", 1.0, {"typos": (3, 1)}, {secret: 2})
    clean, row = redacted_event(Asked("id", 1, 1, "talk", "Films?", choice=told), Redactor([secret]))
    assert secret not in json.dumps(row)
    assert clean.choice is not None
    assert secret not in repr(clean)
    assert list(clean.choice.refused.values()) == [2]
