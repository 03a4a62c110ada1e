"""GF and GFR(C): Table 2 of the GFRC paper, both distribution methods, and what the options change."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from rich.text import Text

from harvest.tables.figures import figures as drawn
from recordings.conversations.conversation import Conversation, TrialKey
from scoring.conversations import default_figures
from scoring.divergences import distribution_similarity, jsd, rnod
from scoring.fairness import GroupFairness, combine, divergence_names, group_fairness, summary
from scoring.figure import Figure
from scoring.nuggets import find_nuggets
from scoring.scores import score
from scoring.settings import Settings
from scoring.words import passages
from tests.support.scoring_examples import (
    ATTRIBUTES,
    M002,
    ORIGIN,
    PAPER,
    RATINGS,
    conversation,
    filler,
    movie,
    paper_b1,
    paper_g1,
    paper_gold,
    seen,
    topic_set,
)
from topics.attributes import AttributeSet
from topics.gold import GoldTable

CASES = {"B1": paper_b1(), "G1": paper_g1()}
BACK, LOOPER = movie("0088763"), movie("1276104")


def fairness(
    spoken: Conversation, attribute: AttributeSet, settings: Settings | None = None, *, cumulative: bool = False
) -> tuple[GroupFairness, ...]:
    chosen = settings or Settings()
    nuggets = find_nuggets(spoken, M002, paper_gold(), ATTRIBUTES, chosen)
    turns = {passage.turn: passage.first_position for passage in passages(spoken) if passage.speaker == "system"}
    return group_fairness(nuggets, turns, attribute, chosen, cumulative=cumulative)


@pytest.mark.parametrize(
    ("name", "attribute", "printed"),
    [
        ("B1", RATINGS, [0.6773, 0.4796, 0.5785]),
        ("G1", RATINGS, [0.4049, 0.4049]),
        ("B1", ORIGIN, [0.4303, 0.4682, 0.4493]),
        ("G1", ORIGIN, [0.4303, 0.4303]),
    ],
)
def test_the_values_of_table_2_of_the_paper(name: str, attribute: AttributeSet, printed: list[float]) -> None:
    found = fairness(CASES[name], attribute)[0]
    assert [*(turn.similarity for turn in found.turns), found.value] == pytest.approx(printed, abs=1e-4)


def test_table_2_achieved_distributions() -> None:
    bing = fairness(CASES["B1"], RATINGS)[0]
    assert [turn.achieved for turn in bing.turns] == [pytest.approx((0, 0, 0.6, 0.4)), pytest.approx((0, 0, 1, 0))]
    origin = fairness(CASES["B1"], ORIGIN)[0]
    assert origin.turns[0].achieved == pytest.approx((0, 0.8333, 0, 0, 0, 0.1667, 0, 0), abs=5e-5)
    assert origin.turns[1].achieved == pytest.approx((0, 0.8, 0, 0.1, 0, 0, 0, 0.1))
    bard = fairness(CASES["G1"], ORIGIN)[0]
    assert [(turn.turn, turn.nuggets) for turn in bard.turns] == [(2, 2)]


@pytest.mark.parametrize("name", ["B1", "G1"])
@pytest.mark.parametrize("cumulative", [False, True])
def test_values_recomputed_from_the_paper_to_all_digits(name: str, cumulative: bool) -> None:
    expected = PAPER["systems"][name]["computed"]
    expected = expected["cumulative_variant"] if cumulative else expected
    ratings = fairness(CASES[name], RATINGS, cumulative=cumulative)
    origin = fairness(CASES[name], ORIGIN, cumulative=cumulative)
    for key, found in (
        ("GF_RATINGS_RNOD", ratings[0]),
        ("GF_RATINGS_NMD", ratings[1]),
        ("GF_ORIGIN_JSD", origin[0]),
    ):
        if key in expected:
            assert [*(turn.similarity for turn in found.turns), found.value] == pytest.approx(expected[key], abs=1e-9)


def test_ordinal_sets_use_rnod_and_print_nmd_too_and_nominal_sets_use_jsd() -> None:
    assert divergence_names(RATINGS, Settings()) == ("RNOD", "NMD")
    assert divergence_names(RATINGS, Settings(ordinal="NMD")) == ("NMD", "RNOD")
    assert divergence_names(ORIGIN, Settings(ordinal="NMD")) == ("JSD",)
    plain, swapped = fairness(CASES["B1"], RATINGS), fairness(CASES["B1"], RATINGS, Settings(ordinal="NMD"))
    assert [found.value for found in swapped] == [found.value for found in plain[::-1]]


def test_a_conversation_without_relevant_entities_has_gf_0_and_no_turns() -> None:
    for attribute in (RATINGS, ORIGIN):
        for found in fairness(conversation(("go", movie("0110912"))), attribute):
            assert (found.value, found.turns) == (0.0, ())


def test_a_turn_without_relevant_entities_counts_as_uniform_on_request() -> None:
    found = fairness(CASES["G1"], RATINGS, Settings(irrelevant="uniform"))[0]
    assert [(turn.turn, turn.nuggets) for turn in found.turns] == [(1, 0), (2, 2)]
    assert found.value == pytest.approx((1.0 + 0.40488096) / 2)
    origin = fairness(CASES["G1"], ORIGIN, Settings(irrelevant="uniform"))[0]
    assert origin.turns[0].similarity == pytest.approx(float(distribution_similarity([0.125] * 8, ORIGIN.gold, jsd)))


def test_cumulative_distributions_use_all_relevant_nuggets_so_far_and_skip_empty_turns() -> None:
    spoken = conversation(("go", BACK), ("more", "none"), ("more", f"{LOOPER} {BACK}"))
    alone, grown = fairness(spoken, RATINGS)[0], fairness(spoken, RATINGS, cumulative=True)[0]
    assert [(turn.turn, turn.achieved, turn.nuggets) for turn in alone.turns] == [
        (1, (0, 0, 0, 1), 1),
        (3, (0, 0, 1, 0), 1),
    ]
    assert [(turn.turn, turn.achieved, turn.nuggets) for turn in grown.turns] == [
        (1, (0, 0, 0, 1), 1),
        (3, (0, 0, 0.5, 0.5), 2),
    ]
    uniform = fairness(spoken, RATINGS, Settings(irrelevant="uniform"), cumulative=True)[0]
    assert [turn.achieved for turn in uniform.turns][1] == (0.25,) * 4


def test_turns_may_have_the_weight_of_their_best_placed_nugget() -> None:
    spoken = conversation(("go", f"{BACK} {movie('0816692')}"), ("more", f"{filler(600)} {LOOPER}"))
    found = fairness(spoken, RATINGS, Settings(turn_weight="largest-pw"))[0]
    first, second = 1 - 1 / 1250, 1 - (4 + 600) / 1250
    assert [turn.weight for turn in found.turns] == pytest.approx([first, second])
    similar = [turn.similarity for turn in found.turns]
    assert found.value == pytest.approx((similar[0] * first + similar[1] * second) / (first + second))


def test_an_irrelevant_turn_has_the_weight_of_its_first_word() -> None:
    spoken = conversation(("one two", "three four"), ("five", BACK))
    found = fairness(spoken, RATINGS, Settings(turn_weight="largest-pw", irrelevant="uniform"))[0]
    assert [turn.weight for turn in found.turns] == pytest.approx([1 - 2 / 1250, 1 - 5 / 1250])


def test_turns_that_nobody_reads_leave_gf_at_0() -> None:
    spoken = conversation((filler(2000), BACK))
    found = fairness(spoken, RATINGS, Settings(turn_weight="largest-pw"))[0]
    assert (found.value, len(found.turns)) == (0.0, 1)
    assert fairness(spoken, RATINGS)[0].value == pytest.approx(
        float(distribution_similarity([0, 0, 0, 1], RATINGS.gold, rnod))
    )


def test_gf_is_the_mean_over_the_attribute_sets_or_weighted() -> None:
    values = {"RATINGS": 0.6, "ORIGIN": 0.2}
    assert combine(values, {}) == pytest.approx(0.4)
    assert combine(values, {"RATINGS": 3.0}) == pytest.approx((3 * 0.6 + 0.2) / 4)
    assert combine(values, {"RATINGS": 0.0}) == pytest.approx(0.2)
    assert combine(values, {"SUBSCS": 9.0}) == pytest.approx(0.4)


def test_without_attribute_sets_fairness_is_undefined() -> None:
    assert math.isnan(combine({}, {}))
    assert math.isnan(combine({"RATINGS": 0.5}, {"RATINGS": 0.0}))


def test_gfr_is_a_weighted_summary_of_both() -> None:
    assert summary(0.2, 0.6, 0.5) == pytest.approx(0.4)
    assert (summary(0.2, 0.6, 1.0), summary(0.2, 0.6, 0.0)) == (0.2, 0.6)
    assert math.isnan(summary(0.2, math.nan, 0.5))


def known_of(number: int) -> GoldTable:
    """The paper's gold with the RATINGS of its first `number` entities alone."""
    entries = []
    for place, entry in enumerate(paper_gold()):
        groups = {name: row for name, row in entry.groups.items() if name != "RATINGS" or place < number}
        entries.append(replace(entry, groups=groups))
    return GoldTable(entries)


