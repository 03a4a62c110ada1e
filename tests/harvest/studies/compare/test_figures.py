"""What `harvest compare` prints below its tables."""

from pathlib import Path

import pytest

from tests.support.command_line import harvest
from tests.support.reported import small_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    systems = (
        "  - {name: A, driver: parrot, options: {profile: erratic}}\n"
        "  - {name: B, driver: parrot, options: {profile: erratic}}\n"
    )
    return small_run(tmp_path_factory.mktemp("legend"), systems, trials=4)


def legend(run: Path, *measures: str) -> str:
    asked = [word for measure in measures for word in ("-m", measure)]
    shown = " ".join(harvest("compare", run, *asked).stdout.split())
    return shown.partition("assumed: ")[2].partition(" p: ")[0]


def test_what_is_assumed_of_some_measures_alone_names_them(run: Path) -> None:
    both = legend(run, "%useful S1", "%recovery", "%useful S2")
    assert "may lie anywhere in the range (%useful S1, %useful S2)" in both
    assert "may have a ratio of 0 or 1 (%recovery)" in both


@pytest.mark.parametrize("measure", ["%useful S2", "%recovery"])
def test_what_is_assumed_of_all_measures_names_none(run: Path, measure: str) -> None:
    assert legend(run, measure)
    assert measure not in legend(run, measure)
