"""Runs of TREC's User Simulation track: the ledger of a campaign, the track's own record (its dump), and the histories
of its task 1, of which a user's next utterance is to be predicted.

    {"event": "opened", "format": "harvest-campaign-ledger/1", "run_id": "team-1", "side": "user", "system": …}
    {"event": "sending", "call": "say", "conversation": "c1", "text": "Hi", "topic": "g1", "act": "ask", …}
    {"event": "received", "conversation": "c1", "text": "Yes.", "begins": false, "ended": false, …}        a ledger

    {"conversation_id": "c1", "participant_id": "user", "text": "Hi", "is_final": false, …}                a dump

    {"conversation_id": "h1", "scenario": {"goal": {…}}, "chat_messages": [{"participant_name": "user", …}, …]}   task 1

A ledger has acts, states, labels, and why a conversation ended. A sending without a reply was never part of it.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from protocols.answer import Source
from recordings.files.json_text import Json
from recordings.formats.imports import INTERRUPTED
from recordings.formats.message_shapes import Record
from recordings.formats.message_sides import Judged
from recordings.formats.shapes.shape import Group, Shape, ShapeOptions, has_keys, id_text, topic_name
from topics.json_value import JsonValue

_LEDGER = "harvest-campaign-ledger/1"
_USER = "user"


def _holds_ledger(value: Json) -> bool:
    return has_keys(value, "event", "run_id") and isinstance(value, dict) and value.get("format") == _LEDGER


def _group_ledger(values: Iterable[JsonValue], options: ShapeOptions) -> Iterator[Group]:
    """Put the events of each conversation together, after the event that opened the ledger."""
    opened: JsonValue | None = None
    group: list[JsonValue] = []
    pending: list[JsonValue] = []  # sendings without a reply so far
    for value in values:
        kind = value["event"].text()
        if kind == "opened":
            if len(group) > 1:
                yield group
            opened, group, pending = value, [], []
        elif opened is None:
            raise value.error("the ledger does not begin with the event 'opened'")
        elif kind == "sending":
            pending = [value] if value["call"].text() == "say" else []
        elif kind == "received":
            group += pending
            pending = []
            if value["begins"].value:
                if len(group) > 1:
                    yield group
                group = [opened]
            if group:
                group.append(value)
    if len(group) > 1:
        yield group


def _read_ledger(group: Group, options: ShapeOptions) -> Iterator[Record]:
    opened, first, *_ = group
    ours = opened["side"].text(("user", "agent"))
    roles = (_USER, "assistant") if ours == _USER else ("assistant", _USER)
    name = id_text(first["conversation"])
    messages: list[dict[str, Any]] = []
    metadata: dict[str, Any] = {"system": opened["system"].text(), "topic": topic_name(name)}
    said: list[Any] = []
    over = False
    for value in group[1:]:
        if value["event"].value == "received":
            over = over or bool(value["ended"].value or value["complete"].value)
        if value["event"].value == "sending":
            said.append(value.value)
            known = {key: value[key].value for key in ("model", "finish_reason", "usage") if value.has_key(key)}
            messages.append({"role": roles[0], "content": _text(value), "timestamp": value["at"].value, **known})
        elif value["text"].value is not None or not (value["begins"].value or value["complete"].value):
            message = {"role": roles[1], "content": _text(value), "timestamp": value["at"].value}
            body = value["body"].value
            utterance = body.get("utterance") if isinstance(body, dict) else None
            messages.append({**message, "sources": _sources(utterance)} if roles[1] != _USER else message)
    if ours == _USER and said:
        greeting = [""] if messages[0]["role"] != _USER else []  # said before the user says anything
        answers = sum(one["role"] != _USER for one in messages) - len(greeting)
        last = said[-1]
        metadata["topic"] = last.get("topic") or metadata["topic"]
        metadata["acts"] = [*greeting, *(one.get("act", "") for one in said)]
        metadata["states"] = [*greeting, *(one.get("state", "") for one in said)]
        # A label is decided with the next turn.
        labels = [one.get("label") for one in said[1:]][:answers]
        metadata["labels"] = [*(None for _ in greeting), *labels, *[None] * (answers - len(labels))]
        if last.get("outcome"):
            metadata |= {"outcome": last["outcome"], "reason": last.get("reason", "")}
        elif answers < len(said):
            metadata |= {"outcome": "turn-limit", "reason": "budget of the track"}
        else:
            metadata["outcome"] = INTERRUPTED
    elif ours != _USER:
        metadata |= {"outcome": "user-stopped", "reason": "left"} if over else {"outcome": INTERRUPTED}
    yield Record({"messages": messages, "metadata": metadata, "id": f"{opened['run_id'].text()}/{name}"}, first)


def _text(value: JsonValue) -> str:
    """Return the text of an utterance, which may be empty."""
    return value["text"].text() if value["text"].value else ""


def _sources(utterance: Json) -> list[Source]:
    given = utterance.get("sources") if isinstance(utterance, dict) else None
    found: list[Source] = []
    for one in given if isinstance(given, list) else ():
        if isinstance(one, dict):
            found.append(Source(str(one.get("url") or ""), str(one.get("title") or one.get("id") or "")))
        elif isinstance(one, str):
            found.append(Source(one))
    return found


def _judged(utterance: Json) -> list[Judged]:
    """Return what people said of an answer: whether it helped (1 or 0), and their words and grades by their names."""
    given = utterance.get("annotations") if isinstance(utterance, dict) else None
    said = {name: value for name, value in given.items() if value != ""} if isinstance(given, dict) else {}
    return [
        Judged(name, int(value) if isinstance(value, bool) else value, "annotator")
        for name, value in said.items()
        if isinstance(value, bool | int | float | str)
    ]


def _holds_dump(value: Json) -> bool:
    return _holds_history(value) or (
        has_keys(value, "conversation_id", "text", "is_final")
        and (has_keys(value, "participant_id") or has_keys(value, "participant_name"))
    )


def _holds_history(value: Json) -> bool:
    return has_keys(value, "scenario", "chat_messages")


def _group_dump(values: Iterable[JsonValue], options: ShapeOptions) -> Iterable[Group]:
    found: dict[str, list[JsonValue]] = {}
    for value in values:
        # A history is alone; those of one conversation, of which each is the beginning of the next, become the longest.
        name = f"history {len(found)}" if _holds_history(value.value) else id_text(value["conversation_id"])
        found.setdefault(name, []).append(value)
    return found.values()


def _read_dump(group: Group, options: ShapeOptions) -> Iterator[Record]:
    first, *_ = group
    scenario: Json = None
    if _holds_history(first.value):
        scenario, group = first["scenario"].value, first["chat_messages"].elements()
        if not group:
            raise first["chat_messages"].error("this history has no messages, so it is not a conversation")
    messages: list[Json] = []
    final = ""
    for value in group:
        name = value["participant_id" if value.has_key("participant_id") else "participant_name"].text()
        role = _USER if name == _USER else "assistant"
        at = value["timestamp"].value if value.has_key("timestamp") else None
        message: dict[str, Json] = {"role": role, "content": _text(value), "timestamp": at}
        told: dict[str, Json] = {"sources": _sources(value.value), "judged": _judged(value.value)}
        messages.append({**message, **told} if role != _USER else message)
        final = role if value["is_final"].value is True else ""
    name = id_text(group[0]["conversation_id"])
    goal = scenario.get("goal") if isinstance(scenario, dict) else None
    asked = goal.get("topic") if isinstance(goal, dict) else None
    metadata: dict[str, Json] = {"topic": topic_name(asked if isinstance(asked, str) and asked else name)}
    if scenario is not None and not final:
        metadata["outcome"] = INTERRUPTED  # a history is a part of a conversation
    if final:
        ended = ("user-stopped", "left") if final == _USER else ("system-ended", "system-ended")
        metadata |= {"outcome": ended[0], "reason": ended[1]}
    yield Record({"messages": messages, "metadata": metadata, "id": name}, first)


CAMPAIGN = Shape(
    "campaign",
    "ledgers of `harvest users submit`, with acts, labels and ends",
    _holds_ledger,
    _read_ledger,
    _group_ledger,
)
USERSIM = Shape(
    "usersim",
    "dumps of runs of TREC's User Simulation track, and the histories of its task 1",
    _holds_dump,
    _read_dump,
    _group_dump,
)
