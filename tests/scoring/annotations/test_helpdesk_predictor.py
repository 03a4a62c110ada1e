"""The predictor of helpdesk annotations: sums worked by hand, laws of its shares, and figures on unseen dialogues."""

import json
import math
import random
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.annotations.held_out import mean_of_others
from scoring.annotations.helpdesk_blocks import (
    BLOCK_FEATURES,
    DIALOGUE_FEATURES,
    Block,
    block_values,
    dialogue_values,
    spoken_blocks,
    words_said,
)
from scoring.annotations.helpdesk_files import AnnotatedDialogue, Estimate, HelpdeskSubmission, read_helpdesk_files
from scoring.annotations.helpdesk_predictor import LinearShares, load_predictor
from scoring.annotations.helpdesk_scores import BASELINES, helpdesk_differences, helpdesk_rows
from scoring.annotations.helpdesk_training import cross_validate, train
from tests.support.checkout import DATA, DOCS
from topics.errors import InputError

COUNTS = DATA / "stc3" / "stc3_test_gold_counts.json"
GOLD = read_helpdesk_files([COUNTS]).gold
TYPES = {"customer": ("CNUG0", "CNUG", "CNUG*", "CNaN"), "helpdesk": ("HNUG", "HNUG*", "HNaN")}


def spoken(name: str, *said: str, quality: tuple[float, ...] = (1.0, 0.0, 0.0)) -> AnnotatedDialogue:
    """A dialogue of texts, the customer's first, that nobody found useful."""
    sides = tuple(("customer", "helpdesk")[at % 2] for at in range(len(said)))
    nuggets = tuple((0.0,) * (len(TYPES[side]) - 1) + (1.0,) for side in sides)
    blocks = spoken_blocks(zip(sides, said, strict=True))
    return AnnotatedDialogue(name, sides, nuggets, {"A": quality}, TYPES, {"A": ("1", "0", "-1")}, blocks)


def test_a_prediction_is_the_sum_that_the_file_shows() -> None:
    of = LinearShares(
        ("yes", "no"),
        np.array([0.4, 0.6]),
        np.array([[2.0, 0.0, 3.0]]),  # mean, lowest, highest
        np.array([[0.1, -0.1]]),
        {"customer: thanks": (0.2, -0.2)},
    )
    said, silent = frozenset({"customer: thanks", "customer: unknown"}), frozenset[str]()
    assert of.predict([[3.0]], [silent])[0] == pytest.approx([0.5, 0.5])
    assert of.predict([[3.0]], [said])[0] == pytest.approx([0.7, 0.3])
    # A feature beyond those of the training data counts as at their end.
    assert of.predict([[99.0], [-99.0]], [silent, silent]) == pytest.approx(np.array([[0.5, 0.5], [0.2, 0.8]]))
    # A share below .005 is .005 before the shares are divided by their sum.
    steep = replace(of, weights=np.array([[0.7, -0.7]]))
    assert steep.predict([[3.0]], [silent])[0] == pytest.approx([1.1 / 1.105, 0.005 / 1.105])


def test_the_features_of_a_dialogue_of_four_blocks_are_those_counted_by_hand() -> None:
    blocks = [Block("customer", 20), Block("helpdesk", 10), Block("customer", 4), Block("helpdesk", 30)]
    whole = dict(zip(DIALOGUE_FEATURES, dialogue_values(blocks), strict=True))
    assert whole["blocks (log)"] == math.log(5)
    assert whole["the dialogue has two blocks"] == whole["the dialogue has three blocks"] == 0
    assert whole["the customer has the last word"] == 0
    assert whole["words of the customer (log)"] == math.log(25)
    assert whole["words of the helpdesk's first block (log)"] == pytest.approx(math.log(11))
    assert whole["words of the customer's last block (log)"] == math.log(5)
    assert whole["words of the customer's longest later block (log)"] == math.log(5)
    assert whole["words of the helpdesk's longest block (log)"] == math.log(31)
    assert whole["share of the words that are the helpdesk's"] == 40 / 64
    third = dict(zip(BLOCK_FEATURES, block_values(blocks, 2), strict=True))
    assert (third["first block of its side"], third["second block of its side"]) == (0, 1)
    assert (third["last block of its side"], third["last block of the dialogue"]) == (1, 0)
    assert third["place in the dialogue, from 0 to 1"] == 2 / 3
    assert (third["at most 5 words"], third["at most 12 words"]) == (1, 1)
    assert third["words of the block before (log)"] == pytest.approx(math.log(11))
    assert third["words of the block after (log)"] == pytest.approx(math.log(31))
    assert third["words (log), in the last block of its side"] == math.log(5)
    assert third["words (log), in the first block of its side"] == 0


