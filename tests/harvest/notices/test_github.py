"""GitHub Actions: annotation_lines, summaries, and no word of a system that is a command."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harvest.notices.bulletin import Account, Estimate, Notice
from harvest.notices.github import annotation_lines, summary
from tests.support.bulletins import CHANGED, DOWN, HOSTILE_BULLETIN, SAME, SHOWN, UNSURE, bulletin, commands
from tests.support.hostile_replies import HOSTILE, NAMES


def test_everything_that_a_person_must_see_has_an_annotation() -> None:
    lines = list(annotation_lines(bulletin(CHANGED, DOWN, UNSURE, SAME, SHOWN, code=1, verdict="changed")))
    assert lines == [
        "::error title=weekly%2C mine%3A changed::ave%25useful changed by -15.2 since the baseline (60.0%25)",
        "::error title=weekly%2C mine%3A not measured::could not be measured: none of 45 trials has a valid attempt",
        "::warning title=weekly%2C mine%3A cannot tell::R: cannot tell whether it changed (+.0010)",
    ]
    assert list(annotation_lines(bulletin(SAME))) == [
        "::notice title=weekly%3A same::weekly: same. mine: %25recovery is the same within 3 points"
    ]


def test_escaped_text_is_restored_unchanged() -> None:
    said = "a: b, 100% %0A %25"
    ((kind, properties, data),) = commands(
        "\n".join(annotation_lines(bulletin(replace(CHANGED, sentence=said), code=1)))
    )
    assert (kind, properties, data) == ("error", {"title": "weekly, mine: changed"}, said)


def test_at_most_ten_of_each_kind_are_printed_and_the_last_says_how_many_were_left_out() -> None:
    many = [replace(CHANGED, figure=f"R{number}") for number in range(10)]
    assert len(list(annotation_lines(bulletin(*many)))) == 10
    lines = list(annotation_lines(bulletin(*many, CHANGED, *[UNSURE] * 20)))
    assert [line.split(" ")[0] for line in lines] == ["::error"] * 10 + ["::warning"] * 10
    assert lines[9] == "::error title=2 more::they are in the summary of this step"


def test_no_system_text_is_a_command_in_an_annotation() -> None:
    log = "".join(f"{line}\n" for line in annotation_lines(HOSTILE_BULLETIN))
    assert [kind for kind, _, _ in commands(log)] == ["error"] * 10


def test_the_guard_is_needed() -> None:
    assert [kind for kind, _, _ in commands(HOSTILE["workflow command"])] == [
        "error",
        "stop-commands",
        "add-mask",
        "error",
    ]


def test_a_summary_has_the_sentence_the_figures_and_what_changed() -> None:
    text = summary(bulletin(CHANGED, SHOWN, code=1, verdict="changed", details=("  M001: worse",)))
    assert text.startswith("## weekly: changed\n\n**mine: ave%useful changed by -15.2 since the baseline (60.0%)")
    assert "| ave%useful | 60.0% | 44.8% | -15.2 points [-21.0, -9.0] | 225 | changed |" in text
    assert "| %useful S1 | n/a | 40.0% | n/a | 0 | shown only |" in text
    assert "- M001: worse" in text
    assert "Run: runs/weekly/1. Exit code 1." in text


@pytest.mark.parametrize(
    ("figure", "moved", "shown"),
    [
        ("ave%useful", Estimate(-0.167, -0.219, -0.116), "-16.7 points [-21.9, -11.6]"),
        ("%recovery", Estimate(0.0004, -0.02, 0.021), "0.0 points [-2.0, +2.1]"),
        ("%useful S2", Estimate(-0.0002, -0.01, 0.01), "0.0 points [-1.0, +1.0]"),
        ("R", Estimate(-0.0123, -0.02, -0.001), "-0.0123 [-0.0200, -0.0010]"),
        ("coverage", Estimate(-0.5), "-50.0 points"),
    ],
)
def test_a_difference_of_percentages_is_in_points(figure: str, moved: Estimate, shown: str) -> None:
    (row,) = [
        line
        for line in summary(bulletin(replace(CHANGED, figure=figure, moved=moved))).splitlines()
        if line.startswith(f"| {figure} ")
    ]
    assert f"| {shown} |" in row


def test_thresholds_are_shown_with_their_differences_and_without_empty_columns() -> None:
    met = Notice("%useful S1 >= 0.5", "kept", 0, "kept", now=Estimate(0.7, 0.6, 0.8), n=90, limit=0.5)
    missed = Notice("R <= 0.1", "missed", 1, "missed", now=Estimate(0.25, 0.2, 0.3), n=90, limit=0.1)
    text = summary(bulletin(met, missed, code=1, verdict="missed"))
    assert "| figure | threshold | now | difference | n | verdict |" in text
    assert "| %useful S1 &#62;= 0.5 | 50.0% | 70.0% [60.0%, 80.0%] | +20.0 points [+10.0, +30.0] | 90 | kept |" in text
    assert "| R &#60;= 0.1 | 0.1000 | 0.2500 [0.2000, 0.3000] | +0.1500 [+0.1000, +0.2000] | 90 | missed |" in text
    alone = summary(bulletin(Notice("coverage", "kept", 0, "90 of 90 trials valid", now=Estimate(1.0), n=90)))
    assert "| figure | now | n | verdict |\n|---|--:|--:|---|\n| coverage | 100.0% | 90 | kept |" in alone


def test_a_fall_that_is_not_yet_an_alarm_is_not_called_undecided() -> None:
    told = bulletin(replace(UNSURE, word="fell", sentence="R fell by .0300"))
    assert list(annotation_lines(told)) == ["::warning title=weekly%2C mine%3A fell::R fell by .0300"]
    assert "| fell |" in summary(told)


def test_no_system_text_is_markup_in_a_summary() -> None:
    text = summary(HOSTILE_BULLETIN)
    for sign in ("<script", "](", "`", "@everyone", "://", "\x1b", "\u202e", "<b>"):
        assert sign not in text
    assert len(text) < 200_000


def test_a_summary_never_exceeds_its_space() -> None:
    accounts = tuple(Account(f"system {number}", "x" * 400, (SAME,), ("é" * 300,)) for number in range(2000))
    large = replace(HOSTILE_BULLETIN, accounts=accounts)
    for room in (2**20, 5000, 100, 10, 0, -5):
        text = summary(large, room)
        assert len(text.encode()) <= max(0, room)
        assert not text or text.endswith("left out: the summary of a step has little room.\n")
    assert summary(bulletin(SAME), 2**20).endswith("Exit code 0.\n")
    assert len(NAMES) == len(HOSTILE) + 1
