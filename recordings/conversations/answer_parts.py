"""The parts of a reply other than its text, and the choice of a simulated user, as written in recorded lines."""

from dataclasses import fields
from typing import Any

from protocols.answer import Answer, Attachment, Offer, Source, ToolCall
from protocols.route import Choice
from recordings.conversations.conversation import SystemTurn

# Keys of what was measured or said about a reply. Its evidence is not among them, because it is in the run's folder.
REPLY_KEYS = (
    *(
        "asked_at",
        "first_seconds",
        "seconds",
        "finish",
        "tokens",
        "pieces",
        "ended",
        "sends",
        "sent_as",
        "model",
        "notes",
        "greeting",
        "greeting_offers",
    ),
)


def parts_row(answer: Answer) -> dict[str, Any]:
    """Return the parts of an answer other than its text, by their keys in a recorded line. Empty parts are left out."""
    row: dict[str, Any] = {}
    if answer.sources:
        row["sources"] = [_omit_defaults(source, "href") for source in answer.sources]
    if answer.thoughts:
        row["thoughts"] = answer.thoughts
    if answer.calls:
        row["calls"] = [_omit_defaults(call, "name") for call in answer.calls]
    if answer.offers:
        row["offers"] = [offer_row(offer) for offer in answer.offers]
    if answer.attachments:
        row["attachments"] = [_omit_defaults(attachment, "name") for attachment in answer.attachments]
    if answer.refused:
        row["refused"] = True
    if answer.refusal:
        row["refusal"] = answer.refusal
    return row


def reply_row(reply: SystemTurn) -> dict[str, Any]:
    """Return the parts of a reply other than its text, and its measurements, by their keys in a recorded line. Unknown
    values are left out."""
    row = parts_row(reply.answer)
    plain = SystemTurn(reply.answer)
    for key in REPLY_KEYS:
        value = getattr(reply, key)
        if value != getattr(plain, key):
            row[key] = list(value) if isinstance(value, tuple) else dict(value) if key == "tokens" else value
    if reply.greeting_offers:
        row["greeting_offers"] = [offer_row(offer) for offer in reply.greeting_offers]
    return row


def offer_row(offer: Offer) -> dict[str, Any]:
    """Return the offer, by its keys in a recorded line. Defaults are left out."""
    return _omit_defaults(offer, "title")


def choice_row(choice: Choice) -> dict[str, Any]:
    """Return the choice of a simulated user, by its keys in a recorded line. Unknown values are left out."""
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


def _omit_defaults(part: Source | ToolCall | Offer | Attachment, first: str) -> dict[str, Any]:
    values = {entry.name: (getattr(part, entry.name), entry.default) for entry in fields(part)}
    return {name: value for name, (value, default) in values.items() if name == first or value != default}