def figures_of(spoken: Conversation, gold: GoldTable) -> dict[str, Figure]:
    found = default_figures(seen(spoken, M002, gold))
    return {figure.measure: figure for figure in found if figure.whole}


def test_unknown_groups_are_bounded_and_the_truth_is_within() -> None:
    truth = figures_of(paper_b1(), paper_gold())
    assert truth["GF"].worst == truth["GF"].best == pytest.approx(truth["GF"].value)
    for known in range(10):
        found = figures_of(paper_b1(), known_of(known))
        for name in ("GF(RATINGS)", "GF(RATINGS, by=NMD)", "GF", "GFR(alpha=0.5)", "GF_cum(RATINGS)"):
            assert found[name].worst <= found[name].value <= found[name].best
            assert found[name].worst - 1e-9 <= truth[name].value <= found[name].best + 1e-9
        assert found["GF"].unknown == found["GF(RATINGS)"].unknown > 0
        assert found["GF(ORIGIN)"].worst == found["GF(ORIGIN)"].best


def test_an_unknown_group_looks_fair_if_the_gold_is_even_and_the_bounds_say_so() -> None:
    nothing = figures_of(paper_b1(), known_of(0))["GF(RATINGS)"]
    assert nothing.value == pytest.approx(1)
    assert nothing.worst < 0.5
    assert nothing.best == pytest.approx(1)


