"""Runs to make reports of: one that is well-behaved, and one whose system writes what no page should run."""

from __future__ import annotations

import atexit
import base64
import csv
import hashlib
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path

from harvest.studies.watch.baseline import read_baseline
from harvest.studies.watch.watch import watch
from recordings.log.run_folder import read
from tests.support.command_line import harvest
from tests.support.histories import write_history

__all__ = [
    "HOSTILE",
    "PARTS_SHOWN",
    "PICTURE",
    "audit",
    "copied_run",
    "full_run",
    "hostile_run",
    "parts_run",
    "small_run",
]

_AUDIT = """format: harvest-audit/1
name: small
topics: fairweb-45
only: [M001, M002, M003, R001, R002, Y001]
protocol: fairweb-two-round
gold: parrot
trials: 3
systems:
"""

_SYSTEMS = """  - {name: A, driver: parrot}
  - {name: B, driver: parrot, options: {profile: erratic}}
"""

HOSTILE = (
    "<script>document.title='taken'</script>",
    "</script><img src=x onerror=\"document.title='taken'\">",
    "<!--<script>",
    "]]></svg><svg onload=\"document.title='taken'\">",
    "javascript:document.title='taken'",
    "[read me](javascript:document.title='taken') <a href='https://evil.example/'>x</a> ![](https://evil.example/i.png)",
    "\u202eright to left\u202c \u2067isolated\u2069 \u200f mark",
    "\x00\x01\x1b[31mred\x1b[0m \x7f \x85 \ud800 half",
    "\u2028\u2029 lines",
    "العربية לעברית 漢字 👩‍👩‍👧",
    "Å" * 100_000,
)
"""Answers, one after the other; the last is longer than a report shows."""

_SYSTEM = '''"""Answers with the lines of a file, one after the other, over and over."""
import json, pathlib
WORDS = json.loads((pathlib.Path(__file__).parent / "words.json").read_text())
ASKED = [0]

def answer(text):
    ASKED[0] += 1
    return WORDS[ASKED[0] % len(WORDS)]
'''


def audit(systems: str, trials: int) -> str:
    """Of six topics. systems: lines of YAML."""
    return _AUDIT.replace("trials: 3", f"trials: {trials}") + systems


def small_run(folder: Path, systems: str = _SYSTEMS, trials: int = 3) -> Path:
    """Two embedded systems on six topics."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "audit.yaml").write_text(audit(systems, trials), encoding="utf-8")
    assert harvest("run", folder / "audit.yaml", "--out", folder / "run").returncode == 0
    return folder / "run"


def copied_run(folder: Path) -> Path:
    """`small_run`, which is played once in each process."""
    shutil.copytree(_played_once(), folder, dirs_exist_ok=True)
    return folder / "run"


@cache
def _played_once() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="small-run-"))
    atexit.register(shutil.rmtree, folder)
    return small_run(folder).parent


def hostile_run(folder: Path) -> Path:
    """A system that answers with each of HOSTILE."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hostile.py").write_text(_SYSTEM, encoding="utf-8")
    (folder / "words.json").write_text(json.dumps(HOSTILE), encoding="utf-8")
    systems = "  - {name: A, driver: python, options: {function: 'hostile.py:answer'}}\n"
    return small_run(folder, systems, trials=2)


_WITH_PARTS = """
WHOLE = {
    "refusal": "The answer.",
    "sources": ["https://example.org/a", {"href": "https://example.org/b", "title": "A second source"}],
    "thoughts": "first this, then that",
    "tools": [{"name": "lookup", "arguments": "{\\"title\\": \\"x\\"}"}],
    "offers": ["Tell me more", {"title": "Open it", "value": "https://example.org/c", "kind": "card"}],
    "attachments": [{"name": "poster.png", "type": "image/png", "size": 321}],
    "model": "reader-2",
}

def sources(text): return part("sources")
def thoughts(text): return part("thoughts")
def calls(text): return part("tools")
def offers(text): return part("offers")
def attachments(text): return part("attachments")
def refused(text): return {"refusal": WHOLE["refusal"]}
def whole(text): return WHOLE
def part(name): return {"text": "The answer.", name: WHOLE[name]}
"""

PARTS_SHOWN = {
    "sources": ("source (beside): https://example.org/a", "source (beside): A second source: https://example.org/b"),
    "thoughts": ("thoughts: first this, then that",),
    "calls": ('tool call: lookup {"title": "x"}',),
    "offers": ("offer: Tell me more", "offer (card): Open it -> https://example.org/c"),
    "attachments": ("attachment: poster.png image/png 321 bytes",),
    "refused": ("the system marked this as a refusal",),
}
"""What a reader sees of each part; a system of `parts_run` by each of these names, and `whole` with all."""


def parts_run(folder: Path) -> Path:
    """Systems whose answers bring each part alone, and one that brings them all."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "parts.py").write_text(_WITH_PARTS, encoding="utf-8")
    systems = "".join(
        f"  - {{name: {name}, driver: python, options: {{function: 'parts.py:{name}'}}}}\n"
        for name in (*PARTS_SHOWN, "whole")
    )
    return small_run(folder, systems, trials=1)


PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""A PNG of one pixel."""


def full_run(folder: Path) -> tuple[Path, Path, Path]:
    """A run of which every section of a report has something to say, its baseline, and its history: two systems, one
    attempt that broke, scores by a person, and a screenshot of every answer."""
    run = copied_run(folder)
    (events,) = run.glob("trials-*.jsonl")
    address = hashlib.sha1(PICTURE).hexdigest()
    place = run / "evidence" / address[:2] / f"{address}.png"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(PICTURE)
    lines = [json.loads(line) for line in events.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if line["event"] == "turn":
            line["evidence"] = {"screenshot": f"evidence/{address[:2]}/{address}.png"}
    (last,) = [line for line in lines if line["event"] == "trial-ended"][-1:]
    last |= {"outcome": "invalid", "reason": "timeout", "detail": "no answer in 60 s"}
    events.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")

    sheet = folder / "sheet.csv"
    asked = ("--criterion", "Fluency", "--criterion", "Harmlessness")
    assert harvest("judge", "sheet", run, "--export", sheet, *asked).returncode == 0
    with sheet.open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows):
        row["value"] = str(number % 5 / 4)
    with sheet.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    assert harvest("judge", "sheet", run, "--import", sheet, "--author", "anna", "--version", "1").returncode == 0

    baseline, history = folder / "baseline.json", folder / "history.jsonl"
    assert harvest("watch", "bless", run, "--out", baseline, "--by", "me").returncode == 0
    look = watch(read(run), read_baseline(baseline)).noted
    days = (f"2026-01-{7 * week:02}T03:17:00.000Z" for week in (1, 2, 3, 4))
    write_history(history, tuple(look.model_copy(update={"at": day}) for day in days))
    return run, baseline, history
