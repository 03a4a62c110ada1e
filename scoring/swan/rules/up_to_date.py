"""`up_to_date`: Adaptability as referring to a year close to the year of the conversation ([SWAN] §4.20)."""

import re
from collections.abc import Iterator

from scoring.swan.rules.own_words import blank_quotations
from scoring.swan.rules.rule import SetRule, SetSight, SetVerdict, Sight
from topics.late_pattern import lazy_pattern
from topics.sentences import sentences

_YEAR = r"(?P<year>(?:19|20)\d\d)(?!\d)"
_YEAR2, _YEAR3 = (_YEAR.replace("year", name) for name in ("year2", "year3"))
_STATED = lazy_pattern(
    rf"\b(?:as\s+of|up\s+to)\s+(?:my\s+[\w\s-]{{1,40}}?\s+in\s+)?(?:[A-Z][a-z]+\s+)?{_YEAR}"
    rf"|\b(?:knowledge|training\s+data|trained|last\s+update|cut-?off)\b[^.!?\n]{{0,60}}?\b{_YEAR2}"
    rf"|\b(?:current(?:ly)?|latest|newest|most\s+recent|this\s+year)\b[^.!?\n]{{0,40}}?\b{_YEAR3}",
    re.IGNORECASE,
)
_OTHERWISE = lazy_pattern(r"^\W*(?:in|on|by|until|since)\s+(?:\w+\s+)?(?:19|20)\d\d\b|\bif\b", re.IGNORECASE)
_NOT = lazy_pattern(r"\b(?:not|never|n't)\b[^,;:.!?\n]{0,40}\Z", re.IGNORECASE)


def stated_years(text: str) -> Iterator[int]:
    """Yield the years that an English text states as the present, except in quotations, conditions and history."""
    plain = blank_quotations(text)
    for sentence in sentences(plain):
        words = plain[sentence.start : sentence.end]
        if _OTHERWISE.search(words):
            continue
        for found in _STATED.finditer(words):
            year = int(found["year"] or found["year2"] or found["year3"])
            inside = words[found.start() : found.end() - 4]
            if not _NOT.search(words[: found.start()]) and not _NOT.search(inside):
                yield year


def judge(sight: SetSight) -> SetVerdict | None:
    """Score the share of conversations whose newest stated year is at most one year before the conversation. Only
    conversations on the newest day that state a year are counted. Merge the runs of several audits to see whether a
    system is updated."""
    dated = [
        (one.conversation.started_at[:10], one) for one in sight.own if one.conversation.started_at[:4].isdecimal()
    ]
    newest = max((day for day, _ in dated), default="")
    found = [
        (int(day[:4]), max(years)) for day, one in dated if day == newest and (years := [*_conversation_years(one)])
    ]
    if not found:
        return None
    fresh = sum(said - 1 <= year for said, year in found)
    year = min(year for _, year in found)
    return SetVerdict(fresh / len(found), f"speaks of {year} in {newest[:4]}, in {len(found)} conversations")


UP_TO_DATE = SetRule(
    name="up_to_date",
    version="1",
    limits="sees years that English turns state as today's; blind to what is stale without a year, and to what is new",
    silence="no conversation says as of which year it speaks, or when it took place is unknown",
    judge=judge,
)


def _conversation_years(sight: Sight) -> Iterator[int]:
    for turn in sight.conversation.turns:
        if turn.reply is not None:
            yield from stated_years(turn.reply.answer.text)
