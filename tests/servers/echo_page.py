"""`echo` behind a small chat page: what is typed goes to POST /say, what comes back is shown as it is.

Every load of the page is a session of its own. Markdown links are shown as links, all else as the text that it is; a
reply of nothing shows nothing, and a failure shows what the server said about it, as pages do.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict

from tests.servers.echo import WishedForError, pause_in, reply_to
from tests.servers.local_http import Asked, response

__all__ = ["EchoPage"]

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Echo</title>
<style>
  .log { height: 420px; overflow: auto; } .turn { white-space: pre-wrap; margin: 8px; } .user { text-align: right; }
</style>
<main>
  <div class="log" role="log"></div>
  <form><textarea aria-label="Your message" rows="2" cols="60"></textarea><button>Send</button></form>
</main>
<script>
const session = crypto.randomUUID(), log = document.querySelector(".log");
const box = document.querySelector("textarea"), button = document.querySelector("button");
function show(kind, text) {
  const turn = document.createElement("div");
  turn.className = `turn ${kind}`;
  let from = 0;
  for (const link of text.matchAll(/\\[([^\\]]+)\\]\\((https?:[^)\\s]+)\\)/g)) {
    turn.append(text.slice(from, link.index));
    turn.append(Object.assign(document.createElement("a"), {href: link[2], textContent: link[1]}));
    from = link.index + link[0].length;
  }
  turn.append(text.slice(from));
  log.append(turn);
}
async function submit() {
  const text = box.value.trim();
  if (!text || button.disabled) return;
  box.value = "";
  button.disabled = true;
  show("user", text);
  const reply = await fetch("/say", {method: "POST", body: JSON.stringify({session, text})});
  if (!reply.ok) show("error", `Something went wrong: ${await reply.text()}`);
  else show("bot", (await reply.json()).text);
  button.disabled = false;
}
document.querySelector("form").addEventListener("submit", (event) => { event.preventDefault(); submit(); });
</script>
</html>
"""


class EchoPage:
    """Answers for `serving`."""

    def __init__(self) -> None:
        self.before: dict[str, list[str]] = defaultdict(list)

    async def __call__(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.path == "/":
            writer.write(response("200 OK", PAGE, media_type="text/html; charset=utf-8"))
        elif asked.path == "/say":
            before, text = self.before[asked.json["session"]], asked.json["text"]
            await asyncio.sleep(pause_in(text))
            try:
                reply = reply_to(text, before)
            except WishedForError as failure:
                writer.write(response("500 Internal Server Error", str(failure), media_type="text/plain"))
                return
            before.append(text)
            writer.write(response("200 OK", json.dumps({"text": reply})))
        else:
            writer.write(response("404 Not Found", "", media_type="text/plain"))
