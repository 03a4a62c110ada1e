"""Texts in the form in which they are compared: letters, digits, marks and emoji, without markup.

A page renders the received text: Markdown as HTML, entities as characters. So both texts are reduced to the parts that
rendering does not change. White space, punctuation and signs are left out, because pages set quotes, dashes and
bullets in their own way. Only a sign between two digits is kept, because without the sign the figure would change:
3/4, 1.5, 10:30, 2020–2024. Link targets, the order of table cells and heading levels are not compared.
"""

import html
import re
import unicodedata
from dataclasses import dataclass

_FENCE = re.compile(
    r"^(?P<fence> {0,12}(?:>\s?)*(?:`{3,}|~{3,}))[^\n`]*\n(?P<code>.*?)(?:^(?P=fence)[`~]*\s*$|\Z)", re.M | re.S
)
_CODE = re.compile(r"(?P<ticks>`+)(?P<code>[^`].*?)(?P=ticks)(?!`)", re.S)
_IMAGE = re.compile(r"!\[([^\]]*)\]\((?:[^()\s]|\([^()]*\))*(?:\s+\"[^\"]*\")?\)")
_LINK = re.compile(
    r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((?:<[^>\n]*>|(?:[^()\s]|\([^()]*\))*)(?:\s+(?:\"[^\"]*\"|'[^']*'))?\)"
)
_REFERENCE = re.compile(r"^ {0,3}\[[^\]\n]+\]:\s*\S+.*$", re.M)
_REFERRED = re.compile(r"\[([^\[\]]+)\]\[[^\[\]]*\]")
_NUMBERED = re.compile(r"^(?:[ \t]|>|[-*+] )*\d{1,9}[.)](?=\s)", re.M)
_TASK = re.compile(r"^(\s*[-*+]\s+)\[[xX ]\]", re.M)
_LANGUAGE = re.compile(r"^(`{3,}|~{3,})(\w[\w+#-]*)\n", re.M)
_BUTTON = re.compile(r"<button\b.*?</button\s*>", re.S | re.I)
_UNSEEN = re.compile(r"<!--.*?-->|<(script|style|template)\b.*?</\1\s*>", re.S | re.I)
_TAG = re.compile(r"(?<!\\)</?[a-zA-Z][^<>]*>")
_ALT = re.compile(r"<img\b[^<>]*?\balt=(?:\"([^\"]*)\"|'([^']*)')[^<>]*>", re.I)
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^<>\s]+)>", re.I)
_SCRIPT = re.compile(r"<su[bp]\b[^<>]*>(?=\s*[-+−])", re.I)
_ITEM = re.compile(r"</?(?:p|div|li|tr|td|th|br|h[1-6]|pre|ul|ol|table|blockquote|section)\b[^<>]*>", re.I)


# A sign between two digits, with the markup and invisible characters that may be around it. A comma and a colon may
# have spaces after them, a full stop and an apostrophe may not. Other signs have spaces on both sides or on neither:
# the minus in "3 −4" belongs to one figure. The TeX commands for a backslash with a comma or a colon are spaces.
_GAP = "[*_~`${}\u00ad\u200b\u2060\ufeff]*+"
_SIGN = re.compile(
    rf"(?<=\d){_GAP}(?:\\?[.．]|['’＇]|[,，:：]{_GAP}\s*+"
    rf"|(?P<space>[^\S\n]+)?(?:[/⁄∕／×÷]|\\?[+＋]|\\?[-‐‑‒–—―−－]+)(?(space)[^\S\n]+)){_GAP}(?=\d)"
)
# Noncharacters represent the signs, one for all forms of a sign: they are in no text, and `_TOKEN` sees them as signs.
_FORMS = (".．", ",，", ":：", "'’＇", "/⁄∕／", "+＋", "×", "÷", "-‐‑‒–—―−－")
_RAISED = str.maketrans("⁻⁺₋₊", "^^^^")  # TeX has `^{-3}` for them, where the sign is not between digits
_MARKS = {sign: chr(0xFDD0 + number) for number, signs in enumerate(_FORMS) for sign in signs}


class _KeptCharacters(dict[int, int | None]):
    """A table for str.translate that keeps every relevant character and looks up a character's category only once."""

    def __missing__(self, code: int) -> int | None:
        kind = unicodedata.category(chr(code))
        counts = kind[0] in "LN" or (kind[0] == "M" and not 0xFE00 <= code <= 0xFE0F)
        counts = counts or (kind == "So" and code > 0x7F) or (kind == "Sk" and 0x1F3FB <= code <= 0x1F3FF)
        counts = counts or chr(code) in _MARKS.values()
        self[code] = code if counts else None
        return self[code]


_KEPT = _KeptCharacters()


@dataclass(frozen=True, slots=True)
class Plain:
    """A text in one reading of its markup. `shown` has its spaces, and `letters` is the form for comparison."""

    shown: str
    letters: str

    @staticmethod
    def from_text(shown: str) -> "Plain":
        return Plain(shown, letters(shown))

    def drop_first(self, count: int) -> "Plain":
        for place, character in enumerate(mark_signs(self.shown)):
            if count <= 0:
                return Plain.from_text(self.shown[place:])
            count -= len(letters(character))
        return Plain.from_text("")


def mark_signs(text: str) -> str:
    """Replace each sign between two digits by one character that `letters` keeps, so that 3/4 is not 34."""

    def mark(found: re.Match[str]) -> str:
        place, sign = next((place, sign) for place, sign in enumerate(found[0]) if sign in _MARKS)
        return f"{' ' * place}{_MARKS[sign]}{' ' * (len(found[0]) - place - 1)}"

    return _SIGN.sub(mark, text)


def letters(text: str) -> str:
    """Return the letters, digits, marks, emoji and signs between digits of a text, in one Unicode form."""
    if text.isascii() and text.isalnum():
        return text
    return mark_signs(unicodedata.normalize("NFKC", text.translate(_RAISED))).translate(_KEPT)


def readings(text: str) -> tuple[Plain, ...]:
    """Return the possible meanings of a received text without duplicates, the most likely first: Markdown, HTML, plain
    text and escaped HTML. Readings without buttons and without the text of pictures are included."""
    found: dict[str, Plain] = {}
    marked = "<" in text or "&" in text or "[" in text or "`" in text
    texts = [render_markdown(text)]
    if "<button" in text.lower():
        texts.append(render_markdown(_BUTTON.sub("", text)))
    if marked or re.search(r"\d[.)]\s", text):
        texts += [_shown_html(text), text]
        if "&lt;" in text:
            texts.append(render_markdown(html.unescape(text)))
        if "![" in text or "<img" in text.lower():
            texts.append(render_markdown(_IMAGE.sub("", _ALT.sub("", text))))
    for shown in texts:
        plain = Plain.from_text(shown)
        found.setdefault(plain.letters, plain)
    return tuple(found.values())


def page_readings(answer: str) -> tuple[Plain, ...]:
    """Return the readings of an answer on a page. A second reading is for pages that write the language of a code
    block above it as a word."""
    found = readings(answer)
    named = Plain.from_text(render_markdown(_LANGUAGE.sub(r"\2\n\n\1\n", answer)))
    return found if named.letters == found[0].letters else (*found, named)


def render_markdown(markdown: str) -> str:
    """Return the text of a Markdown document, including any HTML in it, without its markup."""
    parts: list[str] = []
    place = 0
    for fence in _FENCE.finditer(markdown):
        parts += (_render_inline(markdown[place : fence.start()]), fence["code"])
        place = fence.end()
    parts.append(_render_inline(markdown[place:]))
    return "\n".join(parts)


def _render_inline(text: str) -> str:
    text = _NUMBERED.sub("", _TASK.sub(r"\1", _REFERENCE.sub("", text)))
    parts: list[str] = []
    place = 0
    for code in _CODE.finditer(text):
        parts += (_shown_html(_strip_links(text[place : code.start()])), code["code"])
        place = code.end()
    parts.append(_shown_html(_strip_links(text[place:])))
    return "".join(parts)


def _strip_links(text: str) -> str:
    if "[" not in text:
        return text
    text = _IMAGE.sub(r"\1", text)
    # A link may contain a picture, so links come after pictures.
    return _REFERRED.sub(r"\1", _LINK.sub(r"\1", text))


def _shown_html(text: str) -> str:
    if "<" in text:
        text = _ALT.sub(lambda found: f" {found[1] or found[2] or ''} ", _UNSEEN.sub("", _AUTOLINK.sub(r"\1", text)))
        text = _TAG.sub("", _ITEM.sub("\n", _SCRIPT.sub("^", text)))
    return html.unescape(text) if "&" in text else text
