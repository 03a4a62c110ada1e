"""The seam to systems under audit: a driver opens sessions, a session takes one user turn at a time.

    DriverError                 something between us and the system failed
    ├── NotSent                 the system never took the turn: the same turn may be sent again
    ├── Unanswered              the turn was sent and no whole reply came back: this attempt is invalid,
    │                           unless the system keeps no state and the turn can be sent again
    └── Denied                  it will fail every time (wrong key, no such model, no such program):
                                stop asking this system

None of these ever depends on what the system said: a refusal, an empty text or an apology is a `Reply`.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from harvest.systems.exposure import Exposure
from harvest.systems.timing import REAL_CLOCK, Clock
from protocols.answer import Exchange
from recordings.conversations.conversation import SystemTurn
from topics.errors import HarvestError, InputError
from topics.topic import TopicSet

__all__ = [
    "Capabilities",
    "Denied",
    "Driver",
    "DriverError",
    "Exhibit",
    "NotSent",
    "Opening",
    "Reply",
    "Session",
    "Settling",
    "Surroundings",
    "Unanswered",
]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a driver can do. If a protocol or session policy needs something that the driver lacks, the audit is
    refused.

    stateful: the system itself remembers the conversation, so a turn that was sent must not be sent again.
    editable_history: a session can be opened on a given history of exchanges.
    streaming: replies carry time stamps of their pieces. links: replies carry the `href` of every link.
    pace: default seconds from one user turn to the next, where an audit sets none. no_return: why a person who comes
    back in a new session cannot be known as the same one; "" where nothing the driver does is in the way.
    """

    stateful: bool
    editable_history: bool = False
    streaming: bool = False
    links: bool = True
    pace: float = 0.0
    no_return: str = ""


@dataclass(frozen=True, slots=True)
class Exhibit:
    """Raw evidence that a driver returns with a reply: stored under its content hash, after redaction.

    name: what it is (`response`, `stream`, `stderr`, `screenshot`). media_type: as in HTTP (`application/json`).
    """

    name: str
    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole system turn, and the raw evidence for it (exhibits)."""

    turn: SystemTurn
    exhibits: tuple[Exhibit, ...] = ()


@dataclass(frozen=True, slots=True)
class Opening:
    """The conversation that a session is opened for.

    system, topic, trial (from 1): which conversation; `replay` finds the recording by them, drivers of live systems
    ignore them. seed: for embedded systems that draw random numbers. history: the exchanges so far, oldest first, for
    drivers with `editable_history`; () for a new conversation. before: user turns that the same person said in earlier
    sessions of this conversation; 0 but for one who comes back.
    """

    system: str
    topic: str
    trial: int
    seed: int
    history: tuple[Exchange, ...] = ()
    before: int = 0


class Session(Protocol):
    """One session with the system. Its turns come strictly one after the other."""

    async def say(self, text: str) -> Reply:
        """Send one user turn and wait for the whole reply. Raises DriverError; never retries because of its words."""
        ...

    async def close(self) -> None:
        """Let go of what the session holds. Never raises; may be called twice."""
        ...


@runtime_checkable
class Settling(Protocol):
    """A session that can tell only at the end of a conversation whether its last reply was whole."""

    async def settle(self) -> None:
        """After the last turn of a conversation. Raises DriverError where it was not: the attempt is invalid."""
        ...


class Driver(Protocol):
    """A way to reach one system."""

    @property
    def capabilities(self) -> Capabilities:
        """What the driver can do; the same for as long as it lives."""
        ...

    async def open(self, opening: Opening) -> Session:
        """Open a session for one conversation. Raises DriverError."""
        ...

    async def close(self) -> None:
        """Release everything the driver holds, after its sessions are closed."""
        ...


class DriverError(HarvestError):
    """Something between Harvest and the system failed; raise one of its three subclasses.

    reason: a slug for counting (`timeout`, `http-503`). detail: a sentence for a person. partial: the text received
    before the fault, kept as evidence and never scored. exhibits: what did come back. retry_after: seconds that the
    system asked to wait before the next try; None where it did not say.
    """

    def __init__(
        self,
        reason: str,
        detail: str = "",
        *,
        partial: str = "",
        exhibits: tuple[Exhibit, ...] = (),
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason, self.detail, self.partial = reason, detail, partial
        self.exhibits, self.retry_after = exhibits, retry_after


class NotSent(DriverError):
    """The system never took the turn (no connection, or a 429 that says so): it may be sent again."""


class Unanswered(DriverError):
    """Sent, but no complete reply came: time-out, broken stream, 5xx, bytes that are not text, over the size limit."""


class Denied(DriverError):
    """The same will happen every time: stop asking this system and tell the user."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a driver may need besides its own options, handed to `build(options, surroundings)`.

    system: its name in the audit. folder: that of the audit file; relative paths start there. topics: the audit's
    topics (an embedded system may know them). environment: the only source of secrets. secrets: every secret that was
    read, for the writer to redact. recorded_as: the names its conversations have in the recording, where it meets
    groups of users. clock: by which the driver waits. exposure: what the options declare; None where nobody asked them.
    imports: whether code that the options name is imported; false where nothing is going to be played.
    """

    system: str
    folder: Path
    topics: TopicSet | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    secrets: set[str] = field(default_factory=set)
    recorded_as: tuple[str, ...] = ()
    clock: Clock = REAL_CLOCK
    exposure: Exposure | None = None
    imports: bool = True

    def secret(self, variable: str) -> str:
        """The value of an environment variable, registered for redaction.

        Raises InputError, naming the system and the variable, where it is not set or empty, and where the options do
        not declare that they name one: then nobody could have been shown who gets it.
        """
        if self.exposure is not None and variable not in self.exposure.needed:
            raise InputError(
                f"system {self.system!r}: its driver reads the environment variable {variable}, which its options do "
                "not declare",
                advice="in the driver, give the option the type VariableName, or Text",
            )
        value = self.environment.get(variable, "")
        if not value:
            raise InputError(
                f"system {self.system!r} needs the environment variable {variable}, which is not set",
                advice=f"export {variable}=… in the shell that runs harvest; secrets are never written in a file",
            )
        self.secrets.add(value)
        return value
