"""What the wire said of each turn is counted under the scores, and bounds how many answers were misread."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from harvest.cli.show import command
from harvest.pages.witness.account import Account, make_account
from harvest.pages.witness.opening import open_content
from harvest.pages.witness.received import Message
from harvest.pages.witness.strands import EarlierTexts
from harvest.report.document import make_report
from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.scorecard import score_material
from harvest.studies.validity.witnessed import judge_wire, verdict_lines, witness_notes
from protocols.answer import Answer
from protocols.library import load_protocol
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, TrialKey, Turn
from recordings.events.events import events_of
from recordings.files.evidence import keep_exhibit
from recordings.log.header import make_header
from recordings.log.run_folder import read
from recordings.log.store import RunWriter
from tests.support.scoring_examples import grid_topics

TWO_ROUND = load_protocol("fairweb-two-round")
SYSTEMS = {"page": {"name": "page", "driver": "browser", "options": {"url": "http://127.0.0.1:1"}}}
REPLIES = ("The museum opens at nine.", "Trams leave every ten minutes.", "Tickets cost twelve crowns.")


def account(read: str, *received: str) -> Account:
    messages = [
        Message(float(at), "a/ws", "socket", json.dumps({"text": text})) for at, text in enumerate(received, start=1)
    ]
    return make_account(open_content(messages, 0.0), "And?", read, EarlierTexts())


def recorded(run: Path, turns: Sequence[tuple[str, Account | None]], trial: int = 1) -> Conversation:
    """A conversation in a run folder, each answer with what was kept of the wire."""
    made = []
    for number, (text, one) in enumerate(turns, start=1):
        evidence = {}
        if one is not None:
            data = json.dumps(one.as_json()).encode()
            evidence["wire"] = keep_exhibit(run, data, "application/json")
        made.append(Turn(number, "ask", "And?", SystemTurn(Answer(text), evidence=evidence)))
    return Conversation(TrialKey("page", "T01", trial), f"t{trial}", 1, tuple(made), Outcome("completed"))


def agreeing(run: Path, trial: int) -> Conversation:
    return recorded(run, [(text, account(text, text)) for text in REPLIES], trial)


def test_agreement_difference_and_silence_are_counted_and_bound_the_error(tmp_path: Path) -> None:
    cut = recorded(tmp_path, [("The museum", account("The museum", REPLIES[0])), ("Yes", account("Yes"))], 3)
    conversations = [*(agreeing(tmp_path, trial) for trial in range(4, 24)), cut]
    assert list(witness_notes(conversations, {"page": tmp_path})) == [
        "page: what the page showed and what it received agree on 60 of 61 answers that can be compared and differ on "
        "1: see harvest show.",
        "page: 1 answer cannot be compared with what the page received (nothing came over the wire that could be read "
        "x 1).",
        "page: at most 7 of 61 compared answers (11.5%) were misread, with 95% confidence, if a fault is seen in at "
        "least 90% of the conversations that have it; 12.9% of all answers, if each that cannot be compared counts as "
        "misread. Of a kind of fault that no comparison shows, nothing is known.",
    ]


def test_text_that_arrives_after_the_reading_is_reported_by_the_next_turn(tmp_path: Path) -> None:
    late = account(REPLIES[0], REPLIES[0], "And one more thing.")
    second = account(REPLIES[1], REPLIES[1]).add_earlier(late)
    conversation = recorded(tmp_path, [(REPLIES[0], account(REPLIES[0], REPLIES[0])), (REPLIES[1], second)], 9)
    found = judge_wire([agreeing(tmp_path, 1), agreeing(tmp_path, 2), conversation], tmp_path)
    assert found is not None
    verdict = found.verdicts["t9", 1, 1]
    assert (verdict.word, verdict.wire) == ("differs", ("And one more thing",))
    assert list(verdict_lines(verdict)) == [
        "what the page received differs from this answer",
        "only received: And one more thing",
    ]


def test_runs_without_a_second_witness_do_not_mention_one(tmp_path: Path) -> None:
    without = recorded(tmp_path, [("Hello", None)])
    assert judge_wire([without], tmp_path) is None
    assert list(witness_notes([without], {"page": tmp_path})) == []
    assert list(witness_notes([without], {})) == []


def test_a_damaged_account_is_counted_and_stops_nothing(tmp_path: Path) -> None:
    spoilt = recorded(tmp_path, [("Closed today.", account("Closed today.", "Closed today."))], 5)
    reply = spoilt.turns[0].reply
    assert reply is not None
    (tmp_path / reply.evidence["wire"]).write_bytes(b"{}")
    notes = list(witness_notes([agreeing(tmp_path, 1), spoilt], {"page": tmp_path}))
    assert notes[-1] == "page: 1 account of what the page received cannot be read."


async def test_show_the_scores_and_the_report_list_the_differences(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    writer = RunWriter.create(
        run, make_header(audit={"name": "a"}, protocol=TWO_ROUND, topics=grid_topics(1), systems=SYSTEMS)
    )
    cut = recorded(run, [("The museum", account("The museum", REPLIES[0]))], 3)
    for conversation in (agreeing(run, 1), agreeing(run, 2), cut):
        await writer.append(*events_of(conversation), sync=True)
    await writer.close()
    chosen = [str(run), "--system", "page", "--topic", "T01", "--trial"]
    command.main([*chosen, "3"], standalone_mode=False)
    told = capsys.readouterr().out
    assert "what the page received differs from this answer" in told
    assert "only received: opens at nine" in told
    command.main([*chosen, "1", "--json"], standalone_mode=False)
    (trial,) = json.loads(capsys.readouterr().out)["trials"]
    assert [turn["wire"]["word"] for turn in trial["turns"]] == ["agrees"] * 3
    material = gather_runs(read(run)).material
    sentence = "agree on 6 of 7 answers that can be compared and differ on 1"
    assert any(sentence in note for note in score_material(material).notes)
    report = make_report([read(run)], beside=tmp_path)
    page = json.dumps(report.document, ensure_ascii=False) + "".join(report.chunks)
    assert sentence in page
    assert "only received: opens at nine" in page
