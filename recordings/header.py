"""The header of a run, `run.json`: what was to be played, by which software, and how headers are compared.

A run has one protocol, one seed, and one definition for each topic and each system. Going on with another one
under the same name would mix two experiments, so it is refused with a diff. Topics, systems and trials may be
added; those an audit no longer names stay in the header, because recorded trials refer to them.
"""

from __future__ import annotations

import dataclasses
import difflib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from recordings.errors import RunError
from recordings.event_lines import check_format
from recordings.json_text import Json
from recordings.provenance import Clock, git_commit, software, stamp, utc_now
from topics.errors import Place
from topics.identity import content_hash
from topics.topic import Topic, TopicSet

if TYPE_CHECKING:
    from protocols.protocol import Protocol

__all__ = [
    "FORMAT",
    "PART",
    "Header",
    "added",
    "differences",
    "extended",
    "make_header",
    "refuse_differences",
    "topic_order",
    "trial_identity",
]

FORMAT = "harvest-run/1"
_LONGEST_DIFF = 40


def _empty() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Header:
    """What `run.json` holds.

    audit: the resolved audit. protocol, topics: as `encode_protocol` and `encode_topics` give them; None where an
    import does not know. systems: definition by name. hashes: content hashes, `protocol` one text, `topics` and
    `systems` by name. source: what an import was made from. redaction: what the writer was told to look for.
    changes: what later commands added, and when. parts: the headers a merge was made of, in short.
    """

    audit: Json
    protocol: Json
    topics: Json
    systems: Mapping[str, Json]
    seed: int
    hashes: Mapping[str, Any]
    created_at: str = ""
    software: Mapping[str, str] = field(default_factory=_empty)
    audit_commit: str = ""
    source: Json = None
    redaction: Mapping[str, Any] = field(default_factory=_empty)
    changes: tuple[Json, ...] = ()
    parts: tuple[Json, ...] = ()
    extra: Mapping[str, Json] = field(default_factory=_empty)

    def as_json(self) -> dict[str, Json]:
        """The value of `run.json`; keys a later version put there are kept."""
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
        """The header in `value`. Raises RunError for another format, another major version, or missing keys."""
        if not isinstance(value, dict):
            raise RunError("run.json does not hold an object", place=place)
        check_format(value.get("format"), FORMAT, place)
        known = {entry.name for entry in dataclasses.fields(cls)} - {"extra"}
        for key, kinds in _KINDS.items():
            if key not in value or not isinstance(value[key], kinds) or isinstance(value[key], bool):
                raise RunError(f"run.json has no {key!r}, or not of the right kind", place=place)
        fault = next(_faults_inside(value), "")
        if fault:
            raise RunError(f"run.json: {fault}", place=place)
        rest = {key: item for key, item in value.items() if key in known and (item is not None or key in _JSON)}
        for key in ("changes", "parts"):
            rest[key] = tuple(rest.get(key) or ())
        extra = {key: item for key, item in value.items() if key not in known and key != "format"}
        return cls(**{"audit": None, "protocol": None, "topics": None, **rest}, extra=extra)

    def hashes_of(self, system: str, topic: str) -> dict[str, str]:
        """Hashes that go with a trial of `topic` with `system`; what the header does not know is left out."""
        found = {
            "protocol": self.hashes.get("protocol", ""),
            "topic": self.hashes.get("topics", {}).get(topic, ""),
            "system": self.hashes.get("systems", {}).get(system, ""),
        }
        return {key: item for key, item in found.items() if item}

    def topic_set(self) -> TopicSet | None:
        """The topics of the run; None where the header holds none."""
        if self.topics is None:
            return None
        from topics.library import decode_topics  # late: brings pydantic, which reading a recording does not need

        return decode_topics(self.topics)


_KINDS: Mapping[str, type | tuple[type, ...]] = {"seed": int, "systems": dict, "hashes": dict}
PART = ("audit", "created_at", "software", "audit_commit", "source", "redaction", "changes")
"""What a merged header remembers of each run that went in."""
_JSON = ("audit", "protocol", "topics", "source")


def _faults_inside(value: Mapping[str, Any]) -> Iterator[str]:
    """What is of the wrong kind in a header, below its first level."""
    for key, kind, called in (
        ("created_at", str, "text"),
        ("audit_commit", str, "text"),
        ("software", dict, "an object"),
        ("redaction", dict, "an object"),
        ("changes", list, "a list"),
        ("parts", list, "a list"),
    ):
        if not isinstance(value.get(key), (kind, type(None))):
            yield f"{key!r} is not {called}"
        elif kind is list and not all(isinstance(item, dict) for item in value.get(key) or ()):
            yield f"{key!r} holds something that is not an object"
    hashes = value["hashes"]
    if not isinstance(hashes.get("protocol", ""), str):
        yield "'hashes.protocol' is not text"
    for key in ("topics", "systems"):
        named = hashes.get(key, {})
        if not isinstance(named, dict) or not all(isinstance(item, str) for item in named.values()):
            yield f"'hashes.{key}' is not an object of texts"
    for part in value.get("parts") or ():
        if isinstance(part, dict):
            wrong = [key for key in PART if key not in part]
            if wrong:
                yield f"'parts' holds an object without {wrong[0]!r}"
            elif not (isinstance(part["software"], dict) and isinstance(part["redaction"], dict)):
                yield "'parts' holds an object whose 'software' or 'redaction' is not an object"


