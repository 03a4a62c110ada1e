"""Raised and lowered figures in running text: `10³`, `H₂O`, `x^(n+k/2)`.

Joined to the text before them they would be other figures: 10 to the third is not 103.
"""

import re
import unicodedata

from harvest.pages.reading.formula import LOWERED, RAISED
from harvest.pages.reading.page import Node
from harvest.pages.reading.spans import shown_text

_SIGNS = {"TM": "™", "SM": "℠", "R": "®", "(R)": "®"}
# Endings of numbers and titles in French, English, Spanish, Italian and Portuguese, which need no sign.
_ENDINGS = re.compile(r"st|nde?|rd|th|es?|è|ers?|res?|ère|ème|eme|os?|as?|[ºª°]|lles?|mes?", re.IGNORECASE)
_NUMBER = re.compile(r"(?:\d|\b[IVXLCDM]+|\b[NMDS][a-z]?)$")
_SET_BY_ITSELF = re.compile(r"\W*|\[.*\]|\(.*\)")


def raised_text(node: Node, inner: str) -> str:
    """Return the figures of a raised or lowered element in a form that is not read with the text before them.

    inner: its text in the form that `finish_line` expects. Links and notes in brackets are separate anyway.
    """
    plain = shown_text(node.text.replace("−", "-"), "").strip()
    if _SET_BY_ITSELF.fullmatch(plain) and not re.fullmatch(r"[+-]+", plain):
        return inner
    if any(part.tag == "a" and "href" in part.attributes for part in node.walk()):
        return inner
    kind = {"sup": "super", "sub": "sub"}.get(node.tag) or node.get("h-raise")
    if kind == "super" and plain in _SIGNS:
        return _SIGNS[plain]
    earlier: list[Node | str] = []
    if node.parent is not None:
        earlier = node.parent.children[: node.parent.children.index(node)]
    texts = (child if isinstance(child, str) else child.text for child in reversed(earlier))
    before = unicodedata.normalize("NFC", next(filter(None, texts), ""))
    if plain.isalpha() and _ENDINGS.fullmatch(plain) and _NUMBER.search(before):
        return inner
    letters = RAISED if kind == "super" else LOWERED
    if all(sign in letters for sign in plain):
        return "".join(letters[sign] for sign in plain)
    mark = "^" if kind == "super" else "_"
    return f"{mark}{inner}" if plain.isalnum() else f"{mark}({inner})"
