"""Lines read straight into values: what is taken is what the slower reading takes, and all else is left to that."""

from __future__ import annotations

import json

from hypothesis import example, given
from hypothesis import strategies as st

from protocols.answer import Answer, Attachment, Offer, Source, ToolCall
from protocols.route import Choice, Evidence, Route
from recordings.conversations.conversation import Outcome, SystemTurn, TrialKey
from recordings.events.event_lines import decode, encode
from recordings.events.events import Answered, Asked, Event, Failed, Routed, Sent, Spent, TrialEnded, TrialStarted
from recordings.events.typed_lines import decode_line, decode_lines
from recordings.files.errors import RunError
from recordings.files.json_text import encode_line, parse_row
from topics.errors import Place
from topics.links import Link

CHOICE = Choice(0.25, {"left": 0.5, "patience": 0.125}, "question", 1.0, {"typos": (7, 2)}, {"assistant": 3})
EVENTS: tuple[Event, ...] = (
    TrialStarted("id", TrialKey("A", "M001", 2), 1, "s", 3, "scripted", "2026-01-01", {"topic": "t"}, "w", 2, 1),
    Asked("id", 1, 1, "ask", "Films?\u2028 🦜", "2026-01-01", "visitor", "more"),
    Asked("id", 1, 1, "ask", "Films?", "2026-01-01", "visitor", "more", "empty 1", CHOICE, "s/2"),
    Answered(
        "id",
        1,
        1,
        SystemTurn(
            Answer(
                "Primer.",
                (Link("a", "https://example.org"),),
                2,
                (Source("https://example.org", "a", 0, 6, "card"), Source("https://example.com")),
                "a film about time",
                (ToolCall("search", "{}"),),
                (Offer("More", "/more", "button"),),
                (Attachment("still.png", "image/png", 7), Attachment("sound")),
                True,
            ),
            "2026-01-01",
            0.5,
            1.25,
            "stop",
            {"prompt": 3},
            ((0.5, 1), (1.0, 7)),
            {"reply": "evidence/x"},
            True,
            2,
            "said so",
            "m1",
            ("taken once",),
        ),
    ),
    Routed(
        "id", 1, Route(1, "ask", "o", "useful", "urls/1", (Evidence(0, 6, "Primer", "n"), Evidence(-1, -1, "")), "more")
    ),
    Failed("id", 1, "timeout", "late", "Pri", {"page": "evidence/y"}, "2026-01-01", 1),
    TrialEnded("id", 1, Outcome("completed", "script-ended", "d", 0), "2026-01-01", 4),
    TrialEnded("id", 1, Outcome("completed")),
    TrialEnded("id", 1, Outcome("user-stopped", "left", choice=CHOICE)),
    Sent("id", 1),
    Sent("id", 1, "words"),
    Spent("id", 1, {"prompt": 3}),
    Spent("id", 1, received=False),
)
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([10**12, 10**40, -1, 1e13, 0.5, 2.0]),
    st.text(max_size=3),
    st.sampled_from(
        ["trial-started", "asked", "turn", "route", "failed", "sent", "trial-ended", "later", "\ud800", "\x00"]
    ),
    st.lists(
        st.one_of(
            st.integers(0, 2),
            st.lists(st.integers(0, 3), max_size=3),
            st.dictionaries(
                st.sampled_from(["text", "href", "start", "name", "title", "size"]), st.sampled_from(["x", 1, -2])
            ),
        )
    ),
    st.dictionaries(st.text(max_size=2), st.one_of(st.text(max_size=2), st.integers())),
)


def slow(data: bytes) -> Event | None:
    try:
        return decode(parse_row(data, Place("f", 1)), Place("f", 1))
    except RunError:
        return None


def test_every_kind_of_event_is_read_back() -> None:
    for event in EVENTS:
        assert decode_line(encode_line(encode(event)).rstrip(b"\n")) == event


@given(event=st.sampled_from(EVENTS), key=st.text(max_size=3), value=VALUES, place=st.integers(0, 30))
@example(EVENTS[0], "hashes", {"topic": 1}, 0)
@example(EVENTS[2], "first_seconds", 1, 0)
@example(EVENTS[2], "seconds", 10**13, 0)
@example(EVENTS[5], "missing", None, 0)
def test_a_changed_line_is_read_equally_or_left_to_the_other_reader(
    event: Event, key: str, value: object, place: int
) -> None:
    row = encode(event)
    names = list(row)
    row[key if key in row or place >= len(names) else names[place]] = value
    data = encode_line(row).rstrip(b"\n")
    fast = decode_line(data)
    assert fast is None or fast == slow(data)


@given(st.binary(max_size=60))
def test_a_line_that_is_not_an_event_is_left_to_the_other_reader(data: bytes) -> None:
    assert decode_line(data) is None


def test_a_damaged_byte_under_an_unknown_key_is_left_to_the_other_reader() -> None:
    data = json.dumps({**encode(EVENTS[1]), "later": "x"}).encode().replace(b'"x"', b'"\xff"')
    assert decode_line(data) is None


def test_many_lines_are_read_like_each_of_them_alone() -> None:
    rows = decode_lines(b"".join(encode_line(encode(event)) for event in EVENTS), len(EVENTS))
    assert rows is not None
    assert tuple(row.event() for row in rows) == EVENTS


@given(
    st.sampled_from(
        [b"", b"{}", b"\xff", b'{"event":"later"}', encode_line(encode(EVENTS[1])).replace(b"ask", b"\xff")]
    )
)
def test_if_one_line_is_odd_none_of_them_is_used(odd: bytes) -> None:
    whole = encode_line(encode(EVENTS[1]))
    assert decode_lines(whole + odd.rstrip(b"\n") + b"\n" + whole, 3) is None
