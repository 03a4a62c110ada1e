"""The label-level chain: its transitions, how %useful and %recovery are in it, and whether failing persists."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordings.trees.builder import LABEL, TreeBuilder
from scoring.inference.bootstrap import Resampler
from scoring.inference.proportions import clopper_pearson_ends
from scoring.measures.usefulness import labels
from scoring.notation import parse_all
from scoring.scores import score
from scoring.settings import Settings
from scoring.stochastic.chain import (
    ABSENT,
    STATES,
    TRANSITIONS,
    Transition,
    chain,
    count_transitions,
    label_codes,
    persistence,
)
from tests.support.kept_cells import keep_cells
from tests.support.scoring_examples import grid, grid_topics

Labels = npt.NDArray[np.int8]


def cube(*trials: list[str]) -> Labels:
    """(topics, trials, turns) from a list of rows for each trial."""
    return np.stack([label_codes(rows) for rows in trials], axis=1)


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
        ("o", "o"): (pytest.approx(1 / 3), 3),
        ("o", "x"): (pytest.approx(2 / 3), 3),
        ("o", "-"): (pytest.approx(1 / 4), 4),
        ("x", "o"): (pytest.approx(1 / 2), 2),
        ("x", "x"): (pytest.approx(1 / 2), 2),
        ("x", "-"): (pytest.approx(1 / 3), 3),
    }


@given(st.lists(longer, min_size=1, max_size=12), st.sampled_from([None, 1, 2, 3, 4]))
def test_answers_after_a_state_sum_to_one_and_ends_are_distinguished(seen: list[str], step: int | None) -> None:
    found = chain(cube(seen), names(len(seen)), step=step)
    for source in ("start", "o", "x"):
        useful, useless, end = (of(found, source, target).share for target in "ox-")
        if useful.n:
            assert useful.value + useless.value == pytest.approx(1)
        else:
            assert math.isnan(useful.value)
            assert math.isnan(useless.value)
        assert useful.n == useless.n
        assert end.n - useful.n == (round(end.value * end.n) if end.n else 0)


@given(st.lists(st.lists(rows, min_size=3, max_size=3), min_size=1, max_size=6))
def test_useful_and_recovery_are_the_transitions(trials: list[list[str]]) -> None:
    conversations = [one for number, seen in enumerate(trials, 1) for one in grid(seen, trial=number)]
    table = score(conversations, grid_topics(3), None, Settings(), np.random.default_rng(0), turns=2)
    whole = {(row.measure, row.turn): row for row in table.select(topic=None, topic_type=None, trial=None)}
    cells = cube(*trials)
    first, second = chain(cells, names(3), step=1), chain(cells, names(3), step=2)
    assert value(first, "start", "o") == pytest.approx(whole["%useful", 1].value)
    after = {state: (1 - value(second, state, "-")) * value(second, state, "o") for state in "ox"}
    onward = sum(
        value(first, "start", state) * share for state, share in after.items() if of(second, state, "o").share.n
    )
    assert onward == pytest.approx(whole["%useful", 2].value)
    recovery = whole["%recovery", None]
    assert of(second, "x", "-").share.n == recovery.n
    if of(second, "x", "o").share.n:
        assert after["x"] == pytest.approx(recovery.value)


def test_a_conversation_without_a_first_turn_is_a_failure_for_recovery_and_leaves_no_x_behind() -> None:
    cells = cube(["xo", "xx", "--"])
    found = chain(cells, names(3))
    assert value(found, "start", "-") == pytest.approx(1 / 3)
    assert of(found, "x", "o").share.n == 2  # %recovery divides by 3: what never began did not recover either


def test_the_papers_nine_of_fourteen_are_those_who_continued_times_those_who_were_then_helped() -> None:
    # [GFRC] section 5: 9 of 14 unsuccessful first turns recovered, 64.3%
    found = chain(cube(["xo"] * 9 + ["xx"] * 4 + ["x-"] + ["oo"] * 31), names(45))
    onward, end = of(found, "x", "o").share, of(found, "x", "-").share
    assert (onward.value, onward.n, end.value, end.n) == (9 / 13, 13, 1 / 14, 14)
    assert f"{(1 - end.value) * onward.value:.1%}" == "64.3%"
    assert onward.interval.method == "Gaffke-type interval with an unseen topic"


def test_the_unit_of_an_interval_is_the_topic() -> None:
    differ = np.repeat(cube(["oo", "xx", "oo", "xx"]), 10, axis=1)
    lone = chain(differ, names(4), step=1)[0].share
    assert (lone.n, lone.topics) == (40, 4)
    assert lone.interval.method == "Gaffke-type interval with an unseen topic"
    assert lone.interval.high - lone.interval.low > 0.6  # four independent answers, not forty


def test_within_one_topic_the_trials_are_the_units() -> None:
    found = chain(cube(["xo"], ["xx"], ["oo"], ["xo"], ["xo"]), ["T01"])
    assert (of(found, "x", "o").share.interval.method, of(found, "x", "o").share.n) == (
        "Gaffke-type interval with an unseen trial",
        4,
    )
    assert of(found, "start", "o").share.n == 5


def test_for_fewer_than_four_answers_the_interval_is_the_exact_one() -> None:
    found = of(chain(cube(["xo"], ["xx"], ["oo"], ["xo"]), ["T01"]), "x", "o").share
    assert (found.n, found.interval.method) == (3, "Clopper-Pearson, exact")
    low, high = clopper_pearson_ends(2, 3)
    assert (found.interval.low, found.interval.high) == (float(low), float(high))


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


def test_intervals_can_use_the_draws_of_a_run() -> None:
    rng = np.random.default_rng(3)
    cells = rng.integers(0, 2, (20, 5, 2)).astype(np.int8)
    drawn, usual = (
        of(chain(cells, names(20), resampler=resampler), "x", "o").share.interval
        for resampler in (Resampler(np.random.default_rng(0)), None)
    )
    assert drawn.method == usual.method == "Gaffke-type interval with an unseen topic"
    assert (drawn.low, drawn.high) == pytest.approx((usual.low, usual.high), abs=0.03)
    assert drawn.low != usual.low


@given(st.lists(longer, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_permuting_the_trials_of_a_topic_changes_nothing(seen: list[str], random: object) -> None:
    cells = label_codes(seen)[None]
    order = list(range(len(seen)))
    random.shuffle(order)  # type: ignore[attr-defined]
    one, two = chain(cells, ["T01"]), chain(cells[:, order], ["T01"])
    for first, second in zip(one, two, strict=True):
        assert (first.share.value, first.share.n) == pytest.approx((second.share.value, second.share.n), nan_ok=True)


def test_counts_by_step_add_up_to_the_chain() -> None:
    cells = cube(["oxo", "xxo", "x--"], ["oox", "xo-", "xxx"])
    counts = count_transitions(cells, names(3))
    assert counts.sum(axis=(0, 1)).tolist() == [
        round(each.share.value * each.share.n) if each.share.n else 0 for each in chain(cells, names(3))
    ]
    assert counts[:, 0, : TRANSITIONS.index(("o", "o"))].sum() == 6


def test_an_unasked_turn_is_in_no_transition_and_the_protocols_own_end_is_not_a_failure() -> None:
    cells = label_codes(["o··", "x··", "x--", "xo·"])[None]
    found = chain(cells, names(1))
    assert (of(found, "x", "-").share.value, of(found, "x", "-").share.n) == (0.5, 2)
    assert (of(found, "x", "o").share.value, of(found, "x", "o").share.n) == (1.0, 1)
    assert of(found, "o", "-").share.n == 0
    failing = persistence(cells, names(1))
    assert (failing.after_x.value, failing.after_x.n, failing.after_o.n) == (0.0, 1, 0)


def test_a_turn_the_protocol_does_not_take_on_a_topic_is_in_no_transition() -> None:
    cells = label_codes(["oo", "oo"])[:, None]
    cells[1, 0, 1] = ABSENT
    found = of(chain(cells, names(2)), "o", "o").share
    assert (found.value, found.n) == (1.0, 1)


def test_codes_are_those_of_recorded_labels() -> None:
    (conversation,) = grid(["x-"])
    assert label_codes([labels(conversation, 3)]).tolist() == [[1, 2, 4]]
    assert label_codes(["ox-?"]).tolist() == [[0, 1, 2, 3]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: label_codes(["oy"]), "labels must be o, x, -"),
        (lambda: chain(label_codes(["ox"]), names(1)), "1 topics, trials, turns"),
        (lambda: chain(np.full((1, 1, 1), 9), names(1)), "codes"),
        (lambda: chain(cube(["ox"]), names(1), step=3), "no step 3"),
        (lambda: persistence(label_codes(["ox"]), names(1)), "1 topics, trials, turns"),
    ],
)
def test_invalid_labels_are_refused(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]


# Do failures follow failures?


def drawn(rng: np.random.Generator, fails: npt.NDArray[np.float64], trials: int, turns: int, sticky: float) -> Labels:
    """Labels by topic rates of failing; with probability `sticky` a turn repeats the one before. Failing may end it."""
    cells = np.zeros((len(fails), trials, turns), dtype=np.int8)
    for turn in range(turns):
        cells[:, :, turn] = rng.random((len(fails), trials)) < fails[:, None]
        if turn:
            again = rng.random((len(fails), trials)) < sticky
            cells[:, :, turn] = np.where(again, cells[:, :, turn - 1], cells[:, :, turn])
    return cells


def coins(rng: np.random.Generator, topics: int, trials: int, turns: int = 10) -> Labels:
    """A memoryless system: each answer is useful with probability .5, half of the useless ones are refusals, and a
    refusal breaks the conversation down; otherwise the protocol goes on."""
    useless = rng.random((topics, trials, turns)) < 0.5
    refused = useless & (rng.random(useless.shape) < 0.5)
    over = np.cumsum(refused, axis=2)
    before = np.concatenate((np.zeros((topics, trials, 1), dtype=int), over[:, :, :-1]), axis=2)
    cells = useless.astype(np.int8)
    cells[before > 0] = label_codes("·")[0, 0]
    first = (before > 0) & (np.cumsum(before > 0, axis=2) == 1)
    cells[first] = label_codes("-")[0, 0]
    return cells


def from_uniform(values: list[float]) -> float:
    """Kolmogorov and Smirnov's distance, in units of 1/√n: above 1.63 in 1% of samples that are uniform on [0, 1]."""
    ordered, n = np.sort(values), len(values)
    steps = np.arange(n + 1) / n
    return float(max((steps[1:] - ordered).max(), (ordered - steps[:-1]).max()) * math.sqrt(n))


