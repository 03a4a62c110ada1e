"""`remembered`: Retentiveness as recalling users' statements about themselves when they ask for them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from protocols.rules.repetition import comparable_text
from scoring.swan.item import Item
from scoring.swan.nugget import Span
from scoring.swan.rules.normal_form import values_in
from scoring.swan.rules.own_words import blank_quotations
from scoring.swan.rules.rule import Rule, Sight, Verdict
from topics.late_pattern import lazy_pattern

_VALUE = r"(?P<value>[^.!?,;\n]{1,60})"
_TOLD = (
    ("name", rf"(?:my\s+name\s+is|call\s+me|I(?:'m|\s+am)\s+called)\s+{_VALUE}"),
    ("live", rf"I\s+live\s+in\s+{_VALUE}"),
    ("work", rf"I\s+work\s+as\s+(?:an?\s+)?{_VALUE}"),
    ("born", rf"I\s+was\s+born\s+in\s+{_VALUE}"),
    ("allergic", rf"I(?:'m|\s+am)\s+allergic\s+to\s+{_VALUE}"),
    ("", rf"my\s+(?P<thing>[\w' -]{{2,40}}?)\s+(?:is|are)\s+(?:called\s+|named\s+)?{_VALUE}"),
    ("have", r"I\s+have\s+(?P<value>\d+|two|three|four|five|six|seven|eight|nine|ten)\s+(?P<thing>\w+)"),
)
_ASKED = (
    ("name", r"what(?:'s|\s+is)\s+my\s+name\b"),
    ("live", r"(?:where|in\s+which\s+\w+|which\s+\w+)\s+do\s+I\s+live\b"),
    ("work", r"what\s+(?:do\s+I\s+work\s+as|is\s+my\s+(?:job|profession))\b"),
    ("born", r"(?:when|where|in\s+which\s+year)\s+was\s+I\s+born\b"),
    ("allergic", r"what\s+am\s+I\s+allergic\s+to\b"),
    ("have", r"how\s+many\s+(?P<thing>\w+)\s+do\s+I\s+have\b"),
    (
        "",
        r"(?:what|who|where)(?:'s|\s+is|\s+are)\s+my\s+(?P<thing>[\w' -]{2,40}?)(?:\s+called|\s+named)?\s*(?=[?.!,]|$)",
    ),
)
_TELLS = [(key, lazy_pattern(rf"(?<!\w){pattern}", re.IGNORECASE)) for key, pattern in _TOLD]
_ASKS = [(key, lazy_pattern(rf"(?<!\w){pattern}", re.IGNORECASE)) for key, pattern in _ASKED]
_NOT_TOLD = lazy_pattern(r"\b(?:if|suppose|not|never|used\s+to|he|she|they|said)\b[^.!?\n]{0,40}\Z", re.IGNORECASE)
_NO_VALUE = lazy_pattern(r"^(?:not|no|what|who|never)\b", re.IGNORECASE)
_AGAIN = lazy_pattern(
    r"\b(?:repeat|say\s+(?:that|it)\s+again|once\s+more|what\s+did\s+you\s+(?:just\s+)?say|come\s+again)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A user's statement about themself: the subject, the value, and the characters [start, end) of the value."""

    key: str
    value: str
    start: int
    end: int


def find_statements(text: str) -> Iterator[Statement]:
    """Yield the user's statements about themself in an English turn. Statements after a negation or `if`, and in
    quotations, are left out."""
    plain = blank_quotations(text)
    if plain.rstrip().endswith("?") and plain.count(".") + plain.count("!") == 0:
        return
    taken: set[int] = set()
    for key, pattern in _TELLS:
        for found in pattern.finditer(plain):
            value = found["value"].strip()
            if found.start() in taken or _NO_VALUE.match(value) or _NOT_TOLD.search(plain[: found.start()]):
                continue
            taken.add(found.start())
            yield Statement(_statement_key(key, found), value, found.start("value"), found.end("value"))


def recalled_key(said: str) -> str:
    """Return the key of the statement that a user turn asks the system to recall, or ""."""
    plain = blank_quotations(said)
    return next((_statement_key(key, found) for key, pattern in _ASKS if (found := pattern.search(plain))), "")


def _statement_key(key: str, found: re.Match[str]) -> str:
    thing = found.groupdict().get("thing")
    return f"{key} {' '.join(thing.lower().split())}".strip() if thing else key


def judge(sight: Sight) -> Iterator[Verdict]:
    """Score recall of the user's statements when the user asks for a statement. The latest version counts. The
    nuggets that recall the statement score 1; if there are none, the first nugget scores 0. If the user asks the
    system to repeat itself, nuggets that repeat score 1. Other nuggets get no score."""
    by_turn: dict[int, list[Item]] = {}
    for item in sight.items:
        by_turn.setdefault(item.turn, []).append(item)
    known: dict[str, tuple[str, Span]] = {}
    heard: set[str] = set()
    for turn in sight.conversation.turns:
        for one in find_statements(turn.said):
            known[one.key] = one.value, (turn.number, "user", one.start, one.end)
        here = by_turn.get(turn.number, [])
        asked = recalled_key(turn.said)
        if here and asked in known:
            value, span = known[asked]
            holding = [item for item in here if _contains_value(sight.text(item), value)]
            for item in holding or here[:1]:
                because = "gives back what was told" if holding else "does not give back what was told"
                yield Verdict(item, float(bool(holding)), because, (span,))
        elif _AGAIN.search(blank_quotations(turn.said)):
            for item in here:
                if comparable_text(sight.text(item)) in heard:
                    yield Verdict(item, 1.0, "said again as asked")
        heard.update(comparable_text(sight.text(item)) for item in here)


REMEMBERED = Rule(
    name="remembered",
    version="1",
    level="nugget",
    limits="knows a few English ways to tell and to ask for a name, a home, a job, a date, an allergy, a possession; "
    "blind to what should have been used unasked",
    silence="the user asks for nothing that was told before",
    judge=judge,
)


def _contains_value(text: str, value: str) -> bool:
    numbers = {one.number for one in values_in(value) if not one.date}
    if numbers:
        return bool(numbers & {one.number for one in values_in(text)})
    wanted = " ".join(re.findall(r"\w+", value.lower()))
    return f" {wanted} " in " ".join(("", *re.findall(r"\w+", text.lower()), ""))
