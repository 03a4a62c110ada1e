"""Studies in which users fail on one side alone, and nothing else differs: what each study finds then.

Answers after the first are seldom useful, so that conversations which were cut short seem better than they are.
The truth is known: no side is better, and every figure is that of whole conversations.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from harvest.audits.scoring_section import Threshold
from harvest.studies.groups import group_comparison
from harvest.studies.groups.group_comparison import GroupedSystem, compare_groups
from harvest.studies.robustness import robustness as arms
from harvest.studies.robustness.factors import FactorStudy, factor_study
from harvest.studies.robustness.ranking_by_user import RankedPair, ranking_by_user
from harvest.studies.scores.arms import ArmedSystem, GatheredArms
from harvest.studies.scores.bounds import CheckedBound, checked_bounds
from harvest.studies.scores.lost_bounds import lost_bounds
from harvest.studies.scores.scorecard import Material, score_material
from harvest.studies.scores.trial_values import share_values
from harvest.studies.users.populations import Figure, system_figures
from harvest.studies.watch import baseline as blessing
from harvest.studies.watch import watch as watching
from harvest.studies.watch.watched import Watched
from recordings.log.run_folder import Run
from scoring.inference.bootstrap import Resampler
from scoring.inference.matched import Difference
from scoring.library import read_term
from scoring.measures.usefulness import MEAN_USEFUL
from scoring.notation import Term
from scoring.scores import SHIPPED
from scoring.settings import Settings, scoring_settings
from scoring.swan.schema import load_schema
from simulators.outside import Prompt, Sample
from tests.support.failing_users import intended, losing_models, played
from topics.identity import generator

SIDES = ("SYSA", "SYSB")
USEFUL, LATER = (6.0, 1.5), 0.3
# ave%useful of whole conversations of three turns, over topics: four of five first answers are useful.
TRUTH = 0.8 * (1 + 2 * LATER) / 3
LOSSES = tuple(losing_models("", 0))
KEY = (MEAN_USEFUL.name, None)
RUN = cast(Run, SimpleNamespace(path=Path("run"), header=None))


def lost_world(
    seed: int, loss: str, policy: str = "free", *, systems: Sequence[str] = SIDES, rate: float = 0.7
) -> Material:
    """Alike systems, of which those whose names begin with SYSB meet a user that fails."""
    return played(
        seed, policy, losing_models(SIDES[1], seed, rate)[loss], systems=systems, useful=USEFUL, later=LATER, topics=20
    )


def leaving_world(seed: int, after: str, *, rate: float = 0.8, later: float = LATER) -> Material:
    """Alike systems, and a user that leaves after answers of one side that hold these words, where another would have
    gone on. So later answers of this side are few, and come from conversations in which the words were not said."""
    rng = np.random.default_rng((seed, 9))

    def model(prompt: Prompt) -> Sample:
        heard = prompt.messages[-1].text if len(prompt.messages) > 2 else ""
        leaves = heard.startswith(SIDES[1]) and after in heard and rng.random() < rate
        signs = re.findall(r"\[GIVES UP \w+\]", prompt.messages[0].text)
        return Sample(signs[0] if leaves else intended(prompt), "stop")

    material = played(seed, "free", model, useful=USEFUL, later=later, topics=20)
    return replace(material, models={system: {"visitor": {"simulator": "llm", "mode": "free"}} for system in SIDES})


def _armed(material: Material, systems: Sequence[ArmedSystem], factors: Mapping[str, Sequence[str]]) -> GatheredArms:
    settings = Settings()
    (measure,) = read_term(Term(MEAN_USEFUL.name), settings, material.topics, load_schema(SHIPPED))
    values = {name: share_values(name, material) for name in material.systems}
    return GatheredArms(tuple(systems), material, settings, {KEY: measure}, values, (), factors)


def arm_differences(material: Material, patch: pytest.MonkeyPatch) -> arms.MeasureOverArms:
    """One system in two arms, the second of which has the users that fail."""
    patch.setattr(arms, "sources", lambda _: ())
    one = ArmedSystem("S", RUN, {"plain": "SYSA", "twin": "SYSB"}, False, frozenset({"twin"}), "S")
    (found,) = arms.robustness(_armed(material, [one], {}))
    return found.measures[0]


def two_armed() -> tuple[str, ...]:
    """The names of two systems in two arms; the users fail after answers of the second in the second arm."""
    return ("SYSA", "SYSA2", "SYSC", "SYSB")


def armed(material: Material) -> GatheredArms:
    each = [
        ArmedSystem(name, RUN, {"plain": plain, "twin": twin}, False, frozenset({"twin"}), name)
        for name, plain, twin in (("S", "SYSA", "SYSA2"), ("T", "SYSC", "SYSB"))
    ]
    return _armed(material, each, {})


def arm_rankings(material: Material) -> tuple[RankedPair, ...]:
    return ranking_by_user(armed(material))


def crossed_arms() -> tuple[str, ...]:
    """The names of one system by two factors; the users of the second level of the first one fail."""
    return ("SYSA", "SYSC", "SYSB", "SYSB2")


def factor_effects(material: Material) -> FactorStudy:
    levels = {
        f"{mood} + {hand}": {"mood": mood, "hand": hand} for mood in ("calm", "hasty") for hand in ("clean", "messy")
    }
    names = dict(zip(levels, crossed_arms(), strict=True))
    one = ArmedSystem("S", RUN, names, False, of="S", levels=levels)
    found = factor_study(_armed(material, [one], {"mood": ("calm", "hasty"), "hand": ("clean", "messy")}))
    assert found is not None
    return found


def group_difference(material: Material, patch: pytest.MonkeyPatch) -> Difference:
    """Two groups, of which the second has the users that fail."""
    patch.setattr(group_comparison, "gather_runs", lambda _: SimpleNamespace(material=material))
    one = GroupedSystem("S", RUN, {"younger": "SYSA", "older": "SYSB"}, (), False)
    (found,) = compare_groups([one], measures=[Term(MEAN_USEFUL.name)])
    return found.differences[KEY, "older"]


def as_population(material: Material) -> Material:
    """One system whose users are drawn from two members, of which the second fails."""

    def of_one(system: str, trial: int) -> int:
        return 2 * trial - (system == SIDES[0])

    conversations = tuple(
        replace(
            one,
            key=replace(one.key, system="S", trial=of_one(one.key.system, one.key.trial)),
            member="plain" if one.key.system == SIDES[0] else "twin",
        )
        for one in material.conversations
    )
    turns = {("S", topic): most for (_, topic), most in material.turns.items()}
    return replace(
        material,
        systems=("S",),
        conversations=conversations,
        turns=turns,
        planned=frozenset(one.key for one in conversations),
    )


def population_figures(material: Material, seed: int) -> list[Figure]:
    (measure,) = read_term(Term(MEAN_USEFUL.name), Settings(), material.topics, load_schema(SHIPPED))
    resampler = Resampler(generator(seed, "population"), replications=200, level=0.95)
    shares = {"plain": 0.5, "twin": 0.5}
    return system_figures("S", shares, material, {KEY: measure}, share_values("S", material), resampler)[1]


def threshold(material: Material, system: str, **bound: Any) -> CheckedBound:
    """What becomes of a threshold of ave%useful."""
    of = Threshold(measure=MEAN_USEFUL.name, system=system, **bound)
    terms = [Term(MEAN_USEFUL.name)]
    table = score_material(material, measures=terms, only=True)
    lost = lost_bounds(material, lambda filled, _: score_material(filled, measures=terms, only=True))
    (found,) = checked_bounds([of], table, material.topics, lost=lost)
    return found


def watched(before: Sequence[Material], now: Material, patch: pytest.MonkeyPatch) -> Watched:
    """`now` held against the baseline of `before`, of one system."""
    runs = {f"run{number}": one for number, one in enumerate((*before, now))}
    for module in (blessing, watching):
        patch.setattr(module, "gather_runs", lambda given: _gathered(given, runs))
        patch.setattr(module, "recorded_scoring", lambda _: {}, raising=False)
    patch.setattr(blessing, "sources", lambda given: [{} for _ in given])
    patch.setattr(blessing, "recorded_audit", lambda _: {"name": "lost"})
    made = [cast(Run, _run(name, number)) for number, name in enumerate(runs)]
    blessed = blessing.make_baseline(made[:-1], measures=[], by="", at="2026-01-01T00:00:00Z")
    return watching.watch(made[-1], blessed)


def _gathered(given: Any, each: Mapping[str, Material]) -> Any:
    """What a study asks of runs that are nothing but their names."""
    if isinstance(given, Sequence):
        return SimpleNamespace(runs=given)
    material = each[given.path.name]
    settings = scoring_settings(material.scoring, material.topics, material.gold)
    return SimpleNamespace(runs=(given,), material=material, settings=settings)


def _run(name: str, day: int) -> Any:
    at = (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=day)).isoformat()
    header = SimpleNamespace(created_at=at, hashes={"protocol": "p"}, audit={"name": "lost"}, systems={})
    return SimpleNamespace(path=Path(name), header=header)


def only(material: Material, system: str, name: str = "S") -> Material:
    """One system of it, by another name."""
    conversations = tuple(
        replace(one, key=replace(one.key, system=name)) for one in material.conversations if one.key.system == system
    )
    turns = {(name, topic): most for (_, topic), most in material.turns.items()}
    planned = frozenset(one.key for one in conversations)
    return replace(material, systems=(name,), conversations=conversations, turns=turns, planned=planned)


def holds(one: Any, truth: float) -> bool:
    """Whether an interval that is printed holds the truth; one that is withheld says nothing wrong."""
    return not one.is_defined or one.low - 1e-9 <= truth <= one.high + 1e-9
