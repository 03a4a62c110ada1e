"""The number of user turns that are missing from a conversation with a bad end.

After a breakdown it is unknown how the conversation would have continued. So the number is the smallest number of
turns with which the protocol, continued from that point, could have reached its own end (`completed`).

- The number is 0 if nothing can follow: in the last state of a protocol, and at its turn limit.
- A simulated user may leave instead of speaking again, so only the next of its turns counts.
- A turn limit is a bound and not a plan: if nothing else ends the protocol, only the next turn counts.
"""

from collections.abc import Iterator, Mapping

from protocols.protocol import Protocol
from protocols.states import Target
from topics.topic import Topic

# The state that speaks, and how many of the topic's turns each state has said.
_Position = tuple[str, tuple[tuple[str, int], ...]]


def fewest_turns_onward(
    protocol: Protocol, topic: Topic, state: str, used: Mapping[str, int], turn: int, *, target: str = ""
) -> int:
    """Return the number of user turns, at least 0, that were certain to follow user turn `turn`, said in `state`.

    `used` counts the topic's turns that each state had said by then. `target` is the state chosen to speak next. If
    no state was chosen, as in a breakdown, `target` is "" and every edge of `state` that continues is considered.
    Returns 1 if the protocol has no such state, which means that another protocol was recorded.
    """
    if state not in protocol.states or (target and target not in protocol.states):
        return 1
    left = None if protocol.turn_limit is None else protocol.turn_limit - turn
    counts = tuple(sorted(used.items()))
    if target:
        landed = {next(_follow_target(protocol, topic, Target(state=target), counts))}
    else:
        edges = protocol.states[state].edges
        landed = {one for edge in edges for one in _follow_target(protocol, topic, edge.target, counts)}
    positions = {one for one in landed if isinstance(one, tuple)}
    if not positions:
        return 0
    fewest = _count_turns_to_end(protocol, topic, positions) or 1
    return fewest if left is None else max(0, min(fewest, left))


def _count_turns_to_end(protocol: Protocol, topic: Topic, positions: set[_Position]) -> int:
    """Count the turns on the shortest path from `positions` to the end of the protocol, including the turns at
    `positions`. Returns 0 if no path ends there."""
    turns, seen = 0, set(positions)
    while positions:
        turns += 1
        landed = {
            one
            for state, used in positions
            for edge in protocol.states[state].edges
            for one in _follow_target(protocol, topic, edge.target, used)
        }
        onward = {one for one in landed if isinstance(one, tuple)}
        if "completed" in landed or any(protocol.states[state].user for state, _ in onward):
            return turns
        positions = onward - seen
        seen |= positions
    return 0


def _follow_target(
    protocol: Protocol, topic: Topic, target: Target, used: tuple[tuple[str, int], ...]
) -> Iterator[_Position | str]:
    """Yield the position of the next turn after `target`, or the outcome if the protocol ends instead. States that
    have used all their turns are skipped. A state that presses a button is followed by what comes next without it."""
    while target.state:
        state = protocol.states[target.state]
        following = state.target_after_last(topic)
        if following is None:
            yield state.name, used
            if state.absent is None:
                return
            target = state.absent
            continue
        counts = dict(used)
        said = counts.get(state.name, 0)
        if said < len(topic.turns):
            yield state.name, tuple(sorted((counts | {state.name: said + 1}).items()))
            return
        target = following
    yield target.outcome
