"""The tree of tests/data/stochastic_reference/tree_example.json as arrays, and trees that are drawn at random."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from scoring.measures.relevance import hard_normaliser
from scoring.nuggets import position_weight
from scoring.stochastic.paths import WeightedPaths, accumulate_along, enumerate_paths, reach_probabilities
from tests.support.checkout import DATA

Floats = npt.NDArray[np.float64]

REFERENCE = DATA / "stochastic_reference"
EXAMPLE = json.loads((REFERENCE / "tree_example.json").read_text(encoding="utf-8"))
COVERAGE = json.loads((REFERENCE / "bootstrap_coverage.json").read_text(encoding="utf-8"))


@dataclass(frozen=True, eq=False)
class ScoredTree:
    """Nodes with their part of numerator and denominator; the example's first user turn is certain, and the root."""

    names: tuple[str, ...]
    parent: npt.NDArray[np.int32]
    probability: Floats
    numerators: Floats
    denominators: Floats

    @property
    def paths(self) -> WeightedPaths:
        return enumerate_paths(self.parent, self.probability)

    @property
    def reach(self) -> Floats:
        return reach_probabilities(self.parent, self.probability)

    @property
    def path_numerators(self) -> Floats:
        return accumulate_along(self.parent, self.numerators)[self.paths.ends]

    @property
    def path_denominators(self) -> Floats:
        return accumulate_along(self.parent, self.denominators)[self.paths.ends]

    @property
    def wan(self) -> Floats:
        return self.path_numerators / self.path_denominators

    @property
    def relevance(self) -> Floats:
        return self.path_numerators / hard_normaliser(EXAMPLE["L"])


def example_tree() -> ScoredTree:
    nodes = EXAMPLE["tree"]
    place = {node["id"]: number for number, node in enumerate(nodes)}
    parent = np.array([-1 if node["parent"] is None else place[node["parent"]] for node in nodes], dtype=np.int32)
    words = np.array([node["words"] for node in nodes], dtype=np.float64)
    before = accumulate_along(parent, words) - words
    top, bottom = np.zeros(len(nodes)), np.zeros(len(nodes))
    for number, node in enumerate(nodes):
        for nugget in node["nuggets"]:
            weight = float(position_weight(before[number] + nugget["off"], EXAMPLE["L"]))
            top[number] += weight * nugget["s"]
            bottom[number] += weight
    return ScoredTree(tuple(place), parent, np.array([node["p"] for node in nodes]), top, bottom)


@dataclass(frozen=True, eq=False)
class FairTurns:
    """The turns of the example that hold a relevant nugget, once for each path they are on."""

    path: npt.NDArray[np.intp]
    achieved: Floats
    nuggets: Floats


def example_turns() -> FairTurns:
    nodes = {node["id"]: node for node in EXAMPLE["tree"]}
    path, achieved, counts = [], [], []
    for number, way in enumerate(EXAMPLE["paths"]):
        for name in way["path"]:
            groups = [nugget["g"] for nugget in nodes[name]["nuggets"] if nugget["s"] > 0]
            if groups:
                path.append(number)
                achieved.append(np.mean(groups, axis=0))
                counts.append(len(groups))
    return FairTurns(np.array(path), np.array(achieved), np.array(counts, dtype=np.float64))


@st.composite
def scored_trees(draw: st.DrawFn, *, every_turn_counts: bool = False) -> ScoredTree:
    """Up to 30 nodes; each numerator lies between 0 and its denominator."""
    size = draw(st.integers(1, 30))
    parent = np.array([-1, *(draw(st.integers(0, node - 1)) for node in range(1, size))], dtype=np.int32)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    stay = rng.random(size) * rng.integers(0, 2, size)  # some nodes never end a conversation
    shares = rng.random(size) + 0.01
    taken = np.bincount(parent[1:], weights=shares[1:], minlength=size)
    probability = np.ones(size)
    probability[1:] = shares[1:] / taken[parent[1:]] * (1 - stay[parent[1:]])
    there = np.ones(size, dtype=bool) if every_turn_counts else rng.random(size) < 0.6
    bottom = np.where(there, rng.random(size) * 4 + 0.01, 0.0)
    return ScoredTree(tuple(map(str, range(size))), parent, probability, bottom * rng.random(size), bottom)
