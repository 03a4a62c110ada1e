"""Pieces that came one after the other make the text that was cut into them, however it was cut."""

import base64

from hypothesis import given
from hypothesis import strategies as st

from harvest.pages.witness.letters import letters
from harvest.pages.witness.strands import decode_pieces, is_continuation, join_runs, splice_pieces

TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=200)


@st.composite
def cut_texts(draw: st.DrawFn) -> tuple[str, list[str]]:
    text = draw(TEXTS)
    places = sorted(draw(st.sets(st.integers(1, max(1, len(text) - 1)), max_size=12)))
    ends = [*(place for place in places if place < len(text)), len(text)]
    return text, [text[start:end] for start, end in zip([0, *ends], ends)]


@given(cut_texts())
def test_a_text_sent_in_full_each_time_becomes_one_run(cut: tuple[str, list[str]]) -> None:
    text, pieces = cut
    stages = ["".join(pieces[:count]) for count in range(1, len(pieces) + 1)]
    (run,) = join_runs(stages)
    assert (run.text, run.stages) == (text, len(set(stages)))


@given(cut_texts())
def test_a_text_in_pieces_is_recovered_by_splicing_wherever_they_begin(cut: tuple[str, list[str]]) -> None:
    text, pieces = cut
    places = [len("".join(pieces[:count])) for count in range(len(pieces))]
    assert splice_pieces(zip(pieces, places)) == text
    assert splice_pieces((piece, None) for piece in pieces) == text


@given(cut_texts())
def test_pieces_in_base64_contain_the_text_even_if_characters_are_split(cut: tuple[str, list[str]]) -> None:
    text, _ = cut
    data = text.encode()
    pieces = [base64.b64encode(data[start : start + 5]).decode() for start in range(0, len(data), 5)]
    assert "".join(decode_pieces(pieces)) == text


def test_a_temporary_end_of_a_growing_text_does_not_begin_another() -> None:
    for before, after in (
        ("<p>He</p>", "<p>Hello</p>"),
        ("<ul><li>One</li></ul>", "<ul><li>One</li><li>Two</li></ul>"),
        ("Hello ▍", "Hello you ▍"),
        ("**He**", "**Hello** you"),
        ("Hello ther you are", "Hello there you are, my friend"),
    ):
        assert is_continuation(before, after), (before, after)
    for before, after in (("Hello", "Goodbye"), ("One thing", "Two things"), ("A long first bubble", "A second")):
        assert not is_continuation(before, after), (before, after)


def test_words_are_not_decoded() -> None:
    assert decode_pieces(["that", "with", "some"]) == []
    assert letters("".join(decode_pieces(["SGVsbG8g", "eW91"]))) == "Helloyou"
