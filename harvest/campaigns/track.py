"""The server of a track: its addresses, the requests to it, and the paths of the parts of its replies.

A track is described by a file. Those in `harvest/campaigns/tracks/` come with Harvest; a campaign may name its own
file, and replace single keys of any file.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from pydantic import AfterValidator, Field

from harvest.drivers import template as templates
from harvest.drivers.history import json_bytes
from harvest.drivers.received import Received
from harvest.drivers.reply_path import Condition, ConditionOption, Paths, ReplyPath, first_found, kept_text
from harvest.drivers.wire import Request, Wire
from harvest.systems.driver import DriverError
from topics.document import Document, StrictModel, form_validator, read_document, validation_error

FORMAT = "harvest-track/1"
_PLACEHOLDERS = ("run_id", "description", "conversation", "text", "last", "time")


def _check_body(body: object) -> object:
    try:
        templates.check_template(body, _PLACEHOLDERS)
    except ValueError as fault:
        raise validation_error(str(fault)) from None
    return body


_Body = Annotated[dict[str, Any], AfterValidator(_check_body)]
_Address = Annotated[str, form_validator(r"/[!-~]*", "a path such as /run/start")]
_Status = Annotated[int, Field(ge=200, le=599)]


class TrackFile(StrictModel):
    """A description of a track's server.

    `side` is the side that Harvest takes. `start` and `say` are the paths of the requests that begin a run and that
    send an utterance, with their bodies. `session`, `status` and `dump` are asked with the id of the run. In debug
    mode, each path has the texts of `debug` replaced.

    In a reply, `text` is the other side's utterance in `conversation`; `goal_id`, `request` and `fields` describe what
    the user wants. `ended` says that the other side ended the conversation, `begins` that a new one began, and
    `complete` that the run is over; so do the statuses.

    The session holds the utterances of the current conversation at `held`, and its id at `held_conversation`.
    Utterances that fulfil `ours` are ours, and `words` is the path to an utterance's text. `done` lists the finished
    conversations in the status, and `done_if` holds when the run is over. `dumped` are the utterances in the list of
    all lines of the dump.
    """

    format: Literal["harvest-track/1"]
    about: str
    source: str
    side: Literal["user", "agent"]
    start: _Address
    start_body: _Body
    say: _Address
    say_body: _Body
    session: _Address
    status: _Address
    dump: _Address
    debug: dict[str, str] = Field({})
    conversation: Paths
    goal_id: Paths = ()
    request: Paths = ()
    fields: Paths = ()
    text: Paths
    ended: ConditionOption = ()
    begins_status: tuple[_Status, ...] = ()
    begins: ConditionOption = ()
    complete_status: tuple[_Status, ...] = ()
    complete: ConditionOption = ()
    held_conversation: Paths
    held: Paths
    ours: ConditionOption
    words: Paths
    done: Paths = ()
    done_if: ConditionOption = ()
    dumped: Paths


def track_names() -> tuple[str, ...]:
    """Return the names of the tracks that come with Harvest, sorted."""
    folder = resources.files("harvest.campaigns") / "tracks"
    return tuple(sorted(one.name.removesuffix(".yaml") for one in folder.iterdir()))


def read_track(name: str, changes: Mapping[str, Any], document: Document, folder: FilePath) -> TrackFile:
    """Read the track `name`, shipped or a file in `folder`, with the `changes` of a campaign. Raises InputError."""
    if name in track_names():
        path = FilePath(str(resources.files("harvest.campaigns") / "tracks" / f"{name}.yaml"))
    elif name.endswith((".yaml", ".yml")):
        path = folder / name
    else:
        raise document.error(
            ("track",), f"there is no track {name!r}", allowed=f"{', '.join(track_names())}, or a file"
        )
    described = read_document(path)
    checked = described.validate_as(TrackFile)
    assert isinstance(described.value, dict)
    whole = {**described.value, **changes}
    return replace(document.part(("api",)), value=whole).validate_as(TrackFile) if changes else checked


@dataclass(frozen=True, slots=True)
class Goal:
    """What the user of a conversation wants. `id` is "" if the track names none. `fields` are further texts."""

    id: str = ""
    request: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Told:
    """A reply of the track. `conversation` is "" and `text` and `goal` are None if the reply has none. `begins` is True
    if this is the first reply of a new conversation, `ended` if the other side ended the conversation, and `complete`
    if the run is over. `status` is the HTTP status, and `body` the reply as JSON."""

    status: int
    conversation: str = ""
    text: str | None = None
    goal: Goal | None = None
    begins: bool = False
    ended: bool = False
    complete: bool = False
    body: Any = None


@dataclass(frozen=True, slots=True)
class Held:
    """The utterances of the current conversation in the track's session: ours, and the other side's."""

    conversation: str
    said: tuple[str, ...]
    heard: tuple[str, ...]


class TrackServer:
    """The server of the track at the address `url`, for one run. Raises the DriverErrors of `Wire`."""

    def __init__(self, track: TrackFile, wire: Wire, url: str, run_id: str, *, description: str, debug: bool) -> None:
        self.track, self.run_id = track, run_id
        self._wire, self._url, self._debug, self._description = wire, url.rstrip("/"), debug, description
        self._answered = False

    async def start(self) -> Told:
        """Begin the run."""
        return await self._post(self.track.start, self.track.start_body, {})

    async def say(self, conversation: str, text: str, time: str, *, last: bool) -> Told:
        """Send an utterance of ours. `last` is True if it ends the conversation."""
        values = {"conversation": conversation, "text": text, "last": last, "time": time}
        return await self._post(self.track.say, self.track.say_body, values)

    async def held(self) -> Held | Told:
        """Return the utterances in the session, or a Told if the session says that the run is complete or does not
        exist."""
        received = await self._get(self.track.session)
        if received.status in self.track.complete_status:
            return Told(received.status, complete=True)
        self._refuse(received)
        value = received.json()
        said, heard = self._utterances(self.track.held, value)
        return Held(kept_text(_found(self.track.held_conversation, value)) or "", said, heard)

    async def where(self) -> Told | None:
        """Return the conversation and the goal that the session or the status names, or None."""
        for address in (self.track.session, self.track.status):
            received = await self._get(address)
            if 200 <= received.status < 300:
                told = self._read(received)
                if told.conversation and (told.goal is not None or self.track.side == "agent"):
                    return told
        return None

    async def finished(self, conversation: str) -> Told | None:
        """Return the reason in the status why `conversation` is over, or None if it is not over."""
        received = await self._get(self.track.status)
        if not 200 <= received.status < 300:
            return None
        value = received.json()
        if conversation not in map(str, _found(self.track.done, value)):
            return None
        complete = Condition.parse(self.track.done_if).holds(value)
        return Told(received.status, conversation, ended=True, complete=complete, body=value)

    async def dump(self) -> tuple[bytes, tuple[str, ...]]:
        """Return the track's record of the run, and our utterances in it in order."""
        received = await self._get(self.track.dump)
        self._refuse(received)
        text = received.text()
        try:
            values = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError:
            values = [received.json()]
        lines = values[0] if len(values) == 1 and isinstance(values[0], list) else values
        return received.body, self._utterances(self.track.dumped, lines)[0]

    async def close(self) -> None:
        await self._wire.close()

    def _utterances(self, paths: tuple[str, ...], value: object) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the texts of our utterances, and of the others', in order."""
        ours, said, heard = Condition.parse(self.track.ours), list[str](), list[str]()
        for one in _found(paths, value):
            text = next(iter(_found(self.track.words, one)), "")
            (said if ours.holds(one) else heard).append(templates.as_text(text))
        return tuple(said), tuple(heard)

    async def _post(self, address: str, body: object, values: Mapping[str, object]) -> Told:
        known = dict.fromkeys(_PLACEHOLDERS) | {"run_id": self.run_id, "description": self._description}
        content = json_bytes(templates.fill(body, known | dict(values)))
        headers = {"Content-Type": "application/json"}
        received = await self._wire.ask(Request("POST", self._address(address), headers, content))
        if received.status in self.track.complete_status:
            return Told(received.status, complete=True, body=received.json_or_none)
        self._refuse(received)
        self._answered = True
        return self._read(received)

    async def _get(self, address: str) -> Received:
        return await self._wire.ask(Request("GET", f"{self._address(address)}?{urlencode({'run_id': self.run_id})}"))

    def _address(self, path: str) -> str:
        for one, other in self.track.debug.items() if self._debug else ():
            path = path.replace(one, other)
        return self._url + path

    def _refuse(self, received: Received) -> None:
        fault: DriverError | None = received.refusal(answered=self._answered)
        if fault is not None:
            raise fault

    def _read(self, received: Received) -> Told:
        track = self.track
        value = received.json() if received.body.strip() else {}
        text = next((one for one in _found(track.text, value) if isinstance(one, str)), None)
        return Told(
            received.status,
            kept_text(_found(track.conversation, value)) or "",
            text,
            self._goal(value),
            received.status in track.begins_status or Condition.parse(track.begins).holds(value),
            Condition.parse(track.ended).holds(value),
            Condition.parse(track.complete).holds(value),
            value,
        )

    def _goal(self, value: object) -> Goal | None:
        request = kept_text(_found(self.track.request, value))
        if request is None:
            return None
        fields: dict[str, str] = {}
        for path in self.track.fields:
            for one in ReplyPath.parse(path).find(value):
                _add_texts(fields, one)
        return Goal(kept_text(_found(self.track.goal_id, value)) or "", request, fields)


def _found(paths: tuple[str, ...], value: object) -> list[object]:
    return first_found(map(ReplyPath.parse, paths), value)


def _add_texts(fields: dict[str, str], value: object, name: str = "") -> None:
    """Add the texts and numbers in `value` by the innermost name. The first value of a name counts."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _add_texts(fields, inner, str(key))
    elif isinstance(value, list):
        fields.setdefault(name, ", ".join(map(templates.as_text, value)))
    elif name and value is not None:
        fields.setdefault(name, templates.as_text(value))
