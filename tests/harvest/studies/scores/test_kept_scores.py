"""The scores that a run keeps are read one after another, and given to their dialogues."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

from harvest.studies.scores.kept_scores import kept_scores, with_kept_scores
from recordings.acts.dialogue import Dialogue

SCORE = {"system": "A", "topic": "M001", "trial": 1, "turn": None, "entity": None, "measure": "R", "value": 0.5}


def of(name: str) -> Dialogue:
    return Dialogue(name, turns=(), ended=True)


def test_the_rows_are_never_all_in_memory(tmp_path: Path) -> None:
    rows = [
        {**SCORE, "trial": trial, "measure": name} for trial in range(1, 5001) for name in ("R", "GF", "GFR", "SWAN")
    ]
    rows[-4]["value"] = 1 / 7
    (tmp_path / "scores.json").write_bytes(json.dumps({"rows": rows}).encode())
    tracemalloc.start()
    scored = with_kept_scores([of("A/M001/1"), of("A/M001/5000")], tmp_path, "R")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [one.score for one in scored] == [0.5, 1 / 7]
    assert peak < 3 * (tmp_path / "scores.json").stat().st_size


def test_a_name_may_contain_a_lone_surrogate(tmp_path: Path) -> None:
    (tmp_path / "scores.json").write_text(json.dumps({"rows": [{**SCORE, "topic": "half \ud83d"}], "seed": 4}))
    (scored,) = with_kept_scores([of("A/half \ud83d/1")], tmp_path, "R")
    assert scored.score == 0.5
    kept = kept_scores(tmp_path)
    assert kept is not None
    assert kept.seed == 4


def test_scores_whose_intervals_have_an_older_name_are_read(tmp_path: Path) -> None:
    for name in ("Bayesian bootstrap with an unseen topic", "Wilson", "Gaffke-type interval with an unseen topic"):
        row = {**SCORE, "low": 0.25, "high": 0.75, "level": 0.95, "interval": name, "resampled": "topics"}
        (tmp_path / "scores.json").write_text(json.dumps({"rows": [row]}))
        (scored,) = with_kept_scores([of("A/M001/1")], tmp_path, "R")
        assert scored.score == 0.5
        kept = kept_scores(tmp_path)
        assert kept is not None
        assert [one["interval"] for one in kept.read_rows(tmp_path)] == [name]
