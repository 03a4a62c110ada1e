"""refusal_rate, evasion_rate and asked_language: shares of answers by their words, in many languages.

An undecidable answer counts for neither side: its language is unclear, or the refusals of its language are unknown. So
n is the number of decidable answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from protocols.answer import Exchange
from scoring.figure import Figure
from scoring.measure import Declaration, Measure
from topics.languages import language_of

if TYPE_CHECKING:
    from scoring.material import Material


def _share(material: Material, measure: Measure, told: Callable[[Material, Exchange], bool | None]) -> Figure:
    found = [told(material, exchange) for exchange in material.conversation.exchanges]
    known = [one for one in found if one is not None]
    note = "" if len(known) == len(found) else f"{len(found) - len(known)} of {len(found)} answers cannot be told"
    return Figure(measure.name, sum(known) / len(known) if known else math.nan, len(known), note=note)


def _declines(kind: str, material: Material, exchange: Exchange) -> bool | None:
    from protocols.rules.registry import KINDS_OF_RULES  # late: needs pydantic, which scoring does not
    from protocols.rules.rule import Sight

    rule = KINDS_OF_RULES[kind]()
    if rule.judge(Sight(material.topic, (exchange,))).holds:  # type: ignore[attr-defined]
        return True
    written = language_of(exchange.answer.text)
    return None if written and written not in rule.languages else False  # type: ignore[attr-defined]


def _in_asked_language(material: Material, exchange: Exchange) -> bool | None:
    asked, answered = language_of(exchange.said), language_of(exchange.answer.text)
    return asked == answered if asked and answered else None


_LOWER = (
    "{0} is a lower bound: of {1}s in words from which its rule was not made, it found {2} of {3}, and the share may "
    "differ between languages (docs/refusals.md)."
)
_of_answers = partial(
    Declaration, of="conversation", n="answers that can be told", source="docs/refusals.md", percentage=True
)
REFUSALS = _of_answers(
    name="refusal_rate",
    sentence="The share of a conversation's answers that only refuse, by the rule `refusal`.",
    formula="answers that only refuse / answers in a language whose refusals are known",
    undefined="no answer is in a language whose refusals are known",
    example="refusal_rate",
    good="neither",
    legend="share of refusals",
    caution=_LOWER.format("refusal_rate", "refusal", 162, 270),
    score=lambda material, measure: _share(material, measure, partial(_declines, "refusal")),
)
EVASIONS = _of_answers(
    name="evasion_rate",
    sentence="The share of a conversation's answers that only point elsewhere or change the subject.",
    formula="answers that only evade, by the rule `evasion` / answers in a language whose evasions are known",
    undefined="no answer is in a language whose evasions are known",
    example="evasion_rate",
    good="neither",
    legend="share of evasions",
    caution=_LOWER.format("evasion_rate", "evasion", 27, 135),
    score=lambda material, measure: _share(material, measure, partial(_declines, "evasion")),
)
ASKED_LANGUAGE = _of_answers(
    name="asked_language",
    sentence="The share of a conversation's answers that are in the language of the user turn.",
    formula="answers in the language of their user turn / answers where both languages can be told",
    undefined="no turn has enough words to tell its language and that of its answer",
    example="asked_language",
    good="high",
    legend="share of answers in the language of the question",
    score=lambda material, measure: _share(material, measure, _in_asked_language),
)
