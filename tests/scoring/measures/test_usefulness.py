"""%useful, ave%useful and %recovery: the paper's example, breakdowns, invalid trials, and what n means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recordings.conversations.conversation import Outcome, TrialKey
from scoring.inference.bootstrap import Resampler
from scoring.inference.proportions import clopper_pearson_ends, wilson_ends
from scoring.inference.unseen_topic import answer_ends
from scoring.measures.usefulness import Share, labels, recovery_cells, share, useful_cells
from scoring.scores import score
from scoring.settings import Settings
from scoring.table import ScoreRow, ScoreTable
from simulators.reasons import BUDGET, FRUSTRATED, LEFT, PATIENCE, SATISFIED
from tests.support.scoring_examples import conversation, grid, grid_topics

Floats = npt.NDArray[np.float64]

FIGURE_2_G2 = ["oo"] * 1 + ["xo"] * 9 + ["xx"] * 3 + ["x-"] * 2
"""15 movie topics of which 14 fail in the first turn and 9 recover, as [GFRC] says of G2 in Figure 2."""


def table(rows: Sequence[str], *, invalid: Sequence[TrialKey] = (), settings: Settings | None = None) -> ScoreTable:
    topics = grid_topics(len(rows) + len(invalid))
    chosen = settings or Settings()
    return score(grid(rows), topics, None, chosen, np.random.default_rng(0), turns=2, invalid=invalid)


def one(found: ScoreTable, measure: str, **wanted: object) -> ScoreRow:
    wanted = {"topic": None, "topic_type": None, "trial": 1, **wanted}
    (row,) = found.select(measure=measure, **wanted)
    return row


def shared(above: Floats, below: Floats | None = None, *, pooled: bool = False, **given: object) -> Share:
    names = [f"T{number}" for number in range(len(above))]
    bottom = np.ones_like(above) if below is None else below
    lost = np.zeros(above.shape, dtype=bool)
    return share(names, above, bottom, lost, level=0.95, pooled=pooled, **given)  # type: ignore[arg-type]


def test_recovery_of_9_in_14_is_64_3_percent_as_in_the_paper() -> None:
    row = one(table(FIGURE_2_G2), "%recovery")
    assert (row.value, row.n) == (9 / 14, 14)
    assert f"{100 * row.value:.1f}%" == "64.3%"
    assert (row.low, row.high) == pytest.approx(answer_ends(9, 14, 0.95))
    assert (row.interval, row.resampled) == ("Gaffke-type interval with an unseen topic", "topics")


def test_a_breakdown_is_in_the_denominator_of_useful() -> None:
    found = table(["oo", "ox", "xo", "x-"])
    first, second = one(found, "%useful", turn=1), one(found, "%useful", turn=2)
    assert (first.value, first.n, second.value, second.n) == (0.5, 4, 0.5, 4)
    assert (second.low, second.high) == pytest.approx(answer_ends(2, 4, 0.95))


def test_ave_useful_is_the_mean_over_the_turns() -> None:
    found = table(FIGURE_2_G2)
    turns = [one(found, "%useful", turn=turn).value for turn in (1, 2)]
    assert turns == pytest.approx([1 / 15, 10 / 15])
    assert one(found, "ave%useful").value == pytest.approx(sum(turns) / 2)


def test_a_breakdown_after_the_first_turn_is_not_recovered() -> None:
    row = one(table(["x-", "x-", "xo"]), "%recovery")
    assert (row.value, row.n) == (1 / 3, 3)


def test_recovery_is_undefined_if_no_first_turn_failed() -> None:
    row = one(table(["oo", "ox"]), "%recovery")
    assert math.isnan(row.value)
    assert (row.n, row.interval) == (0, None)
    assert row.as_json()["value"] is None


def test_an_invalid_trial_is_in_no_rate_and_bounds_cover_its_possible_outcomes() -> None:
    lost = [TrialKey("G", "T05", 1)]
    found = table(["oo", "xo", "xx", "x-"], invalid=lost)
    useful, recovery = one(found, "%useful", turn=1), one(found, "%recovery")
    assert (useful.value, useful.n, useful.invalid) == (1 / 4, 4, 1)
    assert (useful.worst, useful.best) == (1 / 5, 2 / 5)
    assert (recovery.value, recovery.n, recovery.invalid) == (1 / 3, 3, 1)
    assert (recovery.worst, recovery.best) == (1 / 4, 2 / 4)
    average = one(found, "ave%useful")
    assert (average.value, average.worst, average.best) == pytest.approx((3 / 8, 3 / 10, 5 / 10))


def test_a_system_with_only_invalid_trials_is_undefined_and_still_listed() -> None:
    found = table([], invalid=[TrialKey("G", "T01", 1), TrialKey("G", "T02", 1)])
    for turn in (1, 2):
        row = one(found, "%useful", turn=turn, trial=None)
        assert math.isnan(row.value)
        assert (row.n, row.invalid, row.worst, row.best) == (0, 2, 0.0, 1.0)
    average = one(found, "ave%useful")
    assert math.isnan(average.value)
    assert (average.n, average.invalid, average.worst, average.best) == (0, 2, 0.0, 1.0)


def test_without_invalid_trials_both_bounds_are_the_value() -> None:
    for row in table(FIGURE_2_G2).select(trial=1, topic=None):
        if row.measure.startswith(("%", "ave")):
            assert row.worst == row.best == pytest.approx(row.value)


def test_the_labels_of_a_conversation_decide_its_figures() -> None:
    spoken = conversation(("a", "b"), ("c", "d"), labels="x?", outcome=Outcome("breakdown"))
    assert labels(spoken, 3) == ("x", "?", "-")
    assert labels(spoken, 1) == ("x",)
    assert spoken.turns[0].route is not None
    good = replace(spoken.turns[0], route=replace(spoken.turns[0].route, label="good"))
    assert labels(replace(spoken, turns=(good, *spoken.turns[1:])), 3) == ("?", "?", "-")
    unanswered = replace(spoken, turns=(*spoken.turns[:1], replace(spoken.turns[1], reply=None, route=None)))
    assert labels(unanswered, 2) == ("x", "-")
    assert labels(replace(unanswered, outcome=Outcome("completed", "import")), 2) == ("x", "·")


@pytest.mark.parametrize(
    ("outcome", "missing"),
    [
        (Outcome("breakdown"), "-"),
        (Outcome("no-match"), "-"),
        (Outcome("system-ended", "system-ended"), "-"),
        (Outcome("user-stopped", FRUSTRATED), "·"),
        (Outcome("user-stopped", FRUSTRATED, missing=2), "·"),
        (Outcome("user-stopped", LEFT), "·"),
        (Outcome("user-stopped", SATISFIED), "·"),
        (Outcome("user-stopped", PATIENCE), "·"),
        (Outcome("user-stopped", BUDGET), "·"),
        (Outcome("completed"), "·"),
        (Outcome("turn-limit"), "·"),
        (Outcome("completed", "imported"), "·"),
    ],
)
def test_a_turn_counts_against_a_system_only_if_it_ended_badly_and_only_once(outcome: Outcome, missing: str) -> None:
    assert labels(conversation(("a", "b"), labels="o", outcome=outcome), 3) == ("o", missing, "·")


@pytest.mark.parametrize(("missing", "row"), [(0, "x··"), (1, "x-·"), (2, "x--"), (5, "x--")])
def test_a_recording_that_says_how_many_turns_are_missing_is_trusted(missing: int, row: str) -> None:
    spoken = conversation(("a", "b"), labels="x", outcome=Outcome("breakdown", missing=missing))
    assert "".join(labels(spoken, 3)) == row


def test_turns_that_a_satisfied_user_did_not_take_are_in_no_share() -> None:
    left = Outcome("user-stopped", SATISFIED)
    satisfied = [conversation(("a", "b"), labels="o", topic=f"T{n:02d}", system="G", outcome=left) for n in (1, 2)]
    went_on = [
        replace(one, key=replace(one.key, topic=f"T{n:02d}")) for n, one in enumerate(grid(["xo", "x-"]), start=3)
    ]
    found = score((*satisfied, *went_on), grid_topics(4), None, Settings(), np.random.default_rng(0), turns=2)
    assert [(one(found, "%useful", turn=turn).value, one(found, "%useful", turn=turn).n) for turn in (1, 2)] == [
        (2 / 4, 4),
        (1 / 2, 2),
    ]
    assert one(found, "ave%useful").value == pytest.approx((1 + 1 + 1 / 2 + 0) / 4)
    assert (one(found, "%recovery").value, one(found, "%recovery").n) == (1 / 2, 2)
    assert any("2 conversations ended early" in note for note in found.notes)
    assert not any("without a label" in note for note in found.notes)


def test_a_user_who_leaves_after_a_useless_answer_leaves_no_chance_to_recover() -> None:
    assert all(math.isnan(value) for value in recovery_cells(("x", "·")))
    assert recovery_cells(("o", "·")) == (0.0, 0.0)


def test_a_reply_without_a_label_is_neither_useful_nor_useless() -> None:
    assert useful_cells(("o", "x", "-")) == (1.0, 0.0, 0.0)
    assert math.isnan(useful_cells("?")[0])
    found = table(["o?", "x?", "??", "oo"])
    assert one(found, "%useful", turn=1).n == 3
    second = one(found, "%useful", turn=2)
    assert (second.value, second.n) == (1.0, 1)
    assert one(found, "%recovery").n == 0
    assert "4 replies without a label" in " ".join(found.notes)


@pytest.mark.parametrize(
    ("row", "expected"),
    [("xo", (1, 1)), ("xx", (0, 1)), ("x-", (0, 1)), ("--", (0, 1)), ("oo", (0, 0)), ("ox", (0, 0)), ("o", (0, 0))],
)
def test_recovery_of_one_conversation(row: str, expected: tuple[float, float]) -> None:
    assert recovery_cells(tuple(row)) == expected


@pytest.mark.parametrize("row", ["?o", "??", "x?", "x·", "x"])
def test_recovery_is_unknown_if_a_label_or_a_second_turn_is_missing(row: str) -> None:
    assert all(math.isnan(cell) for cell in recovery_cells(tuple(row)))
    assert recovery_cells(("o", "?")) == (0.0, 0.0)


def test_over_trials_a_topic_with_an_invalid_trial_has_the_same_weight() -> None:
    above = np.array([[1.0, 1.0, 1.0], [0.0, np.nan, np.nan]])
    below = np.where(np.isnan(above), np.nan, 1.0)
    assert shared(above, below).value == pytest.approx(0.5)
    assert shared(above, below).n == 4


def test_recovery_over_trials_is_a_ratio_of_sums() -> None:
    failed = np.array([[1.0, 1.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    recovered = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    found = shared(recovered, failed, pooled=True)
    assert (found.value, found.n, found.topics) == (0.5, 4, 2)


def test_trials_of_one_topic_that_always_agree_count_as_one_answer() -> None:
    once = np.array([[1.0]] * 12 + [[0.0]] * 8)
    alone, repeated = shared(once), shared(np.repeat(once, 5, axis=1))
    assert repeated.value == alone.value
    assert repeated.interval.method == "Gaffke-type interval with an unseen topic"
    assert repeated.interval.low < alone.interval.low + 0.01
    assert repeated.interval.high > alone.interval.high - 0.01
    assert repeated.interval.note == "effective n = 20.0"
    naive = [float(end) for end in wilson_ends(60, 100)]
    assert repeated.interval.high - repeated.interval.low > 1.8 * (naive[1] - naive[0])


def test_topics_that_differ_only_by_chance_leave_nearly_all_answers_independent() -> None:
    above = (np.random.default_rng(2).random((60, 5)) < 0.5).astype(float)
    low, high = (float(end) for end in wilson_ends(above.sum(), above.size))
    found = shared(above).interval
    assert 0.8 * (high - low) < found.high - found.low < 1.3 * (high - low)
    assert float(found.note.removeprefix("effective n = ")) > 200


def test_if_every_answer_is_the_same_the_interval_admits_ignorance_about_other_topics() -> None:
    every = np.ones((15, 5))
    by_formula = shared(every)
    assert by_formula.value == 1.0
    assert by_formula.interval.high == 1.0
    # 75 answers say no more than 15 topics, of which the exact interval is taken: Wilson's claims more.
    assert by_formula.interval.low == pytest.approx(float(clopper_pearson_ends(15, 15)[0]))
    assert by_formula.interval.low == shared(every[:, :1]).interval.low
    by_bootstrap = shared(every, resampler=Resampler(np.random.default_rng(0)))
    assert (by_bootstrap.interval.method, by_bootstrap.interval.resampled) == (by_formula.interval.method, "topics")
    assert (by_bootstrap.interval.low, by_bootstrap.interval.high) == pytest.approx((by_formula.interval.low, 1.0))


def test_shares_may_be_bootstrapped_instead() -> None:
    rng = np.random.default_rng(5)
    above = (rng.random((30, 5)) < rng.beta(4, 2, (30, 1))).astype(float)
    formula, resampled = shared(above), shared(above, resampler=Resampler(np.random.default_rng(0)))
    assert resampled.interval.method == formula.interval.method
    assert resampled.interval.resampled == "topics"
    assert resampled.value == formula.value
    assert resampled.interval.low == pytest.approx(formula.interval.low, abs=0.02)
    assert resampled.interval.high == pytest.approx(formula.interval.high, abs=0.02)
    wider = shared(above, resampler=Resampler(np.random.default_rng(0), resample="topics+trials"))
    assert wider.interval.low <= resampled.interval.low
    assert wider.interval.high >= resampled.interval.high


@settings(deadline=None)
@given(st.integers(1, 6), st.integers(1, 5), st.data())
def test_a_share_its_interval_and_its_bounds_are_ordered(topics: int, trials: int, data: st.DataObject) -> None:
    cells = data.draw(
        st.lists(
            st.lists(st.sampled_from(["oo", "ox", "xo", "x-", "?-", "!"]), min_size=trials, max_size=trials),
            min_size=topics,
            max_size=topics,
        )
    )
    lost = np.array([[cell == "!" for cell in row] for row in cells])
    first = np.array([[math.nan if cell == "!" else useful_cells(cell)[0] for cell in row] for row in cells])
    pairs = np.array(
        [[(math.nan,) * 2 if cell == "!" else recovery_cells(tuple(cell)) for cell in row] for row in cells]
    )
    names = [f"T{number}" for number in range(topics)]
    whole = np.where(np.isnan(first), np.nan, 1.0)
    useful = share(names, first, whole, lost, level=0.95, pooled=False)
    recovery = share(names, pairs[..., 0], pairs[..., 1], lost, level=0.95, pooled=True)
    for found in (useful, recovery):
        assert math.isnan(found.value) == (found.n == 0)
        if found.n:
            assert 0 <= found.interval.low <= found.value + 1e-12
            assert found.value - 1e-12 <= found.interval.high <= 1
            assert found.topics <= found.n
        if found.n and not lost.any():
            assert found.worst == found.best == found.value
    if recovery.n:
        assert recovery.worst - 1e-12 <= recovery.value <= recovery.best + 1e-12
