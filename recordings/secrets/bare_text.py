"""A text reduced to its letters and digits, and the search for known secrets in that form.

A secret may be returned with anything between its characters: a line break, zero-width characters, variation selectors,
spaces, or colons between the bytes of its hex form. Its characters may also be replaced with equivalent characters,
such as full-width letters. All of these variants have the same normal form: the ASCII letters and digits in lower case,
without anything between them. So a secret, and its form in each common byte encoding, is searched in the normal form of
the text, and hits are mapped back to their positions. Ordinary words that spell a secret are not redacted.
"""

import base64
import re
import string
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from recordings.secrets.escapes import Span
from recordings.secrets.secret_forms import APART

# Characters from which all forms are searched together instead of one by one.
_LONG_TEXT = 2**12

_SHORTEST = 8  # characters: shorter pieces of a secret are words of any text
# Shortest normal form of a secret, and of a code for it, that is searched here.
_SHORTEST_CODE = 9

# Characters of a secret with letters and digits that no text contains by chance, with any separators.
_SURE_LENGTH = 12

_GRAM = 4  # characters by which candidates are looked up


@cache
def _ascii_variant(character: str) -> str:
    """Return the ASCII character for a variant, such as e for é or 𝐞. Other characters are returned unchanged."""
    code = ord(character)
    for first, last, begin in _SETS:
        if first <= code <= last:
            return chr(code - first + begin)
    for kind in ("NFKC", "NFD") if code > 0x7F else ():
        plain, *marks = list(unicodedata.normalize(kind, character))  # NFD parts a letter from its marks
        are_marks = all(unicodedata.category(mark).startswith("M") for mark in marks)
        if plain.isascii() and plain.isprintable() and plain != " " and are_marks:
            return plain
    return character


# Tags, letters in black circles and squares, and those of flags: in Unicode they have no other meaning.
_SETS = ((0xE0020, 0xE007E, 0x20), (0x1F150, 0x1F169, 0x41), (0x1F170, 0x1F189, 0x41), (0x1F1E6, 0x1F1FF, 0x41))

_KEPT = (string.ascii_letters + string.digits).encode()
_LATIN = [_ascii_variant(chr(byte)) for byte in range(256)]
_IS_KEPT = bytes(letter.isascii() and letter.isalnum() for letter in _LATIN)
_DROPPED = bytes(byte for byte in range(256) if not _IS_KEPT[byte])
_LOWER = bytes(ord(letter.lower()) if letter.isascii() else byte for byte, letter in enumerate(_LATIN))
# The end of a base-85 code.
_NO_GROUP = re.compile(r"[\s\"'\\]")
_BREAKS = re.compile(r"[\s\\]*[\r\n\u2028\u2029][\s\\]*")
_FILLERS = "\0\u115f\u1160\u3164\uffa0"
# Ranges beyond Latin-1 with all variants of ASCII characters (and some others): first and last code.
_OTHER_LETTERS = (
    *((0x100, 0x233), (0x2B0, 0x2E3), (0x1D2C, 0x1D6A), (0x1E00, 0x1EFF), (0x2070, 0x2184), (0x2460, 0x24FF)),
    *((0x2C7C, 0x2C7C), (0xFF01, 0xFF5E), (0x1D400, 0x1D7FF), (0x1F100, 0x1F1FF), (0x1FBF0, 0x1FBF9)),
    (0xE0020, 0xE007E),
)

_ANY_OTHER = re.compile(f"[{''.join(f'{chr(first)}-{chr(last)}' for first, last in _OTHER_LETTERS)}]")


def fold_variants(text: str) -> str:
    """Replace full-width, accented and similar variants of ASCII characters in `text`, which keeps its length."""
    return text if text.isascii() else "".join(map(_ascii_variant, text))


