"""Export of a run as a flat table, a row for each turn, as CSV or Parquet.

`recordings.formats.shapes.audit_table` reads it back. Both kinds of files have the columns in `TABLE_COLUMNS`, and
those of the run's design, such as `language` and `country`, if it has one.
"""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from recordings.conversations.answer_parts import offer_row, reply_row
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, Turn
from recordings.files.json_text import encode_line
from recordings.log.exports import write_export
from recordings.log.header import Header
from topics.errors import InputError, Place
from topics.sent_files import file_row

PARQUET = ".parquet"
_WORKBOOKS = (".xlsx", ".xls", ".ods", ".numbers")
_NO_OUTCOME = Outcome("interrupted")
# Values of `parts` that have a column of their own, or are as many as the pieces of a stream.
_NOT_IN_PARTS = ("asked_at", "first_seconds", "seconds", "finish", "model", "pieces")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table. `kind` is what its cells hold; each may also be empty. `value` returns the cell of a turn,
    or None if it is empty."""

    name: str
    kind: Literal["text", "whole", "number", "yes or no"]
    value: Callable[[Conversation, Turn], str | int | float | bool | None]


def _of_reply(read: Callable[[SystemTurn], Any]) -> Callable[[Conversation, Turn], Any]:
    return lambda _, turn: None if turn.reply is None else read(turn.reply)


def _of_outcome(read: Callable[[Outcome], Any]) -> Callable[[Conversation, Turn], Any]:
    return lambda one, _: read(one.outcome or _NO_OUTCOME)


def _links(reply: SystemTurn) -> str:
    return _json([[link.text, link.href] for link in reply.answer.links])


def _parts(reply: SystemTurn) -> str | None:
    row = {key: value for key, value in reply_row(reply).items() if key not in _NOT_IN_PARTS}
    return _json(row) if row else None


def _sources(reply: SystemTurn) -> str | None:
    """Return the addresses of the sources that came with an answer, or their titles, each once, with `; ` between."""
    named = (source.href or source.title for source in reply.answer.sources)
    return "; ".join(dict.fromkeys(one.replace(";", "%3B") for one in named if one)) or None


def _json(value: Any) -> str:
    return encode_line(value).decode().rstrip("\n")


TABLE_COLUMNS: tuple[Column, ...] = (
    Column("system", "text", lambda one, _: one.key.system),
    Column("topic", "text", lambda one, _: one.key.topic),
    Column("trial", "whole", lambda one, _: one.key.trial),
    Column("attempt", "whole", lambda one, _: one.attempt),
    Column("turn", "whole", lambda _, turn: turn.number),
    Column("state", "text", lambda _, turn: turn.state),
    Column("act", "text", lambda _, turn: turn.act),
    Column("prompt", "text", lambda _, turn: turn.said),
    Column("pressed", "text", lambda _, turn: _json(offer_row(turn.pressed)) if turn.pressed else None),
    Column(
        "attached", "text", lambda _, turn: _json([file_row(one) for one in turn.attached]) if turn.attached else None
    ),
    Column("answered", "yes or no", lambda _, turn: turn.reply is not None),
    Column("answer", "text", _of_reply(lambda reply: reply.answer.text)),
    Column("label", "text", lambda _, turn: turn.label),
    Column("refused", "yes or no", _of_reply(lambda reply: reply.answer.refused)),
    Column("ending", "text", _of_reply(lambda reply: reply.ending)),
    Column("links", "text", _of_reply(_links)),
    Column("sources", "text", _of_reply(_sources)),
    Column("asked_at", "text", _of_reply(lambda reply: reply.asked_at)),
    Column("first_seconds", "number", _of_reply(lambda reply: reply.first_seconds)),
    Column("seconds", "number", _of_reply(lambda reply: reply.seconds)),
    Column("answered_by", "text", _of_reply(lambda reply: reply.model)),
    Column("finish", "text", _of_reply(lambda reply: reply.finish)),
    Column("prompt_tokens", "whole", _of_reply(lambda reply: reply.tokens.get("prompt"))),
    Column("completion_tokens", "whole", _of_reply(lambda reply: reply.tokens.get("completion"))),
    Column("parts", "text", _of_reply(_parts)),
    Column("valid", "yes or no", lambda one, _: one.valid),
    Column("outcome", "text", _of_outcome(lambda outcome: outcome.kind)),
    Column("reason", "text", _of_outcome(lambda outcome: outcome.reason)),
    Column("detail", "text", _of_outcome(lambda outcome: outcome.detail)),
    Column("missing", "whole", _of_outcome(lambda outcome: outcome.missing)),
    Column("played_by", "text", lambda one, _: one.user),
    Column("member", "text", lambda one, _: one.member),
    Column("session", "text", lambda one, _: one.session),
    Column("place", "whole", lambda one, _: one.place),
    Column("worker", "text", lambda one, _: one.worker),
    Column("started_at", "text", lambda one, _: one.started_at),
    Column("ended_at", "text", lambda one, _: one.ended_at),
    Column("id", "text", lambda one, _: one.trial_id),
)

# A factor that is called as a column of every table.
_OTHER_NAMES = {column.name: f"{column.name} (factor)" for column in TABLE_COLUMNS} | {"place": "asked_from"}


def cell_columns(header: Header) -> Mapping[str, Mapping[str, str]]:
    """Return the cell of each recorded system that was played in a design: the assistant, the level of each factor, and
    the declared facts about its place."""
    found = {}
    for name, definition in header.systems.items():
        match definition:
            case {"system": str(assistant), "levels": dict(levels), **rest}:
                match rest.get("changes"):
                    case {"place": dict(about)}:
                        declared = {str(key): str(value) for key, value in about.items() if key != "name"}
                    case _:
                        declared = {}
                own = {"assistant": assistant, **{str(key): str(value) for key, value in levels.items()}, **declared}
                found[name] = {_OTHER_NAMES.get(key, key): value for key, value in own.items()}
    return found


def write_table(
    conversations: Iterable[Conversation],
    path: str | PathLike[str],
    cells: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
) -> None:
    """Write the turns of the conversations to `path`, completely or not at all: as Parquet if its name ends in
    `.parquet`, else as CSV. `cells` has further columns by system (`cell_columns`). Characters that UTF-8 or CSV cannot
    hold (lone surrogates, NUL) become U+FFFD. Raises InputError for the name of a workbook, or if Parquet is wanted and
    pyarrow is not installed, and the errors of `write_export`."""
    if Path(path).suffix.casefold() in _WORKBOOKS:
        raise InputError(
            "a table is written as CSV or Parquet, not as a workbook",
            place=Place.of(path),
            advice="choose a name that ends in .csv, which spreadsheets open",
        )
    further = tuple(dict.fromkeys(name for own in cells.values() for name in own))
    columns = (*TABLE_COLUMNS, *(_cell_column(name, cells) for name in further))
    rows = [[_writable(column.value(one, turn)) for column in columns] for one in conversations for turn in one.turns]
    if Path(path).suffix.casefold() == PARQUET:
        write_export(path, _parquet(rows, columns, path))
        return
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(column.name for column in columns)
    writer.writerows([_YES_NO.get(cell, cell) if isinstance(cell, bool) else cell for cell in row] for row in rows)
    write_export(path, out.getvalue().encode())


_YES_NO: Mapping[Any, str] = {True: "yes", False: "no"}


def _writable(cell: Any) -> Any:
    if isinstance(cell, str):
        return cell.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "\ufffd")
    return cell


def _cell_column(name: str, cells: Mapping[str, Mapping[str, str]]) -> Column:
    return Column(name, "text", lambda one, _: cells.get(one.key.system, {}).get(name))


def _parquet(rows: list[list[Any]], columns: Sequence[Column], path: str | PathLike[str]) -> bytes:
    arrow, parquet = load_pyarrow(path)
    kinds = {"text": arrow.string(), "whole": arrow.int64(), "number": arrow.float64(), "yes or no": arrow.bool_()}
    schema = arrow.schema([(column.name, kinds[column.kind]) for column in columns])
    values = [[row[at] for row in rows] for at in range(len(columns))]
    out = io.BytesIO()
    parquet.write_table(arrow.table(values, schema=schema), out)
    return out.getvalue()


def load_pyarrow(path: str | PathLike[str]) -> tuple[Any, Any]:
    """Return pyarrow and its module for Parquet. Raises InputError, with the file, if pyarrow is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError(
            "Parquet needs pyarrow, which is not installed",
            place=Place.of(path),
            advice="pip install 'conversation-harvest[parquet]', or use CSV",
        ) from None
    return pyarrow, pyarrow.parquet
