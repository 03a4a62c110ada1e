"""A simulator that somebody else wrote, packed and installed: found by its entry point, held to the seam, played.

A real distribution in a folder of its own, with a program of its own; nothing of the registry is replaced.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from recordings.log.run_folder import read
from tests.support import distributions
from tests.support.distributions import commands, python

COIN = '''\
"""Asks its need, and then asks on or leaves by the toss of a coin. Written against the seam alone."""

from dataclasses import dataclass

from pydantic import Field

from protocols.route import Say, Stop
from simulators.user import Chance
from topics.document import StrictModel


class Options(StrictModel):
    heads: float = Field(0.5, ge=0, lt=1, description="probability of asking on")


@dataclass(frozen=True)
class CoinUser:
    heads: float
    name: str = "coin"

    def start(self, scenario, rng):
        return {"need": scenario.topic.request, "turn": 0, "over": False}

    def respond(self, state, observation, rng):
        chances = self.distribution(state, observation)
        if len(chances) == 1 or rng("coin").random() < chances[0].probability:
            return chances[0].action, chances[0].state
        return chances[1].action, chances[1].state

    def distribution(self, state, observation):
        if state["over"] or (observation is None) != (state["turn"] == 0):
            raise ValueError("out of turn")
        turn = state["turn"] + 1
        after = {**state, "turn": turn}
        if turn == 1:
            return (Chance(1.0, Say(state["need"], "ask", turn), after),)
        on = Chance(self.heads, Say("And what else is there?", "more", turn), after)
        leave = Chance(1 - self.heads, Stop("user-stopped", "left"), {**state, "over": True})
        return (on, leave) if self.heads else (leave,)


def build(options):
    return CoinUser(options.heads)
'''
PROTOCOL = """\
format: harvest-protocol/1
name: tossed
version: 1
turn_limit: 6
users: {visitor: {simulator: coin, heads: 0.6}}
start: talk
states: {talk: {user: visitor, edges: [{otherwise: true, label: o, go: talk}]}}
"""
AUDIT = """\
format: harvest-audit/1
name: coins
topics: fairweb-45
only: [M001, M002]
protocol: tossed.yaml
trials: 3
systems: [{name: A, driver: parrot, options: {profile: steady}}]
"""
CONFORMS = """
from simulators.conformance import assert_conforms
from simulators.registry import build_user
from simulators.user import Scenario
from topics.document import parse_document
from topics.library import load_topics
user = build_user(parse_document("{simulator: coin, heads: 0.3}", "p.yaml"))
assert type(user).__module__ == "coin_users.coin"
assert_conforms(user, [Scenario(topic) for topic in load_topics("fairweb-45").topics[:3]])
print("conforms")
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the distribution was installed into, as from an index: the user, and the broken ones."""
    names = {"coin": "coin_users.coin:build"}
    files = {"coin.py": COIN}
    for number, (whole, broken, _) in enumerate(BROKEN.values()):
        assert whole in COIN
        files[f"broken{number}.py"] = COIN.replace(whole, broken)
        names[f"broken{number}"] = f"coin_users.broken{number}:build"
    return distributions.installed(tmp_path_factory.mktemp("coin"), "coin-users", files, {"harvest.simulators": names})


def test_an_installed_simulator_is_found_by_its_entry_point_and_conforms(installed: Path, tmp_path: Path) -> None:
    done = python(installed, tmp_path, "-c", CONFORMS)
    assert done.stdout == "conforms\n", done.stderr


def test_a_plug_in_user_plays_a_protocol_and_its_options_are_checked_at_their_place_and_doctor_lists_it(
    installed: Path, tmp_path: Path
) -> None:
    for folder, heads in ((tmp_path, "0.6"), (tmp_path / "wrong", "1.5")):
        folder.mkdir(exist_ok=True)
        (folder / "tossed.yaml").write_text(PROTOCOL.replace("0.6", heads))
        (folder / "audit.yaml").write_text(AUDIT)
    done, refused, doctor = commands(
        installed,
        tmp_path,
        ("run", "audit.yaml", "--out", "run", "--json"),
        ("check", "wrong/audit.yaml"),
        ("doctor",),
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["format"] == "harvest-scores/1"
    conversations = read(tmp_path / "run").conversations
    assert len(conversations) == 6
    assert {turn.act for one in conversations for turn in one.turns} == {"ask", "more"}
    assert refused.returncode == 2
    assert "tossed.yaml:5:43: heads: must be below 1 (here: 1.5)" in refused.stderr
    listed = " ".join(doctor.stdout.split()).partition(" simulators: ")[2]
    assert re.match(r"[a-z0-9, ]+, coin ok ", listed)


def test_without_the_distribution_its_name_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "tossed.yaml").write_text(PROTOCOL)
    (tmp_path / "audit.yaml").write_text(AUDIT)
    refused = python(tmp_path, tmp_path, "-m", "harvest", "check", "audit.yaml")
    assert refused.returncode == 2
    assert "there is no simulator 'coin'" in refused.stderr
    assert "markov" in refused.stderr


BROKEN = {
    "build raises": ("return CoinUser(options.heads)", 'raise RuntimeError("boom")', "its build raises RuntimeError"),
    "build returns nothing": ("return CoinUser(options.heads)", "return None", "returns NoneType, not a user"),
    "start raises": ('return {"need"', 'raise KeyError("gone"); return {"need"', "its start raises KeyError: 'gone'"),
    "start returns no JSON": ('return {"need"', 'return {"x": object(), "need"', "breaks the promise 'json'"),
}


def test_a_broken_one_is_refused_in_one_message_and_no_traceback(installed: Path, tmp_path: Path) -> None:
    checks = []
    for number in range(len(BROKEN)):
        (tmp_path / f"{number}").mkdir()
        (tmp_path / f"{number}" / "tossed.yaml").write_text(PROTOCOL.replace("coin", f"broken{number}"))
        (tmp_path / f"{number}" / "audit.yaml").write_text(AUDIT)
        checks.append(("check", f"{number}/audit.yaml"))
    for refused, (_, _, told) in zip(commands(installed, tmp_path, *checks), BROKEN.values(), strict=True):
        assert refused.returncode == 2
        assert told in refused.stderr.replace("\n", " ")
        assert "Traceback" not in refused.stderr
