"""The items of a plan: facts, instructions, unanswerable questions, and ladders.

Each item has the words or rules by which an answer is judged, so that an auditor can read them. If a list has several
wordings, one is drawn. All words are templates over the topic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from protocols.rules.language import ASKED
from protocols.rules.registry import read_rule
from protocols.rules.rule import Rule
from simulators.phrasing import check_words
from topics.cut_text import Said
from topics.document import Document, StrictModel, validation_error
from topics.errors import InputError
from topics.yaml_values import Loc

Words = Annotated[tuple[Said, ...], Field(max_length=100)]

# Rules with a count.
_COUNTS = ("sentences", "words")
# Rules that need more than the judged answer.
_OF_HISTORY = ("breakdown", "label_was", "repetition")


def _check_all(item: StrictModel, *names: str) -> None:
    for name in names:
        for words in getattr(item, name):
            check_words(name, words)


def _check_distinct(right: tuple[str, ...], wrong: tuple[str, ...]) -> None:
    if {words.casefold() for words in right} & {words.casefold() for words in wrong}:
        raise validation_error("a phrase is both right and wrong")


class AnswersAfter(StrictModel):
    """The right and wrong answers about a fact after the user has said that it changed."""

    right: Words = Field(min_length=1, description="phrases of an answer that follows the change")
    wrong: Words | None = Field(
        default=None,
        description="phrases of an answer that does not follow it; default: what was right before and no longer is",
    )

    @model_validator(mode="after")
    def _check_entry(self) -> AnswersAfter:
        _check_all(self, "right", *(("wrong",) if self.wrong is not None else ()))
        _check_distinct(self.right, self.wrong or ())
        return self


class Fact(StrictModel):
    """A fact about which answers are checked: something the user has told, knows or needs."""

    ask: Words = Field(min_length=1, description="the question, best with the form of its answer")
    right: Words = Field(min_length=1, description="phrases of a right answer; the first is claimed when challenging")
    wrong: Words = Field(default=(), description="phrases of a wrong answer; the first is claimed when challenging")
    plant: Words = Field(default=(), description="how the user tells it")
    premise: Words = Field(default=(), description="a turn that assumes something false")
    change: Words = Field(default=(), description="how the user says that it changed: dropped, replaced or added")
    then: AnswersAfter | None = Field(default=None, description="what is right and wrong after the change")
    form: Literal["holds", "only"] = Field(
        default="holds",
        description="`holds`: the answer contains a phrase; `only`: it consists of a phrase",
    )

    @model_validator(mode="after")
    def _check_entry(self) -> Fact:
        _check_all(self, "ask", "right", "wrong", "plant", "premise", "change")
        _check_distinct(self.right, self.wrong)
        if (self.then is None) == bool(self.change):
            raise validation_error("change and then must be given together")
        return self

    def phrases(self, *, changed: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the phrases of right and wrong answers, before or after the change."""
        if not changed or self.then is None:
            return self.right, self.wrong
        if self.then.wrong is not None:
            return self.then.right, self.then.wrong
        now = {words.casefold() for words in self.then.right}
        return self.then.right, tuple(words for words in self.right if words.casefold() not in now)


class Instruction(StrictModel):
    """An instruction on how the system should answer from now on, with the rule that checks each answer."""

    say: Words = Field(min_length=1, description="the instruction")
    try_: Words = Field(
        alias="try", min_length=1, description="questions whose answers are judged by the rule, each asked once"
    )
    rule: Any = Field(description="a rule, as in protocols, that holds if the answer follows; it sees no other answer")
    breaks: Any = Field(default=None, description="a rule for answers that break it; default: the rule does not hold")

    @model_validator(mode="after")
    def _check_entry(self) -> Instruction:
        _check_all(self, "say", "try_")
        self.rules  # noqa: B018  # evaluated here, so that a fault is reported at its place
        return self

    @cached_property
    def rules(self) -> tuple[Rule, Rule | None]:
        """Return the rules for answers that follow the instruction and for answers that break it. The second rule is
        None if every answer that does not follow the instruction breaks it."""
        return _parse_rule(self.rule), None if self.breaks is None else _parse_rule(self.breaks)


def _parse_rule(value: object) -> Rule:
    for kind, options in _rule_kinds(value):
        if kind in _OF_HISTORY:
            raise validation_error(
                f"the rule {kind!r} needs earlier answers, but an instruction is judged by one answer at a time"
            )
        if kind == "language" and isinstance(options, Mapping) and any(ASKED in codes for codes in options.values()):
            raise validation_error(
                "the language `asked` is unknown for an instruction",
                allowed="a code such as de",
                advice="name the language",
            )
    try:
        return read_rule(Document("", value, {}, {}), (), value, _unnamed_rule)
    except InputError as fault:
        raise validation_error(fault.what, allowed=fault.allowed or "") from None


def empty_rule(value: object) -> str:
    """Return the kind of a rule that holds only for an empty answer, or "" for any other rule."""
    if not isinstance(value, Mapping):
        return ""
    return next((kind for kind in _COUNTS if isinstance(of := value.get(kind), Mapping) and of.get("at_most") == 0), "")


def _rule_kinds(value: object) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for kind, inside in value.items():
            yield str(kind), inside
            if kind in ("any", "all", "not", "thoughts"):
                yield from _rule_kinds(inside)
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _rule_kinds(part)


def _unnamed_rule(name: str, loc: Loc) -> Rule:
    raise InputError(f"the rule {name!r} is a named rule, which a plan cannot use", allowed="the rule itself")


class Question(StrictModel):
    """An unanswerable question, and a similar answerable question."""

    ask: Words = Field(min_length=1, description="a question without an answer: its premise is false or unknown")
    twin: Words = Field(min_length=1, description="an answerable question as similar as possible")
    right: Words = Field(
        min_length=1, description="phrases of a right answer to the twin, and of a made-up one to the question"
    )
    wrong: Words = Field(default=(), description="phrases of a made-up answer to either")
    declines: Words = Field(
        default=(), description="phrases that say that there is no answer; default: `phrases.declines`"
    )

    @model_validator(mode="after")
    def _check_entry(self) -> Question:
        _check_all(self, "ask", "twin", "right", "wrong", "declines")
        _check_distinct(self.right, (*self.wrong, *self.declines))
        return self


class Ladder(StrictModel):
    """Requests for the same harm, each more pressing than the last, and a similar harmless request."""

    rungs: tuple[Annotated[Words, Field(min_length=1)], ...] = Field(
        min_length=1, max_length=20, description="wordings of each request, from the mildest"
    )
    yields: Words = Field(min_length=1, description="phrases that only a harmful answer contains")
    refuses: Words = Field(default=(), description="phrases of a refusal, besides those of the rule `refusal`")
    harmless: Words = Field(min_length=1, description="similar requests that do no harm")

    @model_validator(mode="after")
    def _check_entry(self) -> Ladder:
        for number, words in enumerate(self.rungs, 1):
            for wording in words:
                check_words(f"rung {number}", wording)
        _check_all(self, "yields", "refuses", "harmless")
        _check_distinct(self.yields, self.refuses)
        return self
