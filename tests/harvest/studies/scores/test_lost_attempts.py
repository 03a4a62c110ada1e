"""Users that fail on one side alone, between sides that are alike: no study finds anything, and each says why."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from harvest.studies.robustness.ranking_by_user import unranked_pairs
from harvest.studies.scores.lost_attempts import UNLIKE_USERS, loss_words, lost_attempts
from harvest.studies.scores.scorecard import Material
from harvest.studies.scores.trial_values import share_values
from harvest.studies.validity.concentrations import changed_losses, loss_table
from harvest.studies.validity.user_differences import LEFT
from harvest.studies.watch import watch as watching
from harvest.studies.watch.figures import watch_tables
from harvest.studies.watch.words import system_sentence
from recordings.conversations.conversation import Conversation, Outcome
from scoring.inference.losses import WITHIN, End, LostTrials, SideWithLosses, reasons_withheld
from scoring.inference.matched import Difference, compare_family, difference, within_bounds
from scoring.library import read_term
from scoring.notation import Term
from scoring.scores import SHIPPED
from scoring.settings import Settings
from scoring.swan.schema import load_schema
from tests.support.failing_users import TURNS, pairs
from tests.support.kept_cells import keep_cells
from tests.support.lost_worlds import (
    KEY,
    LOSSES,
    TRUTH,
    arm_differences,
    arm_rankings,
    armed,
    as_population,
    crossed_arms,
    factor_effects,
    group_difference,
    holds,
    leaving_world,
    lost_world,
    only,
    population_figures,
    threshold,
    two_armed,
    watched,
)
from topics.errors import InputError


@pytest.mark.parametrize("loss", keep_cells(LOSSES, "after useless answers", "of some topics"))
def test_arms_and_groups_are_bounded_by_the_losses_of_failing_users(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    material = lost_world(1, loss)
    assert set(material.cut_short) == {"SYSB"}
    found = arm_differences(material, monkeypatch)
    arm, group = found.differences["twin"], group_difference(material, monkeypatch)
    for one in (arm, group):
        assert one.beyond is not True
        assert one.bounds is not None
        assert one.bounds[0] < 0 < one.bounds[1]
        assert one.interval.method.endswith(WITHIN)
        assert one.interval.low <= one.value <= one.interval.high
    assert not found.spread.interval.is_defined
    assert "what was lost" in found.spread.interval.note


def test_a_large_difference_is_found_within_the_bounds_of_few_losses() -> None:
    topics = [f"T{number:02}" for number in range(16)]
    trials = [(topic, trial) for topic in topics for trial in range(4)]
    low, high = ({at: (float(share > at[1] / 4), 1.0) for at in trials} for share in (0.2, 0.9))
    lost = dict.fromkeys(trials[::12], (0.0, 1.0)), dict.fromkeys(trials[::12], (1.0, 1.0))

    def found(gone: LostTrials) -> Difference:
        below, above = SideWithLosses(low), SideWithLosses(high, gone)

        def between(end: End) -> Difference:
            base, other = below.cells_at(end, against=True), above.cells_at(end)
            return difference(topics, base, other, np.random.default_rng(2), level=0.95)

        (one,) = compare_family([within_bounds(between, (below, above))], [0.0], level=0.95)
        return one

    whole, part = found(LostTrials({}, {})), found(LostTrials(*lost))
    assert (whole.beyond, whole.bounds) == (True, None)
    assert (part.beyond, part.value) == (True, whole.value)
    assert part.bounds is not None
    assert part.bounds[0] < part.value
    assert part.interval.low < whole.interval.low
    withheld = found(LostTrials(*lost, depends=True))
    assert (withheld.beyond, withheld.bounds) == (None, part.bounds)
    assert "depended on what the system had answered" in withheld.withheld


@pytest.mark.parametrize("loss", keep_cells(LOSSES, "after useless answers"))
def test_factors_and_rankings_are_bounded_or_withheld_with_a_reason(loss: str) -> None:
    study = factor_effects(lost_world(2, loss, systems=crossed_arms()))
    effects = {effect: own for one in study.effects for effect, own in one.effects.items()}
    assert not any(own.beyond for own in effects.values())
    assert all(own.bounds is not None for own in effects.values())
    assert bool(effects) != bool(study.left_out)
    material = lost_world(2, loss, systems=two_armed())
    ranked, unranked = arm_rankings(material), unranked_pairs(armed(material))
    assert not any(one.dependence or one.better_in_every_arm for one in ranked)
    assert bool(ranked) != bool(unranked)
    for why in unranked:
        assert why.startswith("S − T: SYSB")
        assert "remove the cause" in why
    for one in ranked:
        apart: dict[str, Difference] = dict(one.found.apart)
        assert apart["plain"].bounds is None
        assert apart["twin"].bounds is not None
        assert one.found.interactions["twin"].bounds is not None


@pytest.mark.parametrize("loss", keep_cells(LOSSES, "after useless answers", "of some topics"))
def test_a_population_counts_and_bounds_the_losses_of_one_member(loss: str) -> None:
    material = as_population(lost_world(3, loss))
    found = {one.of: one.found for one in population_figures(material, 3)}
    assert all(holds(one.interval, TRUTH) for one in found.values())
    for name, bounded in {"population": True, "twin": True, "plain": False}.items():
        assert found[name].interval.method.endswith(WITHIN) == bounded
        assert found[name].interval.low <= found[name].value <= found[name].interval.high


def test_a_threshold_that_lost_conversations_could_reverse_is_undecided() -> None:
    material = lost_world(4, "of one side")
    for bound in ({"at_least": TRUTH - 0.05}, {"at_most": TRUTH + 0.05}):
        for judge in ({}, {"judge": "estimate"}):
            found = threshold(material, "SYSB", **bound, **judge)
            assert found.verdict == "cannot tell"
            assert "cut short by a failure of the user (endpoint-failed x " in found.why
            assert "; with all of it " in found.why
    sure = threshold(material, "SYSB", at_least=0.01)
    assert (sure.verdict, sure.why) == ("kept", ""), "whatever was lost"
    missed = threshold(material, "SYSB", at_least=0.99)
    assert (missed.verdict, missed.why) == ("missed", "")
    assert threshold(material, "SYSA", at_least=TRUTH - 0.25).why == ""


def test_a_watched_system_is_not_measured_by_the_conversations_that_failing_users_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    systems = ("SYSA", "SYSC", "SYSD", "SYSE", "SYSB")
    world = lost_world(5, "of one side", systems=systems)
    before = [only(world, name) for name in systems[:-1]]
    found = watched(before, only(world, "SYSB"), monkeypatch)
    (one,) = found.systems
    assert (found.verdict, found.is_measured, one.figures) == ("cannot tell", False, ())
    said = system_sentence(one, found)
    assert "cut short by a failure of the user (endpoint-failed x " in said
    assert "could move ave%useful by " in said
    with pytest.raises(InputError, match="cut short by a failure of the user"):
        watched([only(world, "SYSB")], before[0], monkeypatch)


def test_a_few_conversations_that_were_cut_short_widen_the_watched_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    systems = ("SYSA", "SYSC", "SYSD", "SYSE", "SYSF")
    world = lost_world(6, "of one side", systems=systems)
    before, now = [only(world, name) for name in systems[:-1]], only(world, systems[-1])
    whole = watched(before, now, monkeypatch).systems[0].figures[0]
    first = next(one for one in now.conversations if len(one.turns) == 3)
    cut = replace(first, turns=first.turns[:2], outcome=replace(first.outcome, kind="user-stopped", reason="no-words"))  # type: ignore[type-var]
    rest = tuple(cut if one is first else one for one in now.conversations)
    (system,) = watched(before, replace(now, conversations=rest), monkeypatch).systems
    assert system.incomparable == ""
    part = system.figures[0]
    assert part.difference.high - part.difference.low > whole.difference.high - whole.difference.low


def _played_again(material: Material, each: int) -> Material:
    """The first attempt of every so many trials is lost after its first answer, and played again."""
    found: list[Conversation] = []
    for place, one in enumerate(material.conversations):
        if place % each == 0:
            found.append(replace(one, turns=one.turns[:1], outcome=Outcome("invalid", "endpoint-failed")))
            one = replace(one, attempt=2)
        found.append(one)
    return replace(material, conversations=tuple(found))


def test_a_baseline_stores_losses_and_other_losses_leave_nothing_to_conclude(monkeypatch: pytest.MonkeyPatch) -> None:
    """The trials that were lost are played again until they are whole, so that no figure shows that they were."""
    systems = ("SYSA", "SYSC", "SYSD", "SYSE", "SYSF")
    world = lost_world(6, "of one side", systems=systems)
    before, now = [only(world, name) for name in systems[:-1]], only(world, systems[-1])

    def of(blessed: Sequence[Material], held: Material) -> str:
        (one,) = watched(blessed, held, monkeypatch).systems
        return one.incomparable

    losing = [_played_again(one, 4) for one in before]
    assert of(before, now) == of(losing, _played_again(now, 4)) == ""
    assert of(before, _played_again(now, 40)) == "", "two of eighty may be chance"
    more, less = of(before, _played_again(now, 4)), of(losing, now)
    assert more.startswith("trials are lost more often than those of the baseline by ")
    assert less.startswith("trials are lost less often than those of the baseline by ")
    monkeypatch.setattr(watching, "loss_table", lambda _: {})
    assert of(before, _played_again(now, 4)) == "", "a baseline from before losses were held says nothing of them"


@pytest.mark.parametrize(("studies", "most"), [(4, 0), pytest.param(40, 2, marks=pytest.mark.soak)])
def test_similar_losses_are_seldom_reported_as_changed(studies: int, most: int) -> None:
    said = 0
    for seed in range(studies):
        world = lost_world(seed, "after useless answers", systems=("SYSB1", "SYSB2"), rate=0.3)
        tables = [loss_table(only(world, name).conversations) for name in ("SYSB1", "SYSB2")]
        said += bool(changed_losses("S", *tables))
    assert said <= most


def test_no_run_with_losses_that_depend_on_answers_is_blessed(monkeypatch: pytest.MonkeyPatch) -> None:
    world = lost_world(6, "of one side", systems=("SYSA", "SYSC"))
    lost = only(world, "SYSA")
    found = []
    for one in lost.conversations:
        if one.turns[0].label == "x":
            found.append(replace(one, turns=one.turns[:1], outcome=Outcome("invalid", "endpoint-failed")))
        found.append(replace(one, attempt=1 + (one.turns[0].label == "x")))
    with pytest.raises(InputError, match="answers labelled x were the last before the trial was lost"):
        watched([replace(lost, conversations=tuple(found))], only(world, "SYSC"), monkeypatch)


def test_a_figure_that_is_only_shown_makes_no_claim_if_it_was_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few conversations were cut short, so that the gated figure can be told; of %recovery they are many."""
    systems = ("SYSA", "SYSC", "SYSD", "SYSE", "SYSB")
    world = lost_world(0, "after useless answers", systems=systems, rate=0.03)
    found = watched([only(world, name) for name in systems[:-1]], only(world, "SYSB"), monkeypatch)
    (one,) = found.systems
    shown = {figure.name: figure for figure in one.figures}
    assert (one.incomparable, shown["ave%useful"].difference.interval.is_defined) == ("", True)
    moved = shown["%recovery"]
    assert not moved.difference.interval.is_defined
    assert moved.verdict == "cannot tell"
    assert moved.history_entry().these is None
    console = Console(file=io.StringIO(), width=160)
    for part in watch_tables(found):
        console.print(part)


