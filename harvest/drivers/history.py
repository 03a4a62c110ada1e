"""The conversation so far, as sent to a system that keeps no state.

An empty reply is an answer, so it stays in the history. Some systems, however, refuse a history with their own empty
reply. The conversation then continues without that message. If the system also refuses the resulting two user messages
in a row, the two messages are merged. Without these steps, conversations with an empty answer would be lost, although
empty answers count against the system.
"""

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from harvest.systems.driver import DriverError, Exhibit, NotSent, Reply
from protocols.answer import Answer, Exchange
from topics.sent_files import SentFile

# The note on a turn before which an empty reply was left out.
LEFT_OUT_NOTE = "the system refuses its own empty reply as a part of the history; it was sent without that message"

# Errors that an empty message may cause. Keys, quotas and times do not depend on the history.
_REFUSED_HISTORY = re.compile(r"http-4(?!0[123478]|09|25|29)\d\d|http-500|system-error|exception|exit-\d+")

# `files`, if there are any, is a list of `SentFile`s.
Message = dict[str, Any]


class History:
    """The exchanges of one session. `before` has the messages that precede the exchanges."""

    def __init__(self, exchanges: Iterable[Exchange] = (), before: Iterable[Message] = ()) -> None:
        self._before, self._exchanges = list(before), list(exchanges)
        self._form = 0  # as it was; 1: without empty replies; 2: and with the user's words around them in one message

    def __len__(self) -> int:
        return len(self._exchanges)

    def add(self, said: str, answer: Answer, files: Sequence[SentFile] = ()) -> None:
        """Add an answered turn. Do not add a failed turn, because a failed turn can be sent again."""
        self._exchanges.append(Exchange(said, answer, tuple(files)))

    def messages(self, following: str | None = None, files: Sequence[SentFile] = ()) -> list[Message]:
        """Return the messages with role and content, and with the files that were sent. `following` is the user's next
        turn, added as the last message, with its `files`."""
        told = [*self._before]
        joins = False
        for exchange in self._exchanges:
            _add_user_message(told, exchange.said, exchange.attached, joins=joins)
            left_out = self._form > 0 and _is_empty(exchange)
            joins = left_out and self._form > 1
            if not left_out:
                told.append({"role": "assistant", "content": exchange.answer.text})
        if following is not None:
            _add_user_message(told, following, files, joins=joins)
        return told

    async def ask(self, send: Callable[[], Awaitable[Reply]]) -> Reply:
        """Return the reply of `send`, which sends `messages()`. If the system may have refused its own empty reply,
        the messages are sent again in another form. Raises the DriverError of `send`."""
        silent = any(map(_is_empty, self._exchanges))
        forms = range(self._form, 3) if silent else (self._form,)
        refused: list[Exhibit] = []
        for form in forms:
            self._form = form
            try:
                reply = await send()
            except DriverError as fault:
                if form == forms[-1] or isinstance(fault, NotSent) or not _REFUSED_HISTORY.fullmatch(fault.reason):
                    self._form = forms[0]  # the form was not the cause
                    raise
                refused = refused or [replace(one, name=f"refused-{one.name}") for one in fault.exhibits]
                continue
            if silent and form:
                reply = replace(reply, turn=replace(reply.turn, notes=(*reply.turn.notes, LEFT_OUT_NOTE)))
            return replace(reply, exhibits=(*reply.exhibits, *refused)) if refused else reply
        raise AssertionError("a history has at least one form")


def _is_empty(exchange: Exchange) -> bool:
    return not exchange.answer.text.strip()


def _add_user_message(told: list[Message], text: str, files: Sequence[SentFile], *, joins: bool) -> None:
    # Some systems also refuse two user messages in a row.
    if joins:
        last = told.pop()
        text, files = f"{last['content']}\n\n{text}", (*last.get("files", ()), *files)
    told.append({"role": "user", "content": text, **({"files": files} if files else {})})


def json_bytes(value: object) -> bytes:
    """Encode `value` as JSON in UTF-8. A system may send a lone surrogate, which UTF-8 cannot represent; the JSON is
    then in ASCII with escapes."""
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()
