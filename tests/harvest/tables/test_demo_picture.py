"""The picture in the README is what the demo prints today."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from tests.support.checkout import ROOT


def test_the_picture_is_that_of_todays_demo(demo: Path) -> None:
    spec = importlib.util.spec_from_file_location("picture", ROOT / "docs" / "picture.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    drawn = module.picture(demo)
    assert drawn == (ROOT / "docs" / "demo.svg").read_text(), "draw it anew: python docs/picture.py RUN"
