"""No word of a text is cut off as a comment, and comments that people write behind values stay allowed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topics.cut_text import Said
from topics.document import StrictModel, parse_document
from topics.errors import InputError


class File(StrictModel):
    said: Said = ""
    turns: tuple[Said, ...] = ()
    name: str = ""
    number: int = 0


def read(text: str) -> File:
    return parse_document(text, "x.yaml").validated(File)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("said: What became of order #4711 that I placed?\n", "1:28"),
        ("said: See #4711\n", "1:11"),
        ("turns:\n  - Is C # or F # better?\n", "2:10"),
        ("turns: [Is it 5 #x\n , Bye]\n", "1:17"),
        ("said: two lines\n  of text #4711\n", "2:11"),
        ("name: order #4711\n", "1:13"),
        ("name: Is C # or F\n", "1:12"),
        ("name: demo #fast\n", "1:12"),
        ("said: Où est n° #12 ?\n", "1:17"),
    ],
)
def test_words_after_a_hash_are_not_cut_off(text: str, place: str) -> None:
    with pytest.raises(InputError) as refused:
        read(text)
    assert str(refused.value).startswith(f"x.yaml:{place}: '#")
    assert "put the text in quotation marks" in str(refused.value)


@pytest.mark.parametrize(
    "text", ["said: C # or F\n", "said: Hello  # a greeting\n", "said: Is it F #\n", "turns: [a, C #\n]\n"]
)
def test_in_a_text_that_is_said_any_comment_on_its_line_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"'#.*' is taken for a comment, and only '.*' is left of the text"):
        read(text)


@pytest.mark.parametrize(
    "text",
    [
        "name: demo # the demo\n",
        "name: demo          # a set, or a file of your own\n",
        "name: title, URL  # what an answer gives\n",
        "name: demo ####\n",
        "number: 3 #three\n",
        "number: 3 # three\n",
        "# a comment #1\nsaid: Hello\n# another #2\n",
        "said: 'order #4711'  # quoted\n",
        'said: "Hello"\t# quoted\n',
        'turns: ["a", "b"] # two\n',
        "name: 'demo' # quoted\n",
        'said: "order #4711"\n',
        "said: |  # a block\n  order #4711 # and more\n",
        "said: order#4711 is C# or F#\n",
        "turns: [a, b] # two\n",
        "turns: # two\n  - a\n  - b\n",
    ],
)
def test_comments_that_cut_nothing_are_allowed(text: str) -> None:
    found = read(text)
    for words in (found.said, *found.turns):
        assert words == "Hello" or words in text


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('said: "Where" #4711 is it\n', "1:15"),
        ("said: 'Where' #4711\n", "1:15"),
        ('said: "Where is it" # 4711\n', "1:21"),
        ('said: "Where is it"  #4711\n', "1:22"),
        ('said: "Where"#4711\n', "1:14"),
        ('said: "Where\n  is" #4711\n', "2:7"),
        ('turns:\n  - "a"\n  - "C" #5\n', "3:9"),
        ('turns: ["a" #b\n, "c"]\n', "1:13"),
        ("name: 'demo' #fast\n", "1:14"),
    ],
)
def test_words_behind_quotation_marks_are_not_cut_off(text: str, place: str) -> None:
    with pytest.raises(InputError) as refused:
        read(text)
    assert str(refused.value).startswith(f"x.yaml:{place}: '#")
    assert "put all of the text inside the quotation marks" in str(refused.value)


def test_in_a_text_that_is_said_a_comment_with_one_blank_is_refused_behind_quotation_marks_too() -> None:
    with pytest.raises(InputError, match="put all of the text inside the quotation marks"):
        read('said: "Where" # is it\n')


@pytest.mark.parametrize(
    ("text", "place"), [("said: #hello\n", "1:7"), ("said: # hello\n", "1:6"), ("said:   # hi\n", "1:6")]
)
def test_a_text_that_is_a_comment_as_a_whole_is_named(text: str, place: str) -> None:
    with pytest.raises(InputError, match=r"'#.*' is taken for a comment") as refused:
        read(text)
    assert str(refused.value).startswith(f"x.yaml:{place}: ")


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30))
def test_a_text_is_read_whole_or_refused(words: str) -> None:
    """Blanks at its ends are not the text's, and a word that is a number or nothing is no text."""
    try:
        found = read(f"said: {words}\n").said
    except InputError:
        return
    plain = words.strip(" ")
    assert found == plain or plain[:1] in "'\"|>[{" or not plain


def test_an_advice_shows_a_number_as_it_is_written() -> None:
    for written in ("1.10", "007.5", "1e3", "-0", "true", "2024.0"):
        text = f"number: 1\nname: {written}   # why\n"
        if isinstance(parse_document(text, "x.yaml").value["name"], str):  # type: ignore[index]
            continue
        with pytest.raises(InputError) as refused:
            read(text)
        assert f'as it should read: "{written}"' in str(refused.value)
        assert f"(here: {written})" in str(refused.value)
