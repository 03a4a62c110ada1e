"""The label-level chain: its transitions, how %useful and %recovery are in it, and whether failing persists."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring_examples import grid, grid_topics

from scoring.measures.usefulness import labels
from scoring.scores import score
from scoring.settings import Settings
from scoring.statistics.bootstrap import Resampler
from scoring.stochastic.chain import ABSENT, TRANSITIONS, Transition, chain, codes, steps
from scoring.stochastic.persistence import persistence

Labels = npt.NDArray[np.int8]


def cube(*trials: list[str]) -> Labels:
    """(topics, trials, turns) from a list of rows for each trial."""
    return np.stack([codes(rows) for rows in trials], axis=1)


def names(count: int) -> list[str]:
    return [f"T{number:02d}" for number in range(1, count + 1)]


def of(found: tuple[Transition, ...], source: str, target: str) -> Transition:
    (one,) = [each for each in found if (each.source, each.target) == (source, target)]
    return one


def value(found: tuple[Transition, ...], source: str, target: str) -> float:
    return of(found, source, target).share.value


# Every row with which a recorded conversation can stand in the grid: once ended, always ended.
rows = st.sampled_from(["oo", "ox", "o-", "xo", "xx", "x-"])
longer = st.lists(st.sampled_from("ox"), min_size=1, max_size=4).map(lambda seen: "".join(seen).ljust(4, "-"))


def test_transitions_are_counted_over_all_steps() -> None:
    found = chain(cube(["oox", "xox", "xx-", "o--"]), names(4))
    shown = {(each.source, each.target): (each.share.value, each.share.n) for each in found}
    assert shown == {
        ("start", "o"): (0.5, 4),
        ("start", "x"): (0.5, 4),
        ("start", "-"): (0.0, 4),
        ("o", "o"): (pytest.approx(1 / 4), 4),
        ("o", "x"): (pytest.approx(2 / 4), 4),
        ("o", "-"): (pytest.approx(1 / 4), 4),
        ("x", "o"): (pytest.approx(1 / 3), 3),
        ("x", "x"): (pytest.approx(1 / 3), 3),
        ("x", "-"): (pytest.approx(1 / 3), 3),
    }


@given(st.lists(longer, min_size=1, max_size=12), st.sampled_from([None, 1, 2, 3, 4]))
def test_what_leaves_a_state_sums_to_one(seen: list[str], step: int | None) -> None:
    found = chain(cube(seen), names(len(seen)), step=step)
    for source in ("start", "o", "x"):
        leaving = [each.share for each in found if each.source == source]
        if leaving[0].n:
            assert math.fsum(share.value for share in leaving) == pytest.approx(1)
        else:
            assert all(math.isnan(share.value) for share in leaving)
        assert len({share.n for share in leaving}) == 1


@given(st.lists(st.lists(rows, min_size=3, max_size=3), min_size=1, max_size=6))
def test_useful_and_recovery_are_the_transitions(trials: list[list[str]]) -> None:
    conversations = [one for number, seen in enumerate(trials, 1) for one in grid(seen, trial=number)]
    table = score(conversations, grid_topics(3), None, Settings(), np.random.default_rng(0), turns=2)
    whole = {(row.measure, row.turn): row for row in table.select(topic=None, topic_type=None, trial=None)}
    cells = cube(*trials)
    first, second = chain(cells, names(3), step=1), chain(cells, names(3), step=2)
    assert value(first, "start", "o") == pytest.approx(whole["%useful", 1].value)
    onward = sum(
        value(first, "start", state) * value(second, state, "o") for state in "ox" if value(first, "start", state) > 0
    )
    assert onward == pytest.approx(whole["%useful", 2].value)
    recovery, found = whole["%recovery", None], of(second, "x", "o").share
    assert found.n == recovery.n
    assert (found.value, found.interval.low, found.interval.high) == pytest.approx(
        (recovery.value, recovery.low, recovery.high), nan_ok=True
    )


def test_a_conversation_without_a_first_turn_is_a_failure_for_recovery_and_leaves_no_x_behind() -> None:
    cells = cube(["xo", "xx", "--"])
    found = chain(cells, names(3))
    assert value(found, "start", "-") == pytest.approx(1 / 3)
    assert of(found, "x", "o").share.n == 2  # %recovery divides by 3: what never began did not recover either


def test_the_papers_nine_of_fourteen_is_the_transition_from_x_to_o() -> None:
    # [GFRC] section 5: 9 of 14 unsuccessful first turns recovered, 64.3%
    found = of(chain(cube(["xo"] * 9 + ["xx"] * 4 + ["x-"] + ["oo"] * 31), names(45)), "x", "o")
    assert (f"{found.share.value:.1%}", found.share.n) == ("64.3%", 14)
    assert found.share.interval.method == "Wilson"


def test_the_unit_of_an_interval_is_the_topic() -> None:
    differ = np.repeat(cube(["oo", "xx", "oo", "xx"]), 10, axis=1)
    lone = chain(differ, names(4), step=1)[0].share
    assert (lone.n, lone.topics) == (40, 4)
    assert lone.interval.method == "Wilson, effective n"
    assert lone.interval.high - lone.interval.low > 0.6  # four independent answers, not forty


def test_within_one_topic_the_trials_are_the_units() -> None:
    found = chain(cube(["xo"], ["xx"], ["oo"]), ["T01"])
    assert of(found, "x", "o").share.interval.method == "Wilson"
    assert of(found, "start", "o").share.n == 3


def test_an_invalid_trial_is_in_no_number_and_bounds_both_ways() -> None:
    cells = cube(["oo", "xo"], ["oo", "oo"])
    cells[1, 1] = ABSENT
    found = of(chain(cells, names(2), invalid=[[False, False], [False, True]]), "x", "o").share
    assert (found.value, found.n) == (1.0, 1)
    assert (found.worst, found.best) == (0.5, 1.0)


def test_a_reply_without_a_label_is_in_no_transition() -> None:
    found = chain(cube(["o?o", "xoo"]), names(2))
    assert of(found, "o", "o").share.n == 1
    assert of(found, "start", "o").share.n == 2


def test_intervals_can_be_drawn_anew_over_topics() -> None:
    rng = np.random.default_rng(3)
    cells = rng.integers(0, 2, (20, 5, 2)).astype(np.int8)
    found = of(chain(cells, names(20), resampler=Resampler(np.random.default_rng(0))), "x", "o").share
    assert found.interval.method == "bootstrap, expanded percentile"


@given(st.lists(longer, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_permuting_the_trials_of_a_topic_changes_nothing(seen: list[str], random: object) -> None:
    cells = codes(seen)[None]
    order = list(range(len(seen)))
    random.shuffle(order)  # type: ignore[attr-defined]
    one, two = chain(cells, ["T01"]), chain(cells[:, order], ["T01"])
    for first, second in zip(one, two, strict=True):
        assert (first.share.value, first.share.n) == pytest.approx((second.share.value, second.share.n), nan_ok=True)


def test_counts_by_step_add_up_to_the_chain() -> None:
    cells = cube(["oxo", "xxo", "x--"], ["oox", "xo-", "xxx"])
    counts = steps(cells, names(3))
    assert counts.sum(axis=(0, 1)).tolist() == [
        round(each.share.value * each.share.n) if each.share.n else 0 for each in chain(cells, names(3))
    ]
    assert counts[:, 0, : TRANSITIONS.index(("o", "o"))].sum() == 6


def test_a_turn_that_was_not_asked_is_an_end_and_no_failure() -> None:
    cells = codes(["o··", "x··", "x--"])[None]
    found = chain(cells, names(1))
    assert (of(found, "x", "-").share.value, of(found, "x", "-").share.n) == (1.0, 2)
    assert of(found, "o", "-").share.value == 1.0
    failing = persistence(cells, names(1))
    assert (failing.after_x.value, failing.after_x.n, failing.after_o.n) == (1.0, 1, 0)


def test_a_turn_the_protocol_does_not_take_on_a_topic_is_in_no_transition() -> None:
    cells = codes(["oo", "oo"])[:, None]
    cells[1, 0, 1] = ABSENT
    found = of(chain(cells, names(2)), "o", "o").share
    assert (found.value, found.n) == (1.0, 1)


def test_codes_are_those_of_recorded_labels() -> None:
    (conversation,) = grid(["x-"])
    assert codes([labels(conversation, 3)]).tolist() == [[1, 2, 2]]
    assert codes(["ox-?"]).tolist() == [[0, 1, 2, 3]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: codes(["oy"]), "labels are o, x, -"),
        (lambda: chain(codes(["ox"]), names(1)), "1 topics, trials, turns"),
        (lambda: chain(np.full((1, 1, 1), 9), names(1)), "codes"),
        (lambda: chain(cube(["ox"]), names(1), step=3), "no step 3"),
        (lambda: persistence(codes(["ox"]), names(1)), "1 topics, trials, turns"),
    ],
)
def test_what_are_no_labels_is_refused(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]


# Once it fails, does it go on failing?


def drawn(rng: np.random.Generator, fails: npt.NDArray[np.float64], trials: int, turns: int, sticky: float) -> Labels:
    """Labels by topic rates of failing; with probability `sticky` a turn repeats the one before. Failing may end it."""
    cells = np.zeros((len(fails), trials, turns), dtype=np.int8)
    for turn in range(turns):
        cells[:, :, turn] = rng.random((len(fails), trials)) < fails[:, None]
        if turn:
            again = rng.random((len(fails), trials)) < sticky
            cells[:, :, turn] = np.where(again, cells[:, :, turn - 1], cells[:, :, turn])
    return cells


def test_a_system_that_goes_on_failing_is_found_out() -> None:
    found = persistence(drawn(np.random.default_rng(1), np.full(45, 0.3), 5, 2, 0.5), names(45))
    assert found.test.more < 0.001
    assert found.test.difference == pytest.approx(0.5, abs=0.15)
    assert found.after_x.value > found.after_o.value
    assert found.test.n <= 225


def test_hard_topics_alone_are_no_persistence() -> None:
    rng = np.random.default_rng(2)
    fails = np.repeat([0.9, 0.1], 25)
    found = persistence(drawn(rng, fails, 10, 2, 0.0), names(50))
    assert found.after_x.value - found.after_o.value > 0.5  # what a pooled chain shows
    assert found.test.p > 0.05
    assert abs(found.test.difference) < 0.1


@pytest.mark.parametrize("turns", [2, 4])
@pytest.mark.parametrize("ended", ["fails", "left out"])
def test_the_test_rejects_no_more_often_than_it_says(turns: int, ended: str) -> None:
    rng = np.random.default_rng(turns)
    rejected, simulations = 0, 400
    for _ in range(simulations):
        cells = drawn(rng, rng.beta(2, 2, 20), 6, turns, 0.0)
        stopped = np.cumsum(rng.random(cells.shape) < 0.1, axis=2) > 0
        cells[:, :, 1:][stopped[:, :, :-1]] = 2  # ended, whatever the last label was
        found = persistence(cells, names(20), ended=ended)  # type: ignore[arg-type]
        rejected += found.test.more <= 0.05
    # Exact, so at most .05; and not so cautious that it could not find anything.
    assert 0.01 <= rejected / simulations <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / simulations)


def test_an_end_counts_as_failing_unless_it_is_left_out() -> None:
    cells = cube(["x-"], ["xx"], ["oo"], ["oo"])
    assert persistence(cells, ["T01"]).after_x.n == 2
    assert persistence(cells, ["T01"]).after_x.value == 1
    assert persistence(cells, ["T01"], ended="left out").after_x.n == 1


def test_where_no_topic_has_both_kinds_of_trials_nothing_is_claimed() -> None:
    found = persistence(cube(["xx", "oo"], ["xo", "ox"]), names(2))
    assert math.isnan(found.test.p)
    assert (found.test.n, found.test.strata) == (0, 0)
    assert found.after_x.n == 2


def test_one_transition_alone_is_what_it_is_among_all() -> None:
    labels = np.stack([codes(["xo", "xx", "oo"]), codes(["x-", "ox", "oo"])])
    for edge in chain(labels, ["a", "b"]):
        assert chain(labels, ["a", "b"], only=(edge.source, edge.target)) == (edge,)
