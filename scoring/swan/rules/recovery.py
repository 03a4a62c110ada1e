"""`recovery`: whether a turn makes up for an earlier turn that let the user down ([SWAN] §4.11)."""

import re
from collections.abc import Iterator
from itertools import pairwise

from protocols.labels import NOT_USEFUL, USEFUL
from recordings.conversations.conversation import Turn
from scoring.swan.rules.own_words import blank_quotations
from scoring.swan.rules.rule import Rule, Sight, Verdict
from topics.late_pattern import lazy_pattern

_BAD = (
    r"(?:wrong|incorrect|false|useless|nonsense|ridiculous|absurd|unhelpful|missing|terrible|awful|bad|stupid|garbage"
    r"|rubbish|off\s+topic|irrelevant)"
)
_YOURS = r"(?:your|the|this|that|these)\s+(?:last\s+)?(?:answers?|repl(?:y|ies)|responses?|results?|list)"
_DISSATISFIED = lazy_pattern(
    rf"\b(?:(?:that|this|it)(?:'s|s|\s+is|\s+was)?\s+(?:still\s+)?{_BAD}(?!\s+(?:to|good)\b)"
    rf"|(?:is|are)\s+(?:still\s+)?wrong\s*(?:$|\n)|{_YOURS}\s+(?:(?:is|are|was|were)\s+(?:\w+\s+)?{_BAD}|makes?\s+no\s+sense)"
    r"|that(?:'s|\s+is|s)?\s+not\s+(?:right|true|correct)|not\s+what\s+i\s+(?:asked|meant|wanted|said)"
    r"|(?:that|this)\s+(?:can't|cannot|can\s+not)\s+be\s+(?:right|true|correct)\s*(?:[.!]|$)"
    r"|you(?:'re|\s+are)\s+(?:wrong|mistaken|not\s+(?:listening|helping|answering|making)|repeating)"
    r"|you\s+(?:already\s+said|said\s+that|keep\s+(?:saying|repeating|giving|telling)|ignored|misread|misunderst(?:and|ood)|missed"
    r"|did(?:n't|\s+not)\s+(?:answer|understand|read|listen))"
    r"|(?:doesn't|does\s+not|didn't|did\s+not|don't|do\s+not)\s+(?:make\s+(?:any\s+)?sense|answer|help|work)"
    r"|i\s+(?:don't|do\s+not)\s+understand\s+what\s+you|makes\s+no\s+sense|wrong\s+(?:answer|again)"
    r"|useless[.!]|nonsense[.!]|are\s+you\s+(?:kidding|serious)(?:\s+me)?\s*(?:[?!.]|$)"
    r"|i\s+(?:already|just)\s+(?:said|told|asked)|what\s+are\s+you\s+talking\s+about|try\s+again"
    r"|adhere\s+to\s+the\s+(?:output\s+)?format)"
    r"|^(?:no,?\s+)?i\s+(?:said|meant|asked\s+(?:for|about)|was\s+asking)\b|\?{3,}",
    re.IGNORECASE | re.MULTILINE,
)
# “Loire, not Paris.”: a user who only repeats what was meant.
_REPAIR = lazy_pattern(
    r"\s*(?:no,?\s+)?(?:[\w'-]+\s+){0,3}[\w'-]+\s*(?:[,.;!]|[–-]\s)\s*not\s+(?:[\w'-]+\s+){0,3}[\w'-]+\s*[.!]*\s*"
    r"|that(?:'s|\s+is)\s+not\s+an?\s+[\w' -]+[.!]?",
    re.IGNORECASE,
)
# A user who gives up hope, or contradicts; only if the system asked nothing.
_LEAVES = lazy_pattern(
    r"\b(?:i\s+give\s+up|forget\s+it|never\s*mind|i'm\s+done|(?:to|with)\s+a\s+(?:human|person|real\s+person|real\s+human))\b"
    r"|^\s*no\b(?!\s*,?\s*(?:problem|worries|thanks?|thank\s+you|need|more|further)\b)",
    re.IGNORECASE,
)
# The same in German, French and Spanish, in a few set phrases.
_ELSEWHERE = lazy_pattern(
    r"\b(?:das|es)\s+(?:ist|war|stimmt)\s+(?:immer\s+noch\s+|einfach\s+)?(?:nicht|falsch)|nicht\s+(?:das,?\s+)?was\s+ich"
    r"|nicht\s+(?:danach\s+)?gefragt|falsche\s+antwort|(?:das\s+)?(?:bringt|hilft)\s+(?:mir\s+)?nichts?"
    r"|ce\s+n'est\s+pas\s+(?:ce\s+que|juste|vrai|correct)|c'est\s+faux|[çc]a\s+ne\s+sert\s+[àa]\s+rien"
    r"|no\s+es\s+(?:lo\s+que|correcto|verdad)|eso\s+(?:no\s+es|est[áa]\s+mal)|no\s+(?:me\s+)?(?:sirve|ayuda)",
    re.IGNORECASE,
)
_NAMED = lazy_pattern(
    r"\b(?:translate|say|write|spell|type|proofread)\b[^:\n]{0,20}:[^\n]*|\bif\s+i\s+said[^,.?!\n]*", re.IGNORECASE
)


# The criterion by which people judge user turns: 1 is satisfied with what the system said, 0 is dissatisfied.
SATISFACTION = "User satisfaction"
# Reasons of `simulators.reasons`, which this module cannot import, by which a user did not leave dissatisfied: it got
# what it wanted, or could not have continued after any answer.
_NO_JUDGMENT = frozenset(
    {"satisfied", "goal-reached", "budget", "plan-done", "recorded-end", "no-branch", "endpoint-failed", "no-words"}
    | {"user-fault"}
)
# Above this dissatisfaction, a user turn counts as bad: it is judged more dissatisfied than satisfied.
_DISSATISFIED_FROM = 0.5


