"""Paths to values in a JSON reply: `$.choices[0].text`, `$.items[*].url`, `$['odd key']`, `$[-1]`.

A small part of JSONPath: names, indexes (negative ones from the end) and `[*]` for every element. There are no filters
and no recursive search: if the shape of replies changes, that fault should be visible, not papered over.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator

from topics.document import refusal

_STEP = re.compile(
    r"\.(?P<name>[^.\[\]'\"*\s]+)|\[(?P<index>-?[0-9]{1,9})\]|\[(?P<every>\*)\]"
    r"|\['(?P<single>[^']*)'\]|\[\"(?P<double>[^\"]*)\"\]"
)


@dataclass(frozen=True, slots=True)
class ReplyPath:
    """A parsed path. steps: (kind, value) pairs; the kind is a name, an index, or every entry."""

    text: str
    steps: tuple[tuple[str, str | int], ...]

    @classmethod
    def parse(cls, text: str) -> ReplyPath:
        """Parse a path. Raises ValueError with the first step that is not understood."""
        if not text.startswith("$"):
            raise ValueError(f"{text!r} is not a path: it must start with $, as in $.message.text")
        steps: list[tuple[str, str | int]] = []
        at = 1
        while at < len(text):
            match = _STEP.match(text, at)
            if match is None:
                raise ValueError(f"{text!r} is not a path: {text[at:]!r} is not a step (.name, [0], [*] or ['name'])")
            kind = str(match.lastgroup)
            value = match[kind]
            steps.append(("index", int(value)) if kind == "index" else ("every" if kind == "every" else "name", value))
            at = match.end()
        return cls(text, tuple(steps))

    @property
    def many(self) -> bool:
        """True if the path can match several values."""
        return any(kind == "every" for kind, _ in self.steps)

    def find(self, value: object) -> list[object]:
        """Return the values at the path, in order; [] if a name or an index is missing."""
        found = [value]
        for kind, step in self.steps:
            found = [inner for outer in found for inner in _values_inside(outer, kind, step)]
        return found


def _values_inside(value: object, kind: str, step: str | int) -> Sequence[object]:
    if isinstance(value, Mapping):
        if kind == "every":
            return list(value.values())
        return [value[step]] if kind == "name" and step in value else []
    if isinstance(value, list):
        if kind == "every":
            return value
        if isinstance(step, int) and -len(value) <= step < len(value):
            return [value[step]]
    return []


def check_path(text: str) -> str:
    """Return the path. Raises a refusal of the option if it is not a valid path."""
    try:
        ReplyPath.parse(text)
    except ValueError as fault:
        raise refusal(str(fault)) from None
    return text


def listed(value: object) -> object:
    """Return a single text as a tuple, and a list, as kept in a resolved audit, as a tuple too."""
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


Path = Annotated[str, AfterValidator(check_path)]
# An option that is one path, or a list of them.
Paths = Annotated[tuple[Path, ...], BeforeValidator(listed)]
