"""Factors of an audit: every combination is an arm, options of one user are changed one by one, and groups go along."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from harvest.audits.audit import Audit, load_audit
from harvest.playing.play import play
from harvest.studies.groups.group_comparison import compare_groups, grouped_systems
from harvest.studies.robustness.factors import ARM, GROUP, factor_study
from harvest.studies.robustness.ranking_by_user import ranking_by_user
from harvest.studies.scores.arms import armed_systems, gather_arms
from recordings.log.run_folder import Run
from tests.harvest.audits.test_arms import audit_file
from tests.harvest.audits.test_groups import GROUPS
from tests.support.command_line import harvest
from topics.errors import InputError

FACTORS = {
    "manners": {"plain": {}, "polite": {"wording": {"politeness": 1}}},
    "form": {"sentences": {}, "keywords": {"wording": {"keywords": 1}}},
}
TOPICS = [f"{kind}{number:03d}" for kind in "MRY" for number in range(1, 6)]
TALK = """\
format: harvest-protocol/1
name: talk
version: 1
start: talk
turn_limit: 4
users:
  visitor:
    simulator: reformulating
    over: {simulator: agenda, requests: ["{{ topic.request }}"], patience: 3, cooperativeness: 0.9, stop: null}
states:
  talk: {user: visitor, edges: [{otherwise: true, label: o, go: talk}]}
"""


def loaded(folder: Path, factors: object, **changes: object) -> Audit:
    (folder / "talk.yaml").write_text(TALK)
    return load_audit(audit_file(folder, **{"arms": None, "factors": factors, "protocol": "talk.yaml", **changes}))


def users(audit: Audit) -> dict[str, dict[str, object]]:
    return {arm.name: dict(arm.protocol.users["visitor"].options) for arm in audit.arms}


def test_every_combination_is_an_arm_and_the_first_levels_are_the_control(tmp_path: Path) -> None:
    factors: dict[str, dict[str, object]] = {
        "patience": {"patient": {}, "hasty": {"users": {"visitor": {"over": {"patience": 0}}}}},
        "cooperation": {"willing": {}, "unwilling": {"users": {"visitor": {"over": {"cooperativeness": 0.2}}}}},
        "skill": {"skilled": {}, "unskilled": {"wording": {"typos": 0.1}}, "terse": {"wording": {"keywords": 0.5}}},
    }
    audit = loaded(tmp_path, factors)
    assert len(audit.arms) == 12
    assert audit.arms[0].name == "patient + willing + skilled"
    assert audit.factors == {name: [*own] for name, own in factors.items()}
    over = users(audit)["hasty + unwilling + terse"]["over"]
    assert isinstance(over, dict)
    assert (over["patience"], over["cooperativeness"], len(over["requests"]), over["stop"]) == (0, 0.2, 1, None)
    assert users(audit)["patient + willing + skilled"]["over"] == users(audit)["patient + willing + terse"]["over"]
    one = next(arm for arm in audit.arms if arm.name == "hasty + unwilling + terse")
    assert one.definition["wording"] == {"keywords": 0.5}
    played = {system.name: system.definition() for system in audit.played}
    levels = {"patience": "hasty", "cooperation": "unwilling", "skill": "terse"}
    assert played["A [hasty + unwilling + terse]"]["levels"] == levels


def test_another_simulator_starts_from_no_options(tmp_path: Path) -> None:
    audit = loaded(tmp_path, {"user": {"usual": {}, "other": {"users": {"visitor": {"simulator": "random"}}}}})
    assert users(audit)["other"] == {}


@pytest.mark.parametrize(
    ("factors", "words"),
    [
        ({"one": {"a": {}}}, "the factor 'one' needs at least two levels, but has only one"),
        ({"one": {"a": {}, "b": {}}}, "the levels 'a' and 'b' of 'one' are the same"),
        (
            {"one": {"a": {}, "b": {"wording": {"typos": 0.1}}}, "two": {"c": {}, "d": {"wording": {"typos": 0.2}}}},
            "two factors change wording.typos: 'one' and 'two'",
        ),
        (
            {"one": {"a": {}, "b": {"users": {"visitor": {"over": {"patients": 1}}}}}},
            "did you mean 'patience'?",
        ),
        ({"one": {"a": {}, "b": {"users": {"nobody": {"simulator": "random"}}}}}, "has no user 'nobody'"),
        (
            {f"f{number}": {f"a{number}": {}, f"b{number}": {"wording": {"typos": 0.1}}} for number in range(7)},
            "the factors have 128 combinations",
        ),
    ],
)
def test_unplayable_factors_are_refused_at_their_place(tmp_path: Path, factors: object, words: str) -> None:
    with pytest.raises(InputError) as fault:
        loaded(tmp_path, factors)
    assert words in str(fault.value)
    assert fault.value.place is not None
    assert Path(fault.value.place.path).name == "audit.yaml"


def test_arms_and_factors_exclude_each_other(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="arms or factors, not both"):
        load_audit(audit_file(tmp_path, factors=FACTORS))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("factors")
    return play(load_audit(audit_file(folder, arms=None, factors=FACTORS, only=TOPICS)), folder / "run")


def test_the_factor_that_breaks_the_systems_is_found_and_no_interaction_is(run: Run) -> None:
    study = factor_study(gather_arms(run))
    assert study is not None
    assert study.levels == {"manners": ("plain", "polite"), "form": ("sentences", "keywords")}
    assert [one.name for one in study.effects] == ["A", "B", "A − B"]
    for one in study.effects[:2]:
        found = [effect for effect, own in one.effects.items() if own.beyond]
        assert found == [(("form", "keywords"),)]
        own = one.effects[("form", "keywords"),]
        assert own.interval.low < own.value < own.interval.high < 0
        assert own.n == len(TOPICS) * 3
    assert not any(own.beyond for own in study.effects[2].effects.values())
    assert study.family == 9
    assert factor_study(gather_arms(run)) == study, "one seed, one result"


def test_the_command_prints_effects_and_rows(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    done = harvest("robustness", run.path)
    shown = " ".join(done.stdout.split())
    assert "A, ave%useful, by factor found to matter: form keywords: -" in shown
    assert "cannot tell whether manners or form matters" in shown, "of A - B"
    assert "manners polite x form keywords" in shown
    assert "p corrected over all 9 effects shown (Holm)" in shown
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    document = json.loads(harvest("robustness", run.path, "--json").stdout)
    rows = [row for row in document["long"] if row["figure"].startswith(("main", "inter")) and row["system"] == "A"]
    assert [(row["figure"], row["verdict"]) for row in rows if row["other"] is None] == [
        ("main effect: manners polite", "not found"),
        ("main effect: form keywords", "found"),
        ("interaction: manners polite x form keywords", "not found"),
    ]
    assert set(document["factors"]) == {"manners", "form"}
    csv = harvest("robustness", run.path, "--csv").stdout
    assert "main effect: form keywords" in csv
    assert len(document["long"]) == len(csv.splitlines()) - 1
    checked = harvest("check", run.path.parent / "audit.yaml")
    assert "plain + keywords: 45" in checked.stdout


@pytest.fixture(scope="module")
def grouped(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Plain arms with groups besides: the parrot knows no wording but the topic's own, so keywords break it."""
    folder = tmp_path_factory.mktemp("grouped")
    arms = {"as written": {}, "keywords": {"wording": {"keywords": 1}}}
    changes = {"protocol": "fair-treatment", "groups": list(GROUPS), "arms": arms, "only": TOPICS[:8], "trials": 2}
    return play(load_audit(audit_file(folder, **changes)), folder / "run")


