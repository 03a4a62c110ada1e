"""A system under audit, as a Python function, that keeps a log of its own: what it was asked, on what history.

Every call appends one line to the file named by HARVEST_WITNESS, in one write. What stands in the history was
answered before this call; a recording must therefore hold it, whatever was killed in between.
"""

from __future__ import annotations

import json
import os
import time


def answer(text: str, history: list[dict[str, str]]) -> str:
    """A useful first answer for most topics, by the text's own letters; a second one that is sometimes not."""
    words = [message["content"] for message in history]
    said = list(zip(words[::2], words[1::2], strict=True))
    log = os.open(os.environ["HARVEST_WITNESS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(log, (json.dumps({"text": text, "history": said}) + "\n").encode())
    os.close(log)
    time.sleep(0.15)
    number = sum(text.encode()) + len(said)
    if number % 5 == 0:
        return f"I do not have a list for that ({number})."
    return f"Here is one: https://www.imdb.com/title/tt9{number:09d}/"
