"""Runs in TREC format: `topic dummy document rank score name` on each line; the first line may be `<SYSDESC>…`."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from os import PathLike
from types import MappingProxyType

from scoring.rankings.columns import ColumnFile, quote_cell, read_number

_OPENING, _CLOSING = "<SYSDESC>", "</SYSDESC>"


@dataclass(frozen=True, slots=True)
class Run:
    """Ranked lists of one system. `name` is the sixth column, and `description` the text of <SYSDESC>, or "".
    `rankings` has the documents from the top, by topic in the order of the file; ranks decide, not scores. `tied`
    counts documents with the same rank as the document before them; tied documents keep the order of the file. `rising`
    counts documents with a higher score than the document before them, so that rank and score disagree."""

    name: str
    description: str
    rankings: Mapping[str, tuple[str, ...]]
    tied: int = 0
    rising: int = 0


@dataclass(slots=True)
class _List:
    documents: list[str] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)


def read_run(path: str | PathLike[str]) -> Run:
    """Read the run at `path`. Raises InputError, with line and column, for the first fault."""
    file = ColumnFile.read(path, "a TREC run (topic Q0 document rank score name)")
    lists: dict[str, _List] = {}
    name = description = ""
    first = True
    for line, cells in file.rows():
        if first and cells[0].startswith(_OPENING):
            first = False
            text = file.text.split("\n", line)[line - 1].strip()
            if not text.endswith(_CLOSING):
                allowed = f"{_OPENING}…{_CLOSING} on one line"
                raise file.fault(line, 0, f"{_OPENING} is not closed on its line", allowed=allowed)
            description = text[len(_OPENING) : -len(_CLOSING)].strip()
            continue
        first = False
        if len(cells) != 6:
            if cells[0].startswith(_OPENING):
                raise file.fault(line, 0, f"{_OPENING} is not on the first line", allowed="on the first line only")
            raise file.fault(
                line, 6, f"the line has {len(cells)} columns", allowed="six: topic Q0 document rank score name"
            )
        topic, _, document, rank, score, tag = cells
        if not (rank.isascii() and rank.isdigit()) or len(rank) > 18:
            raise file.fault(line, 3, f"{quote_cell(rank)} is not a rank", allowed="a whole number from 0")
        value = read_number(score)
        if not math.isfinite(value):
            raise file.fault(line, 4, f"{quote_cell(score)} is not a score", allowed="a finite number")
        if tag != name:
            if name:
                raise file.fault(
                    line,
                    5,
                    f"the run is called {quote_cell(name)} above and {quote_cell(tag)} here",
                    allowed="one run per file",
                    advice="split the file, or use one name in all lines",
                )
            name = tag
        here = lists.get(topic)
        if here is None:
            here = lists[topic] = _List()
        here.documents.append(document)
        here.ranks.append(int(rank))
        here.scores.append(value)
        here.lines.append(line)
    if not lists:
        raise file.empty("ranked documents")
    rankings = {topic: _order_documents(file, topic, here) for topic, here in lists.items()}
    tied = sum(after == before for here in lists.values() for before, after in pairwise(here.ranks))
    rising = sum(after > before for here in lists.values() for before, after in pairwise(here.scores))
    return Run(name, description, MappingProxyType(rankings), tied, rising)


def _order_documents(file: ColumnFile, topic: str, here: _List) -> tuple[str, ...]:
    if len(set(here.documents)) < len(here.documents):
        seen: set[str] = set()
        for document, line in zip(here.documents, here.lines, strict=True):
            if document in seen:
                raise file.fault(
                    line,
                    2,
                    f"{quote_cell(document)} is listed twice for topic {topic}",
                    allowed="each document once",
                    advice="keep the better rank",
                )
            seen.add(document)
    if any(after < before for before, after in pairwise(here.ranks)):
        order = sorted(range(len(here.ranks)), key=here.ranks.__getitem__)  # stable: ties stay as in the file
        here.documents = [here.documents[place] for place in order]
        here.scores = [here.scores[place] for place in order]
        here.ranks.sort()
    return tuple(here.documents)
