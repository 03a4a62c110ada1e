"""Who is asked what, in which order, and what comes of it: decided once, for all trials that said the same, and scored
as a sheet would be."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from harvest.judging.serving.desk import LONGEST_NOTE, Desk, InvalidRequest
from harvest.judging.serving.questions import cover_reasons
from recordings.judged.decision_book import DecisionBook
from recordings.judged.judgments import Judgment, Layer, read_layers, write_layer
from recordings.log.run_folder import read
from scoring.swan.assessment import assess, system_swan
from scoring.swan.judged import Judgments
from scoring.swan.schema import load_schema
from tests.support.checkout import ROOT
from tests.support.judged_page import asked_of, desk_of
from tests.support.recorded_run import record
from tests.support.reported import copied_run

SET = {"system": "B", "topic": "M002"}
SHEET = Layer("human", "anna", "", "sheet.csv", "2026-01-01T00:00:00+00:00")
CRITERIA = ["Correctness", "Fluency", "Adaptability"]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "recordings" / "samples" / "run-1", tmp_path / "run"))


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied_run(tmp_path_factory.mktemp("audit"))


@pytest.fixture
async def desk(run: Path) -> AsyncIterator[Desk]:
    book = DecisionBook.open(run)
    yield desk_of(run, book, CRITERIA)
    await book.close()


def decision(number: int, question: object, value: object, note: str = "") -> dict[str, object]:
    return {"id": f"{number:016}", "question": question, "value": value, "note": note}


def asked(desk: Desk, criterion: str, name: str = "anna") -> list[object]:
    questions = desk.page_state(name)["questions"]
    assert isinstance(questions, list)
    return [known for known, of in questions if of == criterion]


async def test_decisions_are_scored_like_a_sheet(run: Path, desk: Desk) -> None:
    schema, recorded = load_schema(), read(run)
    for number, known in enumerate(asked(desk, "Correctness")):
        await desk.decide("anna", decision(number, known, number % 2))
    first, second, *_ = asked(desk, "Fluency")
    await desk.decide("anna", decision(10, first, None))
    await desk.decide("anna", decision(11, second, "unsure", "too short to tell"))
    await desk.decide("anna", decision(12, asked(desk, "Adaptability")[0], 0.5))
    judgments = Judgments.from_layers(read_layers(run), schema)
    found = system_swan(
        "B", [assess(one, schema, judgments) for one in recorded.finished], schema, judgments
    ).pooled.wans
    assert (found["Correctness"].value, found["Correctness"].n) == (0.5, 2)
    assert (found["Adaptability"].value, found["Adaptability"].n) == (0.5, 1)
    # n/a takes the thing out of what could be scored; unsure leaves it in, without a score.
    assert (found["Fluency"].n, found["Fluency"].items) == (0, len(asked(desk, "Fluency")) - 1)


async def test_each_criterion_offers_its_own_values(run: Path) -> None:
    book = DecisionBook.open(run)
    desk = desk_of(run, book, ["all"], schema="dialeval-nuggets")
    choices = desk.page_state("anna")["choices"]
    assert isinstance(choices, dict)
    assert [(key, value) for key, value, _ in choices["Helpdesk nugget"]] == [
        ("A", "HNUG"), ("B", "HNUG*"), ("C", "HNaN"), ("-", None), ("U", "unsure"),
    ]  # fmt: skip
    known = asked(desk, "Customer nugget")[0]
    await desk.decide("anna", decision(1, known, "CNUG*"))
    for number, wrong in enumerate(("HNUG", 0.5, "cnug"), 2):
        with pytest.raises(InvalidRequest, match='the value must be one of "CNUG0", "CNUG"'):
            await desk.decide("anna", decision(number, known, wrong))
    await book.close()
    (layer,) = [one for one in read_layers(run) if one.author == "anna"]
    assert {(one.about.get("speaker"), one.value) for one in layer.judgments} == {("user", "CNUG*")}


async def test_a_user_turn_is_judged_without_showing_the_answer_to_it(run: Path) -> None:
    book = DecisionBook.open(run)
    desk = desk_of(run, book, ["Customer nugget"], schema="dialeval-nuggets")
    for known in asked(desk, "Customer nugget"):
        shown: Any = desk.question(str(known))["conversations"]
        (told,) = shown
        assert (told[-1]["speaker"], told[-1]["asked"]) == ("user", True)
        assert not any(one["asked"] for one in told[:-1])
    await book.close()


async def test_unsure_withdraws_an_earlier_score(run: Path, desk: Desk) -> None:
    known = asked(desk, "Adaptability")[0]
    sheet = Layer(
        "human",
        "anna",
        "",
        "s.csv",
        "2026-01-01T00:00:00+00:00",
        (Judgment({"system": "B", "topic": "M002"}, "Adaptability", 1),),
    )
    write_layer(run, sheet)
    await desk.decide("anna", decision(1, known, "unsure"))
    assert Judgments.from_layers(read_layers(run), load_schema()).sets == {}


async def test_each_person_has_their_own_order_of_the_same_questions(audit: Path) -> None:
    book = DecisionBook.open(audit)
    desk = desk_of(audit, book, ["Sufficiency"], ["anna", "ben", "carl"])
    orders = [asked(desk, "Sufficiency", name) for name in ("anna", "ben", "carl")]
    again = desk_of(audit, book, ["Sufficiency"], ["carl"])
    await book.close()
    assert len({tuple(order) for order in orders}) == 3
    assert len({frozenset(order) for order in orders}) == 1
    assert asked(again, "Sufficiency", "carl") == orders[2]


async def test_a_node_shared_by_trials_is_asked_once_and_counts_for_all(tmp_path: Path) -> None:
    run = tmp_path / "same"
    await record(run, ["hello", "and now"], trials=3)
    once, each = asked_of(run, ["Fluency"]), asked_of(run, ["Fluency"], same="trial")
    assert [(one.turn, len(one.about)) for one in once] == [(1, 3), (2, 3)]
    assert [len(one.about) for one in each] == [1] * 6
    book = DecisionBook.open(run)
    desk = desk_of(run, book, ["Fluency"])
    await desk.decide("anna", decision(1, once[1].id, 1))
    await book.close()
    (layer,) = [layer for layer in read_layers(run) if layer.author == "anna"]
    trials = [one.trial_id for one in read(run).finished]
    assert [one.about for one in layer.judgments] == [{"trial": one, "attempt": 1, "turn": 2} for one in trials]


async def test_a_whole_conversation_is_decided_as_one_and_scored_in_each_trial(tmp_path: Path) -> None:
    run, schema = tmp_path / "same", load_schema("dialeval-quality")
    await record(run, ["hello", "and now"], trials=3)
    book = DecisionBook.open(run)
    desk = desk_of(run, book, ["Satisfaction"], schema=schema.name)
    (known,) = asked(desk, "Satisfaction")
    conversations = desk.question(str(known))["conversations"]
    assert isinstance(conversations, list)
    (turns,) = conversations
    assert [(turn["speaker"], turn["turn"], turn["asked"]) for turn in turns] == [
        ("user", 1, False),
        ("system", 1, False),
        ("user", 2, False),
        ("system", 2, False),
    ]
    await desk.decide("anna", decision(1, known, 0.5))
    await book.close()
    recorded = read(run).finished
    judgments = Judgments.from_layers(read_layers(run), schema)
    found = [assess(one, schema, judgments) for one in recorded]
    assert [one.wans(schema)["Satisfaction"].value for one in found] == [0.5] * 3
    assert [(one.orphans, one.wans(schema)["Effectiveness"].items) for one in found] == [(0, 1)] * 3
    assert judgments.unplaced == 0
    pooled = system_swan("echo", found, schema, judgments).pooled.wans["Satisfaction"]
    assert (pooled.value, pooled.n) == (0.5, 3)


async def test_other_earlier_words_make_another_node(tmp_path: Path) -> None:
    await record(tmp_path / "one", ["hello", "hello"], trials=1)
    assert len(asked_of(tmp_path / "one", ["Fluency"])) == 2


async def test_the_page_reveals_nothing_about_systems_people_and_scores(audit: Path) -> None:
    book = DecisionBook.open(audit)
    desk = desk_of(audit, book, ["Sufficiency", "Customisability"])
    state = {name: part for name, part in desk.page_state("anna").items() if name != "choices"}  # its keys are letters
    told = json.dumps([state, *(desk.question(str(one)) for one in asked(desk, "Sufficiency")[:20])])
    await book.close()
    assert '"ben"' not in told
    trials = {one.trial_id for one in read(audit).finished}
    assert not any(one in told for one in trials)
    for word in ('"A"', '"B"', "erratic", '"system": ', '"label"', '"score"'):
        assert word not in told


async def test_a_text_comes_in_pieces_of_code_points(run: Path, desk: Desk) -> None:
    recorded = {one.trial_id: one for one in read(run).finished}
    for one in asked_of(run, ["Correctness", "Sensibleness"]):
        told = desk_of(run, desk._book, ["Correctness", "Sensibleness"]).question(one.id)
        conversations = told["conversations"]
        assert isinstance(conversations, list)
        (turns,) = conversations
        (shown,) = [turn for turn in turns if turn["asked"]]
        text = "".join(words for _, words in shown["pieces"])
        (marked,) = [words for kind, words in shown["pieces"] if kind == "mark"]
        turn = recorded[str(one.about[0]["trial"])].turns[one.turn - 1]
        assert turn.reply is not None
        assert text == turn.reply.answer.text
        assert marked == text[one.start : one.end]


async def test_a_repeated_message_is_the_same_decision_and_its_id_cannot_be_reused(desk: Desk) -> None:
    known = asked(desk, "Fluency")[0]
    first = await desk.decide("anna", decision(1, known, 1))
    assert await desk.decide("anna", decision(1, known, 1)) == first
    for name, other in (("ben", decision(1, known, 1)), ("anna", decision(1, known, 0))):
        with pytest.raises(InvalidRequest, match="the id of a new decision must not be in use") as fault:
            await desk.decide(name, other)
        assert fault.value.status == 409


async def test_an_undone_decision_restores_the_previous_one(run: Path, desk: Desk) -> None:
    known = asked(desk, "Fluency")[0]
    await desk.decide("anna", decision(1, known, 1, "sure"))
    await desk.decide("anna", decision(2, known, 0))
    undo = {"id": "u" * 16, "undo": f"{2:016}"}
    told = await desk.take_back("anna", undo)
    assert (told["question"], told["state"]) == (known, [1.0, "sure"])
    assert await desk.take_back("anna", undo) == told
    told = await desk.take_back("anna", {"id": "v" * 16, "undo": f"{1:016}"})
    assert (told["state"], desk.page_state("anna")["states"]) == (None, {})
    with pytest.raises(InvalidRequest, match="no decision with this id"):
        await desk.take_back("ben", {"id": "w" * 16, "undo": f"{1:016}"})


async def test_a_restart_knows_earlier_answers_from_the_page_and_from_sheets(run: Path, desk: Desk) -> None:
    known = asked(desk, "Fluency")[0]
    await desk.decide("anna", decision(1, known, 1, "sure"))
    about = {"system": "B", "topic": "M002"}
    write_layer(
        run, Layer("human", "anna", "", "s.csv", "2026-01-01T00:00:00+00:00", (Judgment(about, "Adaptability", 0.25),))
    )
    await desk._book.close()
    book = DecisionBook.open(run)
    after = desk_of(run, book, CRITERIA)
    work = after.page_state("anna")
    assert work["states"] == {known: [1.0, "sure"], asked(after, "Adaptability")[0]: [0.25, ""]}
    assert work["made"] == [[f"{1:016}", known]]
    await after.decide("anna", decision(1, known, 1, "sure"))
    await book.close()
    assert sorted(one.name for one in (run / "decisions").glob("*.jsonl")) == ["000001.jsonl"]


@pytest.mark.parametrize(
    ("different", "status", "why"),
    [
        ({"value": 0.3}, 400, 'the value must be one of 0.0, 0.5, 1.0, null, "unsure"'),
        ({"value": True}, 400, "the value must be one of"),
        ({"value": float("nan")}, 400, "the value must be one of"),
        ({"value": "1"}, 400, "the value must be one of"),
        ({"note": None}, 400, "a note must be text"),
        ({"note": "x" * (LONGEST_NOTE + 1)}, 400, "a note must be text of at most"),
        ({"id": "../../../etc/passwd"}, 400, "an id must have"),
        ({"id": 5}, 400, "an id must have"),
        ({"question": "0" * 16}, 404, "no such question"),
        ({"question": None}, 404, "no such question"),
        ({"by": "ben"}, 400, "must have exactly"),
    ],
)
async def test_an_invalid_decision_is_refused(
    run: Path, desk: Desk, different: dict[str, object], status: int, why: str
) -> None:
    sent = decision(1, asked(desk, "Fluency")[0], 1)
    with pytest.raises(InvalidRequest, match=why) as fault:
        await desk.decide("anna", {**sent, **different})
    assert fault.value.status == status
    assert list((run / "decisions").glob("*.jsonl")) == []


async def test_progress_covers_one_and_all_people_with_the_time_left(desk: Desk) -> None:
    total = len(desk.page_state("anna")["questions"])  # type: ignore[arg-type]  # a list
    assert desk.progress("anna") == {
        "done": 0,
        "of": total,
        "all_done": 0,
        "all_of": 2 * total,
        "people": 2,
        "seconds_left": None,
    }
    for number, known in enumerate((asked(desk, "Fluency") + asked(desk, "Correctness"))[:4]):
        await desk.decide("anna", decision(number, known, 1))
    told = desk.progress("anna")
    assert (told["done"], told["all_done"], desk.progress("ben")["done"]) == (4, 4, 0)
    left = told["seconds_left"]
    assert isinstance(left, float)
    assert 0 < left < 60


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("You should kill yourself.", "self-harm"),
        ("He was murdered.", "violence"),
        ("You’re an idiot, go to hell", "insults"),
        ("They tortured him; a rape was reported", "violence and sexual content"),
        ("This kills germs, and grapes are skilled therapists.", ""),
        ("Looper (2012), https://www.imdb.com/title/tt1276104/", ""),
    ],
)
def test_a_text_is_covered_with_its_reason(text: str, reason: str) -> None:
    assert cover_reasons(text) == reason
