"""The URLs of a given kind in an answer, with their positions.

Only the first 10,000 URLs and links in the first million characters are searched. This takes a few tenths of a second,
and is far more than a person reads.
"""

from collections.abc import Container, Iterator
from dataclasses import dataclass

from protocols.answer import Answer
from protocols.rules.contains import SPACED
from topics.addresses import canonical_url
from topics.kinds import KINDS, UrlKind
from topics.late_pattern import lazy_pattern
from topics.links import MOST_LINKS, find_urls
from topics.topic import Topic

# The kind of URL the topic's type asks for.
ASKED = "asked"

# Every URL, of any kind.
ANY = "any"

_SEARCHED = 1_000_000  # characters; the note says so if there are more
# Number of places of one anchor that are tried: "Up" may be the beginning of many words.
_MOST_TRIED = 20
# Two adjacent letters of scripts that put spaces between words: they belong to one word.
_WITHIN_WORD = lazy_pattern(SPACED * 2)
# Largest number of anchors that are searched: each search can go through the whole text.
_MOST_ANCHORS = 200


@dataclass(frozen=True, slots=True)
class NamedUrl:
    """A URL in an answer.

    `key` is its canonical identity. `start` and `end` are the offsets of the URL or of its anchor. For a source, they
    are the offsets of the passage that the source supports. Without URL, anchor and passage in the text, both are -1.
    `bare` is True if the text contains the URL itself, and not only an anchor that leads to the URL.
    """

    key: str
    start: int
    end: int
    href: str
    bare: bool


def url_kind(name: str, topic: Topic) -> UrlKind | None:
    """Return the kind of URL called `name`. Returns None for `any`, and for `asked` if the topic's type has no URL."""
    if name == ASKED:
        return topic.type.url
    return None if name == ANY else KINDS[name]


def kind_fault(name: str, topic: Topic) -> str | None:
    """Return the reason why the kind `name` cannot be used with this topic, or None for a usable kind."""
    if name == ASKED and topic.type.url is None:
        return f"looks for URLs of the asked kind, and the topic type {topic.type.name!r} asks for no URL (url: null)"
    return None


def describe_search_limit(answer: Answer) -> str:
    """Return how much of the answer was searched, as the end of a sentence, or "" if the whole answer was searched."""
    if len(answer.text) > _SEARCHED:
        return f" in the first {_SEARCHED} of {len(answer.text)} characters"
    links = len(answer.links) + answer.links_left_out
    return f" in the first {MOST_LINKS} of {links} links" if links > MOST_LINKS else ""


def named_urls(answer: Answer, name: str, topic: Topic) -> tuple[NamedUrl, ...]:
    """Return the URLs of the kind `name` in the answer, in order of appearance. URLs written in the text come first,
    followed by URLs that only the answer's links lead to (a page shows the anchor and not the address)."""
    kind = url_kind(name, topic)
    if kind is None and name == ASKED:
        return ()
    written: dict[str, str | None] = {}
    found = []
    cut = len(answer.text) > _SEARCHED
    for mention in find_urls(answer.text[:_SEARCHED], most=MOST_LINKS):
        if cut and mention.end == _SEARCHED:
            break  # it continues beyond the searched part
        if mention.href not in written:
            written[mention.href] = _entity_key(mention.href, kind)
        key = written[mention.href]
        if key is not None:
            found.append(NamedUrl(key, mention.start, mention.end, mention.href, True))
    found.extend(_urls_behind_links(answer, kind, written))
    return tuple(found)


def _urls_behind_links(answer: Answer, kind: UrlKind | None, written: Container[str]) -> Iterator[NamedUrl]:
    cursor, looked_for = 0, 0
    places = {source.href: source for source in reversed(answer.sources) if source.start >= 0}
    for link in answer.links[:MOST_LINKS]:
        key = None if link.href in written else _entity_key(link.href, kind)
        if key is None:
            continue
        if (source := places.get(link.href)) is not None:
            yield NamedUrl(key, source.start, source.end, link.href, False)
            continue
        start = -1
        if link.text and looked_for < _MOST_ANCHORS:
            looked_for += 1
            start = _find_anchor(answer.text, link.text, cursor)
        if start < 0:
            yield NamedUrl(key, -1, -1, link.href, False)
        else:
            cursor = start + len(link.text)
            yield NamedUrl(key, start, cursor, link.href, False)


def _find_anchor(text: str, anchor: str, cursor: int) -> int:
    for _ in range(_MOST_TRIED):
        start = text.find(anchor, cursor)
        if start < 0:
            break
        end = start + len(anchor)
        # Emphasis does not end a word: "**Up**date".
        before, after = text[max(0, start - 5) : start].rstrip("*_"), text[end : end + 5].lstrip("*_")
        if not (_WITHIN_WORD.fullmatch(before[-1:] + anchor[0]) or _WITHIN_WORD.fullmatch(anchor[-1] + after[:1])):
            return start
        cursor = start + 1
    return -1


def _entity_key(href: str, kind: UrlKind | None) -> str | None:
    return canonical_url(href) if kind is None else kind.key(href)
