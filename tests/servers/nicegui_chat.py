"""nicegui's chat messages in front of the back end: `nicegui_chat.py BACK_END PORT`, in its own environment.

The page is that of nicegui's own example of a chat with a language model, with a picture of each speaker from the font
of icons that nicegui brings. Everything goes over Socket.IO; an error is a notification.
"""

from __future__ import annotations

import sys
import uuid

from nicegui import ui

from tests.servers.asking import BackEndError, pieces_beside

BACK_END, PORT = sys.argv[1], int(sys.argv[2])


@ui.page("/")  # type: ignore[untyped-decorator]
def page() -> None:
    session = uuid.uuid4().hex

    def bubble(icon: str, *, sent: bool) -> ui.chat_message:
        with messages, ui.row().classes("w-full no-wrap" + (" justify-end" if sent else "")):
            ui.avatar(icon)
            return ui.chat_message(name="You" if sent else "Bot", sent=sent)

    async def send() -> None:
        said = box.value
        box.value = ""
        with bubble("face", sent=True):
            ui.label(said).style("white-space: pre-wrap")
        message = bubble("smart_toy", sent=False)
        with messages:
            spinner = ui.spinner(type="dots")
        text = ""
        try:
            async for piece in pieces_beside(BACK_END, session, said):
                if piece.new_bubble:
                    message, text = bubble("smart_toy", sent=False), ""
                text += piece.text
                message.clear()
                with message:
                    ui.markdown(text, extras=["fenced-code-blocks", "tables", "strike", "cuddled-lists"])
        except BackEndError as fault:
            with messages:
                ui.notify(str(fault), type="negative")
        finally:
            spinner.delete()

    ui.label("Ask our assistant").classes("text-h5")
    messages = ui.column().classes("w-full max-w-2xl mx-auto flex-grow items-stretch")
    with ui.footer().classes("bg-white"), ui.row().classes("w-full no-wrap items-center"):
        box = ui.textarea(placeholder="message").props("rounded outlined autogrow input-class=mx-3")
        box.classes("w-full self-center").on("keydown.enter.exact.prevent", send)
        ui.button(icon="send", on_click=send).props("round flat")


# A page whose server is seconds away would else lose its connection again and again.
ui.run(
    host="127.0.0.1",
    port=PORT,
    title="Assistant",
    reconnect_timeout=60,
    show=False,
    reload=False,
    show_welcome_message=False,
)
