"""Events and their lines: what is written comes back, whatever a system said."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from protocols.answer import PLACES, Answer, Attachment, Offer, Source, ToolCall
from protocols.route import Choice, Evidence, Route
from recordings.conversations.conversation import Outcome, SystemTurn, TrialKey
from recordings.events.event_lines import check_format, decode, encode, event_line
from recordings.events.events import Answered, Asked, Event, Failed, Routed, Sent, Spent, TrialEnded, TrialStarted
from recordings.files.errors import RunError
from recordings.files.json_text import encode_line, parse_value
from topics.errors import Place
from topics.links import Link

PLACE = Place("trials-000001.jsonl", 3)
HALVES = ("\ud83d", "\ude00")


def _joined(text: str) -> str:
    """Two halves of a surrogate pair side by side are the character they make."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


anything = st.text(st.characters(exclude_categories=())).map(_joined)
counts = st.integers(0, 10**9)
turns = st.integers(1, 10**6)
seconds = st.floats(0, 1e9) | st.none()
names = st.dictionaries(anything, anything, max_size=3)
places = st.integers(-1, 99)


def _several(kind: type[Any], *values: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(st.builds(kind, *values), max_size=2).map(tuple)


replies = st.builds(
    SystemTurn,
    answer=st.builds(
        Answer,
        text=anything,
        links=st.lists(st.builds(Link, anything, anything), max_size=3).map(tuple),
        links_left_out=counts,
        sources=_several(Source, anything, anything, places, places, st.sampled_from(PLACES)),
        thoughts=anything,
        calls=_several(ToolCall, anything, anything),
        offers=_several(Offer, anything, anything, anything),
        attachments=_several(Attachment, anything, anything, st.none() | counts),
        refused=st.booleans(),
    ),
    asked_at=anything,
    first_seconds=seconds,
    seconds=seconds,
    finish=anything,
    tokens=st.dictionaries(anything, counts, max_size=3),
    pieces=st.lists(st.tuples(st.floats(0, 1e6), counts), max_size=3).map(tuple),
    evidence=names,
    ended=st.booleans(),
    sends=turns,
    model=anything,
    notes=st.lists(anything, max_size=2).map(tuple),
)
pieces = st.builds(Evidence, start=st.integers(-1, 99), end=st.integers(-1, 99), quote=anything, note=anything)
routes = st.builds(
    Route,
    turn=turns,
    state=anything,
    label=anything,
    rule=anything,
    version=anything,
    evidence=st.lists(pieces, max_size=3).map(tuple),
    target=anything,
)
shares = st.floats(0, 1)
choices = st.none() | st.builds(
    Choice,
    probability=st.none() | shares,
    leaving=st.dictionaries(anything, shares, max_size=2),
    took=anything,
    coverage=st.none() | shares,
    noise=st.dictionaries(anything, st.tuples(counts, counts), max_size=2),
    refused=st.dictionaries(anything, counts, max_size=2),
    meant=anything,
)
events: st.SearchStrategy[Event] = st.one_of(
    st.builds(
        TrialStarted,
        trial_id=anything,
        key=st.builds(TrialKey, anything, anything, turns),
        attempt=turns,
        session=anything,
        place=counts,
        user=anything,
        at=anything,
        hashes=names,
        worker=anything,
        original_attempt=counts,
    ),
    st.builds(Asked, anything, turns, turns, *[anything] * 6, choices, anything),
    st.builds(Answered, anything, turns, turns, replies),
    st.builds(Routed, anything, turns, routes),
    st.builds(Failed, anything, turns, anything, anything, anything, names, anything, counts),
    st.builds(Sent, anything, turns, anything),
    st.builds(Spent, anything, turns, st.dictionaries(anything, counts, max_size=3), st.booleans()),
    st.builds(
        TrialEnded,
        anything,
        turns,
        st.builds(Outcome, anything, anything, anything, st.none() | counts, choices),
        anything,
        counts,
    ),
)


def _said(text: str) -> Asked:
    return Asked("id", 1, 1, "ask", text)


@given(events)
@example(_said("line\u2028separator\u2029 and \x85 next"))
@example(_said('NUL \0, tab \t, \r\n, quote " and backslash \\'))
@example(_said(f"half {HALVES[0]} and {HALVES[1]} half"))
@example(_said("\\ud83d written out"))
def test_every_event_is_read_back_from_its_line(event: Event) -> None:
    data = encode_line(encode(event))
    assert data.endswith(b"\n")
    assert data.count(b"\n") == 1
    data.decode("utf-8")  # real UTF-8, whatever the text
    row = parse_value(data, PLACE)
    assert isinstance(row, dict)
    assert decode(row, PLACE) == event


def test_characters_are_in_the_file_unescaped() -> None:
    assert "東京 – café 😀".encode() in encode_line(encode(_said("東京 – café 😀")))


def test_matching_surrogates_are_joined_to_the_character() -> None:
    row = parse_value(encode_line(encode(_said("".join(HALVES)))), PLACE)
    assert isinstance(row, dict)
    assert row["text"] == "😀"


def test_an_invalid_number_is_refused_when_written_and_when_read() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        encode_line(encode(Answered("id", 1, 1, SystemTurn(Answer("x"), seconds=float("nan")))))
    with pytest.raises(RunError, match=r"trials-000001.jsonl:3: .*NaN is not a JSON number"):
        parse_value(b'{"event": "turn", "seconds": NaN}', PLACE)


@pytest.mark.parametrize("pieces", [(), ((0.5, 3),), ((float("inf"), 3),)])
@pytest.mark.parametrize("taken", [None, 0.25, float("nan")])
def test_a_line_contains_null_only_for_unknown_values(
    taken: float | None, pieces: tuple[tuple[float, int], ...]
) -> None:
    row = encode(Answered("id", 1, 1, SystemTurn(Answer("x"), seconds=taken, pieces=pieces)))
    if taken in (None, 0.25) and pieces != ((float("inf"), 3),):
        assert json.loads(event_line(row)) == row
    else:
        with pytest.raises(ValueError, match="JSON compliant"):
            event_line(row)


def test_keys_of_a_later_version_are_skipped() -> None:
    row = {**encode(_said("hello")), "mood": "curious", "extra": [1, 2]}
    assert decode(row, PLACE) == _said("hello")


def test_an_event_of_a_later_version_is_not_an_error() -> None:
    assert decode({"event": "screenshot-taken", "id": "x"}, PLACE) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text": None}, "'text' is not text"),
        ({"turn": "1"}, "'turn' is not a whole number"),
        ({"turn": True}, "'turn' is not a whole number"),
        ({"turn": 0}, "'turn' must be at least 1, not 0"),
        ({"attempt": 1.5}, "'attempt' is not a whole number"),
        ({"event": 7}, "the line has no event"),
    ],
)
def test_a_wrong_field_is_named_with_its_place(change: dict[str, object], message: str) -> None:
    with pytest.raises(RunError, match=message) as caught:
        decode({**encode(_said("hello")), **change}, PLACE)
    assert str(caught.value).startswith("trials-000001.jsonl:3: ")


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"probability": 1.5}, "'probability' must be a probability, not 1.5"),
        ({"probability": "likely"}, "'probability' is not a number or null"),
        ({"leaving": {"left": -0.1}}, "'left' must be a probability, not -0.1"),
        ({"noise": {"typos": 3}}, r"'noise' contains something that is not \[units, units changed\]"),
        ({"refused": {"assistant": 0.5}}, "'refused' contains something that is not a whole number"),
        (["left"], "'choice' is not an object"),
    ],
)
def test_a_wrong_choice_is_named_with_its_place(choice: object, message: str) -> None:
    with pytest.raises(RunError, match=message):
        decode({**encode(_said("hello")), "choice": choice}, PLACE)


