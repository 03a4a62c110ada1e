"""Strict reading of YAML text: every value has its line and column, and nothing is guessed.

The reader rejects duplicate keys, anchors and aliases (a short file can expand to gigabytes), tags, several documents
in one file, lone surrogates, and nesting that exhausts the stack. It also rejects a # within a text
(`topics.cut_text`) and invisible characters (`topics.unseen_characters`), which would silently change a text.
"""

import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Protocol

import yaml

from topics.cut_text import Surroundings, check_comments, refuse_emptied_list
from topics.errors import InputError, Place
from topics.text_file import place_in
from topics.unseen_characters import character_name, find_invisible, refuse_lost_breaks, surrounding_character

_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(0|[1-9][0-9]*)(\.[0-9]+([eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)")
_LOOSE = re.compile(r"[-+]?(\.[0-9]+|[0-9]+\.|[0-9]+\.?[0-9]*)([eE][-+]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[-+]?\.?(nan|inf|infinity)", re.IGNORECASE)
_WORDS: Mapping[str, object] = {"true": True, "false": False, "null": None, "~": None, "": None}
_LONGEST_INTEGER = 18  # characters: fewer than 64 bits can hold
_LONGEST_FLOAT = 30  # characters


def plain_scalar(text: str) -> object:
    """Return the value of an unquoted word: True, False, None, an int, a float, or the word itself."""
    if text in _WORDS:
        return _WORDS[text]
    if len(text) <= _LONGEST_INTEGER and _INTEGER.fullmatch(text):
        return int(text)
    if len(text) <= _LONGEST_FLOAT and _FLOAT.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    return text


def number_advice(text: str) -> str | None:
    """Return the correct form of a text that was probably meant as a number but is not read as a number, or None."""
    if _NO_NUMBER.fullmatch(text):
        return "write digits: infinity and not-a-number are not allowed here"
    if _INTEGER.fullmatch(text) and len(text) > _LONGEST_INTEGER:
        return f"write a number of at most {_LONGEST_INTEGER} digits, without quotation marks"
    if not _LOOSE.fullmatch(text) or not math.isfinite(float(text)):
        return None
    if _INTEGER.fullmatch(text) or _FLOAT.fullmatch(text):
        return f"write it without quotation marks: {text}"
    return f"write {plain_number(float(text))}"


def plain_number(bound: object) -> object:
    """Return a number as written in a file: 1, not 1.0."""
    return int(bound) if isinstance(bound, float) and bound.is_integer() else bound


# The path to a value from the top of a document: ("topics", 3, "id").
Loc = tuple[str | int, ...]

# The line and the column of each value, both from 1.
Marks = Mapping[Loc, tuple[int, int]]

_LARGE = 100_000  # characters
_BEGINNING = re.compile(r"(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|[\r\n]))+")  # comments above everything
_SURROGATE = re.compile("[\ud800-\udfff]")  # JSON has them in pairs; YAML and UTF-8 have none
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_DEEPEST = 60  # Python's own recursion ends at 1,000 frames, and each level takes several


@dataclass(frozen=True, slots=True)
class YamlValues:
    """The values of a text. `value` consists of dicts (string keys, in file order), tuples, strings, numbers,
    booleans and None. `marks` and `key_marks` have the place of each value and each key."""

    value: object
    marks: Marks
    key_marks: Marks


def read_yaml(text: str, path: str) -> YamlValues:
    """Return the values of YAML text. Error messages refer to the text as `path`. Raises InputError."""
    if len(text) < _LARGE or (found := _read_plain(text)) is None:
        return _read_with_places(text, path)
    refuse_lost_breaks(text, path, found[0])
    again = cache(partial(_read_with_places, text, path))
    return YamlValues(found[0], LaterMarks(lambda: again().marks), LaterMarks(lambda: again().key_marks))


class LaterMarks(Mapping[Loc, tuple[int, int]]):
    """Places that are only looked for when one is asked for, as errors do. The places of a large file take more memory
    than its values."""

    def __init__(self, find: Callable[[], Marks]) -> None:
        self._find = find

    def __getitem__(self, loc: Loc) -> tuple[int, int]:
        return self._find()[loc]

    def __iter__(self) -> Iterator[Loc]:
        return iter(self._find())

    def __len__(self) -> int:
        return len(self._find())


def _read_plain(text: str) -> tuple[object] | None:
    """Return the value of a text, in half the time that its places take, or None if the text may have faults, or has
    comments beside its values: then it is read with its places."""
    begin = _BEGINNING.match(text)
    if not yaml.__with_libyaml__ or "#" in text[begin.end() if begin else 0 :]:
        return None
    try:
        return (_PlainReader(text).read_document(),)
    except (_UnusualError, yaml.YAMLError, ValueError, OverflowError):
        return None


class _UnusualError(Exception):
    """Raised for whatever is not an ordinary value."""


class _PlainReader:
    def __init__(self, text: str) -> None:
        self._next: Callable[[], Any] = yaml.CBaseLoader(text).get_event

    def read_document(self) -> object:
        begins = self._next(), self._next()
        value = self._value(self._next(), 1)
        kinds = tuple(map(type, (*begins, self._next(), self._next())))
        if kinds != (yaml.StreamStartEvent, yaml.DocumentStartEvent, yaml.DocumentEndEvent, yaml.StreamEndEvent):
            raise _UnusualError
        return value

    def _value(self, event: Any, depth: int) -> object:
        kind = type(event)
        if kind is yaml.ScalarEvent:
            return self._word(event) if event.style else plain_scalar(self._word(event))
        if kind not in (yaml.SequenceStartEvent, yaml.MappingStartEvent) or depth > _DEEPEST:
            raise _UnusualError
        if event.anchor is not None or event.tag is not None:
            raise _UnusualError
        if kind is yaml.SequenceStartEvent:
            items = []
            while type(event := self._next()) is not yaml.SequenceEndEvent:
                items.append(self._value(event, depth + 1))
            return tuple(items)
        found: dict[str, object] = {}
        while type(event := self._next()) is not yaml.MappingEndEvent:
            key = sys.intern(self._word(event))  # the keys of all topics are alike
            if key in found or (not event.style and (key == "<<" or not key.isascii())):
                raise _UnusualError
            found[key] = self._value(self._next(), depth + 1)
        return found

    def _word(self, event: Any) -> str:
        if type(event) is not yaml.ScalarEvent or event.anchor is not None or event.tag is not None:
            raise _UnusualError
        text = str(event.value)
        if not text.isascii() and _SURROGATE.search(text):
            raise _UnusualError
        return text


def _read_with_places(text: str, path: str) -> YamlValues:
    reader, loader = _Reader(path, text), None
    try:
        node = _compose_fast(text, path)
        if node is None:
            loader = yaml.SafeLoader(text)
            while loader.check_event():
                reader.check(loader.get_event())  # type: ignore[no-untyped-call]  # PyYAML's stubs leave it out
            node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        place = Place(path, mark.line + 1, mark.column + 1) if mark else Place(path)
        context = f" ({fault.context})" if fault.context else ""
        if mark and (at := find_invisible(text, mark.line)) >= 0:
            what = f"not valid YAML: {character_name(text[at])} in the place of an ordinary blank or line end"
            advice = "write an ordinary blank or line end, or put the text in quotation marks"
            raise InputError(what, place=place_in(text, path, at), advice=advice) from None
        said = f"{fault.problem}"
        if r"'\t'" in said:
            advice = "indent with spaces: YAML does not allow tabs there"
        elif "unknown escape character" in said:
            advice = r"put the text in single quotation marks, in which a backslash is a backslash, or write \\ for one"
        elif "cannot start any token" in said or "mapping values are not allowed" in said:
            advice = "put a text with such characters in quotation marks"
        else:
            advice = "look for an unclosed bracket or quotation mark, or inconsistent indentation, here or just above"
        raise InputError(f"not valid YAML: {said}{context}", place=place, advice=advice) from None
    except yaml.reader.ReaderError as fault:
        what = f"character U+{ord(text[fault.position]):04X} is not allowed in YAML"
        raise InputError(what, place=place_in(text, path, fault.position)) from None
    except (ValueError, OverflowError):  # PyYAML passes \UXXXXXXXX to chr() unchecked
        place = reader.place(loader.get_mark() if loader else None)
        raise InputError(
            "the text contains an escape that is not a character", place=place, allowed="\\U00000000 to \\U0010FFFF"
        ) from None
    if node is None:
        raise InputError("the file is empty", place=Place(path, 1, 1))
    value = reader.value(node, ())
    refuse_lost_breaks(text, path, value)
    return YamlValues(value, reader.marks, reader.key_marks)


def _compose_fast(text: str, path: str) -> yaml.Node | None:
    """Compose a text with libyaml, which is ten times as fast as PyYAML. Returns None if libyaml is missing or finds
    an error; PyYAML then reports the error with its place."""
    if not yaml.__with_libyaml__:
        return None
    reader, loader = _Reader(path, text), yaml.CSafeLoader(text)
    try:
        while (event := loader.get_event()) is not None:
            reader.check(event)
        # Without the resolvers of a SafeLoader: `plain_scalar` decides the meaning of a plain word, not YAML's tags.
        node: yaml.Node | None = yaml.CBaseLoader(text).get_single_node()
    except (yaml.YAMLError, InputError, ValueError, OverflowError):
        return None
    return node


class _Mark(Protocol):
    line: int
    column: int


class _Reader:
    def __init__(self, path: str, source: str) -> None:
        self.path, self.source = path, source
        self.comments = "#" in source
        self.read_to = 0
        self.started = False
        self.depth = 0
        self.marks: dict[Loc, tuple[int, int]] = {}
        self.key_marks: dict[Loc, tuple[int, int]] = {}

    def place(self, mark: _Mark | None) -> Place:
        return Place(self.path, mark.line + 1, mark.column + 1) if mark else Place(self.path)

    def error(self, mark: _Mark | None, what: str, advice: str) -> InputError:
        return InputError(f"{what} is not allowed", place=self.place(mark), advice=advice)

    def check(self, event: yaml.Event) -> None:
        """Reject events that must not even be composed: expanding aliases, tags, and nesting beyond the stack."""
        if type(event) is yaml.ScalarEvent and event.anchor is None and event.tag is None:
            return  # nearly all of them
        mark = event.start_mark
        if isinstance(event, yaml.AliasEvent):
            raise self.error(mark, f"alias *{event.anchor}", "write the value out")
        if isinstance(event, yaml.DocumentStartEvent):
            if self.started:
                raise self.error(mark, "a second document", "keep one document per file")
            self.started = True
        if isinstance(event, yaml.CollectionEndEvent):
            self.depth -= 1
        if not isinstance(event, yaml.NodeEvent):
            return
        if event.anchor is not None:
            raise self.error(mark, f"anchor &{event.anchor}", "write the value out where it is needed")
        tag = getattr(event, "tag", None)
        if tag is not None:
            raise self.error(mark, f"tag {tag}", "remove the tag")
        if isinstance(event, yaml.CollectionStartEvent):
            self.depth += 1
            if self.depth > _DEEPEST:
                raise InputError(f"the file is nested deeper than {_DEEPEST} levels", place=self.place(mark))

    def value(self, node: yaml.Node, loc: Loc, column: int = -1, brackets: str = "") -> object:
        """Return the value of a node. `column` is the column of its key or dash, from 0. `brackets` is `[` or `{` if
        the node is inside such brackets, or ""."""
        mark = node.start_mark
        self.marks[loc] = (mark.line + 1, mark.column + 1)
        if isinstance(node, yaml.MappingNode):
            return self._read_mapping(node, loc)
        if isinstance(node, yaml.SequenceNode):
            inside = "[" if node.flow_style else ""
            if inside and self.comments and not node.value:
                refuse_emptied_list(self.source, self.path, mark, node.end_mark)
            return tuple(self.value(item, (*loc, i), mark.column, inside) for i, item in enumerate(node.value))
        assert isinstance(node, yaml.ScalarNode)
        text = self._whole(node)
        style = node.style or ""  # quoted and block text is text; libyaml's plain style is ""
        value = text if style else plain_scalar(text)
        if self.comments:
            around = Surroundings(self.source, self.read_to, mark, node.end_mark, style, column, brackets)
            self.read_to = node.end_mark.index
            return check_comments(value, self.path, around)
        return value

    def _whole(self, node: yaml.ScalarNode) -> str:
        text = str(node.value)
        if not _SURROGATE.search(text):
            return text
        # JSON writes characters above U+FFFF as two halves, and JSON is YAML.
        text = _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
        if _SURROGATE.search(text):
            what, advice = "half of a character (\\uD800 to \\uDFFF)", "write the character itself, or \\U and 8 digits"
            raise self.error(node.start_mark, what, advice)
        return text

    def _read_mapping(self, node: yaml.MappingNode, loc: Loc) -> dict[str, object]:
        found: dict[str, object] = {}
        inside = "{" if node.flow_style else ""
        for key_node, value_node in node.value:
            mark = key_node.start_mark
            if not isinstance(key_node, yaml.ScalarNode):
                raise self.error(mark, "a key that is a list or mapping", "use a word as the key")
            key = self._whole(key_node)
            if not key_node.style and (unseen := surrounding_character(key)):
                raise self.error(mark, f"{character_name(unseen)} around a key", "write an ordinary blank in its place")
            if key == "<<" and not key_node.style:
                raise self.error(mark, "the merge key <<", "write the values out")
            if key in found:
                line, column = self.key_marks[(*loc, key)]
                raise InputError(
                    f"duplicate key {key!r}: already defined at line {line}, column {column}",
                    place=Place(self.path, mark.line + 1, mark.column + 1),
                    advice="keep one of the two",
                )
            self.key_marks[(*loc, key)] = (mark.line + 1, mark.column + 1)
            self.read_to = key_node.end_mark.index
            found[key] = self.value(value_node, (*loc, key), mark.column, inside)
        return found
