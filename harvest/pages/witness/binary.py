"""Binary messages: MessagePack, gRPC frames, protobuf without a schema, and text among other bytes. The format of a
message is not known. Each reader accepts a message only if it explains every byte, and the reader that is least
likely to be wrong comes first."""

import base64
import binascii
import re
from dataclasses import dataclass

import msgspec

_DEEPEST = 12  # messages nested in messages
_MOST_FIELD = 10_000  # larger field numbers are valid but rarely used
_RUN = re.compile(
    rb"(?:[\x20-\x7e\t\r\n]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}){4,}"
)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_UNWRITTEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd]")


@dataclass(frozen=True, slots=True)
class TextOrMessage:
    """Bytes that may be a text or a message with text in it, because the length byte of an inner string may look like
    a letter."""

    text: str
    inner: object


def read_values(data: bytes) -> list[object]:
    """Return the values of a message: mappings (protobuf fields are named `f1`, `f2`, …), lists or strings. Returns []
    if the message contains no text."""
    if not data:
        return []
    framed = _grpc_frames(data)
    if framed is not None:
        return [value for frame in framed for value in read_values(frame)]
    for reader in (_read_message_pack, _read_sized_message_pack, _protobuf_fields):
        value = reader(data)
        if value is not None:
            return [value]
    return [[found.decode() for found in _RUN.findall(data)]] if _RUN.search(data) else []


def decode_base64(text: str) -> bytes | None:
    """Return the bytes encoded as base64 in `text`, or None. Ordinary words are valid base64, too, so the bytes must
    decode to text or to a whole message of a known kind."""
    if len(text) % 4 == 1 or not _BASE64.fullmatch(text):
        return None
    try:
        data = base64.b64decode(text.translate(_URL_SAFE) + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
    try:
        is_text = not _UNWRITTEN.search(data.decode())
    except UnicodeDecodeError:
        is_text = False
    return data if is_text or _grpc_frames(data) or _read_message_pack(data) or _protobuf_fields(data) else None


_URL_SAFE = str.maketrans("-_", "+/")


def _grpc_frames(data: bytes) -> list[bytes] | None:
    """Return the messages of a gRPC-web body. Its trailers are left out, because they contain no text of a reply."""
    frames, place = [], 0
    while place < len(data):
        if len(data) - place < 5 or data[place] not in (0, 0x80):
            return None
        size = int.from_bytes(data[place + 1 : place + 5])
        if place + 5 + size > len(data):
            break  # the last frame is incomplete
        if data[place] == 0:
            frames.append(data[place + 5 : place + 5 + size])
        place += 5 + size
    return frames or None


def _read_message_pack(data: bytes) -> object | None:
    try:
        value = msgspec.msgpack.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return value if isinstance(value, (dict, list)) and value else None


def _read_sized_message_pack(data: bytes) -> object | None:
    """Read messages that are each preceded by their size as a varint, as SignalR sends them."""
    values, place = [], 0
    while place < len(data):
        size, place = _read_varint(data, place)
        value = _read_message_pack(data[place : place + size]) if place >= 0 and 0 < size <= len(data) - place else None
        if value is None:
            return None
        values.append(value)
        place += size
    return values or None


def _protobuf_fields(data: bytes, depth: int = 0) -> dict[str, object] | None:
    """Return the fields of a protobuf message by name, or None for any other bytes. Repeated fields become lists."""
    fields: dict[str, list[object]] = {}
    place = 0
    while place < len(data):
        tag, place = _read_varint(data, place)
        number, kind = tag >> 3, tag & 7
        if place < 0 or not 0 < number <= _MOST_FIELD:
            return None
        if kind == 0:
            value, place = _read_varint(data, place)
            if place < 0:
                return None
            fields.setdefault(f"f{number}", []).append(value)
        elif kind in (1, 5):
            place += 8 if kind == 1 else 4
            if place > len(data):
                return None
            fields.setdefault(f"f{number}", []).append(None)
        elif kind == 2:
            size, place = _read_varint(data, place)
            if place < 0 or place + size > len(data):
                return None
            fields.setdefault(f"f{number}", []).append(_field_value(data[place : place + size], depth))
            place += size
        else:
            return None
    return {name: values[0] if len(values) == 1 else values for name, values in fields.items()} or None


def _field_value(data: bytes, depth: int) -> object:
    inner = _protobuf_fields(data, depth + 1) if data and depth < _DEEPEST else None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return inner
    if _UNWRITTEN.search(text):
        return inner
    # A letter is the tag of a rare field, and numbers would seldom all be letters.
    looks_inner = inner is not None and not data[:1].isalpha() and _holds_only_text(inner)
    return TextOrMessage(text, inner) if looks_inner else text


def _holds_only_text(value: object) -> bool:
    if isinstance(value, TextOrMessage):
        return True
    if isinstance(value, (dict, list)):
        return all(_holds_only_text(part) for part in (value.values() if isinstance(value, dict) else value))
    return isinstance(value, str) and bool(value)


def _read_varint(data: bytes, place: int) -> tuple[int, int]:
    """Return the number at an offset and the offset after the number. The second value is -1 if there is no number."""
    value = shift = 0
    while place < len(data) and shift < 64:
        value |= (data[place] & 0x7F) << shift
        if data[place] < 0x80:
            return value, place + 1
        place, shift = place + 1, shift + 7
    return 0, -1