def assert_a_coin_shows_no_memory(simulations: int) -> None:
    """Of one world of 20 topics and 5 trials; its intervals are checked elsewhere, so the bound is wide."""
    rng = np.random.default_rng(simulations)
    found, covered = [], 0
    for _ in range(simulations):
        cells = coins(rng, 20, 5)
        found.append(persistence(cells, names(20)).test.middle)
        useful = chain(cells, names(20), only=("x", "o"))[0].share.interval
        covered += useful.low <= 0.5 <= useful.high
    assert from_uniform(found) < 1.63
    assert covered / simulations > 0.95 - 3 * math.sqrt(0.95 * 0.05 / simulations)


def test_for_a_coin_the_p_values_are_uniform_and_the_intervals_cover_the_truth() -> None:
    assert_a_coin_shows_no_memory(150)


@pytest.mark.soak
def test_for_1000_coins_the_p_values_are_uniform_and_the_intervals_cover_the_truth() -> None:
    assert_a_coin_shows_no_memory(1000)


def test_transitions_agree_with_the_tree_of_the_same_conversations() -> None:
    cells = coins(np.random.default_rng(4), 1, 60)
    rows = ["".join(STATES[code] for code in row).rstrip("·") for row in cells[0]]
    recorded = [conversation for n, row in enumerate(rows, 1) for conversation in grid([row], trial=n)]
    builder = TreeBuilder(LABEL)
    for one in recorded:
        builder.add(one)
    tree = builder.tree()
    keys = [tree.symbols[symbol].key for symbol in tree.symbol]
    asked = [node for node in range(1, len(tree)) if keys[node] == "ask" and keys[tree.parent[node]] == "x"]
    useful = [node for node in range(1, len(tree)) if tree.parent[node] in asked and keys[node] == "o"]
    found = of(chain(cells, names(1)), "x", "o").share
    assert found.n == tree.visits[asked].sum()
    assert found.value == pytest.approx(tree.visits[useful].sum() / found.n)


