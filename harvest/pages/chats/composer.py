"""Typing a user turn into the box of a page in a way that preserves the intended text.

Editors change text as it is typed: they curl quotes, turn hyphens into dashes or lists, pair brackets, and open menus
of names. Inserting the whole text in one step avoids most of that. The content of the box is then compared with the
text, including line breaks. A purely typographic difference that cannot be avoided is reported to the caller. If there
is any other difference, the turn is not sent.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from harvest.pages.browser.part import Part
from harvest.pages.chats.place import Place
from harvest.pages.reading.page import letters
from harvest.pages.reading.typography import differences
from harvest.systems.driver import Denied, NotSent, Unanswered

Way = Callable[[Place, str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class TypedTurn:
    """A turn in the box that has not been sent yet. `held` is the visible content, which may be a part of a long text.
    `text` is the whole content. `differences` lists typographic differences from the intended text, as found by
    `reading.typography`."""

    held: str
    text: str
    differences: tuple[str, ...] = ()


_NO_COMPOSER = "no-composer", "the box to type in is no longer on the page"


async def get_composer(place: Place) -> Part:
    """Return the box to type in, which some pages rebuild with every change. Raises NotSent (`no-composer`) if the box
    has left the page."""
    part = await place.frame.node(place.composer)
    if part is None:
        raise NotSent(*_NO_COMPOSER)
    return part


async def read_composer(place: Place) -> str:
    """Return the text in the box, with its line breaks. Raises NotSent as `get_composer` does."""
    text = await place.frame.typed_text(place.composer)
    if text is None:
        raise NotSent(*_NO_COMPOSER)
    return text


async def type_text(place: Place, text: str) -> TypedTurn:
    """Put exactly `text` into the composer. Raises Denied (`too-long-for-composer`), NotSent (`not-typed`, or because
    nobody can type into the composer now) or Unanswered (`sent-in-parts`)."""
    best: tuple[Way, TypedTurn] | None = None
    held = cut = ""
    for way in await _ways_to_type(place, text):
        typed = await _try_way(place, way, text)
        if typed is not None and not typed.differences:
            return typed
        if typed is not None and (best is None or len(typed.differences) < len(best[1].differences)):
            best = way, typed
        held = await read_composer(place)
        if held.strip() and text.strip().startswith(held.strip()):
            if cut == held:
                break
            cut = held
    typed = await _try_way(place, best[0], text) if best is not None else None
    if typed is not None:
        return typed
    await (await get_composer(place)).clear()
    if cut:
        detail = f"the composer keeps only {len(cut)} of the {len(text)} characters of this user turn"
        raise Denied("too-long-for-composer", detail)
    raise NotSent("not-typed", f"the composer contains {held[:80]!r} instead of the user turn")


def still_contains(value: str, held: str) -> bool:
    """Return True if a box still contains the turn `held`, possibly with more text at its end."""
    before, now = letters(held), letters(value)
    if not before:
        return value.strip() == held.strip()
    shared = next((at for at, (one, other) in enumerate(zip(before, now, strict=False)) if one != other), len(now))
    return 2 * min(shared, len(before)) >= len(before)


async def _try_way(place: Place, way: Way, text: str) -> TypedTurn | None:
    """Type the text in one way. Returns None if the box then contains a different text."""
    await way(place, text)
    held = await read_composer(place)
    found = differences(text, held)
    if found is not None:
        return TypedTurn(held, held, found)
    if await place.frame.kind_of_box(place.composer) == "form":
        return None
    # An editor of long texts draws only what is in view.
    part = await get_composer(place)
    whole = await part.copy_all()
    found = differences(text, whole) if whole else None
    return TypedTurn(await part.value(), whole, found) if found is not None else None


async def _ways_to_type(place: Place, text: str) -> list[Way]:
    """Return the ways to type, the most promising first. Pressing keys comes last, because editors act on keys and
    Shift+Enter may send."""
    lines = "\n" in text.strip()
    type_keys = partial(_enter_lines, typed=True)
    match await place.frame.kind_of_box(place.composer):
        case "form":
            return [_fill_box, _insert_at_once, *(() if lines else [type_keys])]
        case "plain":
            # Text inserted with its line breaks would be split into elements that few pages join again.
            return [*([_insert_lines] if lines else ()), _fill_box, _enter_lines, type_keys]
        case _:
            return [_fill_box, _enter_lines, partial(_insert_at_once, paste=True), type_keys]


async def _fill_box(place: Place, text: str) -> None:
    await (await get_composer(place)).fill(text)


async def _insert_at_once(place: Place, text: str, *, paste: bool = False) -> None:
    part = await _clear_box(place)
    await (part.paste(text) if paste else part.insert(text))


async def _insert_lines(place: Place, text: str) -> None:
    part = await _clear_box(place)
    for number, line in enumerate(text.split("\n")):
        if number:
            part = await get_composer(place)
            await part.break_line()
        if line:
            await part.insert(line)


async def _enter_lines(place: Place, text: str, *, typed: bool = False) -> None:
    """Type or insert the text line by line. A character that is added to each inserted line and then deleted defeats an
    editor's automatic changes."""
    part = await _clear_box(place)
    for number, line in enumerate(text.split("\n")):
        if number:
            part = await get_composer(place)
            before = await part.value() if number == 1 else ""
            await part.press("Shift+Enter")
            part = await get_composer(place)
            if before.strip() and not still_contains(await part.value(), before):
                detail = f"Shift+Enter sent {before[:80]!r}, which is only a part of the user turn"
                raise Unanswered("sent-in-parts", detail)
        if typed:
            await part.type(line)
        elif line:
            await part.insert(f"{line}x")
            part = await get_composer(place)
            await part.press("Backspace")


async def _clear_box(place: Place) -> Part:
    await (await get_composer(place)).clear()
    part = await get_composer(place)
    await part.focus()
    return part
