"""Parts of a bubble that convey something without words: pictures, drawings, sounds, films, and cards for files. An
answer may consist only of such parts. Faces, icons, waiting signs, and sounds that read the text aloud do not
count."""

import re
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

from harvest.pages.reading.page import Node, collapse_spaces
from harvest.pages.reading.phrases import is_placeholder
from protocols.answer import Attachment

_ICON_SIZE = 40.0  # CSS pixels: smaller pictures are avatars and icons
_LARGEST_FACE = 64.0  # CSS pixels: a square picture without a name
_FIGURE_SIZE = 72.0  # CSS pixels: smaller figures are not answers by themselves
_MOST_LABELS = 300  # most characters of the words in a drawing
_DRAWN_TAGS = frozenset({"canvas", "svg"})
_PLAYED_TAGS = frozenset({"audio", "video"})
_FACE_NAMES = re.compile(r"(?<![a-z])(?:avatar|face|logo|icon|profile|portrait|emoji)s?(?![a-z])", re.IGNORECASE)
_WAITING_NAMES = re.compile(
    r"(?<![a-z])(?:loader|loading|skeleton|spinner|typing|placeholder|shimmer)(?![a-z])", re.IGNORECASE
)
_FACE_WORDS = re.compile(r"(?i)\bavatar\b|profile picture|^logo\b|\blogo$|\bicon$")
_ICON_NAMES = re.compile(r"(?:^|\s)material-(?:icons|symbols)(?:-\w+)?(?:\s|$)")
_FILE = re.compile(
    r"(?P<name>[^\s/\\:*?\"<>|][^/\\:*?\"<>|\n]{0,120}?\.(?P<type>[A-Za-z]{1,5}|7z|mp[34]|m4[av]))(?![\w.])"
)
_SIZE = re.compile(r"(?P<number>\d{1,4}(?:[.,]\d{1,3})?)\s?(?P<unit>[KMGkmg]i?B|bytes|B|Ko|Mo)\b")
_FIGURE_MARKS = re.compile(r"!\[[^\]]*\]\([^)]*\)|\[(?:picture|drawing|audio|video)(?:: [^\]]*)?\]")
_WORD = re.compile(r"[^\W\d_]{2}")
_UNITS = {"k": 1000, "m": 1000**2, "g": 1000**3}
_PAGE_TYPES = frozenset({"asp", "aspx", "cfm", "com", "htm", "html", "jsp", "net", "org", "php", "io", "de", "eu"})


def is_icon(node: Node) -> bool:
    """Return True if the element's letters are drawings of an icon font, so that `face` is a picture and not a word."""
    if node.get("h-icon") != "1" and not _ICON_NAMES.search(node.get("class")):
        return False
    return not any(inner.text for inner in node.elements)


def is_picture(node: Node) -> bool:
    """Return True if an image is part of an answer. Avatars, icons and tracking pixels are not."""
    box = node.box
    little = box is not None and (box.width <= _ICON_SIZE or box.height <= _ICON_SIZE)
    return bool(node.get("src") or node.get("alt")) and not little


def is_face(node: Node) -> bool:
    """Return True if an image is marked as a picture of a speaker or of a purpose: an avatar, a logo or an icon."""
    box = node.box
    if box is not None and not node.get("alt") and abs(box.width - box.height) <= 2 and box.width <= _LARGEST_FACE:
        return True
    names = (one.names for one in enclosing_frames(node))
    return _FACE_WORDS.search(node.get("alt")) is not None or any(map(_FACE_NAMES.search, names))


def is_figure(node: Node) -> bool:
    """Return True for a picture, drawing, sound or film of an answer."""
    if node.tag == "img":
        return is_picture(node)
    if _is_painted(node):
        return _at_least(node, _FIGURE_SIZE) and not node.text and not _is_waiting(node)
    if node.tag in _DRAWN_TAGS:
        silent = node.get("aria-hidden") == "true" and not node.get("h-drawn")
        return _is_large(node) and not _is_waiting(node) and not silent
    return node.tag in _PLAYED_TAGS and node.box is not None and not _is_waiting(node)


def may_stand_alone(node: Node) -> bool:
    """Return True if the element may be an answer by itself, or the whole content of a bubble."""
    if node.tag == "audio":
        return is_figure(node)
    return is_figure(node) and _is_large(node) and not is_face(node) and not _is_waiting(node)


