"""`harvest judge page` before a page is served: what it needs, and what it refuses."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from harvest.cli import installation
from harvest.cli.judge.serving import read_scale
from tests.support.checkout import ROOT
from tests.support.command_line import harvest
from topics.errors import InputError


@pytest.mark.parametrize("package", ["starlette", "uvicorn"])
def test_without_the_extra_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, package: str
) -> None:
    run = shutil.copytree(ROOT / "recordings" / "samples" / "run-1", tmp_path / "run")
    monkeypatch.setattr(installation, "find_spec", lambda name: None if name == package else object())
    for command, *words in (("page", "--criterion", "Fluency"), ("pairs", "--serve", "--out", tmp_path / "pairs.csv")):
        done = harvest("judge", command, run, "--author", "anna", *words)
        assert done.returncode == 2
        assert f"the page needs the package '{package}'" in done.stderr
        assert "pip install '.[serve]'" in done.stderr
    assert not (Path(run) / "decisions").exists()
    assert not (tmp_path / "pairs.csv").exists()


@pytest.mark.parametrize(("text", "scale"), [("0,1", (0, 1)), ("0, .25, .5,.75,1", (0, 0.25, 0.5, 0.75, 1))])
def test_a_scale_is_two_to_nine_scores_in_rising_order(text: str, scale: tuple[float, ...]) -> None:
    assert read_scale(text) == scale


@pytest.mark.parametrize(
    "text", ["", "1", "1,0", "0,0,1", "0,2", "-1,1", "0,nan", "a,b", "0,.1,.2,.3,.4,.5,.6,.7,.8,1"]
)
def test_anything_else_is_not_a_scale(text: str) -> None:
    with pytest.raises(InputError, match="is not a scale"):
        read_scale(text)
