"""The files of an audit's topics: their sizes, and whether each system can receive them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from harvest.audits.system import System
from harvest.systems.driver import Driver
from protocols.protocol import Protocol
from topics.counting import pluralize
from topics.document import Document
from topics.topic import Topic


def attaching_states(protocol: Protocol) -> list[str]:
    """Return the names of the states whose words are sent with the topic's files."""
    return [name for name, state in protocol.states.items() if state.attach]


def check_sent_files(
    document: Document,
    systems: Sequence[System],
    drivers: Mapping[str, Driver],
    protocol: Protocol,
    topics: Iterable[Topic],
) -> None:
    """Raise InputError, with its place, if a system cannot be sent a file that the protocol attaches."""
    if not attaching_states(protocol):
        return
    kinds = {one.type: (one, topic) for topic in topics for one in topic.files}
    for system in systems:
        taken = drivers[system.name].capabilities.attaches
        for kind, (file, topic) in kinds.items():
            if not any(fnmatchcase(kind.lower(), pattern) for pattern in taken):
                raise document.error(
                    (*system.loc, "driver"),
                    f"topic {topic.id!r} has the file {file.name} ({kind}), which the driver {system.driver!r} cannot "
                    "send",
                    allowed=", ".join(taken),
                    advice="convert the file, choose another driver, or leave the topic out with `only`",
                )


def sent_file_lines(protocol: Protocol, topics: Sequence[Topic]) -> Iterator[str]:
    """Yield lines about the files to send: how many, how large, and when."""
    having = [topic for topic in topics if topic.files]
    if not having:
        return
    states = attaching_states(protocol)
    if not states:
        yield f"note: no state of the protocol attaches the files of {pluralize(len(having), 'topic')}"
        return
    known = {one.sha256: one for topic in having for one in topic.files}
    largest = max(known.values(), key=lambda one: one.size)
    yield (
        f"files: {len(known)} for {len(having)} of {pluralize(len(topics), 'topic')}, "
        f"{_size(sum(one.size for one in known.values()))} in all, at most {_size(largest.size)} ({largest.name}); "
        f"they go with the words of {' and '.join(map(repr, states))}, and systems that keep nothing are sent them "
        "again with each later turn"
    )


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"
