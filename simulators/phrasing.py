"""Wording of the acts of simulated users: variants of templates over the topic, checked before anything is sent.

A template may use the same values as a protocol state (`protocols.wording`): `topic`, `turn`, and `item`, the subject
of the act. If the act has no subject, `item` is an error, because it would leave a gap in the sentence. Every variant
of every act is filled in at the start, so that a missing value ends the trial before its first turn, and no variant
is silently skipped.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated

from pydantic import AfterValidator, Field

from protocols.wording import Wording, render, template_faults
from topics.cut_text import Said
from topics.document import validation_error
from topics.errors import InputError, nearest_name
from topics.topic import Topic

_TURNS_CHECKED = 100  # turns that a wording with `turn` is checked for


def _check_template(template: str, *, each: bool = False) -> str:
    fault = next(iter(template_faults(Wording(template, each=each))), None)
    if fault:
        raise validation_error(fault.what, allowed=fault.allowed)
    if not template.strip():
        raise validation_error("a variant is empty")
    return template


def check_words(name: str, words: str, *, lost: str = "") -> None:
    """Raise a validation error for an empty text or an invalid template. `lost` names what would be lost without `{{
    item }}` in the template, or is "" if the template needs no item."""
    if not words.strip():
        raise validation_error(f"{name}: this text is empty")
    if lost and not re.search(r"\{\{[^}]*\bitem\b", words):
        raise validation_error(f"{name}: the {lost} would be lost without {{{{ item }}}}")
    for fault in template_faults(Wording(words, each=bool(lost))):
        raise validation_error(f"{name}: {fault.what}", allowed=fault.allowed)


# Text for a topic: Jinja in a sandbox, see `protocols.wording`.
Template = Annotated[Said, AfterValidator(_check_template)]

# The same for an act that is about something, its `item`.
ItemTemplate = Annotated[Said, AfterValidator(partial(_check_template, each=True))]


def _check_not_empty(variants: tuple[str, ...]) -> tuple[str, ...]:
    # Not by min_length: pydantic would report that the list is too short, and not the faulty variant.
    if not variants:
        raise validation_error("give at least one wording")
    return variants


# Ways to say the same; each is as likely as the others.
Variants = Annotated[tuple[Template, ...], Field(max_length=100), AfterValidator(_check_not_empty)]

# By act: the ways to say it.
Words = dict[str, Variants]

# By act, some of which are about something: the ways to say it.
ItemWords = dict[str, Annotated[tuple[ItemTemplate, ...], Field(max_length=100), AfterValidator(_check_not_empty)]]


@dataclass(frozen=True)
class Phrasebook:
    """The variants of the templates for each act."""

    templates: Mapping[str, tuple[str, ...]]
    # By topic id, the last arguments that passed the check: most topics begin many conversations.
    _passed: dict[str, tuple[Topic, Mapping[str, tuple[str, ...]]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def variants(self, act: str) -> int:
        """Return the number of ways to say the act."""
        return len(self.templates[act])

    def text(self, act: str, variant: int, topic: Topic, turn: int, item: str) -> str:
        """Return the words of a variant (from 0) of the act at user turn `turn` (from 1). Raises InputError."""
        return render(Wording(self.templates[act][variant], each=True), topic, turn=turn, item=item)

    def check(self, topic: Topic, items: Mapping[str, Iterable[str]]) -> None:
        """Fill in every variant to check it. `items` lists the possible subjects of each act. Raises InputError for
        the first variant that fails, or that uses the item of an act without a subject."""
        given = topic, {act: tuple(some) for act, some in items.items()}
        if self._passed.get(topic.id) != given:
            self._fill_in(*given)
            self._passed[topic.id] = given

    def _fill_in(self, topic: Topic, items: Mapping[str, tuple[str, ...]]) -> None:
        for act, templates in self.templates.items():
            for number, template in enumerate(templates):
                variant = f"variant {number + 1} of act {act!r}"
                if act not in items:
                    for wrong in template_faults(Wording(template)):
                        raise InputError(f"{variant}: {wrong.what}", allowed=wrong.allowed)
                turns = range(1, _TURNS_CHECKED + 1) if re.search(r"\bturn\b", template) else (1,)
                for item in items.get(act, ("",)) if re.search(r"\bitem\b", template) else ("",):
                    for turn in turns:
                        try:
                            render(Wording(template, each=True), topic, turn=turn, item=item)
                        except InputError as fault:
                            raise InputError(
                                f"{variant}: {fault.what}", allowed=fault.allowed, advice=fault.advice
                            ) from None


def phrasebook(own: Mapping[str, tuple[str, ...]], shipped: Mapping[str, tuple[str, ...]]) -> Phrasebook:
    """Return the default words, replaced act by act by the words of a file. Raises InputError for an unknown act."""
    for act in own:
        if act not in shipped:
            meant = nearest_name(act, shipped)
            raise InputError(
                f"{act!r} has words but is not an act of this user",
                allowed=", ".join(shipped),
                advice=f"did you mean {meant!r}?" if meant else None,
            )
    return Phrasebook({act: tuple(own.get(act, variants)) for act, variants in shipped.items()})


def fill_template(template: str, topic: Topic, what: str) -> str:
    """Fill in a single text of a scenario, for example a subtopic. Raises InputError, which calls the text `what`."""
    try:
        return render(Wording(template), topic, turn=1)
    except InputError as fault:
        raise InputError(f"{what}: {fault.what}", allowed=fault.allowed, advice=fault.advice) from None
