"""A driver, a kind of rule and an import format that somebody else wrote, packed, installed and found by entry points.

A real distribution in a folder of its own, with a program of its own; nothing of a registry is replaced.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from recordings import read
from tests.support import distributions
from tests.support.distributions import python

DRIVER = '''\
"""Answers in capitals, from this process."""

from dataclasses import dataclass

from pydantic import Field

from harvest.systems.driver import Capabilities, Reply
from protocols.answer import Answer
from recordings.conversations.conversation import SystemTurn
from topics.document import StrictModel


class Options(StrictModel):
    mark: str = Field("!", max_length=3, description="what each answer ends with")


@dataclass
class Session:
    mark: str

    async def say(self, text):
        return Reply(SystemTurn(Answer(text.upper() + self.mark)))

    async def close(self):
        pass


@dataclass
class Shouting:
    mark: str
    capabilities: Capabilities = Capabilities(stateful=True)

    async def open(self, opening):
        return Session(self.mark)

    async def close(self):
        pass


def build(options, surroundings):
    return Shouting(options.mark)
'''
RULE = '''\
"""`shouted`: the answer is all in capitals."""

from typing import ClassVar

from protocols import Verdict
from protocols.rules.rule import span
from topics.document import StrictModel


class Shouted(StrictModel):
    least: int = 1

    version: ClassVar[str] = "shouted/1"
    needs: ClassVar[frozenset[str]] = frozenset()

    def judge(self, sight):
        text = sight.answer.text
        holds = len(text) >= self.least and text == text.upper()
        return Verdict(holds, (span(text, 0, min(len(text), 20), "the beginning"),))

    def unfit(self, topic):
        return None
'''
IMPORTER = '''\
"""`pairs`: a line of text for the user, one for the system, and so on; a file for each conversation."""

from protocols import Answer
from recordings import Conversation, Outcome, SystemTurn, TrialKey, Turn
from recordings.formats.importers import Found
from topics import Topic, TopicSet, TopicType


def read(request):
    conversations = []
    for trial, file in enumerate(request.files, request.trial):
        lines = file.read_text().splitlines()
        turns = tuple(
            Turn(number, "", said, SystemTurn(Answer.of(answered)))
            for number, (said, answered) in enumerate(zip(lines[::2], lines[1::2]), 1)
        )
        key = TrialKey(request.system or "pairs", request.topic or "T1", trial)
        conversations.append(Conversation(key, f"pairs-{trial}", 1, turns, Outcome("completed")))
    topic = Topic(request.topic or "T1", TopicType("chat"), "anything")
    return Found(tuple(conversations), TopicSet("pairs", (topic,), {}))
'''
PROTOCOL = """\
format: harvest-protocol/1
name: shouting
version: 1
rules: {loud: {shouted: {least: 3}}}
start: ask
states:
  ask:
    say: "Please say it: {{ topic.request }}"
    edges:
      - {if: loud, label: o, stop: completed}
      - {otherwise: true, label: x, stop: completed}
