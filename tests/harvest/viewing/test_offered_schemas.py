"""By which criteria a run can be judged from the view: those that were used or found, not only the standard ones."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from harvest.viewing.judging import JudgingPages, offered_criteria
from recordings.judged.judgments import Judgment, Layer, write_layer
from tests.support.checkout import ROOT
from topics.errors import InputError

OWN = """\
format: harvest-schema/1
name: own
criteria:
  - {number: 1, name: Polite, question: Is it polite?, level: turn, scorers: [human]}
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "recordings" / "samples" / "run-1", tmp_path / "run"))


def test_the_schemas_of_harvest_and_of_files_beside_the_run_are_offered_with_the_used_ones_first(run: Path) -> None:
    (run.parent / "own.yaml").write_text(OWN)
    (run.parent / "audit.yaml").write_text("format: harvest-audit/1\nname: no schema\n")
    (run.parent / "broken.yaml").write_text("format: harvest-schema/1\ncriteria: 3\n")
    offered = offered_criteria(run)
    assert next(iter(offered)) == "sakai-2023"
    assert "Fluency" in offered["sakai-2023"]
    assert offered["useful"] == ["Useful"]
    assert offered[str(run.parent / "own.yaml")] == ["Polite"]
    assert not [name for name in offered if "audit" in name or "broken" in name]
    about: dict[str, str | int] = {"trial": "t", "attempt": 1, "turn": 1, "speaker": "system"}
    write_layer(run, Layer("human", "anna", "1", judgments=(Judgment(about, "Polite", 1.0),)))
    assert next(iter(offered_criteria(run))) == str(run.parent / "own.yaml")


async def test_a_schema_that_is_not_offered_is_refused_before_a_command_starts(run: Path) -> None:
    with pytest.raises(InputError, match="is not one of the schemas offered here"):
        await JudgingPages().open("key", run, "anna", "/etc/passwd", "Fluency", 0)
