"""Harvest's YAML files, validated against their models. The first fault is reported in one sentence with its place.

Before that, `topics.yaml_values` rejects faults in any YAML, and defines numbers and truth values.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from typing import Any, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from topics.counting import pluralize
from topics.cut_text import comment_after
from topics.errors import InputError, Place, nearest_name
from topics.json_file import NotJsonError, read_json_value
from topics.json_value import JsonValue
from topics.names import WRONG_CHARACTERS, name_fault, name_words
from topics.text_file import read_text
from topics.yaml_values import Loc, Marks, number_advice, plain_number, plain_scalar, read_yaml

# The kind of the error: pydantic's own name for it.
MISWRITTEN = "string_pattern_mismatch"


def form_validator(expression: str, words: str) -> AfterValidator:
    """Return a validator for strings that `expression` matches completely. `words` describes these strings in
    messages."""
    compiled = re.compile(expression)

    def check(text: str) -> str:
        if not compiled.fullmatch(text):
            raise PydanticCustomError(MISWRITTEN, "must be {pattern}", {"pattern": words})
        return text

    return AfterValidator(check)


def name_validator(signs: str, *, first: str = "letter or digit") -> AfterValidator:
    """Return a validator for names (see `topics.names`) with these `signs` besides letters and digits."""
    words = name_words(signs, first=first)

    def check(text: str) -> str:
        if fault := name_fault(text, signs, first=first):
            if fault == WRONG_CHARACTERS:
                raise PydanticCustomError(MISWRITTEN, "must be {pattern}", {"pattern": words})
            raise validation_error(f"{fault} (here: {text!r})", allowed=words)
        return text

    return AfterValidator(check)


_MODEL = TypeVar("_MODEL", bound=BaseModel)
# The kinds of our files by the name of their format, for messages.
_FILES: Mapping[str, str] = {
    "harvest-acts": "a file of dialogue acts",
    "harvest-audit": "an audit",
    "harvest-baseline": "a baseline",
    "harvest-endpoints": "a file of endpoints",
    "harvest-history": "a history of looks",
    "harvest-judge": "a judge",
    "harvest-pairs": "the key of a sheet of pairs",
    "harvest-protocol": "a protocol",
    "harvest-run": "the header of a run",
    "harvest-schema": "a schema of criteria",
    "harvest-scores": "a file of scores",
    "harvest-site": "a site file",
    "harvest-sources": "a file of sources",
    "harvest-topics": "a topic set",
    "harvest-tree": "a tree",
    "harvest-user": "a fitted user",
    "harvest-wordings": "a file of wordings",
}
_QUOTED = re.compile("'([^']*)'")
_NEEDED: Mapping[str, str] = {  # pydantic uses terms of Python, but the reader of a message sees a file
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
_LENGTHS: Mapping[str, tuple[str, str, str]] = {  # by kind: the words, the bound, the unit
    "string_too_long": ("at most", "max_length", "character"),
    "string_too_short": ("at least", "min_length", "character"),
    "too_long": ("at most", "max_length", "entry"),
    "too_short": ("at least", "min_length", "entry"),
}


def validation_error(what: str, *, allowed: str = "", advice: str = "", at: Loc = ()) -> PydanticCustomError:
    """Return a validator's error whose message is shown unchanged, at its place, without the value, which may be
    secret. `at` is the path from the validated value to the faulty part."""
    return PydanticCustomError("refused", "{what}", {"what": what, "expected": allowed, "advice": advice, "at": at})


class StrictModel(BaseModel):
    """A mapping in one of Harvest's files. Unknown keys are rejected by name, and no type is converted silently.
    Sequences are parsed as tuples, so fields are declared `tuple[...]`."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, value: Any) -> Any:
        if not isinstance(value, dict) or value.keys() <= cls.model_fields.keys():
            return value
        known = [field.alias or name for name, field in cls.model_fields.items()]
        for key in value:
            if key not in known and key not in cls.model_fields:
                meant = nearest_name(str(key), known)
                raise PydanticCustomError(
                    "unknown_key",
                    "unknown key {key}",
                    {"key": key, "known": ", ".join(known), "close": meant or ""},
                )
        return value


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed YAML file. `value` consists of dicts (string keys, in file order), tuples, strings, numbers, booleans
    and None. `source` is the parsed text, or "". It locates faults inside a value, such as a word in a template."""

    path: str
    value: object
    marks: Marks
    key_marks: Marks
    source: str = ""

    def place(self, loc: Loc = (), *, key: bool = False) -> Place:
        """Return the place of the value at `loc`, or of its key. If that place is unknown, return the place of the
        nearest enclosing value."""
        marks = self.key_marks if key else self.marks
        while loc and loc not in marks:
            loc, marks = loc[:-1], self.marks
        return Place(self.path, *marks.get(loc, (1, 1)))

    def error(
        self, loc: Loc, what: str, *, allowed: str | None = None, advice: str | None = None, key: bool = False
    ) -> InputError:
        """Return an error with the place of the value (or the key) at `loc`."""
        return InputError(what, place=self.place(loc, key=key), allowed=allowed, advice=advice)

    @contextmanager
    def add_place(self, loc: Loc) -> Iterator[None]:
        """Add the place of `loc` to an InputError that the block raises without a place."""
        try:
            yield
        except InputError as fault:
            if fault.place is not None:
                raise
            raise self.error(loc, fault.what, allowed=fault.allowed, advice=fault.advice) from None

    def part(self, loc: Loc) -> "Document":
        """Return the value at `loc` as a document whose errors name the place in the whole file."""
        value, depth = self._value(loc), len(loc)
        inside = {way[depth:]: mark for way, mark in self.marks.items() if way[:depth] == loc}
        keys = {way[depth:]: mark for way, mark in self.key_marks.items() if way[:depth] == loc}
        return Document(self.path, value, inside, keys, self.source)

    def validate_as(self, model: type[_MODEL]) -> _MODEL:
        """Return the document as `model`. Raises InputError for the first fault in file order. An unknown key of a
        mapping is reported before further faults of the mapping, because a misspelt key often causes them."""
        try:
            return model.model_validate(self.value)
        except ValidationError as fault:
            if other := self._wrong_kind_error(model):
                raise other from None
            errors = self._intended_errors(fault.errors())
            details = []
            for error, words in errors:
                # The example of the top-level field that contains the value, if it declares one.
                field = model.model_fields.get(str(error["loc"][0])) if error["loc"] else None
                form = str(field.examples[0]) if field is not None and field.examples else None
                details.append(self._describe_error(error, words, form))
            raise min(details, key=lambda e: (e.place.line, e.place.column) if e.place else (0, 0)) from None

    def _wrong_kind_error(self, model: type[BaseModel]) -> InputError | None:
        wanted = model.model_fields.get("format")
        allowed = [one for one in get_args(wanted.annotation) if isinstance(one, str)] if wanted else []
        return self.other_format_error(*allowed)

    def other_format_error(self, *allowed: str) -> InputError | None:
        """Return an error if the file's `format` is a Harvest format that is not in `allowed`, otherwise None."""
        given = self.value.get("format") if isinstance(self.value, dict) else None
        if not isinstance(given, str):
            return None
        name, needed = given.partition("/")[0], {one.partition("/")[0] for one in allowed}
        if name not in _FILES or not needed or name in needed:
            return None
        here = " or ".join(_FILES.get(one, f"a file of the format {one}") for one in sorted(needed))
        return self.error(("format",), f"this is {_FILES[name]} ({given}), not {here} ({', '.join(allowed)})")

    def _intended_errors(self, errors: list[ErrorDetails]) -> list[tuple[ErrorDetails, str]]:
        """Return the errors worth reporting, each with the kind of value that is needed. If a value may have several
        kinds, pydantic reports an error for each kind. A deeper error belongs to the intended kind, and errors at one
        place are merged."""
        inside = ("missing", "unknown_key")  # errors of keys are reported one step above
        ways = [self._known_part(tuple(e["loc"])) + (("key",) if e["type"] in inside else ()) for e in errors]
        found: dict[tuple[Loc, object], tuple[ErrorDetails, list[str]]] = {}
        for error, way in zip(errors, ways):
            words = _NEEDED.get(error["type"], "")
            # pydantic removes a faulty entry from its list, and then also reports that the list is too short.
            if (words or error["type"] == "too_short") and any(
                len(other) > len(way) and other[: len(way)] == way for other in ways
            ):
                continue
            _, needed = found.setdefault((way, "" if words else len(found)), (error, []))
            if words not in needed:
                needed.append(words)
        return [(error, " or ".join(needed)) for error, needed in found.values()]

    def _describe_error(self, error: ErrorDetails, needed: str, form: str | None) -> InputError:
        """Convert an error of pydantic to an InputError. `form` shows how to write a value of the right kind."""
        kind, context = error["type"], error.get("ctx", {})
        loc: Loc = (*error["loc"], *context.get("at", ()))
        written = self._source_form(loc) if isinstance(error["input"], (bool, int, float)) else ""
        if kind == "unknown_key":
            key, close = str(context["key"]), str(context["close"])
            return self.error(
                (*self._known_part(loc), key),
                f"unknown key {key!r}" + (f": did you mean {close!r}?" if close else ""),
                allowed=str(context["known"]),
                key=True,
            )
        if kind == "missing":
            where = self._known_part(loc[:-1])
            inside = f" in {'.'.join(map(str, where))}" if where else ""
            return self.error(where, f"missing key {str(loc[-1])!r}{inside}", advice="add it")
        name = next((str(part) for part in reversed(self._known_part(loc)) if isinstance(part, str)), "")
        given = error["input"]
        shown = written or _show_input(given)
        if "url" not in error and kind != MISWRITTEN:  # the value may be a password
            shown = ""
        if len(shown) > 80:
            shown = f"{shown[:79]}…"
        meant = ""
        if needed:
            words = f"must be {needed}"
        elif kind == MISWRITTEN:
            words = "has characters that are not allowed here"
        elif kind == "literal_error":
            words = "is not one of the words allowed here"
            near = nearest_name(given, _QUOTED.findall(str(context["expected"]))) if isinstance(given, str) else None
            meant = f": did you mean {near!r}?" if near else ""
        elif kind in _BOUNDS:
            words = _BOUNDS[kind].format(**{name: plain_number(bound) for name, bound in context.items()})
        elif kind in _LENGTHS:
            words = _length_error(kind, context)
        else:
            message = error["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
            words = message[:1].lower() + message[1:]
        what = f"{name}: {words}" if name and not context.get("at") else words
        advice = str(context.get("advice") or "") or None
        if isinstance(given, str) and needed in ("a number", "a whole number"):
            advice = number_advice(given)
        if needed == "text" and isinstance(given, (bool, int, float)):
            advice = f'put it in quotation marks, as it should read: "{written or str(given).lower()}"'
        if given is None and needed == "text" and (comment := self._comment_at(loc)):
            advice = f"{comment!r} is read as a comment: put the text in quotation marks"
        allowed = str(context.get("expected") or context.get("pattern") or "") or (form if needed else None)
        return self.error(
            self._known_part(loc), f"{what} (here: {shown}){meant}" if shown else what, allowed=allowed, advice=advice
        )

    def _source_form(self, loc: Loc) -> str:
        """Return a number or truth value as written in the file (1.10 is not 1.1), or "" if unknown."""
        line, column = self.marks.get(self._known_part(loc), (0, 0))
        lines = _split_lines(self.source) if line else ()
        found = re.match(r"[^\s,\[\]{}#]+", lines[line - 1][column - 1 :]) if line <= len(lines) and line else None
        return found[0] if found and plain_scalar(found[0]) == self._value(self._known_part(loc)) else ""

    def _comment_at(self, loc: Loc) -> str:
        line, column = self.marks.get(self._known_part(loc), (0, 0))
        lines = _split_lines(self.source) if line else ()
        return comment_after(lines[line - 1], column) if 0 < line <= len(lines) else ""

    def _value(self, loc: Loc) -> object:
        value: Any = self.value
        for step in loc:
            value = value[step]
        return value

    def _known_part(self, loc: Loc) -> Loc:
        found: Loc = ()
        for part in loc:
            if (*found, part) in self.marks:
                found = (*found, part)
        return found


@lru_cache(maxsize=1)  # called for every fault of a file
def _split_lines(source: str) -> Sequence[str]:
    return re.split("\r\n|[\n\r]", source)


def _show_input(given: object) -> str:
    if isinstance(given, bool):
        return "true" if given else "false"
    return repr(given) if isinstance(given, (str, int, float)) else "nothing" if given is None else ""


def _length_error(kind: str, context: Mapping[str, Any]) -> str:
    words, name, unit = _LENGTHS[kind]
    if context[name] == 1 and kind == "string_too_short":
        return "must not be empty"
    found = context.get("actual_length")
    stands = f", and has {found}" if isinstance(found, int) else ""
    verb = "needs" if words == "at least" else "takes"
    return f"{verb} {words} {pluralize(context[name], unit)}{stands}"


def read_document(path: str | PathLike[str]) -> Document:
    """Read and parse the YAML file at `path`. Raises InputError for any fault."""
    return parse_document(read_text(path, "YAML text"), Place.of(path).path)


def read_json_document(path: str | PathLike[str], model: type[_MODEL], what: str, made_by: str) -> _MODEL:
    """Read a JSON file of Harvest as its model. `what` names the kind of file, and `made_by` the command that writes
    such files. Raises InputError, with its place, for any other file."""
    write = f"write one with `{made_by}`"
    try:
        value = read_json_value(path)
    except NotJsonError as fault:
        raise InputError(f"the file is not {what}: {fault.what}", place=fault.place, advice=write) from None
    if not value.has_key("format"):
        raise InputError(f"the file is not {what}", place=Place.of(path), advice=write)
    return validated_json(value, model)


def validated_json(value: JsonValue, model: type[_MODEL]) -> _MODEL:
    """Return a value of one of Harvest's JSON files as its model. Raises InputError, with its place, for any fault."""
    plain = _as_tuples(value.value)
    try:
        return model.model_validate(plain)
    except ValidationError:  # only now is it worth reading the text again to find places
        return Document(value.path, plain, *value.marks()).validate_as(model)


def _as_tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_tuples(one) if isinstance(one, (dict, list)) else one for key, one in value.items()}
    if isinstance(value, list):  # mostly of numbers, for which no call is made
        return tuple([_as_tuples(one) if isinstance(one, (dict, list)) else one for one in value])
    return value


def parse_document(text: str, path: str) -> Document:
    """Parse YAML text. Error messages refer to the text as `path`. Raises InputError."""
    read = read_yaml(text, path)
    return Document(path, read.value, read.marks, read.key_marks, text)
