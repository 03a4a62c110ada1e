"""Menu bots whose graphs are known: as functions for the driver `python`, behind Rasa's REST channel
(RasaHQ/rasa, rasa/core/channels/rest.py, and `buttons` of a domain's responses), and as a page.

A graph names for each page its text and its buttons, and for each button the pages that follow with their shares. A
button that a graph does not let anyone press leads to `harm`, which `Bot` writes down.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.servers.threaded import QuietHandler, threaded

Graph = dict[str, tuple[str, dict[str, dict[str, float]]]]

HARM = {"harm": 1.0}
GRAPHS: dict[str, Graph] = {
    "random": {
        "home": ("Welcome.", {"Rooms": {"rooms": 1}, "Advice": {"sea": 0.7, "hills": 0.2, "closed": 0.1}}),
        "rooms": ("Two rooms.", {"Small": {"small": 1}, "Any": {"small": 0.5, "large": 0.5}}),
        "small": ("Small.", {"Back": {"rooms": 1}}),
        "large": ("Large.", {}),
        "sea": ("Go to the sea.", {"More": {"hills": 1}}),
        "hills": ("Go to the hills.", {}),
        "closed": ("Nobody is here.", {"Back": {"home": 1}}),
    },
    "cyclic": {
        "home": ("Start.", {"One": {"one": 1}, "Two": {"two": 1}}),
        "one": ("Page one.", {"On": {"two": 1}, "Home": {"home": 1}, "Again": {"one": 1}}),
        "two": ("Page two.", {"On": {"one": 1}, "Home": {"home": 1}}),
    },
    "dead ends": {
        "home": ("What is it?", {"Bill": {"bill": 1}, "Fault": {"fault": 1}, "Other": {"other": 1}}),
        "bill": ("Which bill?", {"May": {"may": 1}, "June": {"june": 1}}),
        "may": ("Paid.", {}),
        "june": ("Open.", {}),
        "fault": ("Restart it.", {}),
        "other": ("Bye.", {}),
    },
    "forbidden": {
        "home": (
            "Shop.",
            {"Delete my account": HARM, "Shoes": {"shoes": 1}, "Jetzt kaufen": HARM, "Ask": {"ask": 1}},
        ),
        "shoes": ("Shoes.", {"Buy now": HARM, "Sizes": {"sizes": 1}, "予約する": HARM, "Envoyer le message": HARM}),
        "sizes": ("36 to 46.", {"Usuń konto": HARM, "Back": {"shoes": 1}}),
        "ask": ("Ask away.", {"Call us": HARM, "Web site": HARM, "Form": HARM, "Home": {"home": 1}}),
        "harm": ("Done!", {}),
    },
}
GRAPHS["rasa"] = GRAPHS["random"]
GRAPHS["page"] = {
    "home": ("Hello, this is the menu.", {"Opening hours": {"hours": 1}, "Rooms": {"rooms": 1}, "Book a table": HARM}),
    "hours": ("We open at nine.", {"Rooms": {"rooms": 1}, "Main menu": {"home": 1}}),
    "rooms": ("There are two rooms here.", {"Small room": {"small": 1}, "Main menu": {"home": 1}}),
    "small": ("The small room is blue.", {}),
    "harm": ("A table is booked.", {}),
}
# Offers whose kind or value says that they leave the chat, in the graph with forbidden buttons.
LEAVING = {"Call us": ("tel:+4912345", "reply"), "Web site": ("https://a.example", "button"), "Form": ("/form", "form")}


class Bot:
    """A conversation with a graph. `pressed` lists the harm that was done."""

    def __init__(self, graph: Graph, rng: random.Random) -> None:
        self.graph, self.rng, self.page = graph, rng, ""
        self.harm: list[str] = []

    def answer(self, value: str) -> tuple[str, list[dict[str, str]]]:
        """Return the text and the buttons after words, or after the value of a button on the current page."""
        if not self.page:
            self.page = "home"
        else:
            title = value.removeprefix("/")
            led = self.graph[self.page][1].get(title)
            if led is None:
                return "I do not know that.", []
            self.page = self.rng.choices([*led], [*led.values()])[0]
            if self.page == "harm":
                self.harm.append(title)
        text, buttons = self.graph[self.page]
        offers = []
        for title in buttons:
            sent, kind = LEAVING.get(title, (f"/{title}", "reply"))
            offers.append({"title": title, "value": sent, "kind": kind})
        return text, offers


RNG = random.Random(11)
HARMED: list[str] = []


def session(name: str) -> Any:
    """A session of the driver `python`, with `takes: nothing` and `presses: true`."""
    bot = Bot(GRAPHS[name], RNG)

    def answer(text: str, pressed: dict[str, str] | None) -> dict[str, Any]:
        told, offers = bot.answer(pressed["value"] if pressed else text)
        HARMED.extend(bot.harm)
        bot.harm.clear()
        return {"text": told, "offers": offers}

    return answer


def edges(graph: Graph, *, depth: int = 99) -> dict[tuple[str, str], dict[str, float]]:
    """The shares of the texts after each button that may be pressed, by the text of its page and its title."""
    return {
        (text, title): {graph[page][0]: share for page, share in led.items()}
        for text, buttons in graph.values()
        for title, led in buttons.items()
        if led is not HARM
    }


PAGE = """<!doctype html><meta charset="utf-8"><title>Desk</title>
<main><div id="log" role="log" aria-live="polite"></div>
<form id="form"><input id="box" placeholder="Write a message" aria-label="Message"><button type="submit">Send</button>
</form></main>
<script>
const graph = GRAPH, log = document.getElementById("log"), odd = location.search;
let page = "";
function add(who, text) {
  const bubble = document.createElement("div");
  bubble.className = "message " + who;
  const words = document.createElement("p");
  words.textContent = text;
  bubble.append(words);
  log.append(bubble);
  return bubble;
}
function show(name) {
  page = name;
  if (name === "harm") fetch("/harm");
  const [text, buttons] = graph[name];
  setTimeout(() => {
    const bubble = add("bot", text), row = document.createElement("div");
    row.className = "choices";
    for (const title of Object.keys(buttons)) {
      const button = document.createElement("button");
      button.type = odd.includes("form") ? "submit" : "button";
      button.textContent = title;
      button.onclick = () => { row.remove(); add("user", title); show(Object.keys(buttons[title])[0]); };
      row.append(button);
    }
    if (odd.includes("list") && row.children.length) {
      const list = document.createElement("select");
      for (const title of ["Choose", ...Object.keys(buttons)]) list.add(new Option(title));
      list.onchange = () => { add("user", list.value); show(Object.keys(buttons[list.value])[0]); list.remove(); };
      bubble.append(list);
    } else if (row.children.length) {
      const around = document.createElement(odd.includes("form") ? "form" : "div");
      around.onsubmit = (event) => event.preventDefault();
      around.append(row);
      bubble.append(around);
    }
    if (odd.includes("brief")) setTimeout(() => row.remove(), 1500);
  }, 150);
}
if (odd.includes("greeting")) setTimeout(() => show("home"), 700);
document.getElementById("form").onsubmit = (event) => {
  event.preventDefault();
  const box = document.getElementById("box");
  add("user", box.value);
  box.value = "";
  show("home");
};
</script>
"""


@contextmanager
def serving_menu(name: str = "rasa") -> Iterator[tuple[str, list[str]]]:
    """The address of a server with both forms of the graph, and the harm that was done. The page with `?list`
    offers lists, with `?form` buttons of forms, with `?brief` buttons that stay only for a while, and with `?greeting`
    its first page before anybody has typed."""
    bots: dict[str, Bot] = {}
    harm: list[str] = []
    rng = random.Random(5)

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
            if self.path == "/open":  # it speaks first, and its buttons can be pressed at once
                asked = {"sender": f"guest {len(bots)}", "message": ""}
            bot = bots.setdefault(asked["sender"], Bot(GRAPHS[name], rng))
            text, offers = bot.answer(asked["message"])
            buttons = [{"title": one["title"], "payload": one["value"]} for one in offers]
            harm.extend(bot.harm)
            self._send(json.dumps([{"recipient_id": asked["sender"], "text": text, "buttons": buttons}]))

        def do_GET(self) -> None:
            if self.path == "/harm":
                harm.append("page")
            self._send(PAGE.replace("GRAPH", json.dumps(GRAPHS[name])), "text/html; charset=utf-8")

        def _send(self, body: str, kind: str = "application/json") -> None:
            data = body.encode()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    with threaded(Handler) as server:
        yield f"http://127.0.0.1:{server.server_port}", harm
