"""Texts of nodes for display: on one line, cut to a width, and safe for terminals and files."""

import re
import unicodedata
from math import isnan
from urllib.parse import unquote

from recordings.trees.tree import ConversationTree
from topics.addresses import canonical_url
from topics.counting import pluralize
from topics.decimals import percent
from topics.kinds import KINDS
from topics.late_pattern import lazy_pattern
from topics.links import find_urls, links_in

_LONGEST = 1000  # columns

# The carriage return among them: a reader of XML turns it into a line end.
_NOT_IN_XML = re.compile("[\x00-\x08\x0b-\x1f\x85\ud800-\udfff\ufffe\uffff]")
_BIDI = {*"\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"}


def one_line(text: str) -> str:
    """Return `text` on one line. White space is collapsed, control characters become pictures, and direction marks,
    lone surrogates and noncharacters are replaced by their code."""
    line = " ".join(text.split())
    return line if line.isprintable() else "".join(map(_as_picture, line))


def _as_picture(character: str) -> str:
    code = ord(character)
    unassigned = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
    if character in _BIDI or 0xD800 <= code <= 0xDFFF or 0x80 <= code < 0xA0 or unassigned:
        return f"<U+{code:04X}>"
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else character


def xml_safe(text: str) -> str:
    """Replace characters that XML 1.0 does not allow (most control characters, lone surrogates) by their code."""
    return _NOT_IN_XML.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)


def column_width(text: str) -> int:
    """Return the number of terminal columns that `text` occupies."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(character: str) -> int:
    if character.isascii():
        return 1
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def shorten(text: str, width: int) -> str:
    """Shorten `text` to at most `width` columns, with an ellipsis at the end if something was cut off."""
    if column_width(text) <= width:
        return text
    room, kept = width - 1, ""
    for character in text:
        room -= _cells(character)
        if room < 0:
            break
        kept += character
    return kept.rstrip() + "…" if width > 0 else ""


def node_title(tree: ConversationTree, node: int) -> str:
    """Return the name of a node for people: its text if turns were merged by text, the names of entities if turns were
    merged by entities, else the key. An empty key is written `∅`, which means that no entity was named."""
    if node == 0:
        return "start"
    symbol = tree.symbol_at(node)
    declared = next((key.name for key in tree.keys if key.speaker == symbol.speaker), tree.merge)
    if declared in ("exact", "number") and symbol.text:
        return _limit_length(symbol.text)
    if declared == "entities" and symbol.key and len(symbol.key) < _LONGEST**2:
        return _limit_length(entity_names(symbol.key, symbol.text))
    return _limit_length(symbol.key) or "∅"


def _limit_length(text: str) -> str:
    return shorten(one_line(text[: 4 * _LONGEST]), _LONGEST)


def format_percent(share: float) -> str:
    """Format a share as a whole percentage. 0% is written only for exactly 0, and 100% only for exactly 1."""
    if isnan(share):
        return "n/a"
    if 0 < share <= 0.005:
        return "<1%"
    if 0.995 <= share < 1:
        return ">99%"
    return percent(share)


def tree_title(tree: ConversationTree) -> str:
    """Return the title of a tree: systems, topics, keys, number of trials, and the conversations that were left out."""
    scope = tree.scope
    return " · ".join(
        part for part in (_list_names(scope.systems), _list_names(scope.topics), *scope_phrases(tree)) if part
    )


def scope_phrases(tree: ConversationTree) -> list[str]:
    """Return phrases on a tree's merge key, its number of trials, and the conversations that were left out."""
    parts = [f"merged by {tree.merge}", f"{tree.n} trial{'s' if tree.n != 1 else ''}"]
    left = [
        pluralize(count, f"{kind} trial")
        for kind, count in (("invalid", tree.scope.invalid), ("interrupted", tree.scope.interrupted))
        if count
    ]
    return [*parts, *([f"left out: {', '.join(left)}"] if left else [])]


def _list_names(names: tuple[str, ...]) -> str:
    shown = ", ".join(map(one_line, names[:3]))
    return f"{shown}, … ({len(names)})" if len(names) > 3 else shown


_LONGEST_ANSWER = 20_000  # characters of an answer that are searched for names
_LISTED = lazy_pattern(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_ROUND = " \t,;:|–—-([*_`\"'"


def entity_names(key: str, text: str) -> str:
    """Return the names of the addresses in `key`, in the same order: `One Title · Another`. `text` is an answer that
    contains the addresses. The name is the text of the link, else the text before the address in its line, else the end
    of the address."""
    wanted = key.split()
    shown = text[:_LONGEST_ANSWER]
    names: dict[str, str] = {}
    for link in links_in(shown):
        if link.text != link.href:
            for one in _key_forms(link.href) & set(wanted):
                names.setdefault(one, link.text)
    for mention in find_urls(shown):
        line = shown[shown.rfind("\n", 0, mention.start) + 1 : mention.start]
        before = line[max((found.end for found in find_urls(line)), default=0) :]
        name = _LISTED.sub("", before).strip(_ROUND)
        for one in _key_forms(mention.href) & set(wanted):
            if name:
                names.setdefault(one, name)
    return " · ".join(" ".join(names.get(one, _address_end(one)).split()) for one in wanted)


def _key_forms(href: str) -> set[str]:
    return {key for key in (canonical_url(href), *(kind.key(href) for kind in KINDS.values())) if key}


def _address_end(address: str) -> str:
    bare = re.sub(r"^https?://(?:www\.)?", "", address).rstrip("/")
    return unquote(bare.rpartition("/")[2] or bare, errors="replace")
