"""chainlit in front of the back end: `chainlit run chainlit_chat.py --headless`, in its own environment, with BACK_END
set. Further bubbles are further messages; a reported error is an ErrorMessage. What breaks off, or has the status 503,
is an exception: chainlit shows nothing of it, and a message that had begun looks as if it still went on.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import chainlit

from tests.servers.asking import BackEndError, pieces_beside, with_files


async def answer(message: Any) -> None:
    session = str(chainlit.user_session.get("id"))
    bubble = chainlit.Message(content="")
    files = [Path(one.path).read_bytes() for one in message.elements]  # noqa: ASYNC240 - they are small
    said = with_files(message.content, files) if files else message.content
    try:
        async for piece in pieces_beside(os.environ["BACK_END"], session, said):
            if piece.new_bubble:
                await bubble.update()
                bubble = chainlit.Message(content="")
            await bubble.stream_token(piece.text)
    except BackEndError as fault:
        if fault.broken or fault.status == 503:
            raise
        if bubble.content:
            await bubble.update()
        await chainlit.ErrorMessage(content=str(fault)).send()
        return
    await bubble.update()


chainlit.on_message(answer)
