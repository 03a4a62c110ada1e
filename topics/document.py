"""A YAML file read strictly: every value knows its line and column, and nothing is guessed.

YAML 1.1 turns `no` into false, `12:30` into 750 and `2023-09-02` into a date. Here only `true`, `false`, `null`,
plain decimal integers and decimal floats are anything but text. Refused, with file:line:column: duplicate keys,
anchors and aliases (a short file can expand to gigabytes), tags, several documents in one file, and bytes that
are not UTF-8.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, Protocol, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from topics.counting import quantity
from topics.errors import InputError, Place
from topics.suggestions import nearest
from topics.text_file import place_in, read_text

__all__ = ["Document", "Loc", "StrictModel", "parse_document", "read_document", "refusal"]

Loc = tuple[str | int, ...]
"""The way to a value from the top of a document: ("topics", 3, "id")."""

_MODEL = TypeVar("_MODEL", bound=BaseModel)
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(0|[1-9][0-9]*)(\.[0-9]+([eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)")
_LOOSE = re.compile(r"[-+]?(\.[0-9]+|[0-9]+\.|[0-9]+\.?[0-9]*)([eE][-+]?[0-9]+)?")
_QUOTED = re.compile("'([^']*)'")
_NO_NUMBER = re.compile(r"[-+]?\.?(nan|inf|infinity)", re.IGNORECASE)
_WORDS: Mapping[str, object] = {"true": True, "false": False, "null": None, "~": None, "": None}
_SURROGATE = re.compile("[\ud800-\udfff]")  # JSON has them in pairs; YAML and UTF-8 have none
_DEEPEST = 60
_LONGEST_INTEGER = 18  # characters: fewer than 64 bits can hold
_LONG = 2**16  # characters
_NEEDED: Mapping[str, str] = {  # pydantic speaks of Python; the reader of a message sees a file
    "bool_type": "true or false",
    "dict_type": "a mapping (key: value)",
    "float_type": "a number",
    "int_from_float": "a whole number",
    "int_type": "a whole number",
    "model_attributes_type": "a mapping (key: value)",
    "model_type": "a mapping (key: value)",
    "string_type": "text",
    "tuple_type": "a list",
}


_BOUNDS: Mapping[str, str] = {
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be below {lt}",
    "less_than_equal": "must be at most {le}",
    "finite_number": "must be a finite number",
}
_LENGTHS: Mapping[str, tuple[str, str, str]] = {  # by kind: the words, the bound, what is counted
    "string_too_long": ("at most", "max_length", "character"),
    "string_too_short": ("at least", "min_length", "character"),
    "too_long": ("at most", "max_length", "entry"),
    "too_short": ("at least", "min_length", "entry"),
}


def refusal(what: str, *, allowed: str = "") -> PydanticCustomError:
    """An error of a validator that is shown as it is, at its place in the file, without the value: it may be secret."""
    return PydanticCustomError("refused", "{what}", {"what": what, "expected": allowed})


class StrictModel(BaseModel):
    """A mapping in one of our files: unknown keys are refused by name, and no type is converted silently.

    Sequences arrive as tuples, so fields are declared `tuple[...]`.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        known = [field.alias or name for name, field in cls.model_fields.items()]
        for key in value:
            if key not in known and key not in cls.model_fields:
                meant = nearest(str(key), known)
                raise PydanticCustomError(
                    "unknown_key",
                    "unknown key {key}",
                    {"key": key, "known": ", ".join(known), "close": meant or ""},
                )
        return value


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed YAML file. value: dicts (text keys, in file order), tuples, text, numbers, booleans, None.

    source: the text that was parsed, for faults inside a value (a word in a template); "" where there was none.
    """

    path: str
    value: object
    marks: Mapping[Loc, tuple[int, int]]
    key_marks: Mapping[Loc, tuple[int, int]]
    source: str = ""

    def place(self, loc: Loc = (), *, key: bool = False) -> Place:
        """Where the value at `loc` stands, or its key; the nearest enclosing value where `loc` has no mark."""
        marks = self.key_marks if key else self.marks
        while loc and loc not in marks:
            loc, marks = loc[:-1], self.marks
        return Place(self.path, *marks.get(loc, (1, 1)))

    def error(
        self, loc: Loc, what: str, *, allowed: str | None = None, advice: str | None = None, key: bool = False
    ) -> InputError:
        """An error at the value (or the key) at `loc`, ready to raise."""
        return InputError(what, place=self.place(loc, key=key), allowed=allowed, advice=advice)

    def part(self, loc: Loc) -> Document:
        """The value at `loc` as a document of its own: its faults still say where they stand in the file."""
        value, depth = self.value, len(loc)
        for step in loc:
            value = value[step]  # type: ignore[index]
        inside = {way[depth:]: mark for way, mark in self.marks.items() if way[:depth] == loc}
        keys = {way[depth:]: mark for way, mark in self.key_marks.items() if way[:depth] == loc}
        return Document(self.path, value, inside, keys, self.source)

    def validated(self, model: type[_MODEL]) -> _MODEL:
        """The document as `model`. Raises InputError for the first fault in file order; an unknown key of a mapping
        goes before what else is wrong with it, since a misspelt key is often the cause of the rest.
        """
        try:
            return model.model_validate(self.value)
        except ValidationError as fault:
            errors = self._meant(fault.errors())
            details = [self._described(error, words) for error, words in errors]
            raise min(details, key=lambda e: (e.place.line, e.place.column) if e.place else (0, 0)) from None

    def _meant(self, errors: list[ErrorDetails]) -> list[tuple[ErrorDetails, str]]:
        """The errors worth telling, with what would be right there. Where a value may be of several kinds, pydantic
        reports a fault for each: one that lies deeper is of the kind that was meant, faults at one place are one.
        """
        inside = ("missing", "unknown_key")  # faults of keys lie one step deeper than the mapping they are told at
        ways = [self._known(tuple(e["loc"])) + (("key",) if e["type"] in inside else ()) for e in errors]
        found: dict[tuple[Loc, object], tuple[ErrorDetails, list[str]]] = {}
        for error, way in zip(errors, ways):
            words = _NEEDED.get(error["type"], "")
            # A list one of whose entries is at fault is also too short for pydantic, which has taken the entry out.
            if (words or error["type"] == "too_short") and any(
                len(other) > len(way) and other[: len(way)] == way for other in ways
            ):
                continue
            _, needed = found.setdefault((way, "" if words else len(found)), (error, []))
            if words not in needed:
                needed.append(words)
        return [(error, " or ".join(needed)) for error, needed in found.values()]

    def _described(self, error: ErrorDetails, needed: str) -> InputError:
        loc: Loc = tuple(error["loc"])
        kind, context = error["type"], error.get("ctx", {})
        if kind == "unknown_key":
            key, close = str(context["key"]), str(context["close"])
            return self.error(
                (*self._known(loc), key),
                f"unknown key {key!r}" + (f": did you mean {close!r}?" if close else ""),
                allowed=str(context["known"]),
                key=True,
            )
        if kind == "missing":
            where = self._known(loc[:-1])
            return self.error(where, f"missing key {str(loc[-1])!r}{_inside(where)}", advice="add it")
        name = next((str(part) for part in reversed(self._known(loc)) if isinstance(part, str)), "")
        given = error["input"]
        shown = _as_written(given)
        if "url" not in error:  # our own checks say what they must of the value, which may hold a password
            shown = ""
        if len(shown) > 80:
            shown = f"{shown[:79]}…"
        meant = ""
        if needed:
            words = f"must be {needed}"
        elif kind == "string_pattern_mismatch":
            words = "has characters that are not allowed here"
        elif kind == "literal_error":
            words = "is not one of the words allowed here"
            near = nearest(given, _QUOTED.findall(str(context["expected"]))) if isinstance(given, str) else None
            meant = f": did you mean {near!r}?" if near else ""
        elif kind in _BOUNDS:
            words = _BOUNDS[kind].format(**{name: _plain(bound) for name, bound in context.items()})
        elif kind in _LENGTHS:
            words = _too_many_or_few(kind, context)
        else:
            message = error["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
            words = message[:1].lower() + message[1:]
        what = f"{name}: {words}" if name else words
        advice = None
        if isinstance(given, str) and needed in ("a number", "a whole number"):
            advice = _number_advice(given)
        if needed == "text" and isinstance(given, (bool, int, float)):
            advice = f'put it in quotation marks, as it should read: "{str(given).lower()}"'
        allowed = str(context.get("expected") or context.get("pattern") or "") or None
        return self.error(
            self._known(loc), f"{what} (here: {shown}){meant}" if shown else what, allowed=allowed, advice=advice
        )

    def _known(self, loc: Loc) -> Loc:
        """`loc` without the parts pydantic puts in for union members, as far as the document goes."""
        found: Loc = ()
        for part in loc:
            if (*found, part) in self.marks:
                found = (*found, part)
        return found


def _as_written(given: object) -> str:
    """A value as a file would have it; "" for a list or a mapping."""
    if isinstance(given, bool):
        return "true" if given else "false"
    return repr(given) if isinstance(given, (str, int, float)) else "nothing" if given is None else ""


def _number_advice(text: str) -> str | None:
    """How to write a number that is not read as one, or that is none."""
    if _NO_NUMBER.fullmatch(text):
        return "write digits: infinity and not-a-number are not allowed here"
    if _INTEGER.fullmatch(text) and len(text) > _LONGEST_INTEGER:
        return f"write a number of at most {_LONGEST_INTEGER} digits, without quotation marks"
    if not _LOOSE.fullmatch(text) or not math.isfinite(float(text)):
        return None
    if _INTEGER.fullmatch(text) or _FLOAT.fullmatch(text):
        return f"write it without quotation marks: {text}"
    return f"write {_plain(float(text))}"


def _plain(bound: object) -> object:
    """A bound as the file would have it: 1 and not 1.0."""
    return int(bound) if isinstance(bound, float) and bound.is_integer() else bound


def _too_many_or_few(kind: str, context: Mapping[str, Any]) -> str:
    words, name, unit = _LENGTHS[kind]
    if context[name] == 1 and kind == "string_too_short":
        return "must not be empty"
    found = context.get("actual_length")
    stands = f", and has {found}" if isinstance(found, int) else ""
    verb = "needs" if words == "at least" else "takes"
    return f"{verb} {words} {quantity(context[name], unit)}{stands}"


def _inside(loc: Loc) -> str:
    return f" in {'.'.join(str(part) for part in loc)}" if loc else ""


def read_document(path: str | PathLike[str]) -> Document:
    """Read and parse the YAML file at `path`. Raises InputError for anything that is wrong with it."""
    return parse_document(read_text(path, "YAML text"), Place.of(path).path)


def parse_document(text: str, path: str) -> Document:
    """Parse YAML text; `path` names it in messages. Raises InputError."""
    reader, loader = _Reader(path), None
    try:
        node = _quickly_composed(text, path) if len(text) > _LONG else None
        if node is None:
            loader = yaml.SafeLoader(text)
            while loader.check_event():
                reader.check(loader.get_event())  # type: ignore[no-untyped-call]  # PyYAML's stubs leave it out
            node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        place = Place(path, mark.line + 1, mark.column + 1) if mark else Place(path)
        context = f" ({fault.context})" if fault.context else ""
        raise InputError(f"not valid YAML: {fault.problem}{context}", place=place) from None
    except yaml.reader.ReaderError as fault:
        what = f"character U+{ord(text[fault.position]):04X} is not allowed in YAML"
        raise InputError(what, place=place_in(text, path, fault.position)) from None
    except (ValueError, OverflowError):  # PyYAML hands \UXXXXXXXX to chr() unasked
        place = reader.place(loader.get_mark() if loader else None)
        raise InputError(
            "an escape that is not a character", place=place, allowed="\\U00000000 to \\U0010FFFF"
        ) from None
    if node is None:
        raise InputError("the file is empty", place=Place(path, 1, 1))
    value = reader.value(node, ())
    return Document(path, value, reader.marks, reader.key_marks, text)


def _quickly_composed(text: str, path: str) -> yaml.Node | None:
    """The node of a long text by libyaml, which is ten times as fast; None where it is not there, or finds a fault: the
    words and the place of a fault are PyYAML's own."""
    if not yaml.__with_libyaml__:
        return None
    reader, loader = _Reader(path), yaml.CSafeLoader(text)
    try:
        while (event := loader.get_event()) is not None:
            reader.check(event)
        node: yaml.Node | None = yaml.CSafeLoader(text).get_single_node()
    except (yaml.YAMLError, InputError, ValueError, OverflowError):
        return None
    return node