def test_a_missing_field_is_named() -> None:
    row = encode(_said("hello"))
    del row["text"]
    with pytest.raises(RunError, match="has no 'text'"):
        decode(row, PLACE)


@pytest.mark.parametrize("found", ["harvest-events/1", "harvest-events/1.7"])
def test_minor_versions_are_read(found: str) -> None:
    check_format(found, "harvest-events/1", PLACE)


@pytest.mark.parametrize("found", ["harvest-events/2", "harvest-events/10", "harvest-run/1", "", None, 1])
def test_other_versions_and_formats_are_refused(found: object) -> None:
    with pytest.raises(RunError, match="harvest-events"):
        check_format(found, "harvest-events/1", PLACE)


def test_lines_are_plain_json_for_other_programs() -> None:
    assert json.loads(encode_line(encode(_said(HALVES[0]))))["text"] == HALVES[0]


def test_turns_that_were_recorded_before_users_had_names_are_read_as_they_were() -> None:
    old = {"event": "asked", "id": "id", "attempt": 1, "turn": 1, "state": "ask", "text": "Hello", "at": ""}
    event = Asked("id", 1, 1, "ask", "Hello")
    assert decode(old, PLACE) == event
    assert encode(event) == old, "and are written as they were where the protocol speaks"
    spoken = Asked("id", 1, 2, "wander", "More?", "", "visitor", "more")
    assert encode(spoken) == {**old, "turn": 2, "state": "wander", "text": "More?", "user": "visitor", "act": "more"}
