"""Pages written by hand in the form in which the eye writes them down."""

from __future__ import annotations

from harvest.pages.reading.page import Node, Page, parse_page

__all__ = ["COMPOSER", "element", "snapshot"]

COMPOSER = '<form><textarea h-edit="1" h-box="0,700,900,40"/><button>Send</button></form>'


def snapshot(body: str, *, asked: float | None = 2000, title: str = "A page", url: str = "https://chat.test/") -> Page:
    """A page with `body` in it. asked: milliseconds since the send; None: its document was replaced since."""
    sent = "" if asked is None else f' asked="{asked}"'
    return parse_page(f'<h-page url="{url}" title="{title}" width="1280" height="800"{sent}>{body}</h-page>')


def element(body: str) -> Node:
    """The first element of a page with `body` in it."""
    return snapshot(body).root.elements[0]
