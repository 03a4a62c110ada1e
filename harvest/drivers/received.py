"""Responses over HTTP as bytes, and the error for each status.

    status                          error
    2xx                             none: the response is a reply. But 206, a part that was not requested: Unanswered
    401, 402, 403, 407              Denied: the key, the account or the proxy is wrong
    404, 405, 410 …, other 4xx      Denied until the system has answered once: the request itself is wrong.
                                    After that Unanswered: the cause lies in this conversation (too long for
                                    the model, a session that expired)
    408, 409; 425                   Unanswered (a time-out, a lock on the server); NotSent
    429                             NotSent, with Retry-After; Denied if the body says the quota is used up
    5xx, 1xx                        Unanswered, with Retry-After if there is one
    3xx                             Denied (`redirect`): only redirects within the same origin are followed

Only the status and the machine-readable code of an error are considered, never the text of a reply.
"""

import codecs
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from email.message import Message
from email.utils import parsedate_to_datetime
from functools import lru_cache
from http import HTTPStatus
from typing import TypeVar

from harvest.drivers.amazon_frames import AMAZON_FRAMES, framed_lines
from harvest.systems.driver import Denied, DriverError, Exhibit, NotSent, Unanswered
from harvest.systems.timing import Stopwatch
from recordings.log.own_loop import run_long_work

_DENIED_STATUSES = frozenset({401, 402, 403, 407})
_QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_MODEL_CODES = frozenset({"model_not_found", "invalid_model", "model_not_supported", "deploymentnotfound"})
_PYTHON_CODECS = frozenset({"undefined", "punycode", "idna", "unicode-escape", "raw-unicode-escape"})  # no charsets
_EVENTS_BEGIN = re.compile(r"\s*(?:data|event|id|retry)?:")
_STREAM_HINT = "this looks like {}: with the driver http, `stream: {{form: {}, end: …}}` reads it"
RAW_CONTROLS_HINT = "with `raw_controls: true`, the driver http takes control characters as they are"
_Result = TypeVar("_Result")
_MOST_EVIDENCE = 2**20  # bytes of an incomplete reply: enough to recognise it


def excerpt(text: str, most: int = 200) -> str:
    """Return the beginning of `text` on one line, with at most `most` characters."""
    line = " ".join(text[: most * 2].encode("utf-8", "replace").decode("utf-8").split())
    return line if len(line) <= most else line[: most - 1] + "…"


def why_not_json(error: ValueError | RecursionError) -> str:
    """Return why Python refused a text as JSON."""
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return str(error) if isinstance(error, json.JSONDecodeError) else "a number has too many digits"


def join_surrogates(text: str) -> str:
    """Return `text` with surrogate pairs combined. JSON may escape a character beyond U+FFFF as two surrogates, and a
    stream may be cut between them. A lone surrogate is kept, because the system sent it."""
    try:
        text.encode("utf-16-le")
    except UnicodeEncodeError:  # quicker than searching for them
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


