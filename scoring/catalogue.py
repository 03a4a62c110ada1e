"""What a written form asks for under the settings of a scoring run.

    understood(term, settings, topics, schema)   what is to be computed; InputError that names the nearest measure

The measures themselves declare what they are and take (`scoring.library`). A parameter that is not given has the value
of the settings.
"""

from functools import partial

from scoring.library import measures
from scoring.measure import Asking, Declaration, Measure
from scoring.notation import Term
from scoring.settings import Settings
from scoring.swan.schema import Schema
from scoring.understanding import plainly, refuse_arguments
from topics.errors import InputError
from topics.suggestions import nearest
from topics.topic import TopicSet

# What a figure is of that has no value over conversations, so that nothing could be asked for.
_PARTS = {"turn": "system turn", "nugget": "nugget"}


def understand(term: Term, settings: Settings, topics: TopicSet, schema: Schema) -> tuple[Measure, ...]:
    """What a term asks for: one measure, or the three readings of GF where one of the last two is asked for.

    Raises InputError for what is not a measure, for a parameter it does not take, and for values out of range.
    """
    declaration = find(term.name)
    if declaration.of in _PARTS:
        raise InputError(
            f"{term}: {term.name} is of a single {_PARTS[declaration.of]}, and has no value over conversations",
            advice="its rows are among those of `harvest score RUN --json`, where no --measure is asked for",
        )
    inner = partial(_inside, declaration=declaration, settings=settings, topics=topics, schema=schema)
    asking = Asking(settings, topics, schema, inner)
    return (declaration.read or plainly)(declaration, term, asking)


def find(name: str) -> Declaration:
    """The measure of that name. Raises InputError for an unknown name, with the nearest one and the list."""
    known = {one.name: one for one in measures()}
    if name not in known:
        askable = [one.name for one in known.values() if one.of not in _PARTS]
        meant = nearest(name, askable)
        asked = f": did you mean {meant}?" if meant else ""
        raise InputError(f"{name!r} is not a measure{asked}", allowed=", ".join(askable))
    return known[name]


def _inside(term: Term, declaration: Declaration, settings: Settings, topics: TopicSet, schema: Schema) -> Measure:
    """What a measure over many conversations is taken of."""
    refuse_arguments(declaration, term)
    inside = term.arguments[0]
    found = find(inside.name) if isinstance(inside, Term) else None
    if not isinstance(inside, Term) or found is None or found.of == "measure" or found.rows is not None:
        known = [one.name for one in measures() if one.of == "conversation" and (declaration.event or not one.event)]
        raise InputError(f"{term}: {term.name} is taken of a measure of single conversations", allowed=", ".join(known))
    return understand(inside, settings, topics, schema)[0]
