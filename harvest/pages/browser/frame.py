"""A document of a live page, and the eye that watches it."""

import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from harvest.pages.browser.call_guard import CallGuard, call_failure
from harvest.pages.browser.part import (
    ASK_EYE,
    COVERED,
    FRAME_EDGES,
    IS_DISABLED,
    KIND_OF_BOX,
    NO_EYE,
    Cover,
    Keyboard,
    Part,
    ask_element,
    eye_source,
    typed_source,
)
from harvest.pages.reading.page import Box, Page, parse_page
from harvest.systems.driver import Unanswered
from harvest.systems.timing import Clock


@dataclass(frozen=True, slots=True)
class Sign:
    """A busy sign as observed since the send. `seen` is True if the sign has appeared, and `now` is True while it is
    visible. `last` is the number of seconds since the sign was last visible. `first` is the number of seconds from
    the send until the sign first appeared, or None if it never appeared."""

    seen: bool
    now: bool
    last: float | None
    first: float | None = None


@dataclass(frozen=True, slots=True)
class TurnSigns:
    """Signs of activity on the page since the turn was sent; times are in seconds.

    - `asked`: time since the send, or None if this document was loaded later or nothing was sent.
    - `quiet`: time since the text last changed, or since the send if the text never changed.
    - `rewritten`: time since the page last rewrote an unchanged text, or None if that never happened.
    - `changes`: number of changes of the text.
    - `pauses`: (length, start after the send) of the longest and the most recent gaps between changes.
    - `signs`: the observed signs by their names in `busy_signs`, without `network`.
    - `stale`: whether a watched element has left the page.
    - `mutations`: number of changes of any kind.
    - `stalls`: (length, start after the send) of the longest periods in which the page could not run, as measured by a
      timer in the page.
    """

    asked: float | None
    quiet: float = 0.0
    rewritten: float | None = None
    changes: int = 0
    pauses: tuple[tuple[float, float], ...] = ()
    signs: Mapping[str, Sign] = field(default_factory=dict)
    stale: bool = False
    mutations: int = 0
    stalls: tuple[tuple[float, float], ...] = ()


def parse_turn_signs(sample: Mapping[str, Any]) -> TurnSigns:
    """Convert the result of eye.sample() from milliseconds to seconds."""
    if sample.get("asked") is None:
        return TurnSigns(None)
    return TurnSigns(
        asked=sample["asked"] / 1000,
        quiet=sample["quiet"] / 1000,
        rewritten=_seconds(sample["rewritten"]),
        changes=sample["changes"],
        pauses=tuple((length / 1000, began / 1000) for length, began in sample["pauses"]),
        signs={
            name: Sign(sign["seen"], sign["now"], _seconds(sign["last"]), _seconds(sign["first"]))
            for name, sign in sample["signals"].items()
        },
        stale=sample["stale"],
        mutations=sample["mutations"],
        stalls=tuple((length / 1000, began / 1000) for length, began in sample["stalls"]),
    )


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


_SHOWN_FRAME = re.compile(r'<iframe(?=[^>]* h-box=)(?![^>]* h-hide=)[^>]* h-id="(?P<id>\d+)"[^>]*/>')
_ID_ATTRIBUTE = re.compile(r' h-id="\d+"')
_MOST_FRAMES = 5  # in one answer


class Document(Protocol):
    @property
    def url(self) -> str: ...
    @property
    def parent_frame(self) -> Any: ...
    def evaluate(self, expression: str, arg: Any = None) -> Coroutine[Any, Any, Any]: ...
    def evaluate_handle(self, expression: str, arg: Any = None) -> Coroutine[Any, Any, Any]: ...
    def frame_element(self) -> Coroutine[Any, Any, Any]: ...