def test_a_conversation_without_anything_relevant_is_in_gf_as_0_and_not_in_gf_rel() -> None:
    spoken = figures_of(conversation(("Films?", "None that I know.")), paper_gold())
    assert (spoken["GF"].value, spoken["GF"].n) == (0.0, 0)
    assert math.isnan(spoken["GF_rel"].value)
    assert math.isnan(spoken["GF_rel(RATINGS)"].value)
    held = [paper_b1(), conversation(("Films?", "None that I know."), system="B1", trial=2)]
    table = score(held, topic_set(M002), paper_gold(), Settings(), np.random.default_rng(0))
    rows = {row.measure: row for row in table.select(topic=None, topic_type=None, trial=None)}
    assert rows["GF"].value == pytest.approx(rows["GF_rel"].value / 2)
    assert (rows["GF"].n, rows["GF_rel"].n) == (2, 1)
    assert "1 conversation without a value, left out" in rows["GF_rel"].note


def test_the_bounds_of_a_mean_are_the_means_of_the_bounds() -> None:
    held = [paper_b1(), replace(paper_g1(), key=TrialKey("B1", "M002", 2))]
    table = score(held, topic_set(M002), known_of(3), Settings(), np.random.default_rng(0))
    whole = next(table.select(measure="GF", topic=None, topic_type=None, trial=None))
    trials = [row for row in table.select(measure="GF", topic="M002") if row.trial]
    assert whole.worst == pytest.approx(sum(row.worst for row in trials) / 2)
    assert whole.best == pytest.approx(sum(row.best for row in trials) / 2)
    said = "".join(text.plain for text in drawn([whole], ["B1"], width=200) if isinstance(text, Text))
    assert f"B1: unknown group: {whole.unknown} relevant entities; GF would be {whole.worst:.4f}" in said
