"""`harvest score` prints a large run again as it printed it before, as long as nothing behind the text has changed."""

from __future__ import annotations

import os
import random
import shutil
import sys
from pathlib import Path

import pytest

from harvest.studies.scores import kept_columns, one_pass
from tests.harvest.studies.scores.test_kept_columns import CHANGES, events, mutations
from tests.harvest.studies.scores.test_one_pass import ENDS, recorded, world
from tests.support.command_line import harvest

FILE = Path("columns") / "printed.json"
COMMAND = ("score", "--replications", "100")
THRESHOLDS = b'"thresholds": [{"measure": "ave%useful", "at_least": 0.999, "judge": "estimate"}], "trials"'


@pytest.fixture(autouse=True)
def small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_columns, "FEWEST", 1)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("printed") / "run", world(1))


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    shutil.copytree(original, tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Each computation of figures, as one is added for it."""
    found: list[str] = []
    whole = one_pass.run_or_columns

    def counting(*arguments: object, **options: object) -> object:
        found.append("computed")
        return whole(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("harvest.cli.scored_runs.run_or_columns", counting)
    return found


def score(folder: Path, *options: str, width: int = 100) -> tuple[int, str, str]:
    done = harvest(*COMMAND, folder, *options, width=width)
    return done.returncode, done.stdout, done.stderr


def test_the_same_command_prints_the_same_without_a_computation(folder: Path, computed: list[str]) -> None:
    first = score(folder)
    assert "%useful S1" in first[1]
    assert score(folder) == first
    assert computed == ["computed"]


@pytest.mark.parametrize(
    "options", [("--all",), ("--estimand", "these"), ("-m", "ave%useful"), ("--level", "0.9")], ids=str
)
def test_another_request_is_computed_and_the_text_of_neither_is_taken_for_the_other(
    options: tuple[str, ...], folder: Path, computed: list[str]
) -> None:
    plain, other = score(folder), score(folder, *options)
    assert other != plain
    assert len(computed) == 2
    assert score(folder, *options) == other
    assert score(folder) == plain


def test_a_text_is_printed_again_only_on_a_terminal_of_the_same_width(folder: Path) -> None:
    wide, narrow = score(folder, width=200), score(folder, width=70)
    assert wide != narrow
    assert score(folder, width=200) == wide


@pytest.mark.parametrize("change", [name for name in CHANGES if not name.startswith("columns")])
def test_nothing_is_printed_again_after_a_change_of(change: str, folder: Path, computed: list[str]) -> None:
    score(folder)
    CHANGES[change](folder)
    changed = score(folder)
    assert len(computed) == 2
    shutil.rmtree(folder / "columns", ignore_errors=True)
    assert score(folder) == changed


def test_a_run_whose_text_is_kept_elsewhere_is_computed_where_damage_names_it(folder: Path, tmp_path: Path) -> None:
    score(folder)
    text = (folder / FILE).read_bytes()
    shutil.move(folder, tmp_path / "moved")
    assert score(tmp_path / "moved")[0] == 0
    assert (tmp_path / "moved" / FILE).read_bytes() != text


def test_a_missed_threshold_has_its_exit_code_again(tmp_path: Path, computed: list[str]) -> None:
    folder = recorded(tmp_path / "run", [one for one in world(1) if one.outcome in ENDS])
    edited_header(folder)
    first = score(folder)
    assert first[0] == 1
    assert "threshold missed" in first[1]
    assert score(folder) == first
    assert computed == ["computed"]


def edited_header(folder: Path) -> None:
    header = folder / "run.json"
    header.write_bytes(header.read_bytes().replace(b'"trials"', THRESHOLDS, 1))


def test_a_measure_that_was_installed_since_is_not_left_out(
    folder: Path, tmp_path: Path, computed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    score(folder)
    points = tmp_path / "site" / "more-1.0.dist-info"
    points.mkdir(parents=True)
    (points / "METADATA").write_text("Metadata-Version: 2.1\nName: more\nVersion: 1.0\n")
    (points / "entry_points.txt").write_text("[harvest.importers]\nmore = more:read\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "site")])
    score(folder)
    assert len(computed) == 2


@pytest.mark.parametrize("count", [30, pytest.param(1000, marks=pytest.mark.soak)])
def test_no_mutation_of_the_kept_text_is_printed(count: int, folder: Path) -> None:
    right, data = score(folder), (folder / FILE).read_bytes()
    for changed in mutations(data, count):
        (folder / FILE).write_bytes(changed)
        assert score(folder) == right


@pytest.mark.parametrize("count", [10, pytest.param(1000, marks=pytest.mark.soak)])
def test_no_mutation_of_the_recording_leaves_its_text_printed(
    count: int, folder: Path, computed: list[str], original: Path
) -> None:
    """Each changed file has the time of change that it had before."""
    score(folder)
    kept, rng = (folder / FILE).read_bytes(), random.Random(4)
    files = [events(folder), folder / "run.json"]
    whole = {file: file.read_bytes() for file in files}
    for seed in range(count):
        file = rng.choice(files)
        changed = next(mutations(whole[file], 1, seed))
        told = file.stat()
        file.write_bytes(changed)
        os.utime(file, ns=(told.st_atime_ns, told.st_mtime_ns))
        before = len(computed)
        score(folder)
        assert len(computed) > before or changed == whole[file]
        file.write_bytes(whole[file])
        (folder / FILE).write_bytes(kept)