def test_two_simultaneous_reasons_are_both_reported_and_both_bound() -> None:
    """Losses that depend on answers, and users who said something else: what either could have hidden is in it."""
    material = lost_world(8, "after useless answers", rate=1.0)
    assert {one.system for one in material.concentrations} == {"SYSB"}
    topics = [topic.id for topic in material.topics.topics]
    values = {name: share_values(name, material) for name in material.systems}
    (measure,) = read_term(Term(KEY[0]), Settings(), material.topics, load_schema(SHIPPED))

    def lost() -> LostTrials:
        return lost_attempts(KEY, measure, "SYSB", values, material, topics).losses_in_comparison("SYSA")

    alone = lost()
    whole = [one.key for one in material.finished if one.key.system == "SYSB" and len(one.turns) == 3]
    card: Any = SimpleNamespace(
        suspect={"SYSB": dict.fromkeys(whole, 2)},
        withholding_differences=[SimpleNamespace(system="SYSB", other="SYSA")],
    )
    material.__dict__["user_card"] = card
    both = lost()
    assert alone.low.keys() < both.low.keys()
    assert {(key.topic, key.trial) for key in whole} <= both.low.keys()
    assert all(both.low[at][0] <= alone.low[at][0] and both.high[at][0] >= alone.high[at][0] for at in alone.low)
    assert reasons_withheld([both]) == f"{reasons_withheld([alone])}, and {UNLIKE_USERS}"


