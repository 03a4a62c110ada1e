"""The picture in the README is what the demo prints today."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

from tests.support.checkout import ROOT


def test_the_picture_is_that_of_todays_demo(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "harvest", "run", "demo", "--out", "run"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    spec = importlib.util.spec_from_file_location("picture", ROOT / "docs" / "picture.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    drawn = module.picture(tmp_path / "run")
    assert drawn == (ROOT / "docs" / "demo.svg").read_text(), "draw it anew: python docs/picture.py RUN"
