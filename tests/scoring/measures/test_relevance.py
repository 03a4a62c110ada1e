"""R(C): Table 1 of the GFRC paper, and how words cost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recordings.conversations.conversation import Conversation
from scoring.measures.relevance import hard_normaliser, relevance
from scoring.nuggets import Nugget, find_nuggets, position_weight
from scoring.settings import Settings
from tests.support.scoring_examples import (
    ATTRIBUTES,
    M002,
    PAPER,
    conversation,
    filler,
    movie,
    paper_b1,
    paper_g1,
    paper_gold,
)

TABLE_1 = {
    "B1": [0.9728, 0.9696, 0.9664, 0.9640, 0.9600, 0.9280, 0.9240, 0.9216, 0.9176, 0.9152],
    "G1": [0.5960, 0.5528],
}


def nuggets(spoken: Conversation, settings: Settings | None = None) -> tuple[Nugget, ...]:
    return find_nuggets(spoken, M002, paper_gold(), ATTRIBUTES, settings or Settings())


@pytest.mark.parametrize(("name", "spoken", "printed"), [("B1", paper_b1(), 0.0143), ("G1", paper_g1(), 0.0014)])
def test_table_1_of_the_paper(name: str, spoken: Conversation, printed: float) -> None:
    earning = [nugget for nugget in nuggets(spoken) if nugget.relevant]
    weights = position_weight([nugget.position for nugget in earning], 1250)
    assert weights.tolist() == pytest.approx(TABLE_1[name], abs=1e-9)
    assert relevance(nuggets(spoken), 1250) == pytest.approx(printed, abs=1e-4)
    assert relevance(nuggets(spoken), 1250) == pytest.approx(PAPER["systems"][name]["computed"]["R"], abs=1e-12)


def test_equation_8_as_printed_and_the_older_gain_of_2_give_other_values() -> None:
    # Eq. 8 prints WC for WC - 1, and the text's 1.9456 keeps a gain of 2: neither gives Table 1.
    computed = PAPER["systems"]["B1"]["computed"]
    earning = [nugget for nugget in nuggets(paper_b1()) if nugget.relevant]
    literal = sum(max(0.0, 1 - nugget.position / 1250) * nugget.gain for nugget in earning) / hard_normaliser(1250)
    assert literal == pytest.approx(computed["R_if_Eq8_literal_WC_not_minus_1"], abs=1e-12)
    assert abs(literal - computed["R"]) > 1e-5
    assert computed["R_if_gain_2_and_1"] == pytest.approx(2 * relevance(nuggets(paper_b1()), 1250), abs=1e-12)


def test_the_weight_falls_from_1_at_the_first_word_to_0_past_the_last_one_read() -> None:
    assert position_weight([1, 2, 1250, 1251, 9999], 1250).tolist() == pytest.approx([1, 0.9992, 0.0008, 0, 0])
    assert position_weight(np.arange(1, 1251), 1250).sum() == pytest.approx(hard_normaliser(1250)) == 625.5
    assert position_weight([[1, 2], [3, 4]], 10).shape == (2, 2)


@pytest.mark.parametrize(("position", "patience"), [(0, 10), (1, 0), (float("nan"), 10)])
def test_positions_and_patience_count_from_1(position: float, patience: int) -> None:
    with pytest.raises(ValueError, match="must be at least 1"):
        position_weight([position], patience)


def test_without_relevant_nuggets_r_is_0() -> None:
    assert relevance((), 1250) == 0.0
    assert relevance(nuggets(conversation(("go", f"{movie('0110912')} {movie('9999999')}"))), 1250) == 0.0


def test_a_repetition_earns_nothing_and_pushes_the_next_back() -> None:
    once = conversation(("go", f"{movie('0088763')} {movie('0088247')}"))
    twice = conversation(("go", f"{movie('0088763')} {movie('0088763')} {movie('0088247')}"))
    assert relevance(nuggets(twice), 1250) == pytest.approx(relevance(nuggets(once), 1250) - 1 / 1250 / 625.5)


@settings(deadline=None)
@given(st.integers(0, 3000), st.integers(1, 3000))
def test_words_spent_by_the_user_or_the_system_cost_the_same(before: int, patience: int) -> None:
    by_user = conversation((filler(before) + " go", movie("0088763")))
    by_system = conversation(("go", f"{filler(before)} {movie('0088763')}"))
    value = relevance(nuggets(by_user), patience)
    assert value == relevance(nuggets(by_system), patience)
    assert value == pytest.approx(max(0, 1 - (before + 1) / patience) * 2 / (patience + 1))
    assert 0 <= value <= 1


def test_gains_are_parameters() -> None:
    flat = Settings(gains={1: 1.0, 2: 1.0})
    spoken = conversation(("go", movie("0816692")))
    assert relevance(nuggets(spoken, flat), 1250) == pytest.approx(2 * relevance(nuggets(spoken), 1250))
