"""Whether two texts say the same, one read from a page, one as the system wrote it: equal, but for named differences.

A page shows a reply, not its Markdown: where Markdown has several spellings for the same thing, the page does not tell
which one it was. Each such spelling has a name and a reason here; whatever is none of them is a fault of the reading.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

__all__ = ["ALLOWED", "Allowed", "allowed_between", "brought", "uncut"]


_TRAILING = "[?!.,:*_~]"
"""What GitHub's Markdown takes for punctuation at the end of a bare URL, and not for a part of it."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """One spelling that a page does not keep. form: what both texts are brought to. why: a sentence."""

    form: Callable[[str], str]
    why: str


ALLOWED: dict[str, Allowed] = {
    "autolink": Allowed(
        lambda text: re.sub(r"<(https?://[^\s<>]+)>", r"\1", text),
        "`<https://…>` is shown, and clicked, as the bare URL is",
    ),
    "cut link": Allowed(
        lambda text: re.sub(rf"\[(https?://[^\s\[\]]+)\]\(\1\)({_TRAILING}+)", r"\1\2", text),
        "a bare URL that ends in `_` is linked without it, as GitHub's Markdown has it: so it is shown, and clicked",
    ),
}


def allowed_between(written: str, read: str) -> tuple[str, ...]:
    """The names of the allowed differences between what a system wrote and what was read from a page.

    Raises AssertionError, with the lines that differ, for any other.
    """
    if written == read:
        return ()
    every = tuple(ALLOWED)
    if brought(written, every) != brought(read, every):
        lines = difflib.unified_diff(
            brought(written, every).split("\n"), brought(read, every).split("\n"), "written", "read", lineterm=""
        )
        raise AssertionError("the texts differ:\n" + "\n".join(line[:300] for line in lines))
    needed = list(every)
    for name in every:
        rest = [one for one in needed if one != name]
        if brought(written, rest) == brought(read, rest):
            needed = rest
    return tuple(needed)


def uncut(href: str) -> str:
    """An address without what a page may have left out of its link."""
    return re.sub(rf"{_TRAILING}+$", "", href)


def brought(text: str, names: Iterable[str]) -> str:
    """`text` with these differences taken out."""
    for name in names:
        text = ALLOWED[name].form(text)
    return text
