"""Trees by label of a large run's columns are those of the run itself."""

from dataclasses import replace
from pathlib import Path

import pytest

from harvest.studies.scores import kept_columns
from harvest.studies.scores.basis import Basis
from harvest.studies.scores.kept_columns import keep_columns, kept_trees
from harvest.studies.scores.one_pass import outlined_run, run_with_trees
from harvest.studies.scores.score_request import ScoreRequest
from harvest.studies.trees.folded_trees import fold_trees, trees_of_outlines
from recordings.conversations.conversation import INVALID, Conversation, Outcome
from recordings.log.run_folder import read
from tests.harvest.studies.scores.test_one_pass import recorded, world


@pytest.fixture(autouse=True)
def small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_columns, "FEWEST", 1)


def kept(folder: Path, conversations: list[Conversation]) -> Path:
    """A run whose columns are there."""
    recorded(folder, conversations)
    found = outlined_run(folder, ScoreRequest(), at_once=7)
    assert found is not None
    keep_columns(found, Basis.of(folder, ScoreRequest()))
    return folder


@pytest.mark.parametrize("seed", range(4))
def test_trees_of_columns_are_those_of_the_run(seed: int, tmp_path: Path) -> None:
    folder = kept(tmp_path / "run", world(seed))
    run = run_with_trees(folder)
    assert run is not None
    whole = read(folder)
    assert any(one.scope.invalid and one.scope.interrupted for one in fold_trees(whole)[0])
    for system in (None, "A", "B"):
        for merge in (None, "label"):
            trees, said = fold_trees(whole, system=system, merge=merge)
            assert trees_of_outlines(run, system=system, merge=merge) == trees
            assert said == []


def test_other_trees_are_not_made_of_columns(tmp_path: Path) -> None:
    conversations = world(1)
    run = run_with_trees(kept(tmp_path / "run", conversations))
    assert run is not None
    for merge in ("exact", "act", "entities", "user=state,system=label"):
        assert trees_of_outlines(run, merge=merge) == []
    assert trees_of_outlines(run, system="C") == []
    worlds = {
        "one topic": [one for one in conversations if one.key.topic == "M1"],
        "no label": [
            replace(one, turns=tuple(replace(turn, route=None) for turn in one.turns)) for one in conversations
        ],
        "nothing valid": [
            replace(one, outcome=Outcome(INVALID, "timeout")) if one.key.system == "A" and one.valid else one
            for one in conversations
        ],
    }
    for name, own in worlds.items():
        run = run_with_trees(kept(tmp_path / name, own))
        assert run is not None
        assert trees_of_outlines(run) == [], name


def test_trees_show_the_recording_unchanged(tmp_path: Path) -> None:
    folder = kept(tmp_path / "run", world(2))
    assert run_with_trees(folder, code="rules of another version") is None
    file = next(folder.glob("trials-*.jsonl"))
    file.write_bytes(file.read_bytes().replace(b'"label":"o"', b'"label":"x"', 1))
    assert kept_trees(folder, Basis.of(folder, ScoreRequest())) is None
