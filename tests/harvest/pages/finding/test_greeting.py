"""What a page says and offers before anybody has typed, on pages as the eye writes them."""

from __future__ import annotations

import pytest

from harvest.pages.finding.greeting import read_greeting
from harvest.pages.reading.page import parse_page

COMPOSER = '<form h-id="90" h-box="0,700,900,60"><textarea h-id="91" h-edit="1" h-box="0,700,800,40"/></form>'


def button(number: int, title: str) -> str:
    return f'<button type="button" h-id="{number}" h-box="{50 * number},60,40,20">{title}</button>'


def read(body: str) -> tuple[str, list[str]] | None:
    page = parse_page(f'<h-page url="https://a.example/" title="Desk" width="1280" height="800">{body}</h-page>')
    heard, offered = read_greeting(page, page.by_id[91])
    assert [offer for offer, _ in offered] == ([] if heard is None else list(heard.offers))
    assert [node.text for _, node in offered] == [offer.title for offer, _ in offered]
    return None if heard is None else (heard.text, [one.title for one in heard.offers])


def log(inside: str) -> str:
    held = f'<div role="log" h-id="2" h-box="0,0,900,55">{inside}</div>'
    return f'<main h-id="1" h-box="0,0,900,760">{held}{COMPOSER}</main>'


SAID = '<div class="bot" h-id="3" h-box="0,0,900,20"><p h-id="4" h-box="0,0,900,20">Hello, I am Robin.</p></div>'
CHIPS = f'<div class="suggestions" h-id="5" h-box="0,60,900,20">{button(6, "Opening hours")}{button(7, "Rooms")}</div>'


@pytest.mark.parametrize(
    ("body", "heard"),
    [
        (log(""), None),
        (log(SAID), ("Hello, I am Robin.", [])),
        (log(SAID + CHIPS), ("Hello, I am Robin.", ["Opening hours", "Rooms"])),
        (f"{log(SAID)}{CHIPS}", ("Hello, I am Robin.", ["Opening hours", "Rooms"])),
        (f"{log('')}{CHIPS}", ("", ["Opening hours", "Rooms"])),
        (log(f'<label h-id="3" h-box="0,0,90,20">Chatbot</label>{CHIPS}'), ("", ["Opening hours", "Rooms"])),
        (log('<label h-id="3" h-box="0,0,90,20">Chatbot</label>'), None),
        (f"<nav>{CHIPS}</nav>{log(SAID)}", ("Hello, I am Robin.", [])),
        (log(SAID + button(6, "New chat") + button(7, "Rooms")), ("Hello, I am Robin.", ["Rooms"])),
        (f"{button(6, 'Sign in')}{log(SAID)}", ("Hello, I am Robin.", [])),
        (log(SAID) + CHIPS.replace("<div", '<div h-hide="1"', 1), ("Hello, I am Robin.", [])),
    ],
)
def test_what_is_said_and_offered_is_read_and_what_stands_elsewhere_is_not(
    body: str, heard: tuple[str, list[str]] | None
) -> None:
    assert read(body) == heard
