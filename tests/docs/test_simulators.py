"""The pages of docs/simulators that no other test holds: their parameters, plots and lists are the program's."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from protocols.answer import Answer
from protocols.library import load_protocol
from protocols.route import Say, Stop
from simulators import fitted, random, recorded, replay
from simulators.conformance import assert_conforms
from simulators.promises import PROMISES
from simulators.reasons import MEANING
from simulators.registry import SIMULATORS, build_user, build_users
from simulators.user import Chance, Observation, Scenario, Streams
from tests.support.checkout import DOCS
from tests.support.talking import through_json
from topics.document import parse_document
from topics.library import load_topics

PAGES: dict[str, tuple[Any, ...]] = {
    "random": (random,),
    "recorded": (recorded, replay),
    "fitted": (fitted,),
    "scripted": (),
    "human": (),
}
README = (DOCS / "simulators" / "README.md").read_text(encoding="utf-8")


def _loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / "simulators" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def drawing() -> Iterator[tuple[Any, Any]]:
    """The scripts that draw the plots; they put their folder on the path, which is taken off again."""
    path = list(sys.path)
    figures = {**_loaded("draw_floor").FIGURES, **_loaded("draw_played").FIGURES}
    yield figures, _loaded("draw_policies")
    sys.path[:] = path
    for name in ("draw_floor", "draw_played", "draw_policies", "plot"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("page", PAGES)
def test_the_parameters_and_the_plot_of_a_page_are_those_of_the_program(page: str, drawing: tuple[Any, Any]) -> None:
    figures, policies = drawing
    text = (DOCS / "simulators" / f"{page}.md").read_text(encoding="utf-8")
    for module in PAGES[page]:
        assert policies.parameters(module.Options) in text
    assert f"]({page}.svg)" in text
    kept = (DOCS / "simulators" / f"{page}.svg").read_text(encoding="utf-8")
    assert figures[f"{page}.svg"]() == kept, "draw it anew: python docs/simulators/draw_floor.py, draw_played.py"


@pytest.mark.parametrize("page", sorted({*SIMULATORS, "human", "scripted"} - {"replay"}))
def test_every_simulator_has_a_page_with_its_parameters_its_source_and_a_plot(page: str) -> None:
    text = (DOCS / "simulators" / f"{page}.md").read_text(encoding="utf-8")
    assert re.search(r"\]\(\w+\.svg\)", text), "a plot"
    assert re.search(r"(?m)^## .*([Pp]arameters|[Oo]ptions)", text), "parameters"
    assert re.search(r"Sources?:|## Source|doi|arXiv|[A-Z]\. [A-Z]\w+", text), "source"
    assert f"{page}.md)" in README
    (pictures,) = {tuple(re.findall(r"\]\((\w+\.svg)\)", text))}
    for picture in pictures:
        assert "prefers-color-scheme:dark" in (DOCS / "simulators" / picture).read_text(encoding="utf-8")


def test_the_overview_lists_every_simulator_reason_and_promise() -> None:
    for name in SIMULATORS:
        assert f"`{name}`" in README, name
    for reason, meaning in MEANING.items():
        assert f"| `{reason}` | {meaning} |" in README, reason
    for promise in PROMISES.values():
        assert f"- {promise}\n" in README, promise


def test_every_page_the_overview_names_is_there() -> None:
    for target in re.findall(r"\]\(([\w./]+\.md)\)", README):
        assert (DOCS / "simulators" / target).is_file(), target


def test_the_users_shown_in_the_page_on_protocols_are_built(tmp_path: Path) -> None:
    page = (DOCS / "protocols.md").read_text(encoding="utf-8")
    start = page.index("    turn_limit: 8\n")
    shown = "".join(line[4:] + "\n" for line in page[start : page.index("\nRules, labels", start)].splitlines())
    (tmp_path / "shown.yaml").write_text(f"format: harvest-protocol/1\nname: shown\nversion: 1\n{shown}")
    assert build_users(load_protocol(tmp_path / "shown.yaml")).keys() == {"visitor", "hasty"}


def test_the_simulator_on_the_overview_page_is_a_complete_file_that_keeps_every_promise() -> None:
    whole, typed, test = re.findall(
        r"(?ms)^```python\n(.*?)^```$", README[README.index("## A simulator of your own") :]
    )
    module = ModuleType("my_package.coin")
    sys.modules.update({"my_package": ModuleType("my_package"), "my_package.coin": module})
    try:
        exec(whole, module.__dict__)
        exec(f"from simulators.memory import memory_kind\n{typed}", module.__dict__)
        assert through_json(module.CoinMemory("films", 1)) == module.CoinMemory("films", 1)
        suite: dict[str, Any] = {}
        exec(test, suite)
        suite["test_my_user_conforms"]()
        heads = module.build(module.Options(heads=0.7))
    finally:
        del sys.modules["my_package"], sys.modules["my_package.coin"]
    topic = load_topics("fairweb-45")["M002"]
    rng = Streams(7, ("coin", topic.id, 1))
    action, memory = heads.respond(heads.start(Scenario(topic), rng.at(0)), None, rng.at(1))
    assert action == Say(topic.request, "ask", 1)
    seen = Observation(Answer("Primer"), "o")
    action, _ = heads.respond(memory, seen, rng.at(2))
    assert isinstance(action, Say) is bool(rng.at(2)("act").random() < 0.7)


def test_the_fields_that_the_overview_names_exist() -> None:
    for kind in (Say, Stop, Scenario, Observation, Chance):
        (row,) = re.findall(rf"(?m)^\| `[\w.]+\.{kind.__name__}` \| (.*) \|$", README)
        named = set(re.findall(r"`(\w+)`", row))
        ours = {"detail"} if kind is Stop else set()
        assert {field.name for field in fields(kind)} - ours <= named, kind


def test_the_table_of_the_markov_page_is_a_whole_user() -> None:
    page = (DOCS / "simulators" / "markov.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"(?ms)^```yaml\n(users:.*?)^```$", page)
    user = build_user(parse_document(shown, "markov.md").part(("users", "visitor")))
    assert_conforms(user, [Scenario(load_topics("fairweb-45")["M002"])])


def test_a_step_at_the_end_of_an_axis_is_not_drawn_along_the_frame(drawing: tuple[Any, Any]) -> None:
    plot = sys.modules["plot"]
    lines = [plot.Line("stays", [(0, 1.0), (1, 0.5), (2, 0.2), (3, 0.1)], steps=True)]
    (way,) = re.findall(r'<polyline points="([^"]*)"', plot.drawn(plot.Plot("t", "x", "y", lines, (0, 2), (0, 1))))
    points = [tuple(map(float, point.split(","))) for point in way.split()]
    right = max(x for x, _ in points)
    assert sum(x == right for x, _ in points) == 1
    assert points[-1][1] == points[-2][1], "it stays as high as it was"
