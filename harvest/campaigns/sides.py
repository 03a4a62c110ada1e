"""The two sides that Harvest can take in a campaign: a simulated user, or a system under audit."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from harvest.audits.groups import traits_of
from harvest.campaigns.ledger import Chain
from harvest.systems.delivery import convert_unexpected
from harvest.systems.driver import Driver, Opening, Session, Unanswered
from harvest.voices.endpoints import Endpoints, wording_exhibits
from protocols.answer import Answer, Exchange
from protocols.library import check_topics
from protocols.protocol import Protocol as PlayedProtocol
from protocols.route import Say
from recordings.formats.shapes.shape import topic_name
from simulators.memory import decode_memory, encode_memory
from simulators.outside import respond_with_words
from simulators.promises import check_turn, initial_state
from simulators.reasons import ENDPOINT_FAILED, MEANING, NO_WORDS
from simulators.registry import check_users
from simulators.scripted import ScriptedUser
from simulators.user import Observation, Scenario, Streams, User
from topics.errors import InputError
from topics.identity import content_hash, derived_seed
from topics.topic import Topic, TopicSet, TopicType


@dataclass(frozen=True, slots=True)
class Utterance:
    """The next utterance to send. `last` is True if it ends the conversation. `memory` is kept in the ledger, and
    `more` are further values of its line. `call` is `say`, or `next` for asking for the next conversation, which says
    nothing."""

    text: str
    last: bool = False
    memory: Any = None
    more: Mapping[str, Any] = field(default_factory=dict)
    call: str = "say"


class Side(Protocol):
    """A side of conversations."""

    async def next(self, chain: Chain) -> Utterance:
        """Return our next utterance in the current conversation of `chain`. Raises DriverError and InputError."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class UserSide:
    """The simulated users of a protocol. A goal of the track is their topic, and the user's stop ends the conversation
    with the words `closing`. `seed` gives their random numbers, and `group` is their group, or ""."""

    protocol: PlayedProtocol
    users: Mapping[str, User]
    endpoints: Endpoints
    seed: int
    closing: str
    group: str = ""

    async def next(self, chain: Chain) -> Utterance:
        topic = self._topic(chain)
        user = ScriptedUser(self.protocol, self.users)
        trial = chain.goals[chain.goal.id if chain.goal is not None else chain.conversation]
        # After a failure the user draws the same numbers, and asks a model with new seeds.
        rng = Streams(self.seed, (user.name, topic.id, trial), tries=chain.lost)
        more: dict[str, Any] = {"topic": topic.id, "request": topic.request}
        if chain.ended:
            return Utterance(
                self.closing, True, chain.memory, {**more, "outcome": "system-ended", "reason": "system-ended"}
            )
        turn = len(chain.said) + 1
        seen = None
        traits = traits_of(self.group)
        if turn == 1:
            check_users(self.users, (topic,), traits)
        with convert_unexpected("user-fault"):
            if turn == 1:  # what the track's assistant says before is a greeting
                memory = initial_state(user, Scenario(topic, traits), rng.at(0))
            else:
                memory = decode_memory(chain.memory)
                text = chain.heard[-1]
                seen = Observation(Answer.of(text))
            action, memory, taken = await respond_with_words(user, memory, seen, rng.at(turn), self.endpoints)
            check_turn(action, turn, user.name)
        for exhibit in wording_exhibits(taken)[:1]:
            more["wording"] = json.loads(exhibit.data)
        if action.route is not None:
            more["label"] = action.route.label
        if isinstance(action, Say):
            acts = {"state": action.state, "act": action.act, "user": action.user, "worded": action.worded}
            return Utterance(action.text, False, encode_memory(memory), {**more, **acts})
        if action.reason in (ENDPOINT_FAILED, NO_WORDS) or turn == 1:
            what = MEANING.get(action.reason, f"the user leaves before its first turn ({action.reason})")
            raise Unanswered(action.reason, f"{what} {action.detail}".strip())
        ends = {"outcome": action.outcome, "reason": action.reason}
        return Utterance(self.closing, True, encode_memory(memory), {**more, **ends})

    def _topic(self, chain: Chain) -> Topic:
        goal = chain.goal
        if goal is None:
            raise InputError(f"the track gave no goal for the conversation {chain.conversation!r}")
        name = topic_name(goal.id or f"goal-{content_hash('goal', [goal.request, dict(goal.fields)], size=4)}")
        topic = Topic(name, TopicType("goal"), goal.request, fields=goal.fields)
        check_topics(self.protocol, TopicSet("goals", (topic,), {}))
        return topic

    async def close(self) -> None:
        await self.endpoints.__aexit__(None, None, None)


class SystemSide:
    """A system behind any driver. Each conversation of the track is a session of its own. A run that continues within a
    conversation gives a new session the conversation so far, if the driver can; else the system starts again."""

    def __init__(self, driver: Driver, system: str, seed: int) -> None:
        self._driver, self._system, self._seed = driver, system, seed
        self._session: Session | None = None
        self._number = 0

    async def next(self, chain: Chain) -> Utterance:
        if chain.ended:
            return Utterance("", call="next")  # the track ignores it, and gives the next conversation
        begun = {}
        if self._session is None or self._number != chain.number:
            await self._leave()
            history: tuple[Exchange, ...] = ()
            if chain.said:
                begun = {"new_session": True}
                if self._driver.capabilities.editable_history:
                    pairs = zip(chain.heard, chain.said, strict=False)
                    history = tuple(Exchange(user, Answer.of(said)) for user, said in pairs)
            seed = derived_seed(self._seed, "campaign", chain.number)
            opening = Opening(self._system, chain.conversation, chain.number, seed, history)
            with convert_unexpected():
                self._session, self._number = await self._driver.open(opening), chain.number
        with convert_unexpected():
            reply = await self._session.say(chain.heard[-1])
        turn = reply.turn
        known = {
            "model": turn.model,
            "finish_reason": turn.finish,
            "usage": {f"{name}_tokens": n for name, n in turn.tokens.items()},
        }
        return Utterance(turn.answer.text, more={**begun, **{name: value for name, value in known.items() if value}})

    async def _leave(self) -> None:
        if self._session is not None:
            with suppress(Exception):  # what was said is in the ledger
                await self._session.close()
            self._session = None

    async def close(self) -> None:
        await self._leave()
        await self._driver.close()
