"""Studies of two systems that are exactly alike, played by users whose model fails in a named way.

Whatever the model does, no difference between the systems may be found. The loop is that of `harvest.playing.attempt`
without its input and output: a turn that cannot be worded at the opening loses the attempt, later it cuts it short.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from types import MappingProxyType

import numpy as np

from harvest.studies.compare.comparison import compare_cells
from harvest.studies.scores.lost_attempts import lost_attempts
from harvest.studies.scores.scorecard import Material
from harvest.studies.scores.trial_values import share_values
from protocols.answer import Answer
from protocols.reading import read_protocol
from protocols.route import Stop
from recordings.conversations.conversation import INVALID, Conversation, Outcome, SystemTurn, TrialKey, Turn
from scoring.comparison.pairs import Pair
from scoring.inference.aligned import align
from scoring.inference.paired import Estimand
from scoring.library import read_term
from scoring.measures.usefulness import MEAN_USEFUL, USEFUL
from scoring.notation import parse
from scoring.scores import SHIPPED
from scoring.settings import Settings
from scoring.swan.schema import load_schema
from simulators.outside import Prompt, Sample, SourceError, SuppliedUser
from simulators.reasons import ENDPOINT_FAILED, NO_WORDS
from simulators.registry import build_user
from simulators.scripted import ScriptedUser
from simulators.user import Observation, Scenario, Streams, last_route
from topics.document import parse_document
from topics.library import load_topics

SYSTEMS = ("SYSA", "SYSB")
_LONG = "We have looked everywhere and asked all of our colleagues, who know a great deal about this. "
_PROTOCOL = """\
format: harvest-protocol/1
name: alike
version: 1
start: talk
turn_limit: 3
rules:
  unanswered: {contains: {phrases: [No idea]}}
users:
  visitor: {simulator: markov}
states:
  talk:
    user: visitor
    edges:
      - {if: unanswered, label: x, go: talk}
      - {otherwise: true, label: o, go: talk}
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


_NOTHING, _BAD_REQUEST = Sample("", "stop"), Sample("", ENDPOINT_FAILED, SourceError("http-400"))
MODELS: Mapping[str, Callable[[Prompt], Sample]] = MappingProxyType(
    {
        "no words after x of one system": _says(lambda heard: heard.startswith("SYSB No idea"), _NOTHING),
        "no words after long answers": _says(lambda heard: len(heard) > 100, _NOTHING),
        "HTTP 400 after x of one system": _says(lambda heard: heard.startswith("SYSB No idea"), _BAD_REQUEST),
        "repeats itself": _repeats,
        "obedient": lambda prompt: Sample(intended(prompt), "stop"),
    }
)
"""By what is wrong with it."""


TURNS = 3
_TOPICS = load_topics("fairweb-45")


def _user(policy: str) -> ScriptedUser:
    protocol = read_protocol(parse_document(_PROTOCOL, "alike.yaml"))
    user = build_user(parse_document(f"simulator: llm\n{POLICIES[policy]}", "users.yaml"))
    return ScriptedUser(protocol, {"visitor": user})


def losing_models(side: str, seed: int, rate: float = 0.7) -> Mapping[str, Callable[[Prompt], Sample]]:
    """Models that fail after answers of one side alone, by what that depends on. rate: how often, where they may."""
    rng = np.random.default_rng((seed, 7))

    def often(fails: Callable[[Prompt], bool]) -> Callable[[Prompt], Sample]:
        return lambda prompt: (
            _BAD_REQUEST
            if _heard(prompt).startswith(side) and fails(prompt) and rng.random() < rate
            else Sample(intended(prompt), "stop")
        )

    return {
        "of one side": often(lambda _: True),
        "after useful answers": often(lambda prompt: "Here it is" in _heard(prompt)),
        "after useless answers": often(lambda prompt: "No idea" in _heard(prompt)),
        "after long answers": often(lambda prompt: len(_heard(prompt)) > 100),
        "of some topics": often(lambda prompt: zlib.crc32(prompt.messages[0].text.encode()) % 3 == 0),
    }


