"""Recognition of the format of a file by its first bytes, or by the keys of its first JSON value."""

from collections.abc import Sequence
from pathlib import Path

from recordings.files.json_text import Json
from recordings.formats.message_shapes import is_conversation
from recordings.formats.parquet_rows import PARQUET_MARK, parquet_rows
from recordings.formats.shapes.audit_table import is_table
from recordings.formats.shapes.library import SHAPES
from recordings.formats.shapes.shape import has_keys
from recordings.formats.shapes.trec import IKAT, TOPICS
from topics.errors import InputError, Place
from topics.json_file import value_at
from topics.regular_file import read_blocks, read_bytes


def recognise_format(files: Sequence[Path]) -> str:
    """Return the name of the format of the files, "" if it is not recognised. iKAT topics next to iKAT runs are read
    as part of the runs. Raises InputError if the files differ, or if they contain no answers."""
    found = {file: _format_of(file) for file in files}
    names = set(found.values())
    if names == {IKAT.name, TOPICS.name}:
        return IKAT.name
    if len(names) > 1:
        told = ", ".join(f"{file.name}: {name or 'unknown'}" for file, name in list(found.items())[:8])
        raise InputError(f"the files have different formats ({told})", advice="import each format with its own command")
    return names.pop()


def _format_of(file: Path) -> str:
    data = next(read_blocks(file), b"")  # the first block says what it is; only JSON may have to be read whole
    if data.startswith(b"PK\x03\x04"):
        return "inspect"
    if data.startswith(PARQUET_MARK):
        row = next(iter(parquet_rows(data, str(file))), None)
        return "messages" if row is not None and is_conversation(row.value) else "table"
    text = data.decode("utf-8-sig", "replace").lstrip()
    if text.startswith("#####"):
        return "gfrc"
    if not text.startswith(("{", "[")):
        # A table whose columns have other names is named as one, so that the message says what to do about its columns.
        return "table" if is_table(data) or file.suffix.casefold() in (".csv", ".tsv") else ""
    text = read_bytes(file).decode("utf-8-sig", "replace").lstrip()
    # Only the first record of a list is read, because the list may be long.
    inside = text[1:].lstrip() if text.startswith("[") else text
    value, _, fault = value_at(inside if inside.startswith("{") else text, 0, str(file))
    if fault is not None:
        return ""
    if is_conversation(value):
        return "messages"
    for name, holds in _OLDER.items():
        if holds(value):
            return name
    for name, shape in SHAPES.items():
        if shape.holds(value):
            return name
    if has_keys(value, "annotations", "data") or has_keys(value, "instance_id_to_label_to_value"):
        raise InputError(
            "this file contains judgments of conversations in a run, not conversations",
            place=Place.of(file),
            advice="import them into that run: harvest judge sheet RUN --import FILE",
        )
    if _has_queries(value):
        raise InputError(
            "these are search sessions, which have no answers, so there is no conversation to import",
            place=Place.of(file),
            advice="to learn simulated users from them, give the file to `harvest users fit` as it is",
        )
    return ""


def _has_queries(value: Json) -> bool:
    return (
        isinstance(value, dict)
        and bool(value)
        and all(isinstance(one, list) and all(isinstance(each, str) for each in one) for one in value.values())
    )


def _first(value: Json, key: str) -> Json:
    held = value.get(key) if isinstance(value, dict) else None
    return held[0] if isinstance(held, list) and held else None


def _is_dbdc(value: Json) -> bool:
    return has_keys(value, "dialogue-id", "turns") or has_keys(_first(value, "dialogues"), "id", "turns")


def _is_dialeval(value: Json) -> bool:
    return has_keys(_first(value, "turns"), "sender", "utterances")


def _is_cast_tree(value: Json) -> bool:
    return has_keys(value, "number", "turn") and has_keys(_first(value, "turn"), "participant")


_OLDER = {"dbdc": _is_dbdc, "dialeval": _is_dialeval, "cast2022": _is_cast_tree}
