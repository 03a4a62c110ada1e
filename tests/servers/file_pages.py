"""A chat page that takes files in many ways, and a server that knows what it was sent.

`?take=` says how a file gets in: `field` (a field in view), `plain` (the same, of which the page shows nothing more),
`hidden` (a hidden field behind an icon), `chooser` (a button whose field is in no document), `menu` (the same, in a
menu), `drop` (a place to drop files on), `far` (a hidden field at the end of the page), `one` (a field that keeps one
file), `none`. Words in `?odd=` say what else is so:

    accept      the field takes pictures alone, and the page says so to others
    picky       the field says nothing of that: the page refuses everything but pictures, in a notice
    slow        storing a file takes two seconds, and a turn that is sent before that goes without it
    fails       the server cannot store a file, and the page marks it as failed
    breaks      the connection breaks while a file is stored, and the page says nothing
    mute        nothing stands on the page for a file but its picture, without a name
    after       the conversation shows files in a bubble of their own, below the words
    decoy       the page has another hidden field, of a picture of the visitor's own
    late        files are stored only when the turn is sent
    off         the button that sends is off while there is nothing to send
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from tests.servers.threaded import QuietHandler, threaded

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Desk</title>
<style>
body { font-family: sans-serif; margin: 0; } main { width: 700px; margin: 0 auto; }
.log { height: 420px; overflow: auto; } .chips { display: flex; gap: 8px; min-height: 24px; }
.chip { border: 1px solid #888; padding: 2px 6px; } .chip.failed { border-color: red; } img { height: 40px; }
[hidden] { display: none; } .over { position: fixed; inset: 0; background: #eee; }
</style>
<header id="top"></header>
<main><div class="log" role="log"></div><div id="notices"></div>
<form><div class="chips"></div><div id="before"></div>
<textarea placeholder="Write a message" aria-label="Message" rows="2" cols="60"></textarea><button>Send</button></form>
<div id="below"></div></main>
<script>
"use strict";
const wanted = new URLSearchParams(location.search), take = wanted.get("take") || "none";
const odd = new Set((wanted.get("odd") || "").split(" ")), session = crypto.randomUUID();
const $ = (css) => document.querySelector(css);
let kept = [];
const make = (tag, attributes = {}, html = "") => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.innerHTML = html;
  return made;
};
const notice = (text) => {
  const told = make("div", {role: "alert", class: "toast"});
  told.textContent = text;
  $("#notices").append(told);
};
function chip(file) {
  const made = make("span", {class: "chip"});
  if (file.type.startsWith("image/")) made.append(make("img", {src: URL.createObjectURL(file), alt: ""}));
  if (!odd.has("mute")) {
    const name = make("span");
    name.textContent = file.name;
    made.append(name, make("button", {type: "button", "aria-label": "Remove"}, "×"));
  }
  return made;
}
async function store(file, shown) {
  const slot = kept.push(null) - 1;
  if (odd.has("slow")) shown.append(make("progress"));
  try {
    const address = `/store?${new URLSearchParams({session, name: file.name, odd: [...odd].join(" ")})}`;
    const answer = await fetch(address, {method: "POST", headers: {"Content-Type": file.type}, body: file});
    if (!answer.ok) throw new Error(answer.status);
    kept[slot] = await answer.text();
    shown.querySelector("progress")?.remove();
  } catch {
    if (odd.has("fails")) shown.classList.add("failed");
  }
}
let waiting = [];
async function add(files) {
  for (const file of files) {
    if ((odd.has("accept") || odd.has("picky")) && !file.type.startsWith("image/")) {
      notice("Only pictures are supported.");
      continue;
    }
    if (take === "one") { $(".chips").replaceChildren(); kept = []; }
    const shown = chip(file);
    $(".chips").append(shown);
    if (odd.has("late")) waiting.push([file, shown]);
    else store(file, shown);
  }
}
function made_field(attributes) {
  const made = make("input", {type: "file", ...attributes});
  if (take !== "one") made.multiple = true;
  if (odd.has("accept")) made.accept = "image/*";
  made.onchange = () => add([...made.files]);
  if (take === "plain") made.onchange = null;
  return made;
}
const ask = () => made_field({}).click();
if (odd.has("decoy")) {
  const own = make("input", {type: "file", hidden: "", name: "portrait", accept: "image/*"});
  own.onchange = () => fetch("/portrait", {method: "POST", body: own.files[0]});
  $("#top").append(own, make("button", {type: "button"}, "Profile"));
}
if (["field", "one", "plain"].includes(take)) $("#before").append(made_field({}));
if (take === "hidden") {
  const inner = made_field({hidden: ""}), icon = make("button", {type: "button", title: "Attach"}, "📎");
  icon.onclick = () => inner.click();
  $("#before").append(inner, icon);
}
if (take === "far") document.body.append(made_field({style: "display: none"}));
if (take === "chooser") {
  const icon = make("button", {type: "button", class: "attach-button"}, '<svg width="16" height="16"></svg>');
  icon.onclick = ask;
  $("#before").append(icon);
}
if (take === "menu") {
  const plus = make("button", {type: "button", "aria-label": "Add files and more", "aria-haspopup": "menu"}, "+");
  const menu = make("div", {role: "menu", hidden: ""});
  const [shot, upload] = ["Take a screenshot", "Upload from computer"].map((name) => {
    const item = make("div", {role: "menuitem", tabindex: "0"}, name);
    item.onclick = () => { menu.hidden = true; if (item === upload) ask(); };
    menu.append(item);
    return item;
  });
  plus.onclick = () => { menu.hidden = !menu.hidden; };
  $("#before").append(plus, menu);
}
if (take === "drop") {
  const over = make("div", {class: "over", hidden: ""}, "Drop files here");
  document.body.append(over);
  document.addEventListener("dragenter", (event) => { event.preventDefault(); over.hidden = false; });
  over.addEventListener("dragover", (event) => event.preventDefault());
  over.addEventListener("dragleave", () => { over.hidden = true; });
  over.addEventListener("drop", (event) => {
    event.preventDefault();
    over.hidden = true;
    add([...event.dataTransfer.files]);
  });
}
function bubble(who, ...parts) {
  const made = make("div", {class: `message ${who}`});
  made.append(...parts);
  $(".log").append(made);
  made.scrollIntoView();
}
const paragraph = (text) => { const made = make("p"); made.textContent = text; return made; };
const send = async (event) => {
  event?.preventDefault();
  const text = $("textarea").value.trim();
  if (!text) return;
  const plain = take === "plain" ? $("input[type=file]") : null;
  if (plain) waiting = [...plain.files].map((file) => [file, chip(file)]);
  if (plain) plain.value = "";
  for (const [file, shown] of waiting.splice(0)) await store(file, shown);
  const files = kept.splice(0).filter((one) => one !== null), shown = [...$(".chips").children];
  $("textarea").value = "";
  for (const one of shown) one.querySelector("button")?.remove();
  if (odd.has("after")) { bubble("user", paragraph(text)); if (shown.length) bubble("user", ...shown); }
  else bubble("user", ...shown, paragraph(text));
  $(".chips").replaceChildren();
  const answer = await fetch("/say", {method: "POST", body: JSON.stringify({session, text, files})});
  bubble("bot", paragraph(await answer.text()));
};
if (odd.has("off")) {
  setInterval(() => { $("form > button").disabled = !$("textarea").value && !$(".chips").children.length; }, 20);
}
$("form").onsubmit = send;
$("textarea").onkeydown = (event) => { if (event.key === "Enter" && !event.shiftKey) send(event); };
</script></html>
"""


