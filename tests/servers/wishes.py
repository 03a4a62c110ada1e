"""What a user turn can ask of the scenario server: `scenario KIND name=value …`, for example

    scenario table                      a table, streamed in pieces of 12 characters, 20 ms apart
    scenario prose pause=1 n=17         prose with a pause of 1 s in the middle; `n` only makes the turn different
    scenario bubbles count=3 pause=0.2  three bubbles with a pause between them
    scenario error status=429           HTTP 429 instead of a reply
    scenario prose error=1              an error after half of the reply
    scenario prose broken=1             the connection is closed after half of the reply

The kind says what the reply holds (see `wished_replies`), the values say when and how it comes, for every kind alike.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace

__all__ = ["Wish", "wish_in"]

_WISH = re.compile(r"\s*scenario\s+(?P<kind>[a-z]+)(?P<values>(?:\s+[a-z]+=[\d.]+)*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Wish:
    """How a reply comes. first: seconds before the first piece. pace: seconds between pieces. piece: characters of a
    piece. pause: seconds of each of the `pauses` in the middle. count: how many bubbles, rows or items. chars: length
    of a long reply. error, broken: after half of the reply, an error is reported, the connection is closed. status:
    of the HTTP reply to an `error`."""

    kind: str
    first: float = 0.15
    pace: float = 0.02
    piece: int = 12
    pause: float = 0.0
    pauses: int = 1
    count: int = 3
    chars: int = 20_000
    error: bool = False
    broken: bool = False
    status: int = 500


_OF_KIND: dict[str, dict[str, float]] = {
    "quick": {"first": 0.0, "pace": 0.0, "piece": 100_000},
    "slow": {"first": 4.0},
    "long": {"pace": 0.005, "piece": 200},
    "burst": {"first": 0.0, "pace": 0.0, "piece": 200},
    "stream": {"pause": 1.0},
    "broken": {"broken": 1},
    "bubbles": {"pause": 0.5},
}
_INTEGERS = {"piece", "pauses", "count", "chars", "status"}
_SWITCHES = {"error", "broken"}
_VALUES = {field.name for field in fields(Wish)} - {"kind"}


def wish_in(text: str) -> Wish | None:
    """The wish a user turn begins with; None where it begins with none. Unknown values only make turns different."""
    match = _WISH.match(text)
    if match is None:
        return None
    kind = match["kind"].lower()
    given = dict(_OF_KIND.get(kind, {}))
    for item in match["values"].split():
        name, _, value = item.lower().partition("=")
        if name in _VALUES:
            given[name] = float(value)
    typed: dict[str, object] = {}
    for name, number in given.items():
        typed[name] = int(number) if name in _INTEGERS else bool(number) if name in _SWITCHES else number
    return replace(Wish(kind), **typed)  # type: ignore[arg-type]
