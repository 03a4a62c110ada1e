"""Probes in a recorded protocol, and their turns in a recorded conversation.

A probe may be wrapped, and other users or the protocol may speak between its turns. A probe sees and judges only the
last answer before its next turn, so its acts are reconstructed from the last answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from protocols.answer import Answer

if TYPE_CHECKING:  # these import pydantic, which detecting a probed run does not need
    from protocols.protocol import Protocol
    from recordings.conversations.conversation import Turn
    from simulators.probing.plan import Options
    from topics.topic import Topic

_PROBE, _OVER = "probe", "over"
_RESTART = "restart"


@dataclass(frozen=True, slots=True)
class Probe:
    """A probe in a protocol: the name of its user, its plan, and the protocol."""

    user: str
    plan: Options
    protocol: Protocol

    def topic(self, topic: Topic, traits: Mapping[str, object] | None = None) -> Topic:
        """Return the topic as the probe saw it, since a persona may word the request differently. `traits` are the
        scenario's. Raises InputError if the user could not have been played on this topic."""
        from simulators.probing.probe import ProbeMemory
        from simulators.registry import build_user
        from simulators.user import Scenario, Streams

        described = self.protocol.users[self.user]
        if "persona" not in _simulator_chain({"simulator": described.simulator, **described.options}):
            return topic
        state: object = build_user(described.document).start(Scenario(topic, dict(traits or {})), Streams(0))
        while not isinstance(state, ProbeMemory):
            state = state.get("inner") if isinstance(state, Mapping) else getattr(state, "inner", None)
            if state is None:  # a plug-in's wrapper may keep it under another name
                return topic
        return state.topic


@dataclass(frozen=True, slots=True)
class ProbeTurn:
    """A turn of a probe.

    - `act`, `said`: the act and the words of the probe.
    - `answer`: the system's last answer before the probe continued.
    - `turn`: the number of the turn in the conversation.
    - `answered`, `label`: the number and label of the turn with `answer`. This is a later turn than `turn` if other
      users spoke between.
    """

    turn: int
    act: str
    said: str
    answered: int
    answer: Answer
    label: str | None


def contains_probe(description: object) -> bool:
    """Return True if a user of a protocol, given as JSON values, is a probe or wraps a probe."""
    return _PROBE in _simulator_chain(description)


def _simulator_chain(description: object) -> Iterator[object]:
    while isinstance(description, Mapping):
        yield description.get("simulator")
        description = description.get(_OVER)


def probes(protocol: Protocol) -> tuple[Probe, ...]:
    """Return the probes of a protocol, in order. Raises InputError for a plan that this version cannot read."""
    return tuple(_find_probes(protocol))


def _find_probes(protocol: Protocol) -> Iterator[Probe]:
    from simulators.probing.plan import Options

    for name, user in protocol.users.items():
        document = user.document
        if not contains_probe({"simulator": user.simulator, **user.options}):
            continue
        while isinstance(document.value, Mapping) and document.value.get("simulator") != _PROBE:
            document = document.part((_OVER,))
        assert isinstance(document.value, Mapping)
        plan = {str(key): value for key, value in document.value.items() if key != "simulator"}
        yield Probe(name, replace(document, value=plan).validate_as(Options), protocol)


def probe_turns(user: str, turns: Sequence[Turn]) -> tuple[tuple[ProbeTurn, ...], int]:
    """Return the probe's turns that have an answer, and the number of turns that could not be read. Turns cannot be
    read after a wrapper restarted the probe."""
    from simulators.probing.plan import ACTS

    restarted = next((at for at, turn in enumerate(turns) if turn.user == user and turn.act == _RESTART), len(turns))
    read = turns[:restarted]
    own = [at for at, turn in enumerate(read) if turn.user == user and turn.act in ACTS]
    found = []
    for at, following in zip(own, [*own[1:], len(read)]):
        turn = read[at]
        seen = [one for one in read[at:following] if one.reply is not None]
        if not seen:
            break
        last = seen[-1]
        assert last.reply is not None
        found.append(ProbeTurn(turn.number, turn.act, turn.said, last.number, last.reply.answer, last.label))
    return tuple(found), sum(turn.user == user for turn in turns[restarted:])
