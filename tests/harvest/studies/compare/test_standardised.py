"""`harvest compare --standardise`: what is added, relative to which systems, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harvest.studies.compare.comparison import compare_runs
from tests.harvest.studies.compare.test_comparison import drawn, recorded
from tests.support.command_line import harvest
from tests.support.study_rows import figures
from topics.errors import InputError

LABELS = {
    "A": {"M01": ["oo"], "M02": ["ox"], "C03": ["oo"], "C04": ["oo"]},
    "B": {"M01": ["ox"], "M02": ["xx"], "C03": ["oo"], "C04": ["ox"]},
    "C": {"M01": ["xx"], "M02": ["xx"], "C03": ["oo"], "C04": ["!"]},
    "D": {"M01": ["ox"], "M02": ["ox"], "C03": ["oo"], "C04": ["!"]},
}
"""ave%useful is 1, .5, 0, .5 on M01 (sd √(1/6)) and .5, 0, 0, .5 on M02 (sd √(1/12)); it is equal on C03, and of two
systems on C04."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("standardised") / "run", LABELS)


def compared(run: Path, *options: str) -> dict[str, Any]:
    done = harvest("compare", run, "-m", "ave%useful", "--json", *options)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_standardised_figures_follow_those_of_the_scores_and_agree_with_a_hand_calculation(run: Path) -> None:
    document = compared(run, "--standardise", "std-AB", "--systems", "A,B")
    assert document["standardised"] == {"form": "std-AB", "systems": ["A", "B", "C", "D"]}
    plain, made = document["measures"]
    assert (plain["measure"], made["measure"]) == ("ave%useful", "std-AB(ave%useful)")
    assert made["topics_left_out"] == ["C03", "C04"]
    assert document["notes"] == [
        "std-AB(ave%useful): no value on 1 topic with scores of fewer than 3 systems of the reference and 1 topic on "
        "which all systems of the reference have the same score"
    ]
    half = [0.15 * 0.5 * 6**0.5, 0.15 * 0.25 * 12**0.5]
    systems = {row["system"]: row["estimate"] for row in figures(document, "system", measure="std-AB(ave%useful)")}
    assert systems == pytest.approx({"A": 0.5 + sum(half) / 2, "B": 0.5 - half[1] / 2})
    (row,) = figures(document, "difference", measure="std-AB(ave%useful)")
    assert (row["estimate"], row["unit"], row["topics"]) == (pytest.approx(half[0] / 2 + half[1]), "value", 2)


def test_everything_else_is_the_same_as_without_the_option(run: Path) -> None:
    before, after = compared(run), compared(run, "--standardise", "E-std")
    of_scores = [row for row in after["long"] if not (row["measure"] or "").startswith("E-std")]
    assert of_scores == before["long"]
    assert "standardised" not in before
    assert [one for one in after["measures"] if not one["measure"].startswith("E-std")] == before["measures"]


def test_a_reference_group_does_not_change_when_a_system_joins(tmp_path: Path) -> None:
    labels = drawn(5, 12, 3, A=0.7, B=0.5, C=0.4, D=0.6, E=0.1)
    four = recorded(tmp_path / "four", {name: own for name, own in labels.items() if name != "E"})
    five = recorded(tmp_path / "five", labels)

    def differences(run: Path, *reference: str) -> list[float]:
        found = compare_runs(
            [run], systems=["A", "B"], measures=["ave%useful"], standardise="std-CDF", reference=reference
        )
        return [pair.value for one in found.measures for pair in one.pairs]

    assert differences(four, "B", "C", "D") == differences(five, "B", "C", "D")
    (before, one), (after, other) = differences(four), differences(five)
    assert before == after
    assert one != other
    done = harvest("compare", five, "-m", "ave%useful", "--standardise", "std-CDF", "--reference", "B, C,D", "--json")
    assert json.loads(done.stdout)["standardised"] == {"form": "std-CDF", "systems": ["B", "C", "D"]}


