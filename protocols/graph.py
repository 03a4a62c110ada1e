"""The protocol as a graph: reachable states, endless loops, and the longest conversation."""

from collections.abc import Iterator, Mapping

from protocols.states import State
from topics.topic import Topic

_Position = tuple[str, tuple[int, ...]]


def reachable_states(start: str, states: Mapping[str, State]) -> frozenset[str]:
    """Return the states that some conversation can reach."""
    return _reachable_states(start, {name: _all_targets(state) for name, state in states.items()})


def reachable_on(start: str, states: Mapping[str, State], topic: Topic) -> frozenset[str]:
    """Return the states that some conversation on `topic` can reach: without those behind `empty` if the topic has
    turns, and without those behind the edges of a state that goes through turns if it has none."""
    ways: dict[str, tuple[str, ...]] = {}
    for name, state in states.items():
        after = state.after_last(topic) if state.each else None
        edges = _edge_targets(state) if topic.turns or not state.each else ()
        ways[name] = (*edges, *((after.state,) if after and after.state else ()))
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
    """Return the states from which some path of edges leads to a stop. A missing edge (no-match) is a stop too."""
    back: dict[str, list[str]] = {name: [] for name in states}
    waiting = []
    for name, state in states.items():
        for target in _all_targets(state):
            back[target].append(name)
        # An edge may end the conversation right there, and so may an answer that matches no edge.
        ends = [*(edge.target for edge in state.edges), *(end for end in (state.then, state.empty) if end)]
        if any(end.outcome for end in ends) or not state.edges or state.edges[-1].rule != "":
            waiting.append(name)
    found = set(waiting)
    while waiting:
        fresh = [name for name in back[waiting.pop()] if name not in found]
        found.update(fresh)
        waiting.extend(fresh)
    return frozenset(found)


def endless(start: str, states: Mapping[str, State], *, silent: bool = False) -> tuple[str, ...] | None:
    """Return the states of a loop that only a turn limit ends, in order, or None.

    A state that goes through the topic's turns runs out at some point and then only passes on. So loops are
    searched among the reachable states after every such state has run out, for topics with and without turns.
    silent: only loops in which nothing is said, which not even a turn limit ends; a loop that speaks could hide
    one.
    """
    for topic_has_turns in (True, False):
        dry: dict[str, tuple[str, ...]] = {}
        for name, state in states.items():
            used_up = state.then if topic_has_turns else state.empty or state.then
            if state.then is None or used_up is None:
                dry[name] = _edge_targets(state)
            else:
                dry[name] = (used_up.state,) if used_up.state else ()
        ways = {name: (*_edge_targets(state), *dry[name]) for name, state in states.items()} if topic_has_turns else dry
        looked_at = {name for name in _reachable_states(start, ways) if states[name].each or not silent}
        loop = _find_loop(
            {name: tuple(way for way in dry[name] if way in looked_at) for name in states if name in looked_at}
        )
        if loop:
            return loop
    return None


def _edge_targets(state: State) -> tuple[str, ...]:
    return tuple(dict.fromkeys(edge.target.state for edge in state.edges if edge.target.state))


def _all_targets(state: State) -> tuple[str, ...]:
    return (*_edge_targets(state), *(target.state for target in (state.then, state.empty) if target and target.state))


def _find_loop(ways: Mapping[str, tuple[str, ...]]) -> tuple[str, ...] | None:
    """Return a cycle found by depth-first search, without recursion, as long protocols would need a deep stack."""
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
    """Return the number of user turns on the longest path through the graph, or the turn limit if that is smaller.
    Walks turn by turn over all positions (state, and how many of the topic's turns each state has used) at once."""
    each = tuple(name for name, state in states.items() if state.each)
    place = {name: number for number, name in enumerate(each)}
    items = len(topic.turns)

    def landing(name: str, used: tuple[int, ...]) -> _Position | None:
        while name:
            state = states[name]
            if not state.each:
                return name, used
            number = place[name]
            if used[number] < items:
                return name, (*used[:number], used[number] + 1, *used[number + 1 :])
            target = state.after_last(topic)
            name = target.state if target else ""
        return None

    turns = 0
    positions = {landing(start, (0,) * len(each))}
    while any(positions):
        turns += 1
        if turns == turn_limit:
            break
        said = [position for position in positions if position]
        positions = {landing(way, used) for name, used in said for way in _edge_targets(states[name])}
    return turns
