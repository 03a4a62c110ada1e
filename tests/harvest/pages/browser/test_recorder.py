"""Whatever a page receives is recorded, by whichever way it comes, and nothing else of its traffic."""

import asyncio
import base64
import hashlib
import json
import math
from collections.abc import Coroutine
from typing import Any

import pytest

from harvest.pages.browser.process import Browser
from harvest.pages.browser.recorder import Recorder
from harvest.pages.browser.settings import BrowserSettings
from harvest.pages.browser.window import Window
from harvest.pages.witness.opening import open_content
from harvest.pages.witness.received import Body, Message
from tests.servers.local_http import STREAM_HEAD, Asked, response
from tests.support.browsing import pages, run, until
from tests.support.stepping import Stepped

PAGE = """<!doctype html><title>Ways</title><body>
<script>
const at = (path) => new URL(path, location.href);
const ways = {
  async text() { await (await fetch("/streamed?way=text&secret=q")).text(); },
  async json() { await (await fetch("/json", {method: "POST", body: "what was sent"})).json(); },
  async xhr() {
    await new Promise((done) => {
      const asked = new XMLHttpRequest();
      asked.open("GET", "/say/xhr");
      asked.onload = done;
      asked.send();
    });
  },
  async events() {
    const source = new EventSource("/events");
    await new Promise((done) => source.addEventListener("end", done));
    source.close();
  },
  async socket() {
    const socket = new WebSocket(at("/socket").href.replace("http", "ws"));
    socket.binaryType = "arraybuffer";
    await new Promise((done) => { socket.onclose = done; });
  },
  async worker() {
    const code = `onmessage = async () => { await (await fetch("${at("/say/worker")}")).text(); postMessage(1); };`;
    const worker = new Worker(URL.createObjectURL(new Blob([code])));
    await new Promise((done) => setTimeout(done, 500));
    await new Promise((done) => { worker.onmessage = done; worker.postMessage(1); });
  },
  async frame() {
    const frame = document.createElement("iframe");
    frame.src = at("/frame").href.replace("127.0.0.1", "localhost");
    document.body.append(frame);
    await new Promise((done) => { onmessage = done; });
  },
};
</script>
"""
FRAME = """<script>
setTimeout(async () => { await (await fetch("/say/frame")).text(); parent.postMessage(1, "*"); }, 500);
</script>"""


async def server(asked: Asked, writer: asyncio.StreamWriter) -> None:
    if asked.path == "/streamed":
        writer.write(STREAM_HEAD.replace(b"text/event-stream", b"text/plain; charset=utf-8"))
        for piece in ("Grüße ", "über ", "text"):
            writer.write(piece.encode())
            await writer.drain()
            await asyncio.sleep(0.1)
        writer.close()
    elif asked.path == "/json":
        cookie = "Set-Cookie: session=s3cr3t"
        writer.write(response("200 OK", json.dumps({"reply": "Words by json"}), cookie))
    elif asked.path == "/events":
        writer.write(STREAM_HEAD + b"data: Words by\n\nevent: more\ndata: events\n\nevent: end\ndata: 1\n\n")
        await writer.drain()
        await asyncio.sleep(0.5)
        writer.close()
    elif asked.path == "/socket":
        key = asked.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        writer.write(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Accept: {accept}\r\n\r\n".encode()
        )
        for code, data in (
            (0x81, b'42["token","Words by socket"]'),
            (0x82, b"\x81\xa4text\xacWords packed"),
            (0x88, b""),
        ):
            writer.write(bytes([code, len(data)]) + data)
        await writer.drain()
        await asyncio.sleep(0.5)
        writer.close()
    elif asked.path == "/frame":
        writer.write(response("200 OK", FRAME, media_type="text/html"))
    else:
        way = asked.path.rpartition("/")[2]
        writer.write(response("200 OK", f"Words by {way}", media_type="text/plain"))


@pytest.mark.asyncio(loop_scope="session")
async def test_words_are_recorded_on_every_channel_but_sent_text_is_not(browser: Browser) -> None:
    async with pages({"/": PAGE}, server) as served:
        window = await browser.open_window(BrowserSettings(witness=True))
        assert await window.goto(served.url) == 200
        recorder = window.recorder
        assert recorder is not None
        for way in ("text", "json", "xhr", "events", "socket", "worker", "frame"):
            await run(window.frames()[0], f"ways.{way}()")
        found = open_content(recorder.received, 0.0)
        await until(lambda: "Words by frame" in words(window))
        await window.close()
    assert {
        "Grüße über text",
        "Words by json",
        "Words by xhr",
        "Words by",
        "events",
        "Words by socket",
        "Words packed",
        "Words by worker",
        "Words by frame",
    } <= words(window)
    whole = repr(recorder.received)
    for never in ("s3cr3t", "secret=q", "what was sent", "Set-Cookie", "Ways"):
        assert never not in whole
    assert {shape.form for shape in found.shapes if shape.form.endswith("ended")}


def words(window: Window) -> set[str]:
    assert window.recorder is not None
    return {leaf.text for leaf in open_content(window.recorder.received, 0.0).leaves}


@pytest.mark.asyncio(loop_scope="session")
async def test_a_window_records_only_on_request(browser: Browser) -> None:
    window = await browser.open_window(BrowserSettings())
    assert window.recorder is None
    await window.close()


