"""`contradiction`: Consistency of claims that are repeated in the same normal form ([SWAN] §4.16)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from scoring.swan.nugget import Nugget
from scoring.swan.rules.normal_form import ClaimForm, Claims, claim_form, content_words
from scoring.swan.rules.own_words import blank_quotations
from scoring.swan.rules.rule import Rule, Sight, Verdict
from topics.late_pattern import lazy_pattern

_REASON = lazy_pattern(r"\b(?:as|because|since)\s+(?=(?:the|it|this|that|there|he|she|they)\b)", re.IGNORECASE)
_LISTED = lazy_pattern(r"^(?P<of>.{6,120}?)\s+(?:are|were|include)\s+(?P<list>[^.!?]{3,300})[.!?]?$", re.IGNORECASE)
_BETWEEN = lazy_pattern(r"\s*,\s*(?:and\s+)?|\s+and\s+", re.IGNORECASE)
_YES_NO = lazy_pattern(r"^\W*(yes|no|yeah|nope)\b", re.IGNORECASE)
_LONGEST_CLAIM = 400  # characters of a claim that is compared
_FEWEST_WORDS = 3  # words of a predicate


# A score, the reason, and the earlier nugget that contradicts or agrees.
_Comparison = tuple[float, str, Nugget]


def judge(sight: Sight) -> Iterator[Verdict]:
    """Score claims with the normal form of an earlier claim of the system: 1 if the claims agree, 0 if they differ.
    Claims differ if a number, a date, a list or a negation differs. A repeated yes-no question must get the same
    answer. New claims get no score."""
    items = {(one.turn, one.start, one.end): one for one in sight.items}
    earlier = _EarlierClaims(sight)
    given = _repeated_answers(sight)
    for nugget in sight.nuggets:
        if nugget.speaker != "system" or nugget.type == "E":
            continue
        answered = given.pop(nugget.turn, None)
        found = [] if answered is None else [answered]
        for text in _claim_texts(nugget):
            found += earlier.compare(text, nugget)
        item = items.get((nugget.turn, nugget.start, nugget.end))
        if item is None or not found:
            continue
        worst = min(found, key=lambda one: one[0])
        yield Verdict(item, worst[0], worst[1], (worst[2].span,))


CONTRADICTION = Rule(
    name="contradiction",
    version="1",
    level="nugget",
    limits="compares claims in the same words but for numbers, dates, lists and negation; blind to contradictions in "
    "other words, and to what changed in between",
    silence="no claim is made again in the same words",
    judge=judge,
)


def _claim_texts(nugget: Nugget) -> Iterator[str]:
    if nugget.rule == "code" or len(nugget.text) > _LONGEST_CLAIM:
        return
    if nugget.type == "F":
        yield nugget.text
        return
    reason = _REASON.search(nugget.text)
    if reason is not None:
        yield nugget.text[reason.end() :]


def _list_items(text: str) -> tuple[str, frozenset[str]] | None:
    found = _LISTED.match(blank_quotations(text).strip())
    if found is None:
        return None
    things = frozenset(one.strip().lower() for one in _BETWEEN.split(found["list"]) if one.strip())
    return (" ".join(found["of"].lower().split()), things) if len(things) > 1 else None


@dataclass(slots=True)
class _EarlierClaims:
    sight: Sight
    claims: Claims[Nugget] = field(default_factory=Claims)
    subjects: dict[tuple[str, ...], dict[tuple[str, ...], int]] = field(default_factory=dict)
    lists: dict[str, tuple[frozenset[str], Nugget]] = field(default_factory=dict)
    words: set[str] = field(default_factory=set)

    def compare(self, text: str, nugget: Nugget) -> list[_Comparison]:
        form, listed = claim_form(text), _list_items(text)
        found = [_compared_claim(agree, before) for agree, before in self.claims.compare(form)]
        if not found and form.by_pronoun:
            found = [_compared_claim(agree, before) for agree, before in self._by_pronoun(form, nugget.turn)]
        if listed is not None:
            found += self._compare_with_list(*listed, nugget)
        self.claims.add(form, nugget)
        if not form.by_pronoun:
            self.subjects.setdefault(form.predicate, {}).setdefault(form.words[: form.subject], nugget.turn)
        self.words |= content_words(text)
        return found

    def _compare_with_list(self, of: str, things: frozenset[str], nugget: Nugget) -> list[_Comparison]:
        before = self.lists.setdefault(of, (things, nugget))
        if before[1] is nugget:
            return []
        if things == before[0]:
            return [(1.0, f"the same list as in turn {before[1].turn}", before[1])]
        if things <= before[0] or before[0] <= things:
            return []
        return [(0.0, f"another list than in turn {before[1].turn}", before[1])]

    def _by_pronoun(self, form: ClaimForm, turn: int) -> Iterator[tuple[bool, Nugget]]:
        """Compare a claim about a pronoun if only one subject had its predicate and the user named no other subject
        since."""
        subjects = self.subjects.get(form.predicate, {})
        if len(subjects) != 1 or len(form.predicate) < _FEWEST_WORDS or not form.values:
            return
        ((subject, before),) = subjects.items()
        if subject and not any(content_words(self.sight.said(at)) - self.words for at in range(before + 1, turn + 1)):
            yield from self.claims.compare(replace(form, words=(*subject, *form.predicate), subject=len(subject)))


def _compared_claim(agree: bool, before: Nugget) -> _Comparison:
    where = f"turn {before.turn}"
    return (1.0, f"as in {where}", before) if agree else (0.0, f"otherwise than in {where}", before)


def _repeated_answers(sight: Sight) -> dict[int, tuple[float, str, Nugget]]:
    """Return, by turn, whether a repeated yes-no question got the same answer as before, and where that answer was."""
    known: dict[str, tuple[int, str]] = {}
    found: dict[int, tuple[float, str, Nugget]] = {}
    for turn in sight.conversation.turns:
        answer = _YES_NO.match(turn.reply.answer.text) if turn.reply is not None else None
        if answer is None or "?" not in turn.said:
            continue
        asked = " ".join(re.findall(r"\w+", turn.said.lower()))
        says = "yes" if answer[1].lower().startswith("y") else "no"
        if asked in known:
            before, said = known[asked]
            first = [one for one in sight.nuggets if one.turn == before and one.speaker == "system"]
            if first:
                other = "the same answer as" if said == says else "another answer than"
                found[turn.number] = (float(said == says), f"{other} in turn {before}", first[0])
        known[asked] = turn.number, says
    return found
