"""Lines for data that the text of a transcript cannot express: `###### harvest-transcript/1 system=B1 trial=1 …`.

    above each conversation     identity, outcome and states; if there are any, also the number of missing turns, the
                                speakers and their choices, and links whose address is not in the text
    for each further entity     `###### judged=M002 entity=… grade=2 …`: gold that no reply in the file mentions

Each item is name=value, percent-encoded so that no value contains a space. Readers ignore unknown names.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote

from protocols.answer import Answer
from protocols.route import Choice
from recordings.conversations.answer_parts import choice_row
from recordings.conversations.conversation import LARGEST_NUMBER, Conversation, Turn
from recordings.events.event_lines import choice_from
from recordings.files.errors import RunError
from recordings.formats.imports import MOST_TURNS_ALLOWED
from topics.errors import Place
from topics.gold import GoldEntry, format_vector
from topics.links import Link, links_in

_SAFE = "/:+,;@!$&'()*#-._~<>[]{}|^?"  # everything a person would like to read; not %, = or white space
_NUMBER = re.compile(r"[0-9]{1,20}")
# Names whose values are numbers, the least and the largest of them.
_NUMBERS = {
    **dict.fromkeys(("trial", "attempt", "place"), (1, LARGEST_NUMBER)),
    **dict.fromkeys(("missing", "most_turns"), (0, MOST_TURNS_ALLOWED)),
}


def percent_encode(text: str) -> str:
    return quote(text, safe=_SAFE, errors="surrogatepass")


@dataclass(frozen=True, slots=True)
class Heading:
    """The content of a line that begins with `######`. `own` has all values by name. `links` has the links of answers
    by turn, unless they are exactly the links in the text. `speakers` has the simulated user and the act of each turn.
    `choices` has the user's choice at each turn, and the choice to leave under 0. `judged` is an entity of the gold."""

    own: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[int, tuple[Link, ...]] = field(default_factory=dict)
    speakers: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    judged: GoldEntry | None = None
    choices: Mapping[int, Choice] = field(default_factory=dict)

    def number(self, name: str, default: int) -> int:
        return int(self.own.get(name, default))


# The heading of a transcript without lines from Harvest.
EMPTY_HEADING = Heading()


def parse_heading(pairs: Iterable[str]) -> Heading:
    """Parse items of the form name=value. Raises ValueError for the first invalid item."""
    own: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise ValueError(f"{pair!r} is not name=value, such as system=B1")
        own[name] = unquote(value, errors="surrogatepass")
    for name, (least, most) in _NUMBERS.items():
        if name in own and not (_NUMBER.fullmatch(own[name]) and least <= int(own[name]) <= most):
            raise ValueError(f"{name}={own[name]} is not a number from {least} to {most}")
    found = {}
    for number, links in enumerate(_read_list(own, "links"), 1):
        if links is not None:
            if not isinstance(links, list) or not all(_is_texts(link, 2) for link in links):
                raise ValueError("links= contains something that is not [text, address]")
            found[number] = tuple(Link(text, href) for text, href in links)
    rows = _read_list(own, "speakers")
    if not all(_is_texts(row, 2, 3, 4) for row in rows):
        raise ValueError("each item of speakers= must be [user, act], optionally followed by worded and session")
    speakers = {number: tuple(row) for number, row in enumerate(rows, 1)}
    return Heading(own, found, speakers, _gold_entry(own) if "judged" in own else None, _choices(own))


