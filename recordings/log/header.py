"""The header of a run, `run.json`: the plan of the run, and the software that recorded it.

A run has one protocol, one seed, and one definition for each topic and each system. `recordings.log.continuation`
decides how the run may be continued.
"""

from __future__ import annotations

import dataclasses
import json
import platform
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import metadata
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from recordings.events.event_lines import check_format
from recordings.files.errors import RunError, no_run
from recordings.files.json_text import Json, parse_value
from recordings.files.times import Now, stamp, utc_now
from recordings.log.header_faults import header_faults, place_in_file, placed_part
from topics.errors import InputError, Place
from topics.identity import content_hash
from topics.regular_file import read_inside
from topics.sent_files import file_row
from topics.topic import Topic, TopicSet

# The name of Harvest among the versions of `software`.
DISTRIBUTION = "conversation-harvest"

# Distributions whose version can change what a system is sent or how an answer is read.
_RECORDED_LIBRARIES = ("aiohttp", "httpx", "jinja2", "numpy", "playwright", "pydantic", "pyyaml")


def software() -> dict[str, str]:
    """Return the versions of Harvest, Python, the platform and the relevant installed libraries, by name."""
    return dict(_versions())


@cache
def _versions() -> Mapping[str, str]:
    found = {"python": platform.python_version(), "platform": f"{sys.platform}-{platform.machine()}"}
    for name in (DISTRIBUTION, *_RECORDED_LIBRARIES):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def git_commit(folder: str | PathLike[str]) -> str:
    """Return the commit checked out at `folder`, with `+changes` if there are uncommitted changes; "" without git."""
    commit = _git(folder, "rev-parse", "HEAD")
    if not commit:
        return ""
    return f"{commit}+changes" if _git(folder, "status", "--porcelain", "--", ".") else commit


