"""The figures of one conversation: those of every run, and those that are asked for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from recordings.conversation import Conversation
from scoring.library import measures, plug_ins
from scoring.material import Material
from scoring.measure import Declaration, Figure, Measure
from scoring.notation import Term
from scoring.table import ScoreRow
from topics.errors import HarvestError, InputError
from topics.topic import Topic

__all__ = ["default_figures", "figure", "rows"]


def default_figures(material: Material) -> tuple[Figure, ...]:
    """What a run is scored by where nothing is asked for: figures of the whole first, then by turn, then by nugget.

    Undefined (NaN with n = 0) where the topic has no entry in the gold table or names no kind of URL: it is then
    unknown what a good answer contains. A conversation without relevant nuggets on a judged topic has R = 0, GF = 0.
    """
    found: list[Figure] = []
    made = set()
    for one in measures():
        if one.shown == "asked" or (material.gold is None and "gold" in one.needs):
            continue
        if one.family is not None:
            found += [] if one.family in made else one.family(material)
            made.add(one.family)
        elif one.score is not None:
            term = Term(one.name)
            single = figure(material, Measure(term, term, material.settings, one))
            found += [single] if single is not None else []
    whole = [one for one in found if one.whole]
    turns = [one for one in found if not one.whole and one.nugget is None]
    return (*whole, *turns, *[one for one in found if one.nugget is not None])


def figure(material: Material, measure: Measure) -> Figure | None:
    """The value of a measure; None where the topic can have none."""
    declaration, name = measure.declaration, measure.base_name
    if "gold" in declaration.needs and material.gold is None:
        return Figure(name, math.nan, 0, note=material.unscorable)
    if not declaration.applies(measure, material.topic) or declaration.score is None:
        return None
    if "gold" in declaration.needs and material.unscorable:
        return Figure(name, math.nan, 0, unjudged=material.unjudged, note=material.unscorable)
    try:
        found = declaration.score(material, measure)
        found = found if found.measure == name else replace(found, measure=name)
    except HarvestError:
        raise
    except Exception as fault:
        if declaration in plug_ins():
            raise _failed(declaration, material, f"raises {type(fault).__name__}: {fault}") from fault
        raise
    least, most = declaration.range
    if (found.value < least or found.value > most) and declaration in plug_ins():
        raise _failed(declaration, material, f"gives {found.value:g}, and declares a range from {least:g} to {most:g}")
    return found


def _failed(declaration: Declaration, material: Material, what: str) -> InputError:
    key = material.conversation.key
    return InputError(
        f"the measure {declaration.name!r} of another distribution {what}, on trial "
        f"{key.trial} of topic {key.topic!r} with system {key.system!r}",
        advice="correct it there, or uninstall that distribution",
    )


def rows(conversation: Conversation, topic: Topic, figures: Sequence[Figure]) -> Iterator[ScoreRow]:
    """The figures of one conversation as rows."""
    key = conversation.key
    for figure in figures:
        nugget = figure.nugget
        yield ScoreRow(
            measure=figure.measure,
            system=key.system,
            topic=key.topic,
            topic_type=topic.type.name,
            trial=key.trial,
            value=figure.value,
            n=figure.n,
            turn=figure.turn,
            entity=None if nugget is None else nugget.entity,
            unjudged=figure.unjudged,
            unknown=figure.unknown,
            position=None if nugget is None else nugget.position,
            grade=None if nugget is None else nugget.grade,
            gain=None if nugget is None else nugget.gain,
            worst=figure.worst,
            best=figure.best,
            note=figure.note,
        )
