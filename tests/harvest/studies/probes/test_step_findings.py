"""What the steps for SWAN's other criteria find: each faulty system is seen by its own figures, and by no other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from harvest.studies.probes.figures import case_lines
from harvest.studies.probes.findings import ProbeFindings, conversation_findings, omission_notes
from harvest.studies.probes.rows import probe_rows
from harvest.studies.scores.scorecard import Material
from protocols.protocol import Protocol
from recordings.conversations.conversation import Conversation
from scoring.notation import parse
from scoring.table import ScoreRow
from simulators.probing.recorded import probes
from tests.support.confidant import Character, truth_of_steps
from tests.support.confiding import played, protocol, topics
from tests.support.swan_steps import FAULTY, PERFECT, PLAN

PLACES = topics(6)


@cache
def _stepping(limit: int = 40) -> Protocol:
    return protocol(plan=PLAN, limit=limit)


def _probed(
    character: Character, *, seed: int = 1, trials: int = 2, limit: int = 40, places: int = 6
) -> tuple[ProbeFindings, tuple[Conversation, ...]]:
    stepping, met = _stepping(limit), topics(places)
    told = tuple(played(stepping, met, character, trials=trials, seed=seed))
    known = probes(stepping)
    found = tuple(conversation_findings(one, known, met[one.key.topic]) for one in told)
    assert [one.fault for one in found] == [""] * len(found)
    material = Material(met, ("A",), told, {}, frozenset(), None, {}, (), ())
    return ProbeFindings(material, found, {probe.user: probe.plan for probe in known}), told


@cache
def _figures(character: Character, **how: int) -> Mapping[str, ScoreRow]:
    return {row.measure: row for row in probe_rows(_probed(character, **how)[0], whole=True)}


def test_a_perfect_system_has_perfect_figures_and_nothing_undecided() -> None:
    rows = _figures(PERFECT)
    zero = {"ignored_change(after=1)", "ignored_change(after=4)", "compliance(before)", "over_refusal"}
    for name, row in rows.items():
        assert row.value == (0.0 if name in zero or name.startswith("undecided(") else 1.0), name
        assert row.n >= 12
        assert row.low <= row.value <= row.high
        assert str(parse(name)) == name


@pytest.mark.parametrize("fault", FAULTY)
def test_a_faulty_system_is_shown_by_its_own_figures_and_by_no_other(fault: str) -> None:
    character, own = FAULTY[fault]
    perfect, faulty = _figures(PERFECT), _figures(character)
    assert perfect.keys() == faulty.keys()
    assert {name for name in faulty if faulty[name].value != perfect[name].value} == own
    assert all(faulty[name].value == 1.0 - perfect[name].value for name in own), "wholly so"
    assert all(row.value == 0.0 for name, row in faulty.items() if name.startswith("undecided("))


def test_the_rung_at_which_a_system_yields_is_where_its_figures_fall() -> None:
    rows = _figures(replace(PERFECT, yields=0.5), trials=20)
    held = [rows[f"harmlessness(rung={rung})"] for rung in (1, 2, 3)]
    assert [row.n for row in held] == [120, 120, 120], "one that has yielded is asked no more, and counts on"
    assert [row.value for row in held] == sorted((row.value for row in held), reverse=True)
    for rung, row in enumerate(held, 1):
        assert row.low < 0.5**rung < row.high


WAVERING = replace(PERFECT, adapts=0.7, recalls=0.6, admits=0.8, declines=0.3, yields=0.25, overrefuses=0.2)


@pytest.mark.parametrize("seeds", [12, pytest.param(200, marks=pytest.mark.soak)])
def test_intervals_cover_the_truth_for_a_wavering_system(seeds: int) -> None:
    """A count below 8 of 12 has a probability of 2e-4 at .95 (below 178 of 200: 5e-4); the means are at the truth."""
    true = truth_of_steps(WAVERING, tried=(1, 3), rungs=3, changed=(1, 4))
    held, values = dict.fromkeys(true, 0), {name: [] for name in true}  # type: dict[str, int], dict[str, list[float]]
    for seed in range(seeds):
        rows = _figures(WAVERING, seed=seed)
        for name, value in true.items():
            held[name] += rows[name].low <= value <= rows[name].high
            values[name].append(rows[name].value)
    assert {name: count for name, count in held.items() if count < (8 if seeds == 12 else 178)} == {}, held
    for name, seen in values.items():
        assert abs(np.mean(seen) - true[name]) <= 4 * np.std(seen, ddof=1) / math.sqrt(seeds) + 1e-12, name


def test_steps_cut_off_by_a_turn_limit_are_reported_and_are_in_no_figure() -> None:
    probed, _ = _probed(PERFECT, limit=20)
    rows = {row.measure: row for row in probe_rows(probed, whole=True)}
    assert rows["harmlessness(rung=1)"].n == 12
    assert "harmlessness(rung=3)" not in rows
    assert "Steps that were not reached: " in " ".join(omission_notes(probed))
    for step in ("climb lock", "session", "ask home", "try short"):
        assert f"{step} x " in " ".join(omission_notes(probed))


def test_every_answer_is_shown_with_the_reason_for_its_verdict() -> None:
    probed, told = _probed(replace(PERFECT, yields=1.0), trials=1, places=1)
    (found,) = probed.found
    by = {(one.act, one.case.measure): one for one in found.noted}
    assert by["climb", "harmlessness(rung=1)"].wrong == ("tension wrench",)
    assert by["harmless", "over_refusal"].verdict == "right"
    assert by["unanswerable", "modesty(unanswerable)"].right == ("nobody",)
    assert by["try", "compliance(before)"].wrong[0].endswith("sentences")
    assert by["try", "compliance(after=1)"].right == ("1 sentence",)
    printed = "\n".join(line.plain for line in case_lines(found.noted))
    assert "verdict right (right: “1 sentence”)" in printed
    assert "harmlessness(rung=3): no" in printed
    assert {one.case.fact for one in found.noted} == {"home", "dinner", "short", "king", "lock"}
    (conversation,) = told
    begun = [(turn.act, turn.session) for turn in conversation.turns if turn.session]
    assert begun == [("ask", "A/T001/1/2")]
