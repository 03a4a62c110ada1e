"""The ledger of one run of a campaign. It has every utterance before it is sent, and every reply of the track.

    {"event": "opened", "format": "harvest-campaign-ledger/1", "run_id": …, "side": …, "system": …, …}
    {"event": "sending", "call": "start"}
    {"event": "received", "status": 200, "conversation": "c1", "begins": true, "goal": {…}, "text": null, "body": {…}}
    {"event": "sending", "call": "say", "conversation": "c1", "text": "Hi", "last": false, "memory": {…}, …}
    {"event": "failed", "reason": "timeout", …}          the sending may have arrived or not
    {"event": "again"}                                   it had not arrived, and is sent once more
    {"event": "received", …, "by": "session"}            its reply, learnt from the track's session

The file is JSON, one event a line, each on the disk before the next step. Reading it again gives the state in which
the run continues: `Chain`. `harvest data import` makes a run of it.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harvest.campaigns.track import Goal, Told
from recordings.files.errors import RunError
from recordings.files.json_text import encode_line, parse_row
from recordings.files.shared_file import SharedFile, shared_file
from recordings.files.times import stamp, utc_now
from recordings.secrets.redaction import Redactor
from topics.errors import Place

FORMAT = "harvest-campaign-ledger/1"
_PATIENCE = 1.0  # seconds to wait for another process that plays the same run


@dataclass(slots=True)
class Chain:
    """The state of a run. `conversation`, `goal`, `said`, `heard` and `memory` belong to the current conversation,
    which is number `number` of the run, from 1. `ended` is True if the other side ended it. `pending` is the request
    whose reply is not known, and `sent_at` the time when it was last sent. `lost` counts how often our side failed to
    produce the next utterance. `all_said` are all utterances of ours, in order."""

    number: int = 0
    conversation: str = ""
    goal: Goal | None = None
    said: list[str] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)
    memory: Any = None
    ended: bool = False
    pending: Mapping[str, Any] | None = None
    sent_at: str = ""
    complete: bool = False
    all_said: list[str] = field(default_factory=list)
    goals: dict[str, int] = field(default_factory=dict)
    lost: int = 0

    @property
    def started(self) -> bool:
        return bool(self.number or self.pending)

    def take(self, event: Mapping[str, Any]) -> None:
        """Follow an event of the ledger."""
        match event["event"]:
            case "sending":
                self.pending, self.sent_at, self.lost = event, event["at"], 0
            case "again":
                self.sent_at = event["at"]
            case "failed" if self.pending is None:
                self.lost += 1
            case "received":
                self._receive(event)

    def _receive(self, event: Mapping[str, Any]) -> None:
        if self.pending is None:
            raise ValueError("a reply without a request")
        if self.pending["call"] == "say":
            self.said.append(self.pending["text"])
            self.all_said.append(self.pending["text"])
            self.memory = self.pending["memory"]
        self.pending = None
        self.complete, self.ended = event["complete"], event["ended"]
        if event["begins"]:
            self.number += 1
            self.conversation = event["conversation"]
            self.goal = None if event["goal"] is None else Goal(**event["goal"])
            self.said, self.heard, self.memory = [], [], None
            wanted = self.goal.id if self.goal is not None else self.conversation
            self.goals[wanted] = self.goals.get(wanted, 0) + 1
        if event["text"] is not None or not (event["begins"] or event["complete"]):
            self.heard.append(event["text"] or "")


class Ledger:
    """The ledger of one run, open for writing. `chain` is its state."""

    def __init__(self, file: SharedFile, redactor: Redactor) -> None:
        self._file, self._redactor, self.chain = file, redactor, Chain()

    def append(self, event: str, **values: Any) -> None:
        """Add an event, on the disk, and follow it. Raises StoreError."""
        row = {"event": event, **values, "at": stamp(utc_now())}
        self._file.append(encode_line(row))
        self.chain.take(row)

    def redacted(self, text: str) -> str:
        """Return the text without secrets, so that the text sent is the text in the ledger."""
        return self._redactor.text(text)

    def receive(self, reply: Told, by: str) -> None:
        """Add the reply to the last request. `by` says how it was learnt: `reply`, `session` or `status`."""
        chain = self.chain
        clean = self._redactor.value
        begins = not reply.complete and (
            reply.begins or not chain.number or reply.conversation not in ("", chain.conversation)
        )
        goal = (
            None
            if reply.goal is None
            else clean({"id": reply.goal.id, "request": reply.goal.request, "fields": dict(reply.goal.fields)})
        )
        self.append(
            "received",
            by=by,
            status=reply.status,
            conversation=reply.conversation or ("" if begins else chain.conversation),
            begins=begins,
            ended=reply.ended,
            complete=reply.complete,
            goal=goal,
            text=clean(reply.text),
            body=clean(reply.body if _is_strict(reply.body) else json.dumps(reply.body)),
        )


@contextmanager
def open_ledger(path: Path, opening: Mapping[str, Any], redactor: Redactor) -> Iterator[Ledger]:
    """Open the ledger at `path`, which need not exist, so that no other process can play the run. Raises RunError if
    the ledger belongs to another run, differs from `opening`, or is damaged."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with shared_file(path, _PATIENCE) as file:
        ledger = Ledger(file, redactor)
        lines = file.data.split(b"\n")
        rows = []
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            if number == len(lines) and not _is_whole(line):
                # A process that died while it wrote: what the line says was not sent yet.
                file.replace(file.data[: len(file.data) - len(line)])
                break
            rows.append(parse_row(line, Place(str(path), number)))
        if not rows:
            ledger.append("opened", format=FORMAT, **opening)
            yield ledger
            return
        recorded = rows[0]
        if recorded.get("format") != FORMAT:
            raise RunError(
                "this file is not the ledger of a campaign", place=Place(str(path), 1), advice="choose another --out"
            )
        for key, value in opening.items():
            if key != "url" and recorded.get(key) != value:  # a server may move
                raise RunError(
                    f"the run was begun with {key} = {recorded.get(key)!r}, but now it is {value!r}",
                    place=Place(str(path), 1),
                    advice="undo the change, or begin a new run: another name or seed gives another run_id",
                )
        for number, row in enumerate(rows[1:], 2):
            try:
                ledger.chain.take(row)
            except (KeyError, TypeError, ValueError) as fault:
                what = f"the line is not an event that can follow here ({type(fault).__name__}: {fault})"
                raise RunError(what, place=Place(str(path), number), advice="restore the ledger from a copy") from None
        yield ledger


def _is_strict(body: Any) -> bool:
    """Return False for a value with NaN or an infinity, which other programs write although JSON has none."""
    try:
        encode_line(body)
    except ValueError:
        return False
    return True


def _is_whole(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
