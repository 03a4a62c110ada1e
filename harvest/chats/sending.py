"""Typing one user turn into the composer and sending it, with a look at whether it really went.

A turn must never go twice, and never go cut: what stands in the box is compared with what was typed before anything
is sent, and another way of sending is tried only while the whole text is still there and nothing has stirred, neither
on the page nor in the network.
"""

from __future__ import annotations

import asyncio
import time

from harvest.browser.part import Part
from harvest.browser.window import Window
from harvest.chats.place import Place
from harvest.drivers.driver import Denied, NotSent, Unanswered
from harvest.reading.page import collapsed, letters

__all__ = ["send", "type_text"]

_DEPARTURE = 3.0  # seconds a page gets to show that it took the turn
_STEP = 0.05


async def type_text(place: Place, text: str) -> None:
    """Put `text` into the composer, and nothing else.

    Raises Denied (`too-long-for-composer`), NotSent (`not-typed`, or that the composer cannot be typed into now).
    """
    part = await _composer(place)
    await part.fill(text)
    found = await part.value()
    if collapsed(found) != collapsed(text):
        # Some editors take only what comes through the keyboard.
        await part.clear()
        await part.type(text, at_once=True)
        found = await part.value()
    if collapsed(found) == collapsed(text):
        return
    await part.clear()
    if found and collapsed(text).startswith(collapsed(found)):
        detail = f"the composer keeps only {len(found)} of the {len(text)} characters of this user turn"
        raise Denied("too-long-for-composer", detail)
    raise NotSent("not-typed", f"the composer holds {found[:80]!r} instead of the user turn")


async def send(window: Window, place: Place, text: str) -> str:
    """Send what stands in the composer; how it went out: `button`, or a key.

    Raises NotSent (`not-sent`) where no way of sending did anything: the whole text is still in the composer.
    """
    for way in tuple(place.ways):
        # Time zero for all that the eye sees: before the click, or a quick answer would be older than its turn.
        await place.frame.sent()
        window.traffic.mark()
        patience = await _press(place, way)
        if await _departed(window, place, text, patience):
            place.worked(way)
            return way
        if patience:
            await type_text(place, text)  # Enter may have made a new line
    await (await _composer(place)).clear()
    raise NotSent("not-sent", f"the page took the user turn neither by {' nor by '.join(place.ways)}")


async def _press(place: Place, way: str) -> float:
    """Seconds the page gets to show that it took the turn; 0 where there was nothing to press.

    A click that is reported as failed may have been made all the same: whoever calls looks at the page.
    """
    if way != "button":
        await (await _composer(place)).press(way)
        return _DEPARTURE
    button = await place.frame.node(place.send) if place.send else None
    if button is None:
        return 0.0
    try:
        await button.click()
    except NotSent:
        return 0.0
    return _DEPARTURE


async def _departed(window: Window, place: Place, text: str, seconds: float) -> bool:
    """Whether the page took the turn: the box is no longer full of it, text came elsewhere on the page, or another
    document comes.

    A request alone may only keep a draft: it counts once the page has had its time.
    """
    until = time.monotonic() + seconds
    while True:
        try:
            part = await place.frame.node(place.composer)
            if part is None or letters(await part.value()) != letters(text):
                return True
            seen = await place.frame.sample()
        except Unanswered as fault:
            if fault.reason == "page-moved":
                return True
            raise
        if seen.changes or seen.asked is None:
            return True
        if time.monotonic() >= until:
            return seconds > 0 and window.traffic.begun > 0
        await asyncio.sleep(_STEP)


async def _composer(place: Place) -> Part:
    part = await place.frame.node(place.composer)
    if part is None:
        raise NotSent("no-composer", "the box to type in has left the page")
    return part
