"""Names of an element: its accessible name, the name of its picture, and words from its code."""

import re
from functools import lru_cache

from harvest.pages.finding.wordings import code_words
from harvest.pages.reading.page import Node, Page, collapse_spaces

_NAMING_ATTRIBUTES = ("aria-label", "title", "placeholder", "data-placeholder", "aria-placeholder", "alt")
_PICTURE_TAGS = ("svg", "img", "i", "use", "span", "mat-icon")
_LONGEST = 200  # characters of a name
_BUTTONS = frozenset({"submit", "button", "image", "reset"})
_TAG_ROLES = {"button": "button", "a": "link", "textarea": "textbox", "dialog": "dialog", "select": "combobox"}
_ICON_FONT = re.compile(r"[a-z]+(?:_[a-z]+)*")


def role_of(node: Node) -> str:
    """Return the role from the `role` attribute or the default role of the tag, or "" if no role is relevant."""
    given = node.get("role").split(" ")[0].lower()
    if given:
        return given
    if node.tag == "input":
        kind = node.get("type").lower()
        if kind in _BUTTONS:
            return "button"
        if kind == "search":
            return "searchbox"
        return kind if kind in ("checkbox", "radio", "file", "range") else "textbox"
    return _TAG_ROLES.get(node.tag, "")


def is_button(node: Node) -> bool:
    """Return True for an element to press: a button, a link, or a small element that turns the cursor into a hand."""
    role = role_of(node)
    if role in ("button", "link") or node.tag == "summary":
        return True
    if role or "h-click" not in node.attributes or node.box is None:
        return False
    return node.box.width <= 400 and node.box.height <= 120


def labels_of(page: Page, node: Node) -> tuple[str, ...]:
    """Return all names of the element, beginning with the name that a screen reader would read first."""
    found: list[str] = []
    if referred := node.get("aria-labelledby").split():
        by_id = _index_page(page)[0]
        parts = [by_id[name] for name in referred if name in by_id]
        found += [collapse_spaces(part.text or _reader_text(part)) for part in parts]
    found += [collapse_spaces(node.get(name)) for name in _NAMING_ATTRIBUTES]
    if node.tag == "input" and role_of(node) == "button":
        found.append(collapse_spaces(node.get("value")))
    elif node.tag in ("input", "textarea", "select") or "h-edit" in node.attributes:
        labels = [parent for parent in node.ancestors() if parent.tag == "label"][:1]
        if name := node.get("id"):
            labels += _index_page(page)[1].get(name, [])
        found += [collapse_spaces(label.text) for label in labels]
        if "h-edit" in node.attributes and node.tag not in ("input", "textarea"):
            found += [collapse_spaces(part.get("data-placeholder")) for part in node.walk() if part is not node]
    else:
        text = node.text or _reader_text(node)
        if len(text) <= _LONGEST:
            found.append(text)
        for part in node.walk():
            if part is not node and part.tag in _PICTURE_TAGS:
                found += [collapse_spaces(part.get(name)) for name in ("aria-label", "title", "alt")]
    return tuple(dict.fromkeys(name[:_LONGEST] for name in found if name))


@lru_cache(maxsize=2)
def _index_page(page: Page) -> tuple[dict[str, Node], dict[str, list[Node]]]:
    by_id: dict[str, Node] = {}
    labels: dict[str, list[Node]] = {}
    for node in page.walk():
        by_id[node.get("id")] = node
        if node.tag == "label":
            labels.setdefault(node.get("for"), []).append(node)
    return by_id, labels


def code_of(node: Node, *, inside: bool = False) -> frozenset[str]:
    """Return the words in the element's id, classes, name and data attributes. Set `inside` to add the words of
    pictures in the element."""
    words: set[str] = set()
    for part in node.walk() if inside else (node,):
        if part is node or part.tag in _PICTURE_TAGS:
            for name, value in part.attributes.items():
                if name in ("id", "class", "name") or (name.startswith("data-") and len(value) <= 60):
                    words |= code_words(value)
    if inside and _ICON_FONT.fullmatch(node.text) and node.text.count("_"):
        words |= code_words(node.text)  # icon fonts write `arrow_upward`
    return frozenset(words)


def is_icon(node: Node) -> bool:
    """Return True if the element shows a picture or a symbol and no words."""
    if any(character.isalnum() for character in node.text) and len(node.text) > 2:
        return bool(_ICON_FONT.fullmatch(node.text) and node.text.count("_"))
    return bool(node.text) or any(part.tag in ("svg", "img", "i", "canvas", "mat-icon") for part in node.walk())


def _reader_text(node: Node) -> str:
    pieces: list[str] = []
    for part in node.walk():
        pieces += [child for child in part.children if isinstance(child, str)]
    return " ".join(pieces)[: _LONGEST * 2]
