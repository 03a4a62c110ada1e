"""The plain words of a YAML file that are numbers, truth values or null; all others are text.

YAML 1.1 turns `no` into false, `12:30` into 750 and `2023-09-02` into a date. Here only `true`, `false`, `null`, plain
decimal integers and decimal floats are not text.
"""

import math
import re
from collections.abc import Mapping

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
    """Return how to write something that was meant as a number but is not read as one, or None."""
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
    """Return a number as it would be written in a file: 1 and not 1.0."""
    return int(bound) if isinstance(bound, float) and bound.is_integer() else bound
