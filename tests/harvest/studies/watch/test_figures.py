"""What the lines about one watched system say beside its figures."""

from __future__ import annotations

from harvest.studies.watch.figures import system_details
from harvest.studies.watch.watched import WatchedSystem


def said(**other: object) -> list[str]:
    given: dict[str, object] = {"incomparable": "", "planned": 120, "valid": 120, "lost": (), "unasked": ()}
    system = WatchedSystem(name="mine", figures=(), coverage=True, **{**given, **other})  # type: ignore[arg-type]
    return [line.plain for line in system_details(system)]


def test_an_outage_is_named_and_nothing_is_claimed_about_answers() -> None:
    assert said(valid=0, lost=("M001", "M002")) == [
        "mine: none of its 120 trials is valid: an outage, which says nothing about its answers"
    ]


def test_fewer_valid_trials_may_depend_on_the_answers() -> None:
    assert said(valid=80, lost=("M001",)) == [
        "mine: coverage fell: 80 of 120 trials are valid; whether that depends on the answers cannot be known",
        "mine: no valid trial of M001",
    ]
