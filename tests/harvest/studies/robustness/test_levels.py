"""Levels of a design compared within systems, and systems within levels."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from harvest.report.document import make_report
from harvest.studies.robustness.factors import factor_study
from harvest.studies.robustness.levels import LevelDifference, LevelStudy, level_study
from harvest.studies.scores.arms import GatheredArms, gather_arms
from recordings.log.run_folder import read
from scoring.inference.losses import Gain, SideWithLosses
from scoring.inference.matched import compare_family, contrast
from tests.support.command_line import harvest

AUDIT = """\
format: harvest-audit/1
name: news
topics: questions.csv
protocol: seed-turns
trials: 2
design:
  languages: [en, de, fr]
  templates: {plain: "{question}", twice: "{question} {question}"}
systems:
  - {name: A, driver: python, options: {function: "bot.py:german"}}
  - {name: B, driver: python, options: {function: "bot.py:always"}}
"""
BOT = """\
def german(text):
    return "" if text.startswith("Wer") and "?" in text else "Everybody."


def always(text):
    return "Everybody."
"""


@pytest.fixture(scope="module")
def armed(tmp_path_factory: pytest.TempPathFactory) -> GatheredArms:
    folder = tmp_path_factory.mktemp("levels")
    rows = [f"Q{n},Who votes in {n}?,Wer wählt in {n}?,Qui vote à {n} ?" for n in range(30)]
    (folder / "questions.csv").write_text("\n".join(("id,question,question:de,question:fr", *rows)), encoding="utf-8")
    (folder / "bot.py").write_text(BOT)
    (folder / "audit.yaml").write_text(AUDIT)
    assert harvest("run", "audit.yaml", "--out", "run", cwd=folder).returncode == 0
    return gather_arms(read(folder / "run"))


@pytest.fixture(scope="module")
def study(armed: GatheredArms) -> LevelStudy:
    found = level_study(armed)
    assert found is not None
    return found


def by_name(study: LevelStudy) -> Mapping[str, LevelDifference]:
    return {one.name: one for one in study.differences}


def test_every_difference_is_computed_once_and_corrected_with_all_others(study: LevelStudy) -> None:
    # within each system: 3 pairs of languages and 1 of templates; A − B within 3 languages and 2 templates
    assert len(study.differences) == study.family == 2 * (3 + 1) + 3 + 2
    found = by_name(study)
    assert found["A: de − en"].found.value == -1.0
    assert found["A: fr − de"].found.value == 1.0
    assert found["language de: A − B"].found.value == -1.0
    assert {name for name, one in found.items() if one.found.beyond} == {
        *("A: de − en", "A: fr − de", "language de: A − B", "template plain: A − B", "template twice: A − B"),
    }


def test_a_level_compared_with_the_first_is_its_main_effect(armed: GatheredArms, study: LevelStudy) -> None:
    effects = factor_study(armed)
    assert effects is not None
    own = next(one for one in effects.effects if one.system == "A" and not one.other)
    main, mine = own.effects[(("language", "de"),)], by_name(study)["A: de − en"].found
    assert (main.value, main.n, main.interval.low, main.interval.high) == (
        *(mine.value, mine.n, mine.interval.low, mine.interval.high),
    )


def test_the_command_prints_and_writes_them(armed: GatheredArms) -> None:
    run = armed.systems[0].run.path
    told = harvest("robustness", run, cwd=Path(run).parent, width=160).stdout
    assert "ave%useful: language, within each system" in told
    assert "found to differ: language de: A − B" in told
    rows = harvest("robustness", run, "--json", cwd=Path(run).parent)
    assert "language de minus en" in json.dumps(json.loads(rows.stdout), ensure_ascii=False)


def test_similar_systems_are_seldom_told_apart() -> None:
    """30 topics with rare failures that hang together by topic: any of 2 x 6 + 4 differences is found in at most 5%."""
    rng = np.random.default_rng(3)
    topics = [f"T{n}" for n in range(30)]
    wrong = 0
    for _ in range(40):
        chance = rng.beta(4.5, 0.5, size=(len(topics), 1, 1, 1))  # topics differ; systems and languages do not
        values = (rng.random((len(topics), 2, 4, 3)) < chance).astype(float)

        def cell(system: int, language: int, place: int, values: np.ndarray = values) -> Gain:
            own = {(topic, 1): (float(values[t, system, language, place]), 1.0) for t, topic in enumerate(topics)}
            return Gain(SideWithLosses(own))

        levels = {(one, at): [cell(one, at, place) for place in range(3)] for one in range(2) for at in range(4)}
        pairs = [((one, a), (one, b)) for one in range(2) for a in range(4) for b in range(a)]
        pairs += [((0, a), (1, a)) for a in range(4)]
        each = [contrast(topics, levels[b], levels[a], rng, level=0.95, reach=1.0) for a, b in pairs]
        wrong += any(one.beyond for one in compare_family(each, [float("nan")] * len(each), level=0.95))
    assert wrong <= 5  # P(more than 5 of 40 | 5%) = .01


def test_a_report_on_a_design_leads_with_its_levels(armed: GatheredArms) -> None:
    run = armed.systems[0].run
    document = make_report([run], beside=run.path).document
    told = document["finding"]
    assert told["verdict"] == "measured"
    assert told["found"].startswith("Within systems, A: de − en is -100.0 points [")
    assert " and A: fr − de is +100.0 points [" in told["found"]
    assert (
        "Of 5 differences in ave%useful between systems within levels, 3 are found: language de: A − B is -100.0"
        in told["drives"]
    )
    assert "corrected over all 13 differences" in told["scope"]
    assert told["command"] == "harvest robustness run"
    assert document["sections"][0]["title"] == "Levels of the design"
