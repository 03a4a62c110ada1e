"""Dialogues of named speakers, of whom one is the user: SDialog and ConvoKit.

    {"id": …, "model": …, "scenario": …, "turns": [{"speaker": "Ann", "text": "Hi"}, …]}                      SDialog
    {"id": "u1", "speaker": "a", "conversation_id": "u1", "reply_to": null, "text": "Hi", "timestamp": …}    ConvoKit

The user is the speaker whom the caller names, or else the first speaker. In ConvoKit, an utterance is a line, and
utterances answer each other: each path from the first to a last one is a trial of the conversation.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from recordings.files.json_text import Json
from recordings.formats.message_shapes import Record
from recordings.formats.shapes.shape import Group, Shape, ShapeOptions, has_keys, id_text
from topics.errors import InputError
from topics.json_value import JsonValue

_MOST_PATHS = 1000


def _roles(speakers: Sequence[str], options: ShapeOptions) -> dict[str, str]:
    """Return the role of each speaker. Raises InputError if it is not clear who the system is."""
    names = list(dict.fromkeys(speakers))
    if options.user and options.user not in names:
        raise InputError(f"no speaker is called {options.user!r}", allowed=", ".join(names[:8]))
    if len(names) > 2 and not options.user:
        raise InputError(
            f"{len(names)} people speak: {', '.join(names[:8])}",
            advice="name the user with --user NAME; all others are then the system",
        )
    user = options.user or names[0]
    return {name: "user" if name == user else "assistant" for name in names}


def _assumption(options: ShapeOptions) -> str:
    return "" if options.user else "the first speaker counts as the user, unless --user names another"


def _holds_sdialog(value: Json) -> bool:
    turns = value.get("turns") if isinstance(value, dict) else None
    return isinstance(turns, list) and bool(turns) and has_keys(turns[0], "speaker", "text")


def _read_sdialog(group: Group, options: ShapeOptions) -> Iterator[Record]:
    (dialogue,) = group
    turns = dialogue["turns"].elements()
    speakers = [id_text(turn["speaker"]) for turn in turns]
    roles, passed = _roles(speakers, options), Counter[str]()
    messages = [
        {"role": roles[name], "content": turn["text"].value} for turn, name in zip(turns, speakers, strict=True)
    ]
    metadata: dict[str, Json] = {}
    model = dialogue["model"].value if dialogue.has_key("model") else None
    model = model.get("name") if isinstance(model, dict) else model
    if isinstance(model, str) and model:
        metadata["system"] = model
    events = dialogue["events"].value if dialogue.has_key("events") else None
    for event in events if isinstance(events, list) else ():
        if not isinstance(event, dict) or event.get("action") != "utter":
            passed["events besides utterances"] += 1
    line = {"messages": messages, "metadata": metadata, "id": dialogue["id"].value if dialogue.has_key("id") else None}
    yield Record(line, dialogue, "", passed, assumed=_assumption(options))


def _holds_convokit(value: Json) -> bool:
    return has_keys(value, "id", "text") and (
        has_keys(value, "conversation_id", "speaker") or has_keys(value, "root", "user")
    )


def _group_convokit(values: Iterable[JsonValue], options: ShapeOptions) -> Iterable[Group]:
    found: dict[str, list[JsonValue]] = {}
    for value in values:
        found.setdefault(id_text(value[_key(value, "conversation_id", "root")]), []).append(value)
    return found.values()


def _key(value: JsonValue, *names: str) -> str:
    return next((name for name in names if value.has_key(name)), names[0])


def _read_convokit(group: Group, options: ShapeOptions) -> Iterator[Record]:
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
    speakers = [id_text(one[_key(one, "speaker", "user")]) for one in said.values()]
    roles = _roles(speakers, options)
    for path in paths:
        messages = []
        for name in path:
            one = said[name]
            at = one["timestamp"].value if one.has_key("timestamp") else None
            speaker = id_text(one[_key(one, "speaker", "user")])
            messages.append({"role": roles[speaker], "content": one["text"].value or "", "timestamp": at})
        own = conversation if len(paths) == 1 else f"{conversation}/{path[-1]}"
        yield Record({"messages": messages, "id": own}, group[0], conversation, assumed=_assumption(options))


def _paths(after: dict[str | None, list[str]]) -> Iterator[tuple[str, ...]]:
    open_: list[tuple[str, ...]] = [(name,) for name in reversed(after.get(None, []))]
    while open_:
        path = open_.pop()
        following = after.get(path[-1], [])
        if not following:
            yield path
        open_ += [(*path, name) for name in reversed(following)]


SDIALOG = Shape(
    "sdialog",
    "dialogues of SDialog; the first speaker is the user, unless --user names another",
    _holds_sdialog,
    _read_sdialog,
    options=frozenset({"user"}),
)
CONVOKIT = Shape(
    "convokit",
    "utterances.jsonl of a ConvoKit corpus; the first speaker is the user, unless --user names another",
    _holds_convokit,
    _read_convokit,
    _group_convokit,
    options=frozenset({"user"}),
)
