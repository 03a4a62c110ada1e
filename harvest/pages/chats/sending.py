"""Sending what stands in the composer, with a look at whether it really went.

A turn must never go twice. Another way of sending is tried only where nothing has stirred: the turn still stands in
the box, no other text has changed, nothing on the page says that it is at work, and nothing has left it that could have
carried the turn.
"""

from contextlib import suppress
from dataclasses import dataclass

from harvest.pages.browser.busy_signs import STARTED
from harvest.pages.browser.turn_signs import TurnSigns
from harvest.pages.browser.window import Window
from harvest.pages.chats.composer import Typed, composer_of, still_holds, type_text
from harvest.pages.chats.place import Place
from harvest.systems.driver import NotSent, Unanswered

_DEPARTURE = 3.0  # seconds a page gets to show that it took the turn, besides those its server takes to answer
_CONNECTS = 6.0  # times as long as its slowest response that a page gets to be connected
_STEP = 0.05  # seconds


@dataclass(frozen=True, slots=True)
class Sent:
    """How a turn went out. by: `button`, or a key. typed: what stood in the box. presses: how often a button or key was
    pressed for it."""

    by: str
    typed: Typed
    presses: int


async def send(window: Window, place: Place, text: str, typed: Typed, seconds: float = 0.0) -> Sent:
    """Send what stands in the composer, which is `text`. seconds: how long to wait for a button that has worked before.

    Raises NotSent (`not-sent`) where no way of sending did anything: the whole text is still in the composer;
    Unanswered (`unconfirmed`) where the page no longer lets that be told.
    """
    presses = 0
    await _ready(window, place, seconds)
    try:
        for way in tuple(place.ways):
            for once_more in (False, True):
                if once_more and not await _out_of_menus(window, place, way, text, typed):
                    break
                # Time zero for all that the eye sees: before the click, or a quick answer would be older than its turn.
                await place.frame.sent()
                window.mark()
                pressed = await _press(place, way)
                window.traffic.pressed()
                presses += pressed
                if await _has_departed(window, place, typed, way if pressed else ""):
                    place.worked(way)
                    return Sent(way, typed, presses)
            if pressed:
                typed = await _typed_again(window, place, text)  # Enter may have made a new line
        await (await composer_of(place)).clear()
    except NotSent as fault:
        if not presses:
            raise
        # Not to be sent once more: the page may have begun to.
        detail = f"the turn was handed to the page and could not be typed a second time ({fault})"
        raise Unanswered("unconfirmed", detail) from None
    raise NotSent("not-sent", f"the page took the user turn neither by {' nor by '.join(place.ways)}")


async def _ready(window: Window, place: Place, seconds: float) -> None:
    """Wait for a button that is off with the turn in the box: a page whose server is far away may not be connected yet,
    and a key does nothing then. A page that is near gets no time, and none where a key has worked. Where the button
    has worked, the page may take the next turn only after a while."""
    until = window.clock.monotonic() + max(_CONNECTS * window.traffic.lag, seconds if place.proven else 0.0)
    while place.send and place.ways[0] == "button" and window.clock.monotonic() < until:
        button = await place.frame.node(place.send)
        if button is None or not await button.off():
            return
        await window.clock.sleep(_STEP)


async def _out_of_menus(window: Window, place: Place, way: str, text: str, typed: Typed) -> bool:
    """Whether a key may have gone to a menu of names or commands that typing opened; then that menu is closed now."""
    if way == "button":
        return False
    part = await composer_of(place)
    value = await part.value()
    if value.count("\n") > typed.held.count("\n"):
        return False  # the key makes a new line
    if value != typed.held:
        await _typed_again(window, place, text)
        await part.press("Space")
    return True


async def _typed_again(window: Window, place: Place, text: str) -> Typed:
    window.outbox.typing()
    return await type_text(place, text)


async def _press(place: Place, way: str) -> bool:
    """Whether it was pressed, or may have been: one of which no word comes back counts."""
    if way != "button":
        with suppress(NotSent):
            await (await composer_of(place)).press(way)
        return True
    button = await place.frame.node(place.send) if place.send else None
    if button is None:
        return False
    try:
        await button.click()
    except NotSent as fault:
        return fault.reason == "part-unsure"
    return True


async def _has_departed(window: Window, place: Place, typed: Typed, way: str) -> bool:
    """Whether the page took the turn: the box is no longer full of it, text came elsewhere on the page, or another
    document comes. way: what was pressed; "" for nothing.

    Something that left the page may only keep a draft: it counts once the page has had its time.
    """
    until = window.clock.monotonic() + (_DEPARTURE + window.traffic.lag if way else 0.0)
    while True:
        try:
            part = await place.frame.node(place.composer)
            value = None if part is None else await part.value()
            if value is None or not still_holds(value, typed.held):
                return True
            seen = await place.frame.sample()
        except Unanswered as fault:
            if fault.reason == "page-moved":
                return True
            raise
        if way and (seen.changes or seen.asked is None):
            return True
        if window.clock.monotonic() >= until:
            # A key that made a new line has changed the draft.
            new_line = way != "button" and value.count("\n") > typed.held.count("\n")
            return bool(way) and (_at_work(seen) or window.outbox.left(beyond_typing=new_line))
        await window.clock.sleep(_STEP)


def _at_work(seen: TurnSigns) -> bool:
    return any(sign.now for name, sign in seen.signs.items() if name in STARTED)
