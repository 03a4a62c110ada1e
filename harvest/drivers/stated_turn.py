"""A turn as stated by a program or a function: text alone, or an object with the parts of an answer.

text          the reply; null for an empty one. A list of parts is read as in a chat completion refusal       a refusal
in a field of its own links         its sources, also called `sources`: addresses, or objects with an address, a title
and a place thoughts      text, or a list of it tools         calls: objects with name and arguments offers
suggestions and buttons: texts, or objects with title, value and kind attachments   objects with name, type and size
finish, model, tokens, ended, error
"""

from collections.abc import Mapping
from types import MappingProxyType

from harvest.drivers.parts import MisshapenError, Parts
from harvest.drivers.received import excerpt
from harvest.drivers.token_counts import count_tokens
from harvest.systems.driver import Unanswered
from harvest.systems.timing import Stopwatch
from recordings.conversations.conversation import SystemTurn

_LISTS = ("links", "sources", "tools", "offers", "attachments")


def turn_of_text(text: str, watch: Stopwatch, *, thoughts_apart: bool) -> SystemTurn:
    """Return the turn with a text as its reply."""
    parts = Parts()
    parts.take_text(text)
    answer, notes = parts.answer(thoughts_apart=thoughts_apart)
    return SystemTurn(answer, watch.asked_at, watch.first_seconds, watch.seconds, notes=notes)


def turn_of_fields(value: Mapping[str, object], watch: Stopwatch, *, thoughts_apart: bool) -> SystemTurn:
    """Return the turn that an object states. Raises Unanswered: `bad-type` without a text, `bad-json` for a value that
    should be a list, `system-error` for an `error`."""
    if value.get("error"):
        raise Unanswered("system-error", f"the program reports: {excerpt(str(value['error']))}")
    if not ("text" in value or value.get("refusal")):
        raise Unanswered("bad-type", f'a line has no text at "text": {excerpt(repr(dict(value)))}')
    for key in _LISTS:
        if value.get(key) is not None and not isinstance(value[key], list):
            raise Unanswered("bad-json", f'"{key}" is not a list: {excerpt(repr(value[key]))}')
    parts = Parts()
    try:
        parts.take_content(value.get("text"))
        parts.take_refusal(value.get("refusal"))
    except MisshapenError as fault:
        raise Unanswered("bad-type", f'a line has no text at "text": {fault}') from None
    parts.take_sources(value.get("links"))
    parts.take_sources(value.get("sources"))
    parts.take_thoughts(value.get("thoughts"))
    parts.take_calls(value.get("tools") or [])
    parts.take_offers(value.get("offers") or [])
    parts.take_attachments(value.get("attachments") or [])
    answer, notes = parts.answer(thoughts_apart=thoughts_apart)
    tokens = value.get("tokens")
    return SystemTurn(
        answer,
        asked_at=watch.asked_at,
        first_seconds=watch.first_seconds,
        seconds=watch.seconds,
        finish=excerpt(str(value.get("finish") or ""), 60),
        tokens=count_tokens(tokens, others=True) if isinstance(tokens, Mapping) else MappingProxyType({}),
        ended=value.get("ended") is True,
        model=excerpt(str(value.get("model") or ""), 120),
        notes=notes,
    )
