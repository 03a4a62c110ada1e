"""URLs in replies: their positions and their anchors.

Replies are plain text or Markdown, with URLs joined to words, wrapped in brackets and quotation marks, or followed by
a full stop. All functions take time linear in the length of the text, and never raise: text that is not a URL is
skipped. A reply may be megabytes of links, so the number of returned links is limited, and the remaining links are
counted.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from topics.addresses import AUTHORITY, address, canonical_host
from topics.late_pattern import lazy_pattern
from topics.lower_case import to_lower

# The largest number of links that are returned for one reply.
MOST_LINKS = 10_000

_MOST_TRIED = 2 * MOST_LINKS  # beginnings of URLs that are checked for them, and
_MOST_BRACKETS = 10 * MOST_LINKS  # brackets of Markdown

# Ends a URL in running text: white space, the marks around URLs in Markdown, HTML and tables, typographic
# quotation marks, ideographic and full-width punctuation, invisible characters. Non-ASCII letters stay: hosts and
# paths are often written with them.
_STOP = (
    r"\s\x00-\x20\x7f-\xa0\"<>`|^\\"
    "«»“”„‟‘’‚‛‹›—…•→、。〃〈〉《》「」『』【】〔〕〖〗〘〙〚〛〜〝〞〟！＂＇（），．：；＜＞？［］｛｜｝～｟｠｡｢｣､\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffc\ufffd"
)
_ESCAPE = r"\\[_*~()\[\]&#+.!=-]"  # Markdown writes foo_bar as foo\_bar
# A pattern that begins with a literal is searched many times faster. So the scheme is checked by a lookbehind, which
# saves a copy of megabytes in lower case.
_MARK = r"://(?:(?<=[Hh][Tt][Tt][Pp]://)|(?<=[Hh][Tt][Tt][Pp][Ss]://))"
_START = lazy_pattern(_MARK)
_RUN = lazy_pattern(rf"{_MARK}(?:[^{_STOP}]++|{_ESCAPE})+")
_RUN_OR_WWW = lazy_pattern(rf"(?:https?://|(?<![\w@.-])www\.)(?:[^{_STOP}]++|{_ESCAPE})+")  # for the text in lower case
_ENTITY = lazy_pattern(r"&(?ai:lt|gt|quot|apos|nbsp|#0?39|#x27);")
_PLAIN_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
# A run of at most 253 characters that is one URL from end to end: most are, and are not examined further.
_PLAIN = lazy_pattern(
    rf"[Hh][Tt][Tt][Pp][Ss]?://{_PLAIN_LABEL}(?:\.{_PLAIN_LABEL})*+"
    r"(?:[/?#][A-Za-z0-9/._~!$&'*+,=?#%@-]*+(?<=[A-Za-z0-9/$&+=#%@-]))?"
)
_SCHEME = lazy_pattern(r"https?://", re.IGNORECASE)
_BRACKET = lazy_pattern(r"[()\[\]{}]")
_CLOSES = {")": "(", "]": "[", "}": "{"}
_TRAILING = ".,;:!?'*~([{–\\"
_OPENED = lazy_pattern(r"(?<![^\s(\[*\"'])_{1,3}(?=[^\s_])")
_CLOSED = lazy_pattern(r"(?<=[^\s_])_{1,3}(?!\w)")
_UNSURE = lazy_pattern(r"_(?![A-Za-z0-9/-])|_[Hh][Tt][Tt][Pp]")
_BRACKETS = lazy_pattern(r"\\.|\n[ \t]*\n|!?\[|\]")
_TITLE = lazy_pattern(r"\s{0,9}(?:\"[^\"\n]{0,999}\"|'[^'\n]{0,999}'|\([^()\n]{0,999}\))?\s{0,9}\)")
_IN_DESTINATION = lazy_pattern(r"\\.|[()\s]")
_LONGEST_URL = 2**15  # servers refuse longer ones; a text without blanks must not take quadratic time
_LONGEST_PLAIN = 253  # host names are never longer
_LONGEST_ALONE = 1024  # longer lines are read piece by piece
_LONGEST_DESTINATION = 4096  # characters of a link's destination, and
_DEEPEST_BRACKETS = 8  # brackets open in it: both keep the search linear in the text


@dataclass(frozen=True, slots=True)
class Link:
    """A link as a reader sees it: its visible text, or the URL if there is no text, and the target URL."""

    text: str
    href: str


@dataclass(frozen=True, slots=True)
class Mention:
    """A URL in a text: characters [start, end), and the intended URL (without Markdown's escapes, with a scheme)."""

    start: int
    end: int
    href: str


@dataclass(frozen=True, slots=True)
class FoundLinks:
    """The first `MOST_LINKS` links of a reply. `left_out` is the number of times that `http://` or `https://` occurs
    in the unsearched rest of the text, or 0 if the whole text was searched."""

    links: tuple[Link, ...]
    left_out: int = 0


def find_urls(text: str, *, www: bool = False, most: int | None = None) -> tuple[Mention, ...]:
    """Return the http and https URLs in `text`, in order, without surrounding punctuation and brackets.

    With `www`, also find `www.example.org/…` without a scheme; the href of such a URL gets https. `most` limits the
    number of URLs, and the number of candidates to twice as many. A URL inside another URL is part of the outer URL
    after `/`, `=` or `:` (archives, redirects), and a separate URL otherwise (a list without spaces). URLs longer
    than 32,768 characters are ignored, as browsers do not accept them.
    """
    if not www and (plain := _plain_urls(text, most)) is not None:
        return plain
    tried = _url_candidates(text, www)
    mentions = (mention for _, mention in islice(tried, most and 2 * most) if mention is not None)
    return tuple(islice(mentions, most))


def url_ends(text: str) -> list[tuple[int, str]] | None:
    """Return the end and href of each URL of `find_urls(text)`, or None if a URL depends on the text before it. This
    function is much faster than `find_urls` if many texts contain the same addresses."""
    found = []
    for run in _RUN.finditer(text):
        mark, stop = run.span()
        begin = _scheme_start(text, mark)
        urls = _bare_urls(text[begin:stop]) if stop - begin <= _LONGEST_ALONE else None
        if urls is None:
            return None
        for end, href in urls:
            found.append((begin + end, href))
    return found


@lru_cache(maxsize=2**15)
def _bare_urls(run: str) -> tuple[tuple[int, str], ...] | None:
    """Return ends and hrefs of the URLs in a run without space, or None if a URL depends on the text around the run."""
    if _UNSURE.search(run):
        return None  # the underscore may end an emphasis that began much earlier
    return tuple((one.end, one.href) for one in find_urls(run))


def links_in(text: str, *, www: bool = False) -> tuple[Link, ...]:
    """Return at most the first `MOST_LINKS` links of a reply in order: Markdown links with their anchors, and bare
    URLs as their own text. An image is not a link; the text of a link around an image is the image's alternative
    text."""
    return find_links(text, www=www).links


def find_links(text: str, *, www: bool = False) -> FoundLinks:
    """Return the links of a reply, as `links_in` does, and the number of links left out."""
    covered: list[tuple[int, int]] = []
    found: list[tuple[int, Link]] = []
    for start, end, link in islice(_markdown_links(text, www), _MOST_TRIED):
        covered.append((start, end))
        if link is not None:
            found.append((start, link))
            if len(found) == MOST_LINKS:
                break
    if (
        not covered
        and not www
        and (plain := _plain_urls(text, MOST_LINKS + 1)) is not None
        and len(plain) <= MOST_LINKS
    ):
        return FoundLinks(tuple([Link(one.href, one.href) for one in plain]))
    covered.sort()
    starts = sorted(start for start, _ in found)
    bare, reached = 0, len(text)
    for number, (start, mention) in enumerate(_url_candidates(text, www, covered)):
        if number == _MOST_TRIED or bare + bisect_left(starts, start) >= MOST_LINKS:
            reached = start
            break
        if mention is not None:
            bare += 1
            found.append((start, Link(mention.href, mention.href)))
    found.sort(key=lambda item: item[0])
    if len(found) > MOST_LINKS:
        reached = min(reached, found[MOST_LINKS][0])
    kept = tuple(link for start, link in found[:MOST_LINKS] if start < reached)
    rest = to_lower(text[reached:])
    return FoundLinks(kept, rest.count("http://") + rest.count("https://"))


def _plain_urls(text: str, most: int | None = None) -> tuple[Mention, ...] | None:
    """Return at most `most` URLs of a text in which each of their runs is exactly one URL, or None for other texts."""
    found: list[Mention] = []
    for run in _RUN.finditer(text):
        if len(found) == most:
            break
        begin, stop = _scheme_start(text, run.start()), run.end()
        if stop - begin > _LONGEST_PLAIN or _PLAIN.fullmatch(text, begin, stop) is None:
            return None
        found.append(Mention(begin, stop, text[begin:stop]))
    return tuple(found)


def _url_candidates(
    text: str, www: bool, covered: Sequence[tuple[int, int]] = ()
) -> Iterator[tuple[int, Mention | None]]:
    """Yield the positions at which a URL may begin, in order, with the URL or None. No URL begins in the `covered`
    spans [start, end), which are sorted by start."""
    i = reach = 0
    # [begin, stop) of a run without white space, from a scheme on (www: or from `www.` on).
    if www:
        runs = (run.span() for run in _RUN_OR_WWW.finditer(to_lower(text)))
    else:
        runs = ((_scheme_start(text, run.start()), run.end()) for run in _RUN.finditer(text))
    for begin, stop in runs:
        plain = stop - begin <= _LONGEST_PLAIN and _PLAIN.fullmatch(text, begin, stop) is not None
        for start, limit in ((begin, stop),) if plain else _split_run(text, begin, stop):
            while start < limit:
                while i < len(covered) and covered[i][0] <= start:
                    reach = max(reach, covered[i][1])
                    i += 1
                if plain:
                    if start >= reach:
                        yield start, Mention(start, limit, text[start:limit])
                    break
                end = reach
                if start >= reach:
                    end = _url_end(text, start, limit)
                    mention = None
                    if end - start <= _LONGEST_URL:  # else everything inside it is skipped too
                        href = text[start:end]
                        if "\\" in href:
                            href = re.sub(r"\\(.)", r"\1", href)
                        if not _SCHEME.match(href):
                            href = f"https://{href}"
                        if end > start and address(href) is not None:
                            mention = Mention(start, end, href)
                        else:
                            end = start + 1
                    yield start, mention
                start = next(_starts(text, end, limit), limit)


def _starts(text: str, begin: int, end: int) -> Iterator[int]:
    for mark in _START.finditer(text, begin, end):
        start = _scheme_start(text, mark.start())
        if start >= begin:
            yield start


def _scheme_start(text: str, mark: int) -> int:
    return mark - (5 if text[mark - 1] in "sS" else 4)


def _split_run(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for entity in _ENTITY.finditer(text, start, end):  # the rest is text that was escaped for HTML
        yield from _pieces_between(text, start, entity.start())
        start = entity.end()
    yield from _pieces_between(text, start, end)


def _pieces_between(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for inner in _starts(text, start + 1, end):
        if text[inner - 1] not in "/=:":
            yield start, inner
            start = inner
    if start < end:
        yield start, end


def _url_end(text: str, start: int, limit: int) -> int:
    scheme = _SCHEME.match(text, start, limit)
    authority = AUTHORITY.match(text, scheme.end() if scheme else start, limit)
    # Before the rest is searched, which may contain the beginnings of a million more.
    if authority is None or canonical_host(authority["host"].rstrip("._-")) is None:
        return start
    port = (authority["port"] or "").lstrip("0")
    if len(port) > 5 or int(port or 0) > 65535:
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
            else:  # closes a bracket from before the URL
                end = bracket.start()
                break
    trailing = _TRAILING + "_" if text[end - 1] in "_.,;:!?*" and _in_emphasis(text, start) else _TRAILING
    while end > start and text[end - 1] in trailing:
        end -= 1
    return end


def _in_emphasis(text: str, start: int) -> bool:
    """Return True if `_emphasis_` is open at the start of the URL. Only then is a final `_` not part of the URL."""
    before = text[max(0, start - 200) : start]
    before = before[before.rfind("\n") + 1 :] + "h"
    opened = [match.end() for match in _OPENED.finditer(before)]
    return bool(opened) and _CLOSED.search(before, opened[-1]) is None


def _markdown_links(text: str, www: bool) -> Iterator[tuple[int, int, Link | None]]:
    """Yield (start, end, link) for every `[anchor](url)`; the link is None for an image."""
    if "](" not in text:
        return
    opened: list[tuple[int, bool]] = []
    alternatives: dict[int, tuple[int, str]] = {}
    for token in islice(_BRACKETS.finditer(text), _MOST_BRACKETS):
        if token[0] in ("[", "!["):
            opened.append((token.end(), token[0] == "!["))
        elif token[0] == "]" and opened:
            inside, image = opened.pop()
            end, href = _link_destination(text, token.end(), www)
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
            opened.clear()  # an anchor cannot contain a blank line


def _link_destination(text: str, start: int, www: bool) -> tuple[int, str]:
    """Return (end, href) of the `(url "title")` at `start`. Without such a destination, href is ""."""
    if not text.startswith("(", start):
        return -1, ""
    start += 1
    while text.startswith((" ", "\t", "\n"), start):
        start += 1
    if text.startswith("<", start):
        end = text.find(">", start, start + _LONGEST_DESTINATION)
        if end < 0 or "\n" in text[start:end]:
            return -1, ""
        target, end = text[start + 1 : end], end + 1
    else:
        end, depth = start, 0
        for token in _IN_DESTINATION.finditer(text, start, start + _LONGEST_DESTINATION):
            end = token.start()
            if token[0] == "(":
                depth += 1
                if depth > _DEEPEST_BRACKETS:
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
