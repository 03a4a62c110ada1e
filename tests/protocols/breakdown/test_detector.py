"""The detector that comes with Harvest: distributions, what spoke, hostile texts, time, and files that are none."""

from __future__ import annotations

import json
import math
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from protocols.answer import Answer, Exchange
from protocols.breakdown.detector import Detector, load_detector
from protocols.breakdown.features import FEATURES, Utterance, feature_values, word_grams
from protocols.rules.breakdown import Breakdown
from protocols.rules.registry import KINDS_OF_RULES
from protocols.rules.rule import Sight
from topics.errors import InputError
from topics.topic import Topic, TopicType

TOPIC = Topic("T1", TopicType("chat"), "Talk.")
TURNS = (
    Utterance("U", "What is your favourite film?"),
    Utterance("S", "I like Primer. Do you like films?"),
    Utterance("U", "Yes! Which film should I watch tonight?"),
    Utterance("S", "I don't know what you mean. I don't know."),
    Utterance("U", "What? That makes no sense."),
    Utterance("S", "I don't know what you mean. I don't know."),
)
HOSTILE = ("", " ", "\x00", "🙂" * 5000, "?" * 100_000, "a" * 2_000_000, "\u202eabc", "ſ İ ß ﷺ", "^ $ s:x", "\ud800")


@pytest.fixture(scope="module")
def detector() -> Detector:
    return load_detector()


def test_a_system_that_repeats_that_it_does_not_know_is_nearer_a_breakdown_than_one_that_answers(
    detector: Detector,
) -> None:
    found = detector.predict(TURNS, [1, 3, 5])
    assert found.sum(axis=1) == pytest.approx(1)
    assert found[0, 2] < found[1, 2] < found[2, 2]


def test_the_reasons_sum_to_the_probability_and_the_strongest_comes_first(detector: Detector) -> None:
    for at in (1, 3, 5):
        found = detector.explain(TURNS, at)
        sums = [abs(one.added) for one in found.contributions]
        assert sums == sorted(sums, reverse=True)
        raw = found.base + math.fsum(one.added for one in found.contributions)
        assert raw == pytest.approx(found.probabilities[2], abs=0.01)  # what is kept in bounds sums to nearly 1
        assert found.probabilities == pytest.approx(tuple(detector.predict(TURNS, [at])[0]))


def test_a_turn_is_judged_only_by_the_preceding_text(detector: Detector) -> None:
    whole, first = detector.predict(TURNS, [1, 3]), detector.predict(TURNS[:4], [1, 3])
    assert np.array_equal(whole, first)


@pytest.mark.parametrize("text", HOSTILE, ids=[ascii(text[:6]) for text in HOSTILE])
def test_no_text_breaks_the_detector(detector: Detector, text: str) -> None:
    turns = (Utterance("U", text), Utterance("S", text), Utterance("U", text), Utterance("S", text))
    assert all(map(math.isfinite, feature_values(turns, 3)))
    found = detector.predict(turns, [1, 3])
    assert np.isfinite(found).all()
    assert (found > 0).all()
    exchanges = (Exchange(text, Answer(text)), Exchange(text, Answer(text)))
    for piece in Breakdown(above=0.5).judge(Sight(TOPIC, exchanges, ("o",))).evidence:
        assert piece.start == -1 or text[piece.start : piece.end] == piece.quote


def test_a_system_that_opens_is_judged_without_a_user_turn(detector: Detector) -> None:
    assert detector.predict((Utterance("S", "Hello!"),), [0]).sum() == pytest.approx(1)
    assert detector.predict((), []).shape == (0, 3)


@pytest.mark.parametrize("size", [2_000, pytest.param(10_000, marks=pytest.mark.soak)])
def test_two_thousand_turns_of_one_conversation_take_less_than_a_second(detector: Detector, size: int) -> None:
    turns = [
        Utterance("S" if k % 2 else "U", f"{TURNS[k % 6].text} Number {k} of many words.") for k in range(2 * size)
    ]
    begun = time.process_time()
    assert detector.predict(turns, range(1, 2 * size, 2)).shape == (size, 3)
    assert time.process_time() - begun < size / 2000


def test_the_rule_agrees_with_the_detector_and_names_the_words() -> None:
    exchanges = tuple(Exchange(TURNS[k].text, Answer(TURNS[k + 1].text)) for k in (0, 2, 4))
    probability = load_detector().explain(TURNS, 5).probabilities[2]
    sight = Sight(TOPIC, exchanges, ("o", "x"))
    assert KINDS_OF_RULES["breakdown"] is Breakdown
    assert Breakdown(above=probability - 1e-6).judge(sight).holds
    verdict = Breakdown(above=probability).judge(sight)
    assert not verdict.holds
    assert f"X {probability:.3f}" in verdict.evidence[0].note
    assert len(verdict.evidence) == 6
    for piece in verdict.evidence[1:]:
        assert piece.note[0] in "+-"


def test_the_rule_agrees_with_the_detector_in_a_long_conversation() -> None:
    turns = TURNS * 7
    exchanges = tuple(Exchange(turns[k].text, Answer(turns[k + 1].text)) for k in range(0, len(turns), 2))
    verdict = Breakdown(above=0.5).judge(Sight(TOPIC, exchanges, ("o",) * (len(exchanges) - 1)))
    (row,) = load_detector().predict(turns, [len(turns) - 1])
    assert f"O {row[0]:.3f}, T {row[1]:.3f}, X {row[2]:.3f}" in verdict.evidence[0].note


def test_there_is_a_value_for_every_feature_and_grams_say_whose_words_they_are() -> None:
    assert len(feature_values(TURNS, 3)) == len(FEATURES) == len(set(FEATURES))
    assert {"s:i don't", "u:tonight", "s:know $"} <= word_grams(TURNS, 3)


