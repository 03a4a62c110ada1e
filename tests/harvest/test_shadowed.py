"""A file of somebody else's with the name of one of our packages: one clear error, however Harvest is started."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harvest.shadowed import PACKAGES
from tests.support.checkout import ROOT

COMMAND = Path(sys.executable).with_name("harvest")


def called(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, env={**clean, **environment}, timeout=60)


def put_in_the_way(folder: Path, name: str, *, package: bool) -> Path:
    path = folder / name / "__init__.py" if package else folder / f"{name}.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text("x = 1\n")
    return path


@pytest.mark.parametrize(("name", "package"), [*((name, False) for name in PACKAGES), ("topics", True)])
def test_a_notebook_names_the_file_that_is_in_the_way(name: str, package: bool, tmp_path: Path) -> None:
    path = put_in_the_way(tmp_path, name, package=package)
    code = "try:\n    import harvest\nexcept ImportError as fault:\n    print(fault)"
    done = called(tmp_path, sys.executable, "-c", code)
    assert done.stderr == ""
    head, advice = done.stdout.splitlines()
    assert head == f"{path} hides Harvest's package {name!r}"
    assert advice.startswith("  do: rename it")


def test_a_module_of_that_name_that_was_imported_before_is_in_the_way_too(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    path = put_in_the_way(tmp_path / "mine", "scoring", package=False)
    code = "import sys; sys.path.insert(0, 'mine'); import scoring; sys.path.pop(0)\nimport harvest"
    done = called(tmp_path, sys.executable, "-c", code)
    assert f"{path} hides Harvest's package" in done.stderr.splitlines()[-2]


@pytest.mark.parametrize(
    "words",
    [(sys.executable, "-m", "harvest", "measures"), (str(COMMAND), "check", "demo"), (str(COMMAND), "--version")],
)
def test_a_command_ends_with_2_one_message_and_no_traceback(words: tuple[str, ...], tmp_path: Path) -> None:
    path = put_in_the_way(tmp_path, "recordings", package=False)
    done = called(tmp_path, *words, PYTHONPATH=str(tmp_path))  # a path that also the script looks at
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"error: {path} hides ")
    assert "\n  do: rename it" in done.stderr
    assert "Traceback" not in done.stderr
    assert "bug" not in done.stderr


def test_the_script_is_not_affected_by_the_contents_of_its_folder(tmp_path: Path) -> None:
    for name in PACKAGES:
        put_in_the_way(tmp_path, name, package=False)
    assert called(tmp_path, str(COMMAND), "--version").returncode == 0


def test_a_folder_of_that_name_without_code_is_not_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "topics").mkdir()
    (tmp_path / "topics" / "mine.yaml").write_text("")
    assert called(tmp_path, sys.executable, "-m", "harvest", "--version").returncode == 0
    assert called(ROOT, sys.executable, "-c", "import harvest; harvest.score_runs").returncode == 0
