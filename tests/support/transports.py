"""Replies on their way to a page, packed as chat systems pack them: each a function from the pieces of a reply to what
a browser receives. Written from the formats' own descriptions, without a look at the code that opens them."""

import base64
import html
import json
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from harvest.pages.witness.received import Body, Message, Received

Pieces = Sequence[str]


@dataclass(frozen=True, slots=True)
class Turn:
    """number: from 1. said: by the user. pieces: of the reply. earlier: (said, reply) of the turns before. start: when
    it was sent."""

    number: int
    said: str
    pieces: Pieces
    earlier: Sequence[tuple[str, str]]
    start: float

    @property
    def reply(self) -> str:
        return "".join(self.pieces)

    def grown(self) -> Iterator[str]:
        text = ""
        for piece in self.pieces:
            text += piece
            yield text


def _body(turn: Turn, chunks: Sequence[bytes], media_type: str, path: str = "/api/chat") -> list[Received]:
    times = [turn.start + 0.1 * (number + 1) for number in range(len(chunks))]
    body = Body(f"chat.example{path}", media_type, list(zip(times, chunks)))
    body.ended = times[-1] + 0.05 if times else turn.start + 0.1
    return [body]


def _socket(turn: Turn, data: Sequence[str | bytes]) -> list[Received]:
    return [
        Message(turn.start + 0.1 * (number + 1), "chat.example/ws", "socket", one) for number, one in enumerate(data)
    ]


def _sse(*events: object) -> list[bytes]:
    return [f"data: {json.dumps(event) if not isinstance(event, str) else event}\n\n".encode() for event in events]


def plain_text(turn: Turn) -> list[Received]:
    return _body(turn, [piece.encode() for piece in turn.pieces], "text/plain; charset=utf-8")


def torn_text(turn: Turn) -> list[Received]:
    """Characters torn apart by the network."""
    data = turn.reply.encode()
    return _body(turn, [data[start : start + 7] for start in range(0, len(data), 7)], "text/plain")


