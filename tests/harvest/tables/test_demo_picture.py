"""The picture in the README is what the demo prints today."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from tests.support.checkout import ROOT
from tests.support.command_line import harvest


def test_the_picture_is_that_of_todays_demo(tmp_path: Path) -> None:
    done = harvest("run", "demo", "--out", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    spec = importlib.util.spec_from_file_location("picture", ROOT / "docs" / "picture.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    drawn = module.picture(tmp_path / "run")
    assert drawn == (ROOT / "docs" / "demo.svg").read_text(), "draw it anew: python docs/picture.py RUN"
