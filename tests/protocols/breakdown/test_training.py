"""Training: the same data give the same weights, and what the annotators said is learnt."""

from __future__ import annotations

import numpy as np
import pytest

from protocols.breakdown.examples import AnnotatedDialogue, Examples, collect_examples
from protocols.breakdown.features import Utterance
from protocols.breakdown.training import train
from protocols.breakdown.trees import fit_trees
from topics.errors import InputError

GOOD, BAD = (0.8, 0.1, 0.1), (0.1, 0.1, 0.8)


def dialogue(number: int) -> AnnotatedDialogue:
    """A system that takes up what the user says, and then says the same thing twice."""
    city = ("Paris", "Lima", "Oslo", "Kyoto", "Accra", "Quito")[number % 6]
    turns = (
        Utterance("U", f"Tell me about {city}"),
        Utterance("S", f"{city} is a city with {number + 3} museums."),
        Utterance("U", f"Which museum in {city} is best?"),
        Utterance("S", "I like cheese."),
        Utterance("U", f"Do they open on Sunday in {city}?"),
        Utterance("S", "I like cheese."),
    )
    return AnnotatedDialogue(f"d{number}", "AB"[number % 2], turns, {1: GOOD, 3: BAD, 5: BAD})


DIALOGUES = [dialogue(number) for number in range(40)]


@pytest.fixture(scope="module")
def examples() -> Examples:
    return collect_examples(DIALOGUES)


def test_the_same_dialogues_in_any_order_give_the_same_file_byte_for_byte(examples: Examples) -> None:
    assert train(examples).to_json() == train(collect_examples(DIALOGUES[::-1])).to_json()


def test_another_seed_gives_other_trees_and_the_same_linear_part(examples: Examples) -> None:
    one, two = train(examples), train(examples, seed=1)
    assert one.words == two.words
    assert not np.array_equal(one.trees.features, two.trees.features)


def test_turns_unlike_the_training_data_in_words_are_told_apart_by_counted_features(examples: Examples) -> None:
    turns = (
        Utterance("U", "Tell me about Riga"),
        Utterance("S", "Riga is a city with 9 museums."),
        Utterance("U", "Which museum in Riga is best?"),
        Utterance("S", "I like cheese."),
    )
    good, bad = train(examples).predict(turns, [1, 3])
    assert good.argmax() == 0
    assert bad.argmax() == 2
    assert bad[2] > good[2] + 0.3  # nobody in training said Riga, so less is added than for a city it knows


def test_wording_in_fewer_than_three_dialogues_is_not_learnt(examples: Examples) -> None:
    words = train(examples).words
    assert "s:cheese" in words
    assert "s:40" not in words  # only one system turn says it


def test_columns_with_as_many_bounds_as_allowed_do_not_spill_into_the_next() -> None:
    # With 25 quantiles and 24 bins, the highest values of a column were counted as the lowest of the next column.
    rows = np.stack([np.zeros(600), np.arange(600.0)], axis=1)
    wanted = np.where(rows[:, 1:] >= 599, 1.0, -1 / 599) * np.array([[1.0, 0.0, -1.0]])
    trees = fit_trees(rows, wanted, np.arange(600), 20, np.random.default_rng(0))
    assert set(trees.features.ravel().tolist()) == {1}


def test_too_few_dialogues_are_refused() -> None:
    with pytest.raises(InputError, match="training needs more than 9 annotated dialogues with text"):
        train(collect_examples(DIALOGUES[:9]))
