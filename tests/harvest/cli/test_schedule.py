"""`harvest watch schedule`, and the story of an assistant that is watched by the printed line of cron."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import threading
import zlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import junitparser
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support.chat_api import chat_api
from tests.support.command_line import harvest
from tests.support.schedulers import as_cron_reads, check_crontab, check_units, check_workflow

AUDIT = """\
format: harvest-audit/1
name: watched weekly
topics: fairweb-45
protocol: fairweb-two-round
only: [{only}]
trials: {trials}
systems:
  - name: mine
    driver: openai
    options: {{base_url: "http://127.0.0.1:{port}/v1", model: m}}
    concurrency: 16
    attempts: 1
    retries: 0
"""
GOLDEN = 0.6180339887498949


@dataclass
class Assistant:
    """Answers a share `useful` of the times that it is asked a thing with a link; the same of every ten, or nearly."""

    useful: float
    asked: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, said: list[str]) -> tuple[str, str]:
        with self.lock:
            self.asked[said[-1]] += 1
            at = (self.asked[said[-1]] * GOLDEN + zlib.crc32(said[-1].encode()) / 2**32) % 1
        return ("See https://www.imdb.com/title/tt0390384/" if at < self.useful else "I do not know.", "m-1")


def test_cron_is_silent_after_a_good_night_and_mails_when_the_assistant_is_down(tmp_path: Path) -> None:
    """What `watch run` says of an assistant that is worse is told elsewhere (test_reaudit.py), and below in soak."""
    with chat_api(Assistant(0.8)) as port:
        printed = blessed(tmp_path, port, topics=2, trials=2, matters=0.9)
        assert at_night(printed) == (0, "")
    assert metrics(tmp_path)["harvest_exit_code"] == 0
    code, mailed = at_night(printed)
    assert code == 3
    assert mailed.startswith("harvest watch run of watched weekly: exit code 3\n")
    assert "could not be measured" in mailed


@pytest.mark.soak
@pytest.mark.parametrize(
    ("topics", "trials", "worse", "matters"), [(6, 10, 0.5, 0.15), (10, 15, 0.25, 0.1), (15, 40, 0.25, 0.05)]
)
def test_the_story_of_an_assistant_that_cron_watches(
    tmp_path: Path, topics: int, trials: int, worse: float, matters: float
) -> None:
    watched(tmp_path, topics=topics, trials=trials, worse=worse, matters=matters)


def blessed(folder: Path, port: int, *, topics: int, trials: int, matters: float) -> str:
    """Play and bless four runs; return what is printed for cron. matters: the smallest difference that does."""
    only = ", ".join(f"M{number:03}" for number in range(1, topics + 1))
    (folder / "audit.yaml").write_text(AUDIT.format(only=only, trials=trials, port=port))
    names = [f"runs/base-{number}" for number in range(4)]
    for name in names:
        assert harvest("run", "audit.yaml", "--out", name, cwd=folder).returncode == 0
    done = harvest("watch", "bless", *names, "--out", "audit.baseline.json", "--by", "me", cwd=folder)
    assert done.returncode == 0
    told = ("--matters", matters, "--confirm-after", "0", "--prometheus", "weekly.prom", "--junit", "weekly.xml")
    printed = harvest("watch", "schedule", "audit.yaml", "--cron", *told, cwd=folder)
    assert (printed.returncode, printed.stderr) == (0, "")
    return printed.stdout


def watched(folder: Path, *, topics: int, trials: int, worse: float, matters: float) -> None:
    """The same, worse by the share `worse`, down, and back."""
    assistant = Assistant(0.8)
    with chat_api(assistant) as port:
        printed = blessed(folder, port, topics=topics, trials=trials, matters=matters)
        code, mailed = at_night(printed)
        assert (code, mailed) == (0, ""), mailed
        assert f"is the same within {100 * matters:g} points" in (folder / "audit.log").read_text()
        assert metrics(folder)["harvest_exit_code"] == 0

        assistant.useful = 0.8 - worse
        nights: list[tuple[int, str]] = []
        while not nights or (nights[-1][0] == 0 and len(nights) < 5):
            nights.append(at_night(printed))
        code, mailed = nights[-1]
        assert [night[0] for night in nights] == [0] * (len(nights) - 1) + [1]
        assert len(nights) >= 2, "one audit alone is never enough"
        assert mailed.startswith("harvest watch run of watched weekly: exit code 1\n")
        assert "mine: ave%useful changed by -" in mailed, "what, and by how much"
        (case,) = [one for one in suite(folder) if one.name == "ave%useful"]
        assert case.result[0].type == "changed"
        drop, low, high = (metrics(folder)[f"harvest_difference{end}"] for end in ("", "_low", "_high"))
        assert -worse - 0.25 < low < drop < high < -matters, "how sure"
        last = metrics(folder)

    code, mailed = at_night(printed)
    assert code == 3
    assert "could not be measured" in mailed
    assert suite(folder).errors == 2
    down = metrics(folder)
    assert down["harvest_exit_code"] == 3
    assert down["harvest_last_success_timestamp_seconds"] == last["harvest_last_success_timestamp_seconds"]

    assistant.useful = 0.8
    with chat_api(assistant, port):
        code, mailed = at_night(printed)
    assert (code, mailed) == (0, ""), "what was seen once and is over is no alarm of today"
    assert metrics(folder)["harvest_last_success_timestamp_seconds"] > last["harvest_last_success_timestamp_seconds"]
    looks = [json.loads(line) for line in (folder / "audit.history.jsonl").read_text().splitlines()]
    assert [bool(look["systems"]["mine"]["valid"]) for look in looks] == [True] * (len(nights) + 1) + [False, True]
    (word,) = [one["word"] for name, one in looks[-1]["systems"]["mine"]["figures"].items() if name == "ave%useful"]
    assert word == "perhaps back", "and not an alarm that its own interval denies"


def at_night(printed: str) -> tuple[int, str]:
    """The exit code, and what cron would mail, with as little of an environment as it has."""
    _, command = as_cron_reads(printed)
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        env={"HOME": "/nonexistent", "SHELL": "/bin/sh", "LOGNAME": "me", "PATH": "/usr/bin:/bin"},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.returncode, done.stdout + done.stderr


def metrics(folder: Path) -> dict[str, float]:
    families = text_string_to_metric_families((folder / "weekly.prom").read_text())
    return {one.name: one.samples[0].value for one in families}


def suite(folder: Path) -> junitparser.TestSuite:
    (found,) = junitparser.JUnitXml.fromfile(str(folder / "weekly.xml"))
    return found


SMALL = """\
format: harvest-audit/1
name: small
topics: fairweb-45
only: [M001]
protocol: fairweb-two-round
trials: 1
systems:
  - name: mine
    driver: openai
    options: {base_url: "http://127.0.0.1:9/v1", model: m, api_key_env: KEY_OF_A_MACHINE}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    folder = tmp_path / "repository" / "of mine"
    folder.mkdir()
    (folder / "audit.yaml").write_text(SMALL)
    return folder


