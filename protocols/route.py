"""Routes: records of which rule decided how a conversation continues, and why."""

from dataclasses import dataclass, field

from protocols.choice import Choice


@dataclass(frozen=True, slots=True)
class Evidence:
    """A piece of the answer that a rule relied on. start, end: character span in `Answer.text` (end exclusive);
    both -1 if the evidence is an absence or outside the text. quote: the span itself, or what was missing. note:
    what the rule recognised in it."""

    start: int
    end: int
    quote: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Route:
    """One decision: in `state`, the answer to user turn `turn` (from 1) got `label` and led to `target`.

    rule: the name of the rule in the protocol, `otherwise`, or `no-match`. version: of the rule's code and the
    protocol, so that a later run of `harvest replay-routes` can say what differs. target: the name of the next state,
    or `stop:<outcome>`.
    """

    turn: int
    state: str
    label: str
    rule: str
    version: str
    evidence: tuple[Evidence, ...]
    target: str


@dataclass(frozen=True, slots=True)
class Say:
    """The user's next words.

    route: the decision on the previous answer (None for the opening turn). state: the state of the protocol, or the
    user's act if no protocol is played. user, act: the name of a simulated user in the protocol and its act; both
    "" if the protocol itself speaks. worded: why these are not the words of the source that was asked to word the
    turn, else "". choice: the options of a simulated user; ignored in comparisons of turns. new_session: the same
    person comes back: the words open a new session of the system, which remembers only what it keeps about a
    person.
    """

    text: str
    state: str
    turn: int
    route: Route | None = None
    user: str = ""
    act: str = ""
    worded: str = ""
    choice: Choice | None = field(default=None, compare=False, repr=False)
    new_session: bool = False


@dataclass(frozen=True, slots=True)
class Ask:
    """The simulated user `user` speaks next: the caller lets it say something, in any words, or stop. route: as in
    Say."""

    user: str
    state: str
    turn: int
    route: Route | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """The end of the user's side. outcome: `completed`, `breakdown`, `no-match`, `turn-limit` or `user-stopped`.
    reason, detail: why, for people. choice: as in Say. Comparisons of stops ignore `detail` and `choice`."""

    outcome: str
    reason: str = ""
    route: Route | None = None
    detail: str = field(default="", compare=False)
    choice: Choice | None = field(default=None, compare=False, repr=False)
