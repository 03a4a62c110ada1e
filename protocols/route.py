"""Which rule sent a conversation on, and why: the record of one routing decision."""

from dataclasses import dataclass, field

from protocols.choice import Choice


@dataclass(frozen=True, slots=True)
class Evidence:
    """A piece of the answer a rule relied on.

    start, end: character span in `Answer.text` (end exclusive); both -1 if the evidence is an absence
    or stands outside the text. quote: the span itself, or what was missed. note: what the rule saw in it.
    """

    start: int
    end: int
    quote: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Route:
    """One decision: in `state`, the answer to user turn `turn` (from 1) got `label` and led to `target`.

    rule: name of the rule as written in the protocol, `otherwise`, or `no-match`. version: of the rule's code
    and the protocol, so that a later run of `harvest replay-routes` can say what differs.
    target: name of the next state, or `stop:<outcome>`.
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
    """The user's next words. route: the decision on the previous answer (None for the opening turn).

    state: of the protocol; where no protocol is played, the user's act. user, act: where a simulated user of the
    protocol speaks, its name there and what it does with these words; both "" if the protocol itself does. worded:
    why these are not the words of whoever was asked to word the turn; "" if they are, and if nobody was asked.
    choice: what a simulated user chose among; two turns that differ in it alone are the same turn. new_session: the
    same person comes back: the words open a new session of the system, which has forgotten nothing that it keeps of a
    person, and heard nothing in this session yet.
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
    """The next words are those of the simulated user `user` of the protocol, whatever they are.

    Whoever plays the protocol has that user say or stop. route: as in Say.
    """

    user: str
    state: str
    turn: int
    route: Route | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """The user's side is done.

    outcome: `completed`, `breakdown`, `no-match`, `turn-limit` or `user-stopped`. reason: why, for a person. detail:
    what else a person should know of it. choice: as in Say. Two stops that differ in these alone are the same stop.
    """

    outcome: str
    reason: str = ""
    route: Route | None = None
    detail: str = field(default="", compare=False)
    choice: Choice | None = field(default=None, compare=False, repr=False)
