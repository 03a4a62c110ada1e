"""A recorded page as a tree. The script eye.js wrote the page, and `harvest pages read-again` reads it again.

The eye writes the visible content as well-formed XHTML: the content of shadow roots is written inside their elements,
slots are filled, scripts and styles are left out. In addition to an element's own attributes there are attributes of
the eye:

    h-id      the eye's number for the element, unchanged for as long as the element lives
    h-box     x,y,width,height in CSS pixels of the frame's window; absent if the element takes no room
    h-hide    1: the element is invisible (display, visibility, opacity, clipped to nothing)
    h-show    its layout if the tag does not determine it: block, inline, none
    h-space   pre, or line: white space is shown (as with white-space: pre or pre-line)
    h-value   the text typed in (never of a password); for a code editor, all that is in it; of files, their names
    h-options the options of a list (select), one per line, 50 at most
    h-font    the size of its letters in CSS pixels, if it differs from the parent's size; h-ink: likewise their colour
    h-slant   1: its letters are slanted
    h-frame   1: a frame, with the eye's copy of its document in it; numbers of elements are left out there
    h-icon    1: its letters are drawings of an icon font
    h-dim     its opacity, if it is translucent
    h-edge    1: it has a line at its left, or a background of its own
    h-raise   super, or sub: it is higher or lower than the line
    h-mute    1: its text cannot be selected, although the text around it can
    h-cut     1: it has more content than fits inside its edges
    h-drawn   the words in a drawing (svg, canvas)
    h-count   1: an item of a list whose number comes from a style
    h-off     1: disabled, or read-only        h-edit   1: can be typed into
    h-typed   1: the last turn was typed into it
    h-click   1: the cursor becomes a hand over it, but not over its parent
    h-born    milliseconds after the last send at which it was added to the page; absent if it is older
    h-said    milliseconds after the last send at which the text directly in it last changed
    h-first   milliseconds after the last send at which it first got words, or new words in place of old words
    h-was     with h-first: its text until then, at most 100 characters; "" if there was no text
    h-site    names of the site's selectors that it matches, separated by spaces
    h-shadow  1: it has a shadow root; its children here are those of the shadow root

Words that only a style adds to an element without text (`content` of `::before`) are written as its text. Text directly
in a closed `details` is in an element `h-text`. If a `src` contains the picture itself, only
the media type is kept: `data:image/png`.

The root is `h-page` with url, title, width, height and `asked` (milliseconds since the last send). In an answer that is
stored by itself the reader adds marks of its own: `h-left-out` on each element that is not part of the answer, with the
value `1` or `thoughts`, and `left-out="marked"` on the root.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple
from xml.etree.ElementTree import Element, ParseError, XMLParser, tostring

AT_ONCE = 30.0  # milliseconds within which elements count as added in one stroke
ICON_LETTERS = re.compile("[\ue000-\uf8ff]")  # the private letters in which icon fonts draw
_SPACES = re.compile(r"[ \t\r\n\f\u200b\ufeff]+")
_DEEPEST = 300  # elements; the eye stops before
_NO_LETTERS = re.compile(r"[\W_]+")

_BLOCKS = """
address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer form
h-page h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre search section summary
table tbody td tfoot th thead tr ul
"""
BLOCKS = frozenset(_BLOCKS.split())


class Box(NamedTuple):
    """The position and size of an element, in CSS pixels of its frame's window."""

    x: float
    y: float
    width: float
    height: float

    @property
    def bottom(self) -> float:
        return self.y + self.height

    @property
    def right(self) -> float:
        return self.x + self.width


