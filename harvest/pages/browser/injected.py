"""The scripts that run inside a page: the eye, and small functions that query it and single elements."""

import functools
from pathlib import Path

from harvest.pages.browser.busy_signs import signs_source

_PARTS = ("natives.js", "tree.js", "look.js", "signs.js", "changes.js", "watch.js")

NO_EYE = "no eye in this document"
ASK_EYE = f"""([name, values]) => {{
  const eye = window.__harvest_eye__;
  if (!eye) throw new Error("{NO_EYE}");
  return eye[name](...values);
}}"""

# The make of a box to type in: a form field, a bare editable element, or an editor with paragraphs of its own.
MAKE = """e => {
  if (typeof e.value === "string") return "form";
  return [...e.children].every((one) => one.localName === "br") ? "plain" : "editor";
}"""

BREAK_LINE = 'e => document.execCommand("insertLineBreak")'

PASTE = """(e, text) => {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  e.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
}"""

# The text that its editor would copy to the clipboard: all that is selected, even if it is not drawn.
COPIED = """e => {
  const data = new DataTransfer();
  e.dispatchEvent(new ClipboardEvent("copy", {clipboardData: data, bubbles: true, cancelable: true}));
  return data.getData("text/plain");
}"""

BOX = """e => {
  const box = e.getBoundingClientRect();
  return box.width || box.height ? [box.left, box.top, box.width, box.height] : null;
}"""

OFF = "e => e.matches(':disabled') || e.getAttribute('aria-disabled') === 'true'"
# The cover that a click at its middle would hit: [its text, its share of the window]; null if there is none.
COVERED = """e => {
  const box = e.getBoundingClientRect();
  const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
  const cover = (top, below) => {
    while (top.parentElement && !top.parentElement.contains(below)) top = top.parentElement;
    const over = top.getBoundingClientRect();
    const side = (begin, end, most) => Math.max(0, Math.min(end, most) - Math.max(begin, 0)) / most;
    return [(top.innerText || top.title || "").trim().replace(/\\s+/g, " ").slice(0, 300),
      side(over.left, over.right, innerWidth) * side(over.top, over.bottom, innerHeight)];
  };
  let root = e.getRootNode();
  for (let inner = e; root; inner = root.host, root = root.host && root.host.getRootNode()) {
    const top = root.elementFromPoint(x, y);
    if (!top) return ["", 1];
    if (!(inner.contains(top) || top.contains(inner) && root !== document)) return cover(top, inner);
    if (root === document) return null;
  }
  return ["", 1];
}"""

# Where in the page around it the document of a frame begins, and how wide and high it is shown.
EDGES = """e => {
  if (!e.checkVisibility({opacityProperty: true, visibilityProperty: true})) return null;
  const [style, box] = [getComputedStyle(e), e.getBoundingClientRect()];
  const [left, top, right, bottom] = ["Left", "Top", "Right", "Bottom"].map(
    (side) => parseFloat(style["padding" + side]) || 0);
  return [box.left + e.clientLeft + left, box.top + e.clientTop + top,
    e.clientWidth - left - right, e.clientHeight - top - bottom];
}"""


@functools.cache
def eye_source() -> str:
    """The eye as one expression; it has no effect if the document has an eye already."""
    folder = Path(__file__).parent / "eye"
    parts = "\n".join((signs_source(), *((folder / name).read_text(encoding="utf-8") for name in _PARTS)))
    return f'(() => {{ "use strict"; if (window.__harvest_eye__) return;\n{parts}\n}})()'


@functools.cache
def typed_source() -> str:
    """A JavaScript function that returns the text typed in an element."""
    return (Path(__file__).parent / "typed.js").read_text(encoding="utf-8")