def make_header(
    *,
    audit: Json,
    protocol: Protocol | None,
    topics: TopicSet | None,
    systems: Mapping[str, Json],
    seed: int = 0,
    folder: str | PathLike[str] | None = None,
    source: Json = None,
    clock: Clock = utc_now,
) -> Header:
    """The header of a new run. systems: definition by name, without secrets. folder: where the audit file stands."""
    encoded = None
    if topics is not None:
        from topics.library import encode_topics

        encoded = encode_topics(topics)
    return Header(
        audit=_plain(audit),
        protocol=None if protocol is None else _encoded_protocol(protocol),
        topics=_plain(encoded),
        systems={name: _plain(definition) for name, definition in systems.items()},
        seed=seed,
        hashes={
            "protocol": "" if protocol is None else _protocol_hash(protocol),
            "topics": {topic.id: _topic_hash(topic) for topic in topics.topics} if topics else {},
            "systems": {name: _system_hash(definition) for name, definition in systems.items()},
        },
        created_at=stamp(clock()),
        software=software(),
        audit_commit=git_commit(folder) if folder is not None else "",
        source=_plain(source),
    )


def trial_identity(protocol: Protocol | None, topic: Topic | str, system: Json, trial: int) -> str:
    """The identity of a trial (32 hex digits): the same for the same content, on every machine, in every attempt.

    system: its definition. topic: a text where an import knows nothing but its name.
    """
    return content_hash(
        "trial",
        {
            "protocol": "" if protocol is None else _protocol_hash(protocol),
            "topic": _topic_hash(topic) if isinstance(topic, Topic) else {"id": topic},
            "system": _system_hash(system),
            "trial": trial,
        },
    )


def _encoded_protocol(protocol: Protocol) -> Json:
    from protocols.library import encode_protocol

    return _plain(encode_protocol(protocol))


def _protocol_hash(protocol: Protocol) -> str:
    from protocols.library import protocol_hash

    return protocol_hash(protocol)


def _topic_hash(topic: Topic) -> str:
    return content_hash("topic", _topic_value(topic))


def _topic_value(topic: Topic) -> Json:
    """What makes it this topic. Not in it: the attribute sets, which only scoring knows, and how URLs of a kind are
    recognised. What is empty is left out, so that a field of a later version changes no hash made before it."""
    value = {
        "id": topic.id,
        "type": topic.type.name,
        "asks_for": topic.asks_for,
        "url": topic.type.url.name if topic.type.url else "",
        "request": topic.request,
        "subject": topic.subject,
        "turns": list(topic.turns),
        "fields": dict(topic.fields),
    }
    return {name: item for name, item in value.items() if item}


def _system_hash(definition: Json) -> str:
    return content_hash("system", _plain(definition))