def _encode_single_bytes(text: str) -> bytes:
    """Encode `text` in Latin-1, with variants of ASCII letters as those letters, and other characters as `?`."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        pass
    if len(text) < _LONG_TEXT:
        for letter in set(_ANY_OTHER.findall(text)):
            text = text.replace(letter, _ascii_variant(letter))
        return text.encode("latin-1", "replace")
    import numpy as np  # late: commands that read no long text do without it

    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    return np.take(np.frombuffer(_bytes_by_code(), np.uint8), codes, mode="clip").tobytes()


@cache
def _bytes_by_code() -> bytes:
    found = bytearray(b"?" * (_OTHER_LETTERS[-1][1] + 2))
    found[:256] = range(256)
    for first, last in _OTHER_LETTERS:
        found[first : last + 1] = b"".join(
            _ascii_variant(chr(code)).encode("latin-1", "replace") for code in range(first, last + 1)
        )
    return bytes(found)


def normal_form(text: str) -> bytes:
    return _encode_single_bytes(text).translate(_LOWER, _DROPPED)


@dataclass(frozen=True, slots=True)
class _Form:
    """The conditions under which a normal form in a text counts as a secret.

    If the normal form alone could be ordinary words (`project manager`) or a date, `words` is the text that must also
    be present, apart from zero-width characters and line breaks; otherwise `words` is "". With `any_case`, upper and
    lower case may be mixed. `around` is the number of characters on each side that may belong to the secret too.
    """

    words: str = ""
    any_case: bool = False
    around: int = 0

    def occurs_at(self, place: str) -> bool:
        if not self.words:
            return True
        folded = fold_variants(place)
        no_width = {
            letter
            for letter in set(folded)
            if letter in _FILLERS or (not letter.isascii() and unicodedata.category(letter) in ("Cf", "Mn", "Me", "Cs"))
        }
        parts = _BREAKS.split("".join("\n" if letter in no_width else letter for letter in folded))
        return _spells_words(parts, self.words) or (
            self.any_case and _spells_words([part.lower() for part in parts], self.words.lower())
        )


def _spells_words(parts: list[str], words: str) -> bool:
    """Return True if the parts of a text spell `words`, apart from punctuation and white space between the parts."""
    at = 0
    for part in parts:
        if not words.startswith(part, at):
            at = next((place for place in range(at, len(words)) if words[place].isalnum()), at)
        if not words.startswith(part, at):
            return False
        at += len(part)
    return at == len(words)


class BareForms:
    """The normal forms of known secrets, and of the encodings of these secrets."""

    def __init__(self) -> None:
        self._forms: dict[bytes, _Form] = {}
        self._by_gram: defaultdict[bytes, list[bytes]] = defaultdict(list)

    def add(self, secret: str, never: str) -> None:
        """Search for `secret` from now on, except for forms that occur in the text `never`."""
        data = secret.encode("utf-8", "surrogatepass")
        found = {form: _Form() for form in map(_lower_bytes, _code_forms(data)) if len(form) >= _SHORTEST_CODE}
        for form in map(_lower_bytes, _groups_of_five(data)):
            if len(form) >= _SHORTEST_CODE:
                found[form] = _Form(around=5)
        core = re.sub(r"^[^A-Za-z0-9]+|[^A-Za-z0-9]+$", "", secret)
        plain = normal_form(core)
        if len(plain) >= _SURE_LENGTH and any(map(str.isdigit, core)) and any(map(str.isalpha, core)):
            found[plain] = _Form()
            found[bytes(byte for byte in plain for _ in range(2))] = _Form()  # as terminals print bold letters
            if not core.isascii():  # with its letters beyond ASCII lost, or read as Latin-1
                for lost in (core.encode("ascii", "ignore"), core.encode("utf-8", "surrogatepass")):
                    other = normal_form(lost.decode("latin-1"))
                    if len(other) >= _SURE_LENGTH:
                        found[other] = _Form()
        elif len(plain) >= _SHORTEST and (len(core) >= 2 * _SHORTEST or len(secret) - len(core) <= 2):
            found[plain] = _Form(fold_variants(core), any_case=len(secret) >= _SURE_LENGTH)
        out = normal_form(never)
        self._add({form: how for form, how in found.items() if form not in out})

    def add_lines(self, lines: Iterable[str]) -> None:
        """Search for the lines of a key from now on. Their encodings are not searched, because a key has dozens of
        lines, which do not occur alone in an encoding."""
        self._add(
            {form: _Form() for form in map(normal_form, lines) if len(form) >= _SURE_LENGTH and re.search(rb"\d", form)}
        )

    def _add(self, forms: Mapping[bytes, _Form]) -> None:
        for form, how in forms.items():
            if form not in self._forms:
                self._forms[form] = how
                self._by_gram[form[:_GRAM]].append(form)

    def may_contain(self, text: str) -> bool:
        """Return False only if `spans` would find nothing."""
        if not self._forms:
            return False
        told = normal_form(text)
        if len(told) < len(self._forms):  # searching for each beginning is faster than for each form
            grams = [told[at : at + _GRAM] for at in range(len(told) - _GRAM + 1)]
            return not self._by_gram.keys().isdisjoint(grams) and any(map(told.__contains__, self._forms))
        return any(map(told.__contains__, self._forms))

    def spans(self, text: str) -> Iterator[Span]:
        if not self._forms:
            return
        letters = _encode_single_bytes(text)
        told = letters.translate(_LOWER, _DROPPED)
        found = list(self._found(told))
        if not found:
            return
        import numpy as np  # late: commands that read no long text do without it

        # The position of each letter and digit in the text.
        places: list[int] = np.flatnonzero(np.frombuffer(letters.translate(_IS_KEPT), bool)).tolist()
        for at, form in found:
            start, end = places[at], places[at + len(form) - 1] + 1
            place, how = text[start:end], self._forms[form]
            if APART not in place and how.occurs_at(place):
                if how.around:
                    start -= len(_NO_GROUP.split(text[max(0, start - how.around) : start])[-1])
                    end += len(_NO_GROUP.split(text[end : end + how.around])[0])
                while text.startswith("=", end):  # of base64 and its like
                    end += 1
                yield start, end, "secret"

    def _found(self, told: bytes) -> Iterator[tuple[int, bytes]]:
        if len(told) < _LONG_TEXT:
            for form in self._forms:
                at = told.find(form)
                while at >= 0:
                    yield at, form
                    at = told.find(form, at + 1)
            return
        for at in _find_beginnings(told, self._by_gram):
            for form in self._by_gram.get(told[at : at + _GRAM], ()):
                if told.startswith(form, at):
                    yield at, form


def _find_beginnings(told: bytes, grams: dict[bytes, list[bytes]]) -> Iterator[int]:
    """Yield the positions of dozens of beginnings, and a few false hits, in twice the time of a single search."""
    import numpy as np  # late: commands that read no long text do without it

    known = np.zeros(2**16, bool)
    wanted = np.frombuffer(b"".join(grams), "<u4")
    known[(wanted * np.uint32(2654435761)) >> np.uint32(16)] = True
    for offset in range(_GRAM):
        four = np.frombuffer(told, "<u4", (len(told) - offset) // _GRAM, offset)
        found = np.flatnonzero(known[(four * np.uint32(2654435761)) >> np.uint32(16)])
        yield from (found * _GRAM + offset).tolist()


def _code_forms(data: bytes) -> Iterator[bytes]:
    numbers = (
        [f"{byte:02x}" for byte in data],
        [f"{byte:03o}" for byte in data],
        [f"{byte:o}" for byte in data],
        [str(byte) for byte in data],
    )
    befores_of = (("", "0x", "x", "u00", "u", "u000000", "chr0x"), ("", "0"), ("", "0", "0o"), ("", "chr", "char"))
    for each, befores in zip(numbers, befores_of, strict=True):
        yield from (before.join(each).encode() for before in befores)
    texts = [*_fixed_parts(base64.b32encode, data, 5), *_fixed_parts(base64.b64encode, data, 6)]
    for inner in _fixed_parts(base64.b64encode, data, 6):
        texts += _fixed_parts(base64.b64encode, inner, 6)
    for order in ("utf-16-le", "utf-16-be"):
        wide = data.decode("utf-8", "surrogatepass").encode(order, "surrogatepass")
        texts += [wide.hex().encode(), *_fixed_parts(base64.b64encode, wide, 6)]
    yield from texts


def _groups_of_five(data: bytes) -> Iterator[bytes]:
    """Yield the base-85 forms of `data` (five characters for four bytes), without ends that depend on other bytes."""
    for skip in range(4):
        groups = data[skip : skip + (len(data) - skip) // 4 * 4]
        in_b85 = base64.b85encode(groups)
        yield from (in_b85, base64.a85encode(groups), in_b85.translate(_TO_Z85))


def _lower_bytes(text: bytes) -> bytes:
    return text.translate(_LOWER, _DROPPED)


def _fixed_parts(encode: Callable[[bytes], bytes], data: bytes, bits: int) -> Iterator[bytes]:
    """Yield the part of the encoded `data` that does not depend on adjacent bytes, with `bits` bits in a character."""
    for before in range(bits if bits == 5 else 3):
        first, last = -(-8 * before // bits), 8 * (before + len(data)) // bits
        yield encode(b"\0" * before + data)[first:last]


_Z85 = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_B85 = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
_TO_Z85 = bytes.maketrans(_B85, _Z85)  # the alphabet of ZeroMQ
