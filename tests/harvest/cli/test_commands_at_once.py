"""Commands that write one file at a time: what each of them said that it wrote is in it."""

from __future__ import annotations

import csv
import random
import re
import threading
import time
from collections.abc import Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from harvest.cli.notifying import Channels
from harvest.notices.prometheus import last_success, metrics
from harvest.studies.watch.baseline import make_baseline
from harvest.studies.watch.history import whole_history
from recordings.files.shared_file import shared_file
from tests.support.bulletins import AT, CHANGED, bulletin
from tests.support.command_line import harvest
from tests.support.forked_commands import fork_command
from tests.support.watched_bot import copied

AUDIT = """\
format: harvest-audit/1
name: weekly
topics: fairweb-45
only: [M001, M002]
protocol: fairweb-two-round
trials: 1
systems:
  - {name: A, driver: parrot}
"""
RUNS = 4


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A baseline, runs to be judged, and runs of other topics to be pooled."""
    folder = tmp_path_factory.mktemp("prepared")
    (folder / "audit.yaml").write_text(AUDIT)
    for name in ("base", *(f"run-{number}" for number in range(RUNS))):
        assert harvest("run", "audit.yaml", "--out", name, cwd=folder).returncode == 0
    for number in range(RUNS):
        (folder / "pool.yaml").write_text(AUDIT.replace("M001, M002", f"M00{number + 3}"))
        assert harvest("run", "pool.yaml", "--out", f"pool-{number}", cwd=folder).returncode == 0
    assert harvest("watch", "bless", "base", "--out", "audit.baseline.json", cwd=folder).returncode == 0
    return folder


def at_once(folder: Path, commands: Sequence[str], rng: random.Random, within: float) -> list[tuple[str, int, str]]:
    """Each command with its exit code and what it printed; begun within so many seconds, in any order."""
    begun: list[tuple[str, BaseProcess, Path]] = []
    waits = sorted(rng.uniform(0, within) for _ in commands)
    start = time.monotonic()
    for number, (command, wait) in enumerate(zip(rng.sample(commands, len(commands)), waits, strict=True)):
        time.sleep(max(0.0, start + wait - time.monotonic()))
        said = folder / f"said-{number}"
        begun.append((command, fork_command(command.split(), folder, said), said))
    ended = []
    for command, process, said in begun:
        process.join(timeout=300)
        assert process.exitcode is not None
        ended.append((command, process.exitcode, said.read_text()))
    return ended


def entities(folder: Path, runs: Sequence[str]) -> set[tuple[str, str]]:
    """Those that wait in these runs for a grade, by pooling them alone."""
    assert harvest("judge", "pool", *runs, "--gold", "alone.csv", cwd=folder).returncode == 0
    return set(rows(folder / "alone.csv"))


def rows(table: Path) -> list[tuple[str, str]]:
    with table.open(newline="", encoding="utf-8") as file:
        return [(row["topic"], row["entity"]) for row in csv.DictReader(file)]


@pytest.mark.parametrize(
    ("rounds", "looks", "plays", "tables", "within"),
    [(1, 2, 0, 1, 0.1), pytest.param(100, RUNS, 2, 2, 2, marks=pytest.mark.soak)],
)
def test_commands_that_write_one_file_within_two_seconds_lose_none_of_each_others_changes(
    prepared: Path, tmp_path: Path, rounds: int, looks: int, plays: int, tables: int, within: float
) -> None:
    """Ten at a time in the long test: looks at runs that are there, and that are played; a gold table; a baseline."""
    rng, blessings = random.Random(rounds), 2 if plays else 0
    judged = [f"run-{number}" for number in range(looks)]
    pooled = [f"pool-{number}" for number in range(tables)]
    told, lost = 0, list[str]()
    for number in range(rounds):
        folder = copied(prepared, tmp_path / str(number))
        wanted = entities(folder, pooled)
        commands = [f"watch run audit.yaml --run {run}" for run in judged]
        commands += ["watch run audit.yaml"] * plays
        commands += [f"judge pool {run} --gold gold.csv" for run in pooled]
        commands += [f"watch bless run-{one} --out new.json --by {one}" for one in range(blessings)]
        ended = at_once(folder, commands, rng, within)
        blessed = [(command, said) for command, code, said in ended if command.startswith("watch bless") and code == 0]
        refused = [said for command, code, said in ended if command.startswith("watch bless") and code == 2]
        assert all(re.search(r"this baseline exists already|another process wrote this file", said) for said in refused)
        assert len(blessed) == len(refused) == blessings / 2
        for command, _ in blessed:
            assert f'"blessed_by": "{command[-1]}"' in (folder / "new.json").read_text()
        others = [one for one in ended if not one[0].startswith("watch bless")]
        assert [(command, said) for command, code, said in others if code not in (0, 1, 3)] == []
        played = {one.name for one in folder.glob("runs/weekly/*")}
        history = whole_history(folder / "audit.history.jsonl")
        assert len(played) == plays
        assert (len(history.lines), history.torn) == (len(history.looks), ())
        lost += {*judged, *played} - {one.run for one in history.looks}
        assert sorted(rows(folder / "gold.csv")) == sorted(wanted), "each once"
        assert not [*folder.glob(".*.tmp")]
        told += len(others) + len(blessed)
    print(f"{rounds} rounds: {told} commands said that they wrote, and {len(lost)} of them had a line lost")
    assert lost == []


def test_a_baseline_that_somebody_else_replaced_meanwhile_is_not_replaced(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copied(prepared, tmp_path)
    whole, once = make_baseline, list[int]()

    def slow(*runs: object, **named: object) -> object:
        if not once:
            once.append(1)
            other = harvest("watch", "bless", "run-1", "--out", "audit.baseline.json", "--by", "b", "--replace")
            assert other.returncode == 0
        return whole(*runs, **named)  # type: ignore[arg-type]

    monkeypatch.setattr("harvest.cli.watch.bless.make_baseline", slow)
    done = harvest("watch", "bless", "run-0", "--out", "audit.baseline.json", "--by", "a", "--replace", cwd=folder)
    assert done.returncode == 2
    assert "audit.baseline.json: another process wrote this file while the runs were read" in done.stderr
    assert '"blessed_by": "b"' in (folder / "audit.baseline.json").read_text()
    again = harvest("watch", "bless", "run-0", "--out", "audit.baseline.json", "--by", "a", "--replace", cwd=folder)
    assert again.returncode == 0
    assert '"blessed_by": "a"' in (folder / "audit.baseline.json").read_text()


def test_rows_that_somebody_fills_in_while_runs_are_pooled_are_kept(prepared: Path, tmp_path: Path) -> None:
    folder = copied(prepared, tmp_path)
    assert harvest("judge", "pool", "pool-0", "--gold", "gold.csv", cwd=folder).returncode == 0
    table = folder / "gold.csv"
    filled = table.read_text().replace(",,", ",L1,", 1).removesuffix("\n")  # an editor may write no last line end
    done: list[int] = []
    with shared_file(table) as file:
        pooling = threading.Thread(
            target=lambda: done.append(harvest("judge", "pool", "pool-1", "--gold", table, cwd=folder).returncode)
        )
        pooling.start()
        time.sleep(0.5)
        file.replace(filled.encode())
    pooling.join(timeout=60)
    assert done == [0]
    assert table.read_text().startswith(f"{filled}\n")
    assert len(rows(table)) == len(entities(folder, ["pool-0", "pool-1"]))


def test_metrics_keep_the_time_of_success_that_another_audit_wrote_meanwhile(tmp_path: Path) -> None:
    """The file is read and written again under one lock."""
    path = tmp_path / "weekly.prom"
    channels = Channels({"prometheus": path}, None, False)
    failed = bulletin(code=3, verdict="not measured")
    telling = threading.Thread(target=lambda: channels.send_reports(failed))
    with shared_file(path) as file:
        telling.start()
        time.sleep(0.3)
        file.replace(metrics(bulletin(CHANGED)).encode())
    telling.join(timeout=20)
    assert last_success(failed, path.read_text()) == AT
