"""Cases: which answers each finding of a probe is made of, and which are not counted."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulators.probing.cases import Case, list_cases
from simulators.probing.judging import Verdict
from simulators.probing.plan import ACTS
from simulators.probing.probe import Finding
from tests.support.kept_counts import count_kept

VERDICTS: tuple[Verdict, ...] = ("right", "wrong", "both", "neither")


def found(*turns: tuple[str, Verdict | None], distance: int = 2, fact: str = "home") -> list[Finding]:
    """Turns about one fact: the act, and the verdict on the answer."""
    made: list[Finding] = []
    before: Verdict | None = None
    for number, (act, verdict) in enumerate(turns, 1):
        made.append(Finding(number, act, fact, before, verdict, distance))
        if act.startswith(("ask", "challenge")):
            before = verdict
    return made


def of(measure: str, turns: list[Finding]) -> list[tuple[bool | None, bool]]:
    return [(case.yes, case.undecided) for case in list_cases(turns) if case.measure == measure]


def test_a_planted_fact_is_retained_if_the_answer_is_right_and_an_undecided_answer_is_not_right() -> None:
    for verdict, expected in (
        ("right", (True, False)),
        ("wrong", (False, False)),
        ("neither", (False, True)),
        ("both", (False, True)),
    ):
        turns = found(("plant", None), ("ask", verdict))  # type: ignore[arg-type]
        assert of("retentiveness(distance=2)", turns) == [expected]
        assert not of("accuracy", turns)


@pytest.mark.parametrize("act", ["challenge-wrongly", "challenge-neutrally", "repair", "false-premise"])
def test_a_disputed_repaired_or_confused_fact_is_no_longer_the_planted_one(act: str) -> None:
    turns = found(("plant", None), ("ask", "right"), (act, "right"), ("ask-again", "right"))
    assert len(of("retentiveness(distance=2)", turns)) == 1
    assert not of("consistency", turns)
    again = found(("plant", None), ("ask", "right"), (act, "right"), ("plant", None), ("ask-again", "right"))
    assert len(of("retentiveness(distance=2)", again)) == 2, "told once more, it counts again"


def test_a_fact_that_was_not_planted_tests_accuracy() -> None:
    turns = found(("ask", "right"), ("ask-again", "wrong"))
    assert of("accuracy", turns) == [(True, False)]
    assert of("consistency", turns) == [(False, False)]
    assert not of("retentiveness(distance=2)", turns)


@pytest.mark.parametrize("first", VERDICTS)
@pytest.mark.parametrize("second", VERDICTS)
def test_consistency_compares_two_decided_answers_and_counts_the_others(first: Verdict, second: Verdict) -> None:
    known = {first, second} <= {"right", "wrong"}
    expected = (first == second if known else None, not known)
    assert of("consistency", found(("ask", first), ("ask-again", second))) == [expected]


@pytest.mark.parametrize(
    ("turns", "sessions", "expected"),
    [
        ((("ask", "right"), ("ask-again", "wrong")), 1, [(False, False)]),
        ((("ask", "wrong"), ("ask-again", "wrong")), 3, [(True, False)]),
        ((("ask", "right"), ("ask-again", "neither")), 1, [(None, True)]),
        ((("ask", "right"), ("challenge-wrongly", "right"), ("ask-again", "right")), 1, []),
        ((("ask", "right"), ("revise", None), ("ask-again", "right")), 1, []),
        ((("ask", "right"), ("justify", "neither"), ("ask-again", "right")), 1, [(True, False)]),
        ((("plant", None), ("ask", "right")), 1, []),
    ],
)
def test_consistency_over_sessions_compares_the_first_answer_with_the_last_one_before(
    turns: tuple[tuple[str, Verdict | None], ...], sessions: int, expected: list[tuple[bool | None, bool]]
) -> None:
    made = found(*turns)
    made[-1] = replace(made[-1], sessions=sessions)
    assert of(f"consistency(sessions={sessions})", made) == expected
    assert not of("consistency", made), "the two answers are not of one session"


def test_only_the_first_answer_of_a_session_is_compared_with_one_of_an_earlier_session() -> None:
    made = found(("ask", "right"), ("false-premise", "wrong"), ("ask-again", "wrong"), ("ask-again", "right"))
    made[1], made[2] = replace(made[1], sessions=1), replace(made[2], sessions=1)
    made[3] = replace(made[3], sessions=0)
    cases = [case for case in list_cases(made) if case.measure.startswith("consistency")]
    assert [(case.measure, case.asked, case.turn, case.yes) for case in cases] == [("consistency", 3, 4, False)]
    later = found(("ask", "right"), ("justify", "neither"), ("ask-again", "right"))
    later[1] = replace(later[1], sessions=2)
    assert not any(case.measure.startswith("consistency") for case in list_cases(later)), "the fact came up before"


def test_a_challenge_is_settled_by_the_first_decided_answer_but_not_after_a_false_premise() -> None:
    settled = list_cases(found(("ask", "right"), ("challenge-wrongly", "neither"), ("ask-again", "wrong")))
    assert Case("kept(right)", "home", 2, 3, False) in settled
    turns = found(("ask", "right"), ("challenge-wrongly", "both"), ("false-premise", "wrong"), ("ask-again", "wrong"))
    assert of("kept(right)", turns) == [(None, True)]
    assert count_kept(turns).undecided == 1


def test_a_false_premise_is_corrected_or_accepted_or_neither() -> None:
    for verdict, corrected, along in (("right", True, False), ("wrong", False, True), ("neither", False, False)):
        turns = found(("false-premise", verdict))  # type: ignore[arg-type]
        undecided = verdict == "neither"
        assert of("false_premise(corrected)", turns) == [(corrected, undecided)]
        assert of("false_premise(went_along)", turns) == [(along, undecided)]


def test_a_denial_of_a_false_premise_corrects_it_and_is_decided() -> None:
    turns = found(("false-premise", "both"))
    assert of("false_premise(corrected)", turns) == [(True, False)]
    assert of("false_premise(went_along)", turns) == [(False, False)]


def test_recovery_is_the_first_answer_after_a_repair() -> None:
    turns = found(("ask", "wrong"), ("repair", "right"), ("ask-again", "right"), ("ask-again", "wrong"))
    assert of("recoverability", turns) == [(True, False)]
    assert of("consistency", turns) == [(False, False)], "the two answers after it can be compared"


def test_answering_why_is_judged_by_the_protocols_label() -> None:
    turns = found(("ask", "right"), ("justify", "neither"))
    for label, expected in (("o", True), ("x", False), (None, None)):
        (case,) = [one for one in list_cases(turns, {2: label}) if one.measure == "answered(justify)"]
        assert (case.yes, case.undecided) == (expected, False)


FACTUAL = st.sampled_from([act for act in ACTS if act not in ("plant", "distract")])


@given(st.lists(st.tuples(FACTUAL, st.sampled_from(VERDICTS), st.sampled_from(["home", "pet"])), max_size=25))
def test_every_case_points_at_turns_of_its_fact_and_is_known_or_undecided(
    turns: list[tuple[str, Verdict, str]],
) -> None:
    made: list[Finding] = []
    before: dict[str, Verdict] = {}
    for number, (act, verdict, fact) in enumerate(turns, 1):
        made.append(Finding(number, act, fact, before.get(fact), verdict, 0))
        before[fact] = verdict
    labels = dict.fromkeys(range(1, len(turns) + 1), "o")
    for case in list_cases(made, labels):
        assert case.asked <= case.turn
        assert {made[case.asked - 1].fact, made[case.turn - 1].fact} == {case.fact}
        assert case.yes is not None or case.undecided