def _git(folder: str | PathLike[str], *arguments: str) -> str:
    # Without optional locks: reading a working tree must not write to it.
    command = ["git", "--no-optional-locks", "-C", str(Path(folder)), *arguments]
    try:
        ran = subprocess.run(command, capture_output=True, timeout=10, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        return ""
    return ran.stdout.decode(errors="replace").strip() if ran.returncode == 0 else ""


if TYPE_CHECKING:
    from protocols.protocol import Protocol
    from topics.document import Document

FORMAT = "harvest-run/1"
_Part = TypeVar("_Part")


def _empty_mapping() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Header:
    """The content of `run.json`.

    `audit` is the resolved audit. `protocol` and `topics` come from `encode_protocol` and `encode_topics`; both are
    None if unknown, as in imports. `systems` has the definitions by name. `hashes` has the content hashes: a string for
    `protocol`, and hashes by name for `topics` and `systems`. `source` is the origin of an import. `redaction` counts
    the known secrets, the secrets that are too short to search for, and the marks in the header. `changes` lists the
    additions by later commands, with their times. `parts` summarises the headers of merged runs. `path` is the file,
    for messages.
    """

    audit: Json
    protocol: Json
    topics: Json
    systems: Mapping[str, Json]
    seed: int
    hashes: Mapping[str, Any]
    created_at: str = ""
    software: Mapping[str, str] = field(default_factory=_empty_mapping)
    audit_commit: str = ""
    source: Json = None
    redaction: Mapping[str, Any] = field(default_factory=_empty_mapping)
    changes: tuple[Json, ...] = ()
    parts: tuple[Json, ...] = ()
    extra: Mapping[str, Json] = field(default_factory=_empty_mapping)
    path: str = field(default="run.json", compare=False)

    def as_json(self) -> dict[str, Json]:
        """Return the JSON value of `run.json`. Keys from a later version are kept."""
        return {
            "format": FORMAT,
            "created_at": self.created_at,
            "audit": self.audit,
            "seed": self.seed,
            "systems": dict(self.systems),
            "hashes": {key: dict(item) if isinstance(item, Mapping) else item for key, item in self.hashes.items()},
            "software": dict(self.software),
            "audit_commit": self.audit_commit,
            "source": self.source,
            "redaction": dict(self.redaction),
            "changes": list(self.changes),
            "parts": list(self.parts),
            "protocol": self.protocol,
            "topics": self.topics,
            **self.extra,
        }

    @classmethod
    def from_json(cls, value: Json, place: Place) -> Header:
        """Return the header in `value`. Raises RunError for another format, another major version, or missing keys."""
        if not isinstance(value, dict):
            raise RunError("run.json does not contain an object", place=place)
        check_format(value.get("format"), FORMAT, place)
        known = {entry.name for entry in dataclasses.fields(cls)} - {"extra", "path"}
        for loc, fault in header_faults(value):
            named = f"{'.'.join(map(str, loc))}: " if loc else ""
            raise RunError(f"{named}{fault}", place=place_in_file(place, loc), advice=_CHANGED_ADVICE)
        rest = {key: item for key, item in value.items() if key in known and (item is not None or key in _JSON)}
        for key in ("changes", "parts"):
            rest[key] = tuple(rest.get(key) or ())
        extra = {key: item for key, item in value.items() if key not in known and key != "format"}
        return cls(**{"audit": None, "protocol": None, "topics": None, **rest}, extra=extra, path=place.path)

    def hashes_of(self, system: str, topic: str) -> dict[str, str]:
        """Return the hashes of a trial of `topic` with `system`, as far as the header has them."""
        found = {
            "protocol": self.hashes.get("protocol", ""),
            "topic": self.hashes.get("topics", {}).get(topic, ""),
            "system": self.hashes.get("systems", {}).get(system, ""),
        }
        return {key: item for key, item in found.items() if item}

    def topic_set(self) -> TopicSet | None:
        """Return the topics of the run, or None if the header has no topics. Raises InputError for invalid topics."""
        if self.topics is None:
            return None
        # late: brings pydantic, which reading a recording does not need
        from topics.topic_file import decode_topics, read_topics

        return self._decode_part("topics", self.topics, decode_topics, read_topics)

    def played_protocol(self) -> Protocol | None:
        """Return the protocol of the run, or None if the header has none. Raises InputError for an invalid protocol."""
        if self.protocol is None:
            return None
        from protocols.library import decode_protocol  # late, as above
        from protocols.reading import read_protocol

        return self._decode_part("protocol", self.protocol, decode_protocol, read_protocol)

    def _decode_part(
        self, key: str, value: Json, decode: Callable[..., _Part], read: Callable[[Document], _Part]
    ) -> _Part:
        try:
            return cast(_Part, _decoded(decode, json.dumps(value)))
        except InputError:
            document = placed_part(self.path, key)
            # Both raise the same error again, with its place.
            return decode(value, self.path) if document is None else read(document)


@lru_cache(maxsize=8)  # the runs of one audit, and several readers of one run, share protocol and topics
def _decoded(decode: Callable[[object], object], text: str) -> object:
    return decode(json.loads(text))


_CHANGED_ADVICE = "the file was changed after Harvest wrote it: take it from a copy of the run"
_JSON = ("audit", "protocol", "topics", "source")


def make_header(
    *,
    audit: Json,
    protocol: Protocol | None,
    topics: TopicSet | None,
    systems: Mapping[str, Json],
    seed: int = 0,
    folder: str | PathLike[str] | None = None,
    source: Json = None,
    clock: Now = utc_now,
) -> Header:
    """Return the header of a new run. `systems` has the definitions, without secrets, and `folder` the audit file."""
    encoded_protocol, encoded_topics = None, None
    if protocol is not None:
        from protocols.library import encode_protocol

        encoded_protocol = encode_protocol(protocol)
    if topics is not None:
        from topics.topic_file import encode_topics

        encoded_topics = encode_topics(topics)
    return Header(
        audit=as_plain_json(audit),
        protocol=as_plain_json(encoded_protocol),
        topics=as_plain_json(encoded_topics),
        systems={name: as_plain_json(definition) for name, definition in systems.items()},
        seed=seed,
        hashes={
            "protocol": "" if protocol is None else _protocol_hash(protocol),
            "topics": {topic.id: _topic_hash(topic) for topic in topics.topics} if topics else {},
            "systems": {name: _system_hash(definition) for name, definition in systems.items()},
        },
        created_at=stamp(clock()),
        software=software(),
        audit_commit=git_commit(folder) if folder is not None else "",
        source=as_plain_json(source),
    )


def trial_identity(protocol: Protocol | None, topic: Topic | str, system: Json, trial: int) -> str:
    """Return the identity of a trial as 32 hex digits. Equal content gives the same identity, on every machine and in
    every attempt. `system` is the system's definition. `topic` is a string if an import knows only the topic's name."""
    return trial_identities(protocol, system)(topic, trial)


def trial_identities(protocol: Protocol | None, system: Json) -> Callable[[Topic | str, int], str]:
    """Return a function from topic and trial number to `trial_identity` that hashes protocol and system only once."""
    shared = {"protocol": "" if protocol is None else _protocol_hash(protocol), "system": _system_hash(system)}

    def identity(topic: Topic | str, trial: int) -> str:
        named = _topic_hash(topic) if isinstance(topic, Topic) else {"id": topic}
        return content_hash("trial", {**shared, "topic": named, "trial": trial})

    return identity


def _protocol_hash(protocol: Protocol) -> str:
    from protocols.library import protocol_hash

    return protocol_hash(protocol)


def _topic_hash(topic: Topic) -> str:
    return content_hash("topic", topic_value(topic))


def topic_value(topic: Topic) -> Json:
    """Return the part of the topic that identifies it. Attribute sets, the cluster and URL patterns are left out
    because they do not matter while playing, and empty fields because new fields must not change earlier hashes."""
    value = {
        "id": topic.id,
        "type": topic.type.name,
        "asks_for": topic.asks_for,
        "url": topic.type.url.name if topic.type.url else "",
        "request": topic.request,
        "subject": topic.subject,
        "turns": list(topic.turns),
        "fields": dict(topic.fields),
        "files": [file_row(one) for one in topic.files],
    }
    return {name: item for name, item in value.items() if item}


def _system_hash(definition: Json) -> str:
    return content_hash("system", as_plain_json(definition))


def as_plain_json(value: Any) -> Json:
    """Return `value` as it would be read back from JSON, with dicts and lists."""
    if isinstance(value, Mapping):
        return {str(key): as_plain_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_plain_json(item) for item in value]
    return value


def topic_order(header: Header) -> dict[str, int]:
    """Return the position of every topic id in the run's own order."""
    return {topic: i for i, topic in enumerate(header.hashes.get("topics", {}))}


def read_header(run: Path) -> Header:
    """Read the header of the run folder `run`. Raises RunError if `run` is not a run or has an unknown version."""
    path = run / "run.json"
    place = Place(str(path))
    try:
        data = read_inside(run, "run.json")
    except (FileNotFoundError, NotADirectoryError):
        raise no_run(run) from None
    except OSError as fault:
        raise RunError(f"cannot be read: {fault.strerror}", place=place) from None
    try:
        value = parse_value(data, Place(str(path), 1))
    except RunError as fault:
        advice = "restore this file from a copy of the run: the events are in other files"
        raise RunError(fault.what, place=fault.place, advice=advice) from None
    return Header.from_json(value, place)
