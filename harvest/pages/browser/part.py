"""One element of a live page, and the actions of a person on it."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Protocol, Self, cast

from harvest.pages.browser.call_guard import CallGuard, action_failure, out_of_time
from harvest.pages.browser.injected import BOX, BREAK_LINE, COPIED, COVERED, MAKE, OFF, PASTE, typed_source
from harvest.pages.reading.page import Box
from harvest.systems.driver import NotSent


class Handle(Protocol):
    def click(self, *, timeout: float, no_wait_after: bool, force: bool = False) -> Coroutine[Any, Any, None]: ...
    def hover(self, *, timeout: float) -> Coroutine[Any, Any, None]: ...
    def focus(self) -> Coroutine[Any, Any, None]: ...
    def fill(self, value: str, *, timeout: float) -> Coroutine[Any, Any, None]: ...
    def press(self, key: str, *, timeout: float, no_wait_after: bool) -> Coroutine[Any, Any, None]: ...
    def check(self, *, timeout: float) -> Coroutine[Any, Any, None]: ...
    def select_option(self, *, label: str, timeout: float) -> Coroutine[Any, Any, list[str]]: ...
    def evaluate(self, expression: str, arg: Any = None) -> Coroutine[Any, Any, Any]: ...
    def scroll_into_view_if_needed(self, *, timeout: float) -> Coroutine[Any, Any, None]: ...


class Placed(Protocol):
    """The frame of an element. Playwright's own result is wrong by the borders of frames of another origin."""

    async def box(self) -> Box | None: ...


class Keyboard(Protocol):
    def type(self, text: str) -> Coroutine[Any, Any, None]: ...
    def insert_text(self, text: str) -> Coroutine[Any, Any, None]: ...


@dataclass(frozen=True, slots=True)
class Cover:
    """An element that covers another one. text: at most 300 characters of it. share: the share of the window it covers,
    in [0, 1]; 1 if the covered element is nowhere in view."""

    text: str
    share: float

    @classmethod
    def from_script(cls, value: list[Any] | None) -> Self | None:
        return None if value is None else cls(str(value[0]), float(value[1]))


class Part:
    """An element that a person could use."""

    def __init__(self, life: CallGuard, handle: Handle, keyboard: Keyboard, frame: Placed) -> None:
        self._life, self._handle, self._keyboard, self._frame = life, handle, keyboard, frame
        self._milliseconds = 1000 * life.limits.act

    async def click(self) -> None:
        """Click. Raises NotSent: `part-gone`, `part-off` (hidden or disabled), `part-covered` (by another element)."""
        try:
            # A form that reloads the page takes as long as the answer: do not wait for it here.
            await self._act_twice(lambda timeout: self._handle.click(timeout=timeout, no_wait_after=True))
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
        """Replace the content with the text at once. Raises NotSent as `click` does."""
        await self._act_twice(lambda timeout: self._handle.fill(text, timeout=timeout))

    async def tick(self) -> None:
        """Tick a check box unless it is ticked. Raises NotSent as `click` does."""
        await self._act(self._handle.check(timeout=self._milliseconds))

    async def choose(self, option: str) -> None:
        """Choose the option with this label in a list. Raises NotSent as `click` does."""
        await self._act(self._handle.select_option(label=option, timeout=self._milliseconds))

    async def clear(self) -> None:
        """Empty it as a person would: select all and delete."""
        await self.focus()
        await self.press("ControlOrMeta+A")
        await self.press("Delete")

    async def type(self, text: str) -> None:
        """Type at the end of the content, key by key."""
        await self._life.call(self._keyboard.type(text), self._life.limits.call + len(text) / 50)

    async def insert(self, text: str) -> None:
        """Insert text all at once at the cursor, as an input method does."""
        await self._life.call(self._keyboard.insert_text(text))

    async def break_line(self) -> None:
        """Begin a new line at the cursor without pressing a key."""
        await self._life.call(self._handle.evaluate(BREAK_LINE))

    async def paste(self, text: str) -> None:
        """Pass text to its editor as if it came from the clipboard; the real clipboard is not touched."""
        await self._life.call(self._handle.evaluate(PASTE, text))

    async def copy_all(self) -> str:
        """Return its editor's whole content, even if only a part is drawn; "" if it has no such editor."""
        await self.focus()
        await self.press("ControlOrMeta+A")
        text = await self._life.call(self._handle.evaluate(COPIED))
        await self.press("ControlOrMeta+End")
        return cast(str, text)

    async def make(self) -> str:
        """The kind of box: `form` (a form field), `plain` (bare editable element), `editor` (with own paragraphs)."""
        return cast(str, await self._life.call(self._handle.evaluate(MAKE)))

    async def press(self, key: str) -> None:
        """Press a key, given by Playwright's name: `Enter`, `Control+Enter`."""
        await self._act(self._handle.press(key, timeout=self._milliseconds, no_wait_after=True))

    async def value(self) -> str:
        """Return the text typed in it, with its line breaks."""
        return cast(str, await self._life.call(self._handle.evaluate(typed_source())))

    async def box(self) -> Box | None:
        """Return its place in the window's coordinates; None if it is not visible."""
        frame, box = await self._frame.box(), await self._life.call(self._handle.evaluate(BOX))
        return Box(frame.x + box[0], frame.y + box[1], box[2], box[3]) if frame and box else None

    async def cover(self) -> Cover | None:
        """Return the element that covers its middle; None if there is none."""
        return Cover.from_script(await self._life.call(self._handle.evaluate(COVERED)))

    async def is_off(self) -> bool:
        return bool(await self._life.call(self._handle.evaluate(OFF)))

    async def scroll(self) -> None:
        """Bring it into view."""
        await self._act(self._handle.scroll_into_view_if_needed(timeout=self._milliseconds))

    async def _act_twice(self, work: Callable[[float], Coroutine[Any, Any, Any]]) -> None:
        """Do an action that has no effect until the element is ready, given its limit in milliseconds. Repeat it once
        if time ran out without an obstacle: then the machine was too busy."""
        try:
            await self._act(work(self._milliseconds))
        except NotSent as fault:
            if not out_of_time(fault):
                raise
            await self._act(work(2 * self._milliseconds), 4)

    async def _act(self, work: Coroutine[Any, Any, Any], times: float = 2) -> None:
        try:
            await self._life.run(work, times * self._life.limits.act)
        except self._life.complaint as fault:
            raise action_failure(str(fault)) from None
