"""An element of a live page with the actions that a person could take on it, and the scripts that run inside a page."""

import functools
from base64 import b64encode
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self, cast

from harvest.pages.browser.busy_signs import signs_source
from harvest.pages.browser.call_guard import CallGuard, action_failure, is_timeout
from harvest.pages.reading.page import Box
from harvest.systems.driver import NotSent
from topics.sent_files import SentFile

_BYTES_A_SECOND = 1e6  # that a browser surely takes from this program
_PARTS = ("natives.js", "tree.js", "look.js", "signs.js", "changes.js", "watch.js")

NO_EYE = "no eye in this document"
_EYE = f"""const eye = window.__harvest_eye__;
  if (!eye) throw new Error("{NO_EYE}");"""
ASK_EYE = f"""([name, values]) => {{
  {_EYE}
  return eye[name](...values);
}}"""

# The make of a box to type in: a form field, a bare editable element, or an editor with paragraphs of its own.
KIND_OF_BOX = """e => {
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
COPIED_TEXT = """e => {
  const data = new DataTransfer();
  e.dispatchEvent(new ClipboardEvent("copy", {clipboardData: data, bubbles: true, cancelable: true}));
  return data.getData("text/plain");
}"""

BOX = """e => {
  const box = e.getBoundingClientRect();
  return box.width || box.height ? [box.left, box.top, box.width, box.height] : null;
}"""

# What a field for files takes (its `accept`), and whether it takes several; null for anything else.
FILE_FIELD = 'e => e.localName === "input" && e.type === "file" ? [e.accept, e.multiple] : null'

# Drop files where a person would see them taken: what is dragged over the element may open a place to drop over it.
# True if the page takes the drop, which it says by preventing what a browser does by itself.
DROP = """async (e, files) => {
  const data = new DataTransfer();
  for (const [name, type, base64] of files) {
    const bytes = Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
    data.items.add(new File([bytes], name, {type}));
  }
  const drag = (target, type) => !target.dispatchEvent(
    new DragEvent(type, {dataTransfer: data, bubbles: true, cancelable: true, composed: true}));
  drag(e, "dragenter");
  await new Promise((done) => setTimeout(done, 200));
  const box = e.getBoundingClientRect();
  let target = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2) || e;
  while (target.shadowRoot) {
    const inner = target.shadowRoot.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    if (!inner || inner === target) break;
    target = inner;
  }
  if (target !== e) drag(target, "dragenter");
  if (drag(target, "dragover")) {
    drag(target, "drop");
    return true;
  }
  drag(target, "dragleave");
  return false;
}"""

IS_DISABLED = "e => e.matches(':disabled') || e.getAttribute('aria-disabled') === 'true'"
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
FRAME_EDGES = """e => {
  if (!e.checkVisibility({opacityProperty: true, visibilityProperty: true})) return null;
  const [style, box] = [getComputedStyle(e), e.getBoundingClientRect()];
  const [left, top, right, bottom] = ["Left", "Top", "Right", "Bottom"].map(
    (side) => parseFloat(style["padding" + side]) || 0);
  return [box.left + e.clientLeft + left, box.top + e.clientTop + top,
    e.clientWidth - left - right, e.clientHeight - top - bottom];
}"""


@functools.cache
def eye_source() -> str:
    """Return the JavaScript of the eye as one expression, which has no effect in a document that has an eye."""
    folder = Path(__file__).parent / "eye"
    parts = "\n".join((signs_source(), *((folder / name).read_text(encoding="utf-8") for name in _PARTS)))
    return f'(() => {{ "use strict"; if (window.__harvest_eye__) return;\n{parts}\n}})()'


@functools.cache
def ask_element(script: str) -> str:
    """Return a JavaScript function of [an element's number, a value] that returns the value if the element has gone,
    and otherwise what `script`, a function of the element, returns."""
    return f"""([number, gone]) => {{
  {_EYE}
  const element = eye.node(number);
  return element ? ({script})(element) : gone;
}}"""


@functools.cache
def typed_source() -> str:
    """Return the JavaScript function that reads the text typed into an element."""
    return (Path(__file__).parent / "typed.js").read_text(encoding="utf-8")


class Handle(Protocol):
    def click(self, *, timeout: float, no_wait_after: bool, force: bool = False) -> Coroutine[Any, Any, None]: ...
    def hover(self, *, timeout: float) -> Coroutine[Any, Any, None]: ...
    def focus(self) -> Coroutine[Any, Any, None]: ...
    def fill(self, value: str, *, timeout: float) -> Coroutine[Any, Any, None]: ...
    def press(self, key: str, *, timeout: float, no_wait_after: bool) -> Coroutine[Any, Any, None]: ...
    def check(self, *, timeout: float) -> Coroutine[Any, Any, None]: ...
    def select_option(self, *, label: str, timeout: float) -> Coroutine[Any, Any, list[str]]: ...
    def evaluate(self, expression: str, arg: Any = None) -> Coroutine[Any, Any, Any]: ...
    def set_input_files(self, files: Any, *, timeout: float) -> Coroutine[Any, Any, None]: ...
    def scroll_into_view_if_needed(self, *, timeout: float) -> Coroutine[Any, Any, None]: ...


class ElementFrame(Protocol):
    """The frame that contains an element. The frame computes positions, because Playwright's coordinates ignore the
    borders of frames from another origin."""

    async def box(self) -> Box | None: ...


class Keyboard(Protocol):
    def type(self, text: str) -> Coroutine[Any, Any, None]: ...
    def insert_text(self, text: str) -> Coroutine[Any, Any, None]: ...


@dataclass(frozen=True, slots=True)
class Cover:
    """An element that covers another element. `text` holds the first 300 characters of its text. `share` is the share
    of the window that it covers, in [0, 1], or 1 if no part of the covered element is in view."""

    text: str
    share: float

    @classmethod
    def from_script(cls, value: list[Any] | None) -> Self | None:
        return None if value is None else cls(str(value[0]), float(value[1]))


@dataclass(frozen=True, slots=True)
class FileField:
    """A field for files: its attribute `accept`, and whether it takes several at once."""

    accept: str
    several: bool

    @classmethod
    def from_script(cls, value: list[Any] | None) -> Self | None:
        return None if value is None else cls(str(value[0]), bool(value[1]))


class Part:
    """An element that a person could use."""

    def __init__(self, life: CallGuard, handle: Handle, keyboard: Keyboard, frame: ElementFrame) -> None:
        self._life, self._handle, self._keyboard, self._frame = life, handle, keyboard, frame
        self._milliseconds = 1000 * life.limits.act

    async def click(self) -> None:
        """Click the element. Raises NotSent with `part-gone`, `part-off` (hidden or disabled) or `part-covered` (by
        another element)."""
        try:
            # A form that reloads the page takes as long as the answer: do not wait for it here.
            await self._act_with_retry(lambda timeout: self._handle.click(timeout=timeout, no_wait_after=True))
        except NotSent as fault:
            # An element that never stops moving can be clicked nevertheless.
            if "not stable" not in fault.detail:
                raise
            await self._act(self._handle.click(timeout=self._milliseconds, no_wait_after=True, force=True))

    async def hover(self) -> None:
        await self._act(self._handle.hover(timeout=self._milliseconds))

    async def focus(self) -> None:
        await self._act(self._handle.focus())

    async def fill(self, text: str) -> None:
        """Replace the content with the text in one step. Raises NotSent for the reasons of `click`."""
        await self._act_with_retry(lambda timeout: self._handle.fill(text, timeout=timeout))

    async def tick(self) -> None:
        """Tick a check box unless it is already ticked. Raises NotSent for the reasons of `click`."""
        await self._act(self._handle.check(timeout=self._milliseconds))

    async def choose(self, option: str) -> None:
        """Choose the option with this label from a list. Raises NotSent for the reasons of `click`."""
        await self._act(self._handle.select_option(label=option, timeout=self._milliseconds))

    async def file_field(self) -> FileField | None:
        """Return what the element takes if it is a field for files, or None."""
        return FileField.from_script(await self._life.call(self._handle.evaluate(FILE_FIELD)))

    async def set_files(self, files: Sequence[SentFile]) -> None:
        """Choose these files, and no others, in a field for files. Raises NotSent for the reasons of `click`, and
        InputError if a file has changed."""
        given = [{"name": one.name, "mimeType": one.type, "buffer": one.read()} for one in files]
        seconds = self._life.limits.act + sum(one.size for one in files) / _BYTES_A_SECOND
        try:
            await self._life.run(self._handle.set_input_files(given, timeout=seconds * 1000), 2 * seconds)
        except self._life.complaint as fault:
            raise action_failure(str(fault)) from None

    async def drop_files(self, files: Sequence[SentFile]) -> bool:
        """Drop files on the element. Returns False if the page takes none there."""
        given = [[one.name, one.type, b64encode(one.read()).decode()] for one in files]
        return bool(await self._life.call(self._handle.evaluate(DROP, given), 2 * self._life.limits.call))

    async def clear(self) -> None:
        """Empty the element as a person would: select everything and delete it."""
        await self.focus()
        await self.press("ControlOrMeta+A")
        await self.press("Delete")

    async def type(self, text: str) -> None:
        """Type the text at the end of the content, key by key."""
        await self._life.call(self._keyboard.type(text), self._life.limits.call + len(text) / 50)

    async def insert(self, text: str) -> None:
        """Insert the whole text at the cursor in one step, as an input method does."""
        await self._life.call(self._keyboard.insert_text(text))

    async def break_line(self) -> None:
        """Start a new line at the cursor without pressing a key."""
        await self._life.call(self._handle.evaluate(BREAK_LINE))

    async def paste(self, text: str) -> None:
        """Pass the text to the element's editor as if it came from the clipboard. The real clipboard is not touched."""
        await self._life.call(self._handle.evaluate(PASTE, text))

    async def copy_all(self) -> str:
        """Return the whole content of the element's editor, even undrawn parts, or "" if there is no editor."""
        await self.focus()
        await self.press("ControlOrMeta+A")
        text = await self._life.call(self._handle.evaluate(COPIED_TEXT))
        await self.press("ControlOrMeta+End")
        return cast(str, text)

    async def press(self, key: str) -> None:
        """Press a key, given by its name in Playwright, such as `Enter` or `Control+Enter`."""
        await self._act(self._handle.press(key, timeout=self._milliseconds, no_wait_after=True))

    async def value(self) -> str:
        """Return the text typed into the element, with its line breaks."""
        return cast(str, await self._life.call(self._handle.evaluate(typed_source())))

    async def box(self) -> Box | None:
        """Return the element's box in the window's coordinates, or None if the element is not visible."""
        frame, box = await self._frame.box(), await self._life.call(self._handle.evaluate(BOX))
        return Box(frame.x + box[0], frame.y + box[1], box[2], box[3]) if frame and box else None

    async def cover(self) -> Cover | None:
        """Return the element that covers the middle of this element, or None if nothing covers it."""
        return Cover.from_script(await self._life.call(self._handle.evaluate(COVERED)))

    async def scroll(self) -> None:
        """Scroll the element into view."""
        await self._act(self._handle.scroll_into_view_if_needed(timeout=self._milliseconds))

    async def _act_with_retry(self, work: Callable[[float], Coroutine[Any, Any, Any]]) -> None:
        """Perform an action that has no effect until the element is ready. `work` takes the time limit in
        milliseconds. If time ran out although nothing was in the way, the machine was too busy, and the action is
        repeated once."""
        try:
            await self._act(work(self._milliseconds))
        except NotSent as fault:
            if not is_timeout(fault):
                raise
            await self._act(work(2 * self._milliseconds), 4)

    async def _act(self, work: Coroutine[Any, Any, Any], times: float = 2) -> None:
        try:
            await self._life.run(work, times * self._life.limits.act)
        except self._life.complaint as fault:
            raise action_failure(str(fault)) from None
