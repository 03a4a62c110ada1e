"""Runs in which hardly anything happened: no command has a fault of its own with them."""

from __future__ import annotations

import asyncio
import contextlib
import io
import shutil
from pathlib import Path

import pytest

from harvest.audits.audit import Audit, load_audit
from harvest.cli import main
from protocols.answer import Answer
from protocols.route import Route
from recordings.conversations.conversation import Outcome, SystemTurn, TrialKey
from recordings.events.events import Answered, Asked, Event, Failed, Routed, TrialEnded, TrialStarted
from recordings.log.header import trial_identity
from recordings.log.store import RunWriter

AUDIT = """\
format: harvest-audit/1
name: hardly begun
topics: fairweb-45
only: [M002, R001, Y001]
protocol: {protocol}
trials: 2
systems:
  - {{name: mine, driver: parrot}}
"""
KINDS = {"nothing": 0, "begun": 1, "asked": 2, "invalid": 4, "answered": 4, "one": 5}
"""How much of the one attempt is there, in events."""


def _events(audit: Audit, kind: str) -> list[Event]:
    key = TrialKey(audit.played[0].name, "M002", 1)
    name = trial_identity(audit.protocol, audit.topics["M002"], audit.played[0].definition(), 1), 1
    begun: list[Event] = [TrialStarted(name[0], key, 1), Asked(*name, 1, audit.protocol.start, "Please list films.")]
    invalid: list[Event] = [Failed(*name, "timeout", turn=1), TrialEnded(*name, Outcome("invalid", "timeout"))]
    one: list[Event] = [
        Answered(*name, 1, SystemTurn(Answer("No idea."))),
        Routed(*name, Route(1, audit.protocol.start, "x", "otherwise", "1", (), "stop:completed")),
        TrialEnded(*name, Outcome("completed")),
    ]
    return [*begun, *(invalid if kind == "invalid" else one)][: KINDS[kind]]


async def _write(folder: Path, audit: Audit, kind: str) -> None:
    async with RunWriter.create(folder, audit.header()) as writer:
        await writer.append(*_events(audit, kind))


def _commands(run: str, other: str) -> list[str]:
    merges = [f"tree {run} --merge {key}" for key in ("exact", "label", "act", "entities")]
    formats = [f"tree {run} --topic M002 --format {name}" for name in ("terminal", "text", "json", "graphml", "svg")]
    fits = [f"users fit {run} --out user.yaml {more}" for more in ("", "--order 2", "--stop hazard", "--json")]
    asked = ("R", "SWAN", "CVaR(R)", "persistence", "transition(x,o)", "pooled(SWAN)", "of_pooled(GF(HINDEX))")
    return [
        f"score {run}",
        f"score {run} --json --keep",
        f"score {run} --gold parrot --all --shares bootstrap --resample topics+trials",
        f"score {run} {other}",
        *(f"score {run} --gold parrot -m {measure}" for measure in asked),
        f"show {run}",
        f"show {run} --all --json",
        f"show {run} --system mine --topic M002 --trial 1 --all",
        *merges,
        *formats,
        f"tree {run} --score R --gold parrot",
        *fits,
        f"users check {run} {other}",
        f"users check {other} {run} --json",
        f"users findings {run} --turns",
        f"users groups {run}",
        f"variance {run}",
        f"variance {run} {other} --json",
        f"judge rules {run}",
        f"judge sheet {run} --export sheet.csv --criterion all --force",
        f"data export {run} --format gfrc --out gfrc.txt --force",
        "data import --format gfrc gfrc.txt --out imported-gfrc",
        f"data export {run} --format messages --out messages.jsonl --all --force",
        "data import --format messages messages.jsonl --out imported-messages",
        f"data merge {run} {other} --out merged",
        f"relabel {run}",
        f"pages read-again {run} --out again",
    ]


def _said(arguments: str) -> tuple[int, str]:
    """The exit code of a command, and all that it printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed), pytest.raises(SystemExit) as ended:
        main(arguments.split())
    assert isinstance(ended.value.code, int)
    return ended.value.code, printed.getvalue()


def _sweep(folder: Path, monkeypatch: pytest.MonkeyPatch, kind: str, protocol: str) -> None:
    monkeypatch.chdir(folder)
    groups = "groups: [older, younger]\n" if protocol == "fair-treatment" else ""
    Path("audit.yaml").write_text(AUDIT.format(protocol=protocol) + groups)
    audit = load_audit("audit.yaml")
    asyncio.run(_write(Path("run"), audit, kind))
    asyncio.run(_write(Path("other"), audit, "one"))
    for arguments in _commands("run", "other"):
        code, printed = _said(arguments)
        assert code in (0, 2), f"{arguments}: {code}\n{printed}"
        assert "Traceback" not in printed, arguments
        for made in ("imported-gfrc", "imported-messages", "merged", "again"):
            shutil.rmtree(made, ignore_errors=True)


@pytest.mark.parametrize(
    ("kind", "protocol"),
    [
        ("nothing", "fairweb-two-round"),
        ("asked", "fairweb-two-round"),
        ("invalid", "sincerity"),
        ("one", "fair-treatment"),
    ],
)
def test_no_command_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, protocol: str) -> None:
    _sweep(tmp_path, monkeypatch, kind, protocol)


@pytest.mark.soak
@pytest.mark.parametrize("protocol", ["fairweb-two-round", "sincerity", "fair-treatment", "recovery", "open-ended"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_command_fails_alone_with_any_kind_of_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, protocol: str
) -> None:
    _sweep(tmp_path, monkeypatch, kind, protocol)


def test_a_run_without_a_trial_is_reported_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("audit.yaml").write_text(AUDIT.format(protocol="fairweb-two-round"))
    RunWriter.create(Path("run"), load_audit("audit.yaml").header())
    assert _said("score run") == (0, "No trial has been played yet, so there is nothing to score.\n")