def test_each_type_of_topics_is_standardised_separately(tmp_path: Path) -> None:
    run = recorded(tmp_path / "run", drawn(6, 20, 3, A=0.8, B=0.5, C=0.4))
    document = compared(run, "--standardise", "std-AB", "--by-type", "--systems", "A,B")
    each = {row["topic_type"]: row for row in figures(document, "difference", measure="std-AB(ave%useful)")}
    assert {kind: row["topics"] for kind, row in each.items()} == {None: 20, "movie": 10, "chat": 10}
    assert each[None]["estimate"] == pytest.approx((each["movie"]["estimate"] + each["chat"]["estimate"]) / 2)
    assert all(row["low"] < row["estimate"] < row["high"] for row in each.values())


def test_a_person_reads_the_form_and_the_group(run: Path) -> None:
    done = harvest("compare", run, "-m", "ave%useful, %recovery", "--standardise", "std-AB", "--reference", "B,C,D")
    text = " ".join(done.stdout.split())
    assert (
        "std-AB: .15·(score - mean) / sd + .5, from 0 to 1, of the scores of B, C and D on the topic (Sakai 2016)"
        in text
    )
    assert "%recovery: a ratio of sums over topics has no score of a topic to standardise" in text
    first = done.stdout.partition("Over ")[0]
    assert "ave%useful" in first
    assert "std-AB" not in first, "no headline"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--reference", "A,B,C"), "--reference can only be used with --standardise"),
        (
            ("--standardise", "std-AB", "--reference", "A,B"),
            "cannot be standardised by 2 systems (A, B) allowed: a",
        ),
        (
            ("--standardise", "std-AB", "--reference", "A,B,F"),
            "--reference: 'F' is not a system of these runs",
        ),
        (("--standardise", "std-AB", "--reference", "A,,B"), "one of the names in --reference is empty"),
        (("--standardise", "std-AB", "--reference", "A,B,A"), "--reference contains 'A' twice"),
        (("--standardise", "std"), "'std' is not one of 'z', 'std-CDF', 'std-AB', 'E-std'"),
    ],
)
def test_bad_groups_are_refused_with_one_message(run: Path, options: tuple[str, ...], said: str) -> None:
    done = harvest("compare", run, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in " ".join(done.stderr.split())


def test_bad_arguments_in_python_are_refused_equally(run: Path) -> None:
    with pytest.raises(InputError, match="there is no form 'std' of standardised scores"):
        compare_runs([run], standardise="std")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="--reference can only be used with --standardise"):
        compare_runs([run], reference=["A", "B", "C"])


def test_continued_sessions_and_more_trials_leave_no_interval(tmp_path: Path) -> None:
    labels = drawn(7, 12, 4, A=0.8, B=0.4, C=0.5)
    on = recorded(tmp_path / "on", labels, system={"session": "continued"})
    for run, option, why in (
        (on, "like-these", "sessions of A, B, C go on from topic to topic"),
        (
            recorded(tmp_path / "fresh", labels),
            "these",
            "a standardised score also varies with the trials of",
        ),
    ):
        document = compared(run, "--standardise", "z", "--systems", "A,B", "--estimand", option)
        (row,) = figures(document, "difference", measure="z(ave%useful)")
        assert (row["low"], row["p"], row["verdict"]) == (None, None, "cannot tell")
        assert why in row["note"]
        assert row["estimate"] > 0


def topic_sets(folder: Path, **options: Any) -> tuple[Path, Path]:
    """Two runs over different topics: D answers in the first alone, and E in the second alone."""
    first = {name: {"M01": own["M01"], "M02": own["M02"]} for name, own in LABELS.items()}
    second = {"A": {"C11": ["ox"]}, "B": {"C11": ["oo"]}, "C": {"C11": ["ox"]}, "E": {"C11": ["xx"]}}
    return recorded(folder / "spring", first), recorded(folder / "autumn", second, **options)


