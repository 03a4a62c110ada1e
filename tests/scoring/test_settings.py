"""Scoring settings: the defaults of the paper, and one clear message for each value that cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.settings import SETTINGS, Settings, check_weights
from topics.errors import InputError
from topics.library import load_topics


def test_the_defaults_are_those_of_the_paper() -> None:
    settings = Settings()
    assert (settings.patience, settings.alpha, settings.level) == (1250, 0.5, 0.95)
    assert [settings.gain(grade) for grade in (0, 1, 2)] == [0.0, 0.5, 1.0]
    assert (settings.ordinal, settings.irrelevant, settings.turn_weight) == ("RNOD", "ignore", "one")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("patience", 0),
        ("patience", 2.5),
        ("patience", True),
        ("replications", 99),
        ("alpha", -0.1),
        ("alpha", float("nan")),
        ("level", 0),
        ("level", 95),
        ("gains", {1: 2.0}),
        ("gains", {-1: 0.5}),
        ("gains", {0: 0.1}),
        ("gains", {1: float("nan")}),
        ("weights", {"RATINGS": -1.0}),
        ("weights", {"RATINGS": float("inf")}),
        ("ordinal", "JSD"),
        ("irrelevant", "drop"),
        ("turn_weight", "none"),
        ("resample", "basic"),
        ("shares", "normal"),
    ],
)
def test_a_value_out_of_range_is_refused_by_name_with_the_allowed_ones(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"scoring setting {name}") as fault:
        Settings(**{name: value})
    assert fault.value.allowed


def test_settings_do_not_change_when_their_source_does() -> None:
    gains, weights = {1: 0.5, 2: 1.0}, {"RATINGS": 2.0}
    settings = Settings(gains=gains, weights=weights)
    gains[1], weights["RATINGS"] = 0.9, 9.0
    assert settings.gain(1) == 0.5
    assert settings.weights == {"RATINGS": 2.0}
    assert settings.gain(0) == 0.0
    with pytest.raises(TypeError):
        settings.gains[1] = 0.9  # type: ignore[index]


def test_the_json_form_names_every_setting() -> None:
    value = Settings(weights={"B": 2.0, "A": 1.0}).as_json()
    assert set(value) == set(Settings.__dataclass_fields__)
    assert list(value["weights"]) == ["A", "B"]  # type: ignore[call-overload]
    assert Settings(gains={1: 0.5, 2: 1.0}) == Settings()


@pytest.mark.parametrize(
    "change",
    [
        {"patience": 10**400},
        {"patience": 10**9 + 1},
        {"weights": {"A": 10**400}},
        {"weights": {"A": 1e308}},
        {"weights": {"A": "x"}},
        {"level": 1e-320},
        {"level": 0.9999999999999999},
        {"level": 0.49},
        {"replications": 1_000_001},
        {"alpha": "x"},
        {"gains": {0: 0, 1: 10**5000}},
    ],
)
def test_numbers_that_would_break_the_computation_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="is not allowed"):
        Settings(**change)


def test_weights_that_leave_no_fairness_to_measure_are_refused() -> None:
    topics = load_topics("fairweb-45")
    check_weights(Settings(weights={**dict.fromkeys(topics.attributes, 0.0), "RATINGS": 1.0}), topics)
    with pytest.raises(InputError, match="all attribute sets have weight 0"):
        check_weights(Settings(weights=dict.fromkeys(topics.attributes, 0.0)), topics)


def test_the_earlier_word_for_the_intervals_of_shares_means_the_same() -> None:
    assert Settings(shares="wilson") == Settings(shares="unseen-topic") == Settings()  # type: ignore[arg-type]
    assert Settings(shares="wilson").as_json()["shares"] == "unseen-topic"  # type: ignore[arg-type]


def test_a_misspelt_choice_names_the_nearest_word() -> None:
    with pytest.raises(InputError, match=r"'bootstrap_t' is not allowed: did you mean 'bootstrap-t'\?"):
        Settings(resample="bootstrap_t")  # type: ignore[arg-type]


def test_a_later_mapping_wins_and_unnamed_gains_keep_their_default() -> None:
    found = Settings.of({"alpha": 0.3, "gains": {"L1": 0.25}}, {"alpha": 0.4, "level": None})
    assert (found.alpha, found.level) == (0.4, 0.95)
    assert found.gains == {0: 0.0, 1: 0.25, 2: 1.0}


def test_an_unknown_setting_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(InputError, match=r"no scoring setting 'turn_wieght': did you mean 'turn_weight'\?") as fault:
        Settings.of({"turn_wieght": "one"})
    assert fault.value.allowed == ", ".join(SETTINGS)


@pytest.mark.parametrize("name", SETTINGS)
def test_each_setting_is_declared_with_everything_that_an_option_and_an_audit_need(name: str) -> None:
    declared = SETTINGS[name]
    assert declared.kind.validate(name, declared.default) == declared.default == getattr(Settings(), name)
    assert declared.help
    assert declared.option.startswith("--")