def test_two_characters_without_blanks_count_as_a_word_and_are_read_in_pairs() -> None:
    blocks = spoken_blocks([("customer", "手机坏了"), ("helpdesk", "请重启!")])
    assert [block.words for block in blocks] == [2, 2]
    assert words_said(blocks[:1]) == {"customer: 手机", "customer: 机坏", "customer: 坏了"}
    assert words_said(spoken_blocks([("helpdesk", "Don't worry, it’s DONE?")])) == {
        "helpdesk: don't",
        "helpdesk: worry",
        "helpdesk: it’s",
        "helpdesk: done",
        "helpdesk: ?",
    }


BLOCKS = st.lists(
    st.builds(
        Block,
        st.sampled_from(["customer", "helpdesk"]),
        st.floats(0, 1e6),
        st.none() | st.text(max_size=30),
    ),
    min_size=1,
    max_size=12,
)


@given(BLOCKS)
def test_every_predicted_distribution_sums_to_1_also_in_json(blocks: list[Block]) -> None:
    predictor = load_predictor()
    found = predictor.estimate(blocks)
    assert found.nuggets is not None
    assert found.quality is not None
    assert list(map(len, found.nuggets)) == [len(TYPES[block.side]) for block in blocks]
    for row in (*found.nuggets, *found.quality.values()):
        assert math.fsum(row) == pytest.approx(1, abs=1e-12)
        assert min(row) > 0
    written = json.loads(predictor.line("d", blocks))
    for shares in (*written["nugget"], *written["quality"].values()):
        assert math.fsum(shares.values()) == pytest.approx(1, abs=1e-15)


def test_the_predictor_that_comes_with_harvest_is_trained_on_these_annotations_byte_for_byte() -> None:
    shipped = load_predictor()
    shuffled = list(GOLD)
    random.Random(1).shuffle(shuffled)
    assert train(shuffled, about={"source": shipped.about["source"]}).to_json() == shipped.to_json()
    assert "CC BY 4.0" in shipped.about["source"]


def test_a_written_predictor_is_read_back(tmp_path: Path) -> None:
    talk = [spoken(f"d{at}", "It broke", "Press the button", "thanks" if at % 2 else "no") for at in range(24)]
    predictor = train(talk)
    assert any(of.words for of in predictor.nuggets.values()) or any(of.words for of in predictor.quality.values())
    (tmp_path / "mine.json").write_text(predictor.to_json(), encoding="utf-8")
    again = load_predictor(tmp_path / "mine.json")
    assert again.to_json() == predictor.to_json()
    blocks = talk[0].blocks or ()
    assert again.line("d", blocks) == predictor.line("d", blocks)


def test_unseen_dialogues_are_predicted_better_than_by_every_baseline_on_every_official_measure() -> None:
    material = replace(read_helpdesk_files([COUNTS]), submissions=(cross_validate(GOLD),))
    found = {(row.measure, other): row for row, other in helpdesk_differences(material)}
    official = [f"{name}({question})" for question in "ASE" for name in ("NMD", "RSNOD")]
    for measure in (*official, "RNSS(nugget)", "JSD(nugget)"):
        for other in BASELINES:
            row = found[measure, other]
            assert row.n == 390
            assert row.low < row.value < row.high < 0, (measure, other)
    assert found["NMD(S)", "baseline: majority"].value == pytest.approx(-0.0682, abs=5e-5)
    assert found["RNSS(nugget)", "baseline: prior"].value == pytest.approx(-0.1435, abs=5e-5)


