"""The pages of stop models and enumerable users: examples, parameters and plots are those of the program."""

from __future__ import annotations

import doctest
import importlib.util
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import pytest
from pydantic import BaseModel

from simulators import agenda, clarification, markov, subtopic
from simulators.stopping.hazard import Geometric, Hazard, TwoAlpha
from simulators.stopping.library import NAMES, Combined, Frustration, PatienceBudget, RateOfGain, Satiation
from tests.support.checkout import DOCS

PAGES: dict[str, tuple[type[BaseModel], ...]] = {
    "stopping": (Hazard, Geometric, TwoAlpha, Frustration, Satiation, PatienceBudget, RateOfGain, Combined),
    "markov": (markov.Options,),
    "subtopic": (subtopic.Options, subtopic.Requery),
    "agenda": (agenda.Options,),
    "clarification": (clarification.Options,),
}


def _loaded(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def drawing() -> Iterator[Any]:
    """The script that draws the plots; it puts its folder on the path, which is taken off again."""
    path, modules = list(sys.path), set(sys.modules)
    yield _loaded("draw_policies", DOCS / "simulators" / "draw_policies.py")
    sys.path[:] = path
    for name in set(sys.modules) - modules & {"draw_policies", "plot"}:
        if name in ("draw_policies", "plot"):
            del sys.modules[name]


def text(page: str) -> str:
    return (DOCS / "simulators" / f"{page}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_are_what_the_program_prints(page: str) -> None:
    failed, tried = doctest.testfile(str(DOCS / "simulators" / f"{page}.md"), module_relative=False, encoding="utf-8")
    assert failed == 0
    assert (tried > 0) == (">>>" in text(page))


@pytest.mark.parametrize("page", PAGES)
def test_the_parameters_of_a_page_are_those_of_the_program(page: str, drawing: Any) -> None:
    for options in PAGES[page]:
        assert drawing.parameters(options) in text(page), options


# That of agenda takes as long as all others together.
@pytest.mark.parametrize(
    "page", [pytest.param(one, marks=pytest.mark.soak if one == "agenda" else ()) for one in PAGES]
)
def test_the_plot_of_a_page_is_what_the_script_draws(page: str, drawing: Any) -> None:
    assert f"]({page}.svg)" in text(page)
    kept = (DOCS / "simulators" / f"{page}.svg").read_text(encoding="utf-8")
    assert drawing.FIGURES[f"{page}.svg"]() == kept, "draw it anew: python docs/simulators/draw_policies.py"


def test_every_stop_model_and_act_is_on_its_page() -> None:
    headings = [line for line in text("stopping").splitlines() if line.startswith("## ")]
    assert all(any(name in heading for heading in headings) for name in NAMES)
    for module, page in ((agenda, "agenda"), (subtopic, "subtopic"), (clarification, "clarification")):
        assert all(f"`{act}`" in text(page) for act in module.ACTS)
    assert all(f"`{act}`" in text("markov") for act in markov.ILLUSTRATIVE.acts)


def test_defaults_that_were_not_fitted_are_marked() -> None:
    for page in ("stopping", "markov", "subtopic"):
        assert "llustrative" in text(page)
    assert "They describe that log. Your users may leave differently: fit" in text("stopping")


def test_a_plot_is_a_picture_that_any_reader_of_svg_can_read(drawing: Any) -> None:
    line = drawing.Line("a < b & c", ((0.0, 0.0), (1.0, math.nan), (2.0, 1.0), (3.0, 0.5), (4.0, 0.5)), steps=True)
    root = ElementTree.fromstring(drawing.drawn(drawing.Plot("title", "x", "y", (line,))))
    lines = [part for part in root.iter() if part.tag.endswith("polyline")]
    assert len(lines) == 2, "a value that is none breaks the line"
    assert lines[1].attrib["points"].count(",") == 4, "a step has a corner"
    assert "a < b & c" in [part.text for part in root.iter()]


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ((0.0, 1.0), [0, 0.2, 0.4, 0.6, 0.8, 1]),
        ((0.0, 12.0), [0, 5, 10, 15]),
        ((3.0, 3.0), [2.4, 2.6, 2.8, 3, 3.2, 3.4, 3.6]),
        ((0.0013, 0.0049), [0.001, 0.002, 0.003, 0.004, 0.005]),
    ],
)
def test_axes_have_round_numbers(values: tuple[float, float], ticks: list[float], drawing: Any) -> None:
    plot = drawing.Plot("t", "x", "y", (drawing.Line("l", ((0.0, values[0]), (1.0, values[1]))),))
    root = ElementTree.fromstring(drawing.drawn(plot))
    shown = [part.text for part in root.iter() if part.attrib.get("text-anchor") == "end"]
    assert [float(str(tick)) for tick in shown] == ticks


def test_an_empty_picture_is_refused(drawing: Any) -> None:
    for plots in ((), (drawing.Plot("t", "x", "y", ()),), (drawing.Plot("t", "x", "y", (drawing.Line("l", ()),)),)):
        with pytest.raises(ValueError, match=r"draw|lines"):
            drawing.drawn(*plots)
