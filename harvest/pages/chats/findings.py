"""Findings about a page from one exchange, each with reasons, and the draft of a site file made from the findings."""

import json
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from harvest.pages.chats.chat import ChatAnswer
from harvest.pages.chats.opening import Opening
from harvest.pages.chats.place import Place
from harvest.pages.finding.buttons import find_new_chat, find_send
from harvest.pages.finding.discovery import find_composer
from harvest.pages.finding.selectors import selector_for, selector_for_all
from harvest.pages.finding.wordings import code_words, word_set
from harvest.pages.reading.page import Node, Page, parse_page
from harvest.pages.reading.page_text import PageText
from harvest.pages.reading.turn import ReadTurn, read_turn
from harvest.pages.sites.site import FORMAT
from harvest.systems.driver import DriverError
from topics.decimals import percent

_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding about a page for one `field` of a site file. `value` is the value to write, or None if no lasting
    value was found. `sure` is the certainty, from 0 to 1, and `why` gives the reasons. If `used` is False, the page
    is read better without the value, and the draft mentions it only in a comment."""

    field: str
    value: str | None
    sure: float
    why: tuple[str, ...]
    used: bool = True

    def as_json(self) -> dict[str, Any]:
        return {
            "field": self.field,
            "value": self.value,
            "sure": round(self.sure, 3),
            "why": list(self.why),
            "used": self.used and self.value is not None,
        }


def comment_out(findings: Sequence[Finding], fields: Sequence[str], why: str) -> tuple[Finding, ...]:
    """Return the findings after turning the given fields into comments for the reason `why`."""
    return tuple(
        replace(one, used=False, why=(why, *one.why)) if one.field in fields and one.used else one for one in findings
    )


def site_text(name: str, url: str, findings: Sequence[Finding], remarks: Sequence[str] = ()) -> str:
    """Return the text of a site file. A field that accepts a list gets the values of all its findings, in order."""
    lines = [f"format: {FORMAT}", f"name: {_quote(name)}"]
    lines += [f"url: {_quote(url)}"]
    for remark in remarks:
        lines += _comment_lines(remark)
    for field in dict.fromkeys(one.field for one in findings):
        several = [one for one in findings if one.field == field]
        lines.append("")
        for one in several:
            lines += _comment_lines(f"{field}: {percent(one.sure)} sure; {'; '.join(one.why)}")
        used = [one.value for one in several if one.used and one.value is not None]
        given = [one.value for one in several if one.value is not None]
        if used:
            lines.append(f"{field}: {_format_values(field, used)}")
        elif given:
            lines.append(f"# {field}: {_format_values(field, given)}")
    return "\n".join(lines) + "\n"


def _format_values(field: str, values: Sequence[str]) -> str:
    if field in ("open", "dismiss"):
        return "[" + ", ".join(_quote(value) for value in values) + "]"
    if field == "fill":  # entries of a mapping, written as such
        return "{" + ", ".join(values) + "}"
    return _quote(values[0])


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _comment_lines(text: str) -> list[str]:
    plain = "".join(character if character.isprintable() else " " for character in text)
    return textwrap.wrap(plain, _WIDTH, initial_indent="# ", subsequent_indent="#   ", break_long_words=False)


_SPEAKERS = word_set(
    "assistant bot ai agent system reply response answer user human visitor me message msg bubble turn"
)
_LEVELS_AROUND = 5  # elements around a bubble that may name it better than itself
_MOST_SIGNS = 4  # reasons in a sentence
_DOUBT_AFTER_USE = 0.1  # share of a doubt that remains once something has worked


@dataclass(frozen=True, slots=True)
class Exchange:
    """An exchange, with the page before and after the exchange as the eye recorded it."""

    place: Place
    before: Page
    after: Page
    turn: ReadTurn
    way: str


def opening_findings(opening: Opening) -> tuple[Finding, ...]:
    """Return findings about the buttons that had to be pressed before anybody could type."""
    found = []
    for (kind, selector), said in zip(opening.found, opening.did):
        field = "open" if kind == "launcher" else "dismiss"
        lasting = _is_lasting(selector)
        found.append(
            Finding(field, selector, 0.9 if lasting else 0.4, (said, *_selector_doubts(selector)), used=lasting)
        )
    return tuple(found)


def door_findings(opening: Opening) -> tuple[Finding, ...]:
    """Return findings about the fields of a form before the chat."""
    door = opening.door
    if door is None:
        return ()
    fields = [Finding("fill", entry, 0.7, ("the page asks for it before the chat",)) for entry in door.entries]
    leads = [Finding("open", door.button, 0.7, ("leads on from what the page asks",))] if door.button else []
    return (*fields, *leads)


def place_findings(place: Place, page: Page) -> tuple[Finding, ...]:
    """Return findings about the frame and the composer, before anything was sent."""
    found: list[Finding] = []
    if not place.frame.is_main:
        # The part of a frame's URL that is likely to be the same tomorrow.
        parts = urlsplit(place.frame.url)
        part = f"{parts.netloc.rpartition('@')[2]}{parts.path}" if parts.hostname else place.frame.url or None
        found.append(Finding("frame", part, 0.9 if part else 0.0, ("the frame in which the chat was found",)))
    candidates = {one.node.id: one for one in find_composer(page)}
    composer = page.by_id.get(place.composer)
    if composer is not None:
        selector = selector_for(page, composer)
        seen = candidates.get(place.composer)
        why = _describe_reasons(seen.reasons) if seen is not None else ()
        score = seen.score if seen is not None else 0.5
        found.append(
            Finding("composer", selector, score, (*_selector_doubts(selector), *why), used=_is_lasting(selector))
        )
    return tuple(found)


def read_exchange(place: Place, before: Page, message: str, said: ChatAnswer) -> Exchange:
    """Return the exchange, read again from the page that was kept as evidence."""
    kept = {exhibit.name: exhibit.data for exhibit in said.exhibits}
    after = parse_page(kept["page"].decode())
    turn = read_turn(after, message, before=PageText(before))
    return Exchange(place, before, after, turn.doubtful or turn, place.ways[0])


async def exchange_findings(talk: Exchange, message: str) -> tuple[Finding, ...]:
    """Return findings from the exchange: how the turn was sent, and which elements hold the text of the user and of
    the system."""
    found = [_send_finding(talk)]
    turn = talk.turn
    bubbles = [node for node in turn.bubbles if node.id]
    users = [turn.echo] if turn.echo is not None and turn.echo.id else []
    user = await _element_finding(talk, message, "user", users, never=bubbles)
    if user is not None:
        found.append(user)
    reply = await _element_finding(talk, message, "reply", bubbles, never=users)
    if reply is not None:
        found.append(reply)
    if turn.left_out:
        named = ", ".join(repr(line[:30]) for line in turn.left_out[:8])
        found.append(Finding("leave_out", None, 0.8, (f"left out by themselves: {named}",)))
    new = find_new_chat(talk.after)
    if new is not None:
        why = "needed only with a log-in: without one, each conversation starts as a new visitor"
        selector, reasons = selector_for(talk.after, new.node), (why, *_describe_reasons(new.reasons))
        found.append(Finding("new_chat", selector, new.score, reasons, used=False))
    return tuple(found)


def _send_finding(talk: Exchange) -> Finding:
    if talk.way != "button":
        return Finding("send", talk.way.lower(), 0.98, (f"the user turn went out by {talk.way}",))
    composer = talk.before.by_id.get(talk.place.composer)
    seen = find_send(talk.before, composer) if composer is not None else None
    if seen is None:
        return Finding("send", None, 0.9, ("a button that appears only when there is something to send",), used=False)
    shown = [(page, node) for page in (talk.before, talk.after) if (node := page.by_id.get(seen.node.id)) is not None]
    selectors = [selector_for(page, node) for page, node in shown]
    # By its name if it has one in either state: some are called Stop while an answer is written.
    selector = next((one for one in selectors if _is_lasting(one)), selectors[0] if selectors else None)
    why = ("the user turn went out by it", *_selector_doubts(selector), *_describe_reasons(seen.reasons))
    return Finding("send", selector, raise_certainty(seen.score), why, used=_is_lasting(selector))


async def _element_finding(
    talk: Exchange, message: str, field: str, nodes: Sequence[Node], never: Sequence[Node]
) -> Finding | None:
    """Return a selector of the elements that appear with every turn. A test makes sure that the selector does not
    change the reading of the page."""
    if not nodes:
        return None
    found = []
    for level in range(_LEVELS_AROUND):
        around = _ancestors_at(nodes, level, never)
        selector = selector_for_all(talk.after, around, never=never) if around else None
        if selector is None:
            continue
        same = await _reads_the_same(talk, message, field, selector)
        telling = bool(code_words(selector.replace(".", " ").replace("[", " ").replace("=", " ")) & _SPEAKERS)
        why = [
            "the page reads the same with it" if same else "the page reads differently with it",
            *(() if telling else ("its name does not say who speaks",)),
        ]
        # One exchange does not show every kind of bubble: a selector that misses one would cut answers short.
        by_echo = talk.turn.how == "echo"
        if by_echo:
            why.append("not needed: the answer is found by its place after the user's words, which misses no bubble")
        sure = (0.9 if telling else 0.5) if same else 0.1
        finding = Finding(field, selector, sure, tuple(why), used=same and telling and not by_echo)
        found.append((finding.sure, " " not in selector, -level, finding))
    return max(found, key=lambda one: one[:3])[3] if found else None


def _ancestors_at(nodes: Sequence[Node], level: int, never: Sequence[Node]) -> list[Node]:
    """Return the nodes' ancestors at this level, or [] if one is the whole page or contains a node of `never`."""
    found: list[Node] = []
    for node in nodes:
        ways = [node, *node.ancestors()]
        if level >= len(ways) - 1:
            return []
        if any(one.is_within(ways[level]) for one in never):
            return []
        if ways[level] not in found:
            found.append(ways[level])
    return found


async def _reads_the_same(talk: Exchange, message: str, field: str, selector: str) -> bool:
    selectors = {field: selector}
    try:
        page = await talk.place.frame.look(selectors)
    except DriverError:
        return False
    read = read_turn(page, message, before=PageText(talk.before))
    if field == "reply":
        return read.how == "site" and read.text == talk.turn.text
    echo = talk.turn.echo
    shown = [node for node in page.marked("user") if node.visible]
    return read.text == talk.turn.text and echo is not None and len(shown) == 1 and echo.text in shown[0].text


def raise_certainty(score: float) -> float:
    """Return the higher certainty that a finding with this score has after its value has worked."""
    return min(0.99, 1 - (1 - score) * _DOUBT_AFTER_USE)


def _describe_reasons(reasons: Sequence[str]) -> tuple[str, ...]:
    return tuple(reason[2:] if reason.startswith("+ ") else f"but {reason[2:]}" for reason in reasons[:_MOST_SIGNS])


def _is_lasting(selector: str | None) -> bool:
    return selector is not None and ":nth-of-type" not in selector


def _selector_doubts(selector: str | None) -> tuple[str, ...]:
    return () if _is_lasting(selector) else ("no lasting selector could be made for it",)
