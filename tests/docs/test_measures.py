"""docs/measures.md: its examples are what the program prints, and it names every measure, setting and key."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

from scoring.divergences import DIVERGENCES
from scoring.scores import score
from scoring.settings import Settings
from scoring.table import ScoreRow
from tests.support.checkout import DOCS
from tests.support.scoring_examples import M002, paper_b1, paper_g1, paper_gold, topic_set

PAGE = DOCS / "measures.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_the_examples_are_what_the_program_prints() -> None:
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert (failed, tried > 5) == (0, True)


@pytest.mark.parametrize("name", [*Settings.__dataclass_fields__, *ScoreRow.__dataclass_fields__])
def test_every_setting_and_every_key_of_a_row_is_named(name: str) -> None:
    assert f"`{name}`" in TEXT


def test_every_measure_is_named() -> None:
    table = score([paper_b1(), paper_g1()], topic_set(M002), paper_gold(), Settings(), np.random.default_rng(1))
    written = {row.measure.replace("RATINGS", "SET").replace("ORIGIN", "SET") for row in table.rows}
    for name in written:
        shown = name if "_cum" not in name else name.split("(")[0].replace("GFR_cum", "GF_cum")
        shown = shown.replace("DistrSim_cum", "DistrSim").replace("DistrSim(SET, by=NMD)", "DistrSim(SET)")
        assert f"`{shown}" in TEXT, name


def test_the_defaults_in_the_table_are_the_defaults() -> None:
    settings = Settings()
    for name in ("patience", "ordinal", "irrelevant", "turn_weight", "replications", "resample", "shares"):
        assert f"| `{name}` | {getattr(settings, name)} |" in TEXT
    for name in ("alpha", "level"):
        assert f"| `{name}` | {str(getattr(settings, name)).removeprefix('0')} |" in TEXT
    for name in ("JSD", "NMD", "RNOD", "RSNOD", "RNSS", "VD"):
        assert name in DIVERGENCES
        assert f"| `{name}` |" in TEXT
