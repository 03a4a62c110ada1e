"""Rules for resuming a run: headers are compared, extended and united.

Another protocol, seed, topic or system under the same name would mix two experiments, so it is refused with a diff.
Topics, systems and trials may be added. Topics and systems that an audit no longer names stay in the header, because
recorded trials refer to them.
"""

import difflib
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import Any

from recordings.files.errors import RunError
from recordings.files.json_text import Json
from recordings.log.header import Header, as_plain_json, topic_value
from recordings.log.shard import shard_of
from topics.clusters import assign_clusters, joined_clusters
from topics.counting import pluralize
from topics.errors import Place
from topics.shown_names import shorten
from topics.topic import TopicSet

_LONGEST_DIFF = 12  # lines of what has changed
_LONGEST_LINE = 120  # characters of each
_MOST_DIFFS = 3  # of topics, systems, …: nobody needs forty diffs for forty changed topics


def differences(old: Header, new: Header) -> list[str]:
    """Return the reasons why a run with the header `old` cannot continue as `new`, as readable lines, or [] if it can.
    The comparison covers the seed, the protocol, and every topic, system, endpoint, file of a user or system, and
    default of a driver that occurs in both headers."""
    lines: list[str] = []
    if old.seed != new.seed:
        lines.append(f"the seed was {old.seed} and is now {new.seed}")
    lines += _protocol_differences(_remove_explanation(old.protocol), _remove_explanation(new.protocol))
    if old.topics != new.topics:
        lines += _part_differences("topic", _topics_by_id(old), _topics_by_id(new))
    lines += _part_differences("system", old.systems, new.systems)
    # Another model, or new content in a file of a simulated user or a system, makes it a different one.
    for key, what in (
        ("endpoints", "endpoint"),
        ("user_files", "the content of the file of user"),
        ("system_files", "the content of the files of system"),
    ):
        lines += _part_differences(what, _audit_part(old, key), _audit_part(new, key))
    before, after = _audit_part(old, "system_defaults"), _audit_part(new, "system_defaults")
    return lines + _part_differences("the defaults of the driver of system", *_common_options(before, after))


