"""The reformulating user: now and then asks again, in one way or another, where the user within would go on.

After every answer one act is drawn from the row of a table for the label of that answer (`o`, `x`, `-` for none), or
from a row of its own after the same act as last time:

    go-on      the inner user takes its turn (and may stop)
    repeat     the last words again           restart   the opening again; the inner user stands where it stood then
    rephrase   the need in other words        refine    the next constraint of a list
    simplify   the need as keywords           change    another need of a list
    stop

Only `repeat` says the last words again: of the ways to rephrase, simplify or restart those that would are left out.
The chances of acts that are not possible now (no constraint left, no other words, `most` reformulations in a row) go to
the others of the row in proportion; where nothing is left, the user goes on. The inner user is asked only where it goes
on: it then sees the latest answer, as if to its own last words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from protocols.route import Say, Stop
from protocols.wording import Wording, rendered
from simulators.memory import decode_topic, encode_topic
from simulators.reasons import FRUSTRATED, PATIENCE, SATISFIED
from simulators.scenario import Chance, Observation, Scenario, State
from simulators.streams import Streams
from simulators.user import User
from simulators.wrappers.changes import keyword_form, synonym_form
from simulators.wrappers.reformulations import ACTS, ILLUSTRATIVE, REFORMULATIONS, Options, Phrases, Table
from simulators.wrappers.wrapped import can_enumerate, chances_of, decided, inner_state, merged
from topics.topic import Topic

__all__ = ["EnumerableReformulatingUser", "Options", "ReformulatingUser", "build"]

_PHRASED = ("rephrase", "simplify", "restart")


def build(options: Options, inner: User) -> User:
    """The reformulating user over `inner`; enumerable where that is."""
    kind = EnumerableReformulatingUser if can_enumerate(inner) else ReformulatingUser
    return kind(inner, options.chances(), options.most, options.constraints, options.changes, options.phrases)


@dataclass(frozen=True, slots=True)
class _Memory:
    """What it knows besides the inner user's memory. need: the words that are put again. row: reformulations in a row.
    first: the opening. opened: the inner user's memory after it. used: constraints and changes already said."""

    turn: int
    before: str
    need: str
    last: str
    first: str
    opened: State | None
    row: int
    constraints: tuple[int, ...]
    changes: tuple[int, ...]
    over: bool


@dataclass(frozen=True, slots=True)
class ReformulatingUser:
    """inner: the user that goes on. table: what comes after which answer. most: reformulations in a row.

    Acts (`Say.state`): those of this user, and the inner user's where it goes on. Stops where the inner user stops, and
    with the reason `satisfied` after `o`, `frustrated` after `x`, `patience` after an answer without a label.
    """

    inner: User
    table: Table = ILLUSTRATIVE
    most: int = 3
    constraints: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    phrases: Phrases = field(default_factory=Phrases)
    name: str = "reformulating"

    def start(self, scenario: Scenario, rng: Streams) -> State:
        """Raises InputError where the topic lacks a word that a constraint, a change or a phrase says."""
        topic = scenario.topic
        for template in (*self.constraints, *self.changes):
            rendered(Wording(template), topic, turn=1)
        for template in (*self.phrases.rephrase, *self.phrases.simplify, *self.phrases.restart):
            rendered(Wording(template, each=True), topic, turn=1, item="x")
        memory = _Memory(0, "start", "", "", "", None, 0, (), (), False)
        return _encoded(memory, self.inner.start(scenario, rng.inside("reformulating")), encode_topic(topic))

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        """Raises ValueError where the memory waits for an answer and none is given, or the conversation is over."""
        memory = _decoded(state, observation)
        if observation is None:
            return self._gone_on(state, memory, *decided(self.inner, "reformulating", state, None, rng))
        acts = self._possible(state, memory, observation)
        names = list(acts)
        act = names[
            _drawn([acts[name] for name in names], float(rng(rng.own("reformulating", "reformulation")).random()))
        ]
        if act == "go-on":
            return self._gone_on(state, memory, *decided(self.inner, "reformulating", state, observation, rng))
        ways = list(self._ways(act, state, memory, observation))
        drawn = rng(rng.own("reformulating", "reformulation-words"))
        return ways[int(drawn.integers(len(ways)))]

    def _possible(self, state: State, memory: _Memory, observation: Observation) -> dict[str, float]:
        """The acts that are possible now, with probabilities that sum to 1, in the order of `ACTS`."""
        row = self.table.row(observation.label or "-", memory.before)
        full = memory.row >= self.most
        barred = {
            *(REFORMULATIONS if full else ()),
            *(() if len(memory.constraints) < len(self.constraints) else ("refine",)),
            *(() if len(memory.changes) < len(self.changes) else ("change",)),
            *(("restart",) if memory.need == memory.first == memory.last else ()),
        }
        topic = decode_topic(state["topic"])
        barred |= {act for act in _PHRASED if row.get(act, 0.0) > 0 and not self._texts(act, topic, memory)}
        left = {act: row[act] for act in ACTS if row.get(act, 0.0) > 0 and act not in barred}
        whole = sum(left.values())
        return {act: share / whole for act, share in left.items()} if left else {"go-on": 1.0}

    def _ways(
        self, act: str, state: State, memory: _Memory, observation: Observation
    ) -> Iterator[tuple[Say | Stop, State]]:
        """Every way to do `act`, all equally likely."""
        topic, held, turn = decode_topic(state["topic"]), inner_state(state, self.name), memory.turn + 1
        then = replace(memory, turn=turn, before=act, row=memory.row + 1)

        def said(text: str, memory: _Memory, inner: State = held) -> tuple[Say, State]:
            return Say(text, act, turn), _encoded(replace(memory, last=text), inner, state["topic"])

        if act == "stop":
            reason = {"o": SATISFIED, "x": FRUSTRATED}.get(observation.label or "-", PATIENCE)
            yield Stop("user-stopped", reason), _encoded(replace(memory, over=True), held, state["topic"])
        elif act == "repeat":
            yield said(memory.last, then)
        elif act in ("rephrase", "simplify"):
            for text in self._texts(act, topic, memory):
                yield said(text, then)
        elif act == "refine":
            for place in _unsaid(self.constraints, memory.constraints):
                text = rendered(Wording(self.constraints[place]), topic, turn=turn)
                yield said(text, replace(then, constraints=(*memory.constraints, place)))
        elif act == "change":
            for place in _unsaid(self.changes, memory.changes):
                text = rendered(Wording(self.changes[place]), topic, turn=turn)
                yield said(text, replace(then, need=text, changes=(*memory.changes, place)))
        else:
            opened = memory.opened if memory.opened is not None else held
            for text in self._texts(act, topic, memory):
                yield said(text, replace(then, need=memory.first), opened)

    def _texts(self, act: str, topic: Topic, memory: _Memory) -> tuple[str, ...]:
        """The ways to say the need, or the opening, once more; without one that says the last words again."""
        form = (topic.asks_for,) if topic.asks_for else ()
        if act == "rephrase":
            templates, item = self.phrases.rephrase, synonym_form(memory.need, form)
        elif act == "simplify":
            templates, item = self.phrases.simplify, keyword_form(memory.need, form)
        else:
            templates, item = self.phrases.restart, memory.first
        turn = memory.turn + 1
        texts = (rendered(Wording(template, each=True), topic, turn=turn, item=item) for template in templates)
        return tuple(text for text in texts if text != memory.last)

    def _gone_on(self, state: State, memory: _Memory, action: Say | Stop, after: State) -> tuple[Say | Stop, State]:
        """The inner user's action, its turn counted among all."""
        if isinstance(action, Stop):
            return action, _encoded(replace(memory, over=True), after, state["topic"])
        turn = memory.turn + 1
        route = replace(action.route, turn=memory.turn) if action.route is not None else None
        then = replace(memory, turn=turn, before="go-on", need=action.text, last=action.text, row=0)
        if memory.turn == 0:
            then = replace(then, first=action.text, opened=after)
        return replace(action, turn=turn, route=route), _encoded(then, after, state["topic"])


