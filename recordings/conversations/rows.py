"""A run as tidy rows: one row for each attempt or each user turn, with every value in a named column.

    turn_rows(run.finished)                a list of dicts for csv.DictWriter, pandas or polars
    data_frame(turn_rows(run.finished))    a data frame of these rows, if pandas or polars is installed
    turn_rows(run.finished, run="may")     rows with the name of the run, for a table of several runs

Unknown values are None, never a number.
"""

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from protocols.answer import Answer
from recordings.conversations.conversation import Conversation, SystemTurn
from topics.languages import language_of

# Libraries of data frames, in order of preference.
DATA_FRAME_LIBRARIES = ("pandas", "polars")


def conversation_rows(conversations: Iterable[Conversation], run: str | None = None) -> list[dict[str, Any]]:
    """Return one row for each attempt, with its names, its end, and its number of user turns.

    `run` is the name of the run in each row. The columns are run (None if not given), system, topic, trial, attempt,
    user, valid, outcome, reason (both "" if the recording breaks off), turns (asked), missing (turns that would have
    followed; None if unknown), session, place, worker, started_at and ended_at (UTC, ISO 8601; "" if unknown).
    """
    return [
        {
            **_attempt_columns(one, run),
            "user": one.user,
            "valid": one.valid,
            "outcome": one.outcome.kind if one.outcome else "",
            "reason": one.outcome.reason if one.outcome else "",
            "turns": len(one.turns),
            "missing": one.outcome.missing if one.outcome else None,
            "session": one.session,
            "place": one.place,
            "worker": one.worker,
            "started_at": one.started_at,
            "ended_at": one.ended_at,
        }
        for one in conversations
    ]


def turn_rows(conversations: Iterable[Conversation], run: str | None = None) -> list[dict[str, Any]]:
    """Return one row for each user turn that was asked.

    `run` is the name of the run in each row. The columns are run (None if not given), system, topic, trial, attempt,
    valid, turn (from 1), state, act, said, answer (None if no complete answer came), label (`o`, `x`, or None if no
    decision was recorded), links (the number of links; None if there is no answer), sources, calls, offers and
    attachments (also numbers), thoughts (text), refused, ending (`whole`, `cut`, `filtered`, `refused`, or "" if
    unknown), language (a code such as `de`, or "" if it cannot be detected), asked_at, first_seconds and seconds (from
    sending to the first and to the last piece), finish, model, sends, ended.
    """
    return [
        {
            **_attempt_columns(one, run),
            "valid": one.valid,
            "turn": turn.number,
            "state": turn.state,
            "act": turn.act,
            "said": turn.said,
            "label": turn.label,
            **_reply_columns(turn.reply),
        }
        for one in conversations
        for turn in one.turns
    ]


def data_frame(rows: Sequence[Mapping[str, Any]], library: str = "") -> Any:
    """Return the rows as a DataFrame of `library`, which is `pandas` or `polars`; "" uses the first of the two that is
    installed. Lone surrogates, which a system can send but no data frame can store, become U+FFFD. Raises ValueError
    for another library, and ImportError if no suitable library is installed."""
    if library and library not in DATA_FRAME_LIBRARIES:
        raise ValueError(f"unknown data frame library {library!r}; allowed: {', '.join(DATA_FRAME_LIBRARIES)}")
    found = [name for name in (library, *DATA_FRAME_LIBRARIES) if name and find_spec(name)]
    if not found or (library and found[0] != library):
        raise ImportError(
            f"a data frame needs {library or ' or '.join(DATA_FRAME_LIBRARIES)}: pip install {library or 'pandas'}"
        )
    module = import_module(found[0])
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return module.DataFrame({name: [_replace_surrogates(row.get(name)) for row in rows] for name in columns})


def _replace_surrogates(value: Any) -> Any:
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def _attempt_columns(one: Conversation, run: str | None) -> dict[str, Any]:
    key = one.key
    return {"run": run, "system": key.system, "topic": key.topic, "trial": key.trial, "attempt": one.attempt}


def _reply_columns(reply: SystemTurn | None) -> dict[str, Any]:
    if reply is None:
        return dict.fromkeys(_reply_columns(SystemTurn(Answer(""))))
    answer = reply.answer
    return {
        "answer": answer.text,
        "links": len(answer.links) + answer.links_left_out,
        "sources": len(answer.sources),
        "calls": len(answer.calls),
        "offers": len(answer.offers),
        "attachments": len(answer.attachments),
        "thoughts": answer.thoughts,
        "refused": answer.refused,
        "ending": reply.ending,
        "language": language_of(answer.text),
        "asked_at": reply.asked_at,
        "first_seconds": reply.first_seconds,
        "seconds": reply.seconds,
        "finish": reply.finish,
        "model": reply.model,
        "sends": reply.sends,
        "ended": reply.ended,
    }
