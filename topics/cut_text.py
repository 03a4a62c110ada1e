"""Detection of text that YAML would cut off, because a # after a blank begins a comment even within a request.

    request: What became of order #4711?     YAML reads "What became of order"
    request: Is C # or F # the better one?   YAML reads "Is C"

This also happens at the beginning of a line, before a text, after the | of a block and between the texts of a list:

    request: What became of                  YAML reads "What became of"
      #4711 that I placed?

Intended comments behind a value are recognised by their form: two blanks before the # (as yamllint requires), or a
value of one word, and a blank after the #. A text that is sent to a system word for word must not be followed by a
comment, except behind quotation marks, with two blanks:

    request: "Where" #4711 is it               YAML reads "Where"

A comment on a separate line is accepted wherever no text could continue: above a key or an item, and indented no
deeper than that key or item.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Protocol

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from topics.errors import InputError, Place
from topics.shown_names import shorten
from topics.text_file import place_in

_BREAKS = "\r\n\x85\u2028\u2029"
_COMMENT = re.compile(f"#[^{_BREAKS}]*")
_BLANK = re.compile(f"[ \t{_BREAKS}]*")
_TOKEN = re.compile(rf"#[^{_BREAKS}]*|[^ \t{_BREAKS}]")
_HEADER = re.compile("[|>][-+0-9]*[ \t]+(?=#)")
# A blank after the #, or no word at all, as in a line of ###.
_CLEAR_COMMENT = re.compile(r"#+(?:[ \t]|\Z)|#\W*\Z")

# A key or an item that was commented out.
_LEFT_OUT = re.compile(r"#[ \t]*(?:[A-Za-z_]+:(?:[ \t]|\Z)|-[ \t])|#[\"']")

_COMMENT_ADVICE = "a comment goes on a separate line above the key or the item, with a blank after its #"
_ADVICE = {
    "": f"put the text in quotation marks; {_COMMENT_ADVICE}",
    '"': f"put all of the text inside the quotation marks; {_COMMENT_ADVICE}",
    "|": f"write all of the text below the first line, with the same indentation; {_COMMENT_ADVICE}",
}


class Mark(Protocol):
    @property
    def index(self) -> int: ...
    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...


class CommentedText(str):
    """A text and a comment that could belong to the text. `what` is the error message if the text is sent to a
    system. `behind` is True if the comment clearly follows the text as a comment."""

    what: str
    advice: str
    behind: bool


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The context of a text in its file. `before` is the position up to which the source was read before the text,
    `style` the YAML style of the text (`""` for plain text), and `column` the column of its key or dash, from 0.
    `brackets` is `[` or `{` if the text is inside such brackets, otherwise ""."""

    source: str
    before: int
    start: Mark
    end: Mark
    style: str
    column: int
    brackets: str


class _Comment(NamedTuple):
    """A comment, with its text from the # on. `blank` is the rest of the line before the comment, only blanks if the
    comment is `alone` on its line. `apart` is True if a comma separates the comment from the text before."""

    at: int
    text: str
    blank: str
    alone: bool
    apart: bool = False

    @property
    def is_behind_value(self) -> bool:
        return self.blank not in ("", " ") and _CLEAR_COMMENT.match(self.text) is not None

    @property
    def is_plausible(self) -> bool:
        return bool(_CLEAR_COMMENT.match(self.text) or _LEFT_OUT.match(self.text))


def check_comments(value: object, path: str, around: Surroundings) -> object:
    """Return the value, or a `CommentedText` if the value is a text and a comment near it could belong to the text.
    Raises InputError if the form of a comment behind the value is not that of an intended comment."""
    if not isinstance(value, str):
        comments = _comments_after(around)[0] if value is None else []
        comment = comments[0] if comments else None
        if comment is None or comment.alone or not comment.blank or _CLEAR_COMMENT.match(comment.text):
            return value
        raise InputError(
            f"{shorten(comment.text, 40)!r} is read as a comment, so the value is empty",
            place=Place(path, around.end.line + 1, around.end.column + 1 + len(comment.blank)),
            advice=_ADVICE[""],
        )
    cut = list(_cut_comments(around))
    if not cut:
        return value
    found = next((one for one in cut if one.alone or not one.is_behind_value), cut[0])
    style = '"' if around.style in ("'", '"') else "|" if around.style else ""
    what = f"{shorten(found.text, 40)!r} is read as a comment, so only {shorten(value, 40)!r} is left of the text"
    if not found.alone and found.at >= around.end.index and not found.apart:
        sentence = " " in value and found.blank == " "
        if sentence or not found.blank or not _CLEAR_COMMENT.match(found.text):
            place = Place(path, around.end.line + 1, around.end.column + 1 + len(found.blank))
            raise InputError(what, place=place, advice=_ADVICE[style])
    text = CommentedText(value)
    text.what, text.advice, text.behind = what, _ADVICE[style], not found.alone and found.is_behind_value
    return text