class _Mark(Protocol):
    line: int
    column: int


class _Reader:
    """Turns composed nodes into values, keeping the mark of each."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.started = False
        self.depth = 0
        self.marks: dict[Loc, tuple[int, int]] = {}
        self.key_marks: dict[Loc, tuple[int, int]] = {}

    def place(self, mark: _Mark | None) -> Place:
        return Place(self.path, mark.line + 1, mark.column + 1) if mark else Place(self.path)

    def refused(self, mark: _Mark | None, what: str, advice: str) -> InputError:
        return InputError(f"{what} is not allowed", place=self.place(mark), advice=advice)

    def check(self, event: yaml.Event) -> None:
        """Refuse what must not even be composed: aliases that expand, tags, depth that takes the stack."""
        if type(event) is yaml.ScalarEvent and event.anchor is None and event.tag is None:
            return  # nearly all of them
        mark = event.start_mark
        if isinstance(event, yaml.AliasEvent):
            raise self.refused(mark, f"alias *{event.anchor}", "write the value out")
        if isinstance(event, yaml.DocumentStartEvent):
            if self.started:
                raise self.refused(mark, "a second document", "keep one document per file")
            self.started = True
        if isinstance(event, yaml.CollectionEndEvent):
            self.depth -= 1
        if not isinstance(event, yaml.NodeEvent):
            return
        if event.anchor is not None:
            raise self.refused(mark, f"anchor &{event.anchor}", "write the value out where it is needed")
        tag = getattr(event, "tag", None)
        if tag is not None:
            raise self.refused(mark, f"tag {tag}", "remove the tag")
        if isinstance(event, yaml.CollectionStartEvent):
            self.depth += 1
            if self.depth > _DEEPEST:
                raise InputError(f"nested deeper than {_DEEPEST} levels", place=self.place(mark))

    def value(self, node: yaml.Node, loc: Loc) -> object:
        mark = node.start_mark
        self.marks[loc] = (mark.line + 1, mark.column + 1)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, loc)
        if isinstance(node, yaml.SequenceNode):
            return tuple(self.value(item, (*loc, i)) for i, item in enumerate(node.value))
        assert isinstance(node, yaml.ScalarNode)
        self._whole(node)
        return _scalar(node)

    def _whole(self, node: yaml.ScalarNode) -> None:
        if _SURROGATE.search(str(node.value)):
            what, advice = "half of a character (\\uD800 to \\uDFFF)", "write the character itself, or \\U and 8 digits"
            raise self.refused(node.start_mark, what, advice)

    def _mapping(self, node: yaml.MappingNode, loc: Loc) -> dict[str, object]:
        found: dict[str, object] = {}
        for key_node, value_node in node.value:
            mark = key_node.start_mark
            if not isinstance(key_node, yaml.ScalarNode):
                raise self.refused(mark, "a key that is a list or mapping", "use a word as the key")
            self._whole(key_node)
            key = str(key_node.value)
            if key == "<<" and not key_node.style:
                raise self.refused(mark, "the merge key <<", "write the values out")
            if key in found:
                line, column = self.key_marks[(*loc, key)]
                raise InputError(
                    f"duplicate key {key!r}: already defined at line {line}, column {column}",
                    place=Place(self.path, mark.line + 1, mark.column + 1),
                    advice="keep one of the two",
                )
            self.key_marks[(*loc, key)] = (mark.line + 1, mark.column + 1)
            found[key] = self.value(value_node, (*loc, key))
        return found


def _scalar(node: yaml.ScalarNode) -> object:
    text = str(node.value)
    if node.style:  # quoted or block text is text; libyaml calls the style of plain text ""
        return text
    if text in _WORDS:
        return _WORDS[text]
    if len(text) <= _LONGEST_INTEGER and _INTEGER.fullmatch(text):
        return int(text)
    if len(text) <= 30 and _FLOAT.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    return text
