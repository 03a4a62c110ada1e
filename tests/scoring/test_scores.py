"""The score table: every row that is promised, the same bytes for the same recording, and what is missing said."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from recordings.conversations.conversation import Conversation, Outcome, TrialKey
from scoring.scores import score
from scoring.settings import Settings
from scoring.table import ScoreRow, ScoreTable
from tests.support.scoring_examples import (
    CHAT,
    M002,
    MOVIE,
    ORIGIN,
    RATINGS,
    conversation,
    filler,
    grid,
    grid_topics,
    movie,
    paper_b1,
    paper_g1,
    paper_gold,
    topic_set,
)
from topics.errors import InputError
from topics.gold import GoldEntry, GoldTable
from topics.links import Link
from topics.topic import Topic, TopicSet

PAPER_TOPICS = topic_set(M002)


def paper_table(settings: Settings | None = None) -> ScoreTable:
    return score(
        [paper_b1(), paper_g1()], PAPER_TOPICS, paper_gold(), settings or Settings(), np.random.default_rng(1), turns=2
    )


def one(table: ScoreTable, **wanted: Any) -> ScoreRow:
    (row,) = table.select(**wanted)
    return row


def of_conversation(table: ScoreTable, measure: str, system: str = "B1", turn: int | None = None) -> ScoreRow:
    return one(table, measure=measure, system=system, topic="M002", trial=1, turn=turn)


@pytest.mark.parametrize(
    ("system", "measure", "turn", "printed"),
    [
        ("B1", "R", None, 0.0143),
        ("G1", "R", None, 0.0014),
        ("B1", "DistrSim(RATINGS)", 1, 0.6773),
        ("B1", "DistrSim(RATINGS)", 2, 0.4796),
        ("B1", "GF(RATINGS)", None, 0.5785),
        ("G1", "GF(RATINGS)", None, 0.4049),
        ("B1", "DistrSim(ORIGIN)", 1, 0.4303),
        ("B1", "DistrSim(ORIGIN)", 2, 0.4682),
        ("B1", "GF(ORIGIN)", None, 0.4493),
        ("G1", "GF(ORIGIN)", None, 0.4303),
        ("B1", "GF(RATINGS, by=NMD)", None, 0.6833),
        ("B1", "GF_cum(RATINGS)", None, 0.6423),
        ("B1", "GF_cum(ORIGIN)", None, 0.4759),
        ("B1", "GF", None, (0.5784174 + 0.4492474) / 2),
        ("B1", "GFR(alpha=0.5)", None, (0.0143201 + (0.5784174 + 0.4492474) / 2) / 2),
        ("G1", "GF_cum", None, (0.4048810 + 0.4302716) / 2),
    ],
)
def test_a_row_of_the_paper_from_its_text(system: str, measure: str, turn: int | None, printed: float) -> None:
    assert of_conversation(paper_table(), measure, system, turn).value == pytest.approx(printed, abs=1e-4)


def test_every_nugget_has_a_row_with_its_place_grade_and_gain() -> None:
    rows = list(paper_table().select(measure="pw", system="G1"))
    assert [(row.position, row.grade, row.gain) for row in rows] == [
        (506, 2, 1.0),
        (530, 0, 0.0),
        (549, 0, 0.0),
        (560, 1, 0.5),
        (571, None, 0.0),
    ]
    assert [row.value for row in rows] == pytest.approx([1 - (row.position - 1) / 1250 for row in rows if row.position])
    assert [row.note for row in rows] == ["", "", "", "", "unjudged"]
    assert rows[0].entity == movie("0088763")


def test_n_counts_the_items_that_a_value_is_over() -> None:
    table = paper_table()
    assert [of_conversation(table, "R", system).n for system in ("B1", "G1")] == [10, 2]
    assert [of_conversation(table, "GF(RATINGS)", system).n for system in ("B1", "G1")] == [2, 1]
    assert of_conversation(table, "DistrSim(RATINGS)", "B1", 1).n == 5
    assert of_conversation(table, "R", "G1").unjudged == 1


def test_names_of_measures_follow_the_settings() -> None:
    table = paper_table(Settings(alpha=0.25, ordinal="NMD"))
    names = {row.measure for row in table.select(system="B1", topic="M002", trial=1)}
    assert {"GFR(alpha=0.25)", "GFR_cum(alpha=0.25)", "GF(RATINGS, by=RNOD)", "DistrSim(RATINGS, by=RNOD)"} <= names
    assert of_conversation(table, "GF(RATINGS)").value == pytest.approx(0.683333, abs=1e-6)


def test_weights_of_attribute_sets_enter_gf() -> None:
    table = paper_table(Settings(weights={"ORIGIN": 0.0}))
    assert of_conversation(table, "GF").value == of_conversation(table, "GF(RATINGS)").value


def many(trials: int = 3, *, seed: int = 5) -> tuple[list[Conversation], TopicSet, GoldTable]:
    """Two systems, eight movie topics and four others, with links of random places and grades."""
    chance = random.Random(seed)
    topics = topic_set(
        *(Topic(f"M{number:03d}", MOVIE, "ask") for number in range(1, 9)),
        *(Topic(f"C{number:03d}", CHAT, "ask") for number in range(1, 5)),
    )
    entries, spoken = [], []
    for topic in topics.topics:
        for number in range(6):
            if topic.type is MOVIE:
                groups = {"RATINGS": RATINGS.membership(str(10 ** chance.randint(0, 7)))}
                entries.append(GoldEntry(topic.id, movie(number + 1), chance.randint(0, 2), groups=groups))
        for system in ("S1", "S2"):
            for trial in range(1, trials + 1):
                texts = [
                    f"{filler(chance.randint(1, 90))} {movie(chance.randint(1, 8))} {movie(chance.randint(1, 8))}"
                    for _ in range(2)
                ]
                labels = chance.choice(["oo", "ox", "xo", "xx"])
                spoken.append(
                    conversation(
                        *(("go", text) for text in texts), labels=labels, topic=topic.id, system=system, trial=trial
                    )
                )
    return spoken, topics, GoldTable(entries)


def written(spoken: Iterable[Conversation], seed: int = 1, **given: Any) -> str:
    _, topics, gold = many()
    table = score(spoken, topics, gold, Settings(), np.random.default_rng(seed), turns=2, **given)
    return json.dumps(table.as_json(), allow_nan=False)


def test_the_same_recording_and_seed_give_the_same_bytes_in_any_order() -> None:
    spoken, *_ = many()
    first = written(spoken)
    for seed in range(3):
        shuffled = random.Random(seed).sample(spoken, len(spoken))
        assert written(iter(shuffled)) == first
    assert written(spoken, seed=2) != first


def test_without_intervals_of_single_trials_every_other_number_is_the_same() -> None:
    spoken, *_ = many()
    whole, bare = json.loads(written(spoken))["rows"], json.loads(written(spoken, trial_intervals=False))["rows"]
    left_out = ("low", "high", "level", "interval", "resampled", "note")
    over_a_trial = [row for row in bare if row["topic"] is None and row["trial"] is not None]
    assert over_a_trial
    assert {row[name] for row in over_a_trial for name in left_out[:-1]} == {None}
    for one, other in zip(whole, bare, strict=True):
        skipped = left_out if other in over_a_trial else ()
        assert [value for name, value in one.items() if name not in skipped] == [
            value for name, value in other.items() if name not in skipped
        ]


def test_another_system_in_the_run_changes_no_figure_of_this_one() -> None:
    spoken, topics, gold = many()
    both = score(spoken, topics, gold, Settings(), np.random.default_rng(1), turns=2)
    alone = score(
        [one for one in spoken if one.key.system == "S2"], topics, gold, Settings(), np.random.default_rng(1), turns=2
    )
    assert [row.as_json() for row in both.select(system="S2")] == [row.as_json() for row in alone.rows]


def test_rows_are_for_conversations_topics_trials_types_and_everything() -> None:
    spoken, topics, gold = many()
    table = score(spoken, topics, gold, Settings(), np.random.default_rng(1), turns=2)
    for measure in ("R", "GF", "GF(RATINGS)", "GF(RATINGS, by=NMD)", "GF_cum(ORIGIN)", "GFR(alpha=0.5)"):
        rows = list(table.select(measure=measure, system="S1"))
        where = [(row.topic, row.topic_type, row.trial) for row in rows]
        assert len(where) == len(set(where))
        for wanted in (
            ("M001", "movie", 2),
            ("M001", "movie", None),
            (None, "movie", 2),
            (None, None, 2),
            (None, "movie", None),
            (None, None, None),
        ):
            assert wanted in where
    for measure, turn in (("%useful", 1), ("%useful", 2), ("ave%useful", None), ("%recovery", None)):
        rows = list(table.select(measure=measure, turn=turn, system="S1"))
        assert len(rows) == 12 + 3 * 3 + 2 + 1
        assert {(row.topic, row.topic_type, row.trial) for row in rows} >= {
            ("C001", "chat", None),
            (None, "chat", None),
        }


def test_figures_over_trials_are_means_of_means_with_intervals_that_name_their_method() -> None:
    spoken, topics, gold = many()
    table = score(spoken, topics, gold, Settings(), np.random.default_rng(1), turns=2)
    whole = one(table, measure="R", system="S1", topic=None, topic_type=None, trial=None)
    each = [row.value for row in table.select(measure="R", system="S1", trial=None) if row.topic and row.n]
    assert whole.value == pytest.approx(np.mean(each))
    assert (whole.n, whole.topics) == (24, 8)  # the chat topics have no R
    assert whole.low < whole.value < whole.high
    made = "Gaffke-type interval with an unseen topic"
    assert (whole.level, whole.interval, whole.resampled) == (0.95, made, "topics")
    recovery = one(table, measure="%recovery", system="S1", topic=None, topic_type=None, trial=None)
    assert (recovery.interval, recovery.resampled) == (made, "topics")
    assert recovery.note.startswith("effective n = ")
    topic = one(table, measure="%useful", system="S1", topic="M001", trial=None, turn=1)
    assert (topic.n, topic.interval) == (3, "Clopper-Pearson, exact")


def test_within_a_topic_the_trials_are_the_units_of_every_mean() -> None:
    spoken, topics, gold = many(trials=12)
    table = score(spoken, topics, gold, Settings(), np.random.default_rng(1), turns=2)
    for measure in ("R", "GF(RATINGS)"):
        topic = one(table, measure=measure, system="S1", topic="M001", trial=None, turn=None)
        assert topic.low < topic.value < topic.high
        assert (topic.n, topic.interval, topic.resampled) == (12, "Gaffke-type interval with an unseen trial", "trials")


def test_a_topic_with_fewer_valid_trials_has_the_same_weight_as_the_others() -> None:
    topics = topic_set(*(Topic(name, MOVIE, "ask") for name in ("M001", "M002")))
    gold = GoldTable([GoldEntry(name, movie(1), 2) for name in ("M001", "M002")])
    spoken = [conversation(("go", movie(1)), topic="M001", trial=trial) for trial in (1, 2, 3)]
    spoken.append(conversation(("go", filler(500) + " " + movie(1)), topic="M002", trial=1))
    lost = [TrialKey("B1", "M002", trial) for trial in (2, 3)]
    table = score(spoken, topics, gold, Settings(), np.random.default_rng(1), invalid=lost)
    each = [one(table, measure="R", topic=name, trial=None).value for name in ("M001", "M002")]
    whole = one(table, measure="R", topic=None, topic_type=None, trial=None)
    assert whole.value == pytest.approx(sum(each) / 2)
    assert (whole.n, whole.topics, whole.invalid) == (4, 2, 2)


def test_settings_choose_the_method_of_intervals() -> None:
    spoken, topics, gold = many()
    settings = Settings(resample="topics+trials", shares="bootstrap", level=0.9, replications=500)
    table = score(spoken, topics, gold, settings, np.random.default_rng(1), turns=2)
    for measure in ("R", "%recovery", "ave%useful"):
        row = one(table, measure=measure, system="S1", topic=None, topic_type=None, trial=None)
        assert (row.level, row.resampled) == (0.9, "topics+trials")
        assert row.interval == "Gaffke-type interval with an unseen topic, or bootstrap percentile, the wider"
    within = one(table, measure="%recovery", system="S1", topic=None, topic_type=None, trial=1)
    assert within.interval == "Gaffke-type interval with an unseen topic"


def test_without_gold_only_usefulness_is_scored_and_the_table_says_what_is_missing() -> None:
    spoken, topics, _ = many()
    table = score(spoken, topics, None, Settings(), np.random.default_rng(1), turns=2)
    assert {row.measure for row in table.rows} == {"%useful", "ave%useful", "%recovery"}
    assert table.notes == ("No gold table: only usefulness is scored; R, GF and GFR need one.",)


def test_a_topic_without_gold_is_undefined_not_zero() -> None:
    gold = GoldTable([GoldEntry("M001", movie(1), 2)])
    topics = topic_set(*(Topic(name, MOVIE, "ask") for name in ("M001", "M002")))
    spoken = [conversation(("go", movie(1)), topic=name) for name in ("M001", "M002")]
    table = score(spoken, topics, gold, Settings(), np.random.default_rng(1))
    row = one(table, measure="R", topic="M002", trial=1)
    assert math.isnan(row.value)
    assert (row.n, row.unjudged, row.note) == (0, 1, "the gold table has no entry for this topic")
    whole = one(table, measure="R", topic=None, topic_type=None, trial=None)
    assert (whole.topics, whole.n) == (1, 1)
    assert whole.value == one(table, measure="R", topic="M001", trial=1).value
    assert math.isnan(whole.low)
    assert whole.note == "1 conversation without a value, left out; one topic: nothing to resample"


def test_unknown_groups_repeats_and_links_outside_the_text_are_reported() -> None:
    gold = GoldTable([GoldEntry("M002", movie(1), 2, groups={"RATINGS": (0.0, 0.0, 0.0, 1.0)})])
    spoken = conversation(("go", f"{movie(1)} {movie(1)}"), links=[(Link("card", movie(2)),)])
    table = score([spoken], topic_set(M002), gold, Settings(), np.random.default_rng(1))
    assert of_conversation(table, "R").note == "1 repeated"
    assert of_conversation(table, "GF(ORIGIN)").unknown == 1
    assert of_conversation(table, "GF(RATINGS)").unknown == 0
    notes = [row.note for row in table.select(measure="pw")]
    assert notes == ["", "repeated", "unjudged; outside the text, placed at the last word of the turn"]


def test_invalid_and_unplayed_trials_are_counted_and_in_no_figure() -> None:
    topics = grid_topics(3)
    lost = [TrialKey("G", "T03", 1)]
    planned = [TrialKey("G", f"T0{number}", trial) for number in (1, 2, 3) for trial in (1, 2)]
    table = score(
        grid(["oo", "xo"]), topics, None, Settings(), np.random.default_rng(1), turns=2, invalid=lost, planned=planned
    )
    row = one(table, measure="%useful", turn=1, topic=None, topic_type=None, trial=None)
    assert (row.value, row.n, row.invalid, row.worst, row.best) == (0.5, 2, 1, 1 / 3, 2 / 3)
    assert "1 trial without a valid attempt" in table.notes[1]
    assert "3 planned trials not played yet" in table.notes[2]
    assert one(table, measure="%useful", turn=1, topic="T03", trial=None).invalid == 1


def test_an_attempt_that_failed_before_a_valid_one_is_not_an_invalid_trial() -> None:
    spoken = grid(["oo"])
    table = score(spoken, grid_topics(1), None, Settings(), np.random.default_rng(1), invalid=[spoken[0].key])
    assert {row.invalid for row in table.rows} == {0}


def test_turns_may_differ_by_topic() -> None:
    topics = grid_topics(2)
    table = score(
        grid(["oxo", "o"]), topics, None, Settings(), np.random.default_rng(1), turns={("G", "T01"): 3, ("G", "T02"): 1}
    )
    third = one(table, measure="%useful", turn=3, topic=None, topic_type=None, trial=None)
    assert (third.value, third.n) == (1.0, 1)
    assert list(table.select(measure="%useful", topic="T02", turn=2)) == []


def test_a_turn_that_took_place_is_scored_even_if_the_protocol_did_not_expect_it() -> None:
    for turns in (1, {}, {("G", "T01"): 1, ("G", "T02"): 2}):
        table = score(grid(["xo", "xx"]), grid_topics(2), None, Settings(), np.random.default_rng(1), turns=turns)
        second = one(table, measure="%useful", turn=2, topic=None, topic_type=None, trial=None)
        assert (second.value, second.n) == (0.5, 2)
        assert one(table, measure="%recovery", topic=None, topic_type=None, trial=None).value == 0.5


def test_the_figures_of_a_system_do_not_depend_on_how_long_another_one_was_talked_to() -> None:
    short, long = grid(["ox", "o-"], system="A"), grid(["oxo", "ooo"], system="B")
    alone = score(short, grid_topics(2), None, Settings(), np.random.default_rng(1))
    beside = score((*short, *long), grid_topics(2), None, Settings(), np.random.default_rng(1))
    assert [row for row in beside.rows if row.system == "A"] == pytest.approx(alone.rows, nan_ok=True)


def test_an_empty_run_gives_an_empty_table() -> None:
    table = score([], PAPER_TOPICS, paper_gold(), Settings(), np.random.default_rng(1))
    assert table.as_json() == {"format": "harvest-scores/1", "settings": Settings().as_json(), "notes": [], "rows": []}


def test_empty_answers_and_no_turns_are_scored_as_they_are() -> None:
    silent = conversation(("", ""), labels="x")
    mute = replace(conversation(trial=2), outcome=Outcome("turn-limit"))
    table = score([silent, mute], PAPER_TOPICS, paper_gold(), Settings(), np.random.default_rng(1), turns=2)
    assert [row.value for row in table.select(measure="R", topic="M002") if row.trial] == [0.0, 0.0]


@pytest.mark.parametrize(
    ("spoken", "settings", "message"),
    [
        ([paper_b1(), paper_b1()], Settings(), "trial 1 of topic 'M002' with system 'B1' occurs twice"),
        ([replace(paper_b1(), outcome=Outcome("invalid", "timeout"))], Settings(), "did not end validly"),
        ([replace(paper_b1(), outcome=None)], Settings(), "did not end validly"),
        ([conversation(topic="M099")], Settings(), "topic 'M099' is not in the topic set"),
        ([paper_b1()], Settings(weights={"SUBSCS": 1.0}), "no attribute set 'SUBSCS'"),
        ([paper_b1()], Settings(gains={1: 0.5}), "relevance grade 2"),
    ],
)
def test_an_unscorable_run_is_refused_with_one_clear_message(
    spoken: list[Conversation], settings: Settings, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        score(spoken, PAPER_TOPICS, paper_gold(), settings, np.random.default_rng(1))


def test_a_row_as_json_has_every_key_and_no_nan() -> None:
    row = of_conversation(paper_table(), "R")
    value = row.as_json()
    assert list(value)[:7] == ["measure", "system", "topic", "topic_type", "trial", "value", "n"]
    assert value["value"] == pytest.approx(0.014320063948840927, abs=1e-12)
    assert (value["low"], value["high"], value["entity"]) == (None, None, None)
    json.dumps(paper_table().as_json(), allow_nan=False)


def test_rows_are_selected_by_any_of_their_keys() -> None:
    assert len(list(paper_table().select(measure="pw", system="B1", turn=1))) == 5
    with pytest.raises(TypeError, match="no 'colour'"):
        paper_table().select(colour="red")


def test_gold_of_the_whole_set_is_that_of_the_paper() -> None:
    assert ORIGIN.gold[0] == pytest.approx(58 / 237)
    assert math.fsum(ORIGIN.gold) == pytest.approx(1.0)