def test_conversations_that_are_worse_throughout_are_associated_and_the_note_says_so() -> None:
    rng = np.random.default_rng(5)
    rate = np.where(rng.random((30, 8, 1)) < 0.5, 0.8, 0.2)
    cells = (rng.random((30, 8, 4)) < rate).astype(np.int8)
    assert persistence(cells, names(30)).test.middle < 0.001
    rows = [["".join("ox"[code] for code in row) for row in cells[:, trial]] for trial in range(8)]
    recorded = [one for trial, seen in enumerate(rows, 1) for one in grid(seen, trial=trial)]
    measures = parse_all("persistence")
    table = score(recorded, grid_topics(30), None, Settings(), rng, turns=4, measures=measures, only=True)
    (whole,) = table.select(topic=None, topic_type=None)
    assert "association within conversations" in whole.note
    assert "conversations that are worse throughout show it too" in whole.note


def test_a_system_that_keeps_failing_is_detected() -> None:
    found = persistence(drawn(np.random.default_rng(1), np.full(45, 0.3), 5, 2, 0.5), names(45))
    assert found.test.middle < found.test.more < 0.001
    assert found.test.difference == pytest.approx(0.5, abs=0.15)
    assert found.after_x.value > found.after_o.value
    assert found.test.n <= 225


