"""Refusal of differing judgments of equal precedence, if only an adjudicator may decide between them."""

import shlex
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from recordings.files.errors import RunError
from recordings.judged.decisions import FOLDER
from scoring.swan.assessment import Assessment
from scoring.swan.item import Item
from scoring.swan.judged import Judgments
from scoring.swan.precedence import Opinion
from scoring.swan.schema import Schema, load_schema, shipped_schemas
from topics.counting import pluralize
from topics.errors import InputError

# The folders of a run that hold judgments.
_FOLDERS = ("judgments", FOLDER)

# Number of places listed in the message.
_MOST_LISTED = 5


def refuse_unsettled(
    assessments: Iterable[Assessment], judgments: Judgments, schema: Schema, criteria: Collection[str]
) -> None:
    """Raise an error if a score of `criteria` rests on one of several differing judgments of equal rank. The RunError
    says how to settle the judgments. Raises InputError if several authors of equal precedence extracted nuggets."""
    every = tuple(assessments)
    used = (rule for one in criteria for rule, _ in judgments.rules_in_use(schema[one]))
    needed = {*criteria, *(name for rule in used for name in rule.needs)}
    asked = {(one.key.system, one.key.topic) for one in every}
    found = [
        _Unsettled(name, _place_text(one, item), opinion)
        for one in every
        for name, opinions in one.unsettled.items()
        for item, opinion in opinions
    ]
    found += [
        _Unsettled(name, f"{system} {topic}", opinion)
        for (system, topic, name), opinion in judgments.sets.items()
        if opinion.equals and (system, topic) in asked
    ]
    found = [one for one in found if one.criterion in needed]
    if found:
        raise _disagreement_error(found, judgments, schema)
    extractors = sorted({author for one in every for author in one.extractors})
    if extractors:
        raise InputError(
            f"{' and '.join(extractors)} extracted nuggets of the same conversation, and the precedence does not "
            "choose between them",
            advice=f"name one of them: --nuggets {extractors[0]}",
        )


@dataclass(frozen=True, slots=True)
class _Unsettled:
    criterion: str
    where: str
    opinion: Opinion


def _place_text(one: Assessment, item: Item) -> str:
    """Return the place of an item, as in `IRIS M001 3:2`: system, topic, trial and turn, and a nugget's characters."""
    found = f"{one.key.system} {one.key.topic} {one.key.trial}"
    if item.turn:
        found += f":{item.turn}"
    side = " of the user" if item.speaker == "user" else ""
    return f"{found}{side}, characters {item.start}-{item.end}" if item.start >= 0 else found + side


def _disagreement_error(found: list[_Unsettled], judgments: Judgments, schema: Schema) -> RunError:
    authors = sorted({(one.by.kind, one.by.author) for each in found for one in each.opinion.equals})
    named = [f"{kind}:{author}" for kind, author in authors]
    counts = Counter(one.criterion for one in found)
    listed = ", ".join(f"{name} {count}" for name, count in counts.most_common())
    things = "one and the same thing" if len(found) == 1 else f"the same {pluralize(len(found), 'thing')}"
    places = "; ".join(one.where for one in found[:_MOST_LISTED])
    places += f"; and {len(found) - _MOST_LISTED} more" if len(found) > _MOST_LISTED else ""
    first, *others = sorted(found[0].opinion.equals, key=lambda one: (str(one.place), str(one.by)))
    second = next(one for one in others if one.value != first.value)
    rest = [str(part) for part in str(judgments.precedence).split(",")]
    return RunError(
        f"{' and '.join(named)} judged {things} differently ({listed}) and nobody adjudicated: {places}. "
        f"For the first, {first.by} says {_value_text(first.value)}, and {second.by} "
        f"{_value_text(second.value)} ({second.place})",
        place=first.place,
        advice=f"let somebody decide: {_adjudication_command(first.place.path, schema, list(counts))} (or on a sheet: "
        "judge sheet, with --export FILE instead of --author), or specify whose judgment counts: "
        f"--judges {','.join(dict.fromkeys([named[0], *rest]))} (places are given by system, topic, trial:turn)",
    )


def _adjudication_command(layer: str, schema: Schema, criteria: list[str]) -> str:
    """Return the command by which somebody decides between the judgments. `layer` is the file of one of them. A schema
    that is not shipped is FILE, because its path is unknown here."""
    run = Path(layer).parent.parent if Path(layer).parent.name in _FOLDERS else "RUN"
    shipped = schema.name in shipped_schemas() and schema == load_schema(schema.name)
    which = [] if shipped and schema == load_schema() else ["--schema", schema.name if shipped else "FILE"]
    named = [word for name in criteria for word in ("--criterion", name)]
    return shlex.join(["harvest", "judge", "page", str(run), *which, *named, "--adjudicate", "--author", "NAME"])


def _value_text(value: float | str | None) -> str:
    return "n/a" if value is None else value if isinstance(value, str) else f"{value:g}"
