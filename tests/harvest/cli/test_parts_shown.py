"""The parts of an answer, from a system to what `show`, `score` and the report print of them."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.command_line import harvest

FILM = "https://www.imdb.com/title/tt0088763/"
BOT = f"""
def answer(text):
    return {{
        "text": "<think>hm</think>Alpha is one.",
        "sources": [{{"url": "{FILM}", "title": "A", "start": 17, "end": 22}}],
        "tools": [{{"name": "search", "arguments": {{"q": "film"}}}}],
        "offers": ["More?"],
        "attachments": [{{"name": "still.png", "type": "image/png", "size": 7}}],
        "finish": "length",
        "refusal": "I must stop here.",
    }}
"""
AUDIT = """
format: harvest-audit/1
name: parts
topics: fairweb-45
only: [M002]
protocol: fairweb-two-round
trials: 1
systems:
  - {name: bot, driver: python, options: {function: "bot.py:answer"}}
"""


def test_every_part_is_shown_and_notes_are_counted(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(BOT)
    (tmp_path / "audit.yaml").write_text(AUDIT)
    assert harvest("run", "audit.yaml", "--out", "run", cwd=tmp_path).returncode == 0
    chosen = ("--system", "bot", "--topic", "M002", "--trial", 1)
    shown = harvest("show", "run", *chosen, cwd=tmp_path).stdout
    for line in (
        f"source (beside) for 'Alpha': A: {FILM}",
        "thoughts: hm",
        'tool call: search {"q": "film"}',
        "offer: More?",
        "attachment: still.png image/png 7 bytes",
        "note: it thought aloud",
        "the system marked this as a refusal",
        "refusal: I must stop here.",
    ):
        assert line in shown
    listed = json.loads(harvest("show", "run", *chosen, "--json", cwd=tmp_path).stdout)
    first = listed["trials"][0]["turns"][0]
    assert (first["text"], first["thoughts"], first["ending"]) == ("Alpha is one.", "hm", "refused")
    assert (first["refused"], first["refusal"]) == (True, "I must stop here.")
    assert first["sources"] == [{"href": FILM, "title": "A", "start": 0, "end": 5}]
    assert first["route"]["label"] == "o"
    done = harvest("score", "run", cwd=tmp_path)
    scored = " ".join((done.stdout + done.stderr).split())
    assert "2 answers (bot x 2): it thought aloud at the beginning of its text" in scored
    assert harvest("report", "run", "--out", "report.html", cwd=tmp_path).returncode == 0
    assert "tool call: search" in (tmp_path / "report.html").read_text()