"""
AUDIT = """\
format: harvest-audit/1
name: shouted
topics: fairweb-45
only: [M001, M002]
protocol: shouting.yaml
trials: 2
systems: [{name: A, driver: shouting, options: {mark: "?"}}]
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the distribution was installed into."""
    names = {
        "harvest.drivers": {"shouting": "loud_parts.driver"},
        "harvest.rules": {"shouted": "loud_parts.rule:Shouted"},
        "harvest.importers": {"pairs": "loud_parts.importer:read"},
    }
    files = {"driver.py": DRIVER, "rule.py": RULE, "importer.py": IMPORTER}
    return distributions.installed(tmp_path_factory.mktemp("loud"), "loud-parts", files, names)


def write_audit(folder: Path, **changed: str) -> None:
    (folder / "shouting.yaml").write_text(PROTOCOL)
    text = AUDIT
    for old, new in changed.items():
        text = text.replace(old, new)
    (folder / "audit.yaml").write_text(text)


def test_a_driver_and_a_rule_play_and_label_and_the_run_can_be_scored_again(site: Path, tmp_path: Path) -> None:
    write_audit(tmp_path)
    done = python(site, tmp_path, "-m", "harvest", "run", "audit.yaml", "--out", "run", "--json")
    assert done.returncode == 0, done.stderr
    conversations = read(tmp_path / "run").conversations
    assert len(conversations) == 4
    for one in conversations:
        (turn,) = one.turns
        assert turn.reply is not None
        assert turn.reply.answer.text == turn.said.upper() + "?"
        assert turn.label == "o"
        assert turn.route is not None
    again = python(site, tmp_path, "-m", "harvest", "score", "run", "--json")
    assert json.loads(again.stdout)["rows"] == json.loads(done.stdout)["rows"]


def test_check_lists_the_code_of_other_packages_that_an_audit_uses(site: Path, tmp_path: Path) -> None:
    write_audit(tmp_path)
    done = python(site, tmp_path, "-m", "harvest", "check", "audit.yaml")
    assert done.returncode == 0, done.stderr
    head = done.stdout.splitlines()
    assert head[0] == "runs: the driver of loud-parts (loud_parts.driver)"
    assert (
        " ".join(head[2:5])
        .replace("     ", " ")
        .startswith("  of installed packages it uses the driver 'shouting' of loud-parts")
    )
    assert "the rule 'shouted' of loud-parts (loud_parts.rule:Shouted)" in " ".join(done.stdout.split())


def test_their_options_are_checked_at_their_place(site: Path, tmp_path: Path) -> None:
    write_audit(tmp_path, **{'"?"': '"much too long"'})
    refused = python(site, tmp_path, "-m", "harvest", "check", "audit.yaml")
    assert refused.returncode == 2
    assert "audit.yaml:7:55: " in refused.stderr
    assert "mark" in refused.stderr


def test_an_importer_makes_a_run(site: Path, tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("Hello\nGood day\nBye\nSee you\n")
    done = python(site, tmp_path, "-m", "harvest", "data", "import", "--format", "pairs", "one.txt", "--out", "run")
    assert done.returncode == 0, done.stderr
    (one,) = read(tmp_path / "run").conversations
    assert [(turn.said, turn.reply and turn.reply.answer.text) for turn in one.turns] == [
        ("Hello", "Good day"),
        ("Bye", "See you"),
    ]


def test_without_the_distribution_their_names_are_refused_with_the_known_ones(tmp_path: Path) -> None:
    write_audit(tmp_path)
    refused = python(tmp_path, tmp_path, "-m", "harvest", "check", "audit.yaml")
    assert refused.returncode == 2
    assert "there is no driver 'shouting'" in refused.stderr
    assert "openai" in refused.stderr
    write_audit(tmp_path, **{'driver: shouting, options: {mark: "?"}': "driver: parrot"})
    refused = python(tmp_path, tmp_path, "-m", "harvest", "check", "audit.yaml")
    assert "unknown rule 'shouted'" in refused.stderr


BROKEN = {
    "driver.py": (
        "def build(",
        "def made(",
        "the driver 'shouting' of loud-parts (loud_parts.driver)",
    ),
    "rule.py": (
        "def unfit(",
        "def fit(",
        "the rule 'shouted' of loud-parts (loud_parts.rule:Shouted)",
    ),
}


@pytest.mark.parametrize(
    ("file", "raises"),
    [
        ("driver.py", False),
        ("rule.py", True),
        pytest.param("driver.py", True, marks=pytest.mark.soak),
        pytest.param("rule.py", False, marks=pytest.mark.soak),
    ],
)
def test_a_broken_one_is_refused_in_one_message_and_no_traceback(
    file: str, raises: bool, site: Path, tmp_path: Path
) -> None:
    whole, broken, message = BROKEN[file]
    other = tmp_path / "site"
    shutil.copytree(site, other)
    text = (other / "loud_parts" / file).read_text()
    assert whole in text
    (other / "loud_parts" / file).write_text("1 / 0\n" if raises else text.replace(whole, broken))
    write_audit(tmp_path)
    refused = python(other, tmp_path, "-m", "harvest", "check", "audit.yaml")
    assert refused.returncode == 2
    assert f"{message} cannot be loaded" in " ".join(refused.stderr.split())
    assert "Traceback" not in refused.stderr
