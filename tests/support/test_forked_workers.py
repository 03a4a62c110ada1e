"""Forks run what one process runs, and pytest hears of it as if there were none."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.support.checkout import ROOT

CONFTEST = """
import os
import pytest
from tests.support import forked_workers

def pytest_addoption(pluginmanager):
    pluginmanager.register(forked_workers)

def pytest_runtestloop(session):
    return forked_workers.run_in_forks(session, lambda item: item.nodeid.partition("::")[0])

@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    (own := tmp_path_factory.mktemp("whole")).joinpath("made").touch()
    yield own
    own.joinpath("ended").touch()

@pytest.fixture(scope="module")
def first():
    return os.getpid()
"""
TESTS = {
    "test_file.py": """
import os
import pytest

def test_passes(whole, first):
    assert first == os.getpid()

def test_prints_and_fails(whole, first):
    print("a word")
    assert first != os.getpid(), "the same process"

@pytest.mark.parametrize("value", [1, 2])
def test_of_a_value(tmp_path, value):
    tmp_path.joinpath("x").write_text(str(value))

@pytest.mark.skip(reason="not now")
def test_left_out(): ...

@pytest.mark.xfail
def test_fails_as_expected():
    raise ValueError

@pytest.fixture
def broken():
    raise LookupError("no such thing")

def test_of_what_is_broken(broken): ...
""",
    "test_ended.py": """
import os

def test_before(): ...

def test_ends():
    os._exit(7)

def test_after(whole): ...
""",
    "test_hanging.py": """
import time
import pytest

@pytest.mark.timeout(0.5, method="thread")
def test_hangs():
    time.sleep(60)

@pytest.mark.timeout(0.5)
def test_hangs_too():
    time.sleep(60)
""",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forked")
    (folder / "pytest.ini").write_text("[pytest]\n")
    for name, text in {"conftest.py": CONFTEST, **TESTS}.items():
        (folder / name).write_text(text)
    return folder


def tried(folder: Path, *words: str) -> tuple[int, str]:
    plugins = [word for name in ("asyncio", "harvest", "hypothesispytest") for word in ("-p", f"no:{name}")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, "--basetemp", folder / "temporary", "--forks", "2", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stdout + done.stderr


def test_reports_are_those_of_one_process(folder: Path) -> None:
    code, said = tried(folder, "--junitxml", "units.xml", "-rA")
    assert code == 1
    assert re.search(r"4 failed, 5 passed, 1 skipped, 1 xfailed, 1 error in", said), said
    assert "the same process" in said
    assert "a word" in said
    assert "ended in it (exit code 7; " in said
    assert "ended in it (exit code 1; " in said
    assert "Timeout (>0.5s)" in said
    cases = ElementTree.parse(folder / "units.xml").iter("testcase")
    order = [case.get("name") for case in cases]
    assert len(order) == 12
    assert [name for name in order if name in ("test_before", "test_ends", "test_after")] == [
        "test_before",
        "test_ends",
        "test_after",
    ]
    made, ended = ({file.parent for file in (folder / "temporary").rglob(name)} for name in ("made", "ended"))
    assert 1 <= len(made) < 4  # in each process that needs it, once
    assert len(made - ended) <= 1  # that of the test that hangs
    failed = tried(folder, "--lf", "--collect-only", "-q")[1]
    assert "test_hangs_too" in failed
    assert "test_after" not in failed


def test_the_first_failure_ends_everything_on_request(folder: Path) -> None:
    code, said = tried(folder, "-x", "test_file.py", "test_ended.py")
    assert code == 1
    assert "stopping after 1 failures" in said


def test_tests_that_cannot_be_collected_are_not_run(folder: Path, tmp_path: Path) -> None:
    for name in ("conftest.py", "pytest.ini", "test_ended.py"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    (tmp_path / "test_broken.py").write_text("import no_such_module")
    code, said = tried(tmp_path)
    assert code == 2
    assert "1 error during collection" in said
