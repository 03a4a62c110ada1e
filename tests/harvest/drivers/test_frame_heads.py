"""Frames of a WebSocket server, read by their heads, however their bytes are cut (RFC 6455, section 5.2)."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.drivers.frame_heads import FrameHeads
from harvest.drivers.registry import build_driver
from harvest.systems.driver import Opening, Surroundings, Unanswered
from tests.servers.local_http import Asked, serving

UPGRADED = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"


def frame(data: bytes, *, masked: bool = False) -> bytes:
    size, mark = len(data), 0x80 * masked
    short = size if size < 126 else 126 if size < 2**16 else 127
    long = b"" if size < 126 else size.to_bytes(2 if size < 2**16 else 8)
    key = b"\xff\x8aa\x00" * masked
    sent = bytes(byte ^ key[at % 4] for at, byte in enumerate(data)) if masked else data
    return bytes((0x81, mark | short)) + long + key + sent


@given(
    st.lists(st.tuples(st.sampled_from([0, 1, 125, 126, 300, 70_000]), st.booleans()), max_size=4),
    st.lists(st.integers(1, 400), min_size=1, max_size=6),
    st.booleans(),
)
def test_a_masked_frame_is_found_among_others(frames: list[tuple[int, bool]], cuts: list[int], early: bool) -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * early
    sent = hints + UPGRADED + b"\r\n" + b"".join(frame(b"\xfe" * size, masked=masked) for size, masked in frames)
    heads = FrameHeads()
    for cut in cuts:
        heads.read(sent[:cut])
        sent = sent[cut:]
    heads.read(sent)
    assert heads.masked == any(masked for _, masked in frames)


@pytest.mark.parametrize("masked", [False, True])
async def test_a_reply_in_a_masked_frame_is_a_fault_of_the_protocol(masked: bool) -> None:
    async def answering(asked: Asked, writer: asyncio.StreamWriter) -> None:
        key = asked.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accepted = base64.b64encode(hashlib.sha1(key.encode()).digest())
        writer.write(UPGRADED + b"Sec-WebSocket-Accept: " + accepted + b"\r\n\r\n")
        writer.write(frame(b'{"text": "By the mill."}', masked=masked))
        await asyncio.Event().wait()

    async with serving(answering) as server:
        options = {"url": server.url.replace("http", "ws"), "send": "{{ text }}", "reply": "$.text", "greets": True}
        driver = build_driver("websocket", options, Surroundings("s", Path()))
        try:
            if masked:
                with pytest.raises(
                    Unanswered, match=r"^bad-protocol: .*the server masks its frames, which only a client"
                ):
                    await driver.open(Opening("s", "M002", 1, 1))
            else:
                session: Any = await driver.open(Opening("s", "M002", 1, 1))
                assert session.greeting is not None
                assert session.greeting.text == "By the mill."
                await session.close()
        finally:
            await driver.close()
