"""The same system, by the texts of first turns: held to parrots that are the same, and to one with other sentences."""

from __future__ import annotations

import math
import re
from functools import cache

import numpy as np
import pytest
from scipy import stats

from harvest.parrot.parrot import Parrot, load_catalogue
from harvest.parrot.profiles import PROFILES
from scoring.statistics.same_source import same_source
from topics.identity import derived_seed
from topics.library import load_topics

TOPICS = load_topics("fairweb-45")
REWORDING = """
you/one your/their These/Those Here/There list/choice first/early following/next them/those will/shall should/might
would/could tell/show hope/trust like/wish know/learn whenever/once another/more new/fresh chosen/picked mind/view
ones/names enjoying/liking most/best all/each
"""
"""What a system says instead after an update: the entries of its lists, and every label, stay as they were."""
OTHER_WORDS = dict(pair.split("/") for pair in REWORDING.split())
_WORDS = re.compile(rf"\b({'|'.join(OTHER_WORDS)})\b")


@cache
def pool(trials: int) -> tuple[tuple[str, ...], ...]:
    """First answers of one parrot to 20 topics, so many of each."""
    parrot = Parrot(load_catalogue("parrot", TOPICS), PROFILES["steady"])
    return tuple(
        tuple(parrot.session(derived_seed(1, topic.id, trial)).answer(topic.request).text for trial in range(trials))
        for topic in TOPICS.topics[:20]
    )


def reworded(text: str) -> str:
    return _WORDS.sub(lambda found: OTHER_WORDS[found[0]], text)


def shares(
    runs: int, answers: int, *, change: bool = False, draws: int = 199, trials: tuple[int, int] = (10, 10)
) -> float:
    """How often two parrots are said to differ at 5%. Both sides are drawn anew from `answers` of a topic in each."""
    rng, found = np.random.default_rng(20), 0
    for _ in range(runs):
        drawn = [[texts[at] for at in rng.permutation(answers)[: sum(trials)]] for texts in pool(answers)]
        one, two = [texts[: trials[0]] for texts in drawn], [texts[trials[0] :] for texts in drawn]
        other = [[reworded(text) for text in texts] for texts in two] if change else two
        found += same_source(one, other, rng, draws=draws).p <= 0.05
    return found / runs


def test_the_same_parrot_is_hardly_ever_called_another() -> None:
    runs = 30
    assert shares(runs, 60, draws=99) * runs <= stats.binom.ppf(0.999, runs, 0.05)


def test_other_words_for_the_same_labels_are_found() -> None:
    assert shares(20, 60, change=True, draws=99) >= 0.8


@pytest.mark.soak
def test_one_in_twenty_of_a_thousand_equal_parrots_is_called_another() -> None:
    assert shares(1000, 400) <= 0.06
    assert shares(300, 400, trials=(10, 3)) * 300 <= stats.binom.ppf(0.999, 300, 0.05)


@pytest.mark.soak
def test_other_words_for_the_same_labels_are_found_in_four_of_five_runs() -> None:
    assert shares(300, 400, change=True) >= 0.8


def test_p_is_the_share_of_permutations_of_texts_that_are_as_far_apart() -> None:
    """Of 20 ways to deal three and three texts, two set those of a side apart as they are."""
    found = same_source([["aaaa"] * 3], [["bbbb"] * 3], np.random.default_rng(1), draws=9999)
    assert found.p == pytest.approx(0.1, abs=0.01)
    assert (found.n, found.topics, found.draws) == (6, 1, 9999)


def test_a_difference_over_topics_is_never_mistaken_for_one_of_sides() -> None:
    texts = [["about whales", "about whales"], ["on fish", "on fish"], ["", ""]]
    assert same_source(texts, texts, np.random.default_rng(1)).p == 1
    turned = same_source([["whales"] * 9, ["fish"]], [["whales"], ["fish"] * 9], np.random.default_rng(1))
    assert turned.p == 1


def test_case_white_space_and_lone_surrogates_are_distinguished() -> None:
    plain = [["It is so, sir."] * 6]
    for other in ("it is so, sir.", "It is  so, sir.", "It is so, sir.\ud800", ""):
        assert same_source(plain, [[other] * 6], np.random.default_rng(1)).p < 0.05


def test_topics_without_information_are_left_out() -> None:
    one, two = [["a"], [], ["a", "b"]], [["b"], ["b", "c"], ["c"]]
    found = same_source(one, two, np.random.default_rng(1))
    assert (found.n, found.topics) == (3, 1)
    nothing = same_source(one[:2], two[:2], np.random.default_rng(1))
    assert math.isnan(nothing.p)
    assert (nothing.n, nothing.topics) == (0, 0)
