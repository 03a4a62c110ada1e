"""URLs in replies: where they stand, and what they are called.

Replies are read as people see them: plain text or Markdown, with URLs glued to words, wrapped in brackets and
quotation marks, or followed by a full stop. Everything here takes time linear in the length of the text, and
never raises on what a system wrote: text that is no URL is simply not one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from topics.addresses import AUTHORITY, address, canonical_host, canonical_url
from topics.kinds import KINDS, UrlKind

__all__ = ["KINDS", "Link", "Mention", "UrlKind", "canonical_url", "find_urls", "links_in"]

# Ends a URL in running text: white space, what stands around URLs in Markdown, HTML and tables, typographic
# quotation marks, ideographic and full-width punctuation, invisible characters. Non-ASCII letters stay: hosts and
# paths are often written with them.
_STOP = (
    r"\s\x00-\x20\x7f-\xa0\"<>`|^\\"
    "«»“”„‟‘’‚‛‹›—…•→"
    "、。〃〈〉《》「」『』【】〔〕〖〗〘〙〚〛〜〝〞〟"
    "！＂＇（），．：；＜＞？［］｛｜｝～｟｠｡｢｣､"
    "\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffc\ufffd"
)
_ESCAPE = r"\\[_*~()\[\]&#+.!=-]"  # Markdown writes foo_bar as foo\_bar
_RUN = re.compile(rf"https?://(?:[^{_STOP}]|{_ESCAPE})+", re.IGNORECASE)
_RUN_OR_WWW = re.compile(rf"(?:https?://|(?<![\w@.-])www\.)(?:[^{_STOP}]|{_ESCAPE})+", re.IGNORECASE)
_START = re.compile(r"https?://", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:lt|gt|quot|apos|nbsp|#0?39|#x27);", re.IGNORECASE)
_BRACKET = re.compile(r"[()\[\]{}]")
_CLOSES = {")": "(", "]": "[", "}": "{"}
_TRAILING = ".,;:!?'*~([{–\\"
_OPENED = re.compile(r"(?<![^\s(\[*\"'])_{1,3}(?=[^\s_])")
_CLOSED = re.compile(r"(?<=[^\s_])_{1,3}(?!\w)")
_TITLE = re.compile(r"\s{0,9}(?:\"[^\"\n]{0,999}\"|'[^'\n]{0,999}'|\([^()\n]{0,999}\))?\s{0,9}\)")
_IN_DESTINATION = re.compile(r"\\.|[()\s]")
_LONGEST = 4096  # characters of a link's destination, and
_DEEPEST = 8  # brackets open in it: both keep the search linear in the text


@dataclass(frozen=True, slots=True)
class Link:
    """A link as a reader sees it. text: the anchor's words (the URL itself where it stands bare)."""

    text: str
    href: str


@dataclass(frozen=True, slots=True)
class Mention:
    """A URL in a text: characters [start, end), and the URL meant (Markdown's `\\_` undone, a scheme added)."""

    start: int
    end: int
    href: str


def find_urls(text: str, *, www: bool = False) -> tuple[Mention, ...]:
    """The http and https URLs in `text`, in order, without the punctuation and the brackets around them.

    www: also take `www.example.org/…` without a scheme; its href is given https. A URL inside another one is part
    of it after `/`, `=` or `:` (archives, redirects), and a URL of its own otherwise (a list without spaces).
    """
    return tuple(_mentions(text, _RUN_OR_WWW if www else _RUN))


def links_in(text: str, *, www: bool = False) -> tuple[Link, ...]:
    """The links of a reply, in order: Markdown links with their anchors, bare URLs with themselves as the text.

    An image is no link; a link around an image has the image's alternative text as its words.
    """
    found: list[tuple[int, Link]] = []
    covered: list[tuple[int, int]] = []
    for start, end, link in _markdown_links(text, www):
        covered.append((start, end))
        if link is not None:
            found.append((start, link))
    covered.sort()
    i = 0
    reach = -1
    for mention in find_urls(text, www=www):
        while i < len(covered) and covered[i][0] <= mention.start:
            reach = max(reach, covered[i][1])
            i += 1
        if mention.start >= reach:
            found.append((mention.start, Link(mention.href, mention.href)))
    return tuple(link for _, link in sorted(found, key=lambda item: item[0]))


