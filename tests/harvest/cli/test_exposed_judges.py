"""Who gets which key, where a file describes a model that judges or extracts, and where a command names a webhook."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from harvest.audits.starter_files import starter_drivers
from harvest.notices.webhook import send
from tests.support.bulletins import CHANGED, bulletin
from tests.support.command_line import harvest
from tests.support.judge_model import judge_file
from tests.support.nugget_model import endpoints_file
from tests.support.recording_server import recording

KEYS = {
    "JUDGE_KEY": "jk1-Rt5vWq8zMx3cLp7b",
    "SECOND_KEY": "sk3-Fd2gTy7uBn9mQw4e",
    "NOBODYS_KEY": "nk2-Gh6sDf9kYj4nBv1m",
}
NAMED: dict[str, Any] = {"api_key_env": "JUDGE_KEY", "headers": {"X-Second": {"env": "SECOND_KEY"}}}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("played") / "run"
    done = harvest("run", "demo", "--trials", "1", "--topics", "M002", "--out", str(folder))
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def run(played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    return Path(shutil.copytree(played, tmp_path / "run"))


def words_for(kind: str, run: Path, url: str) -> list[object]:
    """The command that asks the model at `url`, with its file written."""
    if kind == "judge":
        return ["judge", "model", run, "--with", judge_file(run.parent, url, endpoint=NAMED, criteria=["Fluency"])]
    return ["judge", "extract", run, "--with", endpoints_file(run.parent, url, **NAMED)]


@pytest.mark.parametrize("kind", ["judge", "extract"])
def test_what_the_file_names_is_shown_first_and_nothing_else_is_sent(kind: str, run: Path) -> None:
    with recording() as model:
        words = words_for(kind, run, f"{model.url}/v1")
        if kind == "judge":
            dry = harvest(*words, "--dry-run", width=1000)
            assert dry.returncode == 0
            assert model.requests == []
        done = harvest(*words, width=1000)
    for shown in (dry, done) if kind == "judge" else (done,):
        head = shown.stderr.splitlines()[:2]
        assert head == [f"contacts: {model.url}", f"sends: SECOND_KEY to {model.url}; JUDGE_KEY to {model.url}"]
    assert model.sent(KEYS) == {("JUDGE_KEY", model.url), ("SECOND_KEY", model.url)}
    assert model.hosts == {model.url}


@pytest.mark.parametrize("kind", ["judge", "extract"])
def test_a_key_sent_in_clear_must_be_allowed_by_the_command(kind: str, run: Path) -> None:
    with recording() as model:
        url = f"http://0.0.0.0:{model.port}"
        words = words_for(kind, run, f"{url}/v1")
        refused = harvest(*words, width=1000)
        assert refused.returncode == 2
        assert refused.stderr.startswith(f"contacts: {url}\n")
        (line,) = [line for line in refused.stderr.splitlines() if line.startswith("error: ")]
        file, number, _ = line.removeprefix("error: ").split(":")[:3]
        assert any(name in Path(file).read_text().splitlines()[int(number) - 1] for name in KEYS)
        assert "SECOND_KEY and JUDGE_KEY would be sent to" in refused.stderr
        assert "--keys-in-clear" in refused.stderr
        assert model.requests == []
        harvest(*words, "--keys-in-clear")
        assert model.sent(KEYS) == {("JUDGE_KEY", url), ("SECOND_KEY", url)}


def test_a_webhook_gets_no_variable_and_is_the_only_server_contacted(run: Path) -> None:
    with recording() as hook, recording() as other:
        assert send(bulletin(CHANGED, code=1, verdict="changed"), f"{hook.url}/secret-path") == ""
    assert hook.hosts == {hook.url}
    assert hook.sent(KEYS) == set()
    assert other.requests == []


@pytest.mark.parametrize("driver", starter_drivers())
def test_init_shows_what_its_audit_will_do(driver: str, tmp_path: Path) -> None:
    done = harvest("init", "new", "--driver", driver, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = {
        "browser": "contacts: https://chat.example.org",
        "command": "runs: the program python3 bot.py",
        "http": "contacts: http://localhost:8000",
        "openai": "contacts: http://localhost:8000",
        "python": "runs: the function bot.py:answer",
        "anthropic": "sends: ANTHROPIC_API_KEY to https://api.anthropic.com",
        "rasa": "contacts: http://127.0.0.1:5005",
    }
    lines = done.stderr.splitlines()
    if driver in shown:
        assert shown[driver] in lines
    assert any(line.startswith(("contacts: ", "runs: ")) for line in lines)
