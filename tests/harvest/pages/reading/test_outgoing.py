"""The user's words are found again in what a page sends to its server, whatever it is wrapped in."""

from __future__ import annotations

import json
from urllib.parse import quote, urlencode

import pytest

from harvest.pages.reading.outgoing import find_sent_text
from harvest.pages.reading.page import letters

SAID = 'Which "best" films?\nFormat: title — URL'
CHANGED = "Which “best” films? Format: title — URL"


def _wrapped(text: str) -> dict[str, str | bytes]:
    message = json.dumps({"messages": [{"role": "user", "content": text}], "stream": True})
    crlf = text.replace("\n", "\r\n")
    return {
        "json": message,
        "json as bytes, with letters as they are": json.dumps({"text": text}, ensure_ascii=False).encode(),
        "json in json": json.dumps({"body": message}),
        "socket.io": "42" + json.dumps(["message", {"text": text, "id": 7}]),
        "a form": urlencode({"session": "x", "text": crlf}),
        "a form of several parts": f"--b\r\nContent-Disposition: form-data\r\n\r\n{crlf}\r\n--b--\r\n".encode(),
        "plain": text,
        "protobuf": b"\x0a\x05hello\x12" + bytes([len(text.encode())]) + text.encode() + b"\x18\x01",
    }


@pytest.mark.parametrize("kind", _wrapped(SAID))
def test_a_turn_that_was_sent_unchanged_is_found(kind: str) -> None:
    assert find_sent_text(["{}", _wrapped(SAID)[kind]], SAID) == SAID


@pytest.mark.parametrize("kind", [kind for kind in _wrapped(SAID) if kind != "protobuf"])
def test_a_turn_that_was_changed_is_reported_as_sent(kind: str) -> None:
    assert find_sent_text([_wrapped(CHANGED)[kind]], SAID) == CHANGED


def test_merged_words_are_reported() -> None:
    body = json.dumps({"text": SAID.replace("\n", "")})
    assert find_sent_text([body], SAID) == 'Which "best" films?Format: title — URL'


@pytest.mark.parametrize("body", ["", "{}", b"\xff\x00\x01", '{"text": "Which films?"}', '"unfinished \\'])
def test_a_message_with_other_words_is_no_evidence(body: str | bytes) -> None:
    assert find_sent_text([body], SAID) is None


def test_a_turn_without_letters_is_found_only_unchanged() -> None:
    assert find_sent_text(['{"text": "?"}'], "?") == "?"
    assert find_sent_text(['{"text": "!"}'], "?") is None


def test_a_turn_that_was_sent_in_other_words_is_recognised_by_its_likeness() -> None:
    said = "What is the damn price of 11 pieces?"
    censored = "What is the **** price of 11 pieces?"
    assert find_sent_text([json.dumps({"text": censored, "id": "a1"})], said) == censored
    assert find_sent_text([f"text={quote(censored)}&id=1"], said) == censored
    old = "What is the damn price of 12 pieces?"
    body = json.dumps({"messages": [{"text": old}, {"text": "Nine."}, {"secret": "c2VjcmV0"}]})
    assert find_sent_text([body], said, known=letters(f"{old} Nine.")) is None, "what was said before is not this turn"
    assert find_sent_text([json.dumps({"text": old})], said, known=letters("Good day.")) == old