class Frame:
    """A document of a window, queried through the eye that runs in it."""

    def __init__(
        self, life: CallGuard, frame: Document, keyboard: Keyboard, viewport: tuple[int, int], clock: Clock
    ) -> None:
        self._life, self._frame, self._keyboard, self._viewport = life, frame, keyboard, viewport
        self._clock = clock
        self._silent_at: str | None = None
        self._held: set[int] = set()  # frames of answers, by their numbers

    @property
    def is_silent(self) -> bool:
        """True if the frame cannot be queried, because it has no document yet or its document did not respond."""
        return not self.is_main and self.url in ("", self._silent_at)

    @property
    def url(self) -> str:
        return self._frame.url

    @property
    def is_main(self) -> bool:
        """True for the page itself, False for a frame inside it."""
        return self._frame.parent_frame is None

    async def box(self) -> Box | None:
        """Return the box of the document in the window's coordinates, or None if the document is not visible."""
        if self.is_main:
            return Box(0, 0, *self._viewport)
        around = await self._parent().box()
        try:
            holder = await self._life.run(self._frame.frame_element())
            edges = await self._life.run(holder.evaluate(FRAME_EDGES))
        except self._life.complaint:
            return None
        if around is None or edges is None or edges[2] < 2 or edges[3] < 2:
            return None
        return Box(around.x + edges[0], around.y + edges[1], edges[2], edges[3])

    async def cover(self) -> Cover | None:
        """Return the element that covers the middle of this frame or of a frame around it, or None."""
        if self.is_main:
            return None
        try:
            holder = await self._life.run(self._frame.frame_element())
            found = Cover.from_script(await self._life.run(holder.evaluate(COVERED)))
        except self._life.complaint:
            return None
        return found or await self._parent().cover()

    async def look(self, site: Mapping[str, str] | None = None) -> Page:
        """Return the document as it is now, with the matches of the site's selectors marked. `site` maps names to
        selectors. An invalid selector raises Denied (`bad-selector`)."""
        return parse_page(await self.source(site))

    async def source(self, site: Mapping[str, str] | None = None) -> str:
        """Return the text from which `look` parses the page, to keep as evidence. The text includes frames that were
        added after a turn was sent, even after later turns, because some answers are in such frames."""
        source = cast(str, await self._ask_eye("look", dict(site) if site else None, again=True))
        shown = [one for one in _SHOWN_FRAME.finditer(source) if " h-born=" in one[0] or int(one["id"]) in self._held]
        for found in shown[-_MOST_FRAMES:]:
            inner = await self._frame_content(int(found["id"]))
            if inner:
                self._held.add(int(found["id"]))
                source = source.replace(found[0], f'{found[0][:-2]} h-frame="1">{inner}</iframe>', 1)
        return source

    async def _frame_content(self, number: int) -> str:
        """Return the content of a frame as the eye wrote it, without element numbers, or "" if it does not respond."""
        try:
            holder = (await self._handle(number)).as_element()
            document = await self._life.run(holder.content_frame()) if holder is not None else None
            if document is None:
                return ""
            inner = Frame(self._life, document, self._keyboard, self._viewport, self._clock)
            written = cast(str, await inner._ask_eye("look", None))
        except (Unanswered, self._life.complaint):
            return ""
        body = written.partition(">")[2].removesuffix("</h-page>")
        return _ID_ATTRIBUTE.sub("", body)

    async def arm(
        self, composer: int, send: int = 0, site: Mapping[str, str] | None = None, *, filled: bool = False
    ) -> None:
        """Start watching, before anything is typed. `composer` and `send` are element numbers; 0 means no element. Set
        `filled` if the box holds something already, without which the button that sends would be off."""
        await self._ask_eye("arm", {"composer": composer, "send": send, "filled": filled}, dict(site) if site else None)

    async def mark_sent(self) -> None:
        await self._ask_eye("sent")

    async def follow(self, site: Mapping[str, str] | None = None) -> None:
        """Continue in a document that was loaded after the turn was sent. From now on `sample` counts from this call,
        and `look` does not report when elements were added."""
        await self._ask_eye("follow", dict(site) if site else None, again=True)

    async def watch(self, ids: Sequence[int]) -> None:
        """Restrict the watch to text changes in these elements from now on."""
        await self._ask_eye("watch", list(ids))

    async def sample(self) -> TurnSigns:
        return parse_turn_signs(cast(dict[str, Any], await self._ask_eye("sample", again=True)))

    async def node(self, number: int) -> Part | None:
        """Return the element with the given number, or None if the element has gone. If the page replaced the composer
        or the send button during the turn, return the replacement."""
        handle = (await self._handle(number)).as_element()
        return Part(self._life, handle, self._keyboard, self) if handle is not None else None

    # What is asked in every turn is asked of the element's number: a `Part` takes a call of its own.

    async def typed_text(self, number: int) -> str | None:
        """Return the text typed into an element, as `Part.value` does, or None if the element has gone."""
        return cast("str | None", await self._query(number, typed_source()))

    async def kind_of_box(self, number: int) -> str | None:
        """Return the kind of box: `form` (a form field), `plain` (editable text) or `editor` (with paragraphs), or None
        if the element has gone."""
        return cast("str | None", await self._query(number, KIND_OF_BOX))

    async def is_disabled(self, number: int) -> bool:
        """Return True for an element that is there, and disabled."""
        return bool(await self._query(number, IS_DISABLED))

    async def is_reachable(self, number: int) -> bool:
        """Return True if an element's middle is in view and nothing covers it. Inside a frame that is unknown, because
        the frame may be out of view itself, and the result is False."""
        return self.is_main and await self._query(number, COVERED, gone=["", 0]) is None

    def _parent(self) -> "Frame":
        return Frame(self._life, self._frame.parent_frame, self._keyboard, self._viewport, self._clock)

    async def _handle(self, number: int) -> Any:
        return await self._evaluate(self._frame.evaluate_handle, ASK_EYE, ["node", [number]])

    async def _query(self, number: int, script: str, gone: Any = None) -> Any:
        return await self._evaluate(self._frame.evaluate, ask_element(script), [number, gone])

    async def _ask_eye(self, name: str, *arguments: Any, again: bool = False) -> Any:
        for attempt in range(3):
            try:
                return await self._evaluate(self._frame.evaluate, ASK_EYE, [name, list(arguments)])
            except Unanswered as fault:
                # A new document loaded in the middle of the call.
                if not again or fault.reason != "page-moved" or attempt == 2:
                    raise
                await self._clock.sleep(0.1)
        raise AssertionError

    async def _evaluate(self, call: Callable[..., Coroutine[Any, Any, Any]], script: str, values: Sequence[Any]) -> Any:
        try:
            return await self._wait_for(call(script, values))
        except self._life.complaint as fault:
            if NO_EYE not in str(fault):
                raise call_failure(str(fault)) from None
        try:
            await self._wait_for(self._frame.evaluate(eye_source()))
            return await self._wait_for(call(script, values))
        except self._life.complaint as fault:
            raise call_failure(str(fault)) from None

    async def _wait_for(self, work: Coroutine[Any, Any, Any]) -> Any:
        if self.is_main:
            return await self._life.run(work)
        try:
            return await self._life.run(work, self._life.limits.frame, apart=True)
        except Unanswered as fault:
            if fault.reason == "frame-silent":
                self._silent_at = self.url
            raise
