"""Outlines as arrays and JSON, so that they can be kept in a file."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from protocols.answer import Answer
from protocols.route import Route
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, TrialKey, Turn
from recordings.conversations.outlines import Bodies, Outlines
from recordings.files.json_text import Json

_ARRAYS = ("system", "topic", "trial", "attempt", "outline", "started", "words")
_BODIES = ("row", "words", "address")


def outline_arrays(of: Outlines) -> dict[str, Any]:
    """Return the arrays of outlines, by name."""
    bodies = {f"body {name}": getattr(of.bodies, name) for name in _BODIES}
    return {**{name: getattr(of, name) for name in _ARRAYS}, **bodies, "lengths": of.lengths}


def outline_json(of: Outlines) -> dict[str, Json]:
    """Return all of outlines that is not an array."""
    examples: list[Json] = [
        {
            "key": [one.key.system, one.key.topic, one.key.trial],
            "attempt": one.attempt,
            "place": one.place,
            "turns": [_turn_row(turn) for turn in one.turns],
            "end": None if (end := one.outcome) is None else [end.kind, end.reason, end.detail, end.missing],
            "traits": dict(traits),
        }
        for one, traits in of.examples
    ]
    return {"systems": list(of.systems), "topics": list(of.topics), "examples": examples}


def _turn_row(turn: Turn) -> Json:
    reply, route = turn.reply, turn.route
    return [
        *(turn.number, turn.state, turn.user, turn.act, turn.worded),
        None if reply is None else [reply.finish, reply.model, list(reply.notes), reply.ended],
        None if route is None else [route.turn, route.state, route.label, route.rule, route.version, route.target],
    ]


def read_outlines(value: Mapping[str, Any], arrays: Mapping[str, Any]) -> Outlines:
    """Return the outlines that `outline_json` and `outline_arrays` described. Raises ValueError, TypeError, LookupError
    or AttributeError for anything else."""
    examples = [
        (
            Conversation(
                TrialKey(*one["key"]),
                "",
                one["attempt"],
                tuple(map(_read_turn, one["turns"])),
                None if one["end"] is None else Outcome(*one["end"]),
                place=one["place"],
            ),
            {name: tuple(trait) if isinstance(trait, list) else trait for name, trait in one["traits"].items()},
        )
        for one in value["examples"]
    ]
    found = Outlines(
        tuple(value["systems"]),
        tuple(value["topics"]),
        examples,
        **{name: arrays[name] for name in _ARRAYS},
        bodies=Bodies(*(arrays[f"body {name}"] for name in _BODIES)),
        lengths=arrays["lengths"],
    )
    sizes = {len(arrays[name]) for name in _ARRAYS}
    if len(sizes) != 1 or (found.outline.size and int(np.max(found.outline)) >= len(examples)):
        raise ValueError("these outlines do not belong together")
    if len(found.replies_at(np.arange(len(found)))) != len(found.lengths):
        raise ValueError("these outlines do not belong together")
    return found


def _read_turn(row: Sequence[Any]) -> Turn:
    number, state, user, act, worded, reply, route = row
    taken = None
    if route is not None:
        of, where, label, rule, version, target = route
        taken = Route(of, where, label, rule, version, (), target)
    finish, model, notes, ended = reply if reply is not None else ("", "", (), False)
    return Turn(
        number,
        state,
        "",
        None if reply is None else SystemTurn(Answer(""), finish=finish, model=model, notes=tuple(notes), ended=ended),
        taken,
        user,
        act,
        worded,
    )
