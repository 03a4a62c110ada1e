"""Chat pages with boxes to type in that others wrote, and what arrives of the turns typed into them.

`composing()` serves them. GET /NAME is a page for every name of COMPOSERS; with `?enter` it has no button and Enter
sends, with `?bare` the text of prosemirror has neither line breaks nor lists. POST /say takes a turn and answers it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.servers.bundles import bundled
from tests.servers.local_http import Asked, LocalServer, response, serving

__all__ = ["COMPOSERS", "Arrivals", "composing"]

FOLDER = Path(__file__).parent / "composers"
PINS = Path(__file__).parent / "composers.npm.txt"
BUNDLES = {
    "textarea": "tribute",
    "input": "tribute",
    "contenteditable": "tribute",
    "plaintext": "tribute",
    "prosemirror": "prosemirror",
    "lexical": "lexical",
    "slate": "slate",
    "quill": "quill",
    "codemirror": "codemirror",
}
COMPOSERS = tuple(BUNDLES)
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Assistant</title><link rel="icon" href="data:,">
<style>
body { margin: 0; height: 100vh; display: flex; flex-direction: column; font-family: sans-serif }
.log { flex: 1; overflow: auto } .bubble { white-space: pre-wrap } form { display: flex; padding: 10px }
.place { flex: 1; min-height: 30px; max-height: 200px; overflow: auto; border: 1px solid }
.place .box { display: block; box-sizing: border-box; width: 100%; min-height: 30px }
.ProseMirror { white-space: pre-wrap; min-height: 30px }
</style></head>
<body><div class="log" role="log"></div><form><div class="place"></div>BUTTON</form>
<script src="/BUNDLE.js"></script><script>
const log = document.querySelector(".log"), form = document.querySelector("form");
const say = (who, text) => {
  log.append(Object.assign(document.createElement("div"), {className: `bubble ${who}`, textContent: text}));
  log.lastChild.scrollIntoView({block: "end"});
};
async function send() {
  const text = box.read();
  if (!text.trim()) return;
  box.clear();
  say("user", text);
  const page = location.pathname.slice(1) + location.search;
  const answer = await fetch("/say", {method: "POST", body: JSON.stringify({page, text})});
  say("bot", (await answer.json()).text);
}
const box = composer.mount(document.querySelector(".place"), send);
form.onsubmit = (event) => { event.preventDefault(); send(); };
</script></body></html>
"""


@dataclass
class Arrivals:
    """url: where the pages are. texts: what arrived from each page (`NAME`, `NAME?bare`), in order."""

    url: str
    texts: dict[str, list[str]] = field(default_factory=dict)


@asynccontextmanager
async def composing() -> AsyncIterator[Arrivals]:
    scripts = await asyncio.to_thread(bundles)
    arrivals = Arrivals("")

    async def handler(asked: Asked, writer: asyncio.StreamWriter) -> None:
        name = asked.path.strip("/")
        if asked.method == "POST":
            came = arrivals.texts.setdefault(asked.json["page"], [])
            came.append(asked.json["text"])
            writer.write(response("200 OK", json.dumps({"text": f"Turn {len(came)} was understood."})))
        elif name in BUNDLES:
            button = "" if "enter" in asked.target else "<button>Send</button>"
            page = PAGE.replace("BUTTON", button).replace("BUNDLE", BUNDLES[name])
            writer.write(response("200 OK", page, media_type="text/html; charset=utf-8"))
        else:
            writer.write(response("200 OK", (scripts / name).read_bytes(), media_type="text/javascript; charset=utf-8"))

    async with serving(handler) as server:
        arrivals.url = _base(server)
        yield arrivals


def _base(server: LocalServer) -> str:
    return server.url.rstrip("/")


def bundles() -> Path:
    """The folder with one script for each editor."""
    return bundled(FOLDER, PINS, "--global-name=composer")
