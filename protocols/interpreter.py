"""The interpreter of protocols: a pure function from the conversation so far to the user's next action.

The interpreter does no I/O and uses neither a clock nor randomness. When a simulated user is to speak, the action is
an `Ask`: the caller lets that user say something, in any words, or stop. A position can be stored as JSON, so a
conversation can be resumed or forked at any turn, on any machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from protocols.answer import Answer, Exchange, Offer
from protocols.protocol import Protocol
from protocols.route import Ask, Evidence, Route, Say, Stop
from protocols.rules.rule import Sight
from protocols.states import Target
from protocols.wording import render
from topics.topic import Topic


@dataclass(frozen=True, slots=True)
class Position:
    """The position of a conversation in its protocol. `state` is the last state that spoke, or "" once the
    conversation is over. `turn` counts the user turns so far. `labels` has a label for each judged answer. `used`
    counts the topic's turns that each state has said, as (state, count) pairs in the order of first use."""

    state: str
    turn: int
    labels: tuple[str, ...] = ()
    used: tuple[tuple[str, int], ...] = ()


def begin(protocol: Protocol, topic: Topic, greeting: Answer | None = None) -> tuple[Say | Ask | Stop, Position]:
    """Return the opening turn, or a Stop if the protocol says nothing on this topic (see `check_topics`). `greeting` is
    the system's greeting; a protocol that is not `greeted` ignores it."""
    heard = greeting if protocol.greeted else None
    return _enter_state(protocol, topic, Target(state=protocol.start), Position("", 0), None, heard)


def advance(
    protocol: Protocol, topic: Topic, position: Position, exchanges: Sequence[Exchange]
) -> tuple[Say | Ask | Stop, Position]:
    """Return the next action after `exchanges`, with its Route. `exchanges` has one exchange for each user turn so
    far. Raises ValueError if the number of exchanges does not match the position, or if the conversation is over."""
    if not position.state:
        raise ValueError("cannot advance: the conversation is over")
    if len(exchanges) != position.turn:
        raise ValueError(f"the position is after user turn {position.turn}, but there are {len(exchanges)} exchanges")
    state = protocol.states[position.state]
    sight = Sight(topic, tuple(exchanges), position.labels)
    missed: list[Evidence] = []
    tried: list[str] = []
    for edge in state.edges:
        if not edge.rule:
            route = _choose_edge(position, edge.label, "otherwise", tried, missed)
            return _enter_state(protocol, topic, edge.target, _add_label(position, edge.label), route, sight.answer)
        rule = protocol.rules[edge.rule]
        verdict = rule.judge(sight)
        if verdict.holds:
            route = _choose_edge(position, edge.label, edge.rule, [rule.version], verdict.evidence)
            return _enter_state(protocol, topic, edge.target, _add_label(position, edge.label), route, sight.answer)
        tried.append(rule.version)
        missed.extend(replace(piece, note=f"{edge.rule}: {piece.note}") for piece in verdict.evidence)
    label = protocol.no_match
    if label is None:
        raise ValueError(f"state {state.name!r} has no edge for this answer, and the protocol has no no_match")
    route = replace(_choose_edge(position, label, "no-match", tried, missed), target="stop:no-match")
    reason = f"no edge of state {state.name!r} fits the answer"
    return Stop("no-match", reason, route), Position("", position.turn, (*position.labels, label), position.used)


def retrace(
    protocol: Protocol,
    topic: Topic,
    exchanges: Sequence[Exchange],
    *,
    greeting: Answer | None = None,
    reworded: bool = False,
) -> tuple[Say | Ask | Stop, ...]:
    """Return the actions that the protocol would take today along a recorded conversation that began with `greeting`.

    The actions are the opening and an action for each answer. They end at the first Stop, or when the protocol's
    words differ from the recorded words, because later answers replied to different words. Any words of a simulated
    user match. With `reworded`, all words match, because an arm changed them. The recording was retraced to its end
    if there is one action more than exchanges, or if the last action is a Stop.
    """
    action, position = begin(protocol, topic, greeting)
    actions: list[Say | Ask | Stop] = [action]
    for number, exchange in enumerate(exchanges, 1):
        if isinstance(action, Stop) or (isinstance(action, Say) and not reworded and action.text != exchange.said):
            break
        action, position = advance(protocol, topic, position, exchanges[:number])
        actions.append(action)
    return tuple(actions)


def _choose_edge(
    position: Position, label: str, rule: str, versions: Sequence[str], evidence: Sequence[Evidence]
) -> Route:
    return Route(position.turn, position.state, label, rule, " ".join(versions), tuple(evidence), "")


def _add_label(position: Position, label: str) -> Position:
    return replace(position, labels=(*position.labels, label))


def _enter_state(
    protocol: Protocol,
    topic: Topic,
    target: Target,
    position: Position,
    route: Route | None,
    seen: Answer | None = None,
) -> tuple[Say | Ask | Stop, Position]:
    while target.state:
        state = protocol.states[target.state]
        used = dict(position.used)
        count = used.get(state.name, 0)
        following = state.target_after_last(topic)
        if following is not None and count >= len(topic.turns):
            target = following
            continue
        pressed: Offer | None = None
        if state.press is not None and state.absent is not None:
            pressed = state.press.choose(seen.offers if seen is not None else (), protocol.allow)
            if pressed is None:
                target = state.absent
                continue
        if position.turn == protocol.turn_limit:
            return _make_stop(
                "turn-limit", f"{position.turn} user turns are the limit; {state.name!r} was next", position, route
            )
        item = ""
        if following is not None:
            item = topic.turns[count]
            position = replace(position, used=tuple((used | {state.name: count + 1}).items()))
        turn = position.turn + 1
        if route is not None:
            route = replace(route, target=state.name)
        then = replace(position, state=state.name, turn=turn)
        if pressed is not None:
            return Say(pressed.title, state.name, turn, route, pressed=pressed), then
        if state.say is None:
            return Ask(state.user, state.name, turn, route), then
        said = Say(render(state.say, topic, turn=turn, item=item), state.name, turn, route)
        return (replace(said, attached=topic.files) if state.attach else said), then
    because = f"{route.rule} in state {route.state!r}" if route else f"nothing to say on topic {topic.id!r}"
    return _make_stop(target.outcome, because, position, route)


def _make_stop(outcome: str, reason: str, position: Position, route: Route | None) -> tuple[Stop, Position]:
    if route is not None:
        route = replace(route, target=f"stop:{outcome}")
    return Stop(outcome, reason, route), replace(position, state="")
