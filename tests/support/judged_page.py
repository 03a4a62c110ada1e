"""The page on which people judge, served in this process."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harvest.judging.serving.desk import Desk, scale_choices, value_choices
from harvest.judging.serving.questions import Question, Sameness, questions
from harvest.judging.serving.serving import serve_desk
from harvest.judging.sheets.asked_rows import Draw, assess_run, select_rows
from harvest.serving.server import bind, make_links
from recordings.judged.decision_book import DecisionBook
from recordings.log.run_folder import read
from scoring.swan.schema import Schema, load_schema

__all__ = ["ServedPage", "asked_of", "desk_of", "served"]

PEOPLE = ("anna", "ben")


def asked_of(
    run: Path, criteria: Sequence[str], *, same: Sameness = "node", schema: str = "sakai-2023"
) -> tuple[Question, ...]:
    return _asked(run, criteria, same, load_schema(schema))


def _asked(run: Path, criteria: Sequence[str], same: Sameness, schema: Schema) -> tuple[Question, ...]:
    assessed = assess_run(run, read(run), schema)
    return questions(select_rows(assessed, schema, criteria, Draw())[0], assessed, sameness=same)


def desk_of(
    run: Path, book: DecisionBook, criteria: Sequence[str], people: Sequence[str] = PEOPLE, schema: str = "sakai-2023"
) -> Desk:
    choices = scale_choices((0.0, 0.5, 1.0))
    values = {one.name: value_choices(one.values) for one in load_schema(schema) if one.values}
    return Desk(run, asked_of(run, criteria, schema=schema), people, book, choices=choices, values=values)


@dataclass(frozen=True, slots=True)
class ServedPage:
    """tokens: by person."""

    run: Path
    port: int
    tokens: dict[str, str]


@contextlib.asynccontextmanager
async def served(run: Path, criteria: Sequence[str]) -> AsyncIterator[ServedPage]:
    book = DecisionBook.open(run)
    listening = bind(0)
    port = int(listening.getsockname()[1])
    tokens, _ = make_links(PEOPLE, port)
    started = asyncio.Event()
    serving = asyncio.create_task(serve_desk(desk_of(run, book, criteria), listening, tokens, started.set))
    try:
        async with asyncio.timeout(10):
            await started.wait()
        yield ServedPage(run, port, tokens)
    finally:
        serving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await serving
        await book.close()
        listening.close()