def test_runs_over_different_topics_are_one_comparison_of_the_systems_in_both(tmp_path: Path) -> None:
    """On C11, ave%useful is .5, 1, .5 and 0 of A, B, C and E, so z is 0, √1.5, 0 and -√1.5."""
    spring, autumn = topic_sets(tmp_path)
    document = compared(spring, str(autumn), "--standardise", "std-AB")
    assert document["systems"] == ["A", "B", "C"]
    assert document["standardised"]["systems"] == ["A", "B", "C", "D", "E"]
    far = [0.15 * 0.5 * 6**0.5, 0.15 * 0.25 * 12**0.5, 0.15 * 1.5**0.5]
    rows = figures(document, "system", measure="std-AB(ave%useful)", system="A")
    assert {row["topic_type"]: row["estimate"] for row in rows} == pytest.approx(
        {None: 0.5 + (far[0] + far[1]) / 3, "spring": 0.5 + (far[0] + far[1]) / 2, "autumn": 0.5}
    )
    (row,) = figures(document, "difference", measure="std-AB(ave%useful)", topic_type="autumn", system="A", other="B")
    assert (row["estimate"], row["topics"], row["run"]) == (pytest.approx(-far[2]), 1, "spring, autumn")
    plain = figures(document, "difference", measure="ave%useful", topic_type=None, system="A", other="B")
    assert [row["estimate"] for row in plain] == pytest.approx([(0.5 + 0.5 - 0.5) / 3])
    assert document["parting"] == []
    (said,) = (one["said"] for one in document["differences"] if one["what"] == "topics")
    assert said.startswith("topics: each run has its own (2 in spring, 1 in autumn); figures are over all of them")


def test_runs_over_different_topics_need_the_option_and_the_same_systems(tmp_path: Path) -> None:
    spring, autumn = topic_sets(tmp_path / "same")
    done = harvest("compare", spring, autumn)
    assert (done.returncode, done.stdout) == (2, "")
    assert "these runs have no topic in common" in done.stderr
    assert "--standardise compares runs of the same systems over different topics" in " ".join(done.stderr.split())
    done = harvest("compare", spring, autumn, "--standardise", "z", "--systems", "A,D")
    assert "'D' did not answer in each of these runs, which have different topics allowed: A, B, C" in " ".join(
        done.stderr.split()
    )
    spring, autumn = topic_sets(tmp_path / "other", system={"vantage": "Tokyo"})
    done = harvest("compare", spring, autumn, "--standardise", "z")
    assert (done.returncode, done.stdout) == (2, "")
    assert "runs without a common topic must have the same systems" in " ".join(done.stderr.split())


def test_lost_attempts_of_each_topic_set_leave_no_interval(tmp_path: Path) -> None:
    first, second = (drawn(seed, 12, 3, A=0.8, B=0.5, C=0.4) for seed in (8, 9))
    second = {name: {f"N{topic}": each for topic, each in own.items()} for name, own in second.items()}
    spring = recorded(tmp_path / "spring", first)
    whole = recorded(tmp_path / "whole", second)
    cut = {topic: ["!", *each[1:]] if row < 8 else each for row, (topic, each) in enumerate(second["A"].items())}
    lost = {**second, "A": cut}
    for run, defined in ((whole, True), (recorded(tmp_path / "lost", lost), False)):
        document = compared(spring, str(run), "--standardise", "std-AB", "--systems", "A,B")
        (plain,) = figures(document, "difference", measure="ave%useful", topic_type=None)
        (row,) = figures(document, "difference", measure="std-AB(ave%useful)", topic_type=None)
        assert (plain["topics"], row["low"] is not None, plain["lowest"] is None) == (24, defined, defined)
        assert ("attempts were lost" in (row["note"] or "")) != defined
        (of_spring,) = figures(document, "difference", measure="std-AB(ave%useful)", topic_type="spring")
        assert of_spring["low"] is not None
