"""Sending the turn in the composer, and checking that it was really sent. A turn must never be sent twice. Another way
of sending is tried only if nothing has happened: the turn is still in the box, no other text has changed, nothing on
the page shows activity, and no message that could have carried the turn has left the page."""

from contextlib import suppress
from dataclasses import dataclass

from harvest.pages.browser.busy_signs import STARTED
from harvest.pages.browser.window import Window
from harvest.pages.chats.composer import TypedTurn, get_composer, read_composer, still_contains, type_text
from harvest.pages.chats.place import Place
from harvest.pages.reading.altered import share_kept
from harvest.pages.reading.echo import trail
from harvest.pages.reading.outgoing import find_sent_text
from harvest.pages.reading.page import Node, letters
from harvest.pages.reading.turn import Habits, ReadTurn
from harvest.pages.reading.typography import differences
from harvest.systems.driver import NotSent, Unanswered

_DEPARTURE_SECONDS = 3.0  # seconds for a page to show that it accepted the turn, besides its server's response time
_CONNECT_FACTOR = 6.0  # times the slowest response, for a page to be connected
_STEP = 0.05  # seconds
_LEAST_SHARE_SHOWN = 0.3  # share of the user's letters; a page that shows fewer shows something else


@dataclass(frozen=True, slots=True)
class SentTurn:
    """How a turn was sent. `by` is `button` or the name of a key. `typed` is the content of the box. `presses` counts
    the presses of the button or the key."""

    by: str
    typed: TypedTurn
    presses: int


async def send(window: Window, place: Place, text: str, typed: TypedTurn, seconds: float = 0.0) -> SentTurn:
    """Send the turn `text`, which is in the composer. `seconds` is how long to wait for a button that has worked
    before. Raises NotSent (`not-sent`) if no way of sending had an effect and the whole text is still in the
    composer, and Unanswered (`unconfirmed`) if the page no longer shows whether the turn was sent."""
    presses = 0
    # A button may be disabled although the turn is in the box: a page with a distant server may not be connected yet,
    # and a key has no effect then. A page whose server is near gets no time, nor does one on which a key has worked. If
    # the button has worked before, the page may accept the next turn only after a while.
    until = window.clock.monotonic() + max(_CONNECT_FACTOR * window.traffic.lag, seconds if place.proven else 0.0)
    while place.send and place.ways[0] == "button" and window.clock.monotonic() < until:
        if not await place.frame.is_disabled(place.send):
            break
        await window.clock.sleep(_STEP)
    try:
        for way in tuple(place.ways):
            for once_more in (False, True):
                if once_more and not await _close_menus(window, place, way, text, typed):
                    break
                # Time zero for the eye is before the click, or a quick answer would be older than its turn.
                await place.frame.mark_sent()
                window.mark()
                pressed = await _press(place, way)
                window.traffic.note_press()
                presses += pressed
                if await _has_departed(window, place, typed, way if pressed else ""):
                    place.prefer(way)
                    return SentTurn(way, typed, presses)
            if pressed:
                typed = await _type_again(window, place, text)  # Enter may have made a new line
        await (await get_composer(place)).clear()
    except NotSent as fault:
        if not presses:
            raise
        # Do not send it once more: the page may have begun to.
        detail = f"the turn was given to the page and could not be typed a second time ({fault})"
        raise Unanswered("unconfirmed", detail) from None
    raise NotSent("not-sent", f"the page accepted the user turn neither by {' nor by '.join(place.ways)}")


async def press_offer(window: Window, place: Place, button: Node, title: str) -> SentTurn:
    """Press the button that offers `title`, or choose `title` if it is a list. Raises NotSent if the element has gone,
    is disabled or covered."""
    part = await place.frame.node(button.id)
    if part is None:
        raise NotSent("button-gone", f"the button {title[:80]!r} is no longer on the page")
    await place.frame.mark_sent()
    window.mark()
    try:
        if button.tag == "select":
            await part.choose(title)
        else:
            await part.click()
    except NotSent as fault:
        if fault.reason != "part-unsure":
            raise
    window.traffic.note_press()
    return SentTurn("press", TypedTurn(title, title), 1)


def find_words_left(window: Window, place: Place, said: str) -> str | None:
    """Return the user's text as it left the page, or None if that is unknown."""
    return find_sent_text(window.outbox.bodies, said, known=letters(place.page.root.text))


def shows_other_words(turn: ReadTurn, said: str, habits: Habits) -> bool:
    """Return True if the page shows another text where all earlier turns show the user's text."""
    if turn.how != "altered" or turn.echo is None or not letters(turn.echo.text) or not habits.apart:
        return False  # punctuation alone may be a mask
    return trail(turn.echo) == habits.user and share_kept(said, turn.echo.lines) < _LEAST_SHARE_SHOWN


def find_sent_words(window: Window, place: Place, sent: SentTurn, said: str, turn: ReadTurn) -> str:
    """Return the user's text as it left the page, or "" if the text is unchanged or only masked on the page. If it is
    unknown how the text left the page, return the text shown on the page or in the box."""
    words = find_words_left(window, place, said)
    if words is None:
        words = sent.typed.text if sent.typed.differences else said
        if (
            turn.how == "altered"
            and turn.echo is not None
            and _LEAST_SHARE_SHOWN <= share_kept(said, turn.echo.lines) < 1
        ):
            words = turn.echo.lines
    return "" if differences(said, words) == () else words


async def _close_menus(window: Window, place: Place, way: str, text: str, typed: TypedTurn) -> bool:
    """Close a menu that typing may have opened and that may have received the key. Returns False if none can exist."""
    if way == "button":
        return False
    value = await read_composer(place)
    if value.count("\n") > typed.held.count("\n"):
        return False  # the key makes a new line
    if value != typed.held:
        await _type_again(window, place, text)
        await (await get_composer(place)).press("Space")
    return True


async def _type_again(window: Window, place: Place, text: str) -> TypedTurn:
    window.outbox.start_typing()
    return await type_text(place, text)


async def _press(place: Place, way: str) -> bool:
    """Press the button or the key. Returns False if the press certainly failed."""
    if way != "button":
        with suppress(NotSent):
            await (await get_composer(place)).press(way)
        return True
    button = await place.frame.node(place.send) if place.send else None
    if button is None:
        return False
    try:
        await button.click()
    except NotSent as fault:
        return fault.reason == "part-unsure"
    return True


async def _has_departed(window: Window, place: Place, typed: TypedTurn, way: str) -> bool:
    """Return True if the page accepted the turn: the text has left the box, text changed elsewhere, or another
    document loads. `way` is the button or key that was pressed, or "". A message that left the page may only save a
    draft, so it counts only after a wait."""
    until = window.clock.monotonic() + (_DEPARTURE_SECONDS + window.traffic.lag if way else 0.0)
    while True:
        try:
            value = await place.frame.typed_text(place.composer)
            if value is None or not still_contains(value, typed.held):
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
            at_work = any(sign.now for name, sign in seen.signs.items() if name in STARTED)
            return bool(way) and (at_work or window.outbox.has_sent_turn(beyond_typing=new_line))
        await window.clock.sleep(_STEP)