def test_a_detector_is_read_back_as_it_was_written_and_the_shipped_file_is_small(
    detector: Detector, tmp_path: Path
) -> None:
    file = tmp_path / "detector.json"
    file.write_text(detector.to_json(), encoding="utf-8")
    assert file.stat().st_size < 330_000
    assert load_detector(file).to_json() == detector.to_json()
    assert "MIT licence" in detector.about["source"]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("harvest-breakdown/2", "harvest-breakdown/9", ": its 'format' is different"),
        ('"turn number"', '"number of turns"', ": its features are those of another version"),
        ('"base": [', '"base": [0.1, ', ": the shape of its weights does not fit this version"),
        ('"trees": [\n[[', '"trees": [\n[[99, ', ": the shape of its weights does not fit"),
        ('"words": {', '"words": {"s:x": [1, 2, Infinity, 1, 0, 0, 0],', ": a weight is not a finite number"),
        ('"words": {', '"words": {"s:x": [1, 2, 3, 0, 0, 0, 0],', ": the shape of its weights does not fit"),
        ('"words": {', '"words": {"s:x": [1, 2, 3, 1, 1, 1],', ": the shape of its weights does not fit"),
        ('"systems": {', '"systems": {"S": [0, [0, 0, 0], 1, [0]],', ": the shape of its weights does not fit"),
        ('"familiarity": [[', '"familiarity": [[1, ', ": the shape of its weights does not fit"),
        ('"familiarity": ', '"familiar": ', ": its entry 'familiarity' is missing"),
        ('"words": {', '"words": {"s:x": [1, 2],', ": the shape of its weights does not fit"),
        ('"words": {', '"others": {', ": its entry 'words' is missing"),
        ('"dialogues": [', '"dialogues": {', ": it is not JSON from here on"),
        ("{", "", ": it is not JSON from here on"),
        ("{", "[" * 100_000, ": it is not "),
    ],
)
def test_an_invalid_detector_file_is_refused_with_advice(
    detector: Detector, tmp_path: Path, old: str, new: str, why: str
) -> None:
    file = tmp_path / "detector.json"
    file.write_text(detector.to_json().replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as raised:
        load_detector(file)
    assert str(raised.value).startswith(f"{file}:")
    assert f"not a breakdown detector{why}" in raised.value.what
    assert raised.value.advice


def test_a_detector_of_the_first_format_predicts_as_it_did_then(tmp_path: Path) -> None:
    # base (.5, .3, .2), one word that moves .1 from O to X, one tree that moves .05 from O to X for questions.
    place = FEATURES.index("asks a question")
    leaves = [[0, 0, 0]] * 4 + [[-0.05, 0, 0.05]] * 4
    document = {
        "format": "harvest-breakdown/1",
        "about": {},
        "base": [0.5, 0.3, 0.2],
        "features": {name: [0, 0, 0, 0] for name in FEATURES},
        "words": {"s:cheese": [-0.1, 0, 0.1]},
        "trees": [[[place] * 3, [0.5, 2, 2], [x for leaf in leaves for x in leaf]]],
        "dialogues": [],
    }
    (tmp_path / "old.json").write_text(json.dumps(document))
    old = load_detector(tmp_path / "old.json")
    turns = (Utterance("U", "Hi"), Utterance("S", "Cheese?"), Utterance("U", "No"), Utterance("S", "Cheese"))
    found, labels = old.predict_labels(turns, [1, 3])
    assert found == pytest.approx(np.array([[0.35, 0.3, 0.35], [0.4, 0.3, 0.3]]))
    assert labels[1] == 0
    (tmp_path / "new.json").write_text(old.to_json())
    assert np.array_equal(load_detector(tmp_path / "new.json").predict(turns, [1, 3]), found)


def test_the_weight_of_the_addition_follows_familiarity_and_the_label_does_not(detector: Detector) -> None:
    strange, known = (
        replace(detector, familiarity=replace(detector.familiarity, weights=np.array([constant, 0.0, 0.0])))
        for constant in (-40.0, 40.0)
    )
    levels = replace(detector.familiarity, levels=np.zeros((4, 3)))
    assert strange.predict_labels(TURNS, [1, 3, 5])[1].tolist() == known.predict_labels(TURNS, [1, 3, 5])[1].tolist()
    strange, known = (
        replace(one, familiarity=replace(levels, weights=one.familiarity.weights)) for one in (strange, known)
    )
    far, near = strange.predict(TURNS, [1, 3]) - 1 / 3, known.predict(TURNS, [1, 3]) - 1 / 3
    assert near == pytest.approx(3 * far, abs=1e-4)  # .75 and .25; rounded weights sum to nearly 0
    assert strange.explain(TURNS, 3).familiarity < 1e-6
    assert known.explain(TURNS, 3).familiarity > 1 - 1e-6


def test_dialogues_unlike_chat_become_less_familiar_turn_by_turn(detector: Detector) -> None:
    # Of the annotated turns it was trained on, 95% have a familiarity above .4.
    report = " ".join(f"Section {k}: the committee adopted resolution {k * 7} in {1900 + k}." for k in range(60))
    for text in (report, ""):
        turns = tuple(Utterance("S" if k % 2 else "U", text[k:]) for k in range(8))
        found = [detector.explain(turns, at).familiarity for at in (1, 3, 5, 7)]
        assert found == sorted(found, reverse=True)
        assert found[-1] < 0.3


def test_a_missing_detector_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        load_detector(tmp_path / "none.json")
    (tmp_path / "latin.json").write_bytes(b"{\xe9}")
    with pytest.raises(InputError, match="it is not UTF-8 text"):
        load_detector(tmp_path / "latin.json")
