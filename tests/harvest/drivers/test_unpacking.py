from __future__ import annotations

import gzip
import os
import zlib

import pytest

from harvest.drivers.transport import Decompressor

TEXT = b"All of it. " + os.urandom(3000).hex().encode()
MEMBERS = gzip.compress(TEXT[:1000]) + gzip.compress(TEXT[1000:])
WHOLE = {
    "gzip": ("gzip", gzip.compress(TEXT)),
    "members": ("gzip", MEMBERS),
    "padded": ("gzip", gzip.compress(TEXT) + bytes(512)),
    "zlib": ("deflate", zlib.compress(TEXT)),
    "raw": ("deflate", zlib.compress(TEXT)[2:-4]),
}


def unpacked(coding: str, data: bytes, size: int) -> bytes:
    unpacking = Decompressor(coding)
    found = b"".join(unpacking.decompress(data[begin : begin + size]) for begin in range(0, len(data), size))
    unpacking.finish()
    return found


@pytest.mark.parametrize("size", [1, 7, 10**6])
@pytest.mark.parametrize("name", WHOLE)
def test_a_complete_body_is_unpacked_however_it_arrives(name: str, size: int) -> None:
    coding, data = WHOLE[name]
    assert unpacked(coding, data, size) == TEXT
    assert unpacked(coding, b"", size) == b""


@pytest.mark.parametrize("name", sorted(WHOLE.keys() - {"padded"}))
def test_a_truncated_body_is_not_treated_as_complete(name: str) -> None:
    coding, data = WHOLE[name]
    for end in (1, 2, 100, len(data) // 2, len(data) - 1):
        with pytest.raises(ValueError, match="it ends early"):
            unpacked(coding, data[:end], 64)


def test_a_damaged_body_is_refused() -> None:
    for coding in ("gzip", "deflate"):
        with pytest.raises(ValueError, match="Error -3"):
            unpacked(coding, b"\xff not packed at all", 64)
    with pytest.raises(ValueError, match="incorrect data check"):
        unpacked("gzip", gzip.compress(TEXT)[:-8] + bytes(8), 64)
