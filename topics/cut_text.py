"""Words that YAML would cut off: a # after a blank begins a comment, also in the middle of what a user is to say.

    request: What became of order #4711?     YAML reads "What became of order"
    request: Is C # or F # the better one?   YAML reads "Is C"

Comments that people write behind a value are told apart by their form: two blanks before the # (as yamllint wants it),
or a value of one word, and a blank after the #. In texts that are said to a system word for word no comment is taken.
"""

import re
from typing import Annotated, Any, Protocol

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from topics.errors import InputError, Place

_COMMENT = re.compile(r"([ \t]+)(#[^\r\n\x85\u2028\u2029]*)")
_HONEST = re.compile(r"#+(?:[ \t]|\Z)|#\W*\Z")
"""A blank after the #, or no word at all, as in a line of ###."""

_ADVICE = "put the text in quotation marks; a comment goes on a line of its own"
_ADVICE_ELSEWHERE = "put the text in quotation marks; before a comment write two blanks, and one after its #"


class Mark(Protocol):
    index: int
    line: int
    column: int


class Commented(str):
    """A plain text that a comment follows on its line."""

    comment: str


def commented(value: object, source: str, path: str, end: Mark) -> object:
    """The plain value that ends at `end`; a `Commented` if it is a text and a comment follows.

    Raises InputError if the comment cannot be told from words of the text.
    """
    found = _COMMENT.match(source, end.index)
    if found is None or not isinstance(value, str):
        return value
    blank, comment = found[1], found[2]
    sentence = " " in value and blank == " "
    if sentence or not _HONEST.match(comment):
        place = Place(path, end.line + 1, end.column + 1 + len(blank))
        raise InputError(_words(value, comment), place=place, advice=_ADVICE_ELSEWHERE)
    text = Commented(value)
    text.comment = comment
    return text


def _words(text: str, comment: str) -> str:
    return f"{_short(comment)} is taken for a comment, and only {_short(text)} is left of the text"


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:39]}…")


def _uncut(value: Any) -> Any:
    if isinstance(value, Commented):
        what = f"{_words(value, value.comment)}: {_ADVICE}"
        raise PydanticCustomError("refused", "{what}", {"what": what, "expected": ""})
    return value


Said = Annotated[str, BeforeValidator(_uncut)]
"""A text that is said word for word: what YAML would take for a comment behind it is refused."""
