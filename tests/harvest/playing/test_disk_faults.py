"""A disk that is full, read-only or broken at any moment of a run: one message, nothing lost, and a run that goes on.

Each case holds its row of docs/faults.md.
"""

from __future__ import annotations

import errno
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from recordings.log.run_folder import count_begun_files, is_run, read
from tests.support.command_line import harvest
from tests.support.fault_page import Row, code, hold, rows
from tests.support.faulty_disk import FaultyDisk, faulty_disk

BOT = """\
import pathlib
HERE = pathlib.Path(__file__).parent

def answer(text, history):
    if "puncture" in text:
        raise RuntimeError("out of order")
    with (HERE / "asked.txt").open("a") as log:
        log.write(f"{len(history)}\\n")
    (HERE / "then.py").exists() and exec((HERE / "then.py").read_text(), {"HERE": HERE})
    return f"Here: https://www.imdb.com/title/tt{len(history):07d}/"
"""
AUDIT = """\
format: harvest-audit/1
name: disk
topics: fairweb-45
only: [M001, Y001]
protocol: fairweb-two-round
trials: 1
max_invalid: 1
systems:
  - name: bot
    driver: python
    options: {function: "bot.py:answer", takes: history}
    retries: 0
    attempts: 1
"""
CHANGES = 10**9


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bot.py").write_text(BOT)
    (tmp_path / "audit.yaml").write_text(AUDIT)
    return tmp_path


def changes_of(folder: Path) -> list[tuple[str, str]]:
    """What an undisturbed run changes on the disk, in order, with paths from its folder on."""
    with faulty_disk(FaultyDisk(folder / "whole", CHANGES)) as disk:
        assert harvest("run", "audit.yaml", "--out", "whole", cwd=folder).returncode == 0
    assert harvest("data", "verify", "whole", cwd=folder).returncode == 0
    (folder / "asked.txt").unlink()
    return [(call, str(Path(path).relative_to(folder / "whole"))) for call, path in disk.changes]


def said_of(messages: str, folder: Path) -> list[str]:
    """The message that ends a run, with paths from the folder on."""
    _, found, told = messages.partition("error: ")
    assert found, messages
    assert "Traceback" not in messages
    return [line.strip() for line in f"{found}{told}".replace(f"{folder}/", "").splitlines()]


def answered(folder: Path, run: str) -> int:
    """Turns with an answer in the recording so far."""
    if not is_run(folder / run) or not count_begun_files(folder / run):
        return 0
    return sum(len(one.exchanges) for one in read(folder / run).conversations)


def goes_on(folder: Path, run: str) -> int:
    """The same command finishes the run on a disk that works. Returns how many turns more than needed were asked."""
    assert harvest("run", "audit.yaml", "--out", run, cwd=folder).returncode == 0
    verified = harvest("data", "verify", run, cwd=folder)
    assert verified.returncode == 0, verified.stdout
    finished = [one for one in read(folder / run).conversations if one.outcome is not None]
    valid = [one for one in finished if one.outcome is not None and one.outcome.valid]
    assert [len(one.exchanges) for one in valid] == [2] * (len(valid) or 1)
    assert read(folder / run).finished
    log = folder / "asked.txt"
    return len(log.read_text().splitlines()) if log.exists() else 0


@dataclass(frozen=True)
class Case:
    """says: the fault. number: the error. call, file: the change that it meets, the last such where several do."""

    says: str
    number: int
    call: str
    file: str


