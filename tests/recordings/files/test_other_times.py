"""Times as other programs write them: the same instant in every notation, and none where several could be meant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recordings.files.times import normalise_time, parse_foreign_time
from recordings.formats.messages import Messages, read_messages

NOON = "2026-01-31T12:00:00.000000+00:00"
SECONDS = 1769860800


@pytest.mark.parametrize(
    "written",
    [
        *("2026-01-31T12:00:00Z", "2026-01-31 12:00", "2026-01-31T13:00:00+01:00", "2026-01-31 12:00:00 UTC"),
        *("2026-01-31 13:00:00.000 +0100", "2026/01/31 12:00:00", " 2026-01-31T12:00:00Z "),
        *("Sat, 31 Jan 2026 12:00:00 GMT", "Sat, 31 Jan 2026 12:00:00 +0000", "31 Jan 2026 07:00:00 -0500"),
        *("Sat Jan 31 12:00:00 +0000 2026", "Sat Jan 31 12:00:00 2026", "31/Jan/2026:13:00:00 +0100"),
        *("31/01/2026 12:00:00", "01/31/2026 12:00", "31.1.2026 12:00", "31.01.2026, 12:00:00"),
        *("January 31, 2026 12:00:00", "Jan 31, 2026, 12:00:00 PM", str(SECONDS), f"{SECONDS}.0", f"{SECONDS}000"),
        *(SECONDS, float(SECONDS), SECONDS * 10**3, SECONDS * 10**6, SECONDS * 10**9),
        *({"$date": "2026-01-31T12:00:00Z"}, {"$date": SECONDS * 1000}, {"$date": {"$numberLong": f"{SECONDS}000"}}),
        *({"seconds": SECONDS, "nanos": 0}, {"_seconds": SECONDS, "_nanoseconds": 0}, {"seconds": str(SECONDS)}),
    ],
    ids=str,
)
def test_one_instant_in_every_notation(written: object) -> None:
    assert normalise_time(parse_foreign_time(written)) == NOON


@pytest.mark.parametrize(
    "written",
    [
        *("", "yesterday", "12:00", "10:32:11", "Monday", "May", "01/02/2026", "1.2.2026", "5", "2026", "1e9"),
        *("Fri, 31 Dec 9999 23:00:00 -1400"),
        *(None, True, -5, 1e300, float("inf"), float("nan"), [1], {}, {"a": 1, "b": 2}, {"$date": -5}, {"$date": "x"}),
    ],
    ids=str,
)
def test_an_ambiguous_or_invalid_time_is_none(written: object) -> None:
    assert parse_foreign_time(written) == ""


def read(folder: Path, *told: dict[str, object], said: str = "Hi") -> Messages:
    messages = [{"role": "user", "content": said}, {"role": "assistant", "content": "Ho"}]
    (folder / "x.jsonl").write_text("".join(json.dumps({"messages": messages, **one}) + "\n" for one in told))
    return read_messages(folder / "x.jsonl", topic="t", strict=False)


OID = "65b9f0c2e4b0a1a2b3c4d5e6"


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        ({"_id": {"$oid": OID}}, {"_id": {"$oid": OID}}, 1),
        ({"_id": {"$oid": OID}}, {"_id": {"$oid": OID[::-1]}}, 2),
        ({"_id": {"$binary": {"base64": "AA==", "subType": "04"}}}, {"_id": {"$binary": "AA==", "$type": "04"}}, 1),
        ({"id": {"S": "c1"}}, {"id": {"S": "c1"}}, 1),
        ({"id": 7.0}, {"id": 7}, 1),
        ({"conversationId": "c"}, {"conversation-id": "c"}, 1),
        ({"id": 1, "conversation_id": "c"}, {"id": 2, "conversation_id": "c"}, 1),
        ({"id": 1, "conversation_id": "c"}, {"id": 1, "conversation_id": "d"}, 2),
        ({"_id": {"$oid": OID}, "metadata": {"chat_id": "c"}}, {"_id": {"$oid": OID[::-1]}, "chat_id": "c"}, 1),
        ({"metadata": {"id": {"$oid": OID}}}, {"metadata": {"id": {"$oid": OID}}}, 1),
        ({"timestamp": {"$date": SECONDS * 1000}}, {"timestamp": NOON}, 1),
        ({"created": SECONDS}, {"createdAt": "Sat, 31 Jan 2026 12:00:00 GMT"}, 1),
        ({"metadata": {"started_at": {"$date": NOON}}}, {"metadata": {"started_at": NOON}}, 1),
        ({"timestamp": "10:32"}, {"timestamp": "10:32"}, 2),
        ({"session_id": "s"}, {"session_id": "s"}, 2),
    ],
)
def test_a_repeated_conversation_is_identified_by_its_id_or_time_in_any_notation(
    tmp_path: Path, one: dict[str, object], other: dict[str, object], count: int
) -> None:
    found = read(tmp_path, one, other)
    assert (len(found.conversations), found.left_out) == (count, ())
    begun = {conversation.started_at for conversation in found.conversations}
    assert begun == {""} or {normalise_time(each) for each in begun} == {NOON}
