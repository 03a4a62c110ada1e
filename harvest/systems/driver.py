"""The interface to systems under audit: a driver opens sessions, and a session accepts one user turn at a time.

    DriverError                 something between Harvest and the system failed
    ├── NotSent                 the system never received the turn: the turn may be sent again
    ├── Unanswered              the turn was sent, but no complete reply came back: this attempt is invalid,
    │                           unless the system keeps no state, so that the turn can be sent again
    └── Denied                  the error will occur every time (wrong key, no such model, no such program):
                                the system is no longer asked

No error depends on the text of a reply: a refusal, an empty text or an apology is a `Reply`.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from harvest.systems.exposure import Exposure
from harvest.systems.timing import REAL_CLOCK, Clock
from protocols.answer import Answer, Exchange, Offer
from recordings.conversations.conversation import SystemTurn
from topics.errors import HarvestError, InputError
from topics.sent_files import SentFile
from topics.topic import TopicSet

__all__ = [
    "Attaching",
    "Capabilities",
    "Denied",
    "Driver",
    "DriverError",
    "Exhibit",
    "Greeting",
    "NotSent",
    "Opening",
    "Pressing",
    "Reply",
    "Session",
    "Settling",
    "Surroundings",
    "Unanswered",
]


# Reasons of attempts for which a recording has no reply. Trying again would find none either.
UNRECORDED = frozenset({"diverged", "not-recorded"})


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The capabilities of a driver. An audit is refused if its protocol or sessions need a capability that its driver
    lacks.

    - `stateful`: the system remembers the conversation, so a turn that was sent must not be sent again.
    - `editable_history`: a session can be opened with a given history of exchanges.
    - `streaming`: replies have the times of their pieces.
    - `links`: replies have the `href` of every link.
    - `pace`: default seconds from one user turn to the next; an audit may set its own pace.
    - `no_return`: why the system cannot recognise a person who comes back in a new session, or "" if the driver does
      not prevent recognition.
    - `tokens`: replies may have the system's counts of tokens.
    - `presses`: its sessions are `Pressing`, so a user can press what an answer offers.
    - `attaches`: the media types of files that a user can send, such as `image/*`; its sessions are then `Attaching`.
    - `greets`: the system speaks first, and its sessions are `Greeting`.
    """

    stateful: bool
    editable_history: bool = False
    streaming: bool = False
    links: bool = True
    pace: float = 0.0
    no_return: str = ""
    tokens: bool = True
    presses: bool = False
    attaches: tuple[str, ...] = ()
    greets: bool = False


@dataclass(frozen=True, slots=True)
class Exhibit:
    """Raw evidence that a driver returns with a reply. The evidence is redacted and then stored under its content
    hash. `name` is the kind of evidence (`response`, `stream`, `stderr` or `screenshot`), and `media_type` is as in
    HTTP (`application/json`)."""

    name: str
    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete system turn with its raw evidence (`exhibits`)."""

    turn: SystemTurn
    exhibits: tuple[Exhibit, ...] = ()


@dataclass(frozen=True, slots=True)
class Opening:
    """The conversation for which a session is opened.

    `system`, `topic` and `trial` (from 1) identify the conversation. `replay` uses them to find the recording, and
    drivers of live systems ignore them. `seed` is for embedded systems that draw random numbers. `history` has the
    exchanges so far, oldest first, for drivers with `editable_history`; it is empty for a new conversation. `before`
    is the number of user turns in earlier sessions of this conversation (0 in the first session).
    """

    system: str
    topic: str
    trial: int
    seed: int
    history: tuple[Exchange, ...] = ()
    before: int = 0


class Session(Protocol):
    """One session with the system. Turns are strictly sequential."""

    async def say(self, text: str) -> Reply:
        """Send a user turn and return the reply. Raises DriverError. Never sends a turn again because of its reply."""
        ...

    async def close(self) -> None:
        """Release the session's resources. Never raises, and may be called twice."""
        ...


class NothingHeld:
    """Base class for sessions and drivers without resources."""

    async def close(self) -> None:
        """Do nothing, since there are no resources to release."""


@runtime_checkable
class Settling(Protocol):
    """A session that knows only at the end of a conversation whether its last reply was complete."""

    async def settle(self) -> None:
        """Check the last reply. Raises DriverError if the reply was incomplete, which makes the attempt invalid."""
        ...


@runtime_checkable
class Greeting(Protocol):
    """A session in which the system may speak before the user. Its first reply also has `greeting` and
    `greeting_offers`."""

    @property
    def greeting(self) -> Answer | None:
        """The system's greeting when the session was opened; None if it said nothing."""
        ...


@runtime_checkable
class Pressing(Protocol):
    """A session in which a user can press an offer of the last answer."""

    async def press(self, offer: Offer) -> Reply:
        """Press the offer and return the reply, as `say` does. The caller presses only offers of the last answer."""
        ...


@runtime_checkable
class Attaching(Protocol):
    """A session in which a user can send files with a turn."""

    async def attach(self, text: str, files: Sequence[SentFile]) -> Reply:
        """Send a user turn with files and return the reply, as `say` does."""
        ...


class Driver(Protocol):
    """A connection to one system."""

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities of the driver, which never change."""
        ...

    async def open(self, opening: Opening) -> Session:
        """Open a session for one conversation. Raises DriverError."""
        ...

    async def close(self) -> None:
        """Release the driver's resources, after its sessions are closed."""
        ...


class DriverError(HarvestError):
    """Base class of failures between Harvest and the system. Drivers raise one of its three subclasses.

    `reason` is a slug for counting (`timeout`, `http-503`), and `detail` a sentence for people. `partial` is the text
    received before the failure, which is kept as evidence and never scored. `exhibits` has the evidence received
    before the failure. `retry_after` is the number of seconds to wait before the next try, as requested by the system,
    or None.
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
    """The system never received the turn (no connection, or a 429), so the turn may be sent again."""


class Unanswered(DriverError):
    """The turn was sent, but no complete reply arrived (time-out, broken stream, 5xx, undecodable bytes, too large)."""


class Denied(DriverError):
    """The error will occur every time, so the user is informed and the system gets no more requests."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Further inputs of a driver, passed to `build(options, surroundings)`.

    `system` is the name of the system in the audit. `folder` is the folder of the audit file, where relative paths
    start. `topics` are the audit's topics, for embedded systems. `environment` is the only source of secrets, and
    `secrets` has all secrets that were read, which are redacted in the recording. `recorded_as` has the names under
    which the system's conversations are recorded if the system meets groups of users. The driver waits by `clock`.
    `exposure` has the declarations of the options, or None if they are not checked. If `imports` is False, nothing
    will be played, so code that the options name need not be imported.
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
        """Return the value of an environment variable, and register it for redaction. Raises InputError, with the names
        of the system and the variable, if the variable is not set or empty, or if the options do not declare it.
        Harvest cannot tell a user who receives the value of an undeclared variable."""
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
