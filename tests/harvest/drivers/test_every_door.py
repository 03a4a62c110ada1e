"""One assistant gets one record by every door: eleven shapes of a reply, and what each driver makes of them."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from harvest.drivers.browser import BrowserDriver
from harvest.drivers.registry import build_driver
from harvest.pages.chats.completion import Patience
from harvest.systems.driver import Opening, Surroundings
from protocols.answer import Answer, Attachment, Exchange, Offer, Source, ToolCall
from protocols.interpreter import retrace
from protocols.library import load_protocol
from protocols.route import Say
from recordings.conversations.conversation import SystemTurn, ending_from_finish
from tests.servers.local_http import STREAM_HEAD, Asked, response, serving
from topics.library import load_topics
from topics.links import Link

FILM = "https://www.imdb.com/title/tt0088763/"
OTHER = "https://www.imdb.com/title/tt0111161/"


@dataclass(frozen=True)
class Shape:
    """A reply as an OpenAI-like server gives it, as a program states it, and as it should be recorded."""

    message: dict[str, Any]
    stated: dict[str, Any]
    answer: Answer
    finish: str = "stop"
    beside: dict[str, Any] = field(default_factory=dict)
    further: tuple[dict[str, Any], ...] = ()


def _linked(text: str, *sources: Source, **parts: Any) -> Answer:
    links = tuple(Link(source.title or source.href, source.href) for source in sources)
    return Answer(text, links, 0, sources, **parts)


THOUGHT = f"perhaps {FILM}, but I must not name it"
IN_TEXT = "A film is [Alpha](" + FILM + ")."
PLACE = {"start_index": 17, "end_index": 21}
CITED = "Alpha is one [1], Beta another [2]."
SHAPES = {
    "a link in the text": Shape({"content": IN_TEXT}, {"text": IN_TEXT}, Answer(IN_TEXT, (Link("Alpha", FILM),))),
    "addresses beside the text": Shape(
        {"content": CITED},
        {"text": CITED, "links": [FILM, OTHER]},
        _linked(CITED, Source(FILM), Source(OTHER)),
        beside={"citations": [FILM, OTHER]},
    ),
    "annotations with places": Shape(
        {
            "content": CITED,
            "annotations": [
                {"type": "url_citation", "url_citation": {"url": OTHER, "title": "B", **PLACE}},
                {"type": "url_citation", "url": FILM, "title": "A", "start_index": 0, "end_index": 5},
            ],
        },
        {
            "text": CITED,
            "sources": [
                {"href": OTHER, "title": "B", "start": 17, "end": 21},
                {"href": FILM, "title": "A", "start": 0, "end": 5},
            ],
        },
        _linked(CITED, Source(OTHER, "B", 17, 21), Source(FILM, "A", 0, 5)),
    ),
    "thoughts in marks": Shape(
        {"content": f"<think>\n{THOUGHT}\n</think>\n\nI do not know any."},
        {"text": f"<think>\n{THOUGHT}\n</think>\n\nI do not know any."},
        Answer("I do not know any.", thoughts=THOUGHT),
    ),
    "thoughts in a field": Shape(
        {"content": "I do not know any.", "reasoning_content": THOUGHT},
        {"text": "I do not know any.", "thoughts": THOUGHT},
        Answer("I do not know any.", thoughts=THOUGHT),
    ),
    "a refusal in a field": Shape(
        {"content": None, "refusal": "Das kann ich nicht sagen."},
        {"text": None, "refusal": "Das kann ich nicht sagen."},
        Answer("Das kann ich nicht sagen.", refused=True),
    ),
    "a text and a refusal": Shape(
        {"content": "Alpha is one.", "refusal": "Mehr darf ich nicht sagen."},
        {"text": "Alpha is one.", "refusal": "Mehr darf ich nicht sagen."},
        Answer("Alpha is one.", refused=True, refusal="Mehr darf ich nicht sagen."),
    ),
    "tool calls alone": Shape(
        {
            "content": None,
            "tool_calls": [{"index": 0, "id": "c", "function": {"name": "search", "arguments": '{"q": "film"}'}}],
        },
        {"text": "", "tools": [{"name": "search", "arguments": '{"q": "film"}'}]},
        Answer("", calls=(ToolCall("search", '{"q": "film"}'),)),
        finish="tool_calls",
    ),
    "content in parts": Shape(
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]},
                {"type": "text", "text": "Alpha "},
                {"type": "text", "text": "is one.", "citations": [{"url": FILM, "title": "A"}]},
                {"type": "image_url", "image_url": {"url": "https://example.org/still.png"}},
            ]
        },
        {
            "text": "Alpha is one.",
            "thoughts": [THOUGHT],
            "sources": [{"url": FILM, "title": "A", "start": 6, "end": 13}],
            "attachments": [{"name": "https://example.org/still.png", "type": "image_url"}],
        },
        _linked(
            "Alpha is one.",
            Source(FILM, "A", 6, 13),
            thoughts=THOUGHT,
            attachments=(Attachment("https://example.org/still.png", "image_url"),),
        ),
    ),
    "nothing": Shape({"content": ""}, {"text": ""}, Answer("")),
    "several choices and suggestions": Shape(
        {"content": "Alpha."},
        {"text": "Alpha.", "offers": ["More films?"]},
        Answer("Alpha.", offers=(Offer("More films?"),)),
        finish="length",
        beside={"related_questions": ["More films?"]},
        further=({"content": f"Or {OTHER}"},),
    ),
}  # fmt: skip
DOORS = ("openai", "openai streamed", "http", "http streamed", "command", "python")


def _body(shape: Shape) -> dict[str, Any]:
    choices = [{"index": 0, "message": shape.message, "finish_reason": shape.finish}]
    choices += [{"index": 1, "message": message, "finish_reason": "stop"} for message in shape.further]
    return {"model": "m1", "choices": choices, **shape.beside}


def _events(shape: Shape) -> Iterator[dict[str, Any]]:
    content = shape.message["content"]
    pieces = content if isinstance(content, list) else [content[at : at + 7] for at in range(0, len(content or ""), 7)]
    others = {name: value for name, value in shape.message.items() if name != "content"}
    yield {"model": "m1", "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}
    for piece in pieces:
        delta = {"content": [piece] if isinstance(piece, dict) else piece}
        others_too = [{"index": 1, "delta": message} for message in shape.further]
        yield {"model": "m1", "choices": [{"index": 0, "delta": delta}, *others_too], **shape.beside}
    if others:
        yield {"model": "m1", "choices": [{"index": 0, "delta": others}]}
    yield {"model": "m1", "choices": [{"index": 0, "delta": {}, "finish_reason": shape.finish}]}


def _paths(holder: str) -> dict[str, Any]:
    message = f"$.choices[0].{holder}"
    return {
        "reply": f"{message}.content",
        "links": ("$.citations", f"{message}.annotations"),
        "thoughts": f"{message}.reasoning_content",
        "refusal": f"{message}.refusal",
        "tools": f"{message}.tool_calls",
        "offers": "$.related_questions",
        "finish": "$.choices[0].finish_reason",
        "model": "$.model",
    }


async def _asked(door: str, shape: Shape, folder: Path) -> SystemTurn:
    """What the door makes of the reply."""
    streamed = door.endswith("streamed")
    stated = {**shape.stated, "finish": shape.finish, "model": "m1"}

    async def answering(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if streamed:
            events = [f"data: {json.dumps(event)}\n\n".encode() for event in _events(shape) if event["choices"]]
            writer.write(STREAM_HEAD + b"".join(events) + b"data: [DONE]\n\n")
            await writer.drain()
            writer.close()
        else:
            writer.write(response("200 OK", json.dumps(_body(shape))))

    async with serving(answering) as server:
        options: dict[str, Any] = {"timeout": 20}
        match door.split()[0]:
            case "openai":
                options |= {"base_url": server.url, "model": "m1", "stream": streamed}
            case "http":
                options |= {
                    "url": server.url,
                    "body": {"q": "{{ text }}"},
                    **_paths("delta" if streamed else "message"),
                }
            case "command":
                code = f"import sys\nfor line in sys.stdin: print({json.dumps(stated)!r}, flush=True)"
                options |= {"argv": (sys.executable, "-c", code), "mode": "json"}
            case "python":
                (folder / "bot.py").write_text(f"def answer(text):\n    return {stated!r}\n")
                options |= {"function": "bot.py:answer"}
        driver = build_driver(
            door.split()[0], options, Surroundings("s", folder, environment={"PATH": "/usr/bin:/bin"})
        )
        try:
            session = await driver.open(Opening("s", "M002", 1, seed=1))
            reply = await session.say("Films?")
            await session.close()
        finally:
            await driver.close()
    return reply.turn


LINKED = f'<p>A film is <a href="{FILM}">Alpha</a>.</p>'
THOUGHTS = f"<details><summary>Thought for 3 s</summary><p>{THOUGHT}</p></details>"
SHOWN = {
    "a link in the text": LINKED,
    "addresses beside the text": f'<p>{CITED}</p><details><summary>2 sources</summary><a href="{FILM}">{FILM}</a>'
    f'<a href="{OTHER}">{OTHER}</a></details>',
    "annotations with places": f'<p>{CITED}</p><details><summary>Sources</summary><ol><li><a href="{OTHER}">B</a></li>'
    f'<li><a href="{FILM}">A</a></li></ol></details>',
    "thoughts in marks": f'<div class="t1">Thought for 3 s</div><div style="color: #999">{THOUGHT}</div>'
    "<div><p>I do not know any.</p></div>",
    "thoughts in a field": f"{THOUGHTS}<p>I do not know any.</p>",
    "a refusal in a field": "<p>Das kann ich nicht sagen.</p>",
    "a text and a refusal": "<p>Alpha is one.</p>",
    "tool calls alone": '<details><summary>Used search</summary><pre><code>{"q": "film"}</code></pre></details>',
    "content in parts": f'{THOUGHTS}<p>Alpha is one.</p><img src="https://example.org/still.png">'
    f'<details><summary>1 source</summary><a href="{FILM}">A</a></details>',
    "nothing": "",
    "several choices and suggestions": "<p>Alpha.</p><button>Continue generating</button>"
    "<div><button>More films?</button></div>",
}
"""What a usual chat page makes of each shape."""
CHAT = """<!doctype html><meta charset=utf-8><title>Films</title>
<style>.row {margin: 8px; padding: 8px; background: #eee} img {display: block; width: 200px; height: 120px}</style>
<main role=log></main><form><textarea placeholder=Message></textarea><button>Send</button></form>
<script>
const row = (name) => {
  const made = document.createElement("div");
  made.className = "row " + name;
  return document.querySelector("main").appendChild(made);
};
document.forms[0].onsubmit = async (event) => {
  event.preventDefault();
  const box = document.querySelector("textarea");
  row("user").textContent = box.value;
  const said = {method: "POST", body: box.value};
  box.value = "";
  const bubble = row("bot");
  bubble.innerHTML = await (await fetch("say", said)).text();
};
</script>"""


def _on_a_page(name: str) -> Answer:
    """The record as far as a page can show it: it does not say which words a source supports, nor that an answer is a
    refusal, and its pictures stand in its text as well."""
    answer = SHAPES[name].answer
    sources = tuple(replace(source, start=-1, end=-1, place="folded") for source in answer.sources)
    files = tuple(replace(file, type="image") for file in answer.attachments)
    text = "\n\n".join((answer.text, *(f"![]({file.name})" for file in files)))
    return replace(answer, text=text, sources=sources, attachments=files, refused=False, refusal="")


async def _read_off(names: Iterable[str]) -> dict[str, SystemTurn]:
    """What the browser makes of each shape on a page."""

    async def answering(asked: Asked, writer: asyncio.StreamWriter) -> None:
        body = SHOWN[asked.body.decode()] if asked.method == "POST" else CHAT
        writer.write(response("200 OK", body, media_type="text/html; charset=utf-8"))

    async with serving(answering) as server:
        driver = build_driver("browser", {"url": f"{server.url}/", "evidence": ()}, Surroundings("s", Path()))
        assert isinstance(driver, BrowserDriver)
        driver._manners = replace(driver._manners, patience=Patience(silent=2.0))
        places = asyncio.Semaphore(3)

        async def read_off(number: int, name: str) -> SystemTurn:
            async with places:
                session = await driver.open(Opening("s", "M002", number, seed=1))
                reply = await session.say(name)
                await session.close()
                return reply.turn

        try:
            turns = await asyncio.gather(*(read_off(number, name) for number, name in enumerate(names, 1)))
        finally:
            await driver.close()
    return dict(zip(names, turns, strict=True))


@pytest.fixture(scope="module")
def read_off() -> dict[str, SystemTurn]:
    return asyncio.run(_read_off(SHAPES))


@pytest.mark.parametrize("name", SHAPES)
def test_a_reply_on_a_page_is_the_same_record_as_far_as_a_page_shows_it(
    name: str, read_off: Mapping[str, SystemTurn]
) -> None:
    assert read_off[name].answer == _on_a_page(name)
    cut = ending_from_finish(SHAPES[name].finish) == "cut"
    assert (read_off[name].ending == "cut") == cut


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", SHAPES)
async def test_a_reply_is_the_same_record_through_every_driver(name: str, door: str, tmp_path: Path) -> None:
    shape = SHAPES[name]
    turn = await _asked(door, shape, tmp_path)
    assert turn.answer == shape.answer
    assert (turn.finish, turn.model) == (shape.finish, "m1")


async def test_usefulness_is_the_same_through_every_driver(tmp_path: Path, read_off: Mapping[str, SystemTurn]) -> None:
    """Sources beside the text make an answer useful, thoughts never do."""
    protocol, topics = load_protocol("fairweb-two-round"), load_topics("fairweb-45")
    (asked,) = retrace(protocol, topics["M002"], ())
    assert isinstance(asked, Say)
    labels = {}
    for door in (*DOORS, "browser"):
        by_api = [await _asked(door, shape, tmp_path) for shape in SHAPES.values() if door in DOORS]
        answers = [turn.answer for turn in by_api or read_off.values()]
        first = [retrace(protocol, topics["M002"], (Exchange(asked.text, answer),))[1] for answer in answers]
        labels[door] = "".join(action.route.label for action in first if action.route is not None)
    assert set(labels.values()) == {"oooxxxxxoxx"}
