"""Blind pairs on the page: what is chosen there is what a sheet would have said, and nobody is told whose it is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from harvest.judging.serving.blind_pairs import decision_folder, pair_questions, read_decided_pairs
from harvest.judging.serving.desk import Desk, InvalidRequest, pair_choices
from harvest.judging.serving.questions import Question
from harvest.judging.sheets.pair_sheet import BlindPair, Preference
from recordings.judged.decision_book import DecisionBook
from tests.support.command_line import harvest
from tests.support.scoring_examples import conversation
from topics.errors import InputError

PAIRS = [
    BlindPair(
        number,
        "T1",
        conversation(("Hello", f"=Answer {number}"), labels="o", system="mine", trial=number, topic="T1"),
        conversation(("Hello", f"=Other {number}"), labels="o", system="yours", trial=number, topic="T1"),
    )
    for number in (1, 2, 3)
]


def texts(asked: Sequence[Question]) -> dict[int, str]:
    return {int(one.about[0]["pair"]): str(one.about[0]["text"]) for one in asked}


async def test_a_choice_on_the_page_equals_one_on_a_sheet(tmp_path: Path) -> None:
    asked = pair_questions(PAIRS)
    book = DecisionBook.open(tmp_path)
    desk = Desk(tmp_path, asked, ("anna", "ben"), book, choices=pair_choices())
    told = json.dumps([desk.page_state("anna"), *(desk.question(one.id) for one in asked)])
    assert "mine" not in told
    assert "yours" not in told
    for name, number, value in [("anna", 0, "left"), ("anna", 1, "tie"), ("ben", 0, "unsure"), ("anna", 0, "right")]:
        sent = {"id": f"{name}-{number}-{value}-000000", "question": asked[number].id, "value": value, "note": ""}
        await desk.decide(name, sent)
    for wrong in (0.5, None, "both"):
        unlike: dict[str, object] = {"id": "0" * 16, "question": asked[0].id, "value": wrong, "note": ""}
        with pytest.raises(InvalidRequest, match='the value must be one of "left", "tie", "right", "unsure"'):
            await desk.decide("anna", unlike)
    await book.close()
    found = read_decided_pairs(tmp_path, texts(asked)).preferences
    assert set(found) == {Preference(1, "anna", "right"), Preference(2, "anna", "tie"), Preference(1, "ben", "unsure")}
    with pytest.raises(InputError, match="judged a pair that is not in the key"):
        read_decided_pairs(tmp_path, {1: "another text"})


async def test_a_folder_without_decisions_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="this folder contains no decisions on pairs"):
        read_decided_pairs(tmp_path, {})
    await DecisionBook.open(tmp_path).close()
    with pytest.raises(InputError, match="this folder contains no decisions yet"):
        read_decided_pairs(tmp_path, {})


def test_the_command_says_which_folder_is_wrong(tmp_path: Path) -> None:
    key = {"format": "harvest-pairs/1", "sheet": "s.csv", "seed": 0, "systems": ["A", "B"], "runs": [], "pairs": {}}
    (tmp_path / "s.key.json").write_text(json.dumps(key))
    done = harvest("judge", "preferences", tmp_path, "--key", tmp_path / "s.key.json")
    assert (done.returncode, "this folder contains no decisions on pairs" in done.stderr) == (2, True)


def test_decisions_are_stored_next_to_the_sheet() -> None:
    assert decision_folder(Path("audits/pairs.csv")) == Path("audits/pairs.judged")
