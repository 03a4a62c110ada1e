"""How many of our modules one answer passes: `pytest -s` prints them.

One trial is played with the driver `python`, its run is read, and one measure is scored. A module counts if one of its
functions runs. What is imported or cached once for all trials does not count: the first of two trials does that.
"""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import harvest
from tests.support.checkout import ROOT

PACKAGES = ("topics/", "protocols/", "simulators/", "recordings/", "scoring/", "harvest/")
MOST = 110
AUDIT = """\
format: harvest-audit/1
name: one
topics: fairweb-45
only: [M001]
protocol: seed-turns
trials: 1
systems: [{name: A, driver: python, options: {function: "bot.py:answer"}}]
"""
BOT = """\
def answer(text):
    return "Back to the Future https://www.imdb.com/title/tt0088763/"
"""


@contextmanager
def modules_used(found: set[str]) -> Iterator[None]:
    """Add the files of which a function runs, in any thread."""

    def note(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        # Modules and classes run too, when they are imported, but have no names of their own.
        if event == "call" and code.co_flags & inspect.CO_NEWLOCALS and code.co_filename.startswith(str(ROOT)):
            found.add(code.co_filename.removeprefix(f"{ROOT}/"))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def test_an_answer_passes_through_few_modules(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(BOT)
    (tmp_path / "audit.yaml").write_text(AUDIT)
    for run in ("first", "second"):
        audit = harvest.load_audit(str(tmp_path / "audit.yaml"))
        played: set[str] = set()
        with modules_used(played):
            harvest.play(audit, tmp_path / run)
        scored: set[str] = set()
        with modules_used(scored):
            harvest.score_runs(tmp_path / run, measures=["%useful"])
    passed = {name for name in played | scored if name.startswith(PACKAGES)}
    for name in sorted(passed):
        print(name, *(word for word, part in (("played", played), ("scored", scored)) if name in part))
    print(f"{len(passed)} modules")
    assert len(passed) <= MOST