def _common_options(old: Mapping[str, Json], new: Mapping[str, Json]) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return both mappings with only their common options, because a new option changes nothing."""
    kept: tuple[dict[str, Json], dict[str, Json]] = ({}, {})
    for name in old.keys() & new.keys():
        one, other = old[name], new[name]
        if isinstance(one, dict) and isinstance(other, dict):
            for target, values in zip(kept, (one, other), strict=True):
                target[name] = {key: values[key] for key in sorted(one.keys() & other.keys())}
    return kept


def _protocol_differences(old: Json, new: Json) -> list[str]:
    if old == new:
        return []
    names = [one.get("name") if isinstance(one, dict) else None for one in (old, new)]
    if names[0] == names[1]:
        return _value_differences("the protocol", old, new)
    before, after = (f"the protocol {name!r}" if name else "no protocol (a person spoke)" for name in names)
    return [f"it was recorded with {before}, and now there is {after}"]


def _part_differences(what: str, old: Mapping[str, Json], new: Mapping[str, Json]) -> list[str]:
    changed = [name for name, value in old.items() if name in new and value != new[name]]
    lines = [
        line for name in changed[:_MOST_DIFFS] for line in _value_differences(f"{what} {name}", old[name], new[name])
    ]
    others = changed[_MOST_DIFFS:]
    if others:
        named = ", ".join(others[:10]) + (", …" if len(others) > 10 else "")
        lines.append(f"and {len(others)} more ({what} {named})")
    return lines


def _audit_part(header: Header, key: str) -> Mapping[str, Json]:
    found = header.audit.get(key) if isinstance(header.audit, dict) else None
    return found if isinstance(found, dict) else {}


def _remove_explanation(protocol: Json) -> Json:
    """Remove the explanation in a protocol, which may be corrected while a run is in progress."""
    return {**protocol, "about": ""} if isinstance(protocol, dict) else protocol


def _topics_by_id(header: Header) -> dict[str, Json]:
    topics = header.topic_set()
    return {topic.id: topic_value(topic) for topic in topics.topics} if topics else {}


def _value_differences(what: str, old: Json, new: Json) -> list[str]:
    before, after = (
        json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True).splitlines() for value in (old, new)
    )
    found = list(difflib.unified_diff(before, after, "recorded", "now", lineterm="", n=1))
    lines = [f"{what} has changed:", *(f"  {shorten(line, _LONGEST_LINE)}" for line in found[:_LONGEST_DIFF])]
    if len(found) > _LONGEST_DIFF:
        lines.append(f"  … and {pluralize(len(found) - _LONGEST_DIFF, 'more line')}")
    return lines


def refuse_differences(recorded: Header, now: Header, run: str | PathLike[str]) -> None:
    """Raise RunError, with the diff, if the run with the header `recorded` cannot continue as `now`."""
    changed = differences(recorded, now)
    before, after = (shard_of(header.audit) for header in (recorded, now))
    if before != after:
        changed.append(f"it was {before or 'the whole audit'} and is now {after or 'the whole audit'}")
    if changed:
        raise RunError(
            "this run was recorded with different settings:\n" + "\n".join(f"  {entry}" for entry in changed),
            place=Place(os.fspath(run)),
            advice="undo the change, or record into another folder (--out)",
        )


def added_names(old: Header, new: Header) -> dict[str, list[str]]:
    """Return the names under `topics` and `systems` that only `new` has. A kind without new names is left out."""
    found = {
        kind: [name for name in new.hashes.get(kind, {}) if name not in old.hashes.get(kind, {})]
        for kind in ("topics", "systems")
    }
    return {kind: names for kind, names in found.items() if names}


def extend_header(old: Header, new: Header, at: str) -> Header:
    """Return `old` with the additions of `new`, or `old` itself if there is nothing to add. The headers must have no
    `differences`. `at` is the time of the change that is recorded in `changes`."""
    names = added_names(old, new)
    if (
        not names
        and old.audit == new.audit
        and _topic_clusters(old) == {**_topic_clusters(old), **_topic_clusters(new)}
    ):
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


def _topic_clusters(header: Header) -> dict[str, Json]:
    """Return the cluster (or None) of each topic by its id. This is faster than decoding the topics."""
    topics = header.topics.get("topics") if isinstance(header.topics, dict) else None
    return {one["id"]: one.get("cluster") for one in topics or () if isinstance(one, dict) and "id" in one}


def united_hashes(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return the hashes of both headers; hashes of `old` come first and are unchanged."""
    before, after = ({"topics": {}, "systems": {}, **hashes} for hashes in (old, new))
    return {
        "protocol": before.get("protocol", ""),
        **{
            kind: {**before[kind], **{name: item for name, item in after[kind].items() if name not in before[kind]}}
            for kind in ("topics", "systems")
        },
    }


def united_topics(one: Header, two: Header, *, keep_order: bool) -> Json:
    """Return the topics of both headers. With `keep_order`, the topics of `one` come first, then the additions of
    `two`, in the clusters of `two`. Otherwise unequal topic sets are sorted by id, and two topics are in one cluster if
    either set puts them in one cluster, so that the order of the runs does not matter."""
    before, after = one.topic_set(), two.topic_set()
    if before is None or after is None:
        return one.topics if after is None else two.topics
    from topics.topic_file import encode_topics

    known = [topic.id for topic in before.topics]
    first_ids = frozenset(known)
    topics = [*before.topics, *(topic for topic in after.topics if topic.id not in first_ids)]
    first, second = before.attributes, after.attributes
    if keep_order:
        said = {topic.id: topic.cluster for topic in (*topics, *after.topics)}
        topics = list(assign_clusters(topics, {name: cluster for name, cluster in said.items() if cluster}))
        played = {topic.id for topic in topics}
        left_out = tuple(topic for topic in dict.fromkeys((*before.left_out, *after.left_out)) if topic not in played)
        united = replace(before, topics=tuple(topics), attributes={**first, **second}, left_out=left_out)
    else:
        if known != [topic.id for topic in after.topics]:
            topics.sort(key=lambda topic: topic.id)
        topics = list(assign_clusters(topics, joined_clusters((before, after))))
        shared = {name: min(first[name], second[name], key=repr) for name in first if name in second}
        attributes = dict(sorted({**first, **second, **shared}.items()))
        name, about = min(before.name, after.name), min(before.about, after.about)
        played = {topic.id for topic in topics}
        left_out = tuple(sorted({*before.left_out, *after.left_out} - played))
        united = TopicSet(name, tuple(topics), attributes, about, left_out)
    return as_plain_json(encode_topics(united))
