"""The demo, played once for all pages that print what the program says of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import harvest


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("demo") / "run"
    assert harvest("run", "demo", "--out", run).returncode == 0
    return run