class Line:
    """A session that tells what it is made to tell, and answers nothing."""

    def __init__(self) -> None:
        self.heard: dict[str, object] = {}

    def on(self, event: str, f: object) -> None:
        self.heard[event] = f

    async def send(self, method: str, params: dict[str, object] | None = None) -> dict[str, object]:
        if method == "Network.streamResourceContent":
            raise RuntimeError("it has ended")
        return {"body": "", "base64Encoded": False}

    def tell(self, event: str, **params: object) -> None:
        call = self.heard[event]
        assert callable(call)
        call(params)


async def recorder_on(line: Line, clock: Stepped) -> Recorder:
    tasks = set[asyncio.Task[None]]()

    def later(work: Coroutine[Any, Any, None]) -> None:
        tasks.add(asyncio.create_task(work))

    recorder = Recorder(clock.clock, later)
    await recorder.attach(line)
    return recorder


async def test_the_first_content_after_a_time_is_known_in_bodies_and_messages() -> None:
    line, clock = Line(), Stepped(10.0)
    recorder = await recorder_on(line, clock)
    assert recorder.first_piece_at(0.0) == math.inf
    recorder.keep(Body("a.example/say", chunks=[(4.0, b"It "), (7.0, b"is")]))
    recorder.keep(Message(6.0, "a.example/chat", "socket", "ping"))
    recorder.keep(Body("a.example/empty"))
    assert [recorder.first_piece_at(since) for since in (0.0, 5.0, 6.5, 8.0)] == [4.0, 6.0, 7.0, math.inf]


async def test_missing_excess_content_is_known_and_forgotten_with_the_rest() -> None:
    line, clock = Line(), Stepped(10.0)
    recorder = await recorder_on(line, clock)
    line.tell("Network.webSocketCreated", requestId="1", url="wss://user:pass@a.example/chat/0123456789abcdef?token=t")
    for _ in range(9):
        line.tell(
            "Network.webSocketFrameReceived", requestId="1", response={"opcode": 1, "payloadData": "x" * 1_000_000}
        )
    assert recorder.capped
    assert len(recorder.received) == 8
    assert {one.address for one in recorder.received} == {"a.example/chat/*"}
    clock.seconds += 1
    recorder.forget(clock.seconds)
    assert (recorder.received, recorder.capped) == ([], False)
    line.tell("Network.webSocketFrameReceived", requestId="1", response={"opcode": 1, "payloadData": "again"})
    assert [one.data for one in recorder.received if isinstance(one, Message)] == ["again"]


async def test_pieces_received_before_the_beginning_of_an_answer_come_after_it() -> None:
    class Late(Line):
        async def send(self, method: str, params: dict[str, object] | None = None) -> dict[str, object]:
            if method == "Network.streamResourceContent":
                await asyncio.sleep(0)
                self.tell("Network.dataReceived", requestId="1", data=base64.b64encode(b"lo").decode())
                return {"bufferedData": base64.b64encode(b"Hel").decode()}
            return {}

    line, clock = Late(), Stepped(10.0)
    recorder = await recorder_on(line, clock)
    line.tell(
        "Network.responseReceived",
        requestId="1",
        type="Fetch",
        response={"url": "https://a.example/say", "status": 200, "mimeType": "text/plain", "charset": "utf-8"},
    )
    while recorder.fetching:  # noqa: ASYNC110 - it tells nobody
        await asyncio.sleep(0)
    (body,) = recorder.received
    assert isinstance(body, Body)
    assert b"".join(data for _, data in body.chunks) == b"Hello"


async def test_errors_pictures_and_scripts_are_not_recorded() -> None:
    line = Line()
    recorder = await recorder_on(line, Stepped(10.0))
    for kind, status, media in (("Fetch", 500, "text/plain"), ("Image", 200, "image/png"), ("Fetch", 200, "image/png")):
        line.tell(
            "Network.responseReceived",
            requestId="1",
            type=kind,
            response={"url": "https://a.example/x", "status": status, "mimeType": media},
        )
    assert recorder.received == []


@pytest.mark.parametrize("slower", ["Network.streamResourceContent", "Network.getResponseBody"])
async def test_a_body_requested_in_both_ways_is_kept_once(slower: str) -> None:
    """On a busy machine the response has long ended when the first answer comes."""
    answers: dict[str, dict[str, object]] = {
        "Network.streamResourceContent": {"bufferedData": base64.b64encode(b"Hello").decode()},
        "Network.getResponseBody": {"body": "Hello", "base64Encoded": False},
    }

    class Busy(Line):
        async def send(self, method: str, params: dict[str, object] | None = None) -> dict[str, object]:
            for _ in range(20 if method == slower else 10):
                await asyncio.sleep(0)
            return answers.get(method, {})

    line = Busy()
    recorder = await recorder_on(line, Stepped(10.0))
    reply: dict[str, object] = {"url": "https://a.example/say", "status": 200, "mimeType": "text/plain"}
    line.tell("Network.responseReceived", requestId="1", type="Fetch", response=reply)
    line.tell("Network.loadingFinished", requestId="1")
    while recorder.fetching:  # noqa: ASYNC110 - it tells nobody
        await asyncio.sleep(0)
    (body,) = recorder.received
    assert isinstance(body, Body)
    assert [data for _, data in body.chunks] == [b"Hello"]
