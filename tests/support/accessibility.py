"""Whether a page can be used by everybody, as far as axe-core can tell."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

__all__ = ["violations"]


def violations(page: Page, within: str | None = None) -> list[str]:
    """What breaks one of axe-core's rules in the page as it is shown now, or in one element of it: rule, what to do,
    and where. within: its selector."""
    found = Axe().run(page, context=within, options={"resultTypes": ["violations"]}).response["violations"]
    return [f"{one['id']}: {one['help']}: {[node['target'] for node in one['nodes'][:5]]}" for one in found]
