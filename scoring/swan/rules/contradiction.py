"""`contradiction`: Consistency of claims that are made again on one normal form ([SWAN] §4.16)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from scoring.swan.nugget import Nugget
from scoring.swan.rules.normal_form import Form, claim_form, content_words
from scoring.swan.rules.own_words import own_words
from scoring.swan.rules.rule import Sight, Verdict

__all__ = ["Contradiction", "compare_claims"]

_REASON = re.compile(r"\b(?:as|because|since)\s+(?=(?:the|it|this|that|there|he|she|they)\b)", re.IGNORECASE)
_LISTED = re.compile(r"^(?P<of>.{6,120}?)\s+(?:are|were|include)\s+(?P<list>[^.!?]{3,300})[.!?]?$", re.IGNORECASE)
_BETWEEN = re.compile(r"\s*,\s*(?:and\s+)?|\s+and\s+", re.IGNORECASE)
_YES_NO = re.compile(r"^\W*(yes|no|yeah|nope)\b", re.IGNORECASE)
_FRONT = frozenset({"in", "on", "at", "by", "since", "until", "before", "after", "from", "during"})
_LONGEST = 400  # characters of a claim that is compared


@dataclass(frozen=True, slots=True)
class _Said:
    nugget: Nugget
    form: Form
    listed: tuple[str, frozenset[str]] | None


@dataclass(frozen=True, slots=True)
class Contradiction:
    """For claims whose normal form an earlier claim of the system has: 0 where a number, a date, a list or a negation
    differs, 1 where all agree. The same yes-no question has the same answer. Silent on claims that are new.
    """

    level: ClassVar[Literal["nugget"]] = "nugget"
    version: ClassVar[str] = "1"
    needs: ClassVar[tuple[str, ...]] = ()
    limits: ClassVar[str] = (
        "compares claims in the same words but for numbers, dates, lists and negation; blind to contradictions in "
        "other words, and to what changed in between"
    )
    silence: ClassVar[str] = "no claim is made again in the same words"

    def scores(self, sight: Sight) -> Iterator[Verdict]:
        items = {(one.turn, one.start, one.end): one for one in sight.items}
        earlier: list[_Said] = []
        given = _answers(sight)
        for nugget in sight.nuggets:
            if nugget.speaker != "system" or nugget.type == "E":
                continue
            found = [given[nugget.turn]] if nugget.turn in given and _first(sight, nugget) else []
            for said in _claims(nugget):
                found += [one for before in earlier if (one := _against(said, before, earlier, sight)) is not None]
                earlier.append(said)
            item = items.get((nugget.turn, nugget.start, nugget.end))
            if item is None or not found:
                continue
            worst = min(found, key=lambda one: one[0])
            yield Verdict(item, worst[0], worst[1], (worst[2].span,))

    def __str__(self) -> str:
        return "contradiction"


def compare_claims(one: Form, other: Form) -> bool | None:
    """Whether two claims of the same words agree; None where they cannot be compared: other words, a condition, what
    somebody else says, or several values that differ, which may be of another time or place."""
    if one.words != other.words or len(one.words) < 2 or one.shaded or other.shaded:
        return None
    apart = [place for place, (a, b) in enumerate(zip(one.values, other.values, strict=True)) if not a.agrees(b)]
    if one.negated != other.negated:
        return None if apart else False
    if len(apart) > 1 or (apart and _fronted(one, apart[0])):
        return None
    return not apart


def _fronted(form: Form, place: int) -> bool:
    """Whether the value stands in an opening phrase such as `In 1990`: it says when or where, not what."""
    spots = [at for at, word in enumerate(form.words) if word.startswith("#")]
    return spots[place] <= 1 and form.words[0] in _FRONT and len(spots) > 1


def _claims(nugget: Nugget) -> Iterator[_Said]:
    """The claims in a nugget: itself if it is one, and the reason that an act gives."""
    if nugget.rule == "code" or len(nugget.text) > _LONGEST:
        return
    text = nugget.text
    if nugget.type == "O":
        reason = _REASON.search(text)
        if reason is None:
            return
        text = text[reason.end() :]
    yield _Said(nugget, claim_form(text), _listed(text))


def _listed(text: str) -> tuple[str, frozenset[str]] | None:
    found = _LISTED.match(own_words(text).strip())
    if found is None:
        return None
    things = frozenset(one.strip().lower() for one in _BETWEEN.split(found["list"]) if one.strip())
    return (" ".join(found["of"].lower().split()), things) if len(things) > 1 else None


def _against(said: _Said, before: _Said, earlier: list[_Said], sight: Sight) -> tuple[float, str, Nugget] | None:
    where = f"turn {before.nugget.turn}"
    if said.listed and before.listed and said.listed[0] == before.listed[0]:
        ours, theirs = said.listed[1], before.listed[1]
        if ours == theirs:
            return 1.0, f"the same list as in {where}", before.nugget
        if ours <= theirs or theirs <= ours:
            return None
        return 0.0, f"another list than in {where}", before.nugget
    agree = compare_claims(said.form, before.form)
    if agree is None and said.form.by_pronoun and not before.form.by_pronoun:
        agree = _by_pronoun(said, before, earlier, sight)
    if agree is None:
        return None
    return (1.0, f"as in {where}", before.nugget) if agree else (0.0, f"otherwise than in {where}", before.nugget)


def _by_pronoun(said: _Said, before: _Said, earlier: list[_Said], sight: Sight) -> bool | None:
    """With a pronoun for the subject, where the predicate was said of one thing only and the user names no other."""
    rest = said.form.predicate
    subjects = {one.form.words[: one.form.subject] for one in earlier if one.form.predicate == rest}
    subjects = {one for one in subjects if one and not (len(one) == 1 and one == said.form.words[:1])}
    if before.form.predicate != rest or len(rest) < 3 or len(subjects) != 1 or not said.form.values:
        return None
    known = frozenset().union(*(content_words(one.nugget.text) for one in earlier))
    asked = [sight.said(turn) for turn in range(before.nugget.turn + 1, said.nugget.turn + 1)]
    if any(content_words(one) - known for one in asked):
        return None
    words = (*before.form.words[: before.form.subject], *rest)
    return compare_claims(
        Form(words, said.form.values, before.form.subject, said.form.negated, said.form.shaded), before.form
    )


def _first(sight: Sight, nugget: Nugget) -> bool:
    """Whether it is the first of its turn that may be an item."""
    own = [one for one in sight.nuggets if one.turn == nugget.turn and one.speaker == "system" and one.type != "E"]
    return bool(own) and own[0] is nugget


def _answers(sight: Sight) -> dict[int, tuple[float, str, Nugget]]:
    """For turns that answer a yes-no question asked before: whether the answer is the same, and which it was."""
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