def heading_line(conversation: Conversation, form: str, most_turns: int = 0) -> str:
    """Return the line above a conversation. `most_turns` is the protocol's maximum of user turns, 0 if unknown."""
    key, outcome = conversation.key, conversation.outcome
    speakers = []
    for turn in conversation.turns:
        # The wording and a new session are written only if there are any.
        more = [turn.worded, turn.session] if turn.session else [turn.worded] if turn.worded else []
        speakers.append([turn.user, turn.act, *more])
    links = links_outside_text(conversation.turns)
    chosen = [outcome.choice if outcome else None, *(turn.choice for turn in conversation.turns)]
    choices = [choice_row(one) if one else None for one in chosen]
    pairs = {
        "system": key.system,
        "trial": str(key.trial),
        "attempt": str(conversation.attempt),
        "id": conversation.trial_id,
        "outcome": outcome.kind if outcome else "interrupted",
        "reason": outcome.reason if outcome else "",
        "detail": outcome.detail if outcome else "",
        "missing": str(outcome.missing) if outcome and outcome.missing is not None else "",
        "most_turns": str(most_turns) if most_turns else "",
        "session": conversation.session,
        "place": str(conversation.place),
        "user": conversation.user,
        "worker": conversation.worker,
        "member": conversation.member,
        "started_at": conversation.started_at,
        "ended_at": conversation.ended_at,
        "states": " ".join(turn.state for turn in conversation.turns),
        "speakers": json.dumps(speakers) if any(map(any, speakers)) else "",
        "choices": json.dumps(choices) if any(one is not None for one in choices) else "",
        "links": json.dumps(links) if any(one is not None for one in links) else "",
    }
    return " ".join(["######", form, *_write_pairs(pairs)])


def judged_line(entry: GoldEntry) -> str:
    """Return the line of a judged entity that no reply mentions."""
    pairs = {"judged": entry.topic, "entity": entry.entity, "grade": str(entry.grade), "title": entry.title}
    for name, vector in entry.groups.items():
        pairs[f"group:{name}"] = format_vector(vector)
        pairs[f"raw:{name}"] = entry.raw.get(name, "")
    return " ".join(["######", *_write_pairs(pairs)])


def _write_pairs(pairs: Mapping[str, str]) -> Iterator[str]:
    return (f"{name}={percent_encode(value)}" for name, value in pairs.items() if value)


def links_outside_text(turns: Iterable[Turn]) -> list[list[list[str]] | None]:
    """Return the links of each turn's answer as [text, address], or None if the text has exactly these links."""
    found: list[list[list[str]] | None] = []
    for turn in turns:
        answer = turn.reply.answer if turn.reply else Answer("")
        told = answer.links == links_in(answer.text)
        found.append(None if told else [[link.text, link.href] for link in answer.links])
    return found


def _gold_entry(own: Mapping[str, str]) -> GoldEntry:
    if not own.get("entity") or not re.fullmatch("[0-9]", own.get("grade", "")):
        raise ValueError("a judged entity needs entity=URL and grade=0 to 9")
    groups = {name.removeprefix("group:"): _vector(value) for name, value in own.items() if name.startswith("group:")}
    raw = {name.removeprefix("raw:"): value for name, value in own.items() if name.startswith("raw:")}
    return GoldEntry(own["judged"], own["entity"], int(own["grade"]), own.get("title", ""), groups, raw)


def _vector(text: str) -> tuple[float, ...]:
    shares = [share.partition("/") for share in text.removeprefix("(").removesuffix(")").split(",")]
    try:
        found = tuple(float(above) / float(below or 1) for above, _, below in shares)
        if abs(math.fsum(found) - 1) <= 1e-6 and min(found) >= 0:
            return found
    except (ValueError, ZeroDivisionError):
        pass
    raise ValueError(f"{text} is not a vector of shares, such as (0,1/2,1/2)")


def _choices(own: Mapping[str, str]) -> dict[int, Choice]:
    found = {}
    for number, row in enumerate(_read_list(own, "choices")):
        if row is not None:
            if not isinstance(row, dict):
                raise ValueError("choices= contains something that is not an object or null")
            try:
                found[number] = choice_from(row, Place(""))
            except RunError as fault:
                raise ValueError(f"choices=: {fault.what}") from None
    return found


def _read_list(own: Mapping[str, str], name: str) -> list[Any]:
    try:
        value = json.loads(own.get(name, "[]"))
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, list):
        raise ValueError(f"{name}= is not a JSON list")
    return value


def _is_texts(value: object, *lengths: int) -> bool:
    return isinstance(value, list) and len(value) in lengths and all(isinstance(one, str) for one in value)
