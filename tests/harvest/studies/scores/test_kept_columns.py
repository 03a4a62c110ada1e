"""Columns of a run are believed only if all that they rest on is as it was, and are otherwise made again."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harvest.studies.runs.outlined_run import OutlinedRun
from harvest.studies.scores import basis as basis_module
from harvest.studies.scores import kept_columns
from harvest.studies.scores.basis import Basis
from harvest.studies.scores.kept_columns import keep_columns, kept_run, kept_trees
from harvest.studies.scores.one_pass import run_or_columns
from harvest.studies.scores.score_request import ScoreRequest
from scoring.table import ScoreRow
from tests.harvest.studies.scores.test_one_pass import printed, recorded, world

REQUEST = ScoreRequest(settings={"replications": 100})
FILES = tuple(Path("columns") / name for name in ("outlines.npz", "values.npz", "trees.npz", "scores.npz"))
FILE = FILES[-1]


@pytest.fixture(autouse=True)
def small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_columns, "FEWEST", 1)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("kept") / "run", world(1))


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    shutil.copytree(original, tmp_path / "run")
    return tmp_path / "run"


def read_or_kept(
    folder: Path, request: ScoreRequest = REQUEST, code: str | None = None
) -> tuple[OutlinedRun, Basis | None]:
    found, basis = run_or_columns(folder, request, code)
    assert found is not None
    return found, basis


def kept(folder: Path) -> OutlinedRun:
    """The run, whose columns are then kept."""
    run, basis = read_or_kept(folder)
    assert basis is not None
    keep_columns(run, basis, REQUEST.scored(REQUEST.gathered([run]).material).table)
    return run


def is_believed(folder: Path, request: ScoreRequest = REQUEST, code: str | None = None) -> bool:
    return read_or_kept(folder, request, code)[1] is None


def there(folder: Path, basis: Basis, *, values: bool = False) -> OutlinedRun | None:
    return kept_run(folder, basis) if values else kept_run(folder, basis, pytest.fail)


@pytest.mark.parametrize("width", ["50", "400"], ids=["a grid of counts", "a grid of trials"])
def test_a_run_is_printed_from_its_columns_as_it_was_read(
    width: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    run = kept(folder)
    again, basis = read_or_kept(folder)
    assert basis is None
    assert again.measured is None
    for every in (False, True):
        assert printed(again, REQUEST, capsys, every=every) == printed(run, REQUEST, capsys, every=every)
    tables = [REQUEST.scored(REQUEST.gathered([one]).material).table for one in (run, again)]
    assert [exact(row) for row in tables[1].joint] == [exact(row) for row in tables[0].joint]


def exact(row: ScoreRow) -> str:
    return repr([value.hex() if isinstance(value, float) else value for value in row.as_json().values()]) + repr(row)


def edited(file: Path, old: bytes, new: bytes) -> None:
    """Other bytes in the same file, of the same size and with the same time of change, as far as one can set it."""
    told = file.stat()
    data = file.read_bytes()
    assert old in data
    with file.open("r+b") as opened:
        opened.write(data.replace(old, new, 1))
    os.utime(file, ns=(told.st_atime_ns, told.st_mtime_ns))


def events(folder: Path) -> Path:
    return next(folder.glob("trials-*.jsonl"))


def decided(folder: Path) -> None:
    (folder / "decisions").mkdir()
    (folder / "decisions" / "000001.jsonl").write_bytes(b"")


def judged(folder: Path) -> None:
    (folder / "judgments").mkdir(exist_ok=True)
    (folder / "judgments" / "gold.jsonl").write_bytes(b"")


def linked(file: Path) -> None:
    file.rename(file.with_name("moved"))
    file.symlink_to("moved")


CHANGES: dict[str, Callable[[Path], object]] = {
    "a label of the journal": lambda run: edited(events(run), b'"label":"o"', b'"label":"x"'),
    "a word of the journal": lambda run: edited(events(run), b"Any others?", b"Any other??"),
    "a line more": lambda run: events(run).write_bytes(events(run).read_bytes() + b"\n"),
    "the header": lambda run: edited(run / "run.json", b'"trials": 8', b'"trials": 9'),
    "a layer of judgments": judged,
    "a decision of a person": decided,
    "another file of events": lambda run: shutil.copy(events(run), run / "trials-000009.jsonl"),
    "columns that are empty": lambda run: (run / FILE).write_bytes(b""),
    "columns that are a link": lambda run: linked(run / FILE),
}


@pytest.mark.parametrize("change", CHANGES)
def test_columns_are_not_believed_after_a_change_of(change: str, folder: Path) -> None:
    kept(folder)
    assert is_believed(folder)
    CHANGES[change](folder)
    found, basis = run_or_columns(folder, REQUEST)
    assert found is None or basis is not None


def test_columns_are_of_one_request_and_one_version(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept(folder)
    assert not is_believed(folder, ScoreRequest(settings={"replications": 101}))
    assert not is_believed(folder, ScoreRequest(settings={"replications": 100}, seed=1))
    with monkeypatch.context() as other:
        other.setattr(basis_module, "FORMAT", "harvest-columns/0")
        assert not is_believed(folder)
    assert not is_believed(folder, code="a rule that was changed")
    assert is_believed(folder)


def test_values_are_believed_whatever_the_intervals_and_read_again_for_other_values(folder: Path) -> None:
    kept(folder)
    for settings in ({"replications": 101}, {"level": 0.9, "estimand": "these"}, {"shares": "bootstrap"}):
        found, basis = read_or_kept(folder, ScoreRequest(settings=settings, seed=3))
        assert found.is_kept
        assert basis is not None
        unset = {"patience": None, **settings}  # as an option that is not given
        assert there(folder, Basis.of(folder, ScoreRequest(settings=unset)), values=True) is not None
    for request in (ScoreRequest(settings={"patience": 3}), ScoreRequest(settings={"user_words": "left-out"})):
        assert not read_or_kept(folder, request)[0].is_kept
    with pytest.raises(ValueError, match="other settings"):
        request.scored(request.gathered([there_or_fail(folder)]).material)


def there_or_fail(folder: Path) -> OutlinedRun:
    found = there(folder, Basis.of(folder, REQUEST), values=True)
    assert found is not None
    return found


def test_a_copy_of_a_run_has_its_columns(folder: Path, tmp_path: Path) -> None:
    kept(folder)
    shutil.copytree(folder, tmp_path / "copy")
    assert is_believed(tmp_path / "copy")


def test_columns_that_cannot_be_written_are_not(folder: Path) -> None:
    (folder / "columns").symlink_to(folder.parent)
    kept(folder)
    assert not (folder.parent / "scores.npz").exists()
    assert not is_believed(folder)


def mutations(data: bytes, count: int, seed: int = 1) -> Iterator[bytes]:
    rng = random.Random(seed)
    for _ in range(count):
        at, size = rng.randrange(len(data)), rng.choice((1, 1, 8, 300))
        yield rng.choice(
            (
                data[:at] + bytes(byte ^ (1 << rng.randrange(8)) for byte in data[at : at + size]) + data[at + size :],
                data[:at],
                data[:at] + data[at + size :],
                data[:at] + rng.randbytes(size) + data[at:],
            )
        )


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.soak)])
def test_no_mutation_of_the_files_gives_a_figure(count: int, file: Path, folder: Path) -> None:
    kept(folder)
    basis, data = Basis.of(folder, REQUEST), (folder / file).read_bytes()
    for changed in mutations(data, count):
        (folder / file).write_bytes(changed)
        found = (
            kept_trees(folder, basis) if file.stem == "trees" else there(folder, basis, values=file.stem != "scores")
        )
        assert changed == data or found is None


@pytest.mark.parametrize("count", [20, pytest.param(1000, marks=pytest.mark.soak)])
def test_no_mutation_of_the_recording_leaves_its_columns_believed(count: int, folder: Path) -> None:
    """Each changed file has the time of change that it had before."""
    kept(folder)
    files = [events(folder), folder / "run.json", *folder.glob("trials-*.chain")]
    rng, whole = random.Random(3), {file: file.read_bytes() for file in files}
    for seed in range(count):
        file = rng.choice(files)
        changed = next(mutations(whole[file], 1, seed))
        if changed == whole[file]:
            continue
        told = file.stat()
        file.write_bytes(changed)
        os.utime(file, ns=(told.st_atime_ns, told.st_mtime_ns))
        for values in (False, True):
            assert there(folder, Basis.of(folder, REQUEST), values=values) is None, (file.name, seed)
        file.write_bytes(whole[file])
    assert is_believed(folder)


def test_any_change_of_a_module_is_another_version(tmp_path: Path) -> None:
    rules = tmp_path / "protocols" / "rules"
    for name in ("harvest", "recordings", "scoring", "protocols/rules", "simulators", "topics"):
        (tmp_path / name).mkdir(parents=True)
    rule = rules / "urls.py"
    rule.write_text("A = 1\n")

    def digest() -> str:
        basis_module.code_digest.cache_clear()
        return basis_module.code_digest(tmp_path)

    found = [digest()]
    os.utime(rule, (1, 1))
    found.append(digest())
    rule.write_text("A = 10\n")
    os.utime(rule, (1, 1))
    found.append(digest())
    (rules / "more.py").write_text("")
    found.append(digest())
    rule.unlink()
    found.append(digest())
    (rules / "__pycache__").mkdir()
    (rules / "__pycache__" / "urls.pyc").write_text("")
    assert digest() == found[-1]
    assert len({*found}) == len(found)


@pytest.mark.parametrize("count", [10, pytest.param(200, marks=pytest.mark.soak)])
def test_killed_while_columns_are_written_at_worst_none_are_there(count: int, folder: Path) -> None:
    run = kept(folder)
    table = REQUEST.scored(REQUEST.gathered([run]).material).table
    basis, rng = Basis.of(folder, REQUEST), random.Random(2)
    whole = {file: (folder / file).read_bytes() for file in FILES}
    began = time.perf_counter()
    keep_columns(run, basis, table)
    taken = time.perf_counter() - began
    believed = 0
    for _ in range(count):
        for file in FILES:
            (folder / file).unlink(missing_ok=True)
        child = os.fork()
        if not child:
            keep_columns(run, basis, table)
            os._exit(0)
        time.sleep(rng.uniform(0, 2 * taken))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        believed += there(folder, basis) is not None
        assert all((folder / file).read_bytes() == data for file, data in whole.items() if (folder / file).exists())
    assert 0 <= believed <= count
