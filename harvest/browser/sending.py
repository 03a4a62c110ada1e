"""Typing one user turn into the composer and sending it, with a look at whether it really went.

A turn must never go twice, and never go cut: what stands in the box is compared with what was typed before anything
is sent, and another way of sending is tried only while the whole text is still there and nothing has stirred, neither
on the page nor in the network.
"""

from __future__ import annotations

import asyncio
import time

from harvest.browser.page import collapsed, letters
from harvest.browser.part import Part
from harvest.browser.place import Place
from harvest.browser.window import Window
from harvest.drivers.driver import Denied, NotSent

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
        if not await _press(place, way):
            continue
        if await _departed(window, place, text):
            place.worked(way)
            return way
        await type_text(place, text)  # Enter may have made a new line
    await (await _composer(place)).clear()
    raise NotSent("not-sent", f"the page took the user turn neither by {' nor by '.join(place.ways)}")


async def _press(place: Place, way: str) -> bool:
    """Whether there was anything to press."""
    if way != "button":
        await (await _composer(place)).press(way)
        return True
    button = await place.frame.node(place.send) if place.send else None
    if button is None:
        return False
    try:
        await button.click()
    except NotSent:
        return False
    return True


async def _departed(window: Window, place: Place, text: str) -> bool:
    """Whether the page took the turn: the box is no longer full of it, or text came elsewhere on the page.

    A request alone may only keep a draft: it counts once the page has had its time.
    """
    until = time.monotonic() + _DEPARTURE
    while time.monotonic() < until:
        part = await place.frame.node(place.composer)
        if part is None or letters(await part.value()) != letters(text):
            return True
        if (await place.frame.sample()).changes:
            return True
        await asyncio.sleep(_STEP)
    return window.traffic.begun > 0


async def _composer(place: Place) -> Part:
    part = await place.frame.node(place.composer)
    if part is None:
        raise NotSent("no-composer", "the box to type in has left the page")
    return part
