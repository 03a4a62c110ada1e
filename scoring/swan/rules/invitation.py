"""`invitation`: Engagingness as ending a turn with a question or an offer instead of a dead end."""

import re
from collections.abc import Iterator

from scoring.swan.nugget import Nugget
from scoring.swan.rules.own_words import blank_quotations
from scoring.swan.rules.rule import Rule, Sight, Verdict
from topics.late_pattern import lazy_pattern

_INVITING_ACTS = frozenset(
    {
        "OFFER",
        "OPEN-QUESTION",
        "WH-QUESTION",
        "YES-NO-QUESTION",
        "TAG-QUESTION",
        "DECLARATIVE-YES-NO-QUESTION",
        "CONVENTIONAL-OPENING",
    }
)
_CLOSING_ACTS = frozenset({"REJECT", "HEDGE", "APOLOGY", "CONVENTIONAL-CLOSING"})
_CONTENTLESS_ACTS = frozenset({"ACKNOWLEDGE", "AGREEMENT", "OTHER", "APPRECIATION"})
# Words of a turn without content of its own.
_FEW_WORDS = 3

# A sentence that only says what the system cannot do, know or tell.
_CANNOT = lazy_pattern(
    r"\W*(?:(?:sorry|unfortunately|i'm\s+afraid|i\s+am\s+afraid|as\s+an\s+ai(?:\s+language\s+model)?|but)\W+)*"
    r"(?:(?:i|we)\s+(?:also\s+|really\s+|simply\s+|just\s+)?(?:cannot|can't|can\s+not|could\s+not|couldn't)"
    r"|(?:i|we)(?:'m|\s+am|'re|\s+are)\s+(?:unable|not\s+(?:able|allowed|sure))"
    r"|(?:i|we)\s+(?:do\s+not|don't)\s+(?:know|have|understand|discuss|answer|provide|do)|(?:i|we)\s+have\s+(?:no|nothing)"
    r"|(?:that|this|it|there)(?:\s+is|'s)\s+(?:not|nothing|all)\b[^.:;?!,]{0,80}\b(?:i|we)"
    r"|(?:no|nothing)\b[^.:;?!,]{0,80}\b(?:i|we)\s+(?:can|know|have))\b[^.:;?!]*[.!]*\s*",
    re.IGNORECASE,
)
_CANNOT_ELSEWHERE = lazy_pattern(
    r"\W*(?:(?:leider|désolé|lo\s+siento|es\s+tut\s+mir\s+leid)\W+)?"
    r"(?:(?:(?:das|dazu|dabei)\s+(?:weiß|kann|habe|darf)\s+ich|ich\s+(?:weiß|kann|habe|darf))\b[^.:;?!]{0,80}"
    r"\b(?:nicht|nichts|keine?)|je\s+(?:ne\s+\w+|n'ai)\s+(?:pas|rien|aucune?)|no\s+(?:lo\s+)?(?:sé|puedo|tengo))"
    r"\b[^.:;?!]*[.!]*\s*",
    re.IGNORECASE,
)
# “No idea could be simpler” is praise of an idea, not a dead end.
_MORE_THAN = lazy_pattern(r"\b(?:better|simpler|easier|more|less|nicer|safer|\w{3,}er\s+than)\b", re.IGNORECASE)
_ASKS_TO_CONTINUE = lazy_pattern(
    r"\b(?:tell|send|show|give|ask|write)\s+me\b|\blet\s+me\s+know\b|\b(?:just|feel\s+free\s+to)\s+ask\b", re.IGNORECASE
)
_REPORTED = lazy_pattern(
    r"\b(?:says?|said|asks?|asked|reads?|goes|answers?|answered|replies|replied|writes?)\b[^.?!\n]{0,20}:\s",
    re.IGNORECASE,
)


def judge(sight: Sight) -> Iterator[Verdict]:
    """Score 1 for a turn that ends in a question, an offer or a request to the user, and 0 for a dead end. A dead end
    is empty, says goodbye, only states limits or ignorance of the system, or is a bare acknowledgement although the
    user did not ask a question. Other turns get no score."""
    own: dict[int, list[Nugget]] = {}
    for one in sight.nuggets:
        if one.speaker == "system" and one.type != "E":
            own.setdefault(one.turn, []).append(one)
    for item in sight.items:
        here = own.get(item.turn, [])
        # Pieces that invite the user to go on, among the last two of the turn.
        asks = [
            one
            for one in here[-2:]
            if one.act == "ACTION-DIRECTIVE" and _ASKS_TO_CONTINUE.search(blank_quotations(one.text))
        ]
        bare = len(sight.text(item).split()) <= _FEW_WORDS or all(one.act == "ACKNOWLEDGE" for one in here)
        if not sight.text(item).strip():
            yield Verdict(item, 0.0, "nothing is said")
        elif here and _is_invitation(here[-1]):
            yield Verdict(item, 1.0, f"ends in {here[-1].act.lower()}", (here[-1].span,))
        elif asks:
            yield Verdict(item, 1.0, "asks the user for something", (asks[0].span,))
        elif here and all(map(_is_dead_end, here)):
            yield Verdict(item, 0.0, "ends the matter", tuple(one.span for one in here))
        elif here and bare and all(one.act in _CONTENTLESS_ACTS for one in here) and "?" not in sight.said(item.turn):
            yield Verdict(item, 0.0, "a bare acknowledgement", tuple(one.span for one in here))


INVITATION = Rule(
    name="invitation",
    version="2",
    level="turn",
    limits="sees an invitation or a dead end by the acts of English words, and by a few phrases in German, French and "
    "Spanish; blind to whether the turn is interesting",
    silence="the turn neither ends in a question or offer nor is a dead end",
    judge=judge,
)


def _is_invitation(last: Nugget) -> bool:
    asks = last.act in _INVITING_ACTS or last.rule == "question-mark"
    said = blank_quotations(last.text)
    if last.act == "OFFER" and re.search(r":\s*\w", said):
        return False  # the thing offered follows immediately
    return asks and bool(said.strip(" ?!.")) and not _REPORTED.search(said)


def _is_dead_end(one: Nugget) -> bool:
    said = blank_quotations(one.text)
    if _MORE_THAN.search(said):
        return False
    return one.act in _CLOSING_ACTS or any(pattern.fullmatch(said) for pattern in (_CANNOT, _CANNOT_ELSEWHERE))
