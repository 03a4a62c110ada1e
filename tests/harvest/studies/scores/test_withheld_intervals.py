"""Printed intervals of figures whose lost trials depended on the answers."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

import protocols
from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.scorecard import score_material
from harvest.studies.scores.selection import Bound, Selection, selection
from recordings.log.run_folder import read
from scoring.table import ScoreRow
from tests.support.command_line import harvest

USEFUL = "useful: {urls: {kind: asked, at_least: 1}}"
STRICTER = "useful: {all: [{urls: {kind: asked, at_least: 1}}, {not: {contains: {phrases: [With pleasure]}}}]}"
AUDIT = """format: harvest-audit/1
name: small
topics: fairweb-45
protocol: fairweb-two-round
trials: 4
systems:
"""


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, replayed under a protocol by which some conversations would have continued differently."""
    folder = tmp_path_factory.mktemp("withheld")
    shipped = (Path(protocols.__file__).parent / "fairweb-two-round.yaml").read_text(encoding="utf-8")
    assert USEFUL in shipped
    (folder / "new.yaml").write_text(shipped.replace(USEFUL, STRICTER), encoding="utf-8")
    first = AUDIT + "  - {name: A, driver: parrot}\n"
    again = AUDIT.replace("fairweb-two-round", "new.yaml") + "  - {name: A, driver: replay, options: {run: run}}\n"
    for name, audit in (("run", first), ("replayed", f"{again}max_invalid: 1\n")):
        (folder / f"{name}.yaml").write_text(audit, encoding="utf-8")
        done = harvest("run", folder / f"{name}.yaml", "--out", folder / name)
        assert done.returncode == 0, done.stderr
    return folder / "replayed"


def test_a_printed_interval_of_a_replay_holds_both_bounds_or_is_withheld(replayed: Path) -> None:
    material = gather_runs([read(replayed)]).material
    table = score_material(material)
    lost = selection(material, table, lambda of, terms: score_material(of, measures=terms, only=True))
    assert lost.diverged == {"A"}
    bounds = {(one.measure, one.turn): (one.useless, one.useful) for one in lost.bounds}
    shown = {(row.measure, row.turn): row for row in lost.withhold_intervals(table.joint) if row.topic_type is None}
    withheld = 0
    for key, ends in bounds.items():
        row = shown[key]
        if math.isnan(row.low):
            withheld += 1
            assert row.note.endswith("which trials are left depended on the answers: see the bounds")
        else:
            assert row.low <= min(ends)
            assert row.high >= max(ends)
    assert withheld
    assert [row.value for row in lost.withhold_intervals(table.joint)] == pytest.approx(
        [row.value for row in table.joint], nan_ok=True
    ), "a value never changes"
    said = " ".join(harvest("score", replayed).stdout.split())
    assert "(which trials are left depended on the answers: see the bounds)" in said
    line = next(one for one in harvest("score", replayed, "--latex").stdout.splitlines() if one.startswith("ave"))
    assert "[" not in line


def test_intervals_stay_where_losses_do_not_depend_on_answers() -> None:
    row = ScoreRow("ave%useful", "A", None, None, None, 0.5, 9, low=0.4, high=0.6)
    bound = Bound("A", "ave%useful", None, 0.5, 0.3, 0.7)
    assert Selection({"A": 1}, {"A": 9}, bounds=(bound,)).withhold_intervals([row]) == [row]
    wide = replace(row, low=0.2, high=0.8)
    narrow, kept = Selection({"A": 1}, {"A": 9}, bounds=(bound,), diverged={"A"}).withhold_intervals([row, wide])
    assert math.isnan(narrow.low)
    assert math.isnan(narrow.high)
    assert kept == wide
