"""The built wheel, in an empty environment, from another directory: what a user of the package gets."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.checkout import ROOT

CLEAN = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}


def _run(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, env=CLEAN, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # Built from a copy, so that no build folder appears in the tree and two test workers do not meet.
    source = tmp_path_factory.mktemp("source") / "tree"
    listed = _run("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", cwd=ROOT).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, source / name)
    out = tmp_path_factory.mktemp("wheel")
    _run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, cwd=source)
    (built,) = out.glob("*.whl")
    return built


def test_the_wheel_contains_the_six_packages_with_their_data_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {"harvest", "protocols", "recordings", "scoring", "simulators", "topics"}
    data = [
        path.relative_to(ROOT).as_posix()
        for package in sorted(tops)
        for ending in ("yaml", "csv", "js", "css", "html", "typed")
        for path in (ROOT / package).rglob(f"*.{ending}")
        if "samples" not in path.parts
    ]
    assert len(data) > 20
    assert set(data) <= set(names)


@pytest.mark.parametrize(
    ("trials", "only"),
    [(1, ("M001", "M002", "R001", "R002", "Y001", "Y002")), pytest.param(5, (), marks=pytest.mark.soak)],
)
def test_the_demo_runs_from_the_wheel_in_an_empty_environment_and_another_directory(
    wheel: Path, tmp_path: Path, trials: int, only: tuple[str, ...]
) -> None:
    environment = tmp_path / "environment"
    _run(sys.executable, "-m", "uv", "venv", "-q", environment, cwd=tmp_path)
    python = environment / "bin" / "python"
    installer: list[str | Path] = [sys.executable, "-m", "uv", "pip", "install", "-q", "--python", python]
    _run(*installer, "--require-hashes", "-r", ROOT / "requirements" / "run.txt", cwd=tmp_path)
    _run(*installer, "--no-deps", wheel, cwd=tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    harvest = environment / "bin" / "harvest"
    few = ("--topics", ",".join(only)) if only else ()
    done = _run(harvest, "run", "demo", "--trials", str(trials), *few, "--out", "demo-run", "--json", cwd=elsewhere)
    document = json.loads(done.stdout)
    assert document["format"] == "harvest-scores/1"
    assert {row["system"] for row in document["rows"] if row["system"]} == {"A", "B"}
    listed = json.loads(_run(harvest, "show", "demo-run", "--json", cwd=elsewhere).stdout)
    assert len(listed["trials"]) == (len(only) or 45) * trials * 2
    # Made by the tree, and made again by the wheel with what its own environment holds: no figure is another one.
    made: list[str | Path] = [
        sys.executable,
        "-m",
        "harvest",
        "report",
        elsewhere / "demo-run",
        "--out",
        elsewhere / "report.html",
    ]
    _run(*made, cwd=ROOT)
    done = _run(harvest, "data", "verify", "demo-run", "report.html", cwd=elsewhere)
    assert done.stdout.count("verified: ") == 2
    assert "made again from 1 run" in done.stdout
