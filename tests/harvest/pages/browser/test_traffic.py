"""What goes over the wire while an answer is awaited, told to a watch that we wind ourselves."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.pages.browser.traffic import CARRYING, Traffic
from tests.support.stepping import Stepped

SAY = "https://chat.example/say"


@dataclass
class Wire:
    clock: Stepped = field(default_factory=lambda: Stepped(100.0))

    def __post_init__(self) -> None:
        self.traffic = Traffic(self.clock.clock)


def test_a_request_is_pending_until_it_ends_and_then_its_end_is_known() -> None:
    wire = Wire()
    wire.traffic.mark()
    wire.clock.seconds += 0.5
    wire.traffic.note_request("a", "POST", SAY, "fetch")
    (asked,) = wire.traffic.pending
    assert (asked.method, asked.url, asked.kind, asked.at) == ("POST", SAY, "fetch", 0.5)
    assert (wire.traffic.begun, wire.traffic.last_ended) == (1, None)
    wire.clock.seconds += 2
    wire.traffic.note_response("a", 200)
    assert wire.traffic.note_end("a")
    assert list(wire.traffic.pending) == []
    assert (wire.traffic.last_ended, wire.traffic.faults) == (2.5, ())


def test_requests_in_flight_at_the_mark_and_their_next_rounds_are_background() -> None:
    wire = Wire()
    wire.traffic.note_request("poll 1", "GET", "https://chat.example/poll?since=1", "fetch")
    wire.traffic.note_request("notices", "GET", "https://chat.example/notices", "eventsource")
    wire.traffic.mark()
    wire.traffic.note_end("poll 1")
    wire.traffic.note_request("poll 2", "GET", "https://chat.example/poll?since=2", "fetch")
    wire.traffic.note_response("poll 2", 500)
    assert list(wire.traffic.pending) == []
    assert (wire.traffic.begun, wire.traffic.last_ended, wire.traffic.faults) == (0, None, ())
    # The same address with another method is another thing.
    wire.traffic.note_request("post", "POST", "https://chat.example/poll", "fetch")
    assert [one.method for one in wire.traffic.pending] == ["POST"]


def test_a_turn_is_not_background_even_if_the_last_one_is_still_being_stored_at_its_address() -> None:
    wire = Wire()
    wire.traffic.mark()
    wire.traffic.note_press()
    wire.traffic.note_request("say", "POST", SAY, "fetch")
    wire.traffic.note_end("say")
    wire.traffic.note_request("store", "POST", SAY, "fetch")
    wire.traffic.mark()
    wire.traffic.note_press()
    assert not wire.traffic.pending
    wire.traffic.note_request("say again", "POST", SAY, "fetch")
    assert len(wire.traffic.pending) == 1
    assert wire.traffic.note_end("say again")


def test_repeated_requests_do_not_mark_the_end() -> None:
    wire = Wire()
    wire.traffic.mark()
    wire.traffic.note_request("say", "POST", SAY, "fetch")
    assert wire.traffic.note_end("say")
    for number in range(3):
        wire.clock.seconds += 1
        wire.traffic.note_request(number, "GET", "https://chat.example/new", "fetch")
        assert [one.method for one in wire.traffic.pending] == ["GET"], "while it is open there may be more"
        assert not wire.traffic.note_end(number)
    assert wire.traffic.last_ended == 0.0
    # It is known again in the next turn, even where the turn itself goes out by a web socket.
    wire.traffic.mark()
    wire.traffic.note_request("next", "GET", "https://chat.example/new", "fetch")
    assert not wire.traffic.note_end("next")
    assert wire.traffic.last_ended is None


def test_a_turn_sent_in_an_address_and_a_redirected_one_mark_the_end() -> None:
    wire = Wire()
    wire.traffic.mark()
    wire.traffic.note_request("get", "GET", f"{SAY}?text=hello", "xhr")
    assert wire.traffic.note_end("get")
    wire.traffic.mark()
    wire.traffic.note_request("token", "POST", "https://chat.example/token", "fetch")
    wire.traffic.note_end("token")
    wire.clock.seconds += 0.1
    wire.traffic.note_request("say", "POST", SAY, "fetch")
    wire.clock.seconds += 3
    assert wire.traffic.note_end("say")
    wire.clock.seconds += 2
    wire.traffic.note_request("events", "GET", "https://chat.example/events", "fetch")
    wire.traffic.note_response("events", 200, "text/event-stream")
    assert wire.traffic.note_end("events"), "a stream ends with the answer, whenever it began"
    wire.clock.seconds += 2
    wire.traffic.note_request("document", "GET", "https://chat.example/", "document")
    assert wire.traffic.note_end("document")


def test_a_request_soon_after_the_press_is_the_turn_however_long_the_press_took() -> None:
    wire = Wire()
    for pressing, after, is_turn in ((0.1, 0.9, True), (5.0, 0.9, True), (5.0, 1.1, False)):
        wire.traffic.mark()
        wire.clock.seconds += pressing
        wire.traffic.note_press()
        wire.clock.seconds += after
        wire.traffic.note_request("say", "POST", SAY, "fetch")
        assert wire.traffic.note_end("say") is is_turn
    wire.traffic.mark()
    wire.clock.seconds += 5
    wire.traffic.note_request("say", "POST", SAY, "fetch")
    wire.traffic.note_press()  # the word of the press may come after that of the request
    assert wire.traffic.note_end("say")


def test_pictures_scripts_and_beacons_carry_no_answer() -> None:
    wire = Wire()
    wire.traffic.mark()
    for kind in ("image", "script", "stylesheet", "ping", "font", "media", "other", "websocket"):
        wire.traffic.note_request(kind, "GET", SAY, kind)
    assert list(wire.traffic.pending) == []
    assert not wire.traffic.note_end("image")


def test_statuses_from_four_hundred_on_and_broken_connections_are_faults_only_of_this_turn() -> None:
    wire = Wire()
    wire.traffic.mark()
    wire.traffic.note_request("a", "POST", SAY, "fetch")
    wire.traffic.note_response("a", 429)
    wire.traffic.note_end("a")
    wire.traffic.note_request("b", "POST", SAY, "xhr")
    wire.traffic.note_end("b", "net::ERR_CONNECTION_RESET")
    assert [(fault.status, fault.what) for fault in wire.traffic.faults] == [
        (429, ""),
        (None, "net::ERR_CONNECTION_RESET"),
    ]
    wire.traffic.mark()
    assert wire.traffic.faults == ()


def test_closing_an_answered_stream_is_not_a_fault_and_closing_an_unanswered_one_is() -> None:
    wire = Wire()
    wire.traffic.mark()
    wire.traffic.note_request("a", "POST", SAY, "fetch")
    wire.traffic.note_response("a", 200, "text/event-stream; charset=utf-8")
    assert not wire.traffic.streamed
    wire.traffic.note_end("a", "net::ERR_ABORTED")
    assert (wire.traffic.faults, wire.traffic.streamed) == ((), True)
    wire.traffic.note_request("b", "POST", SAY, "fetch")
    wire.traffic.note_end("b", "net::ERR_ABORTED")
    assert [fault.what for fault in wire.traffic.faults] == ["net::ERR_ABORTED"]
    wire.traffic.mark()
    assert not wire.traffic.streamed


def test_faults_do_not_accumulate_for_ever() -> None:
    wire = Wire()
    wire.traffic.mark()
    for number in range(1000):
        wire.traffic.note_request(number, "GET", SAY, "fetch")
        wire.traffic.note_end(number, "net::ERR_FAILED")
    assert len(wire.traffic.faults) == 100


def test_frames_and_sizes_are_counted_from_the_mark() -> None:
    wire = Wire()
    wire.traffic.note_received_frame(1000)
    wire.traffic.mark()
    assert (wire.traffic.frames, wire.traffic.last_frame, wire.traffic.framed) == (0, None, 0)
    wire.clock.seconds += 1
    wire.traffic.note_received_frame(20)
    wire.traffic.note_size(300, wire.traffic.marked)
    # The size of one that ended before the mark is known only after it.
    wire.traffic.note_size(5000, wire.traffic.marked - 10)
    assert (wire.traffic.frames, wire.traffic.last_frame, wire.traffic.framed) == (1, 1.0, 20)
    assert wire.traffic.received == 300


def test_an_end_without_a_known_beginning_does_not_matter() -> None:
    wire = Wire()
    wire.traffic.note_response("never", 500)
    assert not wire.traffic.note_end("never", "net::ERR_ABORTED")
    assert wire.traffic.faults == ()


def test_a_page_listens_over_an_open_socket_a_request_from_before_the_turn_and_a_poll() -> None:
    wire = Wire()
    assert not wire.traffic.is_listening
    wire.traffic.note_socket("socket")
    assert not wire.traffic.is_listening, "nothing says yet that it is open"
    wire.traffic.note_frame("socket")
    wire.traffic.mark()
    assert wire.traffic.is_listening
    wire.traffic.note_socket_end("socket")
    assert not wire.traffic.is_listening
    wire.traffic.note_request("events", "GET", "https://chat.example/events", "eventsource")
    assert not wire.traffic.is_listening, "it is asked for by this turn, and counts as under way"
    wire.traffic.mark()
    assert wire.traffic.is_listening
    wire.traffic.note_end("events")
    assert not wire.traffic.is_listening
    for number in range(2):
        wire.traffic.note_request(number, "GET", f"https://chat.example/news?since={number}", "fetch")
        wire.traffic.note_end(number)
    assert wire.traffic.is_listening
    wire.clock.seconds += 21
    assert not wire.traffic.is_listening


def test_a_page_that_starts_polling_with_a_turn_is_distinguished_from_one_that_always_polls() -> None:
    wire = Wire()

    def ask(name: str, rounds: int, every: float = 0.8) -> None:
        for number in range(rounds):
            wire.traffic.note_request((name, number), "GET", f"https://chat.example/{name}?n={number}", "fetch")
            wire.traffic.note_end((name, number))
            wire.clock.seconds += every

    ask("notices", 4)
    wire.traffic.mark()
    ask("notices", 5)
    assert not wire.traffic.is_polling, "it did before the turn"
    ask("state", 2)
    assert not wire.traffic.is_polling, "two rounds are no poll"
    ask("state", 1)
    assert wire.traffic.is_polling
    wire.clock.seconds += 2
    assert not wire.traffic.is_polling, "another round would have come"
    ask("state", 4)
    wire.traffic.mark()
    ask("state", 4)
    assert not wire.traffic.is_polling, "it goes on as before"
    wire.clock.seconds += 1
    wire.traffic.mark()
    wire.clock.seconds += 1
    ask("state", 3)
    assert wire.traffic.is_polling, "it ended, and the next turn began another"


_EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("mark"), st.just(0)),
        st.tuples(st.sampled_from(("begin", "end", "fail")), st.integers(0, 5)),
    ),
    max_size=60,
)


@given(_EVENTS, st.sampled_from(sorted(CARRYING)))
def test_requests_that_began_after_the_mark_and_have_not_ended_are_pending(
    events: list[tuple[str, int]], kind: str
) -> None:
    wire = Wire()
    pending: set[int] = set()
    under_way: set[int] = set()
    background: set[int] = set()
    for what, number in events:
        wire.clock.seconds += 0.1
        if what == "mark":
            wire.traffic.mark()
            background = set(under_way)
            pending = set()
        elif what == "begin" and number not in under_way:
            wire.traffic.note_request(number, "GET", f"https://chat.example/{number}?x={wire.clock.seconds}", kind)
            under_way.add(number)
            if number not in background:
                pending.add(number)
        elif what in ("end", "fail") and number in under_way:
            wire.traffic.note_end(number, "net::ERR_FAILED" if what == "fail" else "")
            under_way.discard(number)
            pending.discard(number)
        urls = {asked.url.partition("?")[0] for asked in wire.traffic.pending}
        assert urls == {f"https://chat.example/{one}" for one in pending}


def test_the_time_of_the_first_byte_is_known_unless_a_stream_was_open_before() -> None:
    wire = Wire()
    wire.traffic.mark()
    assert wire.traffic.first_byte_seconds == math.inf
    wire.traffic.note_request("say", "POST", SAY, "fetch")
    wire.clock.seconds += 2
    wire.traffic.note_response("say", 200)
    assert wire.traffic.first_byte_seconds == 2
    wire.traffic.note_end("say")
    wire.traffic.mark()
    wire.clock.seconds += 2
    wire.traffic.note_received_frame(10)
    assert wire.traffic.first_byte_seconds == 1.75, "the word of a frame may be late"
    wire.traffic.note_request("again", "POST", SAY, "fetch")
    browsers = wire.clock.clock.now().timestamp() - 1.5
    wire.traffic.note_response("again", 200, at=browsers)
    assert wire.traffic.first_byte_seconds == pytest.approx(0.5)
    wire.traffic.note_end("again")
    wire.traffic.note_request("notices", "GET", "https://chat.example/notices", "eventsource")
    wire.traffic.mark()
    assert wire.traffic.first_byte_seconds is None