def completions(turn: Turn) -> list[Received]:
    name = f"chatcmpl-{turn.number * 7919}"
    deltas = [
        {"id": name, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": piece}}]}
        for piece in turn.pieces
    ]
    opening = {"id": name, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"role": "assistant"}}]}
    end = {"id": name, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    return _body(turn, _sse(opening, *deltas, end, "[DONE]"), "text/event-stream")


def named_events(turn: Turn) -> list[Received]:
    """Events of several kinds, among them reasoning and a title."""
    events: list[tuple[str, dict[str, object]]] = [
        ("thinking", {"delta": "The user wants "}),
        ("thinking", {"delta": "a list of things."}),
    ]
    events += [
        ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": one}}) for one in turn.pieces
    ]
    events += [("title", {"text": f"A talk about number {turn.number}"}), ("message_stop", {})]
    return _body(
        turn,
        [f"event: {name}\ndata: {json.dumps(data)}\n\n".encode() for name, data in events],
        "text/event-stream",
    )


def cumulative_events(turn: Turn) -> list[Received]:
    return _body(turn, _sse(*({"answer": text, "done": False} for text in turn.grown())), "text/event-stream")


def patches(turn: Turn) -> list[Received]:
    events: list[object] = [
        {"p": "", "o": "add", "v": {"message": {"author": {"role": "assistant"}, "content": {"parts": [""]}}}},
        {"p": "/message/content/parts/0", "o": "append", "v": turn.pieces[0]},
        *({"v": piece} for piece in turn.pieces[1:]),
        {"p": "/message/status", "o": "replace", "v": "finished_successfully"},
    ]
    return _body(turn, _sse(*events), "text/event-stream")


def json_patches(turn: Turn) -> list[Received]:
    path = f"/messages/{2 * turn.number - 1}/content"
    events = [[{"op": "replace", "path": path, "value": text}] for text in turn.grown()]
    return _body(turn, _sse(*events), "text/event-stream")


def lines(turn: Turn) -> list[Received]:
    data = [json.dumps({"type": "item", "content": piece}).encode() + b"\n" for piece in turn.pieces]
    begin, end = (json.dumps({"type": kind}).encode() + b"\n" for kind in ("begin", "end"))
    return _body(turn, [begin, *data, end], "application/x-ndjson")


def numbered_lines(turn: Turn) -> list[Received]:
    """Lines of a number, a colon and JSON."""
    data = [f"0:{json.dumps(piece)}\n".encode() for piece in turn.pieces]
    return _body(turn, [b'f:{"messageId":"m1"}\n', *data, b'd:{"finishReason":"stop"}\n'], "text/plain")


def whole_json(turn: Turn) -> list[Received]:
    return _body(turn, [json.dumps({"output": turn.reply, "session": "a1b2"}).encode()], "application/json")


def guarded(turn: Turn) -> list[Received]:
    """Behind a guard against inclusion, sized, JSON within JSON, positions in place of names."""
    inner = json.dumps([None, [f"c_{turn.number}"], [[f"rc_{turn.number}", [turn.reply]]]])
    outer = json.dumps([["wrb.fr", None, inner, None]])
    return _body(turn, [f")]}}'\n\n{len(outer)}\n{outer}\n".encode()], "application/json; charset=utf-8")


def polled(turn: Turn) -> list[Received]:
    """The whole conversation in each of several answers."""
    history = [{"role": role, "text": text} for pair in turn.earlier for role, text in zip(("user", "bot"), pair)]
    states = [[*history, {"role": "user", "text": turn.said}]]
    states += [[*states[0], {"role": "bot", "text": text}] for text in [*list(turn.grown())[1::2], turn.reply]]
    found: list[Received] = []
    for number, state in enumerate(states):
        at = turn.start + 0.3 * (number + 1)
        final = number == len(states) - 1
        data = json.dumps({"messages": state, "final": final}).encode()
        found.append(Body("chat.example/poll", "application/json", [(at, data)], at))
    return found


def fragment(turn: Turn) -> list[Received]:
    """HTML with both speakers' words."""
    shown = f'<div class="u">{html.escape(turn.said)}</div><div class="b"><p>{html.escape(turn.reply)}</p></div>'
    return _body(turn, [shown.encode()], "text/html; charset=utf-8")


def socket_io(turn: Turn) -> list[Received]:
    data = [
        '42["task_start"]',
        *(f'42["stream_token",{json.dumps({"id": "x1", "token": one})}]' for one in turn.pieces),
    ]
    return _socket(turn, [*data, '42["task_end"]', "2"])


def sock_js(turn: Turn) -> list[Received]:
    inner = [json.dumps({"msg": "changed", "fields": {"text": text}}) for text in turn.grown()]
    return _socket(turn, [f"a{json.dumps([one])}" for one in inner])


def html_anew(turn: Turn) -> list[Received]:
    return _socket(
        turn,
        [json.dumps({"target": f"msg-{turn.number}", "html": f"<p>{html.escape(text)}</p>"}) for text in turn.grown()],
    )


def bubbles_anew(turn: Turn) -> list[Received]:
    """All of it with each piece, each time in a new element."""
    stages = enumerate(turn.grown())
    made = (
        json.dumps(["update", {str(1000 * turn.number + at): {"props": {"innerHTML": f"<p>{html.escape(text)}</p>"}}}])
        for at, text in stages
    )
    return _socket(turn, [f"42{one}" for one in made])


def splices(turn: Turn) -> list[Received]:
    """HTML anew from the place on where it changed."""
    before, data = "", []
    for text in turn.grown():
        now = f"<p>{html.escape(text)}</p>"
        same = next((place for place, pair in enumerate(zip(before, now)) if pair[0] != pair[1]), len(before))
        data.append(json.dumps({"type": "changed", "start": same, "patch": now[same:]}))
        before = now
    return _socket(turn, data)


def document_model(turn: Turn) -> list[Received]:
    """A document of things with numbers: each text comes with its thing when that is made, and what follows is written
    over its end, in a map of pairs. Names are such texts, too."""

    def thing(number: int, text: str) -> dict[str, object]:
        inner = {"type": "object", "name": "HTML", "id": f"p{number}", "attributes": {"align": "start", "text": text}}
        return {"type": "object", "name": "Row", "id": f"p{number + 1}", "attributes": {"children": [inner]}}

    def made(*things: dict[str, object]) -> str:
        return json.dumps({"events": [{"kind": "ModelChanged", "attr": "children", "new": list(things)}]})

    first, *further = [f"{text}\n" for text in (turn.reply[:1], *turn.grown())]
    number, before = 100 * turn.number, first
    user = thing(number, f"{turn.said}\n")
    data = [made(user), made(thing(number + 10, "Assistant"), thing(number + 20, first))]
    for now in further:
        same = next((place for place, pair in enumerate(zip(before, now)) if pair[0] != pair[1]), len(before))
        entries = [["model", {"id": f"p{number + 20}"}], ["patch", now[same:]], ["start", same]]
        event = {"kind": "MessageSent", "msg_data": {"type": "event", "values": {"type": "map", "entries": entries}}}
        data.append(json.dumps({"events": [event]}))
        before = now
    return _socket(turn, data)


def message_pack(turn: Turn) -> list[Received]:
    return _socket(turn, [msgspec.msgpack.encode({"type": "delta", "text": one}) for one in turn.pieces])


def _varint(value: int) -> bytes:
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*data, value])