def played(
    seed: int,
    policy: str,
    model: Callable[[Prompt], Sample],
    *,
    topics: int = 15,
    trials: int = 4,
    hint: str = "",
    systems: Sequence[str] = SYSTEMS,
    useful: tuple[float, float] = (2.0, 2.0),
    later: float = 1.0,
) -> Material:
    """One study of systems that are alike. hint: what SYSB adds to its useless answers. useful: the beta law of how
    often the first answer on a topic is. later: how often the others are, as a share of that; below 1, conversations
    that are cut short seem good."""
    rng = np.random.default_rng(seed)
    user, chosen = _user(policy), replace(_TOPICS, topics=_TOPICS.topics[:topics])
    shares = rng.beta(*useful, topics)
    found: list[Conversation] = []
    for system in systems:
        for topic, share in zip(chosen.topics, shares, strict=True):

            def answers(share: float = share, system: str = system) -> Iterator[str]:
                for turn in count(1):
                    long = _LONG if rng.random() < 0.5 else ""
                    good = rng.random() < share * (later if turn > 1 else 1.0)
                    added = f" {hint}" if hint and system == SYSTEMS[1] and not good else ""
                    yield f"{system} {'Here it is' if good else 'No idea'}. {long}{added}"

            for trial in range(1, trials + 1):
                key = TrialKey(system, topic.id, trial)
                for number in range(1, 4):
                    streams = Streams(seed, ("scripted", topic.id, trial), tries=number - 1)
                    found.append(attempt(key, number, user, Scenario(topic), streams, model, partial(next, answers())))
                    if found[-1].valid:
                        break
    turns = {(system, topic.id): TURNS for system in systems for topic in chosen.topics}
    keys = frozenset(one.key for one in found)
    return Material(chosen, tuple(systems), tuple(found), turns, keys, None, {}, (), ())


def attempt(
    key: TrialKey,
    number: int,
    scripted: ScriptedUser,
    scenario: Scenario,
    rng: Streams,
    model: Callable[[Prompt], Sample],
    answer: Callable[[], str],
) -> Conversation:
    user = SuppliedUser(scripted, model)
    state, seen, turns = user.start(scenario, rng.at(0)), None, list[Turn]()
    while True:
        reason = ""
        try:
            action, after = user.respond(state, seen, rng.at(len(turns) + 1))
        except SourceError:
            action, after, reason = Stop("user-stopped", ENDPOINT_FAILED), state, ENDPOINT_FAILED
        if seen is not None:
            route = last_route(scripted, state, seen)
            turns[-1] = replace(turns[-1], route=route)
        if isinstance(action, Stop):
            failed = reason or (action.reason if action.reason == NO_WORDS else "")
            lost = bool(failed) and not turns
            outcome = Outcome(INVALID, failed) if lost else Outcome(action.outcome, failed or action.reason)
            return Conversation(key, str(key), number, tuple(turns), outcome)
        state, seen = after, Observation(Answer(answer()))
        reply = SystemTurn(seen.answer)
        spoke = (action.user, action.act, action.worded, action.choice)
        turns.append(Turn(action.turn, action.state, action.text, reply, None, *spoke))


def pairs(material: Material, *, estimand: Estimand = "like-these") -> Iterator[Pair]:
    """SYSA and SYSB, in each of the shares, as `harvest compare` has them."""
    values = {name: share_values(name, material) for name in SYSTEMS}
    topics = [topic.id for topic in material.topics.topics]
    for key in ((USEFUL.name, 1), (USEFUL.name, 2), (MEAN_USEFUL.name, None)):
        (measure,) = read_term(parse(key[0]), Settings(), material.topics, load_schema(SHIPPED))
        yield compare_cells(
            key,
            measure,
            {name: values[name].get(key, {}) for name in SYSTEMS},
            {name: lost_attempts(key, measure, name, values, material, topics) for name in SYSTEMS},
            partial(align, topics, SYSTEMS, pooled=False),
            None,
            0.95,
            estimand,
            "unseen",
            1,
        ).pairs[0]
