"""Tidy rows of a run: one per attempt and one per user turn, also as data frames of two libraries."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import replace
from typing import Any

import pytest

from protocols.answer import Answer, Offer, Source, ToolCall
from recordings import conversation_rows, data_frame, read, turn_rows
from recordings.conversations.conversation import SystemTurn, Turn
from tests.support.checkout import ROOT

RUN = read(ROOT / "recordings" / "samples" / "run-1")


def test_there_is_one_row_for_each_attempt_however_it_ended() -> None:
    rows = conversation_rows(RUN.conversations)
    assert [(row["topic"], row["trial"], row["attempt"], row["outcome"], row["valid"]) for row in rows] == [
        ("M002", 1, 1, "completed", True),
        ("M002", 2, 1, "invalid", False),
        ("M002", 2, 2, "breakdown", True),
        ("M002", 3, 1, "", False),
    ]
    assert [row["turns"] for row in rows] == [len(one.turns) for one in RUN.conversations]


def test_there_is_one_row_for_each_user_turn_with_the_words_of_both_sides() -> None:
    rows = turn_rows(RUN.conversations)
    turns = [turn for one in RUN.conversations for turn in one.turns]
    assert [(row["turn"], row["said"], row["label"]) for row in rows] == [
        (turn.number, turn.said, turn.label) for turn in turns
    ]
    assert [row["answer"] for row in rows] == [turn.reply.answer.text if turn.reply else None for turn in turns]
    unanswered = [row for row in rows if row["answer"] is None]
    assert unanswered
    assert {row[name] for row in unanswered for name in ("links", "seconds", "sends", "finish")} == {None}


def test_a_row_counts_the_parts_sent_with_the_words_and_names_their_language() -> None:
    answer = Answer.of("Am Montag öffnen wir um neun.", sources=(Source("https://a.example/hours"),))
    reply = SystemTurn(
        replace(answer, thoughts="Monday?", calls=(ToolCall("search"),) * 2, offers=(Offer("Yes"),), refused=True)
    )
    one = replace(RUN.conversations[0], turns=(Turn(1, "ask", "Wann?", reply), Turn(2, "ask", "Und?")))
    names = ("links", "sources", "calls", "offers", "attachments", "thoughts", "refused", "ending", "language")
    first, second = turn_rows([one])
    assert tuple(first[name] for name in names) == (1, 1, 2, 1, 0, "Monday?", True, "refused", "de")
    assert {second[name] for name in names} == {None}


def test_every_row_has_the_same_columns_so_that_a_csv_file_can_be_written() -> None:
    for rows in (conversation_rows(RUN.conversations), turn_rows(RUN.conversations)):
        assert {tuple(row) for row in rows} == {tuple(rows[0])}
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, rows[0])
        writer.writeheader()
        writer.writerows(rows)
        assert len(list(csv.DictReader(io.StringIO(text.getvalue(), newline="")))) == len(rows)


def test_rows_of_several_runs_differ_by_the_name_of_their_run_which_comes_first() -> None:
    for made in (conversation_rows, turn_rows):
        rows = [*made(RUN.conversations, run="january"), *made(RUN.conversations, run="february")]
        assert {next(iter(row)) for row in rows} == {"run"}
        assert [row["run"] for row in rows] == ["january"] * (len(rows) // 2) + ["february"] * (len(rows) // 2)
        assert {row["run"] for row in made(RUN.conversations)} == {None}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_data_frame_contains_the_rows_and_lone_surrogates_are_marked(library: str) -> None:
    rows = turn_rows(RUN.conversations)
    frame = data_frame(rows, library)
    assert type(frame).__module__.startswith(library)
    assert frame.shape == (len(rows), len(rows[0]))
    assert list(frame.columns) == list(rows[0])
    for name in ("said", "answer", "turn", "seconds"):
        assert [_plain(value) for value in frame[name]] == [_marked(row[name]) for row in rows]


def _plain(value: Any) -> Any:
    """pandas has NaN where there is nothing."""
    return None if isinstance(value, float) and math.isnan(value) else value


def _marked(value: Any) -> Any:
    return value.replace("\ud83d", "\ufffd") if isinstance(value, str) else value


def test_an_unknown_library_is_refused() -> None:
    with pytest.raises(ValueError, match="pandas, polars"):
        data_frame([], "tables")
