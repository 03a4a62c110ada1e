"""Raised and lowered figures in running text: `10³`, `H₂O`, `x^(n+k/2)`. Glued to what they stand at, they would be
other figures: 10 to the third is not 103.
"""

import re
import unicodedata
from collections.abc import Iterable

from harvest.pages.reading.page import Node
from harvest.pages.reading.spans import shown_text

_FORMS = (
    ("super", "0123456789+-=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ"),
    ("sub", "0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎"),
)
_LETTERS = {kind: dict(zip(plain, signs, strict=True)) for kind, plain, signs in _FORMS}
_SIGNS = {"TM": "™", "SM": "℠", "R": "®", "(R)": "®"}
# What ends a number or a title in French, English, Spanish, Italian and Portuguese: it is written so without a sign.
_ENDINGS = re.compile(r"st|nde?|rd|th|es?|è|ers?|res?|ère|ème|eme|os?|as?|[ºª°]|lles?|mes?", re.IGNORECASE)
_NUMBER = re.compile(r"(?:\d|\b[IVXLCDM]+|\b[NMDS][a-z]?)$")
_SET_BY_ITSELF = re.compile(r"\W*|\[.*\]|\(.*\)")


def raised(node: Node, inner: str) -> str:
    """The figures of a raised or lowered element, so written that they are not read with what stands before them.

    inner: its text in the form that `finish_line` takes. Links and notes in brackets stand apart by themselves.
    """
    plain = shown_text(node.text.replace("−", "-"), "").strip()
    if _SET_BY_ITSELF.fullmatch(plain) and not re.fullmatch(r"[+-]+", plain):
        return inner
    if any(part.tag == "a" and "href" in part.attributes for part in node.walk()):
        return inner
    kind = _kind(node)
    before = _before(node)
    if kind == "super" and plain in _SIGNS:
        return _SIGNS[plain]
    if plain.isalpha() and _ENDINGS.fullmatch(plain) and _NUMBER.search(before):
        return inner
    letters = _LETTERS[kind]
    if all(sign in letters for sign in plain):
        return "".join(letters[sign] for sign in plain)
    mark = "^" if kind == "super" else "_"
    return f"{mark}{inner}" if plain.isalnum() else f"{mark}({inner})"


def _kind(node: Node) -> str:
    return {"sup": "super", "sub": "sub"}.get(node.tag) or node.get("h-raise")


def _before(node: Node) -> str:
    """The text right before an element."""
    if node.parent is None:
        return ""
    place = node.parent.children.index(node)
    return _end_of(node.parent.children[:place][::-1])


def _end_of(children: Iterable[Node | str]) -> str:
    for child in children:
        text = child if isinstance(child, str) else child.text
        if text:
            return unicodedata.normalize("NFC", text)
    return ""
