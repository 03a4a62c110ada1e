"""The states of a protocol, with their words and outgoing edges."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from protocols.presses import Press
from protocols.wording import Wording
from topics.topic import Topic

if TYPE_CHECKING:  # it brings pydantic, which playing a protocol does not need
    from topics.document import Document


@dataclass(frozen=True, slots=True)
class Target:
    """The target of an edge: a state's name or an outcome (`completed` or `breakdown`). The unused field is ""."""

    state: str = ""
    outcome: str = ""

    def __str__(self) -> str:
        return self.state or f"stop:{self.outcome}"


@dataclass(frozen=True, slots=True)
class Edge:
    """An outgoing edge of a state. `rule` is the name of its rule, or "" for `otherwise`. `label` is `o` or `x`."""

    rule: str
    label: str
    target: Target


@dataclass(frozen=True, slots=True)
class SimulatedUser:
    """A simulated user defined in a protocol, which `simulators.registry` builds. `simulator` is the name of the
    policy. `options` are its options as JSON values, including `over` if it wraps another user. `document` is the
    same part of the file and locates errors."""

    simulator: str
    options: Mapping[str, object]
    document: "Document" = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class State:
    """A state of a protocol: the user's words in this state, and the edges that are tried in order on the answer.

    If `then` is set, the state goes through the topic's turns: each time the state is entered during the
    conversation, it says the next turn. Once all turns are used, the state passes on to `then` without saying
    anything. For a topic without turns, `empty` replaces `then` unless `empty` is None. `user` is the name of the
    simulated user who speaks in this state instead of `say`. `press` is what the state presses instead of speaking; if
    the last answer has no such offer, the state passes on to `absent` without doing anything. `attach` is True if the
    topic's files go with the words.
    """

    name: str
    say: Wording | None
    edges: tuple[Edge, ...]
    then: Target | None = None
    empty: Target | None = None
    user: str = ""
    press: Press | None = None
    absent: Target | None = None
    attach: bool = False

    @property
    def each(self) -> bool:
        return self.then is not None

    def target_after_last(self, topic: Topic) -> Target | None:
        """Return the target after all of the topic's turns, or None for a state that does not go through turns."""
        return self.then if topic.turns else (self.empty or self.then)
