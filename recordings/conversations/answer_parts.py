"""What a line says beside the words: what came with an answer, and what a simulated user chose among."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from protocols.answer import PARTS, Answer, Attachment, Offer, Source, ToolCall
from protocols.choice import Choice
from recordings.files.errors import RunError
from recordings.files.json_text import Json
from recordings.files.line_fields import MISSING, LineFields
from topics.errors import Place
from topics.links import Link


def parts_row(answer: Answer) -> dict[str, Any]:
    """What came with the text of an answer, by the keys of a line; a part that it lacks has no key."""
    row: dict[str, Any] = {}
    if answer.sources:
        row["sources"] = [_without_defaults(source, "href") for source in answer.sources]
    if answer.thoughts:
        row["thoughts"] = answer.thoughts
    if answer.calls:
        row["calls"] = [_without_defaults(call, "name") for call in answer.calls]
    if answer.offers:
        row["offers"] = [_without_defaults(offer, "title") for offer in answer.offers]
    if answer.attachments:
        row["attachments"] = [_without_defaults(attachment, "name") for attachment in answer.attachments]
    if answer.refused:
        row["refused"] = True
    if answer.refusal:
        row["refusal"] = answer.refusal
    return row


def choice_row(choice: Choice) -> dict[str, Any]:
    """A choice by the keys of a line; what is not known has none."""
    row: dict[str, Any] = {}
    if choice.probability is not None:
        row["probability"] = choice.probability
    if choice.leaving:
        row["leaving"] = dict(choice.leaving)
    if choice.took:
        row["took"] = choice.took
    if choice.coverage is not None:
        row["coverage"] = choice.coverage
    if choice.noise:
        row["noise"] = {kind: list(units) for kind, units in choice.noise.items()}
    if choice.refused:
        row["refused"] = dict(choice.refused)
    if choice.meant:
        row["meant"] = choice.meant
    return row


def choice_from(row: Mapping[str, Json], place: Place) -> Choice:
    """The choice that `choice_row` wrote. Raises RunError with the place."""
    return choice_of(LineFields(row, place))


def with_parts(answer: Answer, row: Mapping[str, Json], place: Place) -> Answer:
    """The answer with what `parts_row` wrote of it. Raises RunError with the place."""
    parts = {key: row[key] for key in PARTS if key in row}
    read = answer_of(LineFields({"text": answer.text, **parts}, place))
    return replace(read, links=answer.links, links_left_out=answer.links_left_out)


def _without_defaults(part: Source | ToolCall | Offer | Attachment, first: str) -> dict[str, Any]:
    values = {entry.name: (getattr(part, entry.name), entry.default) for entry in fields(part)}
    return {name: value for name, (value, default) in values.items() if name == first or value != default}


def answer_of(row: LineFields) -> Answer:
    return Answer(
        row.text("text", MISSING),
        tuple(Link(link.text("text"), link.text("href", MISSING)) for link in row.objects("links")),
        row.count("links_left_out"),
        tuple(
            Source(
                one.text("href", MISSING),
                one.text("title"),
                one.count("start", -1, least=-1),
                one.count("end", -1, least=-1),
                one.text("place", "beside"),
            )
            for one in row.objects("sources")
        ),
        row.text("thoughts"),
        tuple(ToolCall(one.text("name", MISSING), one.text("arguments")) for one in row.objects("calls")),
        tuple(
            Offer(one.text("title", MISSING), one.text("value"), one.text("kind", "reply"))
            for one in row.objects("offers")
        ),
        tuple(
            Attachment(one.text("name", MISSING), one.text("type"), None if one.absent("size") else one.count("size"))
            for one in row.objects("attachments")
        ),
        row.flag("refused"),
        row.text("refusal"),
    )


def choice_of(row: LineFields) -> Choice:
    leaving, noise = row.inner("leaving"), row.inner("noise")
    units: dict[str, tuple[int, int]] = {}
    for kind, pair in noise.values.items():
        match pair:
            case [int() as could, int() as did] if could >= 0 and did >= 0:
                units[kind] = could, did
            case _:
                raise RunError("'noise' holds something that is not [units, units changed]", place=row.place)
    return Choice(
        row.share("probability"),
        {reason: leaving.share(reason) or 0.0 for reason in leaving.values},
        row.text("took"),
        row.share("coverage"),
        units,
        row.counts("refused"),
        row.text("meant"),
    )
