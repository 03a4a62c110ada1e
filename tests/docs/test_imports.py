"""What the pages show of imported dialogues works as it is written: from logs to a tree, and to a checked user."""

from __future__ import annotations

import json
import random
import re
import shlex
import textwrap
from pathlib import Path

from tests.support.checkout import DOCS
from tests.support.command_line import harvest

RECORDINGS = (DOCS / "recordings.md").read_text(encoding="utf-8")
VALIDATION = (DOCS / "simulators" / "validation.md").read_text(encoding="utf-8")


def _blocks(text: str, heading: str, kind: str) -> list[str]:
    """What is fenced under the heading, as ```kind."""
    section = re.split(r"\n##+ ", text.partition(f"{heading}\n")[2])[0]
    fenced = re.findall(r"^ *```(\w*)\n(.*?)^ *```$", section, re.DOTALL | re.MULTILINE)
    return [textwrap.dedent(block) for found, block in fenced if found == kind]


def _play(commands: str, folder: Path) -> list[str]:
    """What each command prints."""
    printed = []
    for line in commands.splitlines():
        done = harvest(*shlex.split(line)[1:], cwd=folder, width=100)
        assert done.returncode == 0, (line, done.stderr)
        printed.append(done.stdout)
    return printed


def test_the_logs_on_the_page_become_a_run_a_tree_and_the_share_of_failures_after_failures(tmp_path: Path) -> None:
    (logs,) = _blocks(RECORDINGS, "### JSON messages", "json")
    (commands,) = _blocks(RECORDINGS, "### JSON messages", "")
    (tmp_path / "logs.jsonl").write_text(logs, encoding="utf-8")
    _, tree, score = _play(commands, tmp_path)
    assert re.search(r"S x +2/3", tree)
    assert re.search(r"transition\(x, x\) +0\.5000 .* 2 ", score)


def test_every_key_that_an_export_writes_or_an_import_reads_is_in_the_table(tmp_path: Path) -> None:
    (logs,) = _blocks(RECORDINGS, "### JSON messages", "json")
    (tmp_path / "logs.jsonl").write_text(logs, encoding="utf-8")
    _play("harvest data import --format messages logs.jsonl --out run", tmp_path)
    _play("harvest data export run --format messages --out again.jsonl", tmp_path)
    table = RECORDINGS.partition("| key of `metadata` |")[2].partition("\n\n")[0]
    named = {key for row in table.splitlines()[2:] for key in re.findall(r"`([a-z_]+)`", row.split("|")[1])}
    for line in (tmp_path / "again.jsonl").read_text(encoding="utf-8").splitlines():
        assert set(json.loads(line)["metadata"]) <= named
    reader = (DOCS.parent / "recordings" / "formats" / "messages.py").read_text(encoding="utf-8")
    assert set(re.findall(r"self\._(?:text|count|list)\(\"([a-z_]+)\"", reader)) <= named


def test_a_user_is_fitted_to_logs_played_and_checked_as_the_page_says(tmp_path: Path) -> None:
    heading = "## From logs to a user that has been checked"
    rng = random.Random(1)
    for name in ("fit", "check"):
        lines = [json.dumps(_log(number, rng)) for number in range(20)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (protocol,) = _blocks(VALIDATION, heading, "yaml")
    (tmp_path / "protocol.yaml").write_text(protocol, encoding="utf-8")
    (tmp_path / "bot.py").write_text(
        'def answer(text):\n    return "At nine." if "mean" in text else "I do not know."\n'
    )
    (tmp_path / "topics.yaml").write_text(TOPICS)
    (tmp_path / "audit.yaml").write_text(AUDIT)
    fit, check = _blocks(VALIDATION, heading, "")
    _play(fit, tmp_path)
    *_, compared = _play(check, tmp_path)
    assert re.search(r"JSD\(acts\) .* (within|beyond)", compared)


QUESTIONS = {"hours": "When do you open?", "loans": "How long may I keep a film?"}
TOPICS = f"""\
format: harvest-topics/1
name: desk
types: {{question: {{asks_for: answer}}}}
topics:
{"".join(f'  - {{id: {topic}, type: question, request: "{said}"}}' + chr(10) for topic, said in QUESTIONS.items())}"""
AUDIT = """\
format: harvest-audit/1
name: visit
topics: topics.yaml
protocol: protocol.yaml
trials: 10
systems: [{name: desk, driver: python, options: {function: bot.py:answer}}]
"""


def _log(number: int, rng: random.Random) -> dict[str, object]:
    """One person at the desk, who leaves in 7 of 10 cases after a useful answer and in 3 of 10 after another."""
    topic = ("hours", "loans")[number % 2]
    acts, labels = ["ask"], [rng.choice("ox")]
    while rng.random() > (0.7 if labels[-1] == "o" else 0.3) and len(acts) < 8:
        acts.append("more" if labels[-1] == "o" else "rephrase")
        labels.append(rng.choice("ox"))
    messages = []
    for act, label in zip(acts, labels, strict=True):
        messages.append({"role": "user", "content": QUESTIONS[topic] if act == "ask" else act})
        messages.append({"role": "assistant", "content": "At nine." if label == "o" else "I do not know."})
    metadata = {"system": "desk", "topic": topic, "labels": labels, "acts": acts, "outcome": "user-stopped"}
    return {"messages": messages, "metadata": metadata}
