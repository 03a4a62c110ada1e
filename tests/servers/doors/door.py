"""Small servers of the APIs for which there are recipes, each written from the specification that it names.

All tell one truth: what is said in turn n of a conversation, with its sources, thoughts, calls and end, follows from n
and the user's words. A door says as much of it as its API can (`parts`), in the shape of that API. It counts turns by
itself, by the session or by the history it is sent, so that conversations that are mixed up are seen.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from protocols.answer import Answer
from recordings.conversations.conversation import ending_from_finish
from tests.servers.local_http import Asked, response

__all__ = ["KEY", "Door", "Said", "said"]

KEY = "k-0123456789"
HALL, MILL = "https://www.example.org/hall", "https://www.example.org/mill?a=1&b=2"
STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n"


@dataclass(frozen=True)
class Said:
    """A turn as the server means it. sources: pairs of an address and a title. calls: of a name and arguments."""

    text: str
    sources: tuple[tuple[str, str], ...] = ()
    thoughts: str = ""
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    offers: tuple[tuple[str, str], ...] = ()
    refusal: str = ""
    blocked: bool = False
    end: str = "whole"
    tokens: tuple[int, int] = (0, 0)

    @classmethod
    def of(cls, answer: Answer, finish: str, tokens: Mapping[str, int]) -> Said:
        """What was said, as it was recorded."""
        ending = ending_from_finish(finish)
        return cls(
            "" if answer.refused and not answer.refusal else answer.text,
            tuple((one.href, one.title) for one in answer.sources if one.href),
            answer.thoughts,
            tuple((call.name, json.loads(call.arguments)) for call in answer.calls),
            tuple((offer.title, offer.value) for offer in answer.offers),
            (answer.refusal or answer.text) if answer.refused else "",
            answer.refused and not answer.text,
            "cut" if ending == "cut" else "whole",
            (tokens.get("prompt", 0), tokens.get("completion", 0)),
        )

    @property
    def pieces(self) -> list[str]:
        return [self.text[at : at + 9] for at in range(0, len(self.text), 9)]


def said(parts: frozenset[str], text: str, n: int) -> Said:
    """What is said in turn n, from 1, as far as `parts` can be told."""
    told = {
        1: Said(f"Hello! You said: {text}"),
        2: Said("Two mills are near.\n\nOne of them is new.", sources=((MILL, "The mill"), (HALL, "A hall"))),
        3: Said("It opens at nine.", thoughts="The user asks for times; noon is wrong."),
        4: Said("I looked it up.", calls=(("find_times", {"place": "mill", "day": 3}),)),
        5: Said("", refusal="I cannot help with that.", blocked="block" in parts),
        6: Said("The list begins: one, two,", end="cut"),
        7: Said("Ærø, 東京, 🦜 “quotes” \\ {{ text }} & <b> 100%\u2028next\x85end"),
        8: Said(f"See [the hall]({HALL}).", thoughts="hm", sources=((MILL, "The mill"),)),
        9: Said("Which one?", offers=(("The old one", "/old"), ("The new one", "/new"))),
    }.get(n, Said(f"This is turn {n}: {text}"))
    whole = Said(
        told.text,
        told.sources if "sources" in parts else (),
        told.thoughts if "thoughts" in parts else "",
        told.calls if "calls" in parts else (),
        told.offers if "offers" in parts else (),
        told.refusal if "refusal" in parts else "",
        told.blocked,
        told.end if "end" in parts else "whole",
        (10 + n, len(told.text)) if "tokens" in parts else (0, 0),
    )
    return (
        whole if whole.text or whole.refusal or whole.blocked else Said("Let us speak of mills.", tokens=whole.tokens)
    )


class Door:
    """A server of one API. ends: its words for `whole` and `cut`. lines: its streams are lines of JSON. last:
    what comes after the last event. key_header: where it wants its key, and what precedes it. signed: it can be shown
    a signature instead. counts: how many turns each conversation has had."""

    recipe = ""
    parts: ClassVar[frozenset[str]] = frozenset()
    ends: ClassVar[dict[str, str]] = {"whole": "", "cut": ""}
    model = ""
    lines = False
    last = b""
    key_header: ClassVar[tuple[str, str]] = ("authorization", "Bearer ")
    signed = False

    def __init__(self) -> None:
        self.counts: dict[str, int] = defaultdict(int)

    async def __call__(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        """Answer a request, or fail as a user turn `fault: KIND` wishes."""
        answer, text = self.other(asked), ""
        if answer is None:
            text, n = self.heard(asked)
            if text.startswith("fault: "):
                answer = self.fail(asked, text.removeprefix("fault: "))
            else:
                answer = self.shape(asked, said(self.parts, text, n))
        writer.write(answer)
        await writer.drain()
        if text == "fault: broken":
            writer.close()

    def other(self, asked: Asked) -> bytes | None:
        """The response to a request that is no user turn."""
        return None

    def heard(self, asked: Asked) -> tuple[str, int]:
        """The user's words and the number of the turn."""
        raise NotImplementedError

    def shape(self, asked: Asked, one: Said) -> bytes:
        raise NotImplementedError

    def whole(self, value: Any, status: str = "200 OK") -> bytes:
        return response(status, json.dumps(value, ensure_ascii=False))

    def stream(self, *events: Any) -> bytes:
        kind = b"application/x-ndjson" if self.lines else b"text/event-stream; charset=utf-8"
        chunks = [b"%x\r\n%s\r\n" % (len(one), one) for one in (*map(self.event, events), self.last) if one]
        return STREAM_HEAD % kind + b"".join(chunks) + b"0\r\n\r\n"

    def event(self, value: Any) -> bytes:
        data = json.dumps(value).encode()
        return data + b"\n" if self.lines else b"data: " + data + b"\n\n"

    def fail(self, asked: Asked, kind: str) -> bytes:
        if kind == "own":
            return self.own_fault(asked)
        if kind == "broken":
            whole = self.shape(asked, Said("This breaks off"))
            return whole[: (whole.index(b"\r\n\r\n") + len(whole)) // 2]
        return response(f"{kind} Fault", json.dumps({"error": {"message": f"as you wish: {kind}"}}))

    def own_fault(self, asked: Asked) -> bytes:
        """A failure as only this API tells it."""
        raise NotImplementedError

    def expired(self) -> bytes:
        """The answer to a request whose token has expired."""
        return response("401 Unauthorized", '{"error": "expired"}', 'WWW-Authenticate: Bearer error="invalid_token"')

    def told_before(self, messages: list[dict[str, Any]], role: str = "assistant") -> tuple[str, int]:
        """The user's words and the number of the turn, from a history that has to be what was said."""
        *before, last = [self.words(one) for one in messages if one["role"] != "system"]
        for place in range(0, len(before), 2):
            one = said(self.parts, before[place], place // 2 + 1)
            assert before[place + 1] == (one.text or one.refusal), before[place + 1]
        assert [one["role"] for one in messages if one["role"] != "system"][1::2] == [role] * (len(before) // 2)
        return last, len(before) // 2 + 1

    def words(self, message: dict[str, Any]) -> str:
        content = message["content"]
        if isinstance(content, list):  # with files
            return str(next(part["text"] for part in content if "text" in part))
        return str(content)

    def truth(self, text: str, n: int) -> Said:
        """What was said to the user's words in turn n."""
        return said(self.parts, text, n)

    def next_turn(self, session: str, text: str) -> tuple[str, int]:
        self.counts[session] += not text.startswith("fault: ")
        return text, self.counts[session]


def bearer(asked: Asked) -> None:
    """Insist on the key."""
    assert asked.headers["authorization"] == f"Bearer {KEY}"
