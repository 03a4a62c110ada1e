"""panel's ChatInterface in front of the back end: `panel serve panel_chat.py`, in its own environment.

BACK_END must be set. Everything goes over one web socket of Bokeh's, and every part of the page has a shadow root of
its own. Further bubbles are further messages; an error is a message of panel's own.
"""

from __future__ import annotations

import os
import uuid
from typing import Any

import panel

from tests.servers.asking import pieces_beside

panel.extension()
SESSION = uuid.uuid4().hex


async def answer(said: str, user: str, chat: Any) -> None:
    text, message = "", None
    async for piece in pieces_beside(os.environ["BACK_END"], SESSION, said):
        if piece.new_bubble:
            text, message = "", None
        text += piece.text
        message = chat.stream(text, user="Assistant", message=message, replace=True)


panel.chat.ChatInterface(callback=answer, callback_exception="summary").servable(title="Assistant")
