"""Annotation sheets: tables for people to fill in, with one row for each thing and criterion.

Rows have no scores, so that people do not see the opinions of others. `harvest.judging.sheets.filled_sheet` reads
the filled-in sheets.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING

from harvest.judging.sheets.pair_sheet import transcript
from harvest.judging.sheets.sheet_file import Row, write_rows
from recordings.conversations.conversation import Conversation, Turn
from scoring.swan.assessment import Assessment
from scoring.swan.item import Item
from scoring.swan.schema import Criterion
from topics.identity import content_hash

if TYPE_CHECKING:
    import numpy

# Columns for people come first, and those for the import last. No column names the system.
COLUMNS = (
    "topic",
    "turn",
    "speaker",
    "said",
    "text",
    "context",
    "sources",
    "criterion",
    "question",
    "value",
    "note",
    "type",
    "act",
    "attempt",
    "start",
    "end",
    "id",
)

# Columns of rows, including those of older sheets that were not blind.
OPEN_COLUMNS = ("system", "trial")

_CONTEXT_CHARACTERS = 160  # characters before and after a nugget
_SEPARATOR = "\n\n– – –\n\n"


@dataclass(frozen=True, slots=True)
class Assessed:
    """A recorded conversation with its items."""

    conversation: Conversation
    assessment: Assessment


def row_counts(assessed: Sequence[Assessed], criteria: Iterable[Criterion]) -> dict[str, int]:
    """Return the number of rows for each criterion, in the order given."""
    sets = len({(one.conversation.key.system, one.conversation.key.topic) for one in assessed})
    return {
        one.name: sets if one.level == "set" else sum(len(each.assessment.items.get(one.name, ())) for each in assessed)
        for one in criteria
    }


def sheet_rows(assessed: Sequence[Assessed], criterion: Criterion) -> Iterator[Row]:
    """Yield the rows of one criterion in the order of the conversations. Sets have one row for each system and
    topic. `text` is the text to score, `said` the preceding turn of the other side, and `context` the text
    around a part of a turn. `sources` are the documents that the system showed beside its turn. A whole conversation is
    written as in a sheet of pairs. `trial` is the trial's number, and `id` its identity."""
    asked = {"criterion": criterion.name, "question": question_text(criterion.question, criterion.values)}
    if criterion.level == "set":
        sets: dict[tuple[str, str], list[Conversation]] = {}
        for one in assessed:
            sets.setdefault((one.conversation.key.system, one.conversation.key.topic), []).append(one.conversation)
        for (system, topic), every in sets.items():
            words = _SEPARATOR.join(map(transcript, every))
            yield {**asked, "system": system, "topic": topic, "text": words, "id": set_id(system, topic)}
        return
    for one in assessed:
        key = one.conversation.key
        replies = {turn.number: turn for turn in one.conversation.turns}
        acts = {nugget.span: nugget.act for nugget in one.assessment.nuggets if nugget.type != "E"}
        for item in one.assessment.items.get(criterion.name, ()):
            if not item.turn:
                yield {
                    **asked,
                    "system": key.system,
                    "topic": key.topic,
                    "trial": str(key.trial),
                    "text": transcript(one.conversation),
                    "attempt": str(one.conversation.attempt),
                    "id": one.conversation.trial_id,
                }
                continue
            said, text = item_texts(replies, item)
            reply = replies[item.turn].reply if item.speaker == "system" else None
            part = {} if item.start < 0 else {"start": str(item.start), "end": str(item.end)}
            yield {
                **asked,
                "system": key.system,
                "topic": key.topic,
                "trial": str(key.trial),
                "turn": str(item.turn),
                "speaker": item.speaker,
                "said": said,
                "text": text[item.start : item.end] if part else text,
                "context": _marked_context(text, item.start, item.end) if part else "",
                "sources": "\n".join(dict.fromkeys(one.shown for one in reply.answer.sources)) if reply else "",
                "type": item.type,
                "act": acts.get((item.turn, item.speaker, item.start, item.end), ""),
                "attempt": str(one.conversation.attempt),
                "id": one.conversation.trial_id,
                **part,
            }


def question_text(question: str, values: Iterable[tuple[str, str]]) -> str:
    """Return the question on a sheet: the question of a criterion, and its values with their meanings if it has
    values."""
    meanings = "; ".join(f"{name}: {meaning}" if meaning else name for name, meaning in values)
    return " – ".join(filter(None, (question, meanings)))


def item_texts(turns: Mapping[int, Turn], item: Item) -> tuple[str, str]:
    """Return the text of the other side before an item, and the turn that contains the item. `turns` are by number."""
    turn = turns[item.turn]
    if item.speaker == "user":
        before = turns.get(item.turn - 1)
        return before.reply.answer.text if before is not None and before.reply else "", turn.said
    return turn.said, turn.reply.answer.text if turn.reply else ""


def _marked_context(text: str, start: int, end: int) -> str:
    before, after = text[max(0, start - _CONTEXT_CHARACTERS) : start], text[end : end + _CONTEXT_CHARACTERS]
    left = "…" if start > _CONTEXT_CHARACTERS else ""
    right = "…" if end + _CONTEXT_CHARACTERS < len(text) else ""
    return f"{left}{before}⟦{text[start:end]}⟧{after}{right}"


def sample_rows(rows: Iterable[Row], count: int, rng: "numpy.random.Generator") -> list[Row]:
    """Return `count` of the rows in their order, or all rows if there are fewer. This is systematic sampling from a
    random start. Rows are ordered by topic, then by system, and then at random. Every row is equally likely. Every
    topic, and nearly every system within a topic, has its share of the sample, rounded up or down. Plain means of a
    sample therefore estimate plain means of all rows."""
    every = list(rows)
    if count >= len(every):
        return every
    chance = rng.permutation(len(every)).tolist()
    sizes = Counter((row["topic"], row["system"]) for row in every)
    place = {cell: at for at, cell in enumerate(sorted(sizes))}
    if min(sizes.values()) * count < len(every):
        # A step over whole systems: in one order for all topics, it could meet the same few of them each time.
        place = dict(zip(place, rng.permutation(len(sizes)).tolist(), strict=True))
    cells = [(row["topic"], place[row["topic"], row["system"]]) for row in every]
    order = sorted(range(len(every)), key=lambda i: (*cells[i], chance[i]))
    start = float(rng.random())
    return [every[i] for i in sorted(order[int((start + k) * len(every) / count)] for k in range(count))]


def set_id(system: str, topic: str) -> str:
    """Return the id of the conversations of a system on a topic, for sheets that do not name the system."""
    return content_hash("harvest-set", [system, topic])


def shuffle_rows(rows: Sequence[Row], rng: "numpy.random.Generator") -> list[Row]:
    """Shuffle the conversations within each criterion, to separate conversations of one system. Rows of a
    conversation stay together."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["criterion"], row["id"]), []).append(row)
    place = dict(zip(groups, rng.permutation(len(groups)).tolist(), strict=True))
    criteria = {name: i for i, name in enumerate(dict.fromkeys(row["criterion"] for row in rows))}
    order = sorted(groups, key=lambda group: (criteria[group[0]], place[group]))
    return [row for group in order for row in groups[group]]


def write_sheet(rows: Iterable[Row], path: str | PathLike[str], columns: Sequence[str] = COLUMNS) -> int:
    """Write the rows to a `.csv` or `.jsonl` file and return their number. Raises the errors of
    `sheet_file.write_rows`."""
    return write_rows(rows, columns, path)
