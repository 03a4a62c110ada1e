"""A probe of an unknown page: find where to type, send one harmless message, and draft a site file from the findings.
The selectors of the draft are tested on the page after the answer, and the page is opened once more with the draft
alone. Fields that do not work become comments."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from harvest.pages.browser.process import Browser
from harvest.pages.browser.settings import BrowserSettings
from harvest.pages.browser.window import Window
from harvest.pages.chats import findings as page_findings
from harvest.pages.chats.chat import Chat, ChatAnswer, Manners
from harvest.pages.chats.experience import Experience
from harvest.pages.chats.findings import Finding
from harvest.pages.chats.place import Place
from harvest.pages.finding.buttons import find_send
from harvest.pages.reading.page import Box, Node, Page
from harvest.pages.reading.turn import ReadTurn
from harvest.pages.sites.site import parse_site, site_of
from harvest.systems.driver import DriverError


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The result of a probe. `fault` says why there was no answer, or is None if an answer came. `draft` is the text
    of a site file. `tried` is True if the draft alone opened the page again. `picture` is a PNG with the found
    parts outlined, or None."""

    url: str
    message: str
    findings: tuple[Finding, ...]
    draft: str
    tried: bool
    picture: bytes | None
    fault: DriverError | None = None
    said: ChatAnswer | None = None
    pressed: tuple[str, ...] = ()
    events: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the result in the format harvest-probe/1."""
        answer = None
        if self.said is not None:
            answer = {
                "text": self.said.answer.text,
                "links": [{"text": link.text, "href": link.href} for link in self.said.answer.links],
                "first": self.said.first,
                "last": self.said.last,
                "finish": self.said.finish,
            }
        fault = None
        if self.fault is not None:
            fault = {"reason": self.fault.reason, "detail": self.fault.detail}
        return {
            "format": "harvest-probe/1",
            "url": self.url,
            "message": self.message,
            "fault": fault,
            "answer": answer,
            "findings": [one.as_json() for one in self.findings],
            "tried": self.tried,
            "pressed": list(self.pressed),
            "events": list(self.events),
            "draft": self.draft,
        }


async def probe(
    browser: Browser,
    settings: BrowserSettings,
    url: str,
    message: str,
    manners: Manners,
    *,
    tell: Callable[[str], None] = lambda _: None,
) -> ProbeResult:
    """Explore `url`. A failure becomes part of the result and is not raised, unless the browser is lost. `tell` is
    called with a line of text before each step that may take long."""
    manners = replace(manners, evidence=frozenset({"page", "watch"}))
    window = await browser.open_window(settings)
    chat = Chat(window, site_of({}), manners, Experience())
    found = ProbeResult(url, message, (), "", False, None)
    try:
        try:
            tell(f"opening {url} …")
            await chat.open(url)
            place = chat.place
            before = await place.frame.look()
            opened = (*page_findings.opening_findings(chat.opening), *page_findings.place_findings(place, before))
            found = replace(found, findings=opened, pressed=tuple(chat.opening.did))
            tell(f"saying {message!r}, and waiting for the answer, {manners.answer_seconds:g} s at most …")
            said = await chat.say(message)
        except DriverError as fault:
            picture = None
            if window.gone is None:
                shown: Page | None = None
                with suppress(AssertionError, DriverError):  # the page may not be open
                    shown = await chat.place.frame.look()
                picture = await _picture(window, await _labelled_boxes(chat.place, shown) if shown is not None else [])
            findings = (*found.findings, *page_findings.door_findings(chat.opening))
            found = replace(found, findings=findings, fault=fault, picture=picture, events=tuple(window.events))
            return replace(found, draft=_draft(found), pressed=tuple(chat.opening.did))
        talk = page_findings.read_exchange(chat.place, before, message, said)
        findings = (*opened, *await page_findings.exchange_findings(talk, message))
        boxes = await _labelled_boxes(talk.place, talk.after, talk.turn)
        found = replace(found, findings=findings, said=said, picture=await _picture(window, boxes))
        found = replace(found, events=tuple(window.events))
    finally:
        await window.close()
    tell("opening the page once more, with the draft alone …")
    return await _try_draft(browser, settings, manners, found)


async def _try_draft(browser: Browser, settings: BrowserSettings, manners: Manners, found: ProbeResult) -> ProbeResult:
    """Return the result with a draft that opens the page by itself. As few fields as possible are left out. No message
    is sent again."""
    findings = tuple(
        replace(one, sure=page_findings.raise_certainty(one.sure), why=("the user turn was typed into it", *one.why))
        if one.field == "composer"
        else one
        for one in found.findings
    )
    doubts: tuple[tuple[str, ...], ...] = (
        (),
        ("send",),
        ("open", "dismiss"),
        ("send", "open", "dismiss", "frame", "composer"),
    )
    for fields in doubts:
        if fields and not any(one.used and one.value is not None and one.field in fields for one in findings):
            continue
        less = (
            page_findings.comment_out(findings, fields, "with it the page did not open once more")
            if fields
            else findings
        )
        attempt = replace(found, findings=less)
        attempt = replace(attempt, draft=_draft(attempt))
        if await _draft_opens(browser, settings, manners, attempt):
            return replace(attempt, tried=True)
    return attempt


async def _draft_opens(browser: Browser, settings: BrowserSettings, manners: Manners, found: ProbeResult) -> bool:
    site = parse_site(found.draft, "draft")
    window = await browser.open_window(settings)
    try:
        chat = Chat(window, site, replace(manners, open_seconds=min(30.0, manners.open_seconds)), Experience())
        await chat.open(found.url)
        wanted = [one.value for one in found.findings if one.field == "send" and one.used]
        return not wanted or site.send_key is not None or bool(chat.place.send)
    except DriverError:
        return False
    finally:
        await window.close()


def _draft(found: ProbeResult) -> str:
    host = urlsplit(found.url).netloc
    remarks = [
        f"drafted by `harvest pages probe`, which said {found.message!r} once; every line may be changed or left out"
    ]
    if found.fault is not None:
        remarks.append(f"there was no answer: {found.fault}")
    if found.said is not None:
        remarks.append(f"the end of the answer was recognised by {found.said.finish!r}")
    return page_findings.site_text(host or "page", found.url, found.findings, remarks)


async def _labelled_boxes(place: Place, page: Page, turn: ReadTurn | None = None) -> list[tuple[str, Box]]:
    marks: list[tuple[str, Node | None]] = []
    if turn is not None:
        marks += [("user", turn.echo), *(("reply", node) for node in turn.bubbles)]
    composer = page.by_id.get(place.composer)
    if composer is not None:
        send = find_send(page, composer)
        marks += [("composer", composer), ("send", send.node if send is not None else None)]
    around = await place.frame.box()
    found: list[tuple[str, Box]] = []
    for label, node in marks:
        if around is not None and node is not None and node.box is not None:
            box = node.box
            top, bottom = max(box.y, 0.0), min(box.bottom, around.height)
            if bottom > top:
                found.append((label, Box(around.x + box.x, around.y + top, box.width, bottom - top)))
    return found


async def _picture(window: Window, boxes: Sequence[tuple[str, Box]]) -> bytes | None:
    try:
        return await window.outlined_screenshot(boxes)
    except DriverError:
        return None
