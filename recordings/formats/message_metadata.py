"""The metadata of a conversation in a line of messages, checked strictly because every figure depends on it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from difflib import SequenceMatcher
from typing import Any

from protocols.answer import Offer
from protocols.labels import LABELS, MISSING, allowed_labels
from protocols.route import Choice
from recordings.conversations.conversation import INVALID, LARGEST_NUMBER, Outcome
from recordings.conversations.endings import NO_REPLY
from recordings.events.event_lines import choice_from, file_from, offer_from
from recordings.files.times import parse_foreign_time, unix_seconds
from recordings.formats.imports import INTERRUPTED, MOST_TURNS_ALLOWED, check_outcome, check_time
from recordings.formats.transcript_turns import IMPORT_RULE, marked_breakdown
from topics.counting import pluralize
from topics.errors import InputError, Place, nearest_name
from topics.links import Link
from topics.sent_files import SentFile

# Keys, and the kinds of their values.
_KINDS: Mapping[str, type] = {
    **dict.fromkeys(
        ("system", "topic", "outcome", "reason", "detail", "id", "session", "user", "worker", "member"), str
    ),
    **dict.fromkeys(("started_at", "ended_at"), str),
    **dict.fromkeys(("trial", "attempt", "place", "missing", "most_turns"), int),
    **dict.fromkeys(("labels", "acts", "states", "links", "parts", "users", "worded", "sessions", "choices"), list),
    **dict.fromkeys(("pressed", "attached"), list),
    "end_choice": dict,
}

# Keys of texts for which other programs have numbers.
_NUMBERED_KEYS = ("system", "topic", "id")

# Not those of sessions and threads, which may have several conversations. Those of conversations come first: a row of a
# table has an id of its own, and the same conversation may be in two rows.
_ID_KEYS = (
    *("conversationid", "conversationuuid", "conversationhash", "convid", "chatid", "dialogueid", "dialogid"),
    *("uuid", "guid", "id"),
)
# Normalised keys that identify a conversation: its name in other programs, and when it began.
_START_KEYS = ("startedat", "createdat", "createtime", "createdtime", "starttime", "timestamp", "tstamp", "created")

# Seconds by which another clock may be ahead of this one.
_SECONDS_AHEAD = 86_400

# Similarity from which an unknown key of the right kind is a misspelling (`lables`).
_SIMILAR = 0.8


@dataclass(frozen=True, slots=True)
class Metadata:
    """The metadata of one conversation, as `values` by key. `name` and `began` are the id and the start time that
    another program gave the conversation, "" if unknown. `model` is the model that a data set of several models gives
    for it. `ignored` lists unused keys. Errors are raised without a place; the caller adds the place of the record."""

    values: Mapping[str, Any]
    name: str = ""
    began: str = ""
    ignored: tuple[str, ...] = field(default=())
    model: str = ""

    @classmethod
    def from_line(cls, line: Mapping[str, Any]) -> "Metadata":
        """Read the metadata of a line. Raises InputError for a misspelt key; other unknown keys are ignored."""
        values = line.get("metadata") or {}
        if not isinstance(values, dict):
            raise InputError("'metadata' is not an object")
        further = [key for key in line if key not in ("messages", "metadata")]
        for key in further:
            if "metadata" not in line and isinstance(line[key], dict) and _is_misspelling(key, "metadata"):
                raise InputError(f"unknown key {key!r}: did you mean 'metadata'?")
        own = [key for key in values if key not in _KINDS]
        ends = [key for key in ("reason", "detail") if values.get(key) not in (None, "") and not values.get("outcome")]
        for key in own:
            meant = nearest_name(key, _KINDS)
            if meant and _is_misspelling(key, meant) and type(values[key]) is _KINDS[meant]:
                raise InputError(
                    f"unknown key {key!r} in metadata: did you mean {meant!r}?",
                    allowed=", ".join(sorted(_KINDS)),
                    advice="rename it; keys that do not resemble these are ignored",
                )
        given = {**{key: line[key] for key in further}, **values}
        plain = [(_normalise_key(key), key) for key in given]
        names = [key for known in _ID_KEYS for one, key in plain if one == known and _name_text(given[key])]
        times = [key for known in _START_KEYS for one, key in plain if one == known and parse_foreign_time(given[key])]
        # A number alone identifies the trial.
        known = (*names[:1], *times[:1]) if values.get("trial") is None else (*names, *times)
        model = line["model"] if isinstance(line.get("model"), str) else ""
        ignored = (
            *(f"metadata.{key}" for key in own if key not in known),
            *(f"metadata.{key} (without an outcome)" for key in ends),
            *(key for key in further if key not in known and not (key == "model" and model)),
        )
        name = _name_text(given[names[0]]) if names else ""
        return cls(values, name, parse_foreign_time(given[times[0]]) if times else "", ignored, model)

    def checked(self, check: Callable[[str], None], text: str) -> str:
        check(text)
        return text

    def text(self, key: str, default: str = "") -> str:
        value = self.values.get(key, default)
        if value is None:
            return default
        if key in _NUMBERED_KEYS and (name := _name_text(value)):
            return name
        if not isinstance(value, str):
            raise InputError(f"metadata.{key} is not text")
        return value

    def time(self, key: str) -> str:
        value = self.values.get(key)
        return parse_foreign_time(value) or self.checked(check_time, self.text(key))

    def count(self, key: str, default: int, *, least: int = 1, most: int = LARGEST_NUMBER) -> int:
        value = self.values.get(key)
        value = default if value is None else value
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise InputError(f"metadata.{key} is not a number from {least} to {most}")
        return value

    @property
    def most_turns(self) -> int:
        """The protocol's maximum number of user turns; 0 if the line does not give a maximum."""
        return self.count("most_turns", 0, least=0, most=MOST_TURNS_ALLOWED)

    def _list(self, key: str) -> list[Any]:
        value = self.values.get(key) or []
        if not isinstance(value, list):
            raise InputError(f"metadata.{key} is not a list")
        return value

    def _texts(self, key: str) -> list[str]:
        value = self.values.get(key) or []
        if not isinstance(value, list) or not all(item is None or isinstance(item, str) for item in value):
            raise InputError(f"metadata.{key} is not a list of strings")
        return [item or "" for item in value]

    def turn_texts(self, key: str, turns: int) -> list[str]:
        """Return the text under `key` for each user turn, or [] if the line has none."""
        found = self._texts(key)
        if found and len(found) != turns:
            raise InputError(
                f"metadata.{key} has {pluralize(len(found), 'value')} for {pluralize(turns, 'turn')}",
                allowed=_EACH_TURN,
            )
        return found

    def labels(self, turns: int, answers: int) -> list[str]:
        """Return the label of each answer, then a mark for each turn without an answer; [] if there are no labels."""
        labels = self._texts("labels")
        for label in labels:
            if label not in (*LABELS, MISSING, ""):
                allowed = f"{allowed_labels()}, null (not labelled)"
                raise InputError(f"metadata.labels contains {label!r}, which is not a label", allowed=allowed)
        further = {*labels[answers:turns]} - {MISSING, ""} or {*labels[turns:]} - {MISSING}
        if labels and (len(labels) < answers or further):
            what = f"metadata.labels has {pluralize(len(labels), 'value')} for {pluralize(answers, 'answer')}"
            raise InputError(what, allowed="one label for each answer, followed by - for each turn that never came")
        return labels

    def doubts(self, labels: Sequence[str], answers: int) -> Iterator[str]:
        """Yield a phrase on each label or end that the messages of the line contradict."""
        if MISSING in labels[:answers] and not self.text("outcome"):
            yield f"labels are {MISSING} (no such turn) for answers that exist, which count as not labelled"
        if self.text("outcome") == "completed" and not answers:
            yield "the outcome is completed, but there is no answer"

    def doubtful_times(self, began: str, ended: str, now: datetime) -> Iterator[str]:
        latest = now.timestamp() + _SECONDS_AHEAD
        if began and ended and unix_seconds(ended) < unix_seconds(began):
            yield "the end is before the beginning"
        if (began and unix_seconds(began) > latest) or (ended and unix_seconds(ended) > latest):
            yield "a time is in the future"

    def doubtful_numbers(self) -> Iterator[str]:
        if self.count("place", 1) > 1 and not self.text("session"):
            yield "the place is above 1, but the session has no name"
        if self.count("attempt", 1) > 1 and self.values.get("trial") is None:
            yield "the attempt is above 1, but the trial has no number"

    def links(self, turns: int, answers: int) -> list[tuple[Link, ...] | None]:
        """Return the links of each answer. None stands for the links in the answer's text."""
        found: list[tuple[Link, ...] | None] = []
        for item in self._list("links"):
            if item is not None and not isinstance(item, list):
                raise InputError("metadata.links contains something that is not a list of links", allowed=_LINKS)
            links: list[Link] = []
            for link in item or ():
                match link:
                    case [str(text), str(href)]:
                        links.append(Link(text, href))
                    case _:
                        raise InputError(
                            "metadata.links contains something that is not a link", allowed="[text, address]"
                        )
            found.append(None if item is None else tuple(links))
        if found and len(found) not in (answers, turns):
            raise InputError(
                f"metadata.links has {pluralize(len(found), 'value')} for {pluralize(answers, 'answer')}",
                allowed=_LINKS,
            )
        return found

    def parts(self, turns: int) -> list[Mapping[str, Any] | None]:
        """Return the parts of each turn's answer other than its text, as in a recording; [] if there are none."""
        return self._objects("parts", turns)

    def choices(self, turns: int, place: Place) -> list[Choice | None]:
        """Return the options of the simulated user at each turn, or [] if the line has none."""
        return [None if one is None else choice_from(one, place) for one in self._objects("choices", turns)]

    def pressed(self, turns: int, place: Place) -> list[Offer | None]:
        """Return the offer that was pressed at each turn, or [] if the line has none."""
        return [None if one is None else offer_from(one, place) for one in self._objects("pressed", turns)]

    def attached(self, turns: int, place: Place) -> list[tuple[SentFile, ...]]:
        """Return the files that went with each turn, or [] if the line has none."""
        found = self._each_turn("attached", turns, list)
        if not all(isinstance(one, dict) for files in found for one in files or ()):
            raise InputError("metadata.attached contains something that is not a file")
        return [tuple(file_from(one, place) for one in files or ()) for files in found]

    def end_choice(self, place: Place) -> Choice | None:
        """Return the options of a simulated user that left, or None if the line has none."""
        found = self.values.get("end_choice")
        if found is not None and not isinstance(found, dict):
            raise InputError("metadata.end_choice is not an object")
        return None if found is None else choice_from(found, place)

    def _objects(self, key: str, turns: int) -> list[Mapping[str, Any] | None]:
        return self._each_turn(key, turns, dict)

    def _each_turn(self, key: str, turns: int, kind: type) -> list[Any]:
        found, called = self._list(key), "an object" if kind is dict else "a list"
        if not all(item is None or isinstance(item, kind) for item in found) or (found and len(found) != turns):
            raise InputError(f"metadata.{key} is not {called} or null for each turn", allowed=_EACH_TURN)
        return found

    def outcome(self, turns: int, answers: int, labels: Sequence[str], last: str) -> Outcome | None:
        """Return the outcome that the line states, or else the outcome that its shape suggests; None for an interrupted
        conversation. `last` is the side that spoke last, with or without text."""
        missing = self.count("missing", 0, least=0, most=MOST_TURNS_ALLOWED) if "missing" in self.values else None
        if kind := self.text("outcome"):
            self.checked(check_outcome, kind)
            ended = Outcome(kind, self.text("reason"), self.text("detail"), missing)
            return None if kind == INTERRUPTED else ended
        if missing is not None:
            raise InputError(
                "metadata.missing is given without an outcome", advice="give the outcome too, such as breakdown"
            )
        if MISSING in labels[answers:]:
            never = list(labels[turns:]).count(MISSING)
            return marked_breakdown(never, "the file marks a turn that never came")
        if not answers:
            return Outcome(INVALID, NO_REPLY, "the file holds no answer")
        if answers < turns and last != "user":
            return Outcome(INVALID, NO_REPLY, "the file holds no text of the answer to the last user turn")
        kind = "user-stopped" if answers < turns else "completed"
        return Outcome(kind, IMPORT_RULE, "the file does not say how the conversation ended")