CASES = {
    "full_at_first": Case("the disk is full before the run begins", errno.ENOSPC, "open", ".run.json"),
    "full": Case("the disk is full while a turn is written", errno.ENOSPC, "write", "trials-000001.jsonl"),
    "full_evidence": Case("the disk is full while an exhibit is kept", errno.ENOSPC, "open", "evidence/"),
    "full_scores": Case("the disk is full when the run is scored", errno.ENOSPC, "open", ".scores.json"),
    "quota": Case("the quota on the disk is used up", errno.EDQUOT, "write", "trials-000001.jsonl"),
    "too_large": Case("files may not grow further (`ulimit -f`)", errno.EFBIG, "write", "trials-000001.jsonl"),
    "read_only": Case("the disk becomes read-only", errno.EROFS, "write", "trials-000001.jsonl"),
    "read_only_at_first": Case("the disk is read-only", errno.EROFS, "mkdir", "."),
    "broken": Case("the disk cannot be written (input/output error)", errno.EIO, "write", "trials-000001.jsonl"),
    "not_safe": Case("the disk does not confirm what it was given", errno.EIO, "fsync", "trials-000001.jsonl"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_fault_of_the_disk(folder: Path, name: str) -> None:
    case, changes = CASES[name], changes_of(folder)
    met = [place for place, (call, path) in enumerate(changes) if call == case.call and path.startswith(case.file)]
    place = met[len(met) // 2]
    with faulty_disk(FaultyDisk(folder / "run", place, case.number)) as disk:
        done = harvest("run", "audit.yaml", "--out", "run", cwd=folder)
    assert disk.failed
    assert done.returncode == 2
    seen = said_of(done.stderr, folder)
    log = folder / "asked.txt"
    asked = len(log.read_text().splitlines()) if log.exists() else 0
    kept = answered(folder, "run")
    assert asked - kept <= 1
    recorded = "nothing was sent" if not asked else "every turn before it" if name != "full_scores" else "the whole run"
    more = goes_on(folder, "run") - 2
    assert more in (0, 1)
    again = "the turn under way, on resuming" if more else "no"
    hold(Row(case.says, recorded, again, "<br>".join(map(code, seen)), f"`test_a_fault_of_the_disk[{name}]`"), "Disks")


@pytest.mark.parametrize(
    ("number", "step"),
    [
        (errno.ENOSPC, 5),
        *(
            pytest.param(number, 1, marks=pytest.mark.soak)
            for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)
        ),
    ],
)
@pytest.mark.parametrize("once", [False, True])
def test_a_run_reports_any_change_of_the_disk_and_continues_later(
    folder: Path, number: int, step: int, once: bool
) -> None:
    for place in range(0, len(changes_of(folder)), step):
        with faulty_disk(FaultyDisk(folder / f"run-{place}", place, number, once=once)) as disk:
            done = harvest("run", "audit.yaml", "--out", f"run-{place}", cwd=folder)
        if (
            once and disk.changes[place][0] == "ftruncate"
        ):  # in the lock: which process has it is a help for people, and no more
            assert done.returncode == 0
            (folder / "asked.txt").unlink()
            continue
        assert done.returncode == 2
        seen = said_of(done.stderr, folder)
        assert os.strerror(number) in seen[0]
        assert seen[-1].startswith("do: ")
        before = answered(folder, f"run-{place}")
        (folder / "asked.txt").unlink(missing_ok=True)
        assert goes_on(folder, f"run-{place}") <= 2 - before, "an answer that was on the disk was asked for again"


FILL = """
with open(HERE / "disk" / "filler", "wb", 0) as file:
    try:
        while True:
            file.write(bytes(100))
    except OSError:
        pass
"""


def may_mount() -> bool:
    """Whether this process has CAP_SYS_ADMIN."""
    (capabilities,) = re.findall(r"^CapEff:\s+([0-9a-f]+)$", Path("/proc/self/status").read_text(), re.MULTILINE)
    return bool(int(capabilities, 16) >> 21 & 1)


@pytest.fixture
def mounted(folder: Path) -> Iterator[Path]:
    """A real file system of 128 KiB."""
    place = folder / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and not may_mount():
        pytest.skip("without CAP_SYS_ADMIN no file system can be mounted")
    assert done.returncode == 0, done.stderr
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True, capture_output=True)


def test_a_real_full_disk_is_reported_equally(folder: Path, mounted: Path) -> None:
    (folder / "then.py").write_text(FILL)
    done = harvest("run", "audit.yaml", "--out", "disk/run", cwd=folder)
    assert done.returncode == 2, done.stderr
    seen = said_of(done.stderr, folder)
    assert seen[0].endswith(": No space left on device")
    assert seen[1:] == said_of_row("full")[1:]
    (folder / "then.py").unlink()
    (mounted / "filler").unlink()
    assert goes_on(folder, "disk/run") <= 3


def test_a_real_read_only_disk_is_reported_equally(folder: Path, mounted: Path) -> None:
    remount(mounted, "ro")
    done = harvest("run", "audit.yaml", "--out", "disk/run", cwd=folder)
    assert done.returncode == 2, done.stderr
    assert [line.replace("disk/run", "run") for line in said_of(done.stderr, folder)] == said_of_row(
        "read_only_at_first"
    )
    remount(mounted, "rw")
    assert goes_on(folder, "disk/run") == 2


def said_of_row(name: str) -> list[str]:
    """The lines of the message as the page has them."""
    return [line.strip("`") for line in rows()[f"`test_a_fault_of_the_disk[{name}]`"].seen.split("<br>")]


def remount(place: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(place)], check=True)


def linked_evidence(folder: Path) -> None:
    """Play a run, and put a link in the place of its evidence."""
    assert harvest("run", "audit.yaml", "--out", "run", cwd=folder).returncode == 0
    (folder / "run" / "evidence").rename(folder / "disk")
    (folder / "run" / "evidence").symlink_to(folder / "disk")


def test_evidence_behind_a_link(folder: Path) -> None:
    linked_evidence(folder)
    before = (folder / "asked.txt").read_text()
    done = harvest("run", "audit.yaml", "--trials", "2", "--out", "run", cwd=folder, width=1000)
    assert done.returncode == 2
    assert (folder / "asked.txt").read_text() == before
    seen = "<br>".join(map(code, said_of(done.stderr, folder)))
    says = "the evidence of a run that is resumed lies behind a link"
    hold(Row(says, "nothing was sent", "no", seen, "`test_evidence_behind_a_link`"), "Stores and links")


def test_evidence_behind_a_link_when_merging(folder: Path) -> None:
    linked_evidence(folder)
    done = harvest("data", "merge", "run", "--out", "merged", cwd=folder, width=1000)
    assert done.returncode == 3
    whole, merged = read(folder / "run"), read(folder / "merged")
    assert [one.outcome for one in merged.conversations] == [one.outcome for one in whole.conversations]
    told = done.stderr.splitlines()
    seen = "<br>".join(code(re.sub(r"evidence/\w\w/.*", "evidence/…", line)) for line in told[:2])
    says = "the evidence of a run that is merged lies behind a link"
    recorded = "every event, in the new run, without that evidence"
    hold(Row(says, recorded, "–", seen, "`test_evidence_behind_a_link_when_merging`"), "Stores and links")
