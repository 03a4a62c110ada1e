"""Plans of few simulated studies: the usual thousand of each design take nearly all the time of a test, and most tests
ask what a plan says, assumes or costs. Those that ask for a power or for the time it takes use `all_studies`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harvest.studies.plan import differences, nodes
from scoring.stochastic import node_power

_FEW = 100
_USUAL = (differences._STUDIES, differences._FEWEST_STUDIES, node_power._MOST_TESTED)


def _simulate(patch: pytest.MonkeyPatch, studies: int, fewest: int, tested: int) -> None:
    for module in (differences, nodes):
        patch.setattr(module, "_STUDIES", studies)
        patch.setattr(module, "_FEWEST_STUDIES", fewest)
    patch.setattr(node_power, "_MOST_TESTED", tested)


@pytest.fixture(scope="module", autouse=True)
def few_studies() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        _simulate(patch, _FEW, _FEW, _FEW // 4)
        yield


@pytest.fixture
def all_studies(few_studies: None, monkeypatch: pytest.MonkeyPatch) -> None:
    _simulate(monkeypatch, *_USUAL)
