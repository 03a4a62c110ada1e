"""What the torture suite counts: coverage, widths, wrong verdicts, refusals, and what it flags."""

import math

import numpy as np
import pytest

from tests.support.torture import __main__ as command
from tests.support.torture import classical, table
from tests.support.torture.cells import Cell, Engine, Said, counted, winner
from tests.support.torture.study import Kind, Study
from tests.support.torture.world import WORLDS, World, world

SIZE = (8, 3, 2)


def cell() -> Cell:
    return Cell("an engine", "a world", "a group", SIZE, None)


def test_coverage_is_only_of_printed_intervals() -> None:
    one = cell()
    for said in (Said(0.5, 0.4, 0.6), Said(0.5, 0.6, 0.7), Said(0.5, reason="too few"), Said(math.nan, 0.0, 1.0)):
        one.add([said])
    assert (one.figures, one.printed, one.coverage, one.share_printed) == (3, 2, 0.5, 2 / 3)
    assert one.reasons == {"too few": 1}
    assert one.studies == 3


def test_a_study_of_a_family_is_wrong_once_for_any_number_of_pairs() -> None:
    one = cell()
    one.add([winner(Said(0.0), True, 1.0), winner(Said(0.0), True, -1.0), winner(Said(0.0), False, 0.0)])
    one.add([winner(Said(0.0), False, 0.0)] * 3)
    assert (one.judged, one.decided, one.wrong, one.error) == (2, 1, 1, 0.5)


@pytest.mark.parametrize(
    ("truth", "decided", "sign", "wrong"),
    [
        (0.2, True, 1, False),
        (0.2, True, -1, True),
        (0.2, False, 0, False),
        (0.0, True, 1, True),
        (-0.2, True, -1, False),
    ],
)
def test_naming_a_winner_is_wrong_if_there_is_none_or_another(
    truth: float, decided: bool, sign: float, wrong: bool
) -> None:
    assert winner(Said(truth), decided, sign).wrong is wrong


@pytest.mark.parametrize(("covered", "flagged"), [(395, False), (365, False), (357, True), (200, True)])
def test_coverage_is_flagged_below_the_promise_minus_two_errors(covered: int, flagged: bool) -> None:
    one = cell()
    one.figures, one.printed, one.studies, one.covered = 400, 400, 400, covered
    assert one.too_low is flagged


@pytest.mark.parametrize(("wrong", "flagged"), [(20, False), (33, False), (34, True)])
def test_wrong_verdicts_are_flagged_above_the_promise_plus_two_errors(wrong: int, flagged: bool) -> None:
    one = cell()
    one.judged, one.wrong = 400, wrong
    assert one.too_wrong is flagged


def test_t_is_valid_for_normal_topics_and_is_flagged_if_one_side_has_a_heavy_tail() -> None:
    """figures.md, W7: equal means, one side steady, the other lognormal σ 1.5; t covers .75 at 15×5."""
    paired = classical.ENGINES[1]
    hostile = counted(paired, WORLDS["one system steady: R, lognormal σ 1.5"], (15, 5, 2), 300)
    assert hostile.too_low
    assert hostile.too_wrong
    assert hostile.coverage == pytest.approx(0.75, abs=0.08)
    benign = counted(paired, WORLDS["scores, Beta(2, 2)"], (15, 5, 2), 300)
    assert not benign.too_low
    assert not benign.too_wrong
    assert benign.width == pytest.approx(1.0)


def test_a_world_is_added_by_one_function() -> None:
    @world("normal, {mean}", "Values scatter about {mean}.", Kind.SCORE, "new", [{"mean": 0.4}, {"mean": 0.6}])
    def normal(rng: np.random.Generator, topics: int, trials: int, systems: int, mean: float) -> Study:
        values = rng.normal(mean, 0.01, (systems, topics, trials))
        return Study(values, np.full((systems, topics), mean), exact={"mean": np.full(systems, mean)})

    try:
        found = counted(classical.ENGINES[0], WORLDS["normal, 0.6"], (8, 3, 1), 200)
        assert not found.too_low
        assert found.share_printed == 1
    finally:
        del WORLDS["normal, 0.4"], WORLDS["normal, 0.6"]


def test_engines_are_tried_in_worlds_of_their_kinds_and_groups_at_their_sizes() -> None:
    engine = Engine("an engine", frozenset({Kind.SHARE}), lambda world, study: [], (SIZE,), frozenset({"sessions"}))
    tried = [one for one in WORLDS.values() if engine.tries(one, SIZE)]
    assert tried
    assert {one.group for one in tried} == {"sessions"}
    assert not any(engine.tries(one, (8, 1, 2)) for one in WORLDS.values())


def test_the_command_prints_cells_flags_and_reasons_for_missing_figures(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(world: World, study: Study) -> list[Said]:
        return [Said(0.0, reason="no")]

    engines = (*classical.ENGINES, Engine("refuses", frozenset({Kind.UNBOUNDED}), refuses, ((8, 3, 2),)))
    monkeypatch.setattr(command, "ENGINES", {engine.name: engine for engine in engines})
    arguments = "--replications 100 --worlds steady:_R,_lognormal_σ_1.5 --sizes 8x3x2 --processes 1"
    assert command.main([word.replace("_", " ") for word in arguments.split(" ")]) == 1
    printed = capsys.readouterr().out
    assert "paired t of a difference · one system steady: R, lognormal σ 1.5 · 8×3, 2 systems · coverage ." in printed
    assert "COVERAGE WRONG" in printed
    assert "refuses · 100 × no" in printed
    assert "· unequal spread of systems · 1 of 1 cells: coverage from ." in printed


def test_a_hidden_cell_is_flagged_with_the_reason_the_data_cannot_show() -> None:
    one = Cell("an engine", "a world", "a group", SIZE, "nobody named the clusters")
    one.figures = one.printed = one.studies = 100
    one.covered = 50
    assert table.line(one).endswith("COVERAGE (hidden: nobody named the clusters)")
    assert table.figure(0.95) == ".950"
    assert table.figure(math.nan) == "–"