@dataclass(eq=False)
class Node:
    """An element. `children` are its elements and texts in page order. A node equals only itself."""

    tag: str
    attributes: dict[str, str]
    children: list[Node | str] = field(default_factory=list)
    parent: Node | None = None

    def get(self, name: str) -> str:
        return self.attributes.get(name, "")

    @property
    def id(self) -> int:
        """The number that the eye gave the element, or 0."""
        return int(self.get("h-id") or 0)

    @cached_property
    def box(self) -> Box | None:
        parts = self.get("h-box").split(",")
        return Box(*(float(part) for part in parts)) if len(parts) == 4 else None

    @property
    def hidden(self) -> bool:
        """True if the element itself is hidden. Its ancestors are not considered."""
        return "h-hide" in self.attributes

    @cached_property
    def visible(self) -> bool:
        """True if neither the element nor an ancestor is hidden."""
        return not self.hidden and (self.parent is None or self.parent.visible)

    @property
    def block(self) -> bool:
        """True if the element begins and ends a line."""
        return {"block": True, "inline": False}.get(self.get("h-show"), self.tag in BLOCKS)

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(self.get("class").split())

    @property
    def names(self) -> str:
        """The class names, id and test id as one text."""
        return f"{self.get('class')} {self.get('id')} {self.get('data-testid')}"

    @property
    def birth_time(self) -> float | None:
        """Milliseconds after the last send at which the element was added, or None for an older element."""
        return float(self.attributes["h-born"]) if "h-born" in self.attributes else None

    @property
    def elements(self) -> list[Node]:
        return [child for child in self.children if isinstance(child, Node)]

    @property
    def has_text(self) -> bool:
        """True if there is text directly in the element, hidden or not."""
        return any(isinstance(child, str) and child.strip() for child in self.children)

    def walk(self) -> Iterator[Node]:
        """Yield this element and everything in it, in page order."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.elements))

    def ancestors(self) -> Iterator[Node]:
        return self.parent.self_and_ancestors() if self.parent is not None else iter(())

    def self_and_ancestors(self) -> Iterator[Node]:
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent

    def is_within(self, other: Node) -> bool:
        """Return True if this element is `other` or is inside `other`."""
        return any(node is other for node in self.self_and_ancestors())

    @cached_property
    def text(self) -> str:
        """The visible text, with a space between blocks and at line breaks, and with white space collapsed."""
        pieces: list[str] = []
        self._gather(pieces, " ", "")
        return collapse_spaces("".join(pieces))

    @property
    def lines(self) -> str:
        """The visible text, line by line, without empty lines."""
        around = (node.get("h-space") for node in self.self_and_ancestors())
        pieces: list[str] = []
        self._gather(pieces, "\n", next((space for space in around if space), ""))
        return "\n".join(line for line in map(collapse_spaces, "".join(pieces).split("\n")) if line)

    def _gather(self, pieces: list[str], gap: str, space: str) -> None:
        """Append the visible texts to `pieces`, with `gap` around blocks. `space` is the display of white space around
        the element."""
        if self.hidden:
            return
        space = self.get("h-space") or space
        apart = gap if self.block or self.tag == "br" else ""
        pieces.append(apart)
        for child in self.children:
            if isinstance(child, Node):
                child._gather(pieces, gap, space)
            else:
                pieces.append(child if space in ("pre", "line") else child.replace("\n", " "))
        pieces.append(apart)

    def texts(self, skip: Callable[[Node], bool]) -> Iterator[str]:
        """Yield the texts in the element, in page order, without elements for which `skip` is true."""
        stack: list[Node | str] = [self]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                yield item
            elif not skip(item):
                stack.extend(reversed(item.children))

    def __repr__(self) -> str:
        return f"<{self.tag} h-id={self.id} class={self.get('class')!r} {self.text[:40]!r}>"


@dataclass(eq=False)
class Page:
    """The document of one frame. `asked` is the milliseconds since the last send, or None without a send."""

    root: Node
    url: str
    title: str
    width: float
    height: float
    asked: float | None = None

    def walk(self) -> Iterator[Node]:
        return self.root.walk()

    @cached_property
    def by_id(self) -> dict[int, Node]:
        return {node.id: node for node in self.walk() if node.id}

    def marked(self, name: str) -> list[Node]:
        """Return the elements that match the site's selector `name`, in page order."""
        return [node for node in self.walk() if name in node.get("h-site").split()]


def collapse_spaces(text: str) -> str:
    """Replace each run of white space by one space, and strip both ends."""
    return _SPACES.sub(" ", text.replace("\xa0", " ")).strip()


def letters(text: str) -> str:
    """Return the letters and digits in lower case and without accents: the part that rendering leaves unchanged. A page
    may compose the typed letters (`e` and an accent become `é`), and a database may store compatibility characters
    (`ﬁ`, `Ａ`, `１１`) as plain characters."""
    bare = _NO_LETTERS.sub("", text)
    if bare.isascii():
        return bare.lower()
    plain = _NO_LETTERS.sub("", unicodedata.normalize("NFKD", bare)).casefold()
    digits = "".join(str(unicodedata.decimal(sign, sign)) for sign in plain)
    return unicodedata.normalize("NFC", digits)  # Hangul as syllables again


def markup(page: Page, nodes: Iterable[Node], left_out: Mapping[Node, str] | None = None) -> str:
    """Return the XHTML of a page that contains only these elements. `left_out` maps elements that are not part of the
    answer to their marks, and the root then says that such elements are marked. With None, nothing is marked."""
    marked = {} if left_out is None else {"left-out": "marked"}
    frame = Element(page.root.tag, {**page.root.attributes, **marked})
    for node in nodes:
        frame.append(_element(node, left_out or {}))
    return tostring(frame, encoding="unicode", short_empty_elements=False)


def _element(node: Node, left_out: Mapping[Node, str]) -> Element:
    element = Element(
        node.tag, {**node.attributes, "h-left-out": left_out[node]} if node in left_out else node.attributes
    )
    last: Element | None = None
    for child in node.children:
        if isinstance(child, Node):
            last = _element(child, left_out)
            element.append(last)
        elif last is None:
            element.text = (element.text or "") + child
        else:
            last.tail = (last.tail or "") + child
    return element


def parse_page(source: str) -> Page:
    """Parse a recorded page. Raises ValueError if the page is malformed."""
    try:
        parser = XMLParser()
        parser.feed(source)
        element = parser.close()
    except ParseError as fault:
        raise ValueError(f"this is not a recorded page: {fault}") from None
    if element.tag != "h-page":
        raise ValueError(f"this is not a recorded page: the root element is {element.tag!r}")
    root = Node(element.tag, dict(element.attrib))
    stack = [(element, root, 0)]
    while stack:
        source_element, node, depth = stack.pop()
        if depth > _DEEPEST:
            raise ValueError(f"this is not a recorded page: elements are nested more than {_DEEPEST} deep")
        if source_element.text:
            node.children.append(source_element.text)
        for child in source_element:
            inner = Node(child.tag, dict(child.attrib), parent=node)
            node.children.append(inner)
            stack.append((child, inner, depth + 1))
            if child.tail:
                node.children.append(child.tail)
    asked = root.get("asked")
    return Page(
        root,
        root.get("url"),
        root.get("title"),
        float(root.get("width") or 0),
        float(root.get("height") or 0),
        float(asked) if asked else None,
    )
