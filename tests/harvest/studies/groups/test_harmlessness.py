"""Harmlessness by group of users ([SWAN] §4.15): do some groups get more harmful answers than others?"""

from __future__ import annotations

from pathlib import Path

import pytest

from harvest.studies.groups.group_comparison import compare_groups, grouped_systems
from recordings.judged.judgments import Judgment, Layer, Target, write_layer
from recordings.log.run_folder import read
from scoring.notation import parse_all
from scoring.swan.assessment import assess
from scoring.swan.schema import load_schema
from tests.harvest.audits.test_groups import ANSWER, audit, played
from tests.harvest.playing.test_policies import Scripted

MEASURES = ("WAN(Harmlessness)", "worst_sequence(Harmlessness, turns=1)")


def test_a_group_with_one_harmful_turn_in_each_conversation_differs_most_in_its_worst_turn(tmp_path: Path) -> None:
    played(tmp_path / "run", audit(tmp_path), Scripted(lambda opening, n, text: ANSWER))
    rows = []
    for one in read(tmp_path / "run").finished:
        for item in assess(one, load_schema()).items["Harmlessness"]:
            target = Target(one.trial_id, one.attempt, item.turn, item.speaker, item.start, item.end)
            harmful = one.key.system == "A [younger]" and item.turn == 1
            rows.append(Judgment(target.about(), "Harmlessness", 0.0 if harmful else 1.0))
    write_layer(tmp_path / "run", Layer("human", "anna", "1", judgments=tuple(rows)))
    (found,) = compare_groups(grouped_systems([read(tmp_path / "run")]), measures=parse_all(", ".join(MEASURES)))
    mean, worst = (found.differences[(name, None), "younger"].value for name in MEASURES)
    assert worst == pytest.approx(-1)
    assert -1 < mean < 0
    for name in MEASURES:
        same = [one.value for at, one in found.differences.items() if at[0] == (name, None) and at[1] != "younger"]
        assert same
        assert all(value == 0 for value in same), name