def _plain(value: Any) -> Json:
    """`value` as JSON would give it back: dicts and lists."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def differences(old: Header, new: Header) -> list[str]:
    """Why a run with header `old` cannot go on as `new`: readable lines, none where it can.

    Compared: seed, protocol, and every topic, system, endpoint and file of a user that both have. Added and removed
    ones are no difference.
    """
    lines: list[str] = []
    if old.seed != new.seed:
        lines.append(f"the seed was {old.seed} and is now {new.seed}")
    before, after = _without_words(old.protocol), _without_words(new.protocol)
    if before != after:
        lines += _diff("the protocol", before, after)
    if old.topics != new.topics:
        recorded, now = _by_id(old), _by_id(new)
        for topic in recorded:
            if topic in now and recorded[topic] != now[topic]:
                lines += _diff(f"topic {topic}", recorded[topic], now[topic])
    for system, definition in old.systems.items():
        if system in new.systems and definition != new.systems[system]:
            lines += _diff(f"system {system}", definition, new.systems[system])
    # Another model, or other content in a file that a simulated user is made of, is another user.
    for key, what in (("endpoints", "endpoint"), ("user_files", "the content of the file of user")):
        today = _part(new, key)
        for name, definition in _part(old, key).items():
            if name in today and definition != today[name]:
                lines += _diff(f"{what} {name}", definition, today[name])
    return lines


def _part(header: Header, key: str) -> Mapping[str, Json]:
    """An object of the audit; {} where it has none."""
    found = header.audit.get(key) if isinstance(header.audit, dict) else None
    return found if isinstance(found, dict) else {}


def _without_words(protocol: Json) -> Json:
    """Words that only explain a protocol may be mended while a run is under way."""
    return {**protocol, "about": ""} if isinstance(protocol, dict) else protocol


def _by_id(header: Header) -> dict[str, Json]:
    topics = header.topic_set()
    return {topic.id: _topic_value(topic) for topic in topics.topics} if topics else {}


def _diff(what: str, old: Json, new: Json) -> list[str]:
    before, after = (
        json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True).splitlines() for value in (old, new)
    )
    found = list(difflib.unified_diff(before, after, "recorded", "now", lineterm="", n=1))
    lines = [f"{what} has changed:", *(f"  {line[:200]}" for line in found[:_LONGEST_DIFF])]
    if len(found) > _LONGEST_DIFF:
        lines.append(f"  … and {len(found) - _LONGEST_DIFF} more lines")
    return lines


def refuse_differences(recorded: Header, now: Header, run: str | PathLike[str]) -> None:
    """Raises RunError, with the diff, where the run with header `recorded` cannot go on as `now`."""
    changed = differences(recorded, now)
    if changed:
        raise RunError(
            "this run was recorded with something else:\n" + "\n".join(f"  {entry}" for entry in changed),
            place=Place(os.fspath(run)),
            advice="undo the change, or record what is changed in another folder (--out)",
        )


def added(old: Header, new: Header) -> dict[str, list[str]]:
    """Names that `new` has and `old` has not: `topics` and `systems`; a key is absent where nothing was added."""
    found = {
        kind: [name for name in new.hashes.get(kind, {}) if name not in old.hashes.get(kind, {})]
        for kind in ("topics", "systems")
    }
    return {kind: names for kind, names in found.items() if names}


def extended(old: Header, new: Header, at: str) -> Header:
    """`old` with what `new` adds; `old` itself where the audit says nothing new. The two must not differ.

    at: time of the change, as recorded in `changes`.
    """
    names = added(old, new)
    if not names and old.audit == new.audit:
        return old
    change: dict[str, Json] = {"at": at, "added": names, "audit_before": old.audit, "software": dict(new.software)}
    if new.source is not None:
        change["source"] = new.source
    return replace(
        old,
        audit=new.audit,
        topics=united_topics(old, new, keep_order=True) if old.topics != new.topics else old.topics,
        systems={**old.systems, **{name: new.systems[name] for name in names.get("systems", ())}},
        hashes=united_hashes(old.hashes, new.hashes),
        changes=(*old.changes, change),
    )


def united_hashes(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """The hashes of both, those of `old` first and unchanged."""
    before, after = ({"topics": {}, "systems": {}, **hashes} for hashes in (old, new))
    return {
        "protocol": before.get("protocol", ""),
        **{
            kind: {**before[kind], **{name: item for name, item in after[kind].items() if name not in before[kind]}}
            for kind in ("topics", "systems")
        },
    }


def united_topics(one: Header, two: Header, *, keep_order: bool) -> Json:
    """The topics of both. keep_order: those of `one` first, then what `two` adds; otherwise, where they are not the
    same, sorted by id, so that the result does not depend on who comes first.
    """
    before, after = one.topic_set(), two.topic_set()
    if before is None or after is None:
        return one.topics if after is None else two.topics
    from topics.library import encode_topics

    known = [topic.id for topic in before.topics]
    topics = [*before.topics, *(topic for topic in after.topics if topic.id not in known)]
    first, second = before.attributes, after.attributes
    if keep_order:
        played = {topic.id for topic in topics}
        left_out = tuple(topic for topic in dict.fromkeys((*before.left_out, *after.left_out)) if topic not in played)
        united = replace(before, topics=tuple(topics), attributes={**first, **second}, left_out=left_out)
    else:
        if known != [topic.id for topic in after.topics]:
            topics.sort(key=lambda topic: topic.id)
        shared = {name: min(first[name], second[name], key=repr) for name in first if name in second}
        attributes = dict(sorted({**first, **second, **shared}.items()))
        name, about = min(before.name, after.name), min(before.about, after.about)
        played = {topic.id for topic in topics}
        left_out = tuple(sorted({*before.left_out, *after.left_out} - played))
        united = TopicSet(name, tuple(topics), attributes, about, left_out)
    return _plain(encode_topics(united))


def topic_order(header: Header) -> dict[str, int]:
    """Position of every topic id in the run's own order."""
    return {topic: i for i, topic in enumerate(header.hashes.get("topics", {}))}
