"""How many user turns the conversations of a run could have, and how many a bad end kept from following."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from protocols.missing_turns import fewest_turns_onward
from protocols.protocol import Protocol
from recordings.conversations.conversation import Conversation
from recordings.conversations.endings import is_bad_ending, missing_turns
from recordings.files.json_text import Json
from recordings.log.header import Header
from topics.topic import Topic

# The key of maximum user turns, by system and topic, in the audit of a run of imports.
MOST_TURNS = "most_turns"


def most_turns(header: Header, conversations: Iterable[Conversation]) -> dict[tuple[str, str], int]:
    """Return the maximum number of user turns of a conversation, by (system, topic id), from the run's protocol, else
    from the import and the longest of the system's `conversations`, with its missing turns."""
    recorded = tuple(conversations)
    topics, protocol = header.topic_set(), header.played_protocol()
    known = {topic.id: topic for topic in topics.topics} if topics else {one.key.topic: None for one in recorded}
    told = stated_most_turns(header)
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


def stated_most_turns(header: Header) -> dict[tuple[str, str], int]:
    """Return the maximum numbers of user turns that were given on import, by (system, topic)."""
    audit = _as_object(header.audit)
    return {
        (system, topic): most
        for system, topics in _as_object(audit.get(MOST_TURNS)).items()
        for topic, most in _as_object(topics).items()
        if isinstance(most, int)
    }


def add_missing_turns(conversations: Iterable[Conversation], header: Header) -> Iterator[Conversation]:
    """Yield the conversations of a run, with the number of missing turns if the protocol determines it."""
    protocol, topics = header.played_protocol(), header.topic_set()
    known = {topic.id: topic for topic in topics.topics} if topics else {}
    counted: dict[tuple[object, ...], int] = {}  # many conversations go and end alike
    for one in conversations:
        topic = known.get(one.key.topic)
        if protocol is None or topic is None or not one.turns or not is_bad_ending(one.outcome):
            yield one
            continue
        assert one.outcome is not None
        last = one.turns[-1]
        way = (topic.id, *[turn.state for turn in one.turns], last.number, last.route and last.route.target)
        alike = (*way, one.outcome.kind)
        if alike not in counted:
            counted[alike] = _missing_turns(one, protocol, topic)
        yield replace(one, outcome=replace(one.outcome, missing=counted[alike]))


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


def _as_object(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}
