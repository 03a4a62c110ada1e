"""D(SET): the achieved distribution over the groups of an attribute set, and the memberships behind it.

Each group is a measure of its own, such as `D(RATINGS, 3)`, with groups numbered from 1 as in [GFRC] Table 2. Its rows
are, for each conversation, the share of the group over the turns that count; for each turn, the share in D(S), which
DistrSim compares with the target; and for each relevant nugget, the membership in the group (Figure 5).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from scoring.figure import Figure
from scoring.measure import (
    Declaration,
    Measure,
    Parameter,
    TermContext,
    apply_parameters,
    refuse_arguments,
    refuse_parameters,
)
from scoring.measures.group_fairness import attribute_of, named_set, set_fairness
from scoring.notation import Term, number_text
from topics.attributes import AttributeSet
from topics.decimals import decimal
from topics.errors import InputError
from topics.topic import TopicSet

if TYPE_CHECKING:
    from scoring.material import Material


def group_list(attribute: AttributeSet) -> str:
    """Return the groups with their numbers and target shares: `1 he (target 0.5000), 2 she (target 0.5000)`."""
    return ", ".join(
        f"{number} {group} (target {decimal(share, 4)})"
        for number, (group, share) in enumerate(zip(attribute.groups, attribute.gold, strict=True), start=1)
    )


def _read_term(declaration: Declaration, term: Term, asking: TermContext) -> tuple[Measure, ...]:
    """Read one group, or all groups of a set if the term names none."""
    refuse_parameters(term, [one.name for one in declaration.parameters])
    refuse_arguments(declaration, term)
    attribute = named_set(term, asking)
    numbers = [float(number) for number in range(1, len(attribute.groups) + 1)]
    if len(term.arguments) > 1:
        chosen = term.arguments[1]
        if chosen not in numbers:
            shown = number_text(chosen) if isinstance(chosen, float) else str(chosen)
            listed = ", ".join(f"{number} {group}" for number, group in enumerate(attribute.groups, start=1))
            raise InputError(f"{term}: {attribute.name} has no group number {shown}", allowed=listed)
        numbers = [number for number in numbers if number == chosen]
    settings = apply_parameters(declaration, term, asking.settings)
    terms = [replace(term, arguments=(term.arguments[0], number)) for number in numbers]
    return tuple(Measure(one, one, settings, declaration) for one in terms)


def _groups_sentence(term: Term, topics: TopicSet) -> str:
    attribute = topics.attributes[attribute_of(term)]
    return f"Groups of {attribute.name}: {group_list(attribute)}."


def _place(material: Material, measure: Measure) -> tuple[AttributeSet, int]:
    """Return the attribute set of a measure, and the index of the group."""
    number = measure.base.arguments[1]
    assert isinstance(number, float), "a measure is of one group"
    return material.attributes[attribute_of(measure.base)], int(number) - 1


def _note(attribute: AttributeSet, group: int) -> str:
    return f"{attribute.groups[group]}; target {decimal(attribute.gold[group], 4)}"


def _score(material: Material, measure: Measure, *, cumulative: bool) -> Figure:
    attribute, group = _place(material, measure)
    turns = set_fairness(material, attribute, cumulative=cumulative)[0].turns
    whole = math.fsum(turn.weight for turn in turns)
    share = math.fsum(turn.weight * turn.achieved[group] for turn in turns)
    unknown = sum(attribute.name in nugget.unknown for nugget in material.relevant)
    value = share / whole if whole > 0 else math.nan
    note = _note(attribute, group)
    return Figure(measure.base_name, value, len(turns), None, None, material.unjudged, unknown, note)


def _parts(material: Material, measure: Measure, *, cumulative: bool) -> Iterator[Figure]:
    """Yield the share of the group in each turn that counts, then in each relevant nugget."""
    attribute, group = _place(material, measure)
    note, relevant = _note(attribute, group), material.relevant
    for turn in set_fairness(material, attribute, cumulative=cumulative)[0].turns:
        # A turn without relevant nuggets counts as uniform, also if earlier turns have some.
        first = 1 if cumulative and turn.nuggets else turn.turn
        counted = [one for one in relevant if first <= one.turn <= turn.turn]
        unknown = sum(attribute.name in one.unknown for one in counted)
        yield Figure(measure.base_name, turn.achieved[group], turn.nuggets, turn.turn, unknown=unknown, note=note)
    for one in relevant:
        unknown = int(attribute.name in one.unknown)
        share = one.memberships[attribute.name][group]
        yield Figure(measure.base_name, share, 1, one.turn, one, unknown=unknown, note=note)


_achieved = partial(
    Declaration,
    of="conversation",
    undefined="nothing is known of the topic's entities, or without a relevant nugget",
    n="turns that hold a relevant nugget; in rows of turns, relevant nuggets",
    needs=("gold",),
    good="neither",
    parameters=(
        Parameter("irrelevant", "turns without relevant entities: ignore or uniform", setting="irrelevant"),
        Parameter("turn_weight", "weight of a turn: one or largest-pw", setting="turn_weight"),
    ),
    arguments=(1, 2),
    applies=lambda measure, topic: attribute_of(measure.base) in topic.type.attributes,
    read=_read_term,
    key=_groups_sentence,
)
ACHIEVED = _achieved(
    name="D",
    sentence="The share of one group among a turn's relevant entities; GF compares the shares with the target.",
    formula="mean membership of the turn's relevant nuggets in the group; the mean over the turns that hold one",
    source="[GFRC] §3.1, Table 2",
    example="D(RATINGS, 3)",
    written=("D(SET)", "D(SET, GROUP)"),
    legend="share of a group",
    score=partial(_score, cumulative=False),
    parts=partial(_parts, cumulative=False),
)
CUMULATIVE_ACHIEVED = _achieved(
    name="D_cum",
    sentence="D in which each turn counts with all relevant entities up to it.",
    formula="as D, with the mean membership of all relevant nuggets up to the turn",
    source="[GFRC] §3.1, cumulative",
    example="D_cum(RATINGS, 3)",
    written=("D_cum(SET)", "D_cum(SET, GROUP)"),
    legend="share of a group so far",
    score=partial(_score, cumulative=True),
    parts=partial(_parts, cumulative=True),
)