def figure_markdown(node: Node, *, wordless: bool) -> str:
    """Return the Markdown of a figure (`![alt](address)`, `[drawing: its labels]`, `[audio]`, `[video]`), or "" for
    any other element. Set `wordless` if the answer has no words. In an answer with words, a sound gives "", because
    it only reads the words aloud, and so does a picture with neither name nor address."""
    if node.tag == "img":
        words = _label(node.get("alt"))
        if words and not any(character.isalnum() for character in words):
            return words  # an emoji
        if not is_picture(node):
            return ""
        address = _address_of(node)
        return f"![{words}]({address})" if words or address else "[picture]" if wordless else ""
    if is_figure(node) and _is_painted(node):
        return f"![{_label(node.get('aria-label'))}]()"
    if not is_figure(node) or (node.tag == "audio" and not wordless):
        return ""
    said = (_label(node.get("aria-label") or node.get("title")), _label(node.get("h-drawn"))[:_MOST_LABELS].strip())
    label = ": ".join(dict.fromkeys(part for part in said if part))
    kind = node.tag if node.tag in _PLAYED_TAGS else "drawing"
    return f"[{kind}: {label}]" if label else f"[{kind}]"


def has_words(text: str) -> bool:
    """Return True if an answer has a word of two letters or more, not counting the Markdown of its figures."""
    return _WORD.search(_FIGURE_MARKS.sub(" ", text)) is not None


def read_attachment(node: Node) -> Attachment | None:
    """Return a figure as an attachment with an address or a name, or None if that is impossible."""
    if not is_figure(node) or is_face(node):
        return None
    named = (node.get(key) for key in ("alt", "aria-label", "title", "h-drawn"))
    name = _address_of(node) or _label(next((one for one in named if one), ""))[:_MOST_LABELS]
    kind = {"audio": "audio", "video": "video", "svg": "drawing", "canvas": "drawing"}.get(node.tag, "image")
    return Attachment(name, kind) if name or kind != "image" else Attachment(node.get("src"), kind)


def offered_file(node: Node) -> Attachment | None:
    """Return the file that a link or a button offers, or None. A file has a `download` attribute, or a name and a
    size."""
    text = node.text
    if len(text) > 200 or (node.tag not in ("a", "button") and node.get("role") != "button"):
        return None
    saved = "download" in node.attributes
    path = unquote(urlsplit(node.get("href")).path) if node.tag == "a" else ""
    pieces = [child.strip() for one in node.walk() for child in one.children if isinstance(child, str)]
    names = (node.get("download"), *pieces, text, path.rpartition("/")[2])
    found = next((one for one in map(_FILE.search, names) if one and one["type"].lower() not in _PAGE_TYPES), None)
    size = _SIZE.search(text)
    if found is None or not (saved or size or (node.tag != "a" and found.end() - found.start() >= len(text) - 2)):
        return None
    count = None
    if size:
        count = round(float(size["number"].replace(",", ".")) * _UNITS.get(size["unit"][0].lower(), 1))
    return Attachment(found["name"].strip(), found["type"].lower(), count)


def is_file_button(node: Node) -> bool:
    """Return True for a button in the form of a card that offers a file."""
    return (node.tag == "button" or node.get("role") == "button") and offered_file(node) is not None


def _is_painted(node: Node) -> bool:
    return (
        node.get("role") == "img"
        and node.tag not in {"img", *_DRAWN_TAGS, *_PLAYED_TAGS}
        and bool(node.get("aria-label"))
    )


def enclosing_frames(node: Node) -> Iterator[Node]:
    """Yield an element and its ancestors that have no other content."""
    yield node
    for around in node.ancestors():
        if len(around.elements) > 1 or around.text:
            return
        yield around


def _address_of(node: Node) -> str:
    source = node.get("src")
    return "" if re.match(r"(?i)data:|blob:", source) else source


def _label(text: str) -> str:
    return collapse_spaces(text).replace("[", "(").replace("]", ")") if text else ""


def _at_least(node: Node, size: float) -> bool:
    return node.box is not None and node.box.width >= size and node.box.height >= size


def _is_large(node: Node) -> bool:
    """Return True if the element is large enough to convey something. A drawing with a name may be lower."""
    drawn = node.tag in _DRAWN_TAGS and bool(node.get("aria-label") or node.get("title") or node.get("h-drawn"))
    lower = drawn and _at_least(node, _ICON_SIZE) and node.box is not None and node.box.width >= _FIGURE_SIZE
    return lower or _at_least(node, _FIGURE_SIZE)


def _is_waiting(node: Node) -> bool:
    label = node.get("aria-label") or node.get("title") or node.get("alt")
    return is_placeholder(label) or any(_WAITING_NAMES.search(one.names) for one in enclosing_frames(node))
