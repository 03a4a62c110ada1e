"""Structured answers: overview, sections, documents and lines, and lines as nuggets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.swan.extraction import RULES, LineExtractor, extract_nuggets
from scoring.swan.structure import read_structure, same_words_key
from tests.support.scoring_examples import conversation
from topics.sentences import sentences

ANSWER = """# Moving to Ossendam

Rents are low [1],
and trains are frequent.

## Rents

1. A room costs 300 euros.
2. **Deposits** are two rents [2].

| part | rent |
|---|---|
| north | 280 |

```sh
# not a title
rent --list
```

**Trains:**
> * One every ten minutes.

References:
[1] https://rents.example/
- The railway's own page

## Sources of noise
None.
[2]: https://deposits.example/
"""


def test_an_answer_with_every_kind_of_line_is_read_as_by_hand() -> None:
    found = read_structure(ANSWER)
    assert found.titles == ("Rents", "Trains", "Sources of noise")
    assert [(line.section, ANSWER[line.start : line.end]) for line in found.units] == [
        (0, "Rents are low [1],"),
        (0, "and trains are frequent."),
        (1, "A room costs 300 euros."),
        (1, "**Deposits** are two rents [2]."),
        (1, "| part | rent |"),
        (1, "| north | 280 |"),
        (1, "# not a title"),
        (1, "rent --list"),
        (2, "One every ten minutes."),
        (3, "None."),
    ]
    assert [ANSWER[line.start : line.end] for line in found.lines if line.kind == "document"] == [
        "[1] https://rents.example/",
        "- The railway's own page",
        "[2]: https://deposits.example/",
    ]
    assert found.documents == 3
    assert [line.number for line in found.lines] == list(range(1, 19))


@pytest.mark.parametrize(
    ("text", "titles", "sections"),
    [
        ("# Title\nA.\n## One\nB.", ("One",), [0, 1]),  # the first is above all others
        ("## One\nA.\n## Two\nB.", ("One", "Two"), [1, 2]),
        ("## One\nA.\n# Two\nB.", ("One", "Two"), [1, 2]),
        ("# Title\nA.\nSources\nhttps://a.example/", (), [0]),  # documents are no section
        ("# Overview\nA.\n# One\nB.", ("One",), [0, 1]),
        ("**概要**\n安い。\n**家賃**\n300ユーロ。\n**出典**\na.example", ("家賃",), [0, 1]),
        ("A.\n# Overview\nB.", ("Overview",), [0, 1]),  # not before all text
        ("**Never do this.**\nA.\n**Note:** B.", (), [0, 0, 0]),  # emphasis, not titles
        ("Overview\nA.", (), [0, 0]),
        ("No line but this one.", (), [0]),
        ("A.\n**Sources:** https://a.example/, https://b.example/\nSource: my own eyes", (), [0, 0]),
        ("## Documents\nA passport.\n## Sources of income\nB.", ("Documents", "Sources of income"), [1, 2]),
        ("...\n\n---", (), []),
        ("", (), []),
    ],
)
def test_titles_begin_sections(text: str, titles: tuple[str, ...], sections: list[int]) -> None:
    found = read_structure(text)
    assert found.titles == titles
    assert [line.section for line in found.units] == sections


@given(st.text(st.sampled_from("ab1. \t\n\r\u2028#*_>-|`~[]():é。"), max_size=80))
def test_units_are_pieces_of_lines_in_order_which_can_be_nuggets(text: str) -> None:
    found = read_structure(text)
    before = 0
    for line in found.lines:
        words = text[line.start : line.end]
        assert before <= line.start < line.end
        assert words == words.strip()
        assert any(map(str.isalnum, words))
        assert not set(words) & set("\n\r\u2028\u2029")
        before = line.end
    assert {line.section for line in found.units} <= set(range(len(found.titles) + 1))
    own = extract_nuggets(conversation(("a", text), labels="?"), LineExtractor())
    assert [(one.start, one.end) for one in own if one.speaker == "system"] == [
        (line.start, line.end) for line in found.units
    ]


@given(st.lists(st.sampled_from(["It opens at nine.", "Trains are rare.", "A room costs 300 euros."]), max_size=5))
def test_lines_of_one_sentence_each_are_the_sentences(lines: list[str]) -> None:
    text = "\n\n".join(lines)
    assert [(one.start, one.end) for one in read_structure(text).units] == [
        (one.start, one.end) for one in sentences(text)
    ]


def test_a_line_is_a_claim_unless_it_only_performs_acts() -> None:
    said = "Hello!\nIt was written by two people\nfrom the south. What else?\nWhat else do you need?\n12."
    found = extract_nuggets(conversation(("Hi", said), labels="?"), LineExtractor())
    assert [(one.text, one.type, one.rule) for one in found if one.speaker == "system"][1:3] == [
        ("It was written by two people", "F", "statement"),
        ("from the south. What else?", "F", "statement"),
    ]
    assert [one.type for one in found] == ["O", "O", "F", "F", "O", "F"]
    assert found[-1].rule == "line"
    assert {one.version for one in found} == {RULES.replace("rules", "lines")}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("**Paws** is at the station [2].", "paws  is at the station", True),
        ("See [the list](https://a.example/) [1, 3].", "See the list.", True),
        ("Line snake_case", "line snake case", False),
        ("It opens at 9", "It opens at 10", False),
        ("値段は300円です。", "値段は300円です", True),
    ],
)
def test_lines_with_equal_words(one: str, other: str, same: bool) -> None:
    assert (same_words_key(one) == same_words_key(other)) == same