def test_losses_are_counted_with_their_reasons() -> None:
    material = lost_world(9, "of one side", rate=0.2)
    cut = material.cut_short["SYSB"].total()
    assert loss_words("SYSA", material) == ""
    assert loss_words("SYSB", material) == (
        f"{cut} of 80 conversations were cut short by a failure of the user (endpoint-failed x {cut})"
    )


@pytest.mark.parametrize("after", ["Here it is", "No idea", "SYSB"])
def test_turns_after_a_user_left_are_lost_but_given_answers_are_not(after: str) -> None:
    """The truth is that no side is better; the first answers of all are known, whoever left after them."""
    material = leaving_world(3, after)
    assert {one.rate for one in material.user_card.withholding_differences} == {LEFT}
    first, second, mean = pairs(material)
    assert (first.bounds, first.is_distinguished) == (None, False)
    for pair in (second, mean):
        assert pair.bounds is not None
        assert pair.bounds[0] < 0 < pair.bounds[1]
        assert (pair.verdict, pair.why) == ("cannot tell", f"{UNLIKE_USERS}: see the bounds")
    topics = [topic.id for topic in material.topics.topics]
    values = {name: share_values(name, material) for name in material.systems}
    (measure,) = read_term(Term(KEY[0]), Settings(), material.topics, load_schema(SHIPPED))
    lost = lost_attempts(KEY, measure, "SYSB", values, material, topics)
    left = {one.key: one for one in material.finished if one.key.system == "SYSB" and len(one.turns) < TURNS}
    assert lost.low.keys() == {(key.topic, key.trial) for key in left}
    for key, one in left.items():
        at = key.topic, key.trial
        useful = sum(turn.label == "o" for turn in one.turns)
        assert lost.low[at][0] == pytest.approx(useful / TURNS)
        assert lost.high[at][0] == pytest.approx((useful + TURNS - len(one.turns)) / TURNS)


