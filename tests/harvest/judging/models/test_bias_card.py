"""The card of a judge: what led it, where it is known what did."""

from __future__ import annotations

from harvest.judging.models.bias_card import Item, bias_sentences, model_vendor, order_sentences, topic_half
from recordings.judged.judgments import Judgment


def item(words: int, score: float, people: float | None = None, topic: str = "M002") -> Item:
    return Item(Judgment({"turn": words}, "Fluency", score, samples=(score, 1.0)), topic, "A", words, people)


def test_a_judge_of_length_is_exposed_next_to_people() -> None:
    told = list(bias_sentences([item(words, float(words > 6), float(words % 2)) for words in range(1, 13)], "", {}))
    assert told[0] == "Fluency: repeat: 50% of two samples of one thing say the same"
    assert told[1] == "Fluency: length: its scores go with the number of words by +0.74 (n=12); people's -0.12 (n=12)"
    assert [line.partition(" topics")[0] for line in told[2:]] == [f"Fluency: {topic_half('M002')}"]
    assert told[2].endswith(": 0.00 from people, 50% equal (n=12)")


def test_halves_are_valid_for_every_run_and_nearly_equal() -> None:
    halves = [topic_half(f"T{number}") for number in range(400)]
    assert 160 < halves.count("dev") < 240
    assert {topic_half("M002") for _ in range(3)} == {topic_half("M002")}


def test_a_judges_own_maker_is_named() -> None:
    assert [model_vendor(name) for name in ("openai/gpt-9", "llama3", "Mistral-large")] == [
        "openai",
        "llama",
        "mistral",
    ]
    assert list(bias_sentences([], "llama", {"A": {"llama-3 fp"}, "B": {"other"}})) == [
        "own maker: A answered as a model of the judge's maker (llama)"
    ]


def test_a_judge_of_position_is_exposed_in_pairs() -> None:
    def pair(*samples: str) -> Judgment:
        return Judgment({"pair": 1}, "preference", "tie", samples=samples)

    assert list(order_sentences([pair("left", "right"), pair("left", "left")])) == [
        "order: 50% of 2 pairs said alike in both orders; the one shown first won 75% of 4"
    ]
    assert list(order_sentences([])) == []
