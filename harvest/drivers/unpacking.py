"""Undoing a compression, to its end: what is cut short is never taken for the whole.

httpx returns what it has unpacked until then, and of gzip only the first member: a text without its end would count as
an answer.
"""

import zlib

_GZIP = b"\x1f\x8b"


class Unpacking:
    """One body, piece by piece. coding: `gzip`, whose members are one text, or `deflate`, with or without the frame of
    zlib, as servers send it."""

    def __init__(self, coding: str) -> None:
        self._gzip = coding == "gzip"
        self._head = b""  # too short to tell how it is packed
        self._under_way: zlib._Decompress | None = None
        self._done = False  # once
        self._over = False  # what follows is padding

    def take(self, data: bytes) -> bytes:
        """What `data` unpacks to. Raises ValueError where it does not."""
        found = []
        while data and not self._over:
            if self._under_way is None:
                data, self._head = self._head + data, b""
                if len(data) < len(_GZIP):
                    self._head = data
                    break
                self._over = self._done and not (self._gzip and data.startswith(_GZIP))
                if self._over:
                    break
                self._under_way = zlib.decompressobj(self._frame(data))
            try:
                found.append(self._under_way.decompress(data))
            except zlib.error as error:
                raise ValueError(str(error)) from None
            data = self._under_way.unused_data
            if self._under_way.eof:
                self._under_way, self._done = None, True
        return b"".join(found)

    def end(self) -> None:
        """No more comes. Raises ValueError where something is missing; an empty body is whole."""
        if self._under_way is not None or (self._head and not self._done):
            raise ValueError("it ends early")

    def _frame(self, data: bytes) -> int:
        if self._gzip:
            return zlib.MAX_WBITS | 16
        zlibs = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
        return zlib.MAX_WBITS if zlibs else -zlib.MAX_WBITS
