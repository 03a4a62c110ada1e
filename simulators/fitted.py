"""Files of users fitted to recordings (`harvest-user/2`), written by `harvest users fit`.

    format: harvest-user/2
    name: seekers
    simulator: markov
    source: {files: [acts.jsonl], dialogues: 336, users: 156, decisions: 2597, censored: 0, answers: nothing}
    options: {acts: […], order: 1, smoothing: witten-bell, counts: […], stretches: […], words: {ask: […], …}}
    rows: […]          the shares that follow from the counts, with intervals
    stopping: […]      stop models fitted to the same recordings

The simulator plays `options`. `rows`, which cover all turns, and `stopping` are for readers. A recording does not
show how to word an act for another topic, so people add `words`. A file without words can be read but not played. A
file is refused if `rows` or `decisions` do not follow from the counts, or if `stretches` do not sum to the counts:
somebody has then edited only part of the file, and the user would not do what the file says.

A `harvest-user/1` file has no `stretches` and is played with the same probabilities in all turns. A `harvest-user/3`
file has no `rows`, and hidden states instead of counts (`simulator: hidden`, with the options of
`simulators.hidden.user`).
"""

import re
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import Field

from simulators import markov
from simulators.act_table import START, ActTable
from simulators.hidden import user as hidden
from simulators.phrasing import Words
from simulators.stopping.library import StopOption
from topics.document import Document, StrictModel, form_validator, read_document
from topics.errors import InputError, Place
from topics.yaml_values import Loc

FORMAT, HIDDEN = "harvest-user/2", "harvest-user/3"
_FORMATS = ("harvest-user/1", FORMAT, HIDDEN)

_ADVICE = "counts and rows were changed apart; put them back, or remove rows, which are for people and not played"
_NAME = r"[\w .+-]+"
_NAME_WORDS = "letters, digits, spaces and . + - _"
_ROUNDING_ERROR = 2e-6  # because rows are written with six digits


class Source(StrictModel):
    files: tuple[str, ...] = Field((), description="names of the runs or files")
    dialogues: int = Field(ge=0)
    users: int = Field(ge=0, description="different people; each dialogue counts if none is named")
    decisions: int = Field(ge=0, description="acts and departures")
    censored: int = Field(0, ge=0, description="dialogues that were cut off")
    answers: Literal["nothing", "labels"] = Field("nothing", description="the part of the last answer that is used")


class Share(StrictModel):
    """The count and probability of one outcome of a row. The outcome was seen `k` times, and the smoothed probability
    `p` is played. `low` and `high` bound the unsmoothed share k/n. Both are None if only one person was seen, because
    variation between people is then unknown."""

    k: int = Field(ge=0)
    p: float = Field(ge=0, le=1)
    low: float | None = Field(None, ge=0, le=1)
    high: float | None = Field(None, ge=0, le=1)


class RowEstimate(StrictModel):
    after: tuple[str, ...]
    answer: str
    n: int = Field(ge=1)
    next: dict[str, Share]


class Parameter(StrictModel):
    """An estimate and its standard error, both None if the recordings do not determine the parameter."""

    value: float | None = None
    error: float | None = None


class StopEstimate(StrictModel):
    """A stop model fitted by maximum likelihood to `chances` decisions. Compare AICs only of models with equal
    `chances`."""

    model: str
    parameters: dict[str, Parameter]
    aic: float | None = None
    chances: int = Field(ge=0)


# The user's name in recordings.
Name = Annotated[str, form_validator(_NAME, _NAME_WORDS), Field(min_length=1)]


class UserFile(StrictModel):
    """The content of a `harvest-user/2` or `harvest-user/1` file. The latter has no `stretches`."""

    format: Literal["harvest-user/1", "harvest-user/2"] = "harvest-user/2"
    name: Name
    simulator: Literal["markov"] = "markov"
    about: str = ""
    source: Source
    options: markov.Options
    level: float = Field(0.95, gt=0, lt=1, description="confidence level of the intervals")
    rows: tuple[RowEstimate, ...] = ()
    stopping: tuple[StopEstimate, ...] = ()

    def text(self) -> str:
        """Return the file as YAML, from which `read_user` restores an equal value."""
        return _yaml(self)

    def check_rows(self, document: Document) -> None:
        """Check that the rows shown to readers agree with the counts, which are played."""
        table = self.options.table()
        if not self.options.counts and not self.options.rows:
            raise document.error(
                ("options",),
                "options: a fitted user cannot be played without counts or rows",
                allowed="counts, or rows",
                key=True,
            )
        if not isinstance(table, ActTable):
            if self.rows:
                raise document.error(
                    ("rows",), "rows: rows need counts, but the file has no counts", advice=_ADVICE, key=True
                )
            return
        decisions = sum(sum(row.values()) for row in table.counts.values())
        if self.source.decisions != decisions:
            raise document.error(
                ("source", "decisions"),
                f"decisions: the counts in options sum to {decisions:,} decisions (here: {self.source.decisions:,})",
                advice=f"the counts were changed; put them back, or write {decisions} and remove rows",
            )
        if not self.rows:
            return
        named = [(row.after, row.answer) for row in self.rows]
        missing = next((context for context in table.counts if context not in named), None)
        if missing is not None:
            raise document.error(
                ("rows",),
                f"rows: the row for the counts after {' '.join(missing[0])} ({missing[1]}) is missing",
                advice=_ADVICE,
                key=True,
            )
        for number, row in enumerate(self.rows):
            counted = table.counts.get((row.after, row.answer), {})
            played = table.row([act for act in row.after if act != START], row.answer)
            if row.n != sum(counted.values()):
                raise _contradiction_error(
                    document, ("rows", number, "n"), f"n: the counts sum to {sum(counted.values())} here", row.n
                )
            for act in sorted({*row.next, *counted}):
                share = row.next.get(act)
                if share is None:
                    raise document.error(
                        ("rows", number, "next"), f"next: {act!r} was counted here but is missing", advice=_ADVICE
                    )
                if share.k != counted.get(act, 0):
                    loc = ("rows", number, "next", act, "k")
                    raise _contradiction_error(
                        document, loc, f"k: {act!r} was counted {counted.get(act, 0)} times here", share.k
                    )
                if abs(share.p - played.get(act, 0.0)) > _ROUNDING_ERROR:
                    loc = ("rows", number, "next", act, "p")
                    raise _contradiction_error(
                        document, loc, f"p: the counts imply {played.get(act, 0.0):.6f}", share.p
                    )