def is_dissatisfied(text: str) -> bool:
    """Return whether a user turn says explicitly that the previous answer was bad. The rule knows English, with a few
    set phrases of German, French and Spanish. It misses implied dissatisfaction. Quotations, and text to be
    translated or written, do not count."""
    own = _NAMED.sub(" ", blank_quotations(text))
    return any(one.search(own) for one in (_DISSATISFIED, _ELSEWHERE)) or _REPAIR.fullmatch(own) is not None


def _is_disappointed(turn: Turn, before: Turn, asked: frozenset[str]) -> bool:
    """Return whether the user complains, gives up, or repeats an earlier question in `asked`."""
    own = blank_quotations(turn.said)
    reply = before.reply.answer.text if before.reply else ""
    if is_dissatisfied(turn.said) or _keep_words(turn.said) in asked:
        return True
    return not reply.rstrip().endswith("?") and _LEAVES.search(own) is not None


def _keep_words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def judge_by_label(sight: Sight) -> Iterator[Verdict]:
    """Score each turn after a turn labelled `x`: 1 if the turn is labelled `o`, and 0 if it is labelled `x` again."""
    found = {
        after.number: float(after.label == USEFUL)
        for before, after in pairwise(sight.conversation.turns)
        if before.label == NOT_USEFUL and after.label in (USEFUL, NOT_USEFUL)
    }
    yield from (Verdict(item, found[item.turn]) for item in sight.items if item.turn in found)


def judge_by_user(sight: Sight) -> Iterator[Verdict]:
    """Score each answer to a dissatisfied user turn by whether the user is satisfied afterwards."""
    turns, outcome = sight.conversation.turns, sight.conversation.outcome
    found: dict[int, float] = {}
    for i, turn in enumerate(turns):
        if not i or turn.reply is None or not is_dissatisfied(turn.said):
            continue
        before = turns[i - 1].reply
        if before is not None and _keep_words(before.answer.text) == _keep_words(turn.reply.answer.text):
            found[turn.number] = 0.0
        elif i + 1 < len(turns):
            asked = frozenset(_keep_words(one.said) for one in turns[: i + 1])
            found[turn.number] = float(not _is_disappointed(turns[i + 1], turn, asked))
        elif outcome is not None and outcome.kind == "user-stopped":
            found[turn.number] = 0.0
    yield from (Verdict(item, found[item.turn]) for item in sight.items if item.turn in found)


def judge_by_satisfaction(sight: Sight) -> Iterator[Verdict]:
    """Score each answer to a user turn that is judged to be dissatisfied by how much of the dissatisfaction is gone in
    the next user turn."""
    turns, outcome = sight.conversation.turns, sight.conversation.outcome
    judged = sight.known.get(SATISFACTION, {})
    satisfied = {item.turn: value for item, value in judged.items() if item.speaker == "user"}
    found: dict[int, tuple[float, str]] = {}
    for i, turn in enumerate(turns):
        before = 1.0 - satisfied.get(turn.number, 1.0)
        if not i or turn.reply is None or before <= _DISSATISFIED_FROM:
            continue
        if i + 1 < len(turns):
            if turns[i + 1].number in satisfied:
                after = 1.0 - satisfied[turns[i + 1].number]
                why = f"dissatisfaction {before:.2f}, then {after:.2f}"
                found[turn.number] = (max(0.0, before - after) / before, why)
        elif outcome is not None and outcome.kind == "user-stopped" and outcome.reason not in _NO_JUDGMENT:
            found[turn.number] = (0.0, f"dissatisfaction {before:.2f}, then the user stopped")
    yield from (Verdict(item, *found[item.turn]) for item in sight.items if item.turn in found)


def recovery_rule(sign: str = "label") -> Rule:
    """Score turns that follow a bad turn ([SWAN] §4.11). Other turns get no score.

    With sign=label, a bad turn has the label `x`. The next turn scores 1 if its label is `o`, and 0 if its label is
    `x`. With sign=user, a turn is bad if the user is dissatisfied with it. The next turn scores 0 if the system repeats
    itself. Otherwise it scores 1 if the user continues and is content, and 0 if the user is discontent or chooses to
    stop. It gets no score if the protocol ended the conversation.

    With sign=judged, the score is a degree. People judge the criterion *User satisfaction* of user turns, and d is 1
    minus their score. After a user turn with d_n above .5, the next turn scores (d_n - d_{n+1}) / d_n, but at least 0:
    the part of the dissatisfaction that is gone in the user turn that follows. It scores 0 if the user chooses to stop.
    It gets no score if the protocol ended the conversation, if the recorded reason for stopping is not a sign of
    dissatisfaction (such as `satisfied` or `budget`), or if the next user turn was not judged.
    """
    if sign == "judged":
        return Rule(
            name="recovery(sign=judged)",
            version="2",
            level="turn",
            needs=(SATISFACTION,),
            limits=f"needs {SATISFACTION} of the user turns before and after to be judged by people",
            silence="the user turn before it was not judged dissatisfied, or the one after it was not judged",
            judge=judge_by_satisfaction,
        )
    if sign not in ("label", "user"):
        raise ValueError("`sign` must be label, user or judged")
    return Rule(
        name=f"recovery(sign={sign})",
        version="3" if sign == "user" else "2",
        level="turn",
        limits="has no item where the conversation broke down right after the bad turn, which %recovery counts as not "
        "recovered",
        silence="nothing to recover from before the turn, or the conversation ended there",
        judge=judge_by_user if sign == "user" else judge_by_label,
    )
