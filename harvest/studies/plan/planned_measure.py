"""The measure that a plan of a comparison is for."""

from harvest.audits.audit import Audit
from harvest.studies.scores.trial_values import SHARES, Key, refuse_turn
from scoring.catalogue import understand
from scoring.library import list_forms, single
from scoring.measure import Measure
from scoring.measures.usefulness import USEFUL
from scoring.notation import Term, parse
from scoring.scores import SHIPPED
from scoring.settings import Settings
from scoring.swan.schema import load_schema
from topics.errors import InputError


def planned_measure(wanted: Term | None, settings: Settings, audit: Audit) -> tuple[Measure, Key]:
    """wanted: a measure that each trial has one value of; None takes %useful of the first turn.

    Raises InputError for other measures, for a term that asks for several, and for a turn that the audit's protocol
    never comes to.
    """
    term = wanted or parse(f"{USEFUL.name} S1")
    found = understand(term, settings, audit.topics, load_schema(SHIPPED))
    one = found[0]
    if one.form is not None or (one.declaration.of != "conversation" and one.declaration not in SHARES):
        raise InputError(
            f"{term} is computed over many conversations at once, so no single trial has a value to simulate",
            allowed=list_forms((*SHARES, *single())),
        )
    if len(found) > 1:
        raise InputError(f"{term} asks for several measures", allowed=", ".join(str(each.base) for each in found))
    if one.declaration is USEFUL:
        refuse_turn(term, one.turn, max(audit.protocol.most_turns(topic) for topic in audit.topics.topics))
        return one, (USEFUL.name, one.turn or 1)
    return one, (one.declaration.name if one.declaration in SHARES else str(one.base), None)
