"""The user's words in what a page sent to its server: JSON, forms, and whatever else holds them as they are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import parse_qsl

from harvest.pages.reading.page import letters

__all__ = ["words_sent"]

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_PART = re.compile(r"\r\n\r\n(.*?)\r\n--", re.DOTALL)  # of a form with several parts
_DEEPEST = 3  # JSON within JSON


def words_sent(bodies: Iterable[str | bytes], said: str) -> str | None:
    """What was said, as it left the page; None where that cannot be told. Equal to `said` where it stands there whole.

    Only a text of the same letters and digits is believed to be the turn.
    """
    wanted, said = letters(said), said.strip()
    other: str | None = None
    for body in bodies:
        for text in _texts(body if isinstance(body, str) else body.decode("utf-8", "replace"), _DEEPEST):
            if said in text.replace("\r\n", "\n"):
                return said
            if other is None and wanted and letters(text) == wanted:
                other = text.strip()
    return other


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