def test_hard_topics_alone_are_not_persistence() -> None:
    rng = np.random.default_rng(2)
    fails = np.repeat([0.9, 0.1], 25)
    found = persistence(drawn(rng, fails, 10, 2, 0.0), names(50))
    assert found.after_x.value - found.after_o.value > 0.5  # what a pooled chain shows
    assert found.test.p > 0.05
    assert abs(found.test.difference) < 0.1


@pytest.mark.parametrize("turns", keep_cells([2, 4], 1))
def test_the_test_rejects_no_more_often_than_its_level(turns: int) -> None:
    rng = np.random.default_rng(turns)
    rejected, simulations = 0, 400
    for _ in range(simulations):
        cells = drawn(rng, rng.beta(2, 2, 20), 6, turns, 0.0)
        stopped = np.cumsum(rng.random(cells.shape) < 0.1, axis=2) > 0
        cells[:, :, 1:][stopped[:, :, :-1]] = 2  # ended, whatever the last label was
        found = persistence(cells, names(20))
        rejected += found.test.more <= 0.05
    # Exact, so at most .05; and not so cautious that it could not find anything.
    assert 0.01 <= rejected / simulations <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / simulations)


def test_a_breakdown_is_not_counted_as_a_second_failure() -> None:
    found = persistence(cube(["x-"], ["xx"], ["oo"], ["oo"]), ["T01"])
    assert (found.after_x.value, found.after_x.n) == (1.0, 1)


def test_if_no_topic_has_both_kinds_of_trials_nothing_is_claimed() -> None:
    found = persistence(cube(["xx", "oo"], ["xo", "ox"]), names(2))
    assert math.isnan(found.test.p)
    assert (found.test.n, found.test.strata) == (0, 0)
    assert found.after_x.n == 2


def test_one_transition_alone_equals_itself_among_all() -> None:
    labels = np.stack([label_codes(["xo", "xx", "oo"]), label_codes(["x-", "ox", "oo"])])
    for edge in chain(labels, ["a", "b"]):
        assert chain(labels, ["a", "b"], only=(edge.source, edge.target)) == (edge,)
