"""What leaves a page around a turn, told from what it sends by itself."""

from __future__ import annotations

import json
from collections.abc import Callable

from harvest.pages.browser.outbox import Outbox

SAY = "https://chat.example/say"
SOCKET = "wss://chat.example/socket?token=1"


def sending(*, typing: bool = True) -> Outbox:
    outbox = Outbox()
    if typing:
        outbox.start_typing()
    outbox.mark()
    return outbox


def test_requests_frames_and_new_sockets_may_carry_a_turn() -> None:
    leaves: list[Callable[[Outbox], None]] = [
        lambda box: box.note_request("POST", SAY, "fetch", b"text"),
        lambda box: box.note_request("GET", f"{SAY}?text=hello", "xhr", None),
        lambda box: box.note_request("GET", "https://chat.example/", "document", None),
        lambda box: box.note_frame(SOCKET, "text"),
        lambda box: box.note_frame(SOCKET, b"\x01\x02"),
        lambda box: box.note_socket(SOCKET),
    ]
    for leave in leaves:
        outbox = sending()
        assert not outbox.has_sent_turn()
        leave(outbox)
        assert outbox.has_sent_turn()


def test_pictures_scripts_and_beacons_carry_no_turn() -> None:
    outbox = sending()
    for kind in ("image", "script", "ping", "font", "stylesheet"):
        outbox.note_request("GET", "https://chat.example/x", kind, None)
    assert not outbox.has_sent_turn()


def test_keep_alive_messages_are_known_from_times_without_typing() -> None:
    outbox = Outbox()
    outbox.note_frame(SOCKET, json.dumps({"event": "heartbeat"}))
    outbox.note_frame(SOCKET, json.dumps({"event": "click", "id": 3}))
    outbox.note_request("GET", "https://chat.example/new?since=1", "fetch", None)
    outbox.start_typing()
    outbox.mark()
    outbox.note_frame(SOCKET, json.dumps({"event": "heartbeat"}))
    outbox.note_request("GET", "https://chat.example/new?since=2", "fetch", None)
    assert not outbox.has_sent_turn()
    outbox.note_frame(SOCKET, json.dumps({"event": "click", "id": 4}))
    assert outbox.has_sent_turn()


def test_a_message_of_the_page_itself_is_not_a_beat_for_one_with_other_words() -> None:
    outbox = Outbox()
    outbox.note_frame(SOCKET, '42["message", {"kind": "text", "text": "I am here"}]')
    outbox.start_typing()
    outbox.mark()
    outbox.note_frame(SOCKET, '42["message", {"kind": "text", "text": "Which film?"}]')
    assert outbox.has_sent_turn()


def test_a_request_with_content_is_never_mistaken_for_a_beat() -> None:
    """Some pages send each event to the same address, the first of them by themselves."""
    outbox = Outbox()
    outbox.note_request("POST", SAY, "fetch", b"{}")
    outbox.start_typing()
    outbox.mark()
    outbox.note_request("POST", SAY, "fetch", b"{}")
    assert outbox.has_sent_turn()


def test_drafts_are_distinguished_from_other_messages() -> None:
    outbox = Outbox()
    outbox.start_typing()
    outbox.note_frame(SOCKET, '{"draft": "Which film"}')
    outbox.note_request("POST", "https://chat.example/draft", "fetch", b"Which film")
    outbox.mark()
    outbox.note_frame(SOCKET, '{"draft": "Which film\\n"}')
    outbox.note_request("POST", "https://chat.example/draft", "fetch", b"Which film\n")
    assert outbox.has_sent_turn()
    assert not outbox.has_sent_turn(beyond_typing=True)
    outbox.note_request("POST", SAY, "fetch", b"Which film")
    assert outbox.has_sent_turn(beyond_typing=True)


def test_message_contents_are_kept_from_the_mark_on_and_within_bounds() -> None:
    outbox = Outbox()
    outbox.start_typing()
    outbox.note_frame(SOCKET, "draft")
    outbox.mark()
    outbox.note_request("POST", SAY, "fetch", b"x" * 2_000_000)
    for number in range(200):
        outbox.note_frame(SOCKET, f"text {number}")
    assert len(outbox.bodies) == 50
    assert len(outbox.bodies[0]) == 1_000_000
    assert outbox.bodies[1] == "text 0"
    outbox.note_request("GET", f"{SAY}?text=a%20b", "xhr", None)
    outbox.mark()
    assert outbox.bodies == []
    assert not outbox.has_sent_turn()
