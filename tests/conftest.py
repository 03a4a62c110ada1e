"""Settings for all tests."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.servers.litellm_proxy import shared_proxy
from tests.support import forked_workers
from tests.support.command_line import harvest

# Thousands of tests are collected, and none of them is garbage: looking through them again and again takes a third of
# the time to collect, and a tenth of the time to run.
gc.disable()

# No deadline: machines are noisy, and speed is measured by benchmarks. Where CI is set, the same examples each time: a
# new counterexample is for the people who explore, not for somebody else's change.
settings.register_profile("harvest", deadline=None, derandomize=bool(os.environ.get("CI")), max_examples=10)
settings.register_profile("soak", settings.get_profile("harvest"), max_examples=500)
settings.register_profile("fast", settings.get_profile("harvest"), max_examples=5)
settings.load_profile("harvest")

SHARING = {
    "shared_interface": {
        f"tests/harvest/pages/{name}"
        for name in ("chats/test_probe.py", "test_audit.py", "test_fairweb.py", "test_kills.py", "test_replies.py")
    },
    "litellm": {
        *(f"tests/harvest/drivers/test_{name}.py" for name in ("litellm", "recipes_elsewhere")),
        *(f"tests/harvest/judging/{name}/test_litellm.py" for name in ("extraction", "models")),
        "tests/simulators/llm/test_litellm.py",
    },
    "demo": {
        *(
            f"tests/docs/test_{page}.py"
            for page in ("comparing", "planning", "rankings", "report", "trees", "variance")
        ),
        "tests/harvest/tables/test_demo_picture.py",
        "tests/harvest/cli/test_exporting.py",
        "tests/scoring/test_figure5.py",
    },
}
"""Files with tests of a fixture that takes long to make: one process runs them all, so that each interface is started
once, and the demo played once."""

LONGEST = (
    "harvest/pages/test_pages.py",
    "harvest/pages/test_replies.py",
    "harvest/pages/test_fairweb.py",
    "harvest/parrot/test_coverage.py",
    "harvest/playing/test_kills.py",
    "harvest/pages/test_kills.py",
    "harvest/pages/test_endurance.py",
    "harvest/pages/test_lag.py",
    "harvest/playing/test_faults.py",
)
"""Files that take longest: they go first, so that no process is left with one at the end."""

WHOLE_BROWSER = {
    f"tests/harvest/pages/{name}"
    for name in (
        "browser/test_login.py",
        "browser/test_start.py",
        "browser/test_processes.py",
        "test_kills.py",
    )
}
"""Files that run in the browser people have. All others take Chromium without windows (Debian's
chromium-headless-shell) where it is there: the same pages, for half the time of a processor."""


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.register(forked_workers)


def pytest_configure(config: pytest.Config) -> None:
    if _soaking(config):
        settings.load_profile("soak")
    else:
        _keep_folders_in_memory()
    # Playwright's own process then starts in two thirds of the time: it need not compile its program each time.
    os.environ.setdefault("NODE_COMPILE_CACHE", str(config.rootpath / ".cache" / "node"))


def _keep_folders_in_memory() -> None:
    """Put temporary folders into memory, where there is room and nobody has named a place for them: each turn that is
    recorded waits until the disk has it, and so would most tests."""
    memory = Path("/dev/shm")
    named = not {"TMPDIR", "PYTEST_DEBUG_TEMPROOT"}.isdisjoint(os.environ)
    if not named and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free >= 4 << 30:
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(memory)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if _soaking(config):  # what holds for all values is tried with more of them
        for item in items:
            if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
                item.add_marker(pytest.mark.soak)
    place = _places({item.path for item in items})
    items.sort(key=lambda item: place[item.path])


def _places(files: set[Path]) -> dict[Path, float]:
    """The longest files below 0; all others between 0 and 1, those that wait for pages spread among those that compute:
    where all processes wait at a time, no processor has anything to do."""
    tests = Path(__file__).parent
    longest = [tests / name for name in LONGEST]
    rest = sorted(files.difference(longest))
    pages = [file for file in rest if file.is_relative_to(tests / "harvest" / "pages")]
    others = [file for file in rest if file not in pages]
    return {
        **{file: number - len(longest) for number, file in enumerate(longest)},
        **{file: number / len(some) for some in (pages, others) for number, file in enumerate(some)},
    }


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    return forked_workers.run_in_forks(session, _group)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Free the memory that folders took (`_keep_folders_in_memory`), unless somebody will look why a test failed."""
    folder = session.config.stash.get(forked_workers.SHARED_FOLDER, None)
    if folder is not None and folder.is_relative_to("/dev/shm") and not exitstatus:
        shutil.rmtree(folder, ignore_errors=True)


def _group(item: pytest.Item) -> str:
    """The file of a test, or the entry of SHARING with its file."""
    file = item.nodeid.partition("::")[0]
    return next((fixture for fixture, files in SHARING.items() if file in files), file)


def _soaking(config: pytest.Config) -> bool:
    return bool(config.getoption("markexpr") == "soak")


@pytest.fixture(scope="module", autouse=True)
def browser_of_this_file(request: pytest.FixtureRequest) -> Iterator[None]:
    """The browser that the tests of a file find, unless HARVEST_BROWSER names one for all."""
    quick = shutil.which("chromium-headless-shell")
    file = request.path.relative_to(request.config.rootpath).as_posix()
    with pytest.MonkeyPatch.context() as patch:
        if quick and "HARVEST_BROWSER" not in os.environ and file not in WHOLE_BROWSER and not _soaking(request.config):
            patch.setenv("HARVEST_BROWSER", quick)
        yield


@pytest.fixture(scope="session")
def litellm(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of LiteLLM's proxy, one for all processes of the session."""
    folder = pytestconfig.stash.get(forked_workers.SHARED_FOLDER, tmp_path_factory.getbasetemp())
    with shared_proxy(folder / "litellm") as address:
        yield address


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of `harvest run demo`, with its report; to be read only."""
    run = tmp_path_factory.mktemp("demo") / "run"
    assert harvest("run", "demo", "--report", "--out", run).returncode == 0
    return run
