"""Mathematics set by position: formulas in MathML, and raised or lowered text, as plain text. Examples are `3/4`,
`10³`, `√(a+b)`, `x₁²`, `∑_(i=1)^n`, `(1, 2; 3, 4)`, `H₂O`, `x^(n+k/2)`. Part of the meaning is only in the position
of the characters (above a line, raised, under a root) and would be lost if they were simply put in a row: three
quarters are not 34, and 10 to the third is not 103. TeX next to MathML says more and is preferred."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from harvest.pages.reading.page import Node, collapse_spaces
from harvest.pages.reading.spans import visible_text

_DEEPEST = 60  # levels of elements: Python's stack is short
_RAISED = dict(zip("0123456789+-=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ", strict=True))
_LOWERED = dict(zip("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎", strict=True))
_PRIMES = re.compile("[′″‴⁗']+")
_OVER = {
    **dict.fromkeys("^ˆ\u0302", ("\u0302", "hat")),
    **dict.fromkeys("¯‾_―\u0305", ("\u0304", "overline")),
    **dict.fromkeys("→⃗⟶", ("\u20d7", "vec")),
    **dict.fromkeys("~˜\u0303", ("\u0303", "tilde")),
    "˙": ("\u0307", "dot"),
    "¨": ("\u0308", "ddot"),
}
_UNDER = frozenset("_‾¯̲―")
_UNSEEN = re.compile("[\u2061\u2062\u2064\u200b\ufeff]")  # invisible signs for "applied to", "times", "plus"
_ATOM = re.compile(r"(?:[−-]?\d[\d.,]*°?|[^\W\d_][\u0300-\u036f\u20d7]*(?:_\w)?)[′″]*[²³¹⁰⁴-⁹ⁿⁱ₀-₉]*|∞")
_FENCED = re.compile(r"\([^()]*\)|\[[^][]*\]|\|[^|]*\|")
_SCRIPTED = re.compile(r"[_^](?:\w|\([^()]*\))$")
_RELATIONS = tuple("=<>≤≥≈≠≡∼≅→⇒⇔∈+-−")
_WORD_TAGS = frozenset({"mi", "mtext"})
_IGNORED_TAGS = frozenset(
    {"annotation", "annotation-xml", "maligngroup", "malignmark", "mphantom", "mprescripts", "none"}
)
_SIGNS = {"TM": "™", "SM": "℠", "R": "®", "(R)": "®"}
# Endings of numbers and titles in French, English, Spanish, Italian and Portuguese, which need no sign.
_ENDINGS = re.compile(r"st|nde?|rd|th|es?|è|ers?|res?|ère|ème|eme|os?|as?|[ºª°]|lles?|mes?", re.IGNORECASE)
_NUMBER = re.compile(r"(?:\d|\b[IVXLCDM]+|\b[NMDS][a-z]?)$")
_SET_BY_ITSELF = re.compile(r"\W*|\[.*\]|\(.*\)")


def is_formula(node: Node) -> bool:
    """Return True for an element of MathML, MathJax or KaTeX."""
    return node.tag in ("math", "mjx-container") or "katex" in node.classes or "katex-display" in node.classes


def formula_text(node: Node) -> str:
    """Return the MathML in an element as text, or "" if the element contains no MathML."""
    math = next((inner for inner in node.walk() if inner.tag == "math"), None)
    return collapse_spaces(_write(math, 0)) if math is not None else ""


def _write(node: Node, depth: int) -> str:
    if node.tag in _IGNORED_TAGS or depth > _DEEPEST:
        return node.text if depth > _DEEPEST else ""
    if node.tag == "mspace":
        return " "
    parts = [child for child in node.elements if child.tag not in ("annotation", "annotation-xml")]
    write = _FORMS.get(node.tag)
    if write is not None and len(parts) >= write[0]:
        return write[1](node, [_Part(_write(part, depth + 1).strip(), part) for part in parts])
    if node.tag == "mmultiscripts" and parts:
        return _write_multiscripts(parts, depth)
    if node.tag == "mtable":
        rows: list[str] = []
        for line in node.elements:
            row = ""
            for number, cell in enumerate(line.elements):
                said = _write(cell, depth + 1).strip()
                # Equations set one beneath the other have their signs in columns of their own.
                joins = said.startswith(_RELATIONS[:-3]) or row.endswith(_RELATIONS)
                row += (", " if number and row.strip() and not joins else "") + said
            rows.append(row)
        return "; ".join(rows)
    if node.tag == "semantics":
        return _write(parts[0], depth + 1) if parts else ""
    if node.tag in ("mtext", "ms"):
        said = node.text
        return f'"{said}"' if node.tag == "ms" else f" {said} " if len(said) > 1 else said
    pieces = (collapse_spaces(one) if isinstance(one, str) else _write(one, depth + 1) for one in node.children)
    return _join_pieces(_UNSEEN.sub("", piece).replace("\u2063", ",") for piece in pieces)


def _join_pieces(pieces: Iterable[str]) -> str:
    """Join the pieces, with a space between two pieces that would merge into another meaning: 1 ¾ is not 13/4."""
    text = ""
    for piece in pieces:
        text += (" " if text and piece and _runs_together(text, piece) else "") + piece
    return text


def _runs_together(left: str, right: str) -> bool:
    last, first = left[-1], right[0]
    if first in "⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉√∛∜":  # belongs to what follows it
        return last.isalnum() and first not in "√∛∜"
    if not (first.isalnum() or first in "√∛∜"):
        return False
    word = re.search(r"(?:[^\W\d_]{2,})$", left)
    begins = re.match(r"[^\W\d_]{2,}", right)
    beside = last.isdigit() and first.isdigit()
    return beside or bool(
        (last.isalnum() and (word or begins))
        or _SCRIPTED.search(left)
        or (last.isalnum() and ("/" in right or re.search(r"/[^\s/]*$", left)))
    )


class _Part(NamedTuple):
    text: str
    node: Node

    @property
    def grouped(self) -> str:
        """The text, in brackets if it is more than one number, letter or word."""
        plain = not self.text or _ATOM.fullmatch(self.text) or _FENCED.fullmatch(self.text)
        return self.text if plain or (self.node.tag in _WORD_TAGS and self.text.isalpha()) else f"({self.text})"

    @property
    def base(self) -> str:
        """The text as the base of a script. A single sign, such as the sum sign, needs no brackets."""
        return self.text if len(self.text) == 1 else self.grouped


def _write_fraction(node: Node, parts: Sequence[_Part]) -> str:
    if re.fullmatch(r"0(?:\.0*)?\s*[a-z]*", node.get("linethickness")):
        return f"{parts[0].text} atop {parts[1].text}"
    return f"{parts[0].grouped}/{parts[1].grouped}"


def _write_lowered(text: str) -> str:
    return _write_script(text, "_", _LOWERED)


def _write_raised(text: str) -> str:
    if text in ("∘", "°"):
        return "°"
    return text if _PRIMES.fullmatch(text) else _write_script(text, "^", _RAISED)


def _write_script(text: str, mark: str, forms: dict[str, str]) -> str:
    plain = text.replace("−", "-")
    if not text or all(sign in forms for sign in plain):
        return "".join(forms[sign] for sign in plain)
    return f"{mark}{text}" if text.isalnum() or len(text) == 1 else f"{mark}({text})"


def _write_over(base: _Part, sign: _Part) -> str:
    combining, name = _OVER.get(sign.text, ("", ""))
    if not combining:
        return base.base + _write_raised(sign.text)
    return base.text + combining if len(base.text) == 1 else f"{name}({base.text})"


def _write_under(base: _Part, sign: _Part) -> str:
    if sign.text in _UNDER:
        return f"underline({base.text})"
    return base.base + _write_lowered(sign.text)


def _write_root(base: _Part, index: str = "") -> str:
    return {"": "√", "2": "√", "3": "∛", "4": "∜"}.get(index, f"√[{index}]") + base.grouped


def _write_fenced(node: Node, parts: Sequence[_Part]) -> str:
    opened = node.get("open") if "open" in node.attributes else "("
    closed = node.get("close") if "close" in node.attributes else ")"
    marks = "".join((node.get("separators") if "separators" in node.attributes else ",").split())
    inner = ""
    for number, part in enumerate(parts):
        mark = marks[min(number - 1, len(marks) - 1)] if number and marks else ""
        inner += (f"{mark} " if mark else "") + part.text
    return f"{opened}{inner}{closed}"


def _write_multiscripts(parts: Sequence[Node], depth: int) -> str:
    at = next((number for number, part in enumerate(parts) if part.tag == "mprescripts"), len(parts))
    base, behind, before = parts[0], parts[1:at], parts[at + 1 :]
    scripts = []
    for beside in (before, behind):
        said = [_write(part, depth + 1).strip() for part in beside]
        scripts.append(
            "".join(_write_raised(one) if number % 2 else _write_lowered(one) for number, one in enumerate(said))
        )
    return scripts[0] + _Part(_write(base, depth + 1).strip(), base).base + scripts[1]


# For each tag, the least number of parts and the function that writes them.
_FORMS: dict[str, tuple[int, Callable[[Node, Sequence[_Part]], str]]] = {
    "mfrac": (2, _write_fraction),
    "msup": (2, lambda _, parts: parts[0].base + _write_raised(parts[1].text)),
    "msub": (2, lambda _, parts: parts[0].base + _write_lowered(parts[1].text)),
    "msubsup": (3, lambda _, parts: parts[0].base + _write_lowered(parts[1].text) + _write_raised(parts[2].text)),
    "msqrt": (
        1,
        lambda node, parts: _write_root(
            _Part(_join_pieces(part.text for part in parts), parts[0].node if len(parts) == 1 else node)
        ),
    ),
    "mroot": (2, lambda _, parts: _write_root(parts[0], parts[1].text)),
    "mover": (2, lambda _, parts: _write_over(parts[0], parts[1])),
    "munder": (2, lambda _, parts: _write_under(parts[0], parts[1])),
    "munderover": (3, lambda _, parts: _write_under(parts[0], parts[1]) + _write_raised(parts[2].text)),
    "mfenced": (0, _write_fenced),
}


def raised_text(node: Node, inner: str) -> str:
    """Return the text of a raised or lowered element in a form that does not merge with the text before it. `inner` is
    the element's text in the form that `finish_line` expects. Links and notes in brackets are returned unchanged,
    because they do not merge anyway."""
    plain = visible_text(node.text.replace("−", "-"), "").strip()
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
    letters = _RAISED if kind == "super" else _LOWERED
    if all(sign in letters for sign in plain):
        return "".join(letters[sign] for sign in plain)
    mark = "^" if kind == "super" else "_"
    return f"{mark}{inner}" if plain.isalnum() else f"{mark}({inner})"
