"""Boxes to type into: the one for the user's turns, and those in which an answer itself is written.

An answer may come in a code editor, or as a draft in a box that the user may change. It is an answer all the same.
"""

import re

from harvest.pages.reading.page import Node, Page

_EDITOR = re.compile(r"(?:^|\s)(?:cm-editor|CodeMirror|monaco-editor|ace_editor)(?:\s|$)")
_LINE = re.compile(r"(?:^|\s)(?:cm-line|CodeMirror-line|view-line|ace_line)(?:\s|$)")
# For str.translate: characters that editors and pages add to code.
INVISIBLE = str.maketrans({"\xa0": " ", "\u200b": None, "\ufeff": None})


def composers_on(page: Page) -> list[Node]:
    """Return the boxes that the user's turns may be typed into.

    That is the box that the last turn was typed into, if known; else those that were there before it was sent; else
    newer ones that are not single-line form fields and are empty.
    """
    boxes = []
    for node in page.walk():
        if "h-edit" in node.attributes and node.get("type") != "search" and node.visible:
            called = f"{node.get('placeholder')} {node.get('aria-label')}".lower()
            if not (node.tag == "input" and ("search" in called or "filter" in called)):
                boxes.append(node)
    typed = [node for node in boxes if "h-typed" in node.attributes]
    plain = [node for node in boxes if editor_of(node) is None]
    old = [node for node in plain if node.born is None]
    large = [node for node in plain if node.tag != "input"]
    empty = [node for node in old or large or plain if not is_written(node)]
    return typed or empty or old or plain or boxes


def is_written(node: Node) -> bool:
    """True for a box of several lines with words in it."""
    if node.tag == "textarea":
        return bool(node.get("h-value").strip())
    return node.tag != "input" and "h-edit" in node.attributes and bool(node.text)


def is_editor(node: Node) -> bool:
    """True for the outermost element of a code editor: CodeMirror, Monaco or Ace."""
    return _EDITOR.search(node.get("class")) is not None


def editor_of(node: Node) -> Node | None:
    """Return the code editor that the element is or belongs to."""
    return next((around for around in node.self_and_ancestors() if is_editor(around)), None)


def editor_text(editor: Node) -> str:
    """Return the code in an editor: as the page gives it, else the lines that are shown, from top to bottom."""
    if editor.get("h-value"):
        return editor.get("h-value")
    lines = [node for node in editor.walk() if _LINE.search(node.get("class")) and node.visible]
    placed = [(line.box.y, line) for line in lines if line.box is not None]
    if len(placed) == len(lines):
        lines = [line for _, line in sorted(placed, key=lambda one: one[0])]
    texts = ("".join(line.texts(lambda node: node.hidden)) for line in lines)
    return "\n".join(text.translate(INVISIBLE).strip("\n").rstrip() for text in texts)
