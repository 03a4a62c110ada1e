"""An audit whose users are drawn from a population: by weight, the same on every system, and kept when it goes on."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from harvest.audits.audit import load_audit
from harvest.audits.audit_file import draw_member
from harvest.playing.plan import make_plan
from recordings.log.run_folder import read
from recordings.log.shard import Shard
from tests.support.command_line import harvest
from topics.errors import InputError

HASTY = {"visitor": {"simulator": "random", "leave": 0.8}}
PATIENT = {"visitor": {"simulator": "random", "leave": 0.1}}
POPULATION = {"patient": {"weight": 3, "users": PATIENT}, "hasty": {"weight": 1, "users": HASTY}}


def audit_file(folder: Path, name: str = "audit.yaml", **changes: object) -> str:
    value = {
        "format": "harvest-audit/1",
        "name": "drawn",
        "topics": "fairweb-45",
        "only": ["M001", "M002", "R001"],
        "protocol": "open-ended",
        "trials": 4,
        "systems": [{"name": "A", "driver": "parrot"}, {"name": "B", "driver": "parrot"}],
        "population": POPULATION,
        **changes,
    }
    path = folder / name
    path.write_text(json.dumps({key: part for key, part in value.items() if part is not None}))
    return str(path)


def members(run: Path) -> dict[tuple[str, str, int], str]:
    return {(one.key.system, one.key.topic, one.key.trial): one.member for one in read(run).conversations}


def test_each_member_is_drawn_with_its_share_independently_of_others(tmp_path: Path) -> None:
    audit = load_audit(audit_file(tmp_path))
    drawn = {
        (topic, trial): draw_member(audit.population, 1, topic, trial).name
        for topic in ("M001", "M002")
        for trial in range(1, 2001)
    }
    for topic in ("M001", "M002"):
        hasty = sum(name == "hasty" for (of, _), name in drawn.items() if of == topic)
        assert stats.binomtest(hasty, 2000, 0.25).pvalue > 1e-3
    both = Counter((drawn["M001", trial], drawn["M002", trial]) for trial in range(1, 2001))
    table = [[both[one, other] for other in ("patient", "hasty")] for one in ("patient", "hasty")]
    assert stats.chi2_contingency(table).pvalue > 1e-3
    assert [one.share for one in audit.population] == [0.75, 0.25]


def test_weights_of_any_size_are_scaled_before_they_are_summed(tmp_path: Path) -> None:
    for weights in ((9e307, 1.5e308), (3e-300, 5e-300), (3, 5)):
        population = {
            "patient": {"weight": weights[0], "users": PATIENT},
            "hasty": {"weight": weights[1], "users": HASTY},
        }
        audit = load_audit(audit_file(tmp_path, population=population))
        assert [one.share for one in audit.population] == pytest.approx([0.375, 0.625])


def test_every_system_meets_the_same_user_in_the_same_trial_and_the_user_is_recorded(tmp_path: Path) -> None:
    path = audit_file(tmp_path)
    assert harvest("run", path, "--out", "run", cwd=tmp_path).returncode == 0
    found = members(tmp_path / "run")
    assert set(found.values()) == {"patient", "hasty"}
    for (system, topic, trial), member in found.items():
        assert member == found["A" if system == "B" else "B", topic, trial]
    lengths: dict[str, list[int]] = {"patient": [], "hasty": []}
    for one in read(tmp_path / "run").finished:
        lengths[one.member].append(len(one.turns))
        hazards = {turn.choice.hazard for turn in one.turns[1:] if turn.choice}
        assert hazards <= {0.1 if one.member == "patient" else 0.8}
    assert min(map(len, lengths.values()))
    shown = harvest("show", "run", "--topic", "M001", "--trial", "1", "--system", "A", cwd=tmp_path).stdout
    assert f"· user {found['A', 'M001', 1]} " in shown


def test_a_continued_or_shared_run_draws_the_same_users(tmp_path: Path) -> None:
    path = audit_file(tmp_path)
    assert harvest("run", path, "--out", "whole", cwd=tmp_path).returncode == 0
    few = audit_file(tmp_path, "few.yaml", trials=2)
    assert harvest("run", few, "--out", "on", cwd=tmp_path).returncode == 0
    assert harvest("run", path, "--out", "on", cwd=tmp_path).returncode == 0
    assert members(tmp_path / "on") == members(tmp_path / "whole")
    for number in (1, 2):
        done = harvest("run", path, "--shard", f"{number}/2", "--out", f"part-{number}", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    done = harvest("data", "merge", "part-1", "part-2", "--out", "merged", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert members(tmp_path / "merged") == members(tmp_path / "whole")


def test_changed_weights_or_users_make_another_run(tmp_path: Path) -> None:
    assert harvest("run", audit_file(tmp_path, trials=1), "--out", "run", cwd=tmp_path).returncode == 0
    for number, (changed, said) in enumerate(
        [
            ({**POPULATION, "hasty": {"weight": 2, "users": HASTY}}, "share"),
            (
                {**POPULATION, "hasty": {"weight": 1, "users": {"visitor": {"simulator": "random", "leave": 0.7}}}},
                "leave",
            ),
            ({**POPULATION, "third": {"weight": 1}}, "third"),
            (None, "population"),
        ]
    ):
        other = audit_file(tmp_path, f"other-{number}.yaml", trials=1, population=changed)
        done = harvest("run", other, "--out", "run", cwd=tmp_path)
        assert done.returncode == 2, said
        assert "recorded with different settings" in done.stderr
        assert said in done.stderr
        assert harvest("run", other, "--out", f"other-{number}", cwd=tmp_path).returncode == 0
        done = harvest("data", "merge", "run", f"other-{number}", "--out", f"merged-{number}", cwd=tmp_path)
        assert done.returncode == 2, said
        assert "were recorded with different settings" in done.stderr
    # The same shares in other numbers are the same population.
    same = audit_file(
        tmp_path,
        "same.yaml",
        trials=1,
        population={
            **POPULATION,
            "patient": {"weight": 0.3, "users": PATIENT},
            "hasty": {"weight": 0.1, "users": HASTY},
        },
    )
    assert harvest("run", same, "--out", "run", cwd=tmp_path).returncode == 0


def test_check_says_which_users_the_trials_will_meet(tmp_path: Path) -> None:
    path = audit_file(tmp_path)
    said = harvest("check", path, cwd=tmp_path).stdout
    told = json.loads(harvest("check", path, "--json", cwd=tmp_path).stdout)["population"]
    audit = load_audit(path)
    drawn = Counter(work.member for sitting in make_plan(audit).sittings["A"] for work in sitting.works)
    assert told == {name: {"share": one, "trials": drawn[name]} for name, one in (("patient", 0.75), ("hasty", 0.25))}
    assert f"user hasty: 25.0% of the population, drawn for {drawn['hasty']} trial" in said
    parts = [load_audit(path, shard=Shard(number, 2)) for number in (1, 2)]
    both = [work.member for part in parts for sitting in make_plan(part).sittings["A"] for work in sitting.works]
    assert Counter(both) == drawn


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"population": {"one": {"weight": 1}}}, "a population needs at least two members"),
        ({"population": {"one": {"weight": 1e-17}, "two": {"weight": 1, "users": HASTY}}}, "the weight 1e-17 of 'one'"),
        ({"population": {"one": {"weight": 1e-320}, "two": {"weight": 7e300, "users": HASTY}}}, "no trial would draw"),
        ({"population": {"one": {"weight": 1}, "One": {"weight": 1, "users": HASTY}}}, "members 'one' and 'One'"),
        ({"population": {"one": {"weight": 0}, "two": {"weight": 1}}}, "weight"),
        ({"population": {"one": {"weight": 1}, "two": {"weight": 1}}}, "'one' and 'two' of the population are"),
        ({"population": {"one": {"users": HASTY}, "two": {"weight": 1}}}, "missing key 'weight'"),
        ({"population": {**POPULATION, "x": {"weight": 1, "users": {"guest": {}}}}}, "has no user 'guest'"),
        ({"arms": {"as written": {}, "typos": {"wording": {"typos": 0.3}}}}, "arms or a population, not both"),
    ],
)  # fmt: skip
def test_a_population_that_cannot_be_drawn_is_refused_with_its_place(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        load_audit(audit_file(tmp_path, **changes))
    assert caught.value.place is not None
    assert caught.value.place.line
