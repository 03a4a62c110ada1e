"""The pages of the probe and the wrappers: what they show was printed by the program, and plots are up to date."""

from __future__ import annotations

import importlib.util
import math
import re
from collections.abc import Callable, Mapping
from statistics import NormalDist
from types import ModuleType

import pytest

from protocols.reading import plain_value
from scoring.measures.signal_detection import signal_detection
from simulators.probing import plan
from simulators.registry import build_user
from simulators.user import Scenario, Streams
from simulators.wrappers import paraphrasing, persona, pressing, reformulating
from simulators.wrappers.changes import CHANGES
from simulators.wrappers.guards import SYNONYMS
from tests.support.checkout import DOCS
from tests.support.clustered_coverage import ROWS, SPREADS
from tests.support.clustered_coverage import row as coverage
from tests.support.talking import TOPIC
from topics.document import StrictModel, parse_document

PAGES = DOCS / "simulators"
OPTIONS: Mapping[str, type[StrictModel]] = {
    "probe": plan.Options,
    "paraphrasing": paraphrasing.Options,
    "persona": persona.Options,
    "pressing": pressing.Options,
    "reformulating": reformulating.Options,
}
NORMAL = NormalDist()


def _page(name: str) -> str:
    return (PAGES / f"{name}.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def plots() -> ModuleType:
    spec = importlib.util.spec_from_file_location("draw_wrappers", PAGES / "draw_wrappers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


LONG = ("paraphrasing", "reformulating")
"""Plots of simulations, which take seconds: a part of each is held to the page below, all under the marker `soak`."""


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.soak] * (name in LONG)) for name in OPTIONS])
def test_the_plot_is_the_one_that_the_program_draws(name: str, plots: ModuleType) -> None:
    figures: Mapping[str, Callable[[], str]] = plots.FIGURES
    assert (PAGES / f"{name}.svg").read_text(encoding="utf-8") == figures[f"{name}.svg"]()
    assert f"]({name}.svg)" in _page(name)


def test_a_line_of_paraphrases_and_a_point_of_reformulations_are_those_that_the_program_draws(
    plots: ModuleType,
) -> None:
    (typos,) = lines_of(plots.paraphrasing(kinds=("typos",)))
    assert typos == lines_of((PAGES / "paraphrasing.svg").read_text(encoding="utf-8"))[0]
    assert typos.count(",") == 5
    kept = lines_of((PAGES / "reformulating.svg").read_text(encoding="utf-8"))
    (point,) = lines_of(plots.reworded(limits=(1,), rates=(0.5,)))
    assert kept[0].split()[2] == point


def lines_of(picture: str) -> list[str]:
    """The points of each line in a picture."""
    return re.findall(r'<polyline points="([^"]+)"', picture)


@pytest.mark.parametrize("name", OPTIONS)
def test_the_page_names_every_option_and_its_example_makes_a_user(name: str) -> None:
    page = _page(name)
    for option in OPTIONS[name].model_fields:
        assert f"`{option}`" in page
    found = re.search(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert found
    document = parse_document(found[1], f"{name}.md")
    users = plain_value(document.value)
    assert isinstance(users, dict)
    for user in users["users"]:
        built = build_user(document.part(("users", user)))
        assert built.name == name
        traits = {"group": "older"} if name == "persona" else {}  # which an audit gives
        built.start(Scenario(TOPIC, traits), Streams(1))


def test_the_paraphrases_of_the_page_are_those_of_the_program() -> None:
    page = _page("paraphrasing")
    examples = re.search(r"```text\n(.*?)```", page, re.DOTALL)
    assert examples
    first, *changed = examples[1].splitlines()
    assert [line.split()[0] for line in changed] == list(CHANGES)
    for line in changed:
        kind, _, said = line.partition(" ")
        rate = 0.5 if kind == "typos" else 1.0
        assert paraphrasing.paraphrase(first, {kind: rate}, Streams(3, ("docs",)))[0] == said.strip()
    assert f"a word of a list of {len(SYNONYMS)}" in page


def test_the_illustrative_table_of_the_page_is_the_one_that_is_played() -> None:
    rows = re.findall(r"^\| `([ox-])` \| (.*) \|$", _page("reformulating"), re.MULTILINE)
    assert [label for label, _ in rows] == list(reformulating.LABELS)
    for label, row in rows:
        shares = dict(zip(reformulating.ACTS, map(float, row.split(" | "))))
        assert {act: p for act, p in shares.items() if p} == dict(reformulating.ILLUSTRATIVE.rows[label])


@pytest.mark.parametrize(("signals", "noises"), [(5, 5), (10, 10), (20, 20), (50, 50), (20, 5), (100, 30)])
def test_the_coverage_of_the_page_is_exact(signals: int, noises: int) -> None:
    ends = {}
    for hits in range(signals + 1):
        for alarms in range(noises + 1):
            interval = signal_detection(hits, signals, alarms, noises).d_prime_interval
            ends[hits, alarms] = interval.low, interval.high
    shares = []
    for d_prime in (0.0, 0.5, 1.0, 2.0, 3.0):
        for criterion in (-1.0, -0.5, 0.0, 0.5, 1.0):
            hit, alarm = NORMAL.cdf(d_prime / 2 - criterion), NORMAL.cdf(-d_prime / 2 - criterion)
            first = [math.comb(signals, k) * hit**k * (1 - hit) ** (signals - k) for k in range(signals + 1)]
            second = [math.comb(noises, k) * alarm**k * (1 - alarm) ** (noises - k) for k in range(noises + 1)]
            shares.append(
                math.fsum(first[k] * second[m] for (k, m), (low, high) in ends.items() if low <= d_prime <= high)
            )
    row = f"| {signals}, {noises} | {sum(shares) / len(shares):.3f} | {min(shares):.3f} |".replace(" 0.", " .")
    assert row in _page("probe")


def test_the_coverage_over_topics_of_the_page_is_that_of_the_simulation() -> None:
    page = _page("probe")
    spread = coverage(5, 4, spreads=SPREADS[:1])  # the line up to here
    assert f"\n{spread[:-2]} |" in page
    for topics, trials in ROWS:
        assert f"| {topics} | {trials} | ." in page


@pytest.mark.soak
@pytest.mark.parametrize(("topics", "trials"), ROWS)
def test_every_row_of_the_coverage_over_topics_is_that_of_the_simulation(topics: int, trials: int) -> None:
    assert coverage(topics, trials) in _page("probe")
