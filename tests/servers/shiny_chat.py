"""shiny's chat in front of the back end: `shiny run shiny_chat.py`, in its own environment, with BACK_END set.

Everything goes over one web socket. Further bubbles are further messages; an error is shiny's own notice.
"""

from __future__ import annotations

import os
import uuid
from typing import Any

from shiny import App, ui

from tests.servers.asking import Piece, pieces_beside


def server(inputs: Any, outputs: Any, session: Any) -> None:
    own = uuid.uuid4().hex
    chat = ui.Chat(id="chat")

    @chat.on_user_submit  # type: ignore[untyped-decorator]
    async def answer(said: str) -> None:
        coming = pieces_beside(os.environ["BACK_END"], own, said)
        following: Piece | None = Piece("")
        while following is not None:
            opening, following = following, None
            async with chat.message_stream_context() as bubble:
                await bubble.append(opening.text)
                async for piece in coming:
                    if piece.new_bubble:
                        following = piece
                        break
                    await bubble.append(piece.text)


app = App(ui.page_fillable(ui.panel_title("Ask our assistant"), ui.chat_ui("chat")), server)