def _field(number: int, value: bytes | int) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def protobuf(turn: Turn) -> list[Received]:
    """The history again, then the reply as it grows, each in a message within a message."""
    texts = [*(text for pair in turn.earlier for text in pair), turn.said, *turn.grown()]
    return _socket(
        turn, [_field(5, _field(1, number) + _field(34, _field(1, text.encode()))) for number, text in enumerate(texts)]
    )


def grpc_web(turn: Turn) -> list[Received]:
    frames = [struct.pack(">BI", 0, len(one)) + one for one in (_field(1, piece.encode()) for piece in turn.pieces)]
    return _body(turn, [*frames, struct.pack(">BI", 0x80, 14) + b"grpc-status:0\n"], "application/grpc-web+proto")


def encoded_json(turn: Turn) -> list[Received]:
    data = base64.b64encode(turn.reply.encode()).decode()
    return _body(turn, [json.dumps({"payload": data}).encode()], "application/json")


def encoded_pieces(turn: Turn) -> list[Received]:
    return _socket(turn, [json.dumps({"d": base64.b64encode(piece.encode()).decode()}) for piece in turn.pieces])


def diffs(turn: Turn) -> list[Received]:
    """The whole state first, differences after it, the whole state at the end."""
    history = [
        {"role": role, "content": text} for pair in turn.earlier for role, text in zip(("user", "assistant"), pair)
    ]
    history.append({"role": "user", "content": turn.said})
    place = len(history)
    first = {
        "msg": "process_generating",
        "output": {"data": [[*history, {"role": "assistant", "content": turn.pieces[0]}]]},
    }
    further = [
        {"msg": "process_generating", "output": {"data": [[["append", [place, "content"], piece]]]}}
        for piece in turn.pieces[1:]
    ]
    last = {"msg": "process_completed", "output": {"data": [[*history, {"role": "assistant", "content": turn.reply}]]}}
    return _body(turn, _sse(first, *further, last), "text/event-stream")


Transport = Callable[[Turn], list[Received]]
TRANSPORTS: dict[str, Transport] = {
    one.__name__: one
    for one in (
        plain_text,
        torn_text,
        completions,
        named_events,
        cumulative_events,
        patches,
        json_patches,
        lines,
        numbered_lines,
        whole_json,
        guarded,
        polled,
        fragment,
        socket_io,
        sock_js,
        html_anew,
        bubbles_anew,
        splices,
        document_model,
        message_pack,
        protobuf,
        grpc_web,
        encoded_json,
        encoded_pieces,
        diffs,
    )
}
