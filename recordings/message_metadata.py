"""What a line of messages says of its conversation besides the messages: checked, because every figure rests on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any

from protocols.labels import LABELS, MISSING, allowed_labels
from recordings.conversation import INVALID, LARGEST_NUMBER, Outcome
from recordings.imported_names import INTERRUPTED, MOST_TURNS_ALLOWED, check_outcome, check_time
from recordings.transcript_turns import IMPORT_RULE, marked_breakdown
from topics.counting import pluralize
from topics.errors import InputError, Place
from topics.links import Link
from topics.suggestions import nearest

__all__ = ["Metadata"]

_KINDS: Mapping[str, type] = {
    **dict.fromkeys(("system", "topic", "outcome", "reason", "detail", "id", "session", "user", "worker"), str),
    **dict.fromkeys(("started_at", "ended_at"), str),
    **dict.fromkeys(("trial", "attempt", "place", "missing", "most_turns"), int),
    **dict.fromkeys(("labels", "acts", "states", "links", "users"), list),
}
"""Keys, and of what kind their values are."""

_ALIKE = 0.8
"""From which likeness on a key that nobody knows, of the right kind, is a slip of the pen (`lables`)."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """values: by key. place: of the line. ignored: keys that nothing reads, as they are written for people."""

    values: Mapping[str, Any]
    place: Place
    ignored: tuple[str, ...] = field(default=())

    @classmethod
    def of(cls, line: Mapping[str, Any], place: Place) -> Metadata:
        """Those of a line. Raises InputError for a key that is plainly a misspelt one; others by others are left."""
        values = line.get("metadata") or {}
        if not isinstance(values, dict):
            raise InputError("'metadata' is not an object", place=place)
        further = [key for key in line if key not in ("messages", "metadata")]
        for key in further:
            if "metadata" not in line and isinstance(line[key], dict) and _alike(key, "metadata"):
                raise InputError(f"unknown key {key!r}: did you mean 'metadata'?", place=place)
        own = [key for key in values if key not in _KINDS]
        for key in own:
            meant = nearest(key, _KINDS)
            if meant and _alike(key, meant) and type(values[key]) is _KINDS[meant]:
                raise InputError(
                    f"unknown key {key!r} in metadata: did you mean {meant!r}?",
                    place=place,
                    allowed=", ".join(sorted(_KINDS)),
                    advice="rename it; keys that are unlike these may stay, and nothing reads them",
                )
        return cls(values, place, (*(f"metadata.{key}" for key in own), *further))

    def error(self, what: str, *, allowed: str | None = None, advice: str | None = None) -> InputError:
        return InputError(what, place=self.place, allowed=allowed, advice=advice)

    def checked(self, check: Callable[[str], None], text: str) -> str:
        """The text, which `check` refuses by an InputError without a place."""
        try:
            check(text)
        except InputError as fault:
            raise self.error(fault.what, allowed=fault.allowed, advice=fault.advice) from None
        return text

    def text(self, key: str, default: str = "") -> str:
        value = self.values.get(key, default)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self.error(f"metadata.{key} is not text")
        return value

    def time(self, key: str) -> str:
        return self.checked(check_time, self.text(key))

    def count(self, key: str, default: int, *, least: int = 1, most: int = LARGEST_NUMBER) -> int:
        value = self.values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self.error(f"metadata.{key} is not a number from {least} to {most}")
        return value

    @property
    def most_turns(self) -> int:
        """0 where the line does not say."""
        return self.count("most_turns", 0, least=0, most=MOST_TURNS_ALLOWED)

    def _list(self, key: str) -> list[Any]:
        value = self.values.get(key) or []
        if not isinstance(value, list):
            raise self.error(f"metadata.{key} is not a list")
        return value

    def _texts(self, key: str) -> list[str]:
        value = self.values.get(key) or []
        if not isinstance(value, list) or not all(item is None or isinstance(item, str) for item in value):
            raise self.error(f"metadata.{key} is not a list of texts")
        return [item or "" for item in value]

    def of_turns(self, key: str, turns: int) -> list[str]:
        """A text for each user turn; [] where the line does not say."""
        found = self._texts(key)
        if found and len(found) != turns:
            raise self.error(f"metadata.{key} has {len(found)} for {pluralize(turns, 'turn')}", allowed=_EACH_TURN)
        return found

    def labels(self, turns: int, answers: int) -> list[str]:
        """Of each answer, and of turns after them that have none; [] where the line does not say."""
        labels = self._texts("labels")
        for label in labels:
            if label not in (*LABELS, MISSING, ""):
                allowed = f"{allowed_labels()}, null (not labelled)"
                raise self.error(f"label {label!r} in metadata.labels", allowed=allowed)
        further = {*labels[answers:turns]} - {MISSING, ""} or {*labels[turns:]} - {MISSING}
        if labels and (len(labels) < answers or further):
            what = f"metadata.labels has {len(labels)} for {pluralize(answers, 'answer')}"
            raise self.error(what, allowed="one for each answer; after these - for each turn that never came")
        return labels

    def links(self, turns: int, answers: int) -> list[tuple[Link, ...] | None]:
        """Of each answer; None where they are those of its text."""
        found: list[tuple[Link, ...] | None] = []
        for item in self._list("links"):
            if item is not None and not isinstance(item, list):
                raise self.error("metadata.links holds something that is not a list of links", allowed=_LINKS)
            links: list[Link] = []
            for link in item or ():
                match link:
                    case [str(text), str(href)]:
                        links.append(Link(text, href))
                    case _:
                        raise self.error("metadata.links holds something that is not a link", allowed="[text, address]")
            found.append(None if item is None else tuple(links))
        if found and len(found) not in (answers, turns):
            raise self.error(f"metadata.links has {len(found)} for {pluralize(answers, 'answer')}", allowed=_LINKS)
        return found

    def outcome(self, turns: int, answers: int, labels: Sequence[str]) -> Outcome | None:
        """How it ended, by what the line says or else by what is there; None where it was interrupted."""
        missing = self.count("missing", 0, least=0, most=MOST_TURNS_ALLOWED) if "missing" in self.values else None
        if kind := self.text("outcome"):
            self.checked(check_outcome, kind)
            ended = Outcome(kind, self.text("reason"), self.text("detail"), missing)
            return None if kind == INTERRUPTED else ended
        if missing is not None:
            raise self.error("metadata.missing without an outcome", advice="give the outcome too, such as breakdown")
        if not turns or answers < turns:
            return Outcome(INVALID, "no-reply", "the file holds no answer to the last user turn")
        never = list(labels[turns:]).count(MISSING)
        if never:
            return marked_breakdown(never, "the file marks a turn that never came")
        return Outcome("completed", IMPORT_RULE, "the file does not say how the conversation ended")


_EACH_TURN = "one for each turn of the user (messages of one side in a row are one turn, a greeting one of its own)"
_LINKS = "for each answer a list of [text, address], or null"


def _alike(key: str, known: str) -> bool:
    """Whether it was plainly meant. `session_id` and its like are words of others."""
    word = key.casefold()
    return not word.startswith((f"{known}_", f"{known}-")) and SequenceMatcher(None, word, known).ratio() >= _ALIKE