def test_groups_and_arms_can_be_combined(grouped: Run) -> None:
    names = {one.key.system for one in grouped.finished}
    assert names == {
        f"{name} [{group}] [{arm}]" for name in "AB" for group in GROUPS for arm in ("as written", "keywords")
    }
    assert len(grouped.finished) == 16 * 8 * 2
    armed = armed_systems(grouped)
    assert [(one.name, one.of, one.group) for one in armed[:2]] == [
        ("A [older]", "A", "older"),
        ("A [older-again]", "A", "older-again"),
    ]
    assert {one.name for one in grouped_systems([grouped])} == {
        f"{name} [{arm}]" for name in "AB" for arm in ("as written", "keywords")
    }
    assert all(one.nulls for one in grouped_systems([grouped]))
    assert len(compare_groups(grouped_systems([grouped]))) == 4


def test_check_names_each_group_in_each_arm_once(grouped: Run) -> None:
    shown = " ".join(harvest("check", grouped.path.parent / "audit.yaml").stdout.split())
    (first, second) = re.findall(r" of (older in .*?) (?=B: |null pairs: )", shown)
    named = [one.partition(":")[0] for one in first.split(", ")]
    assert named == [f"{group} in {arm}" for group in GROUPS for arm in ("as written", "keywords")]
    assert first == second


def test_groups_are_a_factor_in_addition_to_the_arms(grouped: Run) -> None:
    study = factor_study(gather_arms(grouped))
    assert study is not None
    assert study.levels == {ARM: ("as written", "keywords"), GROUP: GROUPS}
    (one, *_) = study.effects
    assert len(one.effects) == 1 + 3 + 3
    ranked = ranking_by_user(gather_arms(grouped))
    assert {(pair.found.first, pair.found.second) for pair in ranked} == {
        (f"A [{group}]", f"B [{group}]") for group in GROUPS
    }


def test_a_run_that_only_has_arms_has_no_factors(tmp_path: Path) -> None:
    run = play(load_audit(audit_file(tmp_path)), tmp_path / "run")
    assert factor_study(gather_arms(run)) is None


@pytest.mark.parametrize(
    ("factors", "names"),
    [
        ({"f": {"x": {}, "x + y": {}}, "g": {"y + z": {}, "z": {}}}, "'x' and 'y + z' and 'x + y' and 'z'"),
        ({"f": {"calm": {}, "Calm": {}}}, "levels of 'f' 'calm' and 'Calm'"),
        ({"f": {"calm": {}, "calm ": {}}}, "levels of 'f' 'calm' and 'calm '"),
        ({"mood": {"calm": {}, "angry": {}}, "Mood": {"a": {}, "b": {}}}, "factors 'mood' and 'Mood'"),
    ],
)
def test_levels_whose_arms_have_the_same_name_are_refused(tmp_path: Path, factors: object, names: str) -> None:
    changed = {"wording": {"typos": 0.1}}
    for place, own in enumerate(dict(factors).values()):  # type: ignore[call-overload]
        own[list(own)[1]] = changed if not place else {"wording": {"case": 0.1}}
    with pytest.raises(InputError, match=r"the same name|differ only") as refused:
        loaded(tmp_path, factors)
    assert names in refused.value.what
    assert refused.value.place is not None
    assert refused.value.place.line
