"""A YAML file read strictly: every value knows its line and column, and nothing is guessed.

YAML 1.1 turns `no` into false, `12:30` into 750 and `2023-09-02` into a date. Here only `true`, `false`, `null`,
plain decimal integers and decimal floats are anything but text. Refused, with file:line:column: duplicate keys,
anchors and aliases (a short file can expand to gigabytes), tags, several documents in one file, and bytes that
are not UTF-8.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from topics.errors import InputError, Place

__all__ = ["Document", "Loc", "StrictModel", "parse_document", "read_document"]

Loc = tuple[str | int, ...]
"""The way to a value from the top of a document: ("topics", 3, "id")."""

_MODEL = TypeVar("_MODEL", bound=BaseModel)
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORDS: Mapping[str, object] = {"true": True, "false": False, "null": None, "~": None, "": None}
_LARGEST = 16 * 1024 * 1024
_DEEPEST = 60


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
                close = difflib.get_close_matches(str(key), known, n=1)
                raise PydanticCustomError(
                    "unknown_key",
                    "unknown key {key}",
                    {"key": key, "known": ", ".join(known), "close": close[0] if close else ""},
                )
        return value


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed YAML file. value: dicts (text keys, in file order), tuples, text, numbers, booleans, None."""

    path: str
    value: object
    marks: Mapping[Loc, tuple[int, int]]
    key_marks: Mapping[Loc, tuple[int, int]]

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

    def validated(self, model: type[_MODEL]) -> _MODEL:
        """The document as `model`. Raises InputError for the first fault in file order."""
        try:
            return model.model_validate(self.value)
        except ValidationError as fault:
            details = [self._described(error) for error in fault.errors(include_url=False)]
            raise min(details, key=lambda e: (e.place.line, e.place.column) if e.place else (0, 0)) from None

    def _described(self, error: ErrorDetails) -> InputError:
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
        message = error["msg"][:1].lower() + error["msg"][1:]
        given = error["input"]
        shown = f" (here: {given!r})" if isinstance(given, (str, int, float, bool)) or given is None else ""
        if len(shown) > 90:
            shown = shown[:86] + "…')"
        return self.error(self._known(loc), f"{name}: {message}{shown}" if name else f"{message}{shown}")

    def _known(self, loc: Loc) -> Loc:
        """`loc` without the parts pydantic puts in for union members, as far as the document goes."""
        found: Loc = ()
        for part in loc:
            if (*found, part) in self.marks:
                found = (*found, part)
        return found


def _inside(loc: Loc) -> str:
    return f" in {'.'.join(str(part) for part in loc)}" if loc else ""


def read_document(path: str | PathLike[str]) -> Document:
    """Read and parse the YAML file at `path`. Raises InputError for anything that is wrong with it."""
    place = Place.of(path)
    try:
        if Path(path).stat().st_size > _LARGEST:
            raise InputError(f"larger than {_LARGEST // 2**20} MiB: not a file of ours", place=place)
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise InputError("no such file", place=place, advice="check the path; relative to where?") from None
    except IsADirectoryError:
        raise InputError("this is a folder, not a file", place=place) from None
    except OSError as fault:
        raise InputError(f"cannot be read: {fault.strerror}", place=place) from None
    return parse_document(_decoded(data, place.path), place.path)


def _decoded(data: bytes, path: str) -> str:
    if b"\0" in data[:4096]:
        raise InputError(
            "a binary file, or text in UTF-16",
            place=Place(path, 1, 1),
            allowed="YAML text in UTF-8",
            advice="save it as UTF-8 text",
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        before = data[: fault.start]
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        raise InputError(
            f"byte 0x{data[fault.start]:02x} is not UTF-8",
            place=Place(path, before.count(b"\n") + 1, column),
            allowed="text in UTF-8",
            advice="save the file as UTF-8",
        ) from None


def parse_document(text: str, path: str) -> Document:
    """Parse YAML text; `path` names it in messages. Raises InputError."""
    reader = _Reader(path)
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                raise reader.refused(event.start_mark, f"alias *{event.anchor}", "write the value out")
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        place = Place(path, mark.line + 1, mark.column + 1) if mark else Place(path)
        context = f" ({fault.context})" if fault.context else ""
        raise InputError(f"not valid YAML: {fault.problem}{context}", place=place) from None
    except yaml.reader.ReaderError as fault:
        line = text.count("\n", 0, fault.position) + 1
        column = fault.position - text.rfind("\n", 0, fault.position)
        raise InputError(
            f"character U+{ord(text[fault.position]):04X} is not allowed in YAML", place=Place(path, line, column)
        ) from None
    except RecursionError:
        raise InputError(f"nested deeper than {_DEEPEST} levels", place=Place(path)) from None
    if node is None:
        raise InputError("the file is empty", place=Place(path, 1, 1))
    value = reader.value(node, ())
    return Document(path, value, reader.marks, reader.key_marks)


class _Reader:
    """Turns composed nodes into values, keeping the mark of each."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.marks: dict[Loc, tuple[int, int]] = {}
        self.key_marks: dict[Loc, tuple[int, int]] = {}

    def refused(self, mark: yaml.Mark, what: str, advice: str) -> InputError:
        return InputError(f"{what} is not allowed", place=Place(self.path, mark.line + 1, mark.column + 1), advice=advice)

    def value(self, node: yaml.Node, loc: Loc) -> object:
        mark = node.start_mark
        self.marks[loc] = (mark.line + 1, mark.column + 1)
        if len(loc) > _DEEPEST:
            raise InputError(f"nested deeper than {_DEEPEST} levels", place=Place(self.path, *self.marks[loc]))
        if node.tag.startswith("!") or "python" in node.tag:
            raise self.refused(mark, f"tag {node.tag}", "remove the tag")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, loc)
        if isinstance(node, yaml.SequenceNode):
            return tuple(self.value(item, (*loc, i)) for i, item in enumerate(node.value))
        assert isinstance(node, yaml.ScalarNode)
        return _scalar(node)

    def _mapping(self, node: yaml.MappingNode, loc: Loc) -> dict[str, object]:
        found: dict[str, object] = {}
        for key_node, value_node in node.value:
            mark = key_node.start_mark
            if not isinstance(key_node, yaml.ScalarNode):
                raise self.refused(mark, "a key that is a list or mapping", "use a word as the key")
            key = str(key_node.value)
            if key == "<<" and key_node.style is None:
                raise self.refused(mark, "the merge key <<", "write the values out")
            if key in found:
                line, column = self.key_marks[(*loc, key)]
                raise InputError(
                    f"duplicate key {key!r}: it stands at line {line}, column {column} already",
                    place=Place(self.path, mark.line + 1, mark.column + 1),
                    advice="keep one of the two",
                )
            self.key_marks[(*loc, key)] = (mark.line + 1, mark.column + 1)
            found[key] = self.value(value_node, (*loc, key))
        return found


def _scalar(node: yaml.ScalarNode) -> object:
    text = str(node.value)
    if node.style is not None:  # quoted or block text is text
        return text
    if text in _WORDS:
        return _WORDS[text]
    if len(text) <= 18 and _INTEGER.fullmatch(text):
        return int(text)
    if len(text) <= 30 and _FLOAT.fullmatch(text):
        return float(text)
    return text
