"""The user's words in what a page sent to its server: JSON, forms, and whatever else holds them as they are."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from urllib.parse import parse_qsl

from harvest.pages.reading.altered import resembles
from harvest.pages.reading.page import letters

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_PART = re.compile(r"\r\n\r\n(.*?)\r\n--", re.DOTALL)  # of a form with several parts
_HOLDS = re.compile(r"\s*(?:[\[{<]|\w+[=\[]|\d+[\[{])|https?://|--")  # JSON, forms, frames, addresses
_DEEPEST = 3  # JSON within JSON
_BESIDE = 20  # characters more than the turn that a text may have which is the turn in other words
_ALIKE = 100  # characters within which messages that say the same differ


def words_sent(bodies: Iterable[str | bytes], said: str, *, known: str = "") -> str | None:
    """What was said, as it left the page; None where that cannot be told. Equal to `said` where it stands there whole.

    A text of the same letters and digits is believed to be the turn, else the text most like it that is not among what
    was said before. known: the letters of that.
    """
    wanted, said = letters(said), said.strip()
    other: str | None = None
    alike: tuple[float, str] | None = None
    for body in bodies:
        for text in _texts(body if isinstance(body, str) else body.decode("utf-8", "replace"), _DEEPEST):
            if said in text.replace("\r\n", "\n"):
                return said
            if other is None and wanted and letters(text) == wanted:
                other = text.strip()
            if other is None and len(text) <= 2 * len(said) + _BESIDE and letters(text) and not _HOLDS.match(text):
                # It may be a turn by itself: no message that holds one, and nothing that was said before.
                share = resembles(said, text.strip()) if letters(text) not in known else 0.0
                alike = (share, text.strip()) if share and (alike is None or share >= alike[0]) else alike
    return other if other is not None or alike is None else alike[1]


def times_sent(messages: Iterable[tuple[str, str | bytes]], said: str) -> int:
    """How often the turn has left the page in messages that are alike: a page may also send it once to be answered and
    once, in a message of another kind, to be named or counted. messages: (kind, body)."""
    sent = Counter((kind, len(body) // _ALIKE) for kind, body in messages if words_sent([body], said) == said.strip())
    return max(sent.values(), default=0)


def _texts(body: str, depth: int) -> Iterator[str]:
    yield body
    for found in _STRING.finditer(body):
        try:
            text = json.loads(found[0], strict=False)
        except ValueError:
            continue
        yield text
        if depth and '"' in text:
            yield from _texts(text, depth - 1)
    if depth == _DEEPEST:
        yield from (value for _, value in parse_qsl(body))
        yield from (found[1] for found in _PART.finditer(body))
