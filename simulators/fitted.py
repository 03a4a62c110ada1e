"""Files of users that were fitted to recordings, `harvest-user/1`: written by `harvest simulate fit`, and played.

    format: harvest-user/1
    name: seekers
    simulator: markov
    source: {files: [acts.jsonl], dialogues: 336, users: 156, decisions: 2597, censored: 0, answers: nothing}
    options: {acts: […], order: 1, smoothing: witten-bell, counts: […], words: {ask: [{{ topic.request }}], …}}
    rows: […]          what the counts say, each share with its interval
    stopping: […]      what stop models make of the same recordings

`options` are those of the simulator, and what is played. A recording does not say how to word an act for another topic:
`words` are for a person to add, and without them the file can be read but not played. `rows` and `stopping` are for
people, and are not played.
"""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Literal

import yaml
from pydantic import Field

from simulators import markov
from simulators.phrasing import Words
from simulators.stopping.library import StopOption
from topics.document import StrictModel, read_document
from topics.errors import InputError, Place

__all__ = ["FORMAT", "Options", "RowEstimate", "Share", "Source", "StopEstimate", "UserFile", "build", "read_user"]

FORMAT = "harvest-user/1"


class Source(StrictModel):
    """What a user was fitted to."""

    files: tuple[str, ...] = Field((), description="names of the runs or files")
    dialogues: int = Field(ge=0)
    users: int = Field(ge=0, description="different persons; each dialogue counts where none is named")
    decisions: int = Field(ge=0, description="acts and leavings")
    censored: int = Field(0, ge=0, description="dialogues that were cut off")
    answers: Literal["nothing", "labels"] = Field("nothing", description="what is looked at of the last answer")


class Share(StrictModel):
    """One outcome of a row. k: how often it was seen. p: the smoothed probability that is played. low, high: the
    interval of the share that was seen, k/n, without smoothing."""

    k: int = Field(ge=0)
    p: float = Field(ge=0, le=1)
    low: float = Field(ge=0, le=1)
    high: float = Field(ge=0, le=1)


class RowEstimate(StrictModel):
    """What followed in one context. n: how often it was seen."""

    after: tuple[str, ...]
    answer: str
    n: int = Field(ge=1)
    next: dict[str, Share]


class Parameter(StrictModel):
    """value with its standard error; neither where the recordings do not settle it."""

    value: float | None = None
    error: float | None = None


class StopEstimate(StrictModel):
    """A stop model by maximum likelihood. chances: decisions it speaks of; AIC are compared where they agree."""

    model: str
    parameters: dict[str, Parameter]
    aic: float | None = None
    chances: int = Field(ge=0)


class UserFile(StrictModel):
    """What a `harvest-user/1` file holds."""

    format: Literal["harvest-user/1"] = "harvest-user/1"
    name: str = Field(min_length=1, pattern=r"^[\w .+-]+$", description="what recordings call the user")
    simulator: Literal["markov"] = "markov"
    about: str = ""
    source: Source
    options: markov.Options
    level: float = Field(0.95, gt=0, lt=1, description="of the intervals")
    rows: tuple[RowEstimate, ...] = ()
    stopping: tuple[StopEstimate, ...] = ()

    def text(self) -> str:
        """The file, as YAML that `read_user` reads back as the same value."""
        value = self.model_dump(mode="json", exclude_none=True)
        options = self.options.model_dump(mode="json", exclude_none=True)
        for name in ("rows", "words"):
            if not options[name]:
                del options[name]
        value["options"] = options
        empty = [name for name in ("about", "rows", "stopping") if not value[name]]
        for name in empty:
            del value[name]
        return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, default_flow_style=None, width=120)


def read_user(path: str | PathLike[str]) -> UserFile:
    """The file at `path`. Raises InputError, with line and column, for what is wrong with it."""
    document = read_document(path)
    named = document.value.get("format") if isinstance(document.value, dict) else None
    if named != FORMAT:
        raise InputError(
            f"not a file of a fitted user: its format is {named!r}", place=document.place(), allowed=f"format: {FORMAT}"
        )
    return document.validated(UserFile)


FILES = ("file",)
"""Options that name files."""


class Options(StrictModel):
    """A fitted user."""

    file: str = Field(min_length=1, description="a harvest-user/1 file")
    words: Words = Field({}, description="by act: ways to say it, in place of the file's")
    stop: StopOption | None = Field(None, description="a stop model in place of the file's")


def build(options: Options) -> markov.MarkovUser:
    """The user that the file describes, under its name. Raises InputError where it cannot be read, or has no words."""
    held = read_user(options.file)
    changed = held.options.model_copy(
        update={
            "words": {**held.options.words, **options.words},
            "stop": options.stop if options.stop is not None else held.options.stop,
        }
    )
    try:
        return replace(markov.build(changed), name=held.name)
    except InputError as fault:
        place = Place.of(Path(options.file))
        raise InputError(fault.what, place=place, allowed=fault.allowed, advice=fault.advice) from None