@dataclass(frozen=True, slots=True)
class Received:
    """A response: URL, status, headers, body and times. `body` holds the bytes after decompression. `is_complete` is
    False if the transfer broke off, timed out or grew too large."""

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    watch: Stopwatch
    is_complete: bool = True

    def header(self, name: str) -> str:
        """Return the first header called `name` (in lower case), or "" if there is no such header."""
        return next((value for key, value in self.headers if key.lower() == name), "")

    @property
    def address(self) -> str:
        """The URL without its query, which may contain a key."""
        return self.url.partition("?")[0]

    @property
    def beginning(self) -> str:
        """The beginning of the body, quoted for a message."""
        return repr(excerpt(self.body[:800].decode("utf-8", "replace")))

    @property
    def is_delimited(self) -> bool:
        """True if HTTP itself marks the end of the body, so that a truncated body is noticed."""
        return bool(self.header("content-length") or "chunked" in self.header("transfer-encoding").lower())

    @property
    def media_type(self) -> str:
        return self.header("content-type").partition(";")[0].strip().lower()

    @property
    def charset(self) -> str:
        """The declared charset. The default is UTF-8."""
        return _charset_of(self.header("content-type") or "text/plain")

    @property
    def json_or_none(self) -> object:
        """The body as a JSON value in which errors can be looked up, or None if the body is not JSON."""
        try:
            return json.loads(self.body[:_MOST_EVIDENCE])
        except (ValueError, RecursionError):
            return None

    @property
    def exhibits(self) -> tuple[Exhibit, ...]:
        """Evidence of the response: its URL, status and headers, and its body."""
        name = "stream" if self.media_type == "text/event-stream" else "response"
        body = self.body if self.is_complete else self.body[:_MOST_EVIDENCE]
        media_type = self.header("content-type") or "application/octet-stream"
        return (
            Exhibit("headers", "application/json", self._head_text()),
            Exhibit(name, media_type, body),
        )

    def _head_text(self) -> bytes:
        """Return the same bytes as json.dumps with an indent of 1, in a fraction of the time."""
        pairs = ",\n".join(f"  [\n   {_quoted(name)},\n   {_quoted(value)}\n  ]" for name, value in self.headers)
        listed = f"[\n{pairs}\n ]" if pairs else "[]"
        text = f'{{\n "url": {_quoted(self.url)},\n "status": {self.status},\n "headers": {listed}\n}}'
        return text.encode()

    def fault(self, kind: type[DriverError], reason: str, detail: str, *, partial: str | None = None) -> DriverError:
        """Return an error of `kind` with this response as evidence. `partial` is by default the body as text."""
        if partial is None:
            partial = self.body[:_MOST_EVIDENCE].decode("utf-8", "replace")
        return kind(reason, detail, partial=partial, exhibits=self.exhibits)

    def text(self) -> str:
        """Decode the body strictly. Raises Unanswered (`unknown-charset`, `not-utf8`, `bad-encoding`, `bad-frame`)."""
        if self.media_type == AMAZON_FRAMES:
            return framed_lines(self.body)
        charset = self.charset
        try:
            codec = codecs.lookup(charset)
        except (LookupError, ValueError):  # ValueError: a NUL in the name
            codec = None
        if codec is None or codec.name in _PYTHON_CODECS:
            detail = f"the reply declares an unknown charset, {excerpt(charset, 60)!r}"
            raise self.fault(Unanswered, "unknown-charset", detail)
        name = "utf-8-sig" if codec.name == "utf-8" else charset
        try:
            return self.body.decode(name)
        except UnicodeDecodeError as error:
            reason = "not-utf8" if codec.name == "utf-8" else "bad-encoding"
            detail = f"byte {error.start} of the reply is not {charset}: {error.reason}"
            raise self.fault(Unanswered, reason, detail) from None
        except UnicodeError as error:  # some codecs give no details
            raise self.fault(Unanswered, "bad-encoding", f"the reply is not {charset}: {excerpt(str(error))}") from None
        except LookupError:  # codecs from bytes to bytes, such as `hex`, are not charsets
            raise self.fault(Unanswered, "unknown-charset", f"{charset!r} is not a text encoding") from None

    def json(self, *, raw_controls: bool = False) -> object:
        """Return the body as a JSON value, whose strings may contain control characters if `raw_controls` is True.
        Raises Unanswered (`bad-json`, or any reason of `text`)."""
        text = self.text()
        try:
            return json.loads(text, strict=not raw_controls)
        except (ValueError, RecursionError) as error:
            why = why_not_json(error)
            hint = f"; {RAW_CONTROLS_HINT}" if "control character" in why else ""
            if _EVENTS_BEGIN.match(text):  # servers may declare another type than they send
                hint = "; " + _STREAM_HINT.format("a stream of events", "events")
            elif why.startswith("Extra data") and "\n" in text.strip():
                hint = "; " + _STREAM_HINT.format("a stream of lines", "lines")
            detail = f"the reply is not JSON ({why}){hint}; it begins: {excerpt(text)!r}"
            raise self.fault(Unanswered, "bad-json", detail) from None

    async def read_in_time(self, seconds: float, work: Callable[[], _Result]) -> _Result:
        """Return the result of `work`, which reads this reply, within what is left of the turn's `seconds`. Raises
        Unanswered (`timeout`) if not: a thread then reads on to the end of the body, which has a bound."""
        import asyncio  # late: reading a run needs no event loop

        try:
            async with asyncio.timeout(max(0.0, seconds - (self.watch.seconds or 0.0))):
                return await run_long_work(len(self.body), work)
        except TimeoutError:
            detail = f"the reply came, but could not be read within the time for a turn ({seconds:g} s)"
            raise self.fault(Unanswered, "timeout", detail) from None

    def refusal(self, *, answered: bool, not_found: str = "") -> DriverError | None:
        """Return the error that the status means, or None for a reply. Set `answered` if the system replied before.
        `not_found` is added to the message of a 404 without a code of its own."""
        if 200 <= self.status < 300 and self.status != HTTPStatus.PARTIAL_CONTENT:
            return None
        if 300 <= self.status < 400:
            where = self.header("location")
            return self.fault(Denied, "redirect", f"{self.address} redirects to {where or 'nowhere'}")
        kind, code = self._error_kind(answered), error_code(self.json_or_none)
        reason = code.replace("_", "-") if code in _QUOTA_CODES | _MODEL_CODES else f"http-{self.status}"
        fault = self.fault(kind, reason, self._status_message() + (not_found if reason == "http-404" else ""))
        if kind is not Denied:
            fault.retry_after = self.retry_after
        return fault

    def _error_kind(self, answered: bool) -> type[DriverError]:
        code = error_code(self.json_or_none)
        if self.status in _DENIED_STATUSES or code in _MODEL_CODES or (self.status == 429 and code in _QUOTA_CODES):
            return Denied
        if self.status in (425, 429):
            return NotSent
        if 400 <= self.status < 500 and self.status not in (408, 409) and not answered:
            return Denied
        return Unanswered

    def _status_message(self) -> str:
        try:
            phrase = HTTPStatus(self.status).phrase
        except ValueError:
            phrase = "an unknown status"
        text = error_message(self.json_or_none) or self.body[:2000].decode("utf-8", "replace")
        return f"{self.status} {phrase}: {excerpt(text)}" if text.strip() else f"{self.status} {phrase}"

    @property
    def retry_after(self) -> float | None:
        """The seconds to wait that the server asks for, at least 0, or None if the header is missing or unreadable."""
        for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
            value = self.header(name).strip()
            if value.isascii() and value.replace(".", "", 1).isdigit():
                seconds = float(value) * unit
                return seconds if math.isfinite(seconds) else None
        try:
            moment = parsedate_to_datetime(self.header("retry-after"))
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=UTC)
            return max(0.0, (moment - self.watch.clock.now()).total_seconds())
        except (TypeError, ValueError, ArithmeticError, LookupError):  # years and zones beyond what a date can be
            return None


_quoted = json.JSONEncoder(ensure_ascii=False).encode


@lru_cache(maxsize=64)  # a system declares the same again and again
def _charset_of(declared: str) -> str:
    message = Message()
    message["content-type"] = declared
    try:
        return message.get_content_charset("utf-8")
    except (ValueError, LookupError):  # `charset*=…` is percent-encoded in another charset
        return excerpt(declared, 60)


def _error_field(value: object) -> object:
    return value.get("error") if isinstance(value, Mapping) else None


def error_code(value: object) -> str:
    """Return the code of an error body (`{"error": {"code": …, "type": …}}`) in lower case, or ""."""
    error = _error_field(value)
    if isinstance(error, Mapping):
        for key in ("code", "type"):
            if isinstance(error.get(key), str) and not str(error[key]).isdigit():
                return str(error[key]).lower()
    return ""


def error_message(value: object) -> str:
    """Return the message of an error body, or "" if no usual field contains a message."""
    error = _error_field(value)
    if isinstance(error, str):
        return error
    for holder in (error, value):
        if isinstance(holder, Mapping):
            for key in ("message", "detail", "error_description"):
                if isinstance(holder.get(key), str):
                    return str(holder[key])
    return ""
