"""Words of users beside people's: people are like people, and other ways of speaking are seen by their measures."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from recordings.acts.dialogue import ActTurn, Dialogue
from scoring.simulation.wordings import WORDINGS, _find_typing_errors, compare_wordings
from tests.support.checkout import DATA


@lru_cache(maxsize=1)
def chats() -> tuple[Dialogue, ...]:
    """What the seekers of IARD wrote: 336 dialogues of 156 people."""
    rows = map(json.loads, (DATA / "iard" / "seekers.jsonl").read_text(encoding="utf-8").splitlines())
    return tuple(
        Dialogue(row["id"], tuple(ActTurn("say", said=text) for text in row["said"]), True, person=row["person"])
        for row in rows
    )


def halves(rng: np.random.Generator) -> tuple[list[Dialogue], list[Dialogue]]:
    """Two groups that share nobody."""
    people = sorted({one.person for one in chats()})
    first = set(rng.permutation(people)[: len(people) // 2].tolist())
    return [one for one in chats() if one.person in first], [one for one in chats() if one.person not in first]


def said(dialogues: Sequence[Dialogue], change: Callable[[str], str]) -> list[Dialogue]:
    return [replace(one, turns=tuple(replace(turn, said=change(turn.said)) for turn in one.turns)) for one in dialogues]


@pytest.mark.parametrize(("times", "most"), [(6, 2), pytest.param(100, 12, marks=pytest.mark.soak)])
def test_halves_of_people_are_alike(times: int, most: int) -> None:
    """At a rate of .05, more than 2 of 6 have a probability of .002, and more than 12 of 100 one of .0015."""
    beyond = 0
    for seed in range(times):
        found = compare_wordings(*halves(np.random.default_rng(seed)), np.random.default_rng(seed), splits=20, draws=99)
        assert found is not None
        assert found.verdict in ("within", "beyond")
        beyond += found.verdict == "beyond"
    assert beyond <= most


def swap_letters(text: str) -> str:
    """Two letters swapped in every fourth long word, by its place: the same on every machine."""
    words = text.split(" ")
    for place in range(0, len(words), 4):
        word = words[place]
        if len(word) > 5 and word.isalpha():
            words[place] = word[:2] + word[3] + word[2] + word[4:]
    return " ".join(words)


WAYS: dict[str, tuple[Callable[[str], str], str]] = {
    "brief": (lambda text: " ".join(text.split()[:3]), "words"),
    "long words": (lambda text: re.sub(r"\b(?:is|a|the|you|i|to|it|do)\b", "nevertheless", text), "letters"),
    "courteous": (lambda text: f"{text} Thank you!", "courtesy"),
    "asking": (lambda text: text.rstrip(".!?") + "?", "questions"),
    "mistyping": (swap_letters, "slips"),
    "one sentence": (lambda text: "I would like some more of it.", "repeats"),
    "German": (lambda text: "Ich hätte gerne noch ein paar andere Vorschläge für heute Abend.", "languages"),
    "stammering": (lambda text: " ".join(word for word in text.split() for _ in range(2)), "variety"),
    "other words": (lambda text: re.sub(r"\b[a-m]", "zq", text), "vocabulary"),
}


@pytest.mark.parametrize("way", WAYS)
def test_each_way_of_speaking_unlike_people_is_detected_by_its_measure(way: str) -> None:
    change, measure = WAYS[way]
    rng = np.random.default_rng(4)
    real, others = halves(rng)
    found = compare_wordings(real, said(others, change), rng, splits=40, draws=199)
    assert found is not None
    assert found.verdict == "beyond"
    seen = found.measures[measure]
    assert seen.p <= 0.01
    assert seen.value > seen.high


def test_courtesy_alone_does_not_look_like_typing_errors_or_another_language() -> None:
    rng = np.random.default_rng(4)
    real, others = halves(rng)
    found = compare_wordings(real, said(others, WAYS["courteous"][0]), rng, splits=40, draws=199)
    assert found is not None
    assert min(found.measures[name].p for name in ("slips", "questions")) > 0.05
    assert found.measures["courtesy"].simulated == 1
    assert found.measures["courtesy"].real < 0.5


def test_sides_without_words_are_not_compared_and_few_users_get_no_verdict() -> None:
    rng = np.random.default_rng(1)
    silent = [Dialogue(str(n), (ActTurn("say"),), True) for n in range(30)]
    assert compare_wordings(list(chats()), silent, rng) is None
    few = compare_wordings(list(chats()[:12]), list(chats()[12:40]), rng, splits=20, draws=19)
    assert few is not None
    assert few.verdict == "undecided"
    short = [Dialogue(str(n), (ActTurn("say", said="yes"),), True) for n in range(50)]
    found = compare_wordings(short[:25], short[25:], rng, splits=20, draws=19)
    assert found is not None
    assert list(found.measures) == list(WORDINGS)
    assert math.isnan(found.measures["variety"].value), "nobody said twenty words"
    assert found.verdict == "within"


def is_slip(word: str, other: str) -> bool:
    """Word by word: one character more, fewer, replaced or swapped with the next, and more than another ending."""
    if word.startswith(other) or other.startswith(word):
        return False
    if len(word) != len(other):
        short, long = sorted((word, other), key=len)
        return any(long[:place] + long[place + 1 :] == short for place in range(len(long)))
    apart = [place for place, (a, b) in enumerate(zip(word, other, strict=True)) if a != b]
    swapped = len(apart) == 2 and apart[1] == apart[0] + 1 and word[apart[0]] == other[apart[1]]
    return len(apart) == 1 or (swapped and word[apart[1]] == other[apart[0]])


def test_slips_are_found_as_if_each_word_were_compared_with_each_frequent_one() -> None:
    """All words of four to seven of three letters against words with doubled letters, and against one too short."""
    rare = ["".join(letters) for size in range(4, 8) for letters in itertools.product("abc", repeat=size)]
    frequent = ("abbac", "aabcb", "babaab")
    found = _find_typing_errors({**dict.fromkeys(rare, 1), **dict.fromkeys((*frequent, "cccc"), 5)})
    expected = {word for word in rare if word not in frequent and any(is_slip(word, other) for other in frequent)}
    assert found == expected
