"""What an older Harvest passed over in a reply is recovered from what was kept of it, and nothing else changes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.chat_api import chat_api
from tests.support.command_line import harvest

FILM = "https://www.imdb.com/title/tt0088763/"
AUDIT = """
format: harvest-audit/1
name: old
topics: fairweb-45
only: [M002]
protocol: fairweb-two-round
trials: 1
systems:
  - {name: mine, driver: DRIVER, options: OPTIONS}
"""
PARTS = ("sources", "thoughts", "calls", "offers", "attachments", "refused", "notes")


def _as_recorded_before(run: Path, text: str | None, links: list[Any] | None) -> None:
    """The run as it would have been recorded without parts: with this text and these links in each turn."""
    (file,) = run.glob("trials-*.jsonl")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for row in rows:
        if row["event"] == "turn":
            for name in PARTS:
                row.pop(name, None)
            row["text"] = row["text"] if text is None else text
            row["links"] = row["links"] if links is None else links
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


PROGRAM = """
import json, sys
def answer(text): return SAID
if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps({"text": SAID}) if sys.argv[1] == "json" else SAID, flush=True)
"""


@pytest.mark.parametrize("driver", ["openai", "http", "python", "command json", "command lines"])
@pytest.mark.parametrize(
    ("said", "was", "now", "thoughts"),
    [
        (f"<think>perhaps {FILM}</think>None.", f"<think>perhaps {FILM}</think>None.", "None.", f"perhaps {FILM}"),
        (f"It is {FILM}.", None, f"It is {FILM}.", None),
    ],
)
def test_a_reply_is_read_again(
    driver: str, said: str, was: str | None, now: str, thoughts: str | None, tmp_path: Path
) -> None:
    with chat_api(lambda turns: (said, "m1")) as port:
        url = f"http://127.0.0.1:{port}/v1"
        options: dict[str, Any] = {"base_url": url, "model": "m1"}
        if driver == "http":
            body = {"messages": "{{ messages }}"}
            options = {"url": url, "body": body, "stateful": False, "reply": ["$.a", "$.choices[0].message.content"]}
        (tmp_path / "bot.py").write_text(PROGRAM.replace("SAID", repr(said)))
        if driver == "python":
            options = {"function": "bot.py:answer"}
        elif driver.startswith("command"):
            driver, mode = driver.split()
            options = {"argv": [sys.executable, "bot.py", mode], "mode": mode}
        audit = AUDIT.replace("DRIVER", driver).replace("OPTIONS", json.dumps(options))
        (tmp_path / "audit.yaml").write_text(audit)
        assert harvest("run", "audit.yaml", "--out", "run", cwd=tmp_path).returncode == 0
    links = None if was is None else [{"text": FILM, "href": FILM}]
    _as_recorded_before(tmp_path / "run", was, links)
    done = harvest("pages", "read-again", "run", "--out", "again", "--json", cwd=tmp_path)
    told = json.loads(done.stdout)
    assert told["troubles"] == []
    changed = 2 if was is not None else 0
    assert (done.returncode, told["read"], told["changed"], told["unreadable"]) == (0, 2, changed, 0)
    (file,) = (tmp_path / "again").glob("trials-*.jsonl")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    turns = [row for row in rows if row["event"] == "turn"]
    assert [(row["text"], row.get("thoughts")) for row in turns] == [(now, thoughts)] * 2
    assert all(("before" in row) == (was is not None) for row in turns)
    scored = harvest("score", "again", cwd=tmp_path)
    told_of_it = "again: 2 of 2 answers are others (text in 2, links in 2, thoughts in 2) since Harvest"
    assert (told_of_it in " ".join(scored.stdout.split())) == (was is not None), scored.stdout
    assert "answers are others" not in harvest("score", "run", cwd=tmp_path).stdout


def test_replies_are_read_with_an_audits_new_options(tmp_path: Path) -> None:
    said = f"<think>hm</think>It is {FILM}."
    with chat_api(lambda turns: (said, "m1")) as port:
        options: dict[str, Any] = {"base_url": f"http://127.0.0.1:{port}/v1", "model": "m1"}
        for name, apart in (("old", False), ("mended", True)):
            own = json.dumps({**options, "thoughts_apart": apart})
            (tmp_path / f"{name}.yaml").write_text(AUDIT.replace("DRIVER", "openai").replace("OPTIONS", own))
        assert harvest("run", "old.yaml", "--out", "run", "--no-report", cwd=tmp_path).returncode == 0
    read = ("pages", "read-again", "run")
    same = harvest(*read, "--options-of", "old.yaml", cwd=tmp_path)
    assert same.returncode == 2
    assert "no system of the run has other options there" in same.stderr
    assert json.loads(harvest(*read, "--json", cwd=tmp_path).stdout)["changed"] == 0
    done = harvest(*read, "--options-of", "mended.yaml", "--out", "again", cwd=tmp_path, width=200)
    assert done.returncode == 0, done.stderr
    assert "mine: read with other options than recorded: thoughts_apart" in done.stdout
    header = json.loads((tmp_path / "again" / "run.json").read_text())
    assert header["source"]["options"] == {"mine": {"thoughts_apart": True}}
    assert header["systems"]["mine"]["options"]["thoughts_apart"] is False, "resumed as it was begun"
    shown = harvest("show", "again", "--topic", "M002", cwd=tmp_path, width=200).stdout
    assert f"It is {FILM}." in shown
    assert "<think>" not in shown
    scored = " ".join(harvest("score", "again", cwd=tmp_path, width=400).stdout.split())
    assert "read again what was kept of them with other options (mine: thoughts_apart), so figures can differ" in scored
    assert harvest("data", "verify", "again", cwd=tmp_path).returncode == 0
