"""Paths to values in a reply, and the options of an audit that are made of them.

A path has a subset of the syntax of JSONPath (RFC 9535): `.name`, `['name']`, `[0]`, `[-1]`, `[*]`, and filters such as
`[?@.type=='text']`, `[?@.from.id!='me']`, `[?@.text]` (it is there) and `[?!@.text]` (it is not).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

from topics.document import validation_error

_STEP = re.compile(
    r"\.(?P<name>[^.\[\]'\"*\s]+)|\[(?P<index>-?[0-9]{1,9})\]|\[(?P<every>\*)\]"
    r"|\['(?P<single>[^']*)'\]|\[\"(?P<double>[^\"]*)\"\]"
    r"|\[\?\s*(?P<filter>(?P<absent>!)?\s*@(?P<inner>(?:\.[^.\[\]'\"*\s=!]+|\['[^']*'\]|\[\"[^\"]*\"\]|\[-?\d{1,9}\])+)"
    r"\s*(?:(?P<sign>[=!]=)\s*(?P<value>'[^']*'|\"[^\"]*\"|-?\d{1,15}(?:\.\d{1,15})?|true|false|null))?\s*)\]"
)
_STEPS = ".name, [0], [*], ['name'] or a filter such as [?@.type=='text']"


@dataclass(frozen=True, slots=True)
class Filter:
    """A test of a value. The value that `inner` finds is compared with `value`; if `compares` is False, it only has to
    exist. `wanted` is False for a negated test."""

    inner: ReplyPath
    wanted: bool = True
    compares: bool = False
    value: object = None

    def accepts(self, candidate: object) -> bool:
        found = self.inner.find(candidate)
        if not self.compares:
            return bool(found) is self.wanted
        return any(_equal(one, self.value) for one in found) is self.wanted


Step = tuple[str, "str | int | Filter"]


@dataclass(frozen=True, slots=True)
class ReplyPath:
    """A parsed path to a value in a reply. `steps` are pairs of a kind (`name`, `index`, `every` or `filter`) and a
    value."""

    text: str
    steps: tuple[Step, ...]

    @classmethod
    def parse(cls, text: str) -> ReplyPath:
        """Parse a path. Raises ValueError, which quotes the text from the first invalid step on."""
        if not text.startswith("$"):
            raise ValueError(f"{text!r} is not a path: it must start with $, as in $.message.text")
        steps: list[Step] = []
        at = 1
        while at < len(text):
            match = _STEP.match(text, at)
            if match is None:
                raise ValueError(f"{text!r} is not a path: {text[at:]!r} is not a step ({_STEPS})")
            steps.append(_step(match))
            at = match.end()
        return cls(text, tuple(steps))

    @property
    def matches_many(self) -> bool:
        """True if the path can match several values."""
        return any(kind in ("every", "filter") for kind, _ in self.steps)

    def find(self, value: object) -> list[object]:
        """Return the values at the path, in order. The list is empty if a name or an index is missing."""
        found = [value]
        for kind, step in self.steps:
            found = [inner for outer in found for inner in _values_inside(outer, kind, step)]
        return found


# The path `text`, for a whole body that is not parsed.
WHOLE = ReplyPath("text", ())


def _step(match: re.Match[str]) -> Step:
    if match["filter"]:
        inner, absent = ReplyPath.parse(f"${match['inner']}"), bool(match["absent"])
        if match["sign"] is None:
            return "filter", Filter(inner, wanted=not absent)
        written = match["value"]
        value = written[1:-1] if written[0] in "'\"" else json.loads(written)
        return "filter", Filter(inner, (match["sign"] == "==") is not absent, compares=True, value=value)
    if match["index"]:
        return "index", int(match["index"])
    if match["every"]:
        return "every", "*"
    return "name", next(match[kind] for kind in ("name", "single", "double") if match[kind] is not None)


def _values_inside(value: object, kind: str, step: str | int | Filter) -> Sequence[object]:
    if isinstance(step, Filter) or kind == "every":
        inner = list(value.values()) if isinstance(value, Mapping) else value if isinstance(value, list) else []
        return [one for one in inner if step.accepts(one)] if isinstance(step, Filter) else inner
    if isinstance(value, Mapping):
        return [value[step]] if kind == "name" and step in value else []
    if isinstance(value, list) and isinstance(step, int) and -len(value) <= step < len(value):
        return [value[step]]
    return []


def _equal(found: object, value: object) -> bool:
    """Return whether two JSON values are equal. Unlike in Python, true is not 1."""
    return found == value and isinstance(found, bool) is isinstance(value, bool)


def first_found(paths: Iterable[ReplyPath], value: object) -> list[object]:
    """Return the result of the first path that finds anything. A null is nothing."""
    for path in paths:
        found = [one for one in path.find(value) if one is not None]
        if found:
            return found
    return []


def kept_text(found: Sequence[object]) -> str | None:
    """Return the first value as text, or None unless it is an integer or a text that is not empty."""
    first = found[0] if found else None
    if isinstance(first, int) and not isinstance(first, bool):
        return str(first)
    return first if isinstance(first, str) and first else None


def kept_values(paths: Mapping[str, tuple[ReplyPath | None, ...]], value: object) -> dict[str, str | None]:
    """Return the values at the paths, by name: None if nothing is there and the last path is None; otherwise a name
    without a value is left out."""
    found = {name: kept_text(first_found(filter(None, ways), value)) for name, ways in paths.items()}
    return {name: one for name, one in found.items() if one is not None or None in paths[name]}


@dataclass(frozen=True, slots=True)
class PartPaths:
    """The paths of one part of a reply: `always` applies to any event, and `by_event` only to events with the given
    names. A body that is not an event may be read by all of them."""

    always: tuple[ReplyPath, ...] = ()
    by_event: Mapping[str, tuple[ReplyPath, ...]] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def parse(cls, option: tuple[str, ...] | Mapping[str, tuple[str, ...]]) -> PartPaths:
        if isinstance(option, Mapping):
            return cls((), {name: tuple(map(_parse_text_path, paths)) for name, paths in option.items()})
        return cls(tuple(map(_parse_text_path, option)))

    def __bool__(self) -> bool:
        return bool(self.always or self.by_event)

    @property
    def reads_text(self) -> bool:
        """True if the part is the whole body, which need not be JSON."""
        return self.paths_in(None) != () and set(self.paths_in(None)) == {WHOLE}

    def paths_in(self, names: Sequence[str] | None) -> tuple[ReplyPath, ...]:
        """Return the paths for an event with the given names, or all paths if `names` is None."""
        if not self.by_event:
            return self.always
        chosen = self.by_event if names is None else [name for name in names if name in self.by_event]
        return tuple(path for name in chosen for path in self.by_event[name])


def _parse_text_path(text: str) -> ReplyPath:
    return WHOLE if text == WHOLE.text else ReplyPath.parse(text)


@dataclass(frozen=True, slots=True)
class Condition:
    """Conditions on a reply, at least one of which must be fulfilled. Each is a path and the values that it must find.
    Without values, it must find something other than false, null and an empty text, list or mapping."""

    terms: tuple[tuple[ReplyPath, tuple[object, ...]], ...] = ()

    @classmethod
    def parse(cls, option: tuple[str, ...] | Mapping[str, tuple[object, ...]]) -> Condition:
        if isinstance(option, Mapping):
            return cls(tuple((ReplyPath.parse(path), values) for path, values in option.items()))
        return cls(tuple((ReplyPath.parse(path), ()) for path in option))

    def holds(self, value: object) -> bool:
        return any(
            any(_equal(one, wanted) for wanted in values) if values else one not in (None, False, "", [], {})
            for path, values in self.terms
            for one in path.find(value)
        )


NO_PATHS, NEVER = PartPaths(), Condition()


def check_path(text: str) -> str:
    """Return the path unchanged. Refuses the option if the path is invalid."""
    try:
        ReplyPath.parse(text)
    except ValueError as fault:
        raise validation_error(str(fault)) from None
    return text


def as_tuple(value: object) -> object:
    """Return a single value, or a list from a resolved audit, as a tuple."""
    if isinstance(value, list):
        return tuple(value)
    return (value,) if isinstance(value, (str, int, float, bool)) else value


def _check_paths(value: object, *, whole: bool = False) -> tuple[str, ...]:
    """Return one path, or a list of them, as a tuple. With `whole`, `text` alone is allowed as well."""
    several = as_tuple(value)
    if not isinstance(several, tuple):
        raise validation_error("must be a path such as $.message.text, or a list of paths")
    if whole and several == (WHOLE.text,):
        return several
    for path in several:
        if not isinstance(path, str):
            raise validation_error(f"a path is a text that starts with $, such as $.message.text (here: {path!r})")
        check_path(path)
    return several


def _check_event_paths(value: object, *, whole: bool = False) -> object:
    if not isinstance(value, Mapping):
        return _check_paths(value, whole=whole)
    found = {str(name): _check_paths(paths, whole=whole) for name, paths in value.items()}
    if len({paths == (WHOLE.text,) for paths in found.values()}) > 1:
        raise validation_error("`text` cannot be combined with paths")
    return found


def _check_condition(value: object) -> object:
    if not isinstance(value, Mapping):
        return _check_paths(value)
    found = {}
    for path, values in value.items():
        several = as_tuple(values)
        if not isinstance(several, tuple) or not all(isinstance(one, (str, int, float)) for one in several):
            raise validation_error(f"the values of {path} must be texts, numbers, true or false")
        found[_check_paths(path)[0]] = several
    return found


Path = Annotated[str, AfterValidator(check_path)]
# An option that is one path, or a list of them.
Paths = Annotated[tuple[Path, ...], BeforeValidator(as_tuple)]
# An option that is a path, a list of paths, or a mapping of names of events to these.
EventPaths = Annotated[tuple[str, ...] | dict[str, tuple[str, ...]], BeforeValidator(_check_event_paths)]
# As EventPaths, or `text` for the whole body or all data of an event.
TextPaths = Annotated[
    tuple[str, ...] | dict[str, tuple[str, ...]], BeforeValidator(partial(_check_event_paths, whole=True))
]
# An option that is a path, a list of paths, or a mapping of paths to values, one of which must be found.
ConditionOption = Annotated[tuple[str, ...] | dict[str, tuple[Any, ...]], BeforeValidator(_check_condition)]
