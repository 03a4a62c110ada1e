"""The embedded newsroom as a driver: an assistant for the questions of an audit, whose sources follow a known law."""

from __future__ import annotations

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
from topics.identity import generator
from topics.question_table import read_questions
from topics.source_file import load_sources
from topics.topic import TopicSet


class Options(StrictModel):
    """Options of a newsroom: the law by which it shows sources, and the week in which it is asked."""

    profile: Literal["plain", "partial", "local", "drifting"] = Field(
        default="plain", description="The law by which sources are shown: see docs/demo-news.md."
    )
    week: int = Field(
        default=1, ge=1, le=10_000, description="The week: `drifting` shows fewer authorities from week 3 on."
    )


class NewsroomDriver(NothingHeld):
    """Driver for one newsroom. `clock` gives the times of turns."""

    capabilities = Capabilities(stateful=False, editable_history=True, tokens=False)

    def __init__(self, newsroom: Newsroom, clock: Clock) -> None:
        self._newsroom, self._clock = newsroom, clock

    async def open(self, opening: Opening) -> _Session:
        """Open a session that draws from the seed of `opening` and ignores its topic, trial and history."""
        return _Session(self._newsroom, generator(opening.seed, "newsroom", len(opening.history)), self._clock)


class _Session(NothingHeld):
    def __init__(self, newsroom: Newsroom, draws: numpy.random.Generator, clock: Clock) -> None:
        self._newsroom, self._draws, self._clock = newsroom, draws, clock

    async def say(self, text: str) -> Reply:
        watch = Stopwatch(self._clock)
        answer = self._newsroom.answer(text, self._draws)
        watch.mark()
        return Reply(SystemTurn(answer, watch.asked_at, watch.first_seconds, watch.seconds, finish="stop"))


def build(options: Options, surroundings: Surroundings) -> NewsroomDriver:
    """Build a newsroom for the questions and the table of sources of the audit. What the audit lacks is taken from the
    shipped audit `demo-news`."""
    topics = surroundings.topics or _demo_topics()
    table = topics.sources if topics.sources.entries else _demo_topics().sources
    newsroom = Newsroom(topics.topics, table, LAWS[options.profile], options.week)
    return NewsroomDriver(newsroom, surroundings.clock)


@lru_cache(maxsize=1)
def _demo_topics() -> TopicSet:
    folder = Path(str(resources.files("harvest") / "audits" / "demo-news"))
    return replace(read_questions(folder / "questions.csv"), sources=load_sources(folder / "sources.yaml"))
