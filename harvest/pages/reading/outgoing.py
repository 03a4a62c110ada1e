"""The user's text in a page's requests to its server: in JSON, in forms, and unchanged in any other body."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from urllib.parse import parse_qsl

from harvest.pages.reading.altered import likeness_to_said
from harvest.pages.reading.page import letters

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_PART = re.compile(r"\r\n\r\n(.*?)\r\n--", re.DOTALL)  # of a form with several parts
_STRUCTURED = re.compile(r"\s*(?:[\[{<]|\w+[=\[]|\d+[\[{])|https?://|--")  # JSON, forms, frames, addresses
_DEEPEST = 3  # JSON within JSON
_EXTRA_CHARACTERS = 20  # characters that the turn in another form may have more
_LENGTH_STEP = 100  # most characters in which messages with the same words differ


def find_sent_text(bodies: Iterable[str | bytes], said: str, *, known: str = "") -> str | None:
    """Return the turn as it left the page, or None if it cannot be found. The result equals `said` if a body contains
    that text unchanged. Otherwise the result is a text with the same letters and digits, or failing that the most
    similar new text. `known` holds the letters of everything said before."""
    wanted, said = letters(said), said.strip()
    other: str | None = None
    alike: tuple[float, str] | None = None
    for body in bodies:
        for text in _texts_in(body if isinstance(body, str) else body.decode("utf-8", "replace"), _DEEPEST):
            if said in text.replace("\r\n", "\n"):
                return said
            if other is None and wanted and letters(text) == wanted:
                other = text.strip()
            if (
                other is None
                and len(text) <= 2 * len(said) + _EXTRA_CHARACTERS
                and letters(text)
                and not _STRUCTURED.match(text)
            ):
                # It may be the turn itself: no message around one, and nothing that was said before.
                share = likeness_to_said(said, text.strip()) if letters(text) not in known else 0.0
                alike = (share, text.strip()) if share and (alike is None or share >= alike[0]) else alike
    return other if other is not None or alike is None else alike[1]


def count_times_sent(messages: Iterable[tuple[str, str | bytes]], said: str) -> int:
    """Return how often the turn left the page in messages of one kind and size. `messages` are pairs of kind and body.
    A page may send a turn once to be answered and again, in another kind of message, to be named or counted."""
    sent = Counter(
        (kind, len(body) // _LENGTH_STEP) for kind, body in messages if find_sent_text([body], said) == said.strip()
    )
    return max(sent.values(), default=0)


def _texts_in(body: str, depth: int) -> Iterator[str]:
    yield body
    for found in _STRING.finditer(body):
        try:
            text = json.loads(found[0], strict=False)
        except ValueError:
            continue
        yield text
        if depth and '"' in text:
            yield from _texts_in(text, depth - 1)
    if depth == _DEEPEST:
        yield from (value for _, value in parse_qsl(body))
        yield from (found[1] for found in _PART.finditer(body))
