"""mesop's chat in front of the back end: `mesop mesop_chat.py`, in its own environment, with BACK_END set.

A turn is a request whose response is a stream of events, in base64; its box holds one line. Further bubbles are further
paragraphs.
"""

# No annotations from the future: mesop makes the class of the state while this module is not known by its name yet.
import os
import uuid
from collections.abc import Iterator
from typing import Any

import mesop
from mesop import labs

from tests.servers.asking import pieces


@mesop.stateclass
class Session:
    name: str


def spoken(said: str, history: list[Any]) -> Iterator[str]:
    state = mesop.state(Session)
    state.name = state.name or uuid.uuid4().hex
    for piece in pieces(os.environ["BACK_END"], state.name, said):
        yield f"\n\n{piece.text}" if piece.new_bubble else piece.text


@mesop.page(path="/", title="Assistant")  # type: ignore[untyped-decorator]
def page() -> None:
    labs.chat(spoken, title="Ask our assistant", bot_user="Assistant")
