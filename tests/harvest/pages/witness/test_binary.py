"""Binary messages are opened only by what explains every byte of them."""

import base64

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from harvest.pages.witness.binary import TextOrMessage, decode_base64, read_values


def field(number: int, value: bytes) -> bytes:
    assert len(value) < 128
    return bytes([number << 3 | 2, len(value)]) + value


def test_fields_of_protobuf_are_named_by_their_numbers() -> None:
    data = bytes([1 << 3, 42]) + field(2, field(1, "Grüße".encode())) + field(3, b"x") + field(3, b"y")
    assert read_values(data) == [{"f1": 42, "f2": {"f1": "Grüße"}, "f3": ["x", "y"]}]


def test_ambiguous_bytes_are_read_both_as_a_text_and_as_a_message() -> None:
    text = "\n\nTen or so."
    assert read_values(field(1, text.encode())) == [{"f1": TextOrMessage(text, {"f1": "Ten or so."})}]


@given(st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=40))
def test_a_text_in_protobuf_is_read_unchanged_unless_it_is_a_message_too(text: str) -> None:
    data = text.encode()
    if len(data) < 128 and text[0].isalpha():
        assert read_values(field(1, data)) == [{"f1": text}]


@given(st.recursive(st.text(), lambda inner: st.dictionaries(st.text(max_size=5), inner, min_size=1, max_size=3)))
def test_message_pack_is_read_as_it_was_written(value: object) -> None:
    if isinstance(value, dict):
        assert read_values(msgspec.msgpack.encode(value)) == [value]


def test_sized_messages_and_frames_of_grpc_are_taken_apart() -> None:
    one, other = (msgspec.msgpack.encode([6, text]) for text in ("Hel", "lo"))
    assert read_values(bytes([len(one)]) + one + bytes([len(other)]) + other) == [[[6, "Hel"], [6, "lo"]]]
    frames = b"".join(b"\0" + len(part).to_bytes(4) + part for part in (field(1, b"Hel"), field(1, b"lo")))
    assert read_values(frames + b"\x80\0\0\0\x0fgrpc-status:0\r\n") == [{"f1": "Hel"}, {"f1": "lo"}]


def test_text_amid_other_bytes_is_found_and_enciphered_bytes_contain_none() -> None:
    assert read_values(b"\x07\xff\x00\x01Open at nine.\xfe\x00") == [["Open at nine."]]
    assert read_values(bytes((number * 73 + 199) % 256 | 0x80 for number in range(64))) == []
    assert read_values(b"") == []


def test_base64_is_opened_only_where_text_or_a_message_is_in_it() -> None:
    assert decode_base64(base64.b64encode(b'{"text": "Open at nine"}').decode()) == b'{"text": "Open at nine"}'
    assert decode_base64(base64.urlsafe_b64encode(field(1, "¿Qué? ñandú".encode())).decode().rstrip("=")) is not None
    assert decode_base64("Internationalization") is None
    assert decode_base64("not base64 at all, surely") is None
