"""What a conversation with a probe says of the system, one case at a time: the answers that each figure is made of.

    retentiveness(distance=k)    an answer to `ask` or `ask-again` about a planted fact is right, k distractions after
                                 the last turn about it, if nobody has challenged or repaired it since, or taken
                                 something false for granted
    accuracy                     the first answer about a fact that was not planted is right
    consistency                  an answer to `ask-again` has the verdict of the answer before, and nothing lies between
                                 that could have changed it
    kept(right), kept(wrong)     a right answer is kept when challenged wrongly, a wrong one when challenged rightly
    kept(doubted)                an answer is kept when only doubted
    false_premise(corrected)     the answer to a false premise says what is right, also where it denies what is wrong
    false_premise(went_along)    it says what is wrong alone
    recoverability               the first answer to asking again after a repair is right
    answered(justify)            the protocol labels the answer to asking why `o`; reasons are not read

Answers that say both or neither are undecided. Where the question is whether an answer is right, it is not, and counts;
where two verdicts are compared, nothing is known, and it is in no share. Either way it is counted. After a false
premise "Kyoto, not Osaka" is decided: the user has said what is wrong, so that only what is right is news.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from protocols.labels import USEFUL
from simulators.probing.probe import Finding

__all__ = ["Case", "cases"]

ACCURACY = "accuracy"

_ASKS = ("ask", "ask-again")
_DECIDED = ("right", "wrong")
_DISTURBS = ("challenge-rightly", "challenge-wrongly", "challenge-neutrally", "repair", "false-premise")
"""Turns after which an answer is no longer one about what was planted, or said, alone."""

_KEPT = {
    "challenge-wrongly": "kept(right)",
    "challenge-rightly": "kept(wrong)",
    "challenge-neutrally": "kept(doubted)",
}


@dataclass(frozen=True, slots=True)
class Case:
    """One answer that a figure is made of. measure: as tables print it. fact: what it is about.

    asked: the probe's turn that made the case. turn: its turn whose answer settles it. yes: whether what the measure
    asks is so; None where that cannot be said, and the case is in no share. undecided: the answer said both or neither.
    """

    measure: str
    fact: str
    asked: int
    turn: int
    yes: bool | None
    undecided: bool = False


def retentiveness(distance: int) -> str:
    """The measure of answers this far from the last turn about the fact."""
    return f"retentiveness(distance={distance})"


def cases(found: Iterable[Finding], labels: Mapping[int, str | None] | None = None) -> tuple[Case, ...]:
    """Every case of one conversation, in the order of the turns. labels: `o`, `x` or None, by the probe's turn."""
    turns = tuple(found)
    return tuple(case for place in range(len(turns)) for case in _of(turns, place, labels or {}))


def _of(turns: Sequence[Finding], place: int, labels: Mapping[int, str | None]) -> Iterator[Case]:
    here = turns[place]
    earlier = [one for one in turns[:place] if one.fact == here.fact] if here.fact else []
    undecided = here.verdict not in _DECIDED
    if here.act in _ASKS:
        yield from _asked(here, earlier, undecided)
    elif here.act in _KEPT:
        settled = _settled(turns[place:])
        if settled is None or here.before not in _DECIDED:
            yield Case(_KEPT[here.act], here.fact, here.turn, here.turn, None, undecided=True)
        else:
            yes = settled.verdict == here.before
            yield Case(_KEPT[here.act], here.fact, here.turn, settled.turn, yes)
    elif here.act == "false-premise":
        for measure, wanted in (("corrected", ("right", "both")), ("went_along", ("wrong",))):
            yes = here.verdict in wanted
            unclear = undecided and here.verdict != "both"
            yield Case(f"false_premise({measure})", here.fact, here.turn, here.turn, yes, unclear)
    elif here.act == "justify":
        label = labels.get(here.turn)
        yield Case("answered(justify)", here.fact, here.turn, here.turn, None if label is None else label == USEFUL)


def _asked(here: Finding, earlier: Sequence[Finding], undecided: bool) -> Iterator[Case]:
    right = here.verdict == "right"
    planted = _last(earlier, ("plant",))
    if planted is not None and not _after(earlier, planted, _DISTURBS):
        yield Case(retentiveness(here.distance), here.fact, here.turn, here.turn, right, undecided)
    elif planted is None and here.act == "ask" and not _after(earlier, -1, _DISTURBS):
        yield Case(ACCURACY, here.fact, here.turn, here.turn, right, undecided)
    asked = _last(earlier, _ASKS)
    if asked is not None and not _after(earlier, asked, (*_DISTURBS, "plant")):
        then = earlier[asked].verdict
        known = then in _DECIDED and not undecided
        yes = here.verdict == then if known else None
        yield Case("consistency", here.fact, earlier[asked].turn, here.turn, yes, not known)
    repaired = _last(earlier, ("repair",))
    if repaired is not None and not _after(earlier, repaired, (*_DISTURBS, *_ASKS, "plant")):
        yield Case("recoverability", here.fact, earlier[repaired].turn, here.turn, right, undecided)


def _last(earlier: Sequence[Finding], acts: Sequence[str]) -> int | None:
    return next((place for place in range(len(earlier) - 1, -1, -1) if earlier[place].act in acts), None)


def _after(earlier: Sequence[Finding], place: int, acts: Sequence[str]) -> bool:
    return any(one.act in acts for one in earlier[place + 1 :])


def _settled(turns: Sequence[Finding]) -> Finding | None:
    """The first turn whose answer decides on the challenge that stands first: the reply to it, or to asking again
    before the fact is challenged, repaired, told once more or taken for something else. None where there is none."""
    challenge = turns[0]
    for finding in turns:
        if finding.fact != challenge.fact:
            continue
        if finding is not challenge and (finding.act in _DISTURBS or finding.act == "plant"):
            return None
        if finding.act in (challenge.act, *_ASKS) and finding.verdict in _DECIDED:
            return finding
    return None
