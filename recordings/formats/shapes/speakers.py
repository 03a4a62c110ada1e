"""Dialogues of named speakers, of whom one is the user: SDialog.

    {"id": …, "model": …, "scenario": …, "turns": [{"speaker": "Ann", "text": "Hi"}, …]}

The user is the speaker whom the caller names, or else the first speaker.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from recordings.files.json_text import Json
from recordings.formats.message_shapes import Record
from recordings.formats.shapes.shape import Group, Shape, ShapeOptions, has_keys, id_text
from topics.errors import InputError


def roles_of(speakers: Sequence[str], options: ShapeOptions) -> dict[str, str]:
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


def first_speaker_note(options: ShapeOptions) -> str:
    """Return the sentence on who was taken to be the user, "" if the caller names the user."""
    return "" if options.user else "the first speaker counts as the user, unless --user names another"


def _holds_sdialog(value: Json) -> bool:
    turns = value.get("turns") if isinstance(value, dict) else None
    return isinstance(turns, list) and bool(turns) and has_keys(turns[0], "speaker", "text")


def _read_sdialog(group: Group, options: ShapeOptions) -> Iterator[Record]:
    (dialogue,) = group
    turns = dialogue["turns"].elements()
    speakers = [id_text(turn["speaker"]) for turn in turns]
    roles, passed = roles_of(speakers, options), Counter[str]()
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
    yield Record(line, dialogue, "", passed, assumed=first_speaker_note(options))


SDIALOG = Shape(
    "sdialog",
    "dialogues of SDialog; the first speaker is the user, unless --user names another",
    _holds_sdialog,
    _read_sdialog,
    options=frozenset({"user"}),
)
