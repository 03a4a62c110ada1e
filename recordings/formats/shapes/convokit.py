"""Corpora of ConvoKit: a line for each utterance, and files beside it that say more of speakers and conversations.

    utterances.jsonl    {"id": "u1", "speaker": "ann", "conversation_id": "u1", "reply-to": null, "text": "Hi", …}
    speakers.json       {"ann": {"meta": {"role": "customer"}, "vectors": []}, …}
    conversations.json  {"u1": {"meta": {…}, "vectors": []}, …}

Utterances answer each other: each path from the first to a last one is a trial of the conversation. The user is the
speaker whom the caller names, or all who have the metadata that the caller names (`role=customer`). Without that, an AI
(`is_ai`) is the system, and if there is none, the first speaker is the user. Earlier versions wrote a list of
utterances, `user` and `root` for `speaker` and `conversation_id`, and metadata without `meta`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from recordings.files.json_text import Json
from recordings.formats.message_shapes import Record
from recordings.formats.shapes.shape import Beside, Group, Shape, ShapeOptions, has_keys, id_text
from recordings.formats.shapes.speakers import first_speaker_note, roles_of
from topics.errors import InputError
from topics.json_file import read_json_value
from topics.json_value import JsonValue

# The files of a corpus with its utterances, the newest form first.
UTTERANCES = ("utterances.jsonl", "utterances.json")
_MOST_PATHS = 1000
_MOST_SHOWN = 8


def corpus_metadata(files: Iterable[Path]) -> Beside:
    """Return the metadata of speakers and conversations in the files next to those of utterances, by ("speaker", name)
    and ("conversation", id). Raises InputError for a file that is not JSON."""
    found: dict[tuple[str, str], Json] = {}
    for folder in dict.fromkeys(file.parent for file in files):
        for name, kind in (
            ("users.json", "speaker"),
            ("speakers.json", "speaker"),
            ("conversations.json", "conversation"),
        ):
            held = read_json_value(folder / name).value if (folder / name).is_file() else None
            for key, value in held.items() if isinstance(held, dict) else ():
                found[kind, key] = value.get("meta", value) if isinstance(value, dict) else value
    return found


def _holds(value: Json) -> bool:
    return has_keys(value, "id", "text") and (
        has_keys(value, "conversation_id", "speaker") or has_keys(value, "root", "user")
    )


def _group(values: Iterable[JsonValue], options: ShapeOptions) -> Iterable[Group]:
    found: dict[str, list[JsonValue]] = {}
    for value in values:
        found.setdefault(id_text(value[_key(value, "conversation_id", "root")]), []).append(value)
    return found.values()


def _key(value: JsonValue, *names: str) -> str:
    return next((name for name in names if value.has_key(name)), names[0])


def _speaker(one: JsonValue) -> str:
    return id_text(one[_key(one, "speaker", "user")])


def _metadata(one: JsonValue, options: ShapeOptions) -> Mapping[str, Json]:
    """Return what is known of an utterance and of its speaker. What the utterance says itself counts first."""
    known = options.beside.get(("speaker", _speaker(one)))
    own = one["meta"].value if one.has_key("meta") else None
    return {**(known if isinstance(known, dict) else {}), **(own if isinstance(own, dict) else {})}


def _sides(group: Group, options: ShapeOptions) -> tuple[Sequence[str], str, str]:
    """Return the role of each utterance, the sentence on what was assumed, and the name of the only AI, or "". Raises
    InputError if the user is not known."""
    speakers = [_speaker(one) for one in group]
    key, mark, wanted = options.user.partition("=")
    if mark and options.user not in speakers:
        values = [_metadata(one, options).get(key) for one in group]
        if wanted not in map(str, values):
            seen = ", ".join(f"{key}={value}" for value in list(dict.fromkeys(map(str, values)))[:_MOST_SHOWN])
            raise InputError(f"nobody in this conversation has {options.user}", allowed=seen)
        return ["user" if str(value) == wanted else "assistant" for value in values], "", ""
    machines = [_metadata(one, options).get("is_ai") is True for one in group]
    if any(machines) and not all(machines) and not options.user:
        names = {name for name, machine in zip(speakers, machines, strict=True) if machine}
        sides = ["assistant" if machine else "user" for machine in machines]
        return sides, "", names.pop() if len(names) == 1 else ""
    roles = roles_of(speakers, options)
    return [roles[speaker] for speaker in speakers], first_speaker_note(options), ""


def _read(group: Group, options: ShapeOptions) -> Iterator[Record]:
    conversation = id_text(group[0][_key(group[0], "conversation_id", "root")])
    said: dict[str, JsonValue] = {}
    after: dict[str | None, list[str]] = {}
    for one in group:
        name = id_text(one["id"])
        if name in said:
            raise one.error(f"the utterance {name!r} is repeated", advice="keep one of them")
        said[name] = one
    for name, one in said.items():
        key = _key(one, "reply_to", "reply-to")
        parent = one[key].value if one.has_key(key) else None
        after.setdefault(id_text(one[key]) if parent is not None else None, []).append(name)
    if gone := sorted(str(one) for one in after.keys() - {None} - said.keys()):
        raise group[0].error(f"an utterance answers {gone[0]!r}, which is not in the file")
    paths = list(islice(_paths(after), _MOST_PATHS + 1))
    if len(paths) > _MOST_PATHS:
        raise group[0].error("the conversation has too many branches", allowed=f"at most {_MOST_PATHS}")
    if not paths or {name for path in paths for name in path} != said.keys():
        raise group[0].error("utterances of this conversation answer each other in a cycle")
    sides, assumed, system = _sides(group, options)
    roles = dict(zip(said, sides, strict=True))
    about = options.beside.get(("conversation", conversation))
    ours = about.get("harvest") if isinstance(about, dict) and len(paths) == 1 else None
    for path in paths:
        messages: list[Json] = []
        for name in path:
            one = said[name]
            at = one["timestamp"].value if one.has_key("timestamp") else None
            if isinstance(ours, dict):  # as it was recorded, to the microsecond, and unknown where it was
                at = _metadata(one, options).get("asked_at")
            messages.append({"role": roles[name], "content": one["text"].value or "", "timestamp": at})
        own = conversation if len(paths) == 1 else f"{conversation}/{path[-1]}"
        line: dict[str, Json] = {"messages": messages, "id": own}
        line["metadata"] = ours if isinstance(ours, dict) else {"system": system} if system else {}
        yield Record(line, group[0], conversation, assumed=assumed)


def _paths(after: dict[str | None, list[str]]) -> Iterator[tuple[str, ...]]:
    open_: list[tuple[str, ...]] = [(name,) for name in reversed(after.get(None, []))]
    while open_:
        path = open_.pop()
        following = after.get(path[-1], [])
        if not following:
            yield path
        open_ += [(*path, name) for name in reversed(following)]


CONVOKIT = Shape(
    "convokit",
    "a ConvoKit corpus; the user is the first speaker, or --user NAME, or --user KEY=VALUE by the metadata of speakers",
    _holds,
    _read,
    _group,
    options=frozenset({"user"}),
    beside=corpus_metadata,
)
