"""The figures of single conversations, computed one by one or for many conversations at once."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from recordings.conversations.conversation import Conversation
from recordings.conversations.outlines import kinds
from scoring.columns import Column, Conversations, column_of
from scoring.figure import Figure
from scoring.library import measures, plug_ins
from scoring.material import Material
from scoring.measure import Declaration, Measure
from scoring.notation import Term
from scoring.settings import Settings
from scoring.table import ScoreRow
from scoring.words import Unit, conversation_unit
from topics.counting import pluralize
from topics.errors import HarvestError, InputError
from topics.topic import Topic

# The trait of outlines that has what `units_of` returns.
UNITS = "units"

# A column, with the first conversation that has it and its place among that conversation's figures.
Ranked = tuple[tuple[int, int, int], Column]


def default_figures(material: Material) -> tuple[Figure, ...]:
    """Compute the figures that every run is scored by: for the whole conversation, then by turn, then by nugget.

    The figures are undefined (NaN with n = 0) if the topic has no entry in the gold table or its type has no kind of
    URL, since good answers are then unknown. R and GF of a conversation on a judged topic without relevant nuggets
    are 0.
    """
    found = [figure for one in _shown_measures(gold=material.gold is not None) for figure in _figures(one, material)]
    whole = [one for one in found if one.whole]
    turns = [one for one in found if not one.whole and one.nugget is None]
    return (*whole, *turns, *[one for one in found if one.nugget is not None])


def default_columns(grounds: Sequence[Material]) -> list[Ranked]:
    """Compute the whole-conversation figures of `default_figures` for all conversations of a run at once."""
    found: list[Ranked] = []
    for places, many in _by_topic_type(grounds):
        columns: list[Column] = []
        for one in _shown_measures(gold=grounds[places[0]].gold is not None):
            if one.of != "conversation":
                continue
            # Values of another distribution's measure are checked one by one.
            at_once = None if one in plug_ins() or many is None else one.columns
            made = at_once(many) if at_once is not None and many is not None else None
            if made is None:
                figures: dict[str, list[tuple[int, Figure]]] = {}
                for at in places:
                    for single in _figures(one, grounds[at]):
                        if single.whole:
                            figures.setdefault(single.measure, []).append((at, single))
                made = [column_of(name, own) for name, own in figures.items()]
            columns += made
        found += [((int(column.at[0]), 0, place), column) for place, column in enumerate(columns)]
    return found


def joint_columns(grounds: Sequence[Material], measures: Sequence[Measure]) -> list[Column]:
    """Compute the measures that have a function for many conversations, as columns. Unjudged conversations are left
    out."""
    names: dict[str, list[str]] = {}
    measures = [one for one in measures if one.declaration not in plug_ins()]  # their values are checked one by one
    for one in measures:
        of = one.declaration
        names.setdefault(of.column(one) if of.column is not None else one.base_name, []).append(one.base_name)
    by = dict.fromkeys(one.declaration.columns for one in measures if one.declaration.columns is not None)
    return [
        replace(one, measure=name)
        for _, many in _by_topic_type(grounds)
        if many is not None
        for columns in by
        for one in columns(many) or ()
        for name in names.get(one.measure, ())
    ]


def ordered_names(columns: Iterable[Ranked]) -> list[str]:
    """Return the names of the measures in the order in which they first occur, conversation by conversation."""
    return list(dict.fromkeys(column.measure for _, column in sorted(columns, key=lambda one: one[0])))


def _by_topic_type(grounds: Sequence[Material]) -> Iterator[tuple[Sequence[int], Conversations | None]]:
    """Yield indices and conversations of each topic type. The conversations are None if good answers are unknown."""
    known: dict[str, str] = {}
    alike: dict[tuple[str, str], list[int]] = {}
    for at, ground in enumerate(grounds):
        topic = ground.topic
        unscorable = known[topic.id] if topic.id in known else known.setdefault(topic.id, ground.unscorable)
        alike.setdefault((topic.type.name, unscorable), []).append(at)
    for (_, unscorable), places in alike.items():
        yield places, None if unscorable else Conversations.gather([grounds[at] for at in places], places)


def _shown_measures(*, gold: bool) -> Iterator[Declaration]:
    families = set()
    for one in measures():
        if one.shown == "asked" or (not gold and "gold" in one.needs) or (one.family or one.score) is None:
            continue
        if one.family is None or one.family not in families:
            yield one
        families.add(one.family)


def _figures(declaration: Declaration, material: Material) -> Sequence[Figure]:
    """Compute the figures of a family or of a single measure. Plug-ins are called only once."""

    def make() -> tuple[Figure, ...]:
        if declaration.family is not None:
            return tuple(declaration.family(material))
        term = Term(declaration.name)
        single = figure(material, Measure(term, term, material.settings, declaration))
        return () if single is None else (single,)

    return material.once((default_figures, declaration.name), make)


def nugget_figures(material: Material) -> Sequence[Figure]:
    found = (one for one in _shown_measures(gold=material.gold is not None) if one.of == "nugget")
    return [figure for one in found for figure in _figures(one, material)]


def figure(material: Material, measure: Measure) -> Figure | None:
    """Compute the value of a measure, or return None if the topic cannot have one."""
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
            raise _plug_in_error(declaration, material, f"raises {type(fault).__name__}: {fault}") from fault
        raise
    least, most = declaration.range
    if (found.value < least or found.value > most) and declaration in plug_ins():
        raise _plug_in_error(
            declaration, material, f"gives {found.value:g}, outside its declared range from {least:g} to {most:g}"
        )
    return found


def _plug_in_error(declaration: Declaration, material: Material, what: str) -> InputError:
    key = material.conversation.key
    return InputError(
        f"the measure {declaration.name!r} of another distribution {what}, on trial "
        f"{key.trial} of topic {key.topic!r} with system {key.system!r}",
        advice="correct it there, or uninstall that distribution",
    )


def rows(conversation: Conversation, topic: Topic, figures: Sequence[Figure]) -> Iterator[ScoreRow]:
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


def units_of(conversation: Conversation, settings: Settings) -> tuple[Unit, Unit]:
    """Return the unit in which a conversation is measured, and the unit that fits its script."""
    return conversation_unit(conversation, settings.unit), conversation_unit(conversation)


def length_notes(conversations: Iterable[Conversation], settings: Settings) -> Iterator[str]:
    if settings.user_words == "left-out":
        yield "Positions and lengths leave the words of user turns out, as asked."
    units: dict[str, Counter[tuple[Unit, Unit]]] = {}
    for one, count, found in kinds(conversations, UNITS, lambda one: units_of(one, settings)):
        units.setdefault(one.key.system, Counter())[found] += count
    for system, of in units.items():
        unblanked = sum(count for (_, script), count in of.items() if script == "characters")
        if settings.unit == "characters":
            yield f"{system}: positions and lengths count characters, as asked (L = {settings.patience_characters})."
        elif settings.unit == "words" and unblanked:
            many = pluralize(of.total(), "conversation")
            yield (
                f"{system}: positions and lengths count words, as asked (L = {settings.patience}); in {unblanked} of "
                f"{many} answers have no blanks between words."
            )
        elif unblanked:
            many = pluralize(of.total(), "conversation")
            rest = f"; in the others words (L = {settings.patience})" if unblanked < of.total() else ""
            yield (
                f"{system}: positions and lengths count characters (L = {settings.patience_characters}) in {unblanked} "
                f"of {many}, whose answers have no blanks between words{rest}."
            )
