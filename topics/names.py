"""Names of audits, systems, topics and the like, in letters of any script.

A name is shown in tables, typed as an option, and part of file names and addresses. So it consists of letters with
their marks, digits and a few signs, is in Unicode's normal form C, and has at most 60 characters and 200 bytes. Names
that look like others are refused: letters of Latin, Greek and Cyrillic within one word, and in a list of names, two
that differ only in letters of the same shape.
"""

import re
import unicodedata
from collections.abc import Iterable

from topics.identity import content_hash
from topics.shown_names import normalise_name
from topics.unseen_characters import character_name, has_visible_text

LONGEST = 60  # characters
_MOST_BYTES = 200  # a file name has at most 255, with what is added to a name
_SCRIPTS = ("LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC")  # they share the shapes of letters
_MIDDLE_DOT = "\u30fb"  # between the parts of a name in Japanese
# The fault of a name with other characters than those that `name_words` lists.
WRONG_CHARACTERS = "has characters that are not allowed here"

_WORD = re.compile(r"[^\W\d_]+")


def name_fault(name: str, signs: str, *, first: str = "letter or digit") -> str:
    """Return what is wrong with a name, as the end of a sentence about it, or "" if nothing is. `signs` are allowed
    after the first character; `first` is "letter", "letter or digit", or "" for any allowed character."""
    if name.isascii():  # most names
        head = {"letter": "[A-Za-z]", "letter or digit": "[A-Za-z0-9]"}.get(first, "")
        return "" if re.fullmatch(rf"{head}[A-Za-z0-9{re.escape(signs)}]*", name) and name else WRONG_CHARACTERS
    previous = ""
    for character in name:
        kind = unicodedata.category(character)
        is_letter = kind[0] == "L" or kind == "Nl"
        if not has_visible_text(character) and character != " ":
            return f"has {character_name(character)}, which cannot be seen"
        if kind in ("Mn", "Mc"):
            allowed = bool(previous) and (previous in "LM" or previous == "Nl")
        elif not previous and first:
            allowed = is_letter or (kind == "Nd" and first != "letter")
        else:
            allowed = is_letter or kind == "Nd" or character in signs or character == _MIDDLE_DOT
        if not allowed:
            return WRONG_CHARACTERS
        previous = "Nl" if kind == "Nl" else kind[0]
    if not unicodedata.is_normalized("NFC", name):
        return "has letters that are not in Unicode's composed form (NFC); type it again, or convert it"
    if len(name.encode()) > _MOST_BYTES:
        return f"has more than {_MOST_BYTES} bytes in UTF-8, so it cannot be part of a file name"
    for word in _WORD.findall(name):
        scripts = dict.fromkeys((unicodedata.name(letter, "") or "none").split()[0] for letter in word)
        mixed = [script.capitalize() for script in scripts if script in _SCRIPTS]
        if len(mixed) > 1:
            return f"mixes {' and '.join(mixed)} letters in {word!r}, which look alike"
    return ""


def name_words(signs: str, *, first: str = "letter or digit") -> str:
    """Describe the names that `name_fault` accepts, for messages."""
    signed = " ".join(sign for sign in signs if sign != " ")
    parts = [part for part in ("letters", "digits", "spaces" if " " in signs else "") if part]
    said = f"{', '.join(parts)} and {signed}" if signed else " and ".join(parts)
    return said + (f", beginning with a {first}" if first else "")


def first_lookalikes(names: Iterable[str]) -> tuple[str, str] | None:
    """Return the first two names that differ, but only in letters of the same shape, in order, or None. Names in ASCII
    are told apart by their capitals, too."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(normalise_name(name), name)
        if other != name and not (other.isascii() and name.isascii()):
            return other, name
    return None


def ascii_name(name: str, others: str, most: int = LONGEST) -> str:
    """Return at most `most` characters of a name for use where only ASCII is safe. Text that matches `others`, such as
    `[^a-z0-9]+`, becomes `-`. A name with letters beyond ASCII ends with a hash, so that names stay different."""
    safe = re.sub(others, "-", name).strip("-")
    if name.isascii():
        return safe[:most]
    mark = content_hash("ascii-name", name, size=4)
    return f"{safe[: most - len(mark) - 1]}-{mark}".lstrip("-")
