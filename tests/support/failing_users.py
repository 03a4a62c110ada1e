"""Studies of two systems that are exactly alike, played by users whose model fails in a named way.

Whatever the model does, no difference between the systems may be found. The loop is that of `harvest.playing.attempt`
without its input and output: a turn that cannot be worded at the opening loses the attempt, later it cuts it short.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

import numpy as np

from harvest.studies.comparison import _compared
from harvest.studies.lost_attempts import lost_attempts
from harvest.studies.scorecard import Material
from harvest.studies.trial_values import share_values
from protocols.answer import Answer
from protocols.protocol import Protocol, load_protocol
from protocols.route import Say, Stop
from recordings.conversation import INVALID, Conversation, Outcome, SystemTurn, TrialKey, Turn
from scoring.comparison.result import Pair
from scoring.inference.aligned import align
from scoring.library import declared
from scoring.measure import Measure
from scoring.notation import parse
from scoring.settings import Settings
from simulators.outside import Prompt, Sample, SourceFailed, SuppliedUser
from simulators.reasons import ENDPOINT_FAILED, NO_WORDS
from simulators.registry import build_user
from simulators.scenario import Observation, Scenario
from simulators.scripted import ScriptedUser
from simulators.streams import Streams
from simulators.user import route_by
from topics.document import parse_document
from topics.library import load_topics
from topics.topic import TopicSet

__all__ = ["MODELS", "POLICIES", "SYSTEMS", "intended", "pairs", "played"]

SYSTEMS = ("SYSA", "SYSB")
_LONG = "We have looked everywhere and asked all of our colleagues, who know a great deal about this. "
_PROTOCOL = """\
format: harvest-protocol/1
name: alike
version: 1
start: talk
turn_limit: 3
users:
  visitor:
    simulator: llm
{options}
states:
  talk:
    user: visitor
    edges:
      - {{rule: {{contains: "No idea"}}, label: x, go: talk}}
      - {{otherwise: true, label: o, go: talk}}
"""
POLICIES: Mapping[str, str] = MappingProxyType(
    {
        "agenda": "over: {simulator: agenda, stop: null, initiative: 0.0, patience: 9}",
        "clarification": "over: {simulator: clarification, facet: on a low budget, stop: null}",
        "markov": "over: {simulator: markov}",
        "reformulating": "over: {simulator: reformulating, over: {simulator: markov}}",
        "free": "mode: free",
    }
)


def intended(prompt: Prompt) -> str:
    """The policy's words for the turn; words of its own for a free model."""
    told = prompt.messages[0].text
    if "not the person's own yet:\n" not in told:
        return f"And what about number {len(prompt.messages)}, please?"
    return told.split("not the person's own yet:\n")[1].split("\n\nSay this as")[0]


def _heard(prompt: Prompt) -> str:
    return prompt.messages[-1].text if len(prompt.messages) > 2 else ""


def _says(fails: Callable[[str], bool], failed: Sample) -> Callable[[Prompt], Sample]:
    return lambda prompt: failed if fails(_heard(prompt)) else Sample(intended(prompt), "stop")


def _repeats(prompt: Prompt) -> Sample:
    own = [message.text for message in prompt.messages if message.role == "assistant"]
    return Sample(own[0] if own else intended(prompt), "stop")


_NOTHING, _BAD_REQUEST = Sample("", "stop"), Sample("", ENDPOINT_FAILED, SourceFailed("http-400"))
MODELS: Mapping[str, Callable[[Prompt], Sample]] = MappingProxyType(
    {
        "no words after x of one system": _says(lambda heard: heard.startswith("SYSB No idea"), _NOTHING),
        "no words after long answers": _says(lambda heard: len(heard) > 120, _NOTHING),
        "HTTP 400 after x of one system": _says(lambda heard: heard.startswith("SYSB No idea"), _BAD_REQUEST),
        "repeats itself": _repeats,
        "obedient": lambda prompt: Sample(intended(prompt), "stop"),
    }
)
"""By what is wrong with it."""


def _protocol(policy: str) -> Protocol:
    return load_protocol(parse_document(_PROTOCOL.format(options="    " + POLICIES[policy]), "alike.yaml"))


@dataclass(frozen=True)
class _Study:
    topics: TopicSet
    conversations: tuple[Conversation, ...]
    turns: int

    def material(self) -> Material:
        systems = dict.fromkeys(one.key.system for one in self.conversations)
        keys = frozenset(one.key for one in self.conversations)
        turns = {(system, topic.id): self.turns for system in systems for topic in self.topics.topics}
        return Material(self.topics, tuple(systems), self.conversations, turns, keys, None, {}, (), ())