def test_a_dialogue_is_predicted_without_its_own_annotations() -> None:
    """Turning one dialogue's labels round changes the predictions of others, and not its own."""
    turned = [
        replace(one, quality={key: row[::-1] for key, row in one.quality.items()}) if one is GOLD[7] else one
        for one in GOLD
    ]
    before, after = cross_validate(GOLD).estimates, cross_validate(turned).estimates
    assert before[GOLD[7].name] == after[GOLD[7].name]
    assert sum(before[one.name] != after[one.name] for one in GOLD) > 300


def test_words_help_where_lengths_cannot() -> None:
    talk = [
        spoken(
            f"d{at}",
            "My phone broke today",
            "Press the red button",
            "wonderful it works now" if at % 2 else "sadly it fails still",
            quality=(0.9, 0.1, 0.0) if at % 2 else (0.0, 0.1, 0.9),
        )
        for at in range(200)
    ]
    predictor = train(talk)
    good = predictor.estimate(spoken("x", "Hello", "Hi", "wonderful, thank you").blocks or ())
    bad = predictor.estimate(spoken("y", "Hello", "Hi", "sadly no good at").blocks or ())
    assert good.quality is not None
    assert bad.quality is not None
    assert good.quality["A"][0] > 0.5 > bad.quality["A"][0]
    mute = [replace(one, blocks=tuple(replace(block, text=None) for block in one.blocks or ())) for one in talk]
    assert train(mute).quality["A"].words == {}


def test_a_difference_is_the_mean_over_dialogues_of_the_two_divergences(tmp_path: Path) -> None:
    turns = [{"sender": "customer", "n": [1, 0, 0, 0]}]
    rows = [[2, 0, 0], [0, 2, 0], [0, 0, 2], [1, 1, 0], [2, 0, 0]]
    gold = {
        "customer_types": list(TYPES["customer"]),
        "helpdesk_types": list(TYPES["helpdesk"]),
        "quality_scale": ["1", "0", "-1"],
        "dialogues": [{"id": f"d{at}", "turns": turns, "quality": {"A": row}} for at, row in enumerate(rows)],
    }
    mine = [{"id": f"d{at}", "quality": {"A": {"1": 1, "0": 0, "-1": 0}}} for at in range(len(rows))]
    (tmp_path / "gold.json").write_text(json.dumps(gold), encoding="utf-8")
    (tmp_path / "mine.json").write_text(json.dumps(mine), encoding="utf-8")
    material = read_helpdesk_files([tmp_path / "gold.json", tmp_path / "mine.json"])
    found = {(row.measure, other): row for row, other in helpdesk_differences(material)}
    # NMD of (1, 0, 0): 0, 1/2, 1, 1/4, 0. NMD of uniform: 1/2, 1/3, 1/2, 1/4, 1/2.
    row = found["NMD(A)", "baseline: uniform"]
    assert row.value == pytest.approx((1.75 - (1.5 + 1 / 3 + 1 / 4)) / 5)
    assert (row.n, row.system) == (5, "mine")
    assert row.low < row.value < row.high
    # The levels of the others are 1 for every dialogue, so "majority" says what this submission says.
    assert found["NMD(A)", "baseline: majority"].value == 0


@pytest.mark.parametrize(
    ("talk", "said"),
    [
        ([spoken(f"d{at}", "a") for at in range(9)], "training needs more than 9 annotated dialogues"),
        ([spoken(f"d{at}", "a") for at in range(10)], "the helpdesk says nothing in these dialogues"),
        (
            [replace(spoken(f"d{at}", "a", "b"), blocks=None) for at in range(10)],
            "the turns of dialogue 'd0' have no lengths",
        ),
        (
            [replace(spoken(f"d{at}", "a", "b"), levels={"A": ("1", "0", "-1" if at else "2")}) for at in range(10)],
            "the dialogues have different levels of A",
        ),
        (
            [replace(spoken(f"d{at}", "a", "b"), types=TYPES if at else {**TYPES, "x": ()}) for at in range(10)],
            "the dialogues have different nugget types",
        ),
    ],
)
def test_dialogues_unfit_for_training_give_one_message(talk: list[AnnotatedDialogue], said: str) -> None:
    with pytest.raises(InputError) as caught:
        train(talk)
    assert str(caught.value).startswith(said)


