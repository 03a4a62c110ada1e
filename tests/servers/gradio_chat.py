"""gradio's ChatInterface in front of the back end: `gradio_chat.py BACK_END PORT`, in its own environment.

Further bubbles are further messages; errors are gr.Error, which gradio shows as a toast. With TAKES_FILES set, its box
takes files, too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio

from tests.servers.asking import BackEndError, pieces, with_files


def main() -> None:
    back_end, port, files = sys.argv[1], int(sys.argv[2]), bool(os.environ.get("TAKES_FILES"))

    # The annotation is how gradio knows that it must hand over the request, so it must be a class and not its name.
    def answer(message: Any, history: list[Any], request: Any) -> Iterator[list[dict[str, str]]]:
        bubbles = [""]
        if files:
            message = with_files(message["text"], [Path(one).read_bytes() for one in message["files"]])
        try:
            for piece in pieces(back_end, str(request.session_hash), message):
                if piece.new_bubble:
                    bubbles.append("")
                bubbles[-1] += piece.text
                yield [{"role": "assistant", "content": bubble} for bubble in bubbles]
        except BackEndError as fault:
            raise gradio.Error(str(fault)) from fault

    answer.__annotations__["request"] = gradio.Request
    box = gradio.MultimodalTextbox(file_count="multiple", sources=["upload"]) if files else None
    chat = gradio.ChatInterface(
        answer,
        title="Ask our assistant",
        concurrency_limit=16,
        analytics_enabled=False,
        multimodal=files,
        textbox=box,
    )
    chat.launch(server_name="127.0.0.1", server_port=port, share=False, ssr_mode=False, quiet=True)


if __name__ == "__main__":
    main()
