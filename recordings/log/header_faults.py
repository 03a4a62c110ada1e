"""Values of the wrong type in a `run.json`, and their places in the file.

Unknown keys are ignored, as everywhere in a recording. The scoring part of an audit only has to be an object here,
because scoring checks its content.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from recordings.files.json_text import Json
from topics.errors import InputError, Place

if TYPE_CHECKING:
    from topics.document import Document

# The keys that a merged header has for each of its runs.
PART = ("audit", "created_at", "software", "audit_commit", "source", "redaction", "changes")

Loc = tuple[str | int, ...]
_Kind = type | tuple[type, ...]

_TYPE_NAMES: Mapping[_Kind, str] = {
    str: "text",
    int: "a whole number",
    (int, float): "a number",
    bool: "true or false",
    dict: "an object",
    list: "a list",
}
_NEEDED_KEYS: Mapping[str, _Kind] = {"seed": int, "systems": dict, "hashes": dict}
_OPTIONAL_KEYS: Mapping[str, _Kind] = {
    "created_at": str,
    "audit_commit": str,
    "software": dict,
    "redaction": dict,
    "changes": list,
    "parts": list,
    "audit": dict,
    "protocol": dict,
    "topics": dict,
}
_AUDIT: Mapping[str, _Kind] = {
    "name": str,
    "about": str,
    "topics": str,
    "protocol": str,
    "gold": str,
    "user": str,
    "trials": int,
    "trials_of": dict,
    "shard": dict,
    "seed": int,
    "evidence": bool,
    "max_invalid": (int, float),
    "caps": dict,
    "groups": list,
    "scoring": dict,
    "thresholds": list,
    "endpoints": dict,
    "user_files": dict,
    "system_files": dict,
    "system_defaults": dict,
    "most_turns": dict,
}
# Trials that an audit can ask for, because planned trials are enumerated.
_MOST_FAULTS = 10**6


def header_faults(value: Mapping[str, Any]) -> Iterator[tuple[Loc, str]]:
    """Yield the place and the error of each value of the wrong type in a header."""
    for key in _NEEDED_KEYS:
        if key not in value:
            yield (), f"there is no {key!r}"
    yield from _wrong_types(value, {**_NEEDED_KEYS, **_OPTIONAL_KEYS}, (), needed=_NEEDED_KEYS)
    for key in ("changes", "parts"):
        yield from _check_each(value.get(key), dict, (key,))
    yield from _audit_faults(value.get("audit") or {}, ("audit",))
    hashes: Mapping[str, Any] = value["hashes"]
    kinds: dict[str, _Kind] = {"protocol": str, "topics": dict, "systems": dict}
    yield from _wrong_types(hashes, kinds, ("hashes",), needed=kinds)
    for key in ("topics", "systems"):
        yield from _check_each(hashes.get(key), str, ("hashes", key))
    for i, part in enumerate(value.get("parts") or ()):
        missing = [key for key in PART if key not in part]
        if missing:
            yield ("parts", i), f"has no {missing[0]!r}"
        part_kinds = {key: _OPTIONAL_KEYS[key] for key in PART if key in _OPTIONAL_KEYS}
        yield from _wrong_types(part, part_kinds, ("parts", i), needed=("software", "redaction"))
        yield from _audit_faults(part["audit"] or {}, ("parts", i, "audit"))
        yield from _check_each(part.get("changes"), dict, ("parts", i, "changes"))


def _audit_faults(audit: Mapping[str, Any], loc: Loc) -> Iterator[tuple[Loc, str]]:
    yield from _wrong_types(audit, _AUDIT, loc)
    trials = audit.get("trials")
    if trials is not None and not 0 <= trials <= _MOST_FAULTS:
        yield (*loc, "trials"), f"must be a whole number from 0 to {_MOST_FAULTS}"
    yield from _check_each(audit.get("trials_of"), int, (*loc, "trials_of"))
    for topic, own in (audit.get("trials_of") or {}).items():
        if not 0 <= own <= _MOST_FAULTS:
            yield (*loc, "trials_of", topic), f"must be a whole number from 0 to {_MOST_FAULTS}"
    shard = audit.get("shard")
    if shard is not None and not all(_is_kind(shard.get(key), int) and shard[key] > 0 for key in ("index", "of")):
        yield (*loc, "shard"), "must have two whole numbers from 1, index and of"
    caps = audit.get("caps")
    if caps is not None:
        yield from _wrong_types(caps, {"most": dict, "prices": dict}, (*loc, "caps"))
        yield from _check_each(caps.get("most"), (int, float), (*loc, "caps", "most"))
        yield from _check_each(caps.get("prices"), dict, (*loc, "caps", "prices"))
    yield from _check_each(audit.get("groups"), str, (*loc, "groups"))
    yield from _check_each(audit.get("thresholds"), dict, (*loc, "thresholds"))
    for system, topics in (audit.get("most_turns") or {}).items():
        yield from _check_each({system: topics}, dict, (*loc, "most_turns"))
        yield from _check_each(topics, int, (*loc, "most_turns", system))


def _wrong_types(
    value: Mapping[str, Any], kinds: Mapping[str, _Kind], loc: Loc, needed: Sequence[str] | Mapping[str, _Kind] = ()
) -> Iterator[tuple[Loc, str]]:
    for key, kind in kinds.items():
        found = value.get(key)
        if key in value and not ((found is None and key not in needed) or _is_kind(found, kind)):
            yield (*loc, key), f"must be {_TYPE_NAMES[kind]}"


def _check_each(value: Any, kind: _Kind, loc: Loc) -> Iterator[tuple[Loc, str]]:
    entries = value.items() if isinstance(value, dict) else enumerate(value or ())
    for key, found in entries:
        if not _is_kind(found, kind):
            yield (*loc, key), f"must be {_TYPE_NAMES[kind]}"


def _is_kind(value: Json, kind: _Kind) -> bool:
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def place_in_file(place: Place, loc: Loc) -> Place:
    """Return the place of the value at `loc` in the JSON file at `place`, or `place` itself if the value is missing."""
    document = _read_placed(place.path)
    return place if document is None else document.place(loc)


def placed_part(path: str, key: str) -> "Document | None":
    """Return the value at `key` of the JSON file at `path`, with its place, or None if the value is missing."""
    document = _read_placed(path)
    return document.part((key,)) if document is not None and (key,) in document.marks else None


def _read_placed(path: str) -> "Document | None":
    from topics.document import read_document  # late: brings pydantic, which reading a recording does not need

    try:
        return read_document(path)
    except (InputError, OSError):
        return None
