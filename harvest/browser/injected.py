"""The scripts that run inside a page: the eye, and a few words to talk to it and to single elements."""

from __future__ import annotations

import functools
from pathlib import Path

__all__ = ["ASK_EYE", "BOX", "COVERED", "EDGES", "VALUE", "eye_source"]

_PARTS = ("natives.js", "tree.js", "look.js", "signs.js", "changes.js", "watch.js")

NO_EYE = "no eye in this document"
ASK_EYE = f"""([name, values]) => {{
  const eye = window.__harvest_eye__;
  if (!eye) throw new Error("{NO_EYE}");
  return eye[name](...values);
}}"""

VALUE = 'e => typeof e.value === "string" ? e.value : (e.innerText ?? e.textContent ?? "")'

BOX = """e => {
  const box = e.getBoundingClientRect();
  return box.width || box.height ? [box.left, box.top, box.width, box.height] : null;
}"""

COVERED = """e => {
  const box = e.getBoundingClientRect();
  const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
  let root = e.getRootNode();
  for (let inner = e; root; inner = root.host, root = root.host && root.host.getRootNode()) {
    const top = root.elementFromPoint(x, y);
    if (!top || !(inner.contains(top) || top.contains(inner) && root !== document)) return true;
    if (root === document) return false;
  }
  return true;
}"""
"""Whether its middle is not what a click there would meet."""

EDGES = """e => {
  if (!e.checkVisibility({opacityProperty: true, visibilityProperty: true})) return null;
  const [style, box] = [getComputedStyle(e), e.getBoundingClientRect()];
  const [left, top, right, bottom] = ["Left", "Top", "Right", "Bottom"].map(
    (side) => parseFloat(style["padding" + side]) || 0);
  return [box.left + e.clientLeft + left, box.top + e.clientTop + top,
    e.clientWidth - left - right, e.clientHeight - top - bottom];
}"""
"""Where in the page around it the document of a frame begins, and how wide and high it is shown."""


@functools.cache
def eye_source() -> str:
    """The eye, as one expression that does nothing where there is an eye already."""
    folder = Path(__file__).parent / "eye"
    parts = "\n".join((folder / name).read_text(encoding="utf-8") for name in _PARTS)
    return f'(() => {{ "use strict"; if (window.__harvest_eye__) return;\n{parts}\n}})()'
