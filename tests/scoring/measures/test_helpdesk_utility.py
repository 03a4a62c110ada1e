"""UCH: U-measure of a helpdesk dialogue, worked by hand and asked for on the command line."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordings.formats.dialeval import read_helpdesk
from recordings.formats.importers import make_topics
from scoring.library import read_term
from scoring.material import Judged
from scoring.measures.u_measure import u_measure
from scoring.notation import parse, parse_all
from scoring.scores import score
from scoring.settings import Settings
from scoring.swan.judged import Judgments
from scoring.swan.precedence import Precedence
from scoring.swan.schema import load_schema
from tests.support.checkout import DOCS
from tests.support.command_line import harvest
from topics.errors import InputError
from topics.topic import TopicSet

SCHEMA = load_schema("dialeval-nuggets")
SAID = [
    ("customer", "It is dead."),  # words 1 to 3
    ("helpdesk", "Hold the button."),  # 4 to 6
    ("customer", "Which?"),  # 7
    ("helpdesk", "The red."),  # 8 and 9
]
TYPES = [["CNUG0", "HNUG", "CNaN", "HNUG*"], ["CNUG0", "HNaN", "CNUG", "HNUG*"]]


def written(folder: Path, said: list[tuple[str, str]], types: list[list[str]]) -> Path:
    turns = [{"sender": sender, "utterances": [text]} for sender, text in said]
    annotations = [{"nugget": one, "quality": {}} for one in types]
    path = folder / "desk.json"
    path.write_text(json.dumps([{"id": "d1", "turns": turns, "annotations": annotations}]), encoding="utf-8")
    return path


def utilities(
    folder: Path, *terms: str, said: list[tuple[str, str]] = SAID, types: list[list[str]] = TYPES
) -> dict[str, tuple[float, int, str]]:
    """The value, n and note of each term."""
    found = read_helpdesk([written(folder, said, types)])
    judged = Judged(SCHEMA, Judgments.from_layers(found.layers, SCHEMA, Precedence.from_options(None, None, None)))
    table = score(
        list(found.conversations),
        make_topics(list(found.conversations)),
        None,
        Settings(),
        np.random.default_rng(0),
        measures=[one for term in terms for one in parse_all(term)],
        only=True,
        judged=judged,
    )
    rows = [row for row in table.rows if row.topic is not None and row.trial == 1]
    return {row.measure: (row.value, row.n, row.note) for row in rows}


def test_the_two_sides_and_their_sum_are_those_computed_by_hand(tmp_path: Path) -> None:
    found = utilities(tmp_path, "UCH(L=10)", "UCH(customer, L=10)", "UCH(helpdesk, L=10)")
    # Discounts of the four turns: 1 - (3 - 1)/10 = .8, .5, .4 and .2. Half of the annotators saw a nugget in the second
    # and in the third turn.
    assert found["UCH(customer, L=10)"][0] == pytest.approx(1 * 0.8 + 0.5 * 0.4)
    assert found["UCH(helpdesk, L=10)"][0] == pytest.approx(0.5 * 0.5 + 1 * 0.2)
    assert found["UCH(L=10)"][0] == pytest.approx((1.0 + 0.45) / 2)
    assert [one[1:] for one in found.values()] == [(4, ""), (2, ""), (2, "")]


def test_alpha_weighs_the_helpdesk_and_goal_is_the_gain_of_a_solution(tmp_path: Path) -> None:
    found = utilities(tmp_path, "UCH(L=10, alpha=0.8)", "UCH(helpdesk, L=10, goal=2)", "UCH(L=10, goal=0, alpha=1)")
    assert found["UCH(L=10, alpha=0.8)"][0] == pytest.approx(0.2 * 1.0 + 0.8 * 0.45)
    assert found["UCH(helpdesk, L=10, goal=2)"][0] == pytest.approx(0.5 * 0.5 + 2 * 0.2)
    assert found["UCH(L=10, alpha=1, goal=0)"][0] == pytest.approx(0.5 * 0.5)


def test_several_annotators_have_the_mean_of_their_u_measures(tmp_path: Path) -> None:
    positions, gains = [2, 5, 6, 8], [[1, 1, 0, 1], [1, 0, 1, 1]]  # words read before the end of each turn
    each = [u_measure(one, positions, 10) for one in gains]
    found = utilities(tmp_path, "UCH(L=10)")
    assert found["UCH(L=10)"][0] == pytest.approx(sum(each) / 2 / 2)


@given(st.lists(st.sampled_from(["CNUG0", "CNUG", "CNUG*", "CNaN"]), min_size=2, max_size=2), st.integers(1, 40))
def test_more_words_before_a_nugget_never_raise_it(
    tmp_path_factory: pytest.TempPathFactory, types: list[str], more: int
) -> None:
    folder = tmp_path_factory.mktemp("uch")
    said = [("customer", "It is dead."), ("helpdesk", "Hold."), ("customer", "No.")]
    given_types = [[types[0], "HNUG", types[1]]]
    short = utilities(folder, "UCH(L=20)", said=said, types=given_types)["UCH(L=20)"][0]
    said[0] = ("customer", "It is dead. " + "Really " * more)
    assert utilities(folder, "UCH(L=20)", said=said, types=given_types)["UCH(L=20)"][0] <= short


def test_unjudged_dialogues_are_undefined_and_an_unjudged_part_is_in_the_note(tmp_path: Path) -> None:
    value, n, note = utilities(tmp_path, "UCH", types=[])["UCH"]
    assert (math.isnan(value), n, note) == (True, 0, "it was not judged")
    found = utilities(tmp_path, "UCH(helpdesk)", said=SAID[:1], types=[["CNUG0"]])
    value, n, _ = found["UCH(helpdesk)"]
    assert (math.isnan(value), n) == (True, 0)
    alone = utilities(tmp_path, "UCH(L=10)", said=SAID[:1], types=[["CNUG0"]])["UCH(L=10)"]
    assert alone[1] == 1
    assert alone[0] == pytest.approx(0.8 / 2)  # the helpdesk said nothing, which has no use


def test_dialogues_without_blanks_between_words_are_measured_in_characters(tmp_path: Path) -> None:
    said = [("customer", "手机坏了"), ("helpdesk", "请重启手机")]
    value, _, note = utilities(tmp_path, "UCH(Lc=10)", said=said, types=[["CNUG0", "HNUG*"]])["UCH(Lc=10)"]
    assert value == pytest.approx((0.7 + 0.2) / 2)
    assert note == "in characters, L = 10"


BAD = {
    "UCH(bot)": "UCH(bot): there is no side 'bot'\n  allowed: customer, helpdesk",
    "UCH(alpha=2)": "UCH(alpha=2): alpha: alpha cannot be 2\n  allowed: a number from 0 to 1",
    "UCH(goal=often)": "UCH(goal=often): goal: often is not a number",
    "UCH(customer, alpha=0.2)": "UCH(customer, alpha=0.2): alpha weighs two sides",
    "UCH(customer, helpdesk)": "UCH(customer, helpdesk): UCH takes at most 1 argument, not 2",
    "UCH(beta=1)": "UCH(beta=1): UCH has no parameter beta",
}


@pytest.mark.parametrize("term", BAD)
def test_an_unknown_term_gives_one_message(term: str) -> None:
    with pytest.raises(InputError) as caught:
        read_term(parse(term), Settings(), TopicSet("t", (), {}), lambda: SCHEMA)
    assert str(caught.value).startswith(BAD[term])


def test_the_utility_is_scored_from_imported_annotations_and_needs_their_schema(tmp_path: Path) -> None:
    written(tmp_path, SAID, TYPES)
    assert harvest("data", "import", "--format", "dialeval", "desk.json", "--out", "run", cwd=tmp_path).returncode == 0
    done = harvest("score", "run", "--schema", "dialeval-nuggets", "-m", "UCH(L=10), UCH(customer, L=10)", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "0.7250" in done.stdout
    assert "1.0000" in done.stdout
    done = harvest("score", "run", "-m", "UCH", cwd=tmp_path)
    assert done.returncode == 2
    assert "no criterion 'Customer nugget' with the values of DialEval" in done.stderr
    assert "--schema dialeval-nuggets" in done.stderr


def test_the_dialogue_on_the_page_has_the_value_on_the_page(tmp_path: Path) -> None:
    said = [("customer", "My phone is off.\nWhat now?"), ("helpdesk", "Press the button for ten seconds.")]
    page = (DOCS / "swan.md").read_text(encoding="utf-8")
    assert '"annotations": [{"nugget": ["CNUG0", "HNUG"]' in page
    found = utilities(tmp_path, "UCH", said=said, types=[["CNUG0", "HNUG"]])["UCH"][0]
    assert found == pytest.approx((2 - 16 / 1250) / 2)
    assert f"UCH\n{found:.4f}".replace("0.", ".") in page
