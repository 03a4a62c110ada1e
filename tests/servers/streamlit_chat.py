"""streamlit's chat elements in front of the back end: `streamlit run streamlit_chat.py`, in its own environment, with
BACK_END set. Everything goes over one web socket, in binary; an error is st.error. With TAKES_FILES set, its box takes
files, too, which go by requests.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator

import streamlit

from tests.servers.asking import BackEndError, pieces, with_files


def spoken(session: str, text: str) -> Iterator[str]:
    for piece in pieces(os.environ["BACK_END"], session, text):
        if piece.new_bubble:
            yield "\n\n"
        yield piece.text


def main() -> None:
    state = streamlit.session_state
    session = state.setdefault("session", uuid.uuid4().hex)
    history = state.setdefault("history", [])
    streamlit.title("Ask our assistant")
    for role, text in history:
        with streamlit.chat_message(role):
            streamlit.markdown(text)
    if os.environ.get("TAKES_FILES"):
        given = streamlit.chat_input("Your question", accept_file="multiple")
        said, files = (given.text, given.files) if given else ("", [])
    else:
        said, files = streamlit.chat_input("Your question"), []
    if not said:
        return
    with streamlit.chat_message("user"):
        for one in files:
            streamlit.caption(one.name)
        streamlit.markdown(said)
    history.append(("user", said))
    if files:
        said = with_files(said, [one.getvalue() for one in files])
    with streamlit.chat_message("assistant"):
        try:
            history.append(("assistant", streamlit.write_stream(spoken(session, said))))
        except BackEndError as fault:
            streamlit.error(str(fault))


main()
