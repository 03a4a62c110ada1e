"""What an element is called: by its accessible name, by its picture, and by the words its author used in the code."""

import re
from functools import lru_cache

from harvest.pages.finding.wordings import code_words
from harvest.pages.reading.page import Node, Page, collapse_spaces

_NAMING = ("aria-label", "title", "placeholder", "data-placeholder", "aria-placeholder", "alt")
_PICTURES = ("svg", "img", "i", "use", "span", "mat-icon")
_LONGEST = 200  # characters of a name
_BUTTONS = frozenset({"submit", "button", "image", "reset"})
_ICON_FONT = re.compile(r"[a-z]+(?:_[a-z]+)*")


def role_of(node: Node) -> str:
    """The role it is given, or the one its tag has; "" for none that matters here."""
    given = node.get("role").split(" ")[0].lower()
    if given:
        return given
    if node.tag == "input":
        kind = node.get("type").lower()
        if kind in _BUTTONS:
            return "button"
        return (
            "searchbox" if kind == "search" else kind if kind in ("checkbox", "radio", "file", "range") else "textbox"
        )
    return {"button": "button", "a": "link", "textarea": "textbox", "dialog": "dialog", "select": "combobox"}.get(
        node.tag, ""
    )


def is_button(node: Node) -> bool:
    """Whether a person would press it: a button, a link, or whatever shows a pointing hand and is small."""
    role = role_of(node)
    if role in ("button", "link") or node.tag == "summary":
        return True
    if role or "h-click" not in node.attributes or node.box is None:
        return False
    return node.box.width <= 400 and node.box.height <= 120


def labels_of(page: Page, node: Node) -> tuple[str, ...]:
    """Everything it is called, the name that a screen reader would say first."""
    found = [collapse_spaces(part.text or _reader_text(part)) for part in _referred_nodes(page, node)]
    found += [collapse_spaces(node.get(name)) for name in _NAMING]
    if node.tag == "input" and role_of(node) == "button":
        found.append(collapse_spaces(node.get("value")))
    elif node.tag in ("input", "textarea", "select") or "h-edit" in node.attributes:
        found += [collapse_spaces(label.text) for label in _labelling(page, node)]
        if "h-edit" in node.attributes and node.tag not in ("input", "textarea"):
            found += [collapse_spaces(part.get("data-placeholder")) for part in node.walk() if part is not node]
    else:
        text = node.text or _reader_text(node)
        if len(text) <= _LONGEST:
            found.append(text)
        for part in node.walk():
            if part is not node and part.tag in _PICTURES:
                found += [collapse_spaces(part.get(name)) for name in ("aria-label", "title", "alt")]
    return tuple(dict.fromkeys(name[:_LONGEST] for name in found if name))


def code_of(node: Node, *, inside: bool = False) -> frozenset[str]:
    """The words of its id, classes, name and test ids. inside: also those of the pictures in it."""
    words: set[str] = set()
    for part in node.walk() if inside else (node,):
        if part is node or part.tag in _PICTURES:
            for name, value in part.attributes.items():
                if name in ("id", "class", "name") or (name.startswith("data-") and len(value) <= 60):
                    words |= code_words(value)
    if inside and _ICON_FONT.fullmatch(node.text) and node.text.count("_"):
        words |= code_words(node.text)  # icon fonts write `arrow_upward`
    return frozenset(words)


def is_icon(node: Node) -> bool:
    """Whether it shows a picture (or a sign) and no words."""
    if any(character.isalnum() for character in node.text) and len(node.text) > 2:
        return bool(_ICON_FONT.fullmatch(node.text) and node.text.count("_"))
    return bool(node.text) or any(part.tag in ("svg", "img", "i", "canvas", "mat-icon") for part in node.walk())


def _referred_nodes(page: Page, node: Node) -> list[Node]:
    wanted = node.get("aria-labelledby").split()
    if not wanted:
        return []
    named = _by_name(page)
    return [named[name] for name in wanted if name in named]


def _labelling(page: Page, node: Node) -> list[Node]:
    around = [parent for parent in node.ancestors() if parent.tag == "label"][:1]
    name = node.get("id")
    return around + ([label for label in _all_labels(page) if label.get("for") == name] if name else [])


@lru_cache(maxsize=2)
def _by_name(page: Page) -> dict[str, Node]:
    return {node.get("id"): node for node in page.walk() if node.get("id")}


@lru_cache(maxsize=2)
def _all_labels(page: Page) -> tuple[Node, ...]:
    return tuple(node for node in page.walk() if node.tag == "label")


def _reader_text(node: Node) -> str:
    """Its text for screen readers, where it shows none."""
    pieces: list[str] = []
    for part in node.walk():
        pieces += [child for child in part.children if isinstance(child, str)]
    return " ".join(pieces)[: _LONGEST * 2]
