"""How many user turns the conversations of a run can have, and which are missing after a bad end, by its protocol."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from protocols.missing_turns import fewest_turns_onward
from protocols.protocol import Protocol
from recordings.conversations.conversation import Conversation
from recordings.conversations.endings import ended_badly, missing_turns
from recordings.files.json_text import Json
from recordings.log.header import Header
from topics.topic import Topic

# The key of maximum user turns, by system and topic, in the audit of a run of imports.
MOST_TURNS = "most_turns"


def most_turns(header: Header, conversations: Iterable[Conversation]) -> dict[tuple[str, str], int]:
    """Return the maximum user turns of a conversation, by (system, topic id).

    It follows from the run's protocol; without one, from the import, and from the longest of its `conversations` with
    the system, including the turns missing after it.
    """
    recorded = tuple(conversations)
    topics, protocol = header.topic_set(), header.played_protocol()
    known = {topic.id: topic for topic in topics.topics} if topics else {one.key.topic: None for one in recorded}
    told = told_most_turns(header)
    longest: Counter[str] = Counter()
    for one in recorded:
        longest[one.key.system] = max(longest[one.key.system], len(one.turns) + missing_turns(one))
    systems, found = dict.fromkeys((*header.systems, *(one.key.system for one in recorded))), {}
    for name, topic in known.items():
        by_protocol = protocol.most_turns(topic) if protocol is not None and topic is not None else None
        for system in systems:
            found[system, name] = (
                max(longest[system], told.get((system, name), 0)) if by_protocol is None else by_protocol
            )
    return found


def told_most_turns(header: Header) -> dict[tuple[str, str], int]:
    """Return the maximum given on import; {} if there is none."""
    audit = _object(header.audit)
    return {
        (system, topic): most
        for system, topics in _object(audit.get(MOST_TURNS)).items()
        for topic, most in _object(topics).items()
        if isinstance(most, int)
    }


def with_missing_turns(conversations: Iterable[Conversation], header: Header) -> Iterator[Conversation]:
    """Yield the conversations of a run, with the number of missing turns if its protocol determines it."""
    protocol, topics = header.played_protocol(), header.topic_set()
    known = {topic.id: topic for topic in topics.topics} if topics else {}
    for one in conversations:
        topic = known.get(one.key.topic)
        if protocol is None or topic is None or not one.turns or not ended_badly(one.outcome):
            yield one
            continue
        assert one.outcome is not None
        yield replace(one, outcome=replace(one.outcome, missing=_missing_turns(one, protocol, topic)))


def _missing_turns(conversation: Conversation, protocol: Protocol, topic: Topic) -> int:
    last = conversation.turns[-1]
    used = Counter(turn.state for turn in conversation.turns if turn.state in protocol.states)
    lists = {name: count for name, count in used.items() if protocol.states[name].each}
    target = last.route.target if last.route else ""
    if target.startswith("stop:"):
        if conversation.outcome and conversation.outcome.kind in ("breakdown", "no-match"):
            target = ""
        else:  # the protocol had ended as well
            return 0
    return fewest_turns_onward(protocol, topic, last.state, lists, last.number, target=target)


def _object(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}
