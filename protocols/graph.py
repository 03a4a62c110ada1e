"""The protocol as a graph: its reachable states, endless loops and longest conversation."""

from collections.abc import Iterator, Mapping

from protocols.states import State
from topics.topic import Topic

_Position = tuple[str, tuple[int, ...]]


def reachable_states(start: str, states: Mapping[str, State]) -> frozenset[str]:
    """Return the states that at least one conversation can reach."""
    return _reachable_states(start, {name: _all_targets(state) for name, state in states.items()})


def reachable_on_topic(start: str, states: Mapping[str, State], topic: Topic) -> frozenset[str]:
    """Return the states that a conversation on `topic` can reach. If the topic has turns, the targets of `empty` are
    excluded. Otherwise, the edges of states that go through turns are excluded."""
    ways: dict[str, tuple[str, ...]] = {}
    for name, state in states.items():
        after = state.target_after_last(topic) if state.each else None
        edges = _edge_targets(state) if topic.turns or not state.each else ()
        ways[name] = (*edges, *_absent_targets(state), *((after.state,) if after and after.state else ()))
    return _reachable_states(start, ways)


def _reachable_states(start: str, ways: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    found = {start}
    waiting = [start]
    while waiting:
        fresh = [name for name in ways[waiting.pop()] if name not in found]
        found.update(fresh)
        waiting.extend(fresh)
    return frozenset(found)


def states_with_way_out(states: Mapping[str, State]) -> frozenset[str]:
    """Return the states from which a path of edges leads to a stop. An answer that matches no edge (no-match) also
    counts as a stop."""
    back: dict[str, list[str]] = {name: [] for name in states}
    waiting = []
    for name, state in states.items():
        for target in _all_targets(state):
            back[target].append(name)
        # An edge may end the conversation right there, and so may an answer that matches no edge.
        ends = [edge.target for edge in state.edges]
        ends += [end for end in (state.then, state.empty, state.absent) if end]
        if any(end.outcome for end in ends) or not state.edges or state.edges[-1].rule != "":
            waiting.append(name)
    found = set(waiting)
    while waiting:
        fresh = [name for name in back[waiting.pop()] if name not in found]
        found.update(fresh)
        waiting.extend(fresh)
    return frozenset(found)


def find_endless_loop(start: str, states: Mapping[str, State], *, silent: bool = False) -> tuple[str, ...] | None:
    """Return the states, in order, of a loop that only a turn limit can end, or None if there is no such loop.

    A state that goes through the topic's turns eventually uses them all and then only passes on. Therefore loops are
    searched among the reachable states after every such state has used its turns, for topics with and without turns.
    With `silent`, only loops in which nothing is said are searched: through states that have used their turns, and from
    states that find no button to press. Even a turn limit cannot end a silent loop, and a loop with words could hide a
    silent loop in a common search.
    """
    for topic_has_turns in (True, False):
        dry: dict[str, tuple[str, ...]] = {}
        for name, state in states.items():
            used_up = state.then if topic_has_turns else state.empty or state.then
            if state.then is None or used_up is None:
                dry[name] = (*_edge_targets(state), *_absent_targets(state))
            else:
                dry[name] = (used_up.state,) if used_up.state else ()
        ways = {name: (*_edge_targets(state), *dry[name]) for name, state in states.items()} if topic_has_turns else dry
        onward = dry
        looked_at = _reachable_states(start, ways)
        if silent:
            looked_at = frozenset(name for name in looked_at if states[name].each or states[name].press)
            onward = dry | {name: _absent_targets(state) for name, state in states.items() if state.press}
        loop = _find_loop(
            {name: tuple(way for way in onward[name] if way in looked_at) for name in states if name in looked_at}
        )
        if loop:
            return loop
    return None


def _edge_targets(state: State) -> tuple[str, ...]:
    return tuple(dict.fromkeys(edge.target.state for edge in state.edges if edge.target.state))


def _absent_targets(state: State) -> tuple[str, ...]:
    return (state.absent.state,) if state.absent is not None and state.absent.state else ()


def _all_targets(state: State) -> tuple[str, ...]:
    ends = (state.then, state.empty, state.absent)
    return (*_edge_targets(state), *(target.state for target in ends if target and target.state))


def _find_loop(ways: Mapping[str, tuple[str, ...]]) -> tuple[str, ...] | None:
    """Return a cycle found by depth-first search. The search uses no recursion, because a long protocol could exceed
    its limit."""
    done: set[str] = set()
    for first in ways:
        if first in done:
            continue
        path = [first]
        at = {first: 0}
        ahead: list[Iterator[str]] = [iter(ways[first])]
        while path:
            following = next(ahead[-1], None)
            if following is None:
                ahead.pop()
                done.add(path[-1])
                del at[path.pop()]
            elif following in at:
                return tuple(path[at[following] :])
            elif following not in done:
                at[following] = len(path)
                path.append(following)
                ahead.append(iter(ways[following]))
    return None


def most_turns(start: str, states: Mapping[str, State], turn_limit: int | None, topic: Topic) -> int:
    """Return the number of user turns on the longest path through the graph, bounded by the turn limit. All positions
    are advanced together, turn by turn. A position is a state plus the number of the topic's turns that each state
    has used."""
    each = tuple(name for name, state in states.items() if state.each)
    place = {name: number for number, name in enumerate(each)}
    items = len(topic.turns)

    def target_positions(name: str, used: tuple[int, ...]) -> Iterator[_Position]:
        while name:
            state = states[name]
            if not state.each:
                yield name, used
                name = "".join(_absent_targets(state))
                continue
            number = place[name]
            if used[number] < items:
                yield name, (*used[:number], used[number] + 1, *used[number + 1 :])
                return
            target = state.target_after_last(topic)
            name = target.state if target else ""

    turns = 0
    positions = set(target_positions(start, (0,) * len(each)))
    while positions:
        turns += 1
        if turns == turn_limit:
            break
        positions = {
            position
            for name, used in positions
            for way in _edge_targets(states[name])
            for position in target_positions(way, used)
        }
    return turns
