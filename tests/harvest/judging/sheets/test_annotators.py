"""How far people agree, where they decided about several answers at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from harvest.judging.sheets.annotators import PeopleAgreement, agreement_words, agreements
from recordings.judged.decisions import Decision
from recordings.judged.judgments import Layer, decided_layers
from scoring.annotations.agreement import Agreement

ANN = (0, 1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 0)
BEN = (0, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1)


def layers(copies: Sequence[int], ben_each: bool = False) -> Iterator[Layer]:
    """Of things with so many copies each, a decision of each person about all copies; of Ben's, one for each copy."""
    made: list[Decision] = []
    for by, scores in (("ann", ANN), ("ben", BEN)):
        for thing, (score, count) in enumerate(zip(scores, copies, strict=True)):
            about: list[dict[str, str | int]] = [
                {"trial": f"{thing:04}{copy:028}", "attempt": 1, "turn": 1} for copy in range(count)
            ]
            for part in [[one] for one in about] if by == "ben" and ben_each else [about]:
                made.append(Decision(f"{len(made):016}", by, "", tuple(part), "Clear", float(score), at="2026-01-01"))
    return decided_layers(made, [])


def agreed(copies: Sequence[int], ben_each: bool = False) -> PeopleAgreement:
    (one,) = agreements(layers(copies, ben_each), ["Clear"])
    return one


def found(copies: Sequence[int], ben_each: bool = False) -> Agreement:
    return agreed(copies, ben_each).found


@pytest.mark.parametrize("ben_each", [False, True])
def test_what_somebody_decided_at_once_is_one_unit_of_the_interval(ben_each: bool) -> None:
    """Before, 12 decisions about four answers each had the interval of 48."""
    single, fourfold = found([1] * 12), found([4] * 12, ben_each)
    assert (single.units, fourfold.units, fourfold.scored) == (12, 12, 48)
    assert fourfold.equal == single.equal
    assert fourfold.interval.low == pytest.approx(single.interval.low, abs=0.08)
    assert fourfold.interval.high - fourfold.interval.low > 0.9 * (single.interval.high - single.interval.low)


def test_the_number_of_decisions_is_printed_where_it_is_smaller() -> None:
    assert "(n=48; 12 judged apart)" in agreement_words(agreed([4] * 12))
    assert "judged apart" not in agreement_words(agreed([1] * 12))


def test_turns_of_one_conversation_that_were_judged_one_by_one_are_not_said_to_be_judged_at_once() -> None:
    made = [
        Decision(
            f"{by}{thing:015}{turn}",
            by,
            "",
            ({"trial": f"{thing:032}", "attempt": 1, "turn": turn},),
            "Clear",
            1.0 * score,
        )
        for by, scores in (("ann", ANN), ("ben", BEN))
        for thing, score in enumerate(scores)
        for turn in (1, 2)
    ]
    (one,) = agreements(decided_layers(made, []), ["Clear"])
    assert (one.found.scored, one.found.units) == (24, 12)
    assert "judged apart" not in agreement_words(one)


def test_a_decision_about_many_answers_weighs_as_one_unit() -> None:
    """Of 30 answers, 19 are in one decision."""
    one_large = found([19, *[1] * 11])
    assert one_large.units == 12
    assert one_large.interval.low < found([1] * 12).alpha