class HiddenFile(StrictModel):
    """The content of a `harvest-user/3` file, which has hidden states."""

    format: Literal["harvest-user/3"] = "harvest-user/3"
    name: Name
    simulator: Literal["hidden"] = "hidden"
    about: str = ""
    source: Source
    options: hidden.Options
    stopping: tuple[StopEstimate, ...] = ()

    def text(self) -> str:
        return _yaml(self)


def _yaml(file: UserFile | HiddenFile) -> str:
    value = file.model_dump(mode="json", exclude_none=True)
    for part, names in ((value["options"], ("rows", "words", "stretches")), (value, ("about", "rows", "stopping"))):
        for name in names:
            if name in part and not part[name]:
                del part[name]
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, default_flow_style=None, width=120)


def check_name(name: str) -> None:
    """Raise InputError if a user file cannot have this name."""
    if not re.fullmatch(_NAME, name) or not name.strip():
        raise InputError(f"a fitted user cannot have the name {name!r}", allowed=_NAME_WORDS)


def read_user(path: str | PathLike[str]) -> UserFile | HiddenFile:
    """Read the user file at `path`. Raises InputError for the first fault, or if the rows contradict the counts."""
    document = read_document(path)
    named = document.value.get("format") if isinstance(document.value, dict) else None
    if named not in _FORMATS:
        raise InputError(
            f"the file is not a fitted user: its format is {named!r}",
            place=document.place(),
            allowed=" or ".join(f"format: {one}" for one in _FORMATS),
        )
    if named == HIDDEN:
        return document.validate_as(HiddenFile)
    held = document.validate_as(UserFile)
    if held.format != FORMAT and held.options.stretches:
        raise document.error(
            ("options", "stretches"),
            f"stretches: a {held.format} file cannot have stretches",
            allowed=f"format: {FORMAT}",
            key=True,
        )
    held.check_rows(document)
    return held


def _contradiction_error(document: Document, loc: Loc, what: str, here: float) -> InputError:
    return document.error(loc, f"{what} (here: {here:g})", advice=_ADVICE)


# Options that name files.
FILES = ("file",)


class Options(StrictModel):
    """Options of a fitted user."""

    file: str = Field(min_length=1, description="a file that `harvest users fit` wrote")
    words: Words = Field({}, description="ways to say each act, instead of the file's")
    stop: StopOption | None = Field(None, description="a stop model instead of the file's")
    latent_class: int | None = Field(
        None, ge=1, description="with hidden states: play people of this class only; 1 leaves soonest"
    )


def build(options: Options) -> markov.MarkovUser | hidden.HiddenUser:
    """Build the user in the file, under its name there. Raises InputError if the file is invalid or has no words."""
    held = read_user(options.file)
    words = {**held.options.words, **options.words}
    try:
        if isinstance(held, HiddenFile):
            return replace(hidden.build(_hidden_options(held.options, words, options)), name=held.name)
        if options.latent_class is not None:
            raise InputError("latent_class: this user has no classes", advice="remove it, or fit hidden states")
        stop = options.stop if options.stop is not None else held.options.stop
        changed = held.options.model_copy(update={"words": words, "stop": stop})
        return replace(markov.build(changed), name=held.name)
    except InputError as fault:
        place = Place.of(Path(options.file))
        raise InputError(fault.what, place=place, allowed=fault.allowed, advice=fault.advice) from None


def _hidden_options(held: hidden.Options, words: Words, options: Options) -> hidden.Options:
    if options.stop is not None:
        raise InputError(
            "stop: a user with hidden states cannot have a stop model, because the states decide when to leave",
            advice="remove it, or fit a table: harvest users fit --stop turn-and-act",
        )
    classes = held.model().classes
    if options.latent_class is not None and options.latent_class > classes:
        raise InputError(f"latent_class: there is no class {options.latent_class}", allowed=f"1 to {classes}")
    chosen = held.latent_class if options.latent_class is None else options.latent_class
    return held.model_copy(update={"words": words, "latent_class": chosen})