def is_id_key(key: str) -> bool:
    """Return True for a key under which other programs store the id of a conversation."""
    return _normalise_key(key) in _ID_KEYS


def _normalise_key(key: str) -> str:
    """Normalise a key, so that `_id` and `id`, or `conversationId` and `conversation-id`, are equal."""
    return key.replace("_", "").replace("-", "").casefold()


def _name_text(value: object) -> str:
    """Return an id as text if it is text or a whole number, possibly in a database object (`{"$oid": …}`), else ""."""
    while isinstance(value, dict) and (len(value) == 1 or any(key in value for key in ("$binary", "base64"))):
        value = value.get("$binary", value.get("base64", next(iter(value.values()))))
    if isinstance(value, float) and value.is_integer():  # a data frame in which the id of one row is missing
        value = int(value)
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""


_EACH_TURN = "one value for each user turn (messages of one side in a row are one turn, and a greeting is a turn too)"
_LINKS = "a list of [text, address], or null, for each answer"


def _is_misspelling(key: str, known: str) -> bool:
    """Return True if a key is probably a misspelling of `known`. Keys such as `session_id` belong to other programs."""
    word = key.casefold()
    return not word.startswith((f"{known}_", f"{known}-")) and SequenceMatcher(None, word, known).ratio() >= _SIMILAR