def _mentions(text: str, runs: re.Pattern[str]) -> Iterator[Mention]:
    for run in runs.finditer(text):
        for start, limit in _pieces(text, run.start(), run.end()):
            while start < limit:
                end = _url_end(text, start, limit)
                href = re.sub(r"\\(.)", r"\1", text[start:end])
                if not _START.match(href):
                    href = f"https://{href}"
                if end > start and address(href) is not None:
                    yield Mention(start, end, href)
                else:
                    end = start + 1
                following = _START.search(text, end, limit)
                start = following.start() if following else limit


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A run without spaces may hold several URLs: `https://a.org,https://b.org`."""
    for entity in _ENTITY.finditer(text, start, end):  # the rest is text that was escaped for HTML
        yield from _pieces_between(text, start, entity.start())
        start = entity.end()
    yield from _pieces_between(text, start, end)


def _pieces_between(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for inner in _START.finditer(text, start + 1, end):
        if text[inner.start() - 1] not in "/=:":
            yield start, inner.start()
            start = inner.start()
    if start < end:
        yield start, end


def _url_end(text: str, start: int, limit: int) -> int:
    """Where the URL that begins at `start` ends; `start` where there is no host."""
    scheme = _START.match(text, start, limit)
    authority = AUTHORITY.match(text, scheme.end() if scheme else start, limit)
    if authority is None or canonical_host(authority["host"].rstrip("._-")) is None:
        return start
    end = authority.end()
    depth = {"(": 0, "[": 0, "{": 0}
    if end < limit and text[end] in "/?#":
        end = limit
        for bracket in _BRACKET.finditer(text, authority.end(), limit):
            opening = _CLOSES.get(bracket[0])
            if opening is None:
                depth[bracket[0]] += 1
            elif depth[opening]:
                depth[opening] -= 1
            else:  # closes what was opened before the URL
                end = bracket.start()
                break
    trailing = _TRAILING + "_" if text[end - 1] in "_.,;:!?*" and _emphasised(text, start) else _TRAILING
    while end > start and text[end - 1] in trailing:
        end -= 1
    return end


def _emphasised(text: str, start: int) -> bool:
    """Whether `_emphasis_` is open where the URL begins: only then does a last `_` not belong to the URL."""
    before = text[max(0, start - 200) : start]
    before = before[before.rfind("\n") + 1 :] + "h"
    opened = [match.end() for match in _OPENED.finditer(before)]
    return bool(opened) and _CLOSED.search(before, opened[-1]) is None


def _markdown_links(text: str, www: bool) -> Iterator[tuple[int, int, Link | None]]:
    """(start, end, link) for every `[anchor](url)`; the link is None for an image."""
    opened: list[tuple[int, bool]] = []
    alternatives: dict[int, tuple[int, str]] = {}
    for token in re.finditer(r"\\.|\n[ \t]*\n|!?\[|\]", text):
        if token[0] in ("[", "!["):
            opened.append((token.end(), token[0] == "!["))
        elif token[0] == "]" and opened:
            inside, image = opened.pop()
            end, href = _destination(text, token.end(), www)
            if not href:
                continue
            words = text[inside : token.start()].strip()
            if image:
                alternatives[inside - 2] = (end, words)
                yield inside - 2, end, None
            else:
                picture = alternatives.get(inside)
                if picture and picture[0] == token.start():
                    words = picture[1]
                yield inside - 1, end, Link(re.sub(r"\s+", " ", words) or href, href)
        elif token[0][0] == "\n":
            opened.clear()  # an anchor does not reach over a blank line


def _destination(text: str, start: int, www: bool) -> tuple[int, str]:
    """(end, href) of the `(url "title")` at `start`; href is "" where none stands there."""
    if not text.startswith("(", start):
        return -1, ""
    start += 1
    while text.startswith((" ", "\t", "\n"), start):
        start += 1
    if text.startswith("<", start):
        end = text.find(">", start, start + _LONGEST)
        if end < 0 or "\n" in text[start:end]:
            return -1, ""
        target, end = text[start + 1 : end], end + 1
    else:
        end, depth = start, 0
        for token in _IN_DESTINATION.finditer(text, start, start + _LONGEST):
            end = token.start()
            if token[0] == "(":
                depth += 1
                if depth > _DEEPEST:
                    return -1, ""
            elif token[0] == ")" and depth:
                depth -= 1
            elif token[0][0] != "\\":
                break
        else:
            return -1, ""
        target = text[start:end]
    closed = _TITLE.match(text, end)
    if closed is None:
        return -1, ""
    href = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", target)
    if www and href[:4].lower() == "www.":
        href = f"https://{href}"
    return closed.end(), href if address(href) is not None else ""
