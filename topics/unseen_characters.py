"""Invisible characters in YAML that was pasted from a web page or a word processor.

YAML treats a no-break space as a letter, so it neither indents nor separates. U+0085, U+2028 and U+2029 end a line in
YAML, but in hardly any editor. Systems read such characters in user turns although people do not see them.
"""

import re
import unicodedata
from collections.abc import Iterator

from topics.errors import InputError
from topics.text_file import place_in

_BREAKS = "\x85\u2028\u2029"
_BLANKS = "\xa0\xad\u1680\u2000-\u200f\u202f\u205f\u2060\u3000\ufeff"
_SUSPECT = re.compile(rf"^[ \t-]*([{_BLANKS}])|[:-]([{_BLANKS}])|([{_BREAKS}])", re.MULTILINE)
_UNSEEN = re.compile(f"[{_BLANKS}]")
_LINE_END = re.compile(f"\r\n|[\n\r{_BREAKS}]")
_BESIDE_BLANK = re.compile(f"[ \t][{_BREAKS}]|[{_BREAKS}][ \t]")

# Characters without a shape that Unicode does not count among the format characters.
_UNSEEN_LETTERS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
# Part of the script after a letter beyond ASCII, as in Persian, in Japanese and in combined emoji.
_JOINS = "\u200c\u200d\ufe0e\ufe0f\u3000"


def find_unseen(text: str) -> dict[str, None]:
    """Return the invisible characters of a text, each once: characters without a shape, and blanks except spaces,
    line ends and tabs."""
    if text.isascii() and text.isprintable():
        return {}
    before = ""
    found: dict[str, None] = {}
    for character in text:
        if _is_unseen(character) and not (character in _JOINS and before and not before.isascii()):
            found[character] = None
        before = character
    return found


def show_unseen(text: str) -> str:
    return text.translate({ord(character): f"<U+{ord(character):04X}>" for character in find_unseen(text)})


def has_visible_text(text: str) -> bool:
    """Return True if any character of the text is visible."""
    return any(not character.isspace() and not _is_unseen(character) for character in text)


def _is_unseen(character: str) -> bool:
    if character in " \t\n\r":
        return False
    kind = unicodedata.category(character)
    selects = "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"
    return kind in ("Cf", "Cc", "Zs", "Zl", "Zp") or selects or character in _UNSEEN_LETTERS


# Unicode does not name them; these names are from ISO 6429.
_CONTROLS = {
    "\0": "null",
    "\a": "bell",
    "\b": "backspace",
    "\v": "line tabulation",
    "\f": "form feed",
    "\x1b": "escape",
    "\x7f": "delete",
    "\x85": "next line",
}


def character_name(character: str) -> str:
    other = "control character" if unicodedata.category(character) == "Cc" else "no name"
    name = unicodedata.name(character, _CONTROLS.get(character, other)).lower()
    return f"the character U+{ord(character):04X} ({name})"


def find_invisible(text: str, line: int) -> int:
    """Return the position of an invisible character that explains a YAML error, or -1. The character is on `line`
    (counted from 0) or just above."""
    begins = [0, *(found.end() for found in _LINE_END.finditer(text)), len(text)]
    first, last = begins[max(0, min(line, len(begins) - 1) - 2)], begins[min(line + 1, len(begins) - 1)]
    found = _SUSPECT.search(text[first:last])
    return -1 if found is None else first + next(found.start(i) for i in (1, 2, 3) if found[i])


def surrounding_character(key: str) -> str:
    """Return the invisible character at the beginning or end of a key, or ""."""
    for character in (key[:1], key[-1:]):
        if character and _UNSEEN.match(character):
            return character
    return ""


def refuse_lost_breaks(text: str, path: str, value: object) -> None:
    """Raise InputError if a line end that only YAML recognises has changed a text. YAML turns U+0085 into a blank and
    drops blanks around U+2028 and U+2029. Within quotation marks U+2028 is kept, as in JSON."""
    found = re.search(f"[{_BREAKS}]", text)
    if found is None:
        return
    kept = sum(len(re.findall(f"[{_BREAKS}]", one)) for one in _all_texts(value))
    if kept < len(re.findall(f"[{_BREAKS}]", text)) or _BESIDE_BLANK.search(text):
        what = f"{character_name(found[0])}, which ends a line in YAML"
        raise InputError(
            what, place=place_in(text, path, found.start()), advice="replace it by an ordinary blank or line end"
        )


def _all_texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inside in value.items():
            yield key
            yield from _all_texts(inside)
    elif isinstance(value, tuple):
        for inside in value:
            yield from _all_texts(inside)