@pytest.mark.parametrize("after", ["Here it is", "No idea", "SYSB"])
@pytest.mark.parametrize("seed", keep_cells(range(6), 5))
def test_users_who_left_more_often_mislead_in_no_study(after: str, seed: int) -> None:
    """Half of the worlds have later answers that are all useful, so that those who left lowered the mean the most."""
    material = leaving_world(seed, after, rate=(0.2, 0.5, 0.8)[seed % 3], later=(0.3, 1.0)[seed % 2])
    assert not any(pair.is_distinguished for pair in pairs(material))


@pytest.mark.soak
@pytest.mark.parametrize("loss", LOSSES)
def test_in_many_studies_nothing_is_found_and_intervals_cover_the_truth(
    loss: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At losses of 10%, 30% and 70% after an answer: a wrong verdict in at most 5%, and intervals that cover 95%."""
    studies, wrong, held, printed = 60, 0, 0, 0
    for seed in range(studies):
        material = lost_world(seed, loss, rate=(0.1, 0.3, 0.7)[seed % 3])
        each = [arm_differences(material, monkeypatch).differences["twin"], group_difference(material, monkeypatch)]
        wrong += any(one.beyond for one in each)
        intervals = [(one.interval, 0.0) for one in each]
        intervals += [(one.found.interval, TRUTH) for one in population_figures(as_population(material), seed)]
        printed += sum(one.is_defined for one, _ in intervals)
        held += sum(one.is_defined and holds(one, truth) for one, truth in intervals)
        wrong += threshold(material, "SYSB", at_least=TRUTH + 0.05).verdict == "kept"
    assert wrong <= 0.05 * studies + 3 * (0.05 * 0.95 * studies) ** 0.5
    assert held >= 0.95 * printed - 3 * (0.95 * 0.05 * printed) ** 0.5
