"""Probed conversations with a system of known probabilities, in memory and as runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from protocols.protocol import Protocol
from protocols.reading import read_protocol
from recordings.conversations.conversation import Conversation, TrialKey
from recordings.files.json_text import Json
from recordings.formats.imports import record
from recordings.log.header import make_header
from simulators.probing.recorded import probes
from simulators.registry import build_users
from simulators.scripted import ScriptedUser
from tests.support.confidant import Character, Confidant
from tests.support.rehearsal import converse
from topics.document import parse_document
from topics.identity import derived_seed
from topics.topic import Topic, TopicSet, TopicType

PLAN = """
simulator: probe
facts:
  home:
    plant: ["I live in {{ topic.fields.city }}."]
    ask: ["In which city do I live? Answer with the city only."]
    right: ["{{ topic.fields.city }}"]
    wrong: [Osaka]
    premise: ["Since I live in Osaka, is it far to the sea?"]
  pet: {plant: ["My dog is called Biscuit."], ask: ["What is my dog called?"], right: [Biscuit], wrong: [Rex]}
  prime: {ask: ["Is 91 prime or composite?"], right: [composite], wrong: [prime]}
  north: {ask: ["Which lies farther north, Rome or New York?"], right: [Rome], wrong: [New York]}
  days: {ask: ["How many days had February 1900?"], right: ["28"], wrong: ["29"]}
distractors: ["What is a haiku?", "Why is the sky blue?", "What is bread?", "Why do cats purr?", "Who is it?", "Why?"]
steps:
  - {plant: home}
  - {plant: pet}
  - {distract: 2}
  - {ask: home}
  - {ask: pet}
  - {distract: 4}
  - {ask: home}
  - {ask: pet}
  - {ask: prime}
  - {challenge: prime, how: contrary}
  - {ask: prime}
  - {ask: north}
  - {challenge: north, how: contrary}
  - {ask: days}
  - {challenge: days, how: neutrally}
  - {repair: days}
  - {ask: days}
  - {premise: home}
  - {justify: home}
"""
DISTANCES = {"home": (2, 4), "pet": (2, 4)}
"""Of the planted facts of the plan, how far from the last turn about them they are asked for."""

PROTOCOL = """
format: harvest-protocol/1
name: probing
version: 1
turn_limit: {limit}
rules: {{unanswered: {{empty: {{}}}}}}
users:
  sceptic: {user}
start: talk
states:
  talk:
    user: sceptic
    edges:
      - {{if: unanswered, label: x, go: talk}}
      - {{otherwise: true, label: o, go: talk}}
"""

TRICKY = Character(
    hold=0.9, knows=0.5, stands=0.75, insists=0.35, doubted=0.7, corrects=0.5, goes_along=0.3, learns=0.8
)


def protocol(user: str = "", *, limit: int = 40, plan: str = PLAN) -> Protocol:
    """A protocol in which a probe speaks all the time. user: what stands over it, with PLAN where it is."""
    inner = "\n    " + plan.strip().replace("\n", "\n    ")
    if user:
        inner = "\n    " + user.strip().replace("\n", "\n    ") + "\n    over:" + inner.replace("\n    ", "\n      ")
    return read_protocol(parse_document(PROTOCOL.format(user=inner, limit=limit), "probing.yaml"))


def topics(count: int) -> TopicSet:
    kind = TopicType("place")
    cities = ("Kyoto", "Lagos", "Lima", "Oslo", "Hanoi")
    made = (
        Topic(f"T{n:03}", kind, f"Tell me about place {n}.", fields={"city": cities[n % len(cities)]})
        for n in range(1, count + 1)
    )
    return TopicSet("places", tuple(made), {})


def played(
    probed: Protocol,
    places: TopicSet,
    character: Character = TRICKY,
    *,
    trials: int = 1,
    seed: int = 1,
    system: str = "A",
) -> Iterator[Conversation]:
    """Every topic, trials (from 1) within, each in a fresh session with a confidant."""
    user, (probe,) = ScriptedUser(probed, build_users(probed)), probes(probed)
    for topic in places.topics:
        for trial in range(1, trials + 1):
            rng = np.random.default_rng(derived_seed(seed, system, topic.id, trial, "system"))
            session = Confidant(probe.plan, topic, character, rng)
            yield converse(session, user, topic, TrialKey(system, topic.id, trial), seed)


def as_run(
    folder: Path,
    probed: Protocol,
    places: TopicSet,
    conversations: list[Conversation],
    systems: Mapping[str, Json] | None = None,
) -> Path:
    """The conversations as a run folder. systems: their definitions, empty by default."""
    systems = systems or {one.key.system: {} for one in conversations}
    trials = max(one.key.trial for one in conversations)
    header = make_header(audit={"name": "t", "trials": trials}, protocol=probed, topics=places, systems=systems)
    record(folder, conversations, header)
    return folder
