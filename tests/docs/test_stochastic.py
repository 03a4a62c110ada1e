"""docs/stochastic.md: its examples are what the program prints, and its values those of the reference tree."""

from __future__ import annotations

import doctest

import pytest

from tests.support.checkout import DOCS
from tests.support.stochastic_examples import COVERAGE, EXAMPLE

PAGE = DOCS / "stochastic.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_the_worked_example_is_what_the_program_prints() -> None:
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert (failed, tried > 40) == (0, True)


@pytest.mark.parametrize(
    "name",
    ["a_expected_WAN", "b_pooled_WAN", "a_expected_GF", "b_pooled_GF", "c_GF_of_pooled_distribution", "CVaR_0_5_WAN"],
)
def test_the_values_of_the_reference_tree_are_on_the_page(name: str) -> None:
    assert f"{EXAMPLE['expected'][name]:.4f}" in TEXT


def test_the_table_of_the_example_is_the_reference_tree() -> None:
    for node in EXAMPLE["tree"]:
        nuggets = ", ".join(
            f"{nugget['off']}: {nugget['s']:g}".replace("0.5", ".5")
            + ("" if nugget["g"] is None else " A" if nugget["g"][0] else " B")
            for nugget in node["nuggets"]
        )
        probability = f"{node['p']:g}".replace("0.", ".")
        row = f"| {node['id']} | {node['parent'] or ''} | {probability} | {node['words']} | {nuggets} |"
        assert row.replace("  ", " ") in TEXT


def test_what_the_page_says_about_few_trials_is_what_the_simulation_found() -> None:
    (five,) = [row for row in COVERAGE["within_topic_cvar"]["results"] if (row["topics"], row["trials"]) == (45, 5)]
    assert (round(five["0.25"]["bias"], 2), five["0.25"]["cover_two_stage"]) == (0.10, 0.0)
    covers = [row["cover_two_stage_percentile"] for row in COVERAGE["pooled_cvar"]["results"]]
    assert (round(min(covers), 2), round(max(covers), 2)) == (0.92, 0.98)
    assert min(row["cover_topic_cluster_basic"] for row in COVERAGE["pooled_cvar"]["results"]) == pytest.approx(0.467)
