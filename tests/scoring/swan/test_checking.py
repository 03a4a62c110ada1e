"""A model's WAN: corrected by people where they judged enough, marked as unchecked where not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from recordings.judged.judgments import Judgment, Layer, Target
from scoring.inference.interval import Interval
from scoring.inference.prediction_powered import ComparedItems, CorrectedMean, corrected_mean
from scoring.material import Judged
from scoring.notation import parse_all
from scoring.scores import score
from scoring.settings import Settings
from scoring.swan.checking import CheckResult
from scoring.swan.judged import Judgments
from scoring.swan.precedence import Precedence
from scoring.table import ScoreTable
from tests.scoring.swan.test_judged import SCHEMA
from tests.support.scoring_examples import conversation, grid_topics

TOPICS, TRIALS = 6, 4
TALKS = [
    conversation(("a", "It is old."), ("b", "It is new."), system="A", topic=f"T{topic:02d}", trial=trial)
    for topic in range(1, TOPICS + 1)
    for trial in range(1, TRIALS + 1)
]
TURNS = [(talk.key.topic, Target(talk.trial_id, 1, turn)) for talk in TALKS for turn in (1, 2)]
RNG = np.random.default_rng(11)
TRUTH = {target: float(RNG.random() < 0.6) for _, target in TURNS}
SAYS = {target: value if RNG.random() < 0.8 else 1 - value for target, value in TRUTH.items()}


def given(kind: str, author: str, values: dict[Target, object], criterion: str = "Fluency") -> Layer:
    rows = tuple(Judgment(target.about(), criterion, value) for target, value in values.items())
    return Layer(kind, author, "1", judgments=rows)


def drawn(each: int, without: Sequence[str] = ()) -> dict[Target, object]:
    """The first turns of the first trials of each topic."""
    found: dict[Target, object] = {}
    for topic in dict.fromkeys(topic for topic, _ in TURNS):
        own = [target for name, target in TURNS if name == topic]
        found |= {target: TRUTH[target] for target in own[: 0 if topic in without else each]}
    return found


MODEL = given("model", "m1", dict(SAYS))


def scored(
    layers: Sequence[Layer], judges: str, measures: str = "WAN(Fluency)", folding: str | None = None
) -> ScoreTable:
    judged = Judged(SCHEMA, Judgments.from_layers(layers, SCHEMA, Precedence.from_options(judges, None, folding)))
    rng = np.random.default_rng(0)
    topics = grid_topics(TOPICS)
    return score(TALKS, topics, None, Settings(), rng, measures=parse_all(measures), only=True, judged=judged)


def expected(people: dict[Target, object]) -> tuple[float, float, float]:
    compared = []
    for topic in dict.fromkeys(topic for topic, _ in TURNS):
        own = [target for name, target in TURNS if name == topic]
        compared.append(
            ComparedItems(
                np.array([SAYS[target] for target in own]),
                np.array([float(people.get(target, math.nan)) for target in own]),  # type: ignore[arg-type]
                np.ones(len(own)),
            )
        )
    found = corrected_mean(compared, level=0.95)
    return found.value, found.interval.low, found.interval.high


@pytest.mark.parametrize("judges", ["model", "human,model", "model,human", "human:anna,model,rule"])
def test_the_figure_of_a_system_is_the_corrected_one_for_any_ranking_of_judges(judges: str) -> None:
    people = drawn(3)
    table = scored([MODEL, given("human", "anna", people)], judges)
    (row,) = table.select(topic=None, topic_type=None, trial=None)
    assert (row.value, row.low, row.high) == pytest.approx(expected(people))
    assert row.interval == "Gaffke-type interval with an unseen topic, prediction-powered"
    assert "corrected" in (row.scorers or "")
    assert row.label.endswith("models, corrected)")
    (sentence,) = (one for one in table.coverage if "is corrected by people" in one)
    assert f"over {len(TURNS)} things" in sentence
    assert f"people's {len(people)} alone give" in sentence
    assert sentence.count("(width ") == 2
    for other in table.rows:
        if other.topic is not None or other.trial is not None:
            assert "corrected" not in (other.scorers or "")


@pytest.mark.parametrize("design", ["clusters", "these", "continued"])
def test_the_corrected_figure_allows_for_dependence(design: str) -> None:
    """Clusters are the units; an interval that cannot be had of sessions or of these topics is withheld."""
    people = drawn(3)
    topics = grid_topics(TOPICS)
    if design == "clusters":
        own = [replace(one, cluster=f"C{place // 2}") for place, one in enumerate(topics.topics)]
        topics = replace(topics, topics=tuple(own))
    table = score(
        TALKS,
        topics,
        None,
        Settings(estimand="these" if design == "these" else "like-these"),
        np.random.default_rng(0),
        measures=parse_all("WAN(Fluency)"),
        only=True,
        judged=Judged(
            SCHEMA,
            Judgments.from_layers(
                [MODEL, given("human", "anna", people)], SCHEMA, Precedence.from_options("model", None, None)
            ),
        ),
        continued=["A"] if design == "continued" else [],
    )
    (row,) = table.select(topic=None, topic_type=None, trial=None)
    assert row.value == pytest.approx(expected(people)[0], abs=0.02)
    assert math.isnan(row.low)
    said = {"clusters": "3 clusters: too few", "these": "topics like these", "continued": "sessions go on"}[design]
    assert said in row.note, row.note


@pytest.mark.parametrize(
    ("each", "without"), [(1, ()), (3, ("T02",)), (0, ())], ids=["one thing", "a topic without", "nobody"]
)
def test_with_fewer_than_two_items_per_topic_it_is_the_models_own_and_unchecked(
    each: int, without: Sequence[str]
) -> None:
    layers = [MODEL, given("human", "anna", drawn(each, without))] if each else [MODEL]
    table = scored(layers, "model")
    (row,) = table.select(topic=None, topic_type=None, trial=None)
    assert row.value == pytest.approx(np.mean(list(SAYS.values())))
    assert row.label == "WAN(Fluency, models, unchecked)"
    (sentence,) = (one for one in table.coverage if "unchecked" in one)
    assert "people judged fewer than 2 things of" in sentence
    assert all("unchecked" in row.label for row in table.rows), "no figure of a model stands alone"


@pytest.mark.parametrize("measure", ["SWAN", "pooled(WAN(Fluency))", "CVaR(WAN(Fluency), beta=0.5)", "pooled(SWAN)"])
def test_an_uncorrected_figure_is_marked(measure: str) -> None:
    table = scored([MODEL, given("human", "anna", drawn(3))], "model", measure)
    assert table.rows
    assert all("models, unchecked" in row.label for row in table.rows)
    (name,) = {row.label for row in table.rows}
    assert {row.label for row in scored([MODEL], "model", name).rows} == {name}, "what a table prints can be asked for"


def test_figures_of_people_and_rules_are_unchanged() -> None:
    people = given("human", "anna", dict(TRUTH))
    without, beside = scored([people], "human,rule"), scored([people, MODEL], "human,rule")
    assert [row.as_json() for row in without.rows] == [row.as_json() for row in beside.rows]
    assert without.notes == beside.notes


def test_if_people_say_that_it_does_not_apply_only_their_judgments_count() -> None:
    people = drawn(4)
    first = next(iter(people))
    table = scored([MODEL, given("human", "anna", {**people, first: None})], "model")
    (row,) = table.select(topic=None, topic_type=None, trial=None)
    means = [
        np.mean([TRUTH[target] for name, target in TURNS if name == topic and target in people and target != first])
        for topic in dict.fromkeys(topic for topic, _ in TURNS)
    ]
    assert row.value == pytest.approx(np.mean(means))
    assert any("People say of 1 thing that it does not apply" in one for one in table.coverage)


def corrected_mean_of(own: tuple[float, float], alone: tuple[float, float], topics: int = 20) -> CheckResult:
    intervals = (Interval(*ends, method="t", resampled="topics") for ends in (own, alone))
    first, second = intervals
    return CheckResult(CorrectedMean(0.5, first, 0.3, 0.5, second, 0.6, 40, 10, topics), (), 0)


@pytest.mark.parametrize(
    ("own", "alone", "words"),
    [
        ((0.4, 0.6), (0.4, 0.6), "The model adds nothing here"),
        ((0.35, 0.66), (0.4, 0.6), "The model adds nothing here"),
        ((0.4, 0.6), (0.3, 0.7), "The model makes the interval 50% shorter."),
    ],
)
def test_the_models_contribution_is_reported(own: tuple[float, float], alone: tuple[float, float], words: str) -> None:
    assert words in corrected_mean_of(own, alone).sentence("WAN(Fluency)")


def test_a_model_of_few_topics_is_said_not_to_count() -> None:
    assert "does not count: fewer than 12 topics" in corrected_mean_of((0.4, 0.6), (0.4, 0.6), 11).sentence(
        "WAN(Fluency)"
    )


def test_the_models_contribution_is_not_reported_if_there_is_no_interval() -> None:
    assert "The model" not in corrected_mean_of((math.nan, math.nan), (0.3, 0.7)).sentence("WAN(Fluency)")


def test_two_people_check_a_model_by_their_folded_votes_and_unjudged_items_are_not_negative() -> None:
    people = drawn(3)
    ben = {target: 1 - TRUTH[target] for target in people}
    silent: dict[Target, object] = {**SAYS, TURNS[-1][1]: {"unjudged": "refused"}}
    layers = [given("model", "m1", silent), given("human", "anna", people), given("human", "ben", dict(ben))]
    table = scored(layers, "model")
    (sentence,) = (one for one in table.coverage if "is corrected by people" in one)
    assert f"people's {len(people)} alone give 0.5000" in sentence
    assert any("m1 was asked about and did not judge, in no score: refused 1." in one for one in table.notes)
    assert any("is corrected" in one for one in scored(layers, "human,model", folding="m1").coverage)
    assert not any("is corrected" in one for one in scored(layers, "human,model", folding="anna").coverage)
