"""The signs that an answer is still being written. The eye in the page looks for the signs, and
`pages/chats/sending.py` and `pages/chats/completion.py` base their decisions on them. A sign that consists of
visible elements needs only one entry with a CSS selector."""

import json
import re
from dataclasses import dataclass
from typing import Literal

Worth = Literal["trusted", "firm", "loose"]

_ATTRIBUTE = re.compile(r"\[\s*([\w-]+)")


@dataclass(frozen=True, slots=True)
class BusySign:
    """One sign that an answer is still being written.

    - `worth`: how reliable the sign is. Harvest waits for a `trusted` sign as long as the turn may take, and hardly
      any text follows its end. A `firm` sign ends together with the text. A `loose` sign may end before the last
      words. On some pages only `trusted` signs ever end.
    - `css`: a selector of the elements whose visibility is the sign, or "" if special code looks for the sign.
    - `near`: whether the sign may belong to something else on the page. Once the turn has been found, such a sign
      counts only near the turn.
    - `textless`: whether the sign counts only while its element has almost no text.
    - `started`: whether the sign shows that the page has accepted the turn.
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
    """Return JavaScript that declares the visible signs for the eye."""
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
