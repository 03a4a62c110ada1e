"""Chats over sockets, each in a way of its own, on two servers nobody here wrote: `websockets`, and `python-socketio`
under uvicorn. Run by the Python of the environment `sockets`: it writes the port of each to standard output, and a line
for all that it was sent and said to the file that is named.

    socket_chat.py LOG
"""

import asyncio
import itertools
import json
import random
import sys
from collections import defaultdict
from pathlib import Path

import socketio
import uvicorn
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from tests.servers.menu_bots import GRAPHS, Bot

KEY = "Bearer dk2-Gj8tRb4nWy6cVs1q"
LOG = Path(sys.argv[1])
COUNTER = itertools.count(1)


def note(way: str, session: object, said: str, reply: str) -> None:
    with LOG.open("a") as log:
        log.write(json.dumps([way, str(session), said, reply]) + "\n")


def reply_to(said: str, turn: int) -> str:
    return f"{turn}: {said} — you said that, and a film is on at {turn} o'clock."


def menu_bot(name: str = "cyclic") -> Bot:
    return Bot(GRAPHS[name], random.Random(7 * next(COUNTER)))


async def chat(socket: ServerConnection) -> None:
    path = socket.request.path if socket.request is not None else ""
    way, turn = path.strip("/").partition("?")[0], 0
    if way == "greeting":
        await socket.send(json.dumps({"type": "text", "text": "Welcome!"}))
    if way == "token":
        hello = json.loads(await socket.recv())
        await socket.send(json.dumps({"type": "ready", "token": f"tk-{hello['name']}-9xLp5vHs7dKf"}))
    if way == "refused":
        await socket.send(json.dumps({"type": "error", "error": {"message": "no such room"}}))
    bot = menu_bot("random")
    async for message in socket:
        turn += 1
        if way == "menu":
            asked = json.loads(message)
            text, offers = bot.answer(asked.get("press") or asked["text"])
            await socket.send(json.dumps({"text": text, "buttons": offers}))
            continue
        asked = {"text": message} if way == "plain" else json.loads(message)
        said = str(asked["text"])
        reply = reply_to(said, turn)
        note(way, asked.get("visitor", id(socket)), said, reply)
        await answer(socket, way, asked, said, reply)


async def answer(socket: ServerConnection, way: str, asked: dict[str, str], said: str, reply: str) -> None:
    async def send(**value: object) -> None:
        await socket.send(json.dumps(value, ensure_ascii=False))

    match way:
        case "plain":
            await socket.send(reply)
        case "stream":
            await send(type="status", status="thinking")
            for start in range(0, len(reply), 9):
                if said == "break" and start:
                    await socket.close(1011, "out of order")
                    return
                if said == "vanish" and start:
                    socket.transport.abort()
                    return
                if said == "fail" and start:
                    await send(type="error", why="the model is gone")
                    return
                await send(type="token", t=reply[start : start + 9])
            if said != "hang":
                await send(type="done", usage={"input_tokens": 3, "output_tokens": 7}, sources=["https://a.example/"])
        case "pieces":
            for start in range(0, len(reply), 30):
                await send(type="typing")
                await send(type="text", text=reply[start : start + 30])
            if said == "bye":
                await socket.close(1000, "goodbye")
        case "token":
            assert asked["token"].startswith("tk-")
            await send(type="text", text=reply, echo=asked["token"])
        case "unasked":
            await send(type="text", text=reply)
            await send(type="text", text="Did you know? We are open on Sundays.")
        case "large":
            await send(type="text", text="x" * int(said))
        case "binary":
            await socket.send(b"\xff\xfe" if said == "broken" else json.dumps({"text": reply}).encode())
        case "closing":
            await send(type="text", text=reply)
            await socket.close(1001, "restarting")
        case _:
            await send(type="text", text=reply)


async def let_in(socket: ServerConnection, request: Request) -> Response | None:
    way = request.path.strip("/").partition("?")[0]
    answers = {
        "nowhere": (404, "Not Found", {}),
        "busy": (503, "Service Unavailable", {"Retry-After": "7"}),
        "elsewhere": (307, "Temporary Redirect", {"Location": "http://127.0.0.1:1/"}),
        "page": (200, "OK", {}),
    }
    if way == "guarded" and request.headers.get("Authorization") != KEY:
        return Response(401, "Unauthorized", Headers(), b"no key")
    if way not in answers:
        return None
    status, phrase, headers = answers[way]
    return Response(status, phrase, Headers(headers), b"no chat here")


def rasa() -> socketio.ASGIApp:
    """The events of Rasa's channel `socketio` (RasaHQ/rasa, rasa/core/channels/socketio.py): two messages a turn."""
    server = socketio.AsyncServer(async_mode="asgi", ping_interval=0.3, ping_timeout=5)
    turns: dict[str, int] = {}
    bots: defaultdict[str, Bot] = defaultdict(menu_bot)

    async def connect(sid: str, environ: dict[str, object], auth: object) -> bool:
        return auth != {"key": "wrong"}

    async def session_request(sid: str, data: dict[str, str]) -> None:
        await server.emit("session_confirm", data["session_id"], room=sid)

    async def user_uttered(sid: str, data: dict[str, str]) -> None:
        if data["message"] == "menu" or sid in bots:
            text, offers = bots[sid].answer(data["message"])
            replies = [{"title": one["title"], "payload": one["value"]} for one in offers]
            await server.emit("bot_uttered", {"text": text, "quick_replies": replies}, room=sid)
            return
        turns[sid] = turns.get(sid, 0) + 1
        said, reply = data["message"], reply_to(data["message"], turns[sid])
        note("socketio", data["session_id"], said, f"{reply}\n\nAnything else?")
        if said == "leave":
            await server.disconnect(sid)
            return
        await server.emit(
            "bot_uttered", {"text": reply, "quick_replies": [{"title": "More", "payload": "/m"}]}, room=sid
        )
        await server.emit("bot_uttered", {"text": "Anything else?"}, room=sid)

    for handler in (connect, session_request, user_uttered):
        server.on(handler.__name__, handler)
    return socketio.ASGIApp(server)


async def main() -> None:
    async with serve(chat, "127.0.0.1", 0, process_request=let_in, ping_interval=0.2, max_size=2**26) as listening:
        config = uvicorn.Config(rasa(), host="127.0.0.1", port=0, log_level="warning", ws="websockets-sansio")
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve())
        while not server.started:  # noqa: ASYNC110 - it has no event for that
            await asyncio.sleep(0.01)
        ports = [next(iter(listening.sockets)).getsockname()[1], server.servers[0].sockets[0].getsockname()[1]]
        print(*ports, flush=True)
        await serving


asyncio.run(main())
