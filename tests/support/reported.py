"""Runs to make reports of: one that is well-behaved, and one whose system writes what no page should run."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.command_line import harvest

__all__ = ["HOSTILE", "audit", "hostile_run", "small_run"]

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


def hostile_run(folder: Path) -> Path:
    """A system that answers with each of HOSTILE."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hostile.py").write_text(_SYSTEM, encoding="utf-8")
    (folder / "words.json").write_text(json.dumps(HOSTILE), encoding="utf-8")
    systems = "  - {name: A, driver: python, options: {function: 'hostile.py:answer'}}\n"
    return small_run(folder, systems, trials=2)
