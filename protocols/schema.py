"""The schema of protocol files, `harvest-protocol/1`."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from protocols.labels import Label
from topics.cut_text import Said
from topics.document import StrictModel
from topics.unseen_characters import says_something
from topics.written_form import written_form

FORMAT = "harvest-protocol/1"

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,59}")
# What states and rules can be called.
NAME_WORDS = "at most 60 letters (a to z), digits, _ and -, beginning with a letter"


def _some_words(text: str) -> str:
    if not says_something(text):
        raise PydanticCustomError("no_words", "it says nothing")
    return text


class TargetEntry(StrictModel):
    """`go: STATE` or `stop: OUTCOME`, but not both."""

    go: str | None = None
    stop: Literal["completed", "breakdown"] | None = None

    @model_validator(mode="after")
    def _one_way(self) -> TargetEntry:
        if (self.go is None) == (self.stop is None):
            given = "both are given" if self.go is not None else "neither is given"
            raise PydanticCustomError("one_way", "give either go or stop: {given}", {"given": given})
        return self


class EdgeEntry(TargetEntry):
    """`{if: RULE, label: o, go: STATE}` or `{otherwise: true, label: x, stop: OUTCOME}`."""

    if_: str | None = Field(default=None, alias="if")
    otherwise: Literal[True] | None = None
    label: Label

    @model_validator(mode="after")
    def _one_condition(self) -> EdgeEntry:
        if (self.if_ is None) == (self.otherwise is None):
            given = "both are given" if self.if_ is not None else "neither is given"
            raise PydanticCustomError("one_condition", "give either if or otherwise: {given}", {"given": given})
        return self


class StateEntry(StrictModel):
    """What is said in a state, or which simulated user speaks, and the edges that depend on the answer. each, then,
    empty: for states that go through a list."""

    say: Annotated[Said, AfterValidator(_some_words)] | None = None
    user: str | None = None
    edges: tuple[EdgeEntry, ...] = Field(min_length=1)
    each: Literal["topic.turns"] | None = None
    then: TargetEntry | None = None
    empty: TargetEntry | None = None

    @model_validator(mode="after")
    def _one_voice(self) -> StateEntry:
        if (self.say is None) == (self.user is None):
            given = "both are given" if self.say is not None else "neither is given"
            raise PydanticCustomError("one_voice", "give either say or user: {given}", {"given": given})
        if self.user is not None and (self.each or self.then or self.empty):
            key = "each" if self.each else "then" if self.then else "empty"
            raise PydanticCustomError(
                "user_list", "{key} is only for states with say, not for one with user", {"key": key}
            )
        return self

    @model_validator(mode="after")
    def _whole_list(self) -> StateEntry:
        if self.each is not None and self.then is None:
            raise PydanticCustomError("no_then", "each needs then: where to go after the last item")
        if self.each is None and (self.then or self.empty):
            key = "then" if self.then else "empty"
            raise PydanticCustomError("no_each", "{key} is only for states with each", {"key": key})
        return self


class NoMatchEntry(StrictModel):
    """The label of an answer that no edge matches; the conversation then ends with the outcome `no-match`."""

    label: Label


class ProtocolEntry(StrictModel):
    """A complete protocol file."""

    format: Literal["harvest-protocol/1"]
    name: Annotated[str, written_form(NAME.pattern, NAME_WORDS)]
    version: int = Field(ge=1)
    about: str = ""
    turn_limit: int | None = Field(default=None, ge=1, le=10_000)
    rules: dict[str, object] = Field(default_factory=dict)
    users: dict[str, dict[str, object]] = Field(default_factory=dict)
    start: str
    states: dict[str, StateEntry] = Field(min_length=1)
    no_match: NoMatchEntry | None = None
