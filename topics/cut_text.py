"""Words that YAML would cut off: a # after a blank begins a comment, also in the middle of what a user is to say.

    request: What became of order #4711?     YAML reads "What became of order"
    request: Is C # or F # the better one?   YAML reads "Is C"

Comments that people write behind a value are told apart by their form: two blanks before the # (as yamllint wants it),
or a value of one word, and a blank after the #. In texts that are said to a system word for word no comment is taken,
except behind quotation marks, with two blanks:

    request: "Where" #4711 is it               YAML reads "Where"
"""

import re
from typing import Annotated, Any, Protocol

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from topics.errors import InputError, Place

_COMMENT = re.compile(r"([ \t]+)(#[^\r\n\x85\u2028\u2029]*)")
_BEHIND_QUOTES = re.compile(r"([ \t]*)(#[^\r\n\x85\u2028\u2029]*)")
_HONEST = re.compile(r"#+(?:[ \t]|\Z)|#\W*\Z")
"""A blank after the #, or no word at all, as in a line of ###."""

_ADVICE = "put the text in quotation marks; a comment goes on a line of its own"
_ADVICE_QUOTED = (
    "put all of the text inside the quotation marks; before a comment write two blanks, and one after its #"
)
_ADVICE_ELSEWHERE = "put the text in quotation marks; before a comment write two blanks, and one after its #"


class Mark(Protocol):
    index: int
    line: int
    column: int


class Commented(str):
    """A plain text that a comment follows on its line."""

    comment: str
    quoted: bool


def commented(value: object, source: str, path: str, end: Mark, *, quoted: bool = False) -> object:
    """The value that ends at `end`; a `Commented` if it is a text and a comment follows, which after quotation marks
    one with two blanks before it does not.

    Raises InputError if the comment cannot be told from words of the text.
    """
    found = (_BEHIND_QUOTES if quoted else _COMMENT).match(source, end.index)
    if found is None or not isinstance(value, str):
        if found and value is None and not _HONEST.match(found[2]):
            raise InputError(
                f"{_short(found[2])} is taken for a comment, and nothing is left of the value",
                place=Place(path, end.line + 1, end.column + 1 + len(found[1])),
                advice=_ADVICE,
            )
        return value
    blank, comment = found[1], found[2]
    sentence = " " in value and blank == " "
    if sentence or not blank or not _HONEST.match(comment):
        place = Place(path, end.line + 1, end.column + 1 + len(blank))
        advice = _ADVICE_QUOTED if quoted else _ADVICE_ELSEWHERE
        raise InputError(_words(value, comment), place=place, advice=advice)
    if quoted and blank != " ":
        return value
    text = Commented(value)
    text.comment, text.quoted = comment, quoted
    return text


def comment_after(line: str, column: int) -> str:
    """The comment that stands where a value would, on a line from `column` (from 1) on; "" for none. It may have been
    meant as the text."""
    found = _COMMENT.match(f" {line[column - 1 :]}")
    return found[2] if found else ""


def _words(text: str, comment: str) -> str:
    return f"{_short(comment)} is taken for a comment, and only {_short(text)} is left of the text"


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:39]}…")


def _uncut(value: Any) -> Any:
    if isinstance(value, Commented):
        what = f"{_words(value, value.comment)}: {_ADVICE_QUOTED if value.quoted else _ADVICE}"
        raise PydanticCustomError("refused", "{what}", {"what": what, "expected": ""})
    return value


Said = Annotated[str, BeforeValidator(_uncut)]
"""A text that is said word for word: what YAML would take for a comment behind it is refused."""