def refuse_emptied_list(source: str, path: str, start: Mark, end: Mark) -> None:
    """Raise InputError for an empty list in brackets if a comment in the list may have been meant as text."""
    for found in _COMMENT.finditer(source, start.index, end.index):
        comment = _comment_at(source, found.start())
        if not (comment.is_plausible if comment.alone else comment.is_behind_value):
            what = f"{shorten(comment.text, 40)!r} is read as a comment, so the list is empty"
            raise InputError(what, place=place_in(source, path, comment.at), advice=_ADVICE[""])


def comment_after(line: str, column: int) -> str:
    """Return the comment from `column` (from 1) on that may have been meant as the text of a value, or ""."""
    found = re.match(r"[ \t]+(#.*)", f" {line[column - 1 :]}", re.DOTALL)
    return found[1] if found else ""


def _cut_comments(around: Surroundings) -> Iterator[_Comment]:
    quoted, block = around.style in ("'", '"'), around.style in ("|", ">")
    # The comments between a key, a dash, a bracket or a comma and the text.
    source, start = around.source, around.start.index
    found: list[_Comment] = []
    if source.find("#", around.before, start) >= 0:
        for token in _TOKEN.finditer(source, around.before, start):
            if token[0].startswith("#"):
                found.append(_comment_at(source, token.start()))
            else:
                found.clear()
    for comment in found:
        if not comment.alone:
            could_be = not comment.is_behind_value
        else:
            could_be = not comment.is_plausible or not (around.style or around.brackets)
        if could_be:
            yield comment
    header = _HEADER.match(around.source, around.start.index) if block else None
    if header and not (comment := _comment_at(around.source, header.end())).is_behind_value:
        yield comment
    comments, follows = _comments_after(around)
    for comment in comments:
        if comment.apart:
            could_be = (
                not (comment.is_plausible or around.brackets == "{") if comment.alone else not comment.is_behind_value
            )
        elif not comment.alone:
            could_be = not (quoted and comment.is_behind_value)
        elif around.brackets:
            could_be = not (quoted and comment.is_plausible)
        elif block:  # a line indented less than the rest of the block, but more than the text below it
            as_a_key = len(comment.blank) == around.column and _LEFT_OUT.match(comments[0].text)
            could_be = len(comment.blank) > follows and not as_a_key
        else:
            could_be = len(comment.blank) > around.column and not (quoted and comment.is_plausible)
        if could_be or (comment.alone and not quoted and _continues_with_number(around, comment)):
            yield comment


def _continues_with_number(around: Surroundings, comment: _Comment) -> bool:
    """Return True if `#4711` below a text, as deep as its key, continues the text. No comment begins this way."""
    if len(comment.blank) != around.column or not comment.text[1:2].isdigit() or around.brackets:
        return False
    between = around.source[around.end.index : comment.at - len(comment.blank)]
    return between in ("", "\n", "\r", "\r\n")  # the end of a block text is that of its last line


def _comments_after(around: Surroundings) -> tuple[list[_Comment], int]:
    """Return the comments between a text and the next token that is not a comma, and the column of that token."""
    source, apart = around.source, False
    found: list[_Comment] = []
    at = _skip_source(_BLANK, source, around.end.index)
    while at < len(source):
        if source[at] == "#":
            found.append(_comment_at(source, at, apart=apart))
            at = _skip_source(_COMMENT, source, at)
        elif source[at] == "," and around.brackets:
            apart = True
            at += 1
        else:
            return found, at - _line_of(source, at)
        at = _skip_source(_BLANK, source, at)
    return found, 0


def _comment_at(source: str, at: int, *, apart: bool = False) -> _Comment:
    begin = _line_of(source, at)
    alone = not begin or source[begin - 1] in _BREAKS
    return _Comment(at, source[at : _skip_source(_COMMENT, source, at)], source[begin:at], alone, apart)


def _line_of(source: str, at: int) -> int:
    while at and source[at - 1] in " \t":
        at -= 1
    return at


def _skip_source(what: re.Pattern[str], source: str, at: int) -> int:
    found = what.match(source, at)
    return found.end() if found else at


def _refuse_cut_text(value: Any) -> Any:
    if isinstance(value, CommentedText):
        raise PydanticCustomError("refused", "{what}", {"what": f"{value.what}: {value.advice}", "expected": ""})
    return value


# A text that is said word for word: anything beside it that YAML would read as a comment is refused.
Said = Annotated[str, BeforeValidator(_refuse_cut_text)]

# A text that is said as a part of others; only a comment on the same line may follow it.
Phrase = Annotated[
    str, BeforeValidator(lambda value: value if getattr(value, "behind", False) else _refuse_cut_text(value))
]
