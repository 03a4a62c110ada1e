"""The signs that an answer is still being written, each declared once.

The eye in the page looks for them; `pages/chats/sending.py` and `pages/chats/completion.py` judge by them. A sign shown
by visible elements needs only one entry with their selector.
"""

import json
import re
from dataclasses import dataclass
from typing import Literal

Worth = Literal["trusted", "firm", "loose"]

_ATTRIBUTE = re.compile(r"\[\s*([\w-]+)")


@dataclass(frozen=True, slots=True)
class BusySign:
    """One sign that an answer is still being written.

    worth: a `trusted` sign is awaited for as long as the turn may take and ends with the text, with little more after
    it; a `firm` sign ends with the text; a `loose` sign may end before the last words. On some pages signs other than
    `trusted` ones never end. css: the elements that show the sign while visible; "" if special code looks for it. near:
    it may belong to something else, so it counts only near the turn once that is found. textless: it counts only while
    its element has almost no text. started: it shows that the page has accepted the turn.
    """

    name: str
    worth: Worth
    css: str = ""
    near: bool = False
    textless: bool = False
    started: bool = True


# Requests under way: the only sign that is not visible in the page.
NETWORK = "network"

# The site's own message that the reply is complete, learnt by the witness; never listed as a sign of work. Each
# of several bubbles may bring one, so it counts like a loose sign: a second of quiet is required.
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
# Signs that accompany the text itself: when they end, little more comes.
FIRM = frozenset(sign.name for sign in SIGNS if sign.worth != "loose")
LOOSE = frozenset(sign.name for sign in SIGNS if sign.worth == "loose")
# Signs which show that the page has accepted the turn.
STARTED = frozenset(sign.name for sign in SIGNS if sign.started)


def signs_source(signs: tuple[BusySign, ...] = SIGNS) -> str:
    """Return the signs that can be seen in a page, as JavaScript for the eye."""
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
