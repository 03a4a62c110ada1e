"""No word of a text is cut off as a comment, and comments that people write behind values stay allowed."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from topics.cut_text import Phrase, Said
from topics.document import StrictModel, parse_document
from topics.errors import InputError


class Entry(StrictModel):
    said: Said = ""
    name: str = ""


class File(StrictModel):
    said: Said = ""
    turns: tuple[Said, ...] = ()
    name: str = ""
    asks_for: Phrase = ""
    number: int = 0
    words: dict[str, Said] = Field(default_factory=dict)
    entries: tuple[Entry, ...] = ()


def read(text: str) -> File:
    return parse_document(text, "x.yaml").validate_as(File)


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
    with pytest.raises(InputError, match=r"'#.*' is read as a comment, so only '.*' is left of the text"):
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
def test_words_after_quotation_marks_are_not_cut_off(text: str, place: str) -> None:
    with pytest.raises(InputError) as refused:
        read(text)
    assert str(refused.value).startswith(f"x.yaml:{place}: '#")
    assert "put all of the text inside the quotation marks" in str(refused.value)


def test_in_a_text_that_is_said_a_comment_after_one_blank_is_refused_after_quotation_marks_too() -> None:
    with pytest.raises(InputError, match="put all of the text inside the quotation marks"):
        read('said: "Where" # is it\n')


@pytest.mark.parametrize(
    ("text", "place"), [("said: #hello\n", "1:7"), ("said: # hello\n", "1:6"), ("said:   # hi\n", "1:6")]
)
def test_a_text_that_is_a_comment_as_a_whole_is_named(text: str, place: str) -> None:
    with pytest.raises(InputError, match=r"'#.*' is read as a comment") as refused:
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


def test_the_advice_shows_a_number_as_it_is_written() -> None:
    for written in ("1.10", "007.5", "1e3", "-0", "true", "2024.0"):
        text = f"number: 1\nname: {written}   # why\n"
        if isinstance(parse_document(text, "x.yaml").value["name"], str):  # type: ignore[index]
            continue
        with pytest.raises(InputError) as refused:
            read(text)
        assert f'as it should read: "{written}"' in str(refused.value)
        assert f"(here: {written})" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "dropped"),
    [
        ("said: What became of\n  #4711 that I placed?\n", "#4711 that I placed?"),
        ("said: What became of\n  # 4711 that I placed?\n", "# 4711 that I placed?"),
        ("said: What became of\n\n    #4711\n", "#4711"),
        ("said: What became of\n#4711 that I placed?\n", "#4711 that I placed?"),
        ("said: What\n  became of\r\n  #4711\r\n", "#4711"),
        ("turns:\n  - Compare C\n    # with F\n  - Bye\n", "# with F"),
        ("turns:\n- Compare C\n # with F\n- Bye\n", "# with F"),
        ("entries:\n  - said: Hello\n     # there\n    name: x\n", "# there"),
        ("entries:\n  - said: Hello\n    #17 please\n    name: x\n", "#17 please"),
        ("words:\n  a: Hello\n   # there\n", "# there"),
        ("said: |\n    Please read:\n  # My heading\n  # and the text\n", "# My heading"),
        ("said: >-\n    Please read:\n  #17\n", "#17"),
        ("said: |\n    Please read:\n\n  # My heading\nname: x\n", "# My heading"),
        ("entries:\n  - said: |\n      Please read:\n    # My heading\n  - name: x\n", "# My heading"),
        ("entries:\n  - said: |\n      Please read:\n   # My heading\n  - name: x\n", "# My heading"),
        ("entries:\n  - said: |\n      Please read:\n    #4711 it\n    name: x\n", "#4711 it"),
        ("turns:\n  - |\n    Please read:\n   # My heading\n  - Bye\n", "# My heading"),
        ("said: | #4711 please\n  hello\n", "#4711 please"),
        ("said: |-  #4711 please\n  hello\n", "#4711 please"),
        ("said: >2 # My heading\n  hello\n", "# My heading"),
        ("said: #4711 please\n  hello\n", "#4711 please"),
        ("said: # My heading\n  hello\n", "# My heading"),
        ("said:\n  # My heading\n  and the text\n", "# My heading"),
        ("said:\n  #4711\n  'hello'\n", "#4711"),
        ("turns:\n  - #4711\n    hello\n", "#4711"),
        ("turns:\n  -\n    # My heading\n    hello\n", "# My heading"),
        ("turns: [a, #b\n c]\n", "#b"),
        ("turns: [a, # b\n c]\n", "# b"),
        ("turns: [a,#b\n c]\n", "#b"),
        ("turns: ['a', #b\n c]\n", "#b"),
        ("turns: [a b\n #c d\n , e]\n", "#c d"),
        ("turns: [a b\n # c d\n , e]\n", "# c d"),
        ("turns: [a,\n #b\n c]\n", "#b"),
        ("turns: [#a\n b]\n", "#a"),
        ("turns: [ #a\n b]\n", "#a"),
        ("turns: [a, b\n # c\n]\n", "# c"),
        ("turns: ['a'\n #b\n]\n", "#b"),
        ("words: {a: Hello\n  # there\n , b: x}\n", "# there"),
        ("words: {a: #4711\n Hello}\n", "#4711"),
        ("asks_for: a link\n  # of each\n", "# of each"),
        ("asks_for: |\n    a link\n  # of each\n", "# of each"),
        ('said: "Where"\n  #4711 is it\n', "#4711 is it"),
    ],
)
def test_words_on_another_line_than_the_rest_are_not_cut_off(text: str, dropped: str) -> None:
    with pytest.raises(InputError, match="is read as a comment, so only") as refused:
        read(text)
    assert repr(dropped) in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "said: Hello\n# on a line of its own\nname: x\n",
        "said: Hello\n#without a blank\nname: x\n",
        "said: Hello\n\n#4711: the order\nname: x\n",
        "entries:\n  - said: Hello\n    # between keys\n    name: x\n  # between items\n  - name: y\n",
        "entries:\n  - said: Hello\n    # name: left out\n  - name: y\n",
        "entries:\n- said: Hello\n# between items\n- name: y\n",
        "entries:\n  - said: Hello\n#  - said: left out\n  - name: y\n",
        "turns:\n  # first\n  - Hello\n  # then\n  - Bye\n  # last\n",
        "turns:\n  #first\n  - Hello\n  #- Left out\n  - Bye\n",
        "said: |\n  Hello\n# below a block\nname: x\n",
        "said: |\n  Hello\n# at the end\n",
        "entries:\n  - said: |\n      Hello\n    # between keys\n    name: x\n",
        "entries:\n  - said: |\n      Hello\n  # between items\n  - name: x\n",
        "entries:\n  - said: |\n      Hello\n    # name: left out\n    #   and below\n  - name: x\n",
        "entries:\n  - said: >\n      Hello\n# at the margin\n  - name: x\n",
        "said: |-  # a block\n  Hello\n",
        "said:  # words\n  Hello\n",
        "said:\n  # words\n  'Hello'\n",
        "said: 'Hello'\n    # indented\nname: x\n",
        "turns: [  # two\n  Hello,  # first\n  # then\n  Bye,\n  # last\n]\n",
        "turns: [\n  'Hello',\n  #'Left out',\n  'Bye'\n  # last\n]\n",
        "entries: [{said: Hello,\n  #name: left out\n  name: x}]\n",
        "asks_for: a link  # of each\n",
        "number: 3\n   #4\nname: x\n",
    ],
)
def test_comments_on_lines_of_their_own_are_allowed(text: str) -> None:
    found = read(text)
    said = [found.said, *found.turns, *(entry.said for entry in found.entries)]
    assert {words.strip() for words in said} <= {"", "Hello", "Bye"}


_LINES = st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["", "#", "# ", "## ", "#5"])), min_size=1, max_size=4)
_BELOW = ["", "    name: x\n", "  - name: x\n", "name: x\n"]


@given(
    st.sampled_from([("entries:\n  - said:", 4), ("entries:\n  - name: y\n    said:", 4), ("turns:\n  - x\n  -", 2)]),
    st.sampled_from([" ", "\n", " |\n", " >-\n", " |1\n", " '", ' "']),
    _LINES,
    st.sampled_from(_BELOW),
)
def test_a_line_is_dropped_only_if_it_is_no_deeper_than_its_key(
    before: tuple[str, int], style: str, lines: list[tuple[int, str]], below: str
) -> None:
    key, column = before
    written = [f"{' ' * indent}{sign}w{number}" for number, (indent, sign) in enumerate(lines)]
    try:
        found = read(f"{key}{style}" + "\n".join(written) + f"{style.strip(' |>1-')}\n{below}".replace("\n\n", "\n"))
    except InputError:
        return
    said = " ".join([*found.turns, *(entry.said for entry in found.entries)])
    kept = [f"{sign}w{number}" in said for number, (_, sign) in enumerate(lines)]
    for (indent, sign), whole in zip(lines, kept, strict=True):
        assert whole or (sign.startswith("#") and indent <= column)
    assert kept == sorted(kept, reverse=True), "nothing of a text is left behind what was dropped"


_PIECES = ["{}", "{} {}", "'{}'", "#{}", "# {}", "  # {}", ",", ", ", "\n", "\n  "]


@given(st.lists(st.sampled_from(_PIECES), min_size=1, max_size=9))
def test_in_brackets_words_are_dropped_only_in_a_comment_after_a_comma_or_a_quotation_mark(
    pieces: list[str],
) -> None:
    words = iter("abcdefghijklmnopqrstuvwxyz")
    text = "[" + "".join(re.sub("{}", lambda _: next(words), piece) for piece in pieces) + "\n ]"
    try:
        said = " ".join(read(f"turns: {text}\n").turns)
    except InputError:
        return
    before = ""
    for line in text.splitlines():
        dropped = [word for word in re.findall(r"\w", line) if word not in said]
        at = line.rfind("#", 0, line.index(dropped[0])) if dropped else len(line)
        assert at >= 0, text
        kept, comment = line[:at], line[at:]
        before += kept
        if comment:
            assert before.rstrip()[-1] in "[,'", text
            assert comment.startswith("# "), text
            assert not kept.strip() or kept.endswith("  "), text


@pytest.mark.parametrize(
    ("refused", "followed"),
    [
        ("name: demo #fast\n", "# fast\nname: demo\n"),
        ("said: Hello #fast\n", "# fast\nsaid: 'Hello'\n"),
        ("said: 'Hello' #fast\n", "# fast\nsaid: 'Hello'\n"),
        ("turns:\n  - Hello\n    #fast\n", "turns:\n  # fast\n  - 'Hello'\n"),
        ("turns: [Hello, #fast\n Bye]\n", "turns: [\n # fast\n 'Hello',\n 'Bye']\n"),
        ("name: x\nsaid: | #fast\n  Hello\n", "name: x\n# fast\nsaid: |\n  Hello\n"),
    ],
)
def test_following_the_advice_is_not_refused_again(refused: str, followed: str) -> None:
    with pytest.raises(InputError, match="a separate line above the key or the item, with a blank after its #"):
        read(refused)
    found = read(followed)
    assert {found.name, found.said.strip(), *found.turns} & {"demo", "Hello"}
