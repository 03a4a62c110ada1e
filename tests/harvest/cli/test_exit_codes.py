"""What commands exit with: 1 says that a threshold was missed or a path has changed, and never anything else."""

from __future__ import annotations

import importlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

from harvest.cli import main
from harvest.cli.commands import COMMANDS
from tests.support.reported import audit

FAULTS: tuple[BaseException, ...] = (
    ZeroDivisionError("of our own"),
    RecursionError(),
    ExceptionGroup("from the sessions of a run", [KeyError("of our own")]),
    SystemExit(1),
    SystemExit("a text, which Python would turn into 1"),
)


def _fail(name: str, fault: BaseException, monkeypatch: pytest.MonkeyPatch) -> int:
    """The exit code of the command `name` where it raises `fault`."""
    command: click.Command = importlib.import_module(COMMANDS[name].module).command

    def fail(*_: object, **__: object) -> None:
        raise fault

    one = next(iter(command.commands.values())) if isinstance(command, click.Group) else command
    monkeypatch.setattr(one, "params", [])
    monkeypatch.setattr(one, "callback", fail)
    with pytest.raises(SystemExit) as ended:
        main([*name.split()] if one is command else [*name.split(), str(one.name)])
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.mark.parametrize("name", [name for name, entry in COMMANDS.items() if entry.module])
def test_a_fault_of_our_own_exits_with_70_in_every_command(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _fail(name, ZeroDivisionError("of our own"), monkeypatch) == 70


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
def test_a_fault_of_any_kind_exits_with_70_and_its_traceback(
    fault: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _fail("score", fault, monkeypatch) == 70
    told = capsys.readouterr().err
    assert "Traceback" in told
    assert type(fault).__name__ in told
    assert "this is a bug in Harvest" in told


def test_the_exit_code_is_right_even_if_nothing_more_can_be_printed() -> None:
    failing = "import harvest.cli.doctor as d; d.command.callback = lambda: 1 / 0"
    program = f"{failing}; from harvest.cli import main; main(['doctor'])"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([sys.executable, "-c", program], stderr=full, stdout=full, timeout=60)
    assert done.returncode == 70


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_an_output_on_a_full_disk_is_one_message_and_exits_with_2(unbuffered: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "harvest", "check", "demo"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )
    assert done.returncode == 2
    assert done.stderr.count("error: the output: No space left on device") == 1
    assert "free some space" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["--help", "check demo", "completion bash", "measures"])
@pytest.mark.parametrize("buffering", [1, 2**20], ids=["at once", "at the end"])
def test_a_full_disk_is_named_once_whenever_the_output_fills_it(
    command: str, buffering: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Path("/dev/full").open("w", buffering) as full:
        monkeypatch.setattr(sys, "stdout", full)
        with pytest.raises(SystemExit) as ended:
            main(command.split())
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("error: the output: No space left on device") == 1


@pytest.mark.parametrize(
    ("command", "code", "closed"),
    [
        ("score none", 2, "2>&-"),
        ("run demo --topics M002 --trials 1 --no-report --out run", 0, ">&- 2>&-"),
        pytest.param("check demo", 0, ">&-", marks=pytest.mark.soak),
        pytest.param("check demo", 0, ">&- 2>&-", marks=pytest.mark.soak),
        pytest.param("score none", 2, ">&-", marks=pytest.mark.soak),
        pytest.param("score none", 2, ">&- 2>&-", marks=pytest.mark.soak),
        pytest.param("check demo", 0, "2>&-", marks=pytest.mark.soak),
    ],
)
def test_an_output_that_was_closed_from_the_start_changes_no_exit_code(
    tmp_path: Path, command: str, code: int, closed: str
) -> None:
    done = subprocess.run(["sh", "-c", f"{sys.executable} -m harvest {command} {closed}"], cwd=tmp_path, timeout=120)
    assert done.returncode == code


@pytest.mark.parametrize(
    "command",
    [
        "run audit.yaml --no-report --out run --json",
        pytest.param("run audit.yaml --no-report --out run", marks=pytest.mark.soak),
        pytest.param("doctor", marks=pytest.mark.soak),
        pytest.param("score --help", marks=pytest.mark.soak),
    ],
)
def test_a_reader_that_closes_the_pipe_is_not_a_fault(tmp_path: Path, command: str) -> None:
    (tmp_path / "audit.yaml").write_text(audit("  - {name: A, driver: parrot}\n", 1))
    with subprocess.Popen(
        [sys.executable, "-m", "harvest", *command.split()],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as started:
        assert started.stdout is not None
        assert started.stderr is not None
        started.stdout.close()
        told = started.stderr.read()
        assert started.wait(timeout=120) in (-signal.SIGPIPE, 128 + signal.SIGPIPE)
    assert not re.search("Traceback|error", told)