@dataclass
class Desk:
    """What the server was sent. stored: of every file (name, type, digest), by the id that it got. said: of every turn
    its text and the files that it had. portraits: how many pictures came for the visitor."""

    url: str = ""
    stored: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    said: list[tuple[str, list[tuple[str, str, str]]]] = field(default_factory=list)
    portraits: int = 0

    def address(self, take: str, *odd: str) -> str:
        return f"{self.url}/?take={take}&odd={'+'.join(odd)}"


@contextmanager
def serving_desk() -> Iterator[Desk]:
    """A server of the page, which answers each turn with the names of the files that came with it, and `Its name?` with
    nothing else."""
    desk = Desk()

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            self._send(200, PAGE, "text/html; charset=utf-8")

        def do_POST(self) -> None:
            parts = urlsplit(self.path)
            given = dict(one.partition("=")[::2] for one in parts.query.split("&"))
            data = self.rfile.read(int(self.headers["Content-Length"]))
            if parts.path == "/portrait":
                desk.portraits += 1
                self._send(200, "kept")
            elif parts.path == "/store":
                self._store(given, data)
            else:
                self._answer(json.loads(data))

        def _store(self, given: dict[str, str], data: bytes) -> None:
            odd = unquote(given["odd"]).replace("+", " ").split()
            if "slow" in odd:
                time.sleep(2)
            if "breaks" in odd:
                self.close_connection = True
                self.connection.close()
                return
            if "fails" in odd:
                self._send(500, "no room")
                return
            number = str(len(desk.stored))
            name = unquote(given["name"].replace("+", " "))
            desk.stored[number] = (name, self.headers["Content-Type"], hashlib.sha256(data).hexdigest())
            self._send(200, number)

        def _answer(self, asked: dict[str, Any]) -> None:
            files = [desk.stored[number] for number in asked["files"]]
            desk.said.append((asked["text"], files))
            names = ", ".join(name for name, _, _ in files) or "nothing"
            self._send(200, names if asked["text"] == "Its name?" else f"I was sent {names} with it.")

        def _send(self, status: int, body: str, kind: str = "text/plain; charset=utf-8") -> None:
            data = body.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    with threaded(Handler) as server:
        desk.url = f"http://127.0.0.1:{server.server_port}"
        yield desk
