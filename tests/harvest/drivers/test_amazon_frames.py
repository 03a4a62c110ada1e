"""Frames of Amazon's event streams: what they say, in pieces of any size, and what is refused."""

from __future__ import annotations

import contextlib
import json
import struct
from binascii import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.drivers.amazon_frames import framed_lines
from harvest.systems.driver import Unanswered
from tests.servers.doors.models import amazon_frame

WHOLE = amazon_frame("contentBlockDelta", {"delta": {"text": "Ærø, 東京"}})


def test_a_frame_is_a_line_with_its_name() -> None:
    assert json.loads(framed_lines(WHOLE)) == {"contentBlockDelta": {"delta": {"text": "Ærø, 東京"}}}
    # The empty frame of the specification: 16 bytes, no headers.
    assert "error" in json.loads(framed_lines(bytes.fromhex("00000010 00000000 05c248eb 7d98c8ff")))
    exception = amazon_frame("throttlingException", {"message": "Slow down"}, kind="exception")
    assert json.loads(framed_lines(exception)) == {"error": {"message": "throttlingException: Slow down"}}


@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_a_changed_byte_is_detected(place: int, change: int) -> None:
    damaged = bytearray(WHOLE)
    damaged[place] ^= change
    with pytest.raises(Unanswered, match="bad-frame"):
        framed_lines(bytes(damaged))


@given(st.binary(max_size=200), st.binary(max_size=60))
def test_hostile_headers_and_payloads_are_refused_or_read(headers: bytes, payload: bytes) -> None:
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    frame = prelude + struct.pack(">I", crc32(prelude)) + headers + payload
    with contextlib.suppress(Unanswered):
        json.loads(framed_lines(frame + struct.pack(">I", crc32(frame))))


@pytest.mark.parametrize(("length", "headers"), [(15, 0), (2**32 - 1, 0), (16, 1), (200_000, 150_000)])
def test_a_frame_of_an_impossible_size_is_refused_before_it_is_awaited(length: int, headers: int) -> None:
    prelude = struct.pack(">II", length, headers)
    with pytest.raises(Unanswered, match="bad-frame: a frame declares"):
        framed_lines(prelude + struct.pack(">I", crc32(prelude)))