def test_too_few_dialogues_are_not_cross_validated() -> None:
    with pytest.raises(InputError, match="cross-validation needs more than 11 annotated dialogues"):
        cross_validate([spoken(f"d{at}", "a", "b") for at in range(11)])
    assert len(cross_validate([spoken(f"d{at:02}", "a", "b") for at in range(12)]).estimates) == 12


BROKEN: dict[str, tuple[Callable[[str], str], str]] = {
    "not JSON": (lambda text: text[:-3], "mine.json:"),
    "no predictor": (
        lambda text: '{"format": "harvest-breakdown/2"}',
        "mine.json:1:1: this is not a helpdesk predictor",
    ),
    "fewer numbers": (lambda text: text.replace("[1.65191, ", "[", 1), "these are not 8 numbers"),
    "a feature": (lambda text: text.replace("blocks (log)", "posts", 1), "the features are those of another version"),
    "a number too large": (lambda text: text.replace("1.65191", "1e10", 1), "these are not 8 numbers"),
    "two names alike": (lambda text: text.replace('"CNUG0"', '"CNUG"', 1), "these are not names of levels or types"),
    "a share": (lambda text: text.replace("1.65191", '"x"', 1), "these are not 8 numbers"),
    "a side": (
        lambda text: text.replace('"helpdesk": {"names"', '"other": {"names"', 1),
        "the object has no 'helpdesk'",
    ),
}


@pytest.mark.parametrize("change", BROKEN)
def test_a_file_without_a_predictor_is_refused_by_file_line_and_column(tmp_path: Path, change: str) -> None:
    breaking, said = BROKEN[change]
    (tmp_path / "mine.json").write_text(breaking(load_predictor().to_json()), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_predictor(tmp_path / "mine.json")
    assert said in str(caught.value)
    assert "mine.json:" in str(caught.value)


def test_the_position_of_a_block_predicts_most_about_its_nuggets() -> None:
    """The figures on docs/dialogues.md: the prior of the first block of each side, and of later ones."""
    found: dict[str, list[tuple[float, ...]]] = {one.name: [()] * len(one.sides) for one in GOLD}
    for side, first in product(TYPES, (True, False)):
        blocks = [
            (one.name, at, one.nuggets[at])
            for one in GOLD
            for at, its in enumerate(one.sides)
            if its == side and (one.sides.index(side) == at) == first
        ]
        prior = mean_of_others([row for _, _, row in blocks], [name for name, _, _ in blocks])
        for (name, at, _), row in zip(blocks, prior.tolist(), strict=True):
            found[name][at] = tuple(row)
    estimates = {name: Estimate(tuple(rows), None) for name, rows in found.items()}
    by_place = HelpdeskSubmission("place", estimates, nuggets=True, quality=False)
    silent = [replace(one, blocks=tuple(replace(block, words=0) for block in one.blocks or ())) for one in GOLD]
    deaf = replace(cross_validate(silent), name="without lengths")
    material = replace(read_helpdesk_files([COUNTS]), submissions=(cross_validate(GOLD), by_place, deaf))
    value = {(row.system, row.measure): row.value for row in helpdesk_rows(material, replications=100)}
    shown = [value["place", "RNSS(nugget)"], value["place", "JSD(nugget)"]]
    shown += [value["predictor, cross-validated", name] for name in ("RNSS(nugget)", "JSD(nugget)", "NMD(A)")]
    shown += [value["without lengths", f"NMD({question})"] for question in "ASE"]
    assert [f"{one:.4f}" for one in shown] == [
        "0.1638",
        "0.0617",
        "0.1457",
        "0.0523",
        "0.1238",
        "0.1343",
        "0.1370",
        "0.1277",
    ]
    page = (DOCS / "dialogues.md").read_text(encoding="utf-8")
    assert [one for one in shown if f"{one:.4f}"[1:] not in page] == []
