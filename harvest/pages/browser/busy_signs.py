"""The signs that an answer is still being written, each declared once.

The eye in the page looks for them, `pages/chats/sending.py` and `pages/chats/completion.py` judge by them; all of them
read this list. A sign that some elements show by being there is one entry with their selector.
"""

import json
import re
from dataclasses import dataclass
from typing import Literal

Worth = Literal["trusted", "firm", "loose"]

_ATTRIBUTE = re.compile(r"\[\s*([\w-]+)")


@dataclass(frozen=True, slots=True)
class BusySign:
    """One sign. worth: how reliable it is; on some pages signs other than `trusted` ones never end.

    `trusted`: it is waited for as long as the turn may take, and ends with the text: little more comes after it.
    `firm`: it ends with the text. `loose`: it may end before the last words.

    css: the elements that show it as long as they can be seen; "": code of its own looks for it, in the eye or in this
    program. near: it may be about something else on the page, so it counts only near the turn once that is found.
    textless: it counts only while its element holds next to no text. started: it shows that the page has taken the
    turn.
    """

    name: str
    worth: Worth
    css: str = ""
    near: bool = False
    textless: bool = False
    started: bool = True


# Requests under way; the only sign that is not seen in the page.
NETWORK = "network"

# Not among the signs, for it is never there: the site's own word that the reply is whole, learnt by the witness. Each
# of several bubbles may bring one, so it is worth what a loose sign is: a second of quiet.
WIRE = "wire"

SIGNS: tuple[BusySign, ...] = (
    BusySign("stop", "trusted"),
    BusySign("busy", "trusted", css="[aria-busy=true]"),
    BusySign("site", "trusted"),
    BusySign(NETWORK, "firm", started=False),
    BusySign("progress", "loose", css="progress,[role=progressbar]", near=True),
    BusySign("composer", "loose"),
    BusySign("send", "loose"),
    BusySign("animation", "loose", near=True, started=False),
    BusySign("hint", "loose", near=True, textless=True, started=False),
)

TRUSTED = frozenset(sign.name for sign in SIGNS if sign.worth == "trusted")
# Signs that go with the text itself: when they end, little more comes.
FIRM = frozenset(sign.name for sign in SIGNS if sign.worth != "loose")
LOOSE = frozenset(sign.name for sign in SIGNS if sign.worth == "loose")
# Signs which show that the page has taken the turn.
STARTED = frozenset(sign.name for sign in SIGNS if sign.started)


def signs_source(signs: tuple[BusySign, ...] = SIGNS) -> str:
    """The signs that are seen in a page, as JavaScript for the eye."""
    seen = [
        {
            "name": sign.name,
            "css": sign.css,
            "attributes": _ATTRIBUTE.findall(sign.css),
            "near": sign.near,
            "textless": sign.textless,
        }
        for sign in signs
        if sign.name != NETWORK
    ]
    return f"const SIGNS = {json.dumps(seen)};"
