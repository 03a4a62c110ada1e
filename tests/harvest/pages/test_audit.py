"""An audit of a chat page as its user runs it: checked, run, stopped by Ctrl-C and by a kill, gone on with, shown."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest
import yaml

from harvest.audits.audit import load_audit
from recordings.log.run_folder import read
from tests.harvest.pages.conftest import SharedInterface
from tests.support.command_line import harvest
from tests.support.forked_commands import ForkedCommand
from tests.support.interfaces import Interface
from tests.support.processes import below, browsers_of, gone

TOPICS = ("M001", "M002")


@pytest.fixture
def page(shared_interface: SharedInterface) -> Interface:
    return shared_interface("deep-chat")


@pytest.fixture
def folder(tmp_path: Path, page: Interface) -> Path:
    audit = {
        "format": "harvest-audit/1",
        "name": "page",
        "topics": "fairweb-45",
        "only": list(TOPICS),
        "protocol": "fairweb-two-round",
        "trials": 2,
        "systems": [{"name": "assistant", "driver": "browser", "options": {"url": page.url}, "concurrency": 2}],
    }
    (tmp_path / "audit.yaml").write_text(yaml.safe_dump(audit))
    return tmp_path


def _stopped(folder: Path, stop: signal.Signals, *, group: bool) -> tuple[int, str]:
    """Run until the first answer is on disk, then stop it; (exit code, what it said). No process of it stays.

    group: as a terminal does, which tells every process in it.
    """
    log = folder / "log"
    with log.open("wb") as output:
        running = ForkedCommand("run", "audit.yaml", "--out", "run", cwd=folder, said=output, session=True)
    try:
        _wait_for_an_answer(folder, running)
        assert browsers_of(running.pid)
        family = [one.id for one in below(running.pid)]
        (os.killpg if group else os.kill)(running.pid, stop)
        code = running.wait(60)
    finally:
        running.kill()
        running.wait()
    assert gone(family) == []
    return code, log.read_text()


def _answers(folder: Path) -> int:
    """How many are on disk."""
    return sum(path.read_text().count('{"event":"turn"') for path in folder.glob("run/trials-*"))


def _wait_for_an_answer(folder: Path, running: ForkedCommand) -> None:
    before, deadline = _answers(folder), time.monotonic() + 120
    while _answers(folder) == before:
        assert running.poll() is None, (folder / "log").read_text()
        assert time.monotonic() < deadline, (folder / "log").read_text()
        time.sleep(0.05)


def test_check_prints_what_would_be_sent_and_opens_nothing(folder: Path, page: Interface) -> None:
    before = len(page.truth())
    done = harvest("check", "audit.yaml", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "assistant" in done.stdout + done.stderr
    assert len(page.truth()) == before


@pytest.mark.parametrize("terminated", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_a_run_stopped_by_its_user_and_by_a_kill_continues(folder: Path, terminated: bool) -> None:
    topics = (*TOPICS, "M006", "R010") if terminated else TOPICS
    audit = folder / "audit.yaml"
    audit.write_text(yaml.safe_dump({**yaml.safe_load(audit.read_text()), "only": list(topics)}))
    code, output = _stopped(folder, signal.SIGINT, group=True)
    assert code == 130, output
    assert "the same command resumes the run" in output
    assert "Traceback" not in output
    code, output = _stopped(folder, signal.SIGKILL, group=False)
    assert code == -signal.SIGKILL
    assert "Traceback" not in output
    if terminated:
        code, output = _stopped(folder, signal.SIGTERM, group=False)
        assert code == 130, output

    done = harvest("run", "audit.yaml", "--out", "run", cwd=folder)
    assert done.returncode == 0, done.stderr
    run = read(folder / "run")
    assert len(run.finished) == 2 * len(topics)
    assert run.interrupted != ()
    again = harvest("run", "audit.yaml", "--out", "run", cwd=folder)
    assert "nothing to play" in again.stderr
    assert read(folder / "run").conversations == run.conversations

    shown = harvest("show", "run", "--system", "assistant", "--topic", "M001", "--trial", "1", cwd=folder)
    assert shown.returncode == 0, shown.stderr
    assert "https://www.imdb.com/title/" in shown.stdout
    assert "Can you name a few more?" in shown.stdout


@pytest.mark.parametrize(
    ("url", "site", "asked", "seconds"),
    [
        ("https://chat.example.org/", {}, {}, 2.0),
        ("http://localhost:8000/", {}, {}, 0.0),
        ("http://127.0.0.1/", {}, {}, 0.0),
        ("http://[::1]:8000/", {}, {}, 0.0),
        ("https://localhost.example.org/", {}, {}, 2.0),
        ("https://chat.example.org/", {"delay": 5.0}, {}, 5.0),
        ("https://chat.example.org/", {"delay": 0.0}, {}, 0.0),
        ("http://127.0.0.1/", {"delay": 3.0}, {}, 3.0),
        ("https://chat.example.org/", {}, {"delay": 0.5}, 0.5),
        ("https://chat.example.org/", {}, {"delay": 0.0}, 0.0),
        ("https://chat.example.org/", {"delay": 5.0}, {"delay": 1.0}, 1.0),
        ("https://chat.example.org/", {"delay": 5.0}, {"rate": "120/min"}, 0.5),
        ("http://127.0.0.1/", {}, {"rate": "6/min"}, 10.0),
    ],
)
def test_the_rate_is_that_of_the_audit_else_of_the_site_else_a_polite_one_for_strangers(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    url: str,
    site: dict[str, float],
    asked: dict[str, object],
    seconds: float,
) -> None:
    monkeypatch.setenv("HARVEST_BROWSER", sys.executable)  # none is started
    system = {"name": "page", "driver": "browser", "options": {"url": url, "site": site}, **asked}
    content = {"format": "harvest-audit/1", "name": "pace", "topics": "fairweb-45", "protocol": "fairweb-two-round"}
    (tmp_path / "audit.yaml").write_text(yaml.safe_dump({**content, "trials": 1, "systems": [system]}))
    (found,) = load_audit(str(tmp_path / "audit.yaml")).systems
    assert found.limits.spacing == seconds
