"""Spans are code points: what is marked on the page, what stands in a sheet, and what comes back as a judgment are the
same characters, whatever they are made of: emoji and their joiners, CR LF, right-to-left text, halves of surrogates."""

from __future__ import annotations

import json
import tempfile
from itertools import pairwise
from pathlib import Path

from hypothesis import assume, given
from hypothesis import strategies as st

from harvest.judging.serving.questions import page_question, questions
from harvest.judging.sheets.annotation_sheet import COLUMNS, Assessed, sheet_rows
from harvest.judging.sheets.filled_sheet import read_sheet
from harvest.judging.sheets.sheet_file import Row, write_rows
from recordings.files.json_text import encode_line
from recordings.judged.judgments import Judgment, Layer, Target, read_layers, write_layer
from scoring.swan.assessment import assess
from scoring.swan.judged import NUGGET, Judgments
from scoring.swan.schema import Schema, load_schema
from tests.support.scoring_examples import conversation

SCHEMA, BOTH_SIDES = load_schema(), load_schema("dialeval-nuggets")

PIECES = (
    *(
        "a",
        "word",
        "=1+1",
        "'",
        '"',
        ",",
        ";",
        "\t",
        " ",
        "\n",
        "\r\n",
        "\r",
        "\u2028",
        "\u00a0",
        "\ufeff",
        "\0",
        "\x1b",
    ),
    *("\U0001f469\u200d\U0001f469\u200d\U0001f467", "\U0001f1eb\U0001f1ee", "\u2764\ufe0f", "e\u0301", "\ud83d"),
    *("\u05e9\u05dc\u05d5\u05dd", "\u0645\u0631\u062d\u0628\u0627", "\u202b", "\u202c", "\u2067"),
    *("\u3082\u3046\u4e00\u3064", "\U00020bb7"),
)
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=14).map("".join)


@st.composite
def marked(draw: st.DrawFn) -> tuple[str, str, list[tuple[int, int]]]:
    """What the user said, what the system said, and spans of that which do not overlap."""
    said, text = draw(TEXTS), draw(TEXTS)
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), min_size=2, max_size=6)))
    spans = [(a, b) for a, b in pairwise(cuts) if any(one.isalnum() for one in text[a:b])]
    spans = [(a, b) for a, b in spans if text[a:b].strip() == text[a:b]]
    assume(spans)
    return said, text, spans


def assessed(folder: Path, said: str, text: str, spans: list[tuple[int, int]]) -> Assessed:
    """One exchange, of whose answer somebody marked these spans as claims, in a layer on disk."""
    talk = conversation((said, text))
    claims = (
        Judgment(Target(talk.trial_id, 1, 1, start=a, end=b).about(), NUGGET, {"type": "F", "text": text[a:b]})
        for a, b in spans
    )
    write_layer(folder, Layer("human", "marker", judgments=tuple(claims)))
    return Assessed(talk, assess(talk, SCHEMA, Judgments.from_layers(read_layers(folder), SCHEMA)))


def on_the_page(row: Row, one: Assessed) -> list[tuple[str, list[list[str]]]]:
    """Who spoke, and the pieces, as a browser reads them from the answer of the server."""
    (asked,) = questions([row], [one])
    told = json.loads(encode_line(page_question(asked, {})))
    return [(side["speaker"], side["pieces"]) for side in told["conversations"][0]]


def spans_in_a_sheet(path: Path, rows: list[Row], one: Assessed, schema: Schema, value: str) -> list[Target | None]:
    write_rows(({**row, "value": value} for row in rows), COLUMNS, path)
    return [Target.from_judgment(judgment) for judgment in read_sheet(path, [one], schema).judgments]


@given(marked())
def test_spans_from_page_and_sheet_are_the_same_characters(
    made: tuple[str, str, list[tuple[int, int]]],
) -> None:
    said, text, spans = made
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one = assessed(folder, said, text, spans)
        rows = list(sheet_rows([one], SCHEMA["Correctness"]))
        assert [(int(row["start"]), int(row["end"]), row["text"]) for row in rows] == [
            (a, b, text[a:b]) for a, b in spans
        ]
        for row, (a, b) in zip(rows, spans, strict=True):
            user, system = on_the_page(row, one)
            assert user == ("user", [["", said]])
            assert "".join(words for _, words in system[1]) == text
            assert [words for kind, words in system[1] if kind == "mark"] == [text[a:b]]
            place = [kind for kind, _ in system[1]].index("mark")
            assert sum(len(words) for _, words in system[1][:place]) == a
        trial = one.conversation.trial_id
        for ending in ("csv", "jsonl"):
            back = spans_in_a_sheet(folder / f"s.{ending}", rows, one, SCHEMA, "1")
            assert back == [Target(trial, 1, 1, start=a, end=b) for a, b in spans]


@given(TEXTS, TEXTS)
def test_turns_of_both_sides_are_unchanged_by_a_round_trip(said: str, text: str) -> None:
    talk = conversation((said, text))
    one = Assessed(talk, assess(talk, BOTH_SIDES))
    with tempfile.TemporaryDirectory() as name:
        for criterion, speaker, words in (("Customer nugget", "user", said), ("Helpdesk nugget", "system", text)):
            (row,) = sheet_rows([one], BOTH_SIDES[criterion])
            assert on_the_page(row, one)[-1] == (speaker, [["", words]])
            for ending in ("csv", "jsonl"):
                value = BOTH_SIDES[criterion].value_names[0]
                back = spans_in_a_sheet(Path(name) / f"s.{ending}", [row], one, BOTH_SIDES, value)
                assert back == [Target(talk.trial_id, 1, 1, speaker)]