@dataclass(frozen=True, slots=True)
class EnumerableReformulatingUser(ReformulatingUser):
    """Over a user that can be enumerated."""

    def distribution(self, state: State, observation: Observation | None) -> tuple[Chance, ...]:
        memory, held = _decoded(state, observation), inner_state(state, self.name)
        acts = self._possible(state, memory, observation) if observation is not None else {"go-on": 1.0}
        found: list[Chance] = []
        for act, share in acts.items():
            if act == "go-on":
                for chance in chances_of(self.inner, held, observation):
                    found.append(
                        Chance(share * chance.probability, *self._gone_on(state, memory, chance.action, chance.state))
                    )
            elif observation is not None:
                ways = list(self._ways(act, state, memory, observation))
                found += [Chance(share / len(ways), action, after) for action, after in ways]
        return merged(found, lambda action, after: (action, after))


def _drawn(shares: list[float], number: float) -> int:
    """The place in `shares` where `number` in [0, 1) falls."""
    for place, share in enumerate(shares):
        if number < share:
            return place
        number -= share
    return len(shares) - 1


def _unsaid(templates: tuple[str, ...], said: tuple[int, ...]) -> list[int]:
    return [place for place in range(len(templates)) if place not in said]


def _encoded(memory: _Memory, inner: State, topic: object) -> State:
    return {
        "wrapper": "reformulating",
        "topic": topic,
        "turn": memory.turn,
        "before": memory.before,
        "need": memory.need,
        "last": memory.last,
        "first": memory.first,
        "opened": memory.opened,
        "row": memory.row,
        "constraints": list(memory.constraints),
        "changes": list(memory.changes),
        "over": memory.over,
        "inner": inner,
    }


def _decoded(state: State, observation: Observation | None) -> _Memory:
    match state:
        case {
            "wrapper": "reformulating",
            "turn": int(turn),
            "before": str(before),
            "need": str(need),
            "last": str(last),
            "first": str(first),
            "opened": opened,
            "row": int(row),
            "constraints": [*constraints],
            "changes": [*changes],
            "over": bool(over),
        } if opened is None or isinstance(opened, Mapping):
            said, changed = _places(constraints), _places(changes)
            memory = _Memory(turn, before, need, last, first, opened, row, said, changed, over)
        case _:
            raise ValueError("not a memory of a reformulating user")
    if memory.over:
        raise ValueError("the conversation is over")
    if (observation is None) != (memory.turn == 0):
        raise ValueError("the conversation is not open" if memory.turn == 0 else "an answer is needed to go on")
    return memory


def _places(held: Iterable[object]) -> tuple[int, ...]:
    return tuple(place for place in held if isinstance(place, int))
