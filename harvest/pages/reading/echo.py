"""The user's own text as the page shows it: rendered as Markdown, linked, cut short, or preceded by a name."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from harvest.pages.reading.elements import hints, signature
from harvest.pages.reading.page import AT_ONCE, Node, collapse_spaces, letters
from harvest.pages.reading.page_text import PageText

_LONG_SENTENCE = 60  # letters that identify a sentence; a page may cut a long one short
_SHORT_SENTENCE = 24  # … if dots show that the page cut it
_EXTRA_LETTERS = 32  # letters of name, time and state that may be in the line of the user's words
_MARKUP = (
    (re.compile(r"!?\[([^\]\n]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)"), r"\1"),
    (re.compile(r"^[ \t]*(?:\d{1,9}[.)]|#{1,6}|[-*+>]|```\w*)[ \t]*", re.MULTILINE), ""),
    (re.compile(r"</?[a-zA-Z][^<>]*>"), ""),
)


class Echo(NamedTuple):
    """The smallest element `node` with the user's text, and the text's range [start, end) in the page's letters."""

    node: Node
    start: int
    end: int


def find_echoes(ground: PageText, said: str, *, user: Sequence[str] = ()) -> list[Echo]:
    """Find the user's text of this turn on the page, the most likely position first. `user` is the trail (see `trail`)
    of the user's text in earlier turns."""
    found = [echo for echo in find_occurrences(ground, said) if not is_set_aside(echo.node, said)]
    if ground.has_times:
        found = [echo for echo in found if ground.is_fresh(echo.node)]  # others belong to earlier turns
        if ground.before is not None and len(found) > 1:
            # Some may be of earlier turns and only rendered again: of each kind of element, as many are new as there
            # are more now, and those are the last ones.
            stood, all_now = (
                Counter(trail(echo.node) for echo in find_occurrences(text, said) if not is_set_aside(echo.node, said))
                for text in (ground.before, ground)
            )
            kept: set[Echo] = set()
            for made in dict.fromkeys(trail(echo.node) for echo in found):
                alike = [echo for echo in found if trail(echo.node) == made]
                kept.update(alike[-max(1, all_now[made] - stood[made]) :])
            found = [echo for echo in found if echo in kept]
        first = min((ground.births.get(echo.node, 0.0) for echo in found), default=0.0)
    else:
        found.reverse()
        first = 0.0
    found = _keep_last_occurrences(ground, found)
    near = {around: depth for node in ground.composers for depth, around in enumerate([*node.ancestors()][::-1])}

    def rank(echo: Echo) -> tuple[bool, bool, int, bool]:
        # A bot may say the user's words again: then the first who said them is the user. A list of chats that is
        # named after them is in another part of the page than the composer.
        depth = max((near.get(around, 0) for around in echo.node.ancestors()), default=0)
        late = ground.births.get(echo.node, 0.0) > first + AT_ONCE
        # Words of several paragraphs fill more than one element, so the element may also be one level further in or
        # out than before; an answer that repeats them in one element must not be mistaken for them.
        made, known = trail(echo.node), tuple(user)
        follows = made == known or made[:2] == known[1:] or made[1:] == known[:2]
        return bool(user) and not follows, is_title(echo.node), -depth, late

    return sorted(found, key=rank)


def trail(node: Node) -> tuple[str, ...]:
    """Return the signatures of an element and its two nearest ancestors."""
    return tuple(signature(around) for around, _ in zip(node.self_and_ancestors(), range(3), strict=False))


def find_occurrences(ground: PageText, said: str) -> Iterator[Echo]:
    """Yield every position of the user's text in any turn and from either speaker."""
    wanted = letters(said)
    if not wanted:
        # For a turn without letters, such as `?` or a single emoji, only elements with just that text count.
        signs = collapse_spaces(said)
        length = len(signs.replace(" ", ""))
        for node, span in sorted(ground.spans.items(), key=lambda item: item[1].begun):
            if length and span.signs == length and not node.elements and node.text == signs:
                yield Echo(node, span.start, span.end)
        return
    seen: set[int] = set()
    plain = said
    for pattern, kept in _MARKUP:
        plain = pattern.sub(kept, plain)
    for words in dict.fromkeys((wanted, letters(plain))):
        for start in _word_starts(ground, words):
            end = start + len(words)
            first, last = ground.line(start, end)
            if start not in seen and end in ground.ends and last - first - len(words) <= _EXTRA_LETTERS:
                seen.add(start)
                yield Echo(ground.smallest_element(start, end), start, end)
    if not seen:
        yield from _short_echoes(ground, wanted)


def _word_starts(ground: PageText, words: str) -> Iterator[int]:
    start = ground.letters.find(words) if words else -1
    while start >= 0:
        if start in ground.starts:
            yield start
        start = ground.letters.find(words, start + 1)


def _short_echoes(ground: PageText, wanted: str) -> Iterator[Echo]:
    for start in _word_starts(ground, wanted[:_SHORT_SENTENCE]) if len(wanted) > _SHORT_SENTENCE else ():
        shared = _SHORT_SENTENCE
        most = min(len(wanted), len(ground.letters) - start)
        while shared < most and wanted[shared] == ground.letters[start + shared]:
            shared += 1
        while start + shared not in ground.ends:  # the next element may begin with the same letters
            shared -= 1
        node = ground.smallest_element(start, start + shared)
        first, last = ground.line(start, start + shared)
        if last - first - shared <= _EXTRA_LETTERS and (
            shared >= _LONG_SENTENCE or "…" in node.text or "..." in node.text
        ):
            yield Echo(node, start, start + shared)


def _keep_last_occurrences(ground: PageText, found: list[Echo]) -> list[Echo]:
    kept: dict[Node, Echo] = {}
    names: dict[Node, str] = {}
    for echo in sorted(found, key=lambda echo: echo.start):
        first, _ = ground.line(echo.start, echo.end)
        name = ground.letters[first : echo.start]
        if names.setdefault(echo.node, name) == name:
            kept[echo.node] = echo
    return [echo for echo in found if kept[echo.node] is echo]


def is_set_aside(node: Node, said: str) -> bool:
    """Return True if the element is in a link, as in lists of earlier chats, or in something to choose from."""
    return "://" not in said and any(
        (around.tag == "a" and "href" in around.attributes) or around.get("role") in ("treeitem", "link")
        for around in node.self_and_ancestors()
    )


def is_title(node: Node) -> bool:
    """Return True if the element is marked as a title, such as the name of a conversation."""
    return node.tag == "h1" or "title" in hints(node)
