"""The messages of one conversation from the calls of a model, most of which repeat all that was said before."""

from collections.abc import Sequence
from typing import Any

from recordings.files.json_text import Json
from recordings.formats.message_sides import words_by_side


def join_calls(calls: Sequence[tuple[Sequence[dict[str, Any]], Sequence[dict[str, Any]]]]) -> list[Json]:
    """Return the messages of several calls in order, each once although most calls repeat those before them."""
    found: list[Json] = []
    said: list[tuple[str, str]] = []
    for given, answered in calls:
        words = words_by_side(given)
        # The longest end of what is there with which the new messages begin.
        known = next(
            (length for length in range(min(len(words), len(said)), 0, -1) if said[-length:] == words[:length]), 0
        )
        new = list(given)
        while known and new:  # the messages of both sides are counted, and those between them go with them
            known -= bool(words_by_side(new[:1]))
            del new[0]
        if said:
            new = [one for one in new if one.get("role") not in ("system", "developer")]
        found += (*new, *answered)
        said += words_by_side([*new, *answered])
    return found