def test_each_form_is_printed_without_any_secret_at_hand(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KEY_OF_A_MACHINE", raising=False)
    for form, wanted in (
        ("--cron", f". '{folder}/audit.env' || exit 3"),
        ("--systemd", f"EnvironmentFile={folder}/audit.env"),
        ("--github", "KEY_OF_A_MACHINE: ${{ secrets.KEY_OF_A_MACHINE }}"),
    ):
        done = harvest("watch", "schedule", "audit.yaml", form, "--strict", "--every", "day", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert wanted in done.stdout
        assert (
            "there is no baseline yet; before the first audit: harvest watch bless RUN… --out audit.bas" in done.stderr
        )
        assert ("put KEY_OF_A_MACHINE into" in done.stderr) == (form != "--github")
        found = re.findall(r"(\S+) watch run audit\.yaml --strict", done.stdout)
        program = found[0]
        assert found == [program] * (1 if form == "--github" else 2)
        assert done.stdout.count("--if-alarm") == 1
        assert program == "harvest" if form == "--github" else Path(program).is_file()


def test_a_machine_without_file_locks_is_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))
    done = harvest("watch", "schedule", "audit.yaml", "--cron", cwd=folder)
    assert (done.returncode, "flock(1), which keeps audits from overlapping" in done.stderr) == (0, True)


def test_the_workflow_begins_in_the_folder_of_the_repository(folder: Path) -> None:
    done = harvest("watch", "schedule", "audit.yaml", "--github", "--install", "./dist/a.whl", cwd=folder)
    assert 'working-directory: "of mine"' in done.stdout
    assert 'path: "of mine/audit.history.jsonl"' in done.stdout
    assert 'run: "python -m pip install ./dist/a.whl"' in done.stdout
    (folder / "w.yml").write_text(done.stdout)
    check_workflow(folder / "w.yml")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "the kind of schedule is missing"),
        (("--cron", "--systemd"), "several kinds of schedules are given"),
        (("--cron", "--matters", "nan"), "'nan' is not a number"),
        (("--cron", "--confirm-after", "inf"), "'inf' is not a finite number"),
        (("--cron", "--webhook-env", "A B"), "'A B' cannot be the name of an environment variable"),
        (("--cron", "--stritc"), "No such option '--stritc'"),
        (("--cron", "--matters", "7"), "'--matters'"),
        (("--cron", "--run", "runs/x"), "--run is for an existing run"),
        (("--cron", "--resume", "runs/x"), "--resume is for an existing run"),
        (("--cron", "--extend", "3"), "--extend is for an existing run"),
        (("--cron", "--install", "x"), "--install can only be used with --github"),
        (("--github", "--history", "/elsewhere/h.jsonl"), "/elsewhere/h.jsonl is outside this folder"),
        (("--github", "--if-alarm"), "a second workflow cannot confirm an alarm"),
        (("--github", "--out", "../runs"), "../runs is outside this folder"),
        (("--systemd", "--prometheus", "a\nb"), "cannot be used in a schedule"),
    ],
)
def test_a_schedule_that_would_fail_at_night_is_refused_now(folder: Path, options: tuple[str, ...], said: str) -> None:
    done = harvest("watch", "schedule", "audit.yaml", *options, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


@pytest.mark.soak
def test_cron_and_systemd_accept_the_printed_schedules(folder: Path) -> None:
    crontab = shutil.which("crontab")
    assert crontab, "make soak installs cron where it can"
    assert shutil.which("systemd-analyze"), "make soak installs systemd where it can"
    for every in ("hour", "day", "week", "month"):
        printed = harvest("watch", "schedule", "audit.yaml", "--cron", "--every", every, cwd=folder).stdout
        (folder / "crontab").write_text(printed)
        check_crontab(folder / "crontab", crontab)
        script = harvest("watch", "schedule", "audit.yaml", "--systemd", "--every", every, cwd=folder).stdout
        units = script.partition("systemctl --user daemon-reload")[0]
        (folder / "audit.env").write_text("KEY_OF_A_MACHINE=x\n")
        subprocess.run(["/bin/sh", "-c", units], env={"HOME": str(folder)}, check=True, timeout=20)
        written = folder / ".config" / "systemd" / "user"
        check_units(written / "harvest-small.service", written / "harvest-small.timer")
