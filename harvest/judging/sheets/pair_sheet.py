"""Sheets of blind pairs: a person chooses between two conversations that are shown side by side. A sheet does not
reveal system, run or trial. When it is read, each row is checked against the texts that were handed out."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from harvest.judging.sheets.sheet_file import LONGEST_CELL, escape_text, read_rows, restore_cell, write_rows
from recordings.conversations.conversation import Conversation
from topics.errors import InputError, Place

COLUMNS = ("pair", "topic", "left", "right", "preference", "note", "annotator")
_NEEDED_COLUMNS = ("pair", "left", "right", "preference")

# tie: neither is better. unsure: the person cannot judge; not a tie, and left out of figures.
CHOICES = ("left", "right", "tie", "unsure")

# End of the name of an author that is not a person.
UNCHECKED = "(model, unchecked)"

# Characters of a conversation that are compared: no spreadsheet has cut these off.
_COMPARED_CHARACTERS = LONGEST_CELL // 2


@dataclass(frozen=True, slots=True)
class BlindPair:
    """Two conversations on one topic. `number` is the position of the pair in the sheet, starting at 1."""

    number: int
    topic: str
    left: Conversation
    right: Conversation


@dataclass(frozen=True, slots=True)
class Preference:
    """One person's choice (one of `CHOICES`) between the conversations of a pair."""

    pair: int
    annotator: str
    choice: str


@dataclass(frozen=True, slots=True)
class PairRows:
    """The preferences in a sheet, and the number of rows without a preference."""

    preferences: tuple[Preference, ...]
    empty: int


def transcript(conversation: Conversation) -> str:
    """Return the text of a conversation as people read it, with the speaker before each turn."""
    parts = []
    for turn in conversation.turns:
        parts.append(f"USER: {turn.said}")
        if turn.reply is not None:
            parts.append(f"SYSTEM: {turn.reply.answer.text}")
    return "\n\n".join(parts)


def text_hash(left: str, right: str) -> str:
    """Return a hash of a row's texts that ignores white space and text that spreadsheets may have cut off."""
    texts = [" ".join(escape_text(text).split())[:_COMPARED_CHARACTERS] for text in (left, right)]
    return hashlib.blake2b("\0".join(texts).encode(), digest_size=16).hexdigest()


def write_pairs(pairs: Iterable[BlindPair], path: str | PathLike[str]) -> int:
    """Write the sheet and return the number of rows. Raises the errors of `sheet_file.write_rows`."""
    rows = (
        {
            "pair": str(one.number),
            "topic": one.topic,
            "left": transcript(one.left),
            "right": transcript(one.right),
        }
        for one in pairs
    )
    return write_rows(rows, COLUMNS, path)


def read_preferences(path: str | PathLike[str], texts: Mapping[int, str]) -> PairRows:
    """Read the choices. `texts` maps the number of each pair that was handed out to its `text_hash`. If the column
    `annotator` is empty, the name of the file is the annotator. Raises InputError, with file, line and column,
    for the first faulty row: an invalid choice, a pair that was not handed out, changed texts, or a pair that
    one person judged twice. Also raises InputError if no row has a choice."""
    found: list[Preference] = []
    seen: dict[tuple[int, str], Place] = {}
    empty = 0
    for row in read_rows(path, COLUMNS, _NEEDED_COLUMNS):
        if not any(row.cells.values()):
            continue
        number = row.number("pair")
        if number not in texts:
            raise row.error(
                "pair", f"pair {number} is not in the key", advice="give the --key that was written with this sheet"
            )
        if text_hash(restore_cell(row.get("left")), restore_cell(row.get("right"))) != texts[number]:
            raise row.error(
                "left",
                f"these are not the conversations of pair {number}",
                advice="give the --key that was written with this sheet, and fill in only 'preference' and 'note'",
            )
        if not row.get("preference"):
            empty += 1
            continue
        annotator = restore_cell(row.get("annotator")) or Path(path).stem
        first = seen.setdefault((number, annotator), row.place)
        if first is not row.place:
            raise row.error(
                "pair", f"{annotator} already judged this pair in line {first.line}", advice="keep one of the two rows"
            )
        choice = row.get("preference").casefold()
        if choice not in CHOICES:
            raise row.error(
                "preference",
                f"preference: {row.get('preference')[:40]!r} is not a choice",
                allowed=f"{', '.join(CHOICES)}, or nothing to leave it out",
            )
        found.append(Preference(number, annotator, choice))
    if not found:
        raise InputError(
            "no row of this sheet has a preference",
            place=Place.of(path),
            allowed=", ".join(CHOICES),
            advice="fill in the column 'preference'",
        )
    return PairRows(tuple(found), empty)
