"""Sentences of a turn: what ends one, what does not, and what stands in lists, tables and code."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topics.sentences import sentences


def told(text: str) -> list[str]:
    return [text[one.start : one.end] for one in sentences(text)]


def test_a_full_stop_ends_a_sentence_and_an_abbreviation_does_not() -> None:
    assert told("Dr. Smith met J. Doe at 3.5 p.m. in the U.S. embassy, e.g. on Monday. They left.") == [
        "Dr. Smith met J. Doe at 3.5 p.m. in the U.S. embassy, e.g. on Monday.",
        "They left.",
    ]


def test_an_abbreviation_can_end_a_sentence_if_a_new_one_clearly_begins() -> None:
    assert told("It was made in the U.S. The rest was not.") == ["It was made in the U.S.", "The rest was not."]


def test_nothing_inside_a_url_a_link_or_inline_code_ends_a_sentence() -> None:
    text = "See https://a.org/x?y=1.Z or [Mr. X. Y](https://b.org/a.html) or `a. B`. Then stop."
    assert told(text) == [text.removesuffix(" Then stop."), "Then stop."]


def test_each_item_of_a_list_begins_a_sentence_and_its_marker_is_in_none() -> None:
    text = "Films:\n1. Alien. It is old.\n2) Heat\n- Ran\n* Up"
    assert told(text) == ["Films:", "Alien.", "It is old.", "Heat", "Ran", "Up"]
    assert [one.shape for one in sentences(text)] == ["prose", "item", "item", "item", "item", "item"]
    assert [one.leads for one in sentences(text)] == [True, False, False, False, False, False]


def test_a_wrapped_line_continues_and_a_blank_line_ends_it() -> None:
    assert told("A line that\nwas wrapped.\n\nanother one") == ["A line that\nwas wrapped.", "another one"]


def test_a_fenced_block_of_code_is_one_piece_without_its_fences_even_if_it_is_cut_off() -> None:
    assert told("Run:\n```python\na. B\nc\n```\nDone.") == ["Run:", "a. B\nc", "Done."]
    assert told("Run:\n```\na. B") == ["Run:", "a. B"]


def test_a_row_of_a_table_is_one_piece_and_its_ruler_is_not() -> None:
    assert told("| Film | Year |\n|---|---|\n| Ran | 1985 |") == ["Film | Year", "Ran | 1985"]


def test_japanese_sentences_end_without_white_space() -> None:
    assert told("これは本です。そうですか？はい！") == ["これは本です。", "そうですか？", "はい！"]


def test_a_quoted_question_does_not_end_the_sentence_around_it() -> None:
    assert told('"Who is there?" she asked. Nobody.') == ['"Who is there?" she asked.', "Nobody."]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        (
            "Das geht in der App: 1. Menü Karten. 2. Karte sperren.",
            ["Das geht in der App:", "Menü Karten.", "Karte sperren."],
        ),
        ("1. Open the menu. 2. Block the card.", ["Open the menu.", "Block the card."]),
        ("- 1) Abra o menu, 2) bloqueie o cartão", ["Abra o menu,", "bloqueie o cartão"]),
        ("Étapes : 1. Ouvrez le menu 2. Bloquez la carte", ["Étapes :", "Ouvrez le menu", "Bloquez la carte"]),
        ("Шаги: (1) Откройте меню. (2) Нажмите.", ["Шаги:", "Откройте меню.", "Нажмите."]),
        ("手順：1. メニュー。 2. カード。", ["手順：", "メニュー。", "カード。"]),
        ("Zuerst dies. 1. Menü; 2. Karte; 3. Ende", ["Zuerst dies.", "Menü;", "Karte;", "Ende"]),
        ("Nur eines: 1. Menü öffnen und", ["Nur eines:", "Menü öffnen und"]),  # cut off
    ],
)
def test_a_list_number_within_a_line_belongs_to_no_sentence(text: str, pieces: list[str]) -> None:
    assert told(text) == pieces


@pytest.mark.parametrize(
    "text",
    [
        "Am 3. Mai öffnet sie.",
        "Die Frist endet am 31. Dezember 2026.",
        "Das war im 19. Jahrhundert so.",
        "Sie wohnt in der 3. Etage links.",
        "Termine: 1. Mai, 2. Juni und 3. Juli.",
        "Vom 1. und 2. Mai an.",
        "Er kam am 3. 5. 2026 und am 4. 5. 2026 an.",
        "Den 3. Maj åbner den.",
        "Dne 3. května a 4. Června.",
        "Nähere Auskunft gibt z. B. Frau Meier bzw. Herr Huber in Kap. 3.",
        "M. Dupont habite au 5 av. Foch chez Mme. Petit.",
        "La Sra. Pérez y el Dr. Ruiz viven en EE.UU. desde hace mucho, pág. 5.",
        "Il sig. Rossi e la dott.ssa Bianchi.",
        "De heer Jansen, mevr. De Vries en dhr. Smit, bijv. Anna.",
        "Det finns t.ex. Anna, bl.a. Per.",
        "Mieszka przy ul. Długiej, np. Anna i św. Jan.",
        "Je to např. Praha, tzv. Město.",
        "Это напр. Москва и т.е. Россия.",
        "Esim. Helsinki, klo. Kahdeksan.",
        "Örn. Ankara ve Prof. Demir.",
        "2. Bölüm bitti.",
        "## 2.1. Setup",
        "IV. Einleitung",
    ],
)
def test_ordinals_dates_headings_and_abbreviations_end_no_sentence(text: str) -> None:
    assert len(told(text)) == 1


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("It came out in 1999. The sequel in 2003.", ["It came out in 1999.", "The sequel in 2003."]),
        ("I am 30. My friend is 5.", ["I am 30.", "My friend is 5."]),
        ("Score: 30. He left.", ["Score: 30.", "He left."]),
        ("Das Zimmer kostet 90. Dort ist es ruhig.", ["Das Zimmer kostet 90.", "Dort ist es ruhig."]),
        ("Hay 3. Después, nada.", ["Hay 3.", "Después, nada."]),
        ("OK. It is ill. No. Perhaps.", ["OK.", "It is ill.", "No.", "Perhaps."]),
    ],
)
def test_a_number_or_a_short_word_can_end_a_sentence(text: str, pieces: list[str]) -> None:
    assert told(text) == pieces


def test_an_empty_text_has_no_sentence() -> None:
    assert sentences("") == sentences(" \n\n---\n") == ()


@given(st.text(alphabet=st.sampled_from(list("aB1 .!?\n-*|`#>:;,()[]\"'…。？\t\r\u2028é")), max_size=120))
def test_sentences_are_in_order_do_not_overlap_and_have_no_white_space_around_them(text: str) -> None:
    found = sentences(text)
    assert all(text[one.start : one.end] == text[one.start : one.end].strip() != "" for one in found)
    assert all(before.end <= after.start for before, after in pairwise(found))


@given(st.text(alphabet=st.sampled_from(list("aB12 .!?\n-*|`#>:;,()é")), max_size=80))
def test_every_sentence_has_a_word(text: str) -> None:
    found = told(text)
    assert all(any(map(str.isalnum, one)) for one in found)
    assert not [one for one in found if one in ("1.", "2)", "12.", "(1)") and one != text.strip()]


@given(st.text(alphabet=st.sampled_from(list("aB1 .!?\n-*`;,é")), max_size=120))
def test_every_letter_and_digit_outside_list_markers_and_fences_is_in_a_sentence(text: str) -> None:
    inside = {place for one in sentences(text) for place in range(one.start, one.end)}
    lost = [place for place, letter in enumerate(text) if letter in "aBé" and place not in inside]
    fences = "```" in text
    assert fences or not lost


def test_hostile_texts_take_time_linear_in_their_length() -> None:
    for text in (
        "." * 10**5 + "x",
        "?" * 10**5 + "x",
        "a" + " " * 10**5 + "b",
        "[" * 50_000,
        "!?" * 50_000 + "a",
        "1. " * 30_000,
        ": 1. 2. " * 15_000,
    ):
        begun = time.process_time()
        sentences(text)
        assert time.process_time() - begun < 5
