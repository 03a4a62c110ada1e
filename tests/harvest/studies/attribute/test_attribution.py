"""Whose change it was: one thing is changed between two audits, and has the largest share of the difference."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.cli.main import main
from harvest.studies.attribute.attribution import study_attribution
from harvest.studies.attribute.figures import _sentence, _with_interval, attribution_tables
from harvest.studies.scores import gathered
from recordings.conversations.conversation import Conversation, Outcome
from recordings.log.run_folder import read
from scoring.inference.attribution import SOURCES, TrialValues, attribute
from scoring.notation import parse_all
from tests.support.changed_worlds import CHANGES, two_audits
from topics.errors import InputError
from topics.identity import generator

KEY = ("%useful", 1)

_values = st.sampled_from([0.0, 0.25, 1.0, math.nan])
_trials = st.lists(
    st.builds(TrialValues, _values, _values, _values, _values, st.sampled_from([("a",), ("b",)])), max_size=4
)
_sides = st.dictionaries(st.sampled_from("PQRST"), _trials)


@given(before=_sides, after=_sides, other=st.booleans())
def test_shares_add_up_to_the_difference_or_there_are_none(before: object, after: object, *, other: bool) -> None:
    found = attribute(before, after, same_topics="PQRS", other_users=other, level=0.95, reach=1.0)  # type: ignore[arg-type]
    assert set(found.shares) == set(found.intervals) == set(SOURCES)
    if not found.topics:
        assert all(map(math.isnan, found.shares.values()))
        return
    assert math.fsum(found.shares.values()) == pytest.approx(found.difference, abs=1e-9)
    if not other:
        assert found.shares["users"] == 0
    for source, interval in found.intervals.items():
        assert math.isnan(interval.low) or interval.low <= found.shares[source] <= interval.high


@pytest.mark.parametrize("values", [(0.1, 0.2, 0.3), (0.7, 0.1, 0.6), (1234.1, 0.3, 17.7)])
def test_if_nothing_changed_no_share_is_left_over_by_rounding(values: tuple[float, ...]) -> None:
    """The same answers in another order of topics, and in thirds that no sum gets right."""
    side = {topic: [TrialValues(one, one / 3, one / 7, one / 11)] * 3 for topic, one in zip("PQR", values)}
    mean = math.fsum(values) / 3
    more = {**side, "S": [TrialValues(mean, mean, mean, mean)]}
    for before, after in ((side, dict(reversed(side.items()))), (side, more)):
        found = attribute(before, after, same_topics="PQR", other_users=False, level=0.95, reach=1.0)
        assert found.shares == dict.fromkeys(SOURCES, 0.0)
        assert found.largest_source == ""
        said = _sentence(found, ("R", None)) + _sentence(found, KEY)
        assert "-0" not in said
        assert said.count("Nothing changed.") == 2
        assert [_with_interval(found, source, KEY) for source in SOURCES] == ["none"] * 5


def test_an_interval_of_a_share_allows_for_unasked_topics() -> None:
    """One topic of ten fell, and 15 were asked: a t interval over these topics covered .80."""
    covered = 0
    for number in range(200):
        rng = generator(number, "rare change")
        after = np.where(rng.random(15) < 0.1, 0.0, 0.8 + rng.choice([-0.04, 0.0, 0.04], 15))
        sides = [
            {f"T{place}": [TrialValues(one, one, one, one)] for place, one in enumerate(side)}
            for side in ([0.8] * 15, after.tolist())
        ]
        found = attribute(*sides, same_topics=list(sides[0]), other_users=False, level=0.95, reach=1.0)
        covered += found.intervals["system"].low <= -0.08 <= found.intervals["system"].high
    assert covered >= 0.95 * 200


@pytest.mark.parametrize("changed", CHANGES)
def test_the_changed_part_has_the_largest_share(changed: str, tmp_path: Path) -> None:
    found = study_attribution(*two_audits(tmp_path, CHANGES[changed], 0)).systems[0].each[KEY]
    assert found.largest_source == changed
    if changed == "reading":
        assert abs(found.shares["system"]) < abs(found.shares["reading"]) / 2


@pytest.mark.soak
@pytest.mark.parametrize("changed", CHANGES)
def test_in_a_hundred_pairs_of_audits_it_is_found_in_ninety_five(changed: str, tmp_path: Path) -> None:
    right = 0
    for seed in range(100):
        one = study_attribution(*two_audits(tmp_path / str(seed), CHANGES[changed], seed)).systems[0].each[KEY]
        assert math.fsum(one.shares.values()) == pytest.approx(one.difference, abs=1e-9)
        right += one.largest_source == changed
    assert right >= 95


def test_people_read_a_sentence_and_the_shares(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    two_audits(tmp_path, CHANGES["reading"], 0)
    with pytest.raises(SystemExit) as done:
        main(["attribute", str(tmp_path / "before/run"), str(tmp_path / "after/run"), "-m", "%useful S1"])
    assert done.value.code == 0
    out = capsys.readouterr().out
    said = " ".join(out.split())
    assert "From 78.7% to 45.3%: -33.3 points. -37.3 points of it is the reading of pages." in said
    assert "users none" in said
    assert "pages were read otherwise than today" in said
    assert max(map(len, out.splitlines())) <= 80


def test_users_who_never_said_the_same_words_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    two_audits(tmp_path, CHANGES["users"], 0)
    with pytest.raises(SystemExit):
        main(["attribute", str(tmp_path / "before/run"), str(tmp_path / "after/run")])
    said = " ".join(capsys.readouterr().out.split())
    assert "users changed, and in 15 topics they never said the same words" in said


def test_a_part_that_is_not_in_both_runs_is_refused_in_words(tmp_path: Path) -> None:
    before, after = two_audits(tmp_path, CHANGES["system"], 0, topics=3, trials=2)
    with pytest.raises(InputError, match="no system called 'pge' is in both runs"):
        study_attribution(before, after, systems=["pge"])
    for measure in ("%recovery", "CVaR(R)"):
        with pytest.raises(InputError, match="a single one has no value of it"):
            study_attribution(before, after, measures=parse_all(measure))
    with pytest.raises(InputError, match="the same run is given twice"):
        study_attribution(before, before)


def test_rows_have_the_same_keys_and_every_form_the_same_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    two_audits(tmp_path, replace(CHANGES["rules"], hard=2), 0)
    runs = [str(tmp_path / "before/run"), str(tmp_path / "after/run")]
    with pytest.raises(SystemExit):
        main(["attribute", *runs, "--json"])
    document = json.loads(capsys.readouterr().out)
    assert document["format"] == "harvest-attribution/2"
    values = {(row["measure"], row["figure"]): row["estimate"] for row in document["long"]}
    for measure in ("%useful", "ave%useful"):
        shares = [values[measure, f"share of {source}"] for source in SOURCES]
        assert math.fsum(shares) == pytest.approx(values[measure, "difference"], abs=1e-9)
    assert document["coverage"]["page"][0] == {"planned": 75, "valid": 75, "lost": 0}
    for form in ("--csv", "--latex"):
        with pytest.raises(SystemExit):
            main(["attribute", *runs, form])
        assert "share of rules" in capsys.readouterr().out


@pytest.mark.parametrize(
    "only", [("--topics", "M001,M002,M003,R001,R002,R003,Y001,Y002,Y003"), pytest.param((), marks=pytest.mark.soak)]
)
def test_the_shipped_demo_compared_with_itself_has_no_difference_to_share(
    tmp_path: Path, only: tuple[str, ...]
) -> None:
    for name in ("one", "two"):
        with pytest.raises(SystemExit):
            main(["run", "demo", "--trials", "2", *only, "--out", str(tmp_path / name)])
    study = study_attribution(read(tmp_path / "one"), read(tmp_path / "two"))
    assert not study.harness
    for system in study.systems:
        for one in system.each.values():
            assert one.shares == dict.fromkeys(SOURCES, 0.0)
            assert one.largest_source == ""


def test_a_difference_that_failing_users_may_have_caused_is_not_attributed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = two_audits(tmp_path, CHANGES["system"], 0)
    (whole,) = study_attribution(before, after).systems
    assert whole.cut_short == ()
    outcome = Outcome("user-stopped", "no-words")
    cut = tuple(
        replace(one, outcome=outcome, turns=one.turns[:1]) if one.key.trial % 2 else one for one in after.conversations
    )
    monkeypatch.setitem(after.__dict__, "conversations", cut)
    after.__dict__.pop("finished", None)
    # Of two turns, of which the second is not known.
    monkeypatch.setattr(gathered, "most_turns", lambda header, finished: dict.fromkeys(_places(finished), 2))
    study = study_attribution(before, after, measures=parse_all("ave%useful, %useful S1"))
    (part,) = study.systems
    said, first = part.each["ave%useful", None], part.each[KEY]
    assert first.intervals == whole.each[KEY].intervals, "every first answer is known"
    assert not any(one.is_defined for one in said.intervals.values())
    assert _sentence(said, ("ave%useful", None)).endswith("No part of it can be told from what was lost.")
    told = " ".join(str(one) for one in attribution_tables(study))
    assert "now 45 of 75 conversations were cut short by a failure of the user (no-words x 45)" in told


def _places(finished: Iterable[Conversation]) -> set[tuple[str, str]]:
    return {(one.key.system, one.key.topic) for one in finished}
