"""The embedded newsroom as a driver: an assistant for the questions of an audit, whose sources follow a known law."""

from dataclasses import replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Literal

import numpy
from pydantic import Field

from harvest.parrot.newsroom import LAWS, Newsroom
from harvest.systems.driver import Capabilities, NothingHeld, Opening, Reply, Surroundings
from harvest.systems.timing import Clock, Stopwatch
from recordings.conversations.conversation import SystemTurn
from topics.document import StrictModel
from topics.errors import InputError, Place
from topics.identity import generator
from topics.question_table import read_questions
from topics.source_file import load_sources
from topics.text_file import read_text
from topics.topic import TopicSet


class Options(StrictModel):
    """Options of a newsroom: the law by which it cites sources, and the day."""

    profile: Literal["plain", "partial", "local", "drifting"] = Field(
        default="plain", description="The law by which sources are shown: see docs/demo-news.md."
    )
    week: int = Field(
        default=1, ge=1, le=10_000, description="The week: `drifting` shows fewer authorities from week 3 on."
    )

    calendar: str = Field(
        default="",
        description="A file with the number of the day, from 1, instead of `week`: each day has answers of its own.",
    )


class NewsroomDriver(NothingHeld):
    """Driver for one newsroom. `clock` is used for the times of turns. On each `day`, the same seeds draw other
    answers."""

    capabilities = Capabilities(stateful=False, editable_history=True, tokens=False)

    def __init__(self, newsroom: Newsroom, clock: Clock, day: int | None = None) -> None:
        self._newsroom, self._clock = newsroom, clock
        self._purpose = ("newsroom",) if day is None else ("newsroom", str(day))

    async def open(self, opening: Opening) -> "_Session":
        """Open a session that draws from the seed of `opening` and ignores its topic, trial and history."""
        draws = generator(opening.seed, *self._purpose, len(opening.history))
        return _Session(self._newsroom, draws, self._clock)


class _Session(NothingHeld):
    def __init__(self, newsroom: Newsroom, draws: numpy.random.Generator, clock: Clock) -> None:
        self._newsroom, self._draws, self._clock = newsroom, draws, clock

    async def say(self, text: str) -> Reply:
        watch = Stopwatch(self._clock)
        answer = self._newsroom.answer(text, self._draws)
        watch.mark()
        return Reply(SystemTurn(answer, watch.asked_at, watch.first_seconds, watch.seconds, finish="stop"))


def build(options: Options, surroundings: Surroundings) -> NewsroomDriver:
    """Build a newsroom for the questions and the table of sources of the audit. Missing parts are taken from the
    shipped audit `demo-news`."""
    topics = surroundings.topics or _demo_topics()
    table = topics.sources if topics.sources.entries else _demo_topics().sources
    day = _read_day(surroundings.folder / options.calendar) if options.calendar else None
    week = options.week if day is None else 1 + (day - 1) // 7
    return NewsroomDriver(Newsroom(topics.topics, table, LAWS[options.profile], week), surroundings.clock, day)


def _read_day(path: Path) -> int:
    text = read_text(path, "a day").strip()
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:6]) == int(text)):
        raise InputError("this is not the number of a day", place=Place(str(path)), allowed="a whole number from 1")
    return int(text)


@lru_cache(maxsize=1)
def _demo_topics() -> TopicSet:
    folder = Path(str(resources.files("harvest") / "audits" / "demo-news"))
    return replace(read_questions(folder / "questions.csv"), sources=load_sources(folder / "sources.yaml"))
