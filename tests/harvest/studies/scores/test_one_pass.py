"""A run that is read in one pass, its words forgotten, is printed as one that is held whole."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harvest.studies.runs.outlined_run import OutlinedRun
from harvest.studies.scores.one_pass import outlined_run
from harvest.studies.scores.report import print_scores
from harvest.studies.scores.score_request import ScoreRequest
from harvest.studies.validity.concentrations import concentrations, first_lost, loss_table
from harvest.terminal import people_console
from recordings.conversations.conversation import INVALID, Conversation, Outcome
from recordings.formats.imports import record
from recordings.log.header import make_header
from recordings.log.run_folder import Run, read
from tests.support.scoring_examples import MOVIE, conversation, movie, topic_set
from topics.topic import Topic

TOPICS = ("M1", "M2", "M3")
ENDS = (
    Outcome("completed"),
    Outcome("breakdown", "no-answer", missing=1),
    Outcome("user-stopped", "satisfied"),
    Outcome("user-stopped", "frustrated"),
    Outcome("system-ended", "closed"),
)


def world(seed: int) -> list[Conversation]:
    """Conversations of two systems whose words, labels, models, notes, ends and starts differ, not in their order."""
    rng = random.Random(seed)
    found = []
    for system in ("B", "A"):
        for topic in TOPICS:
            for trial in range(1, 7):
                texts = [
                    rng.choice(
                        ("", "None.", f"See {movie(rng.randint(1, 9))} and {movie(rng.randint(1, 9))}.", "映画。")
                    )
                    for _ in range(rng.randint(1, 3))
                ]
                labels = "".join(rng.choice("ox?") for _ in texts)
                one = conversation(
                    *(("Any others?", text) for text in texts),
                    labels=labels,
                    topic=topic,
                    system=system,
                    trial=trial,
                    outcome=rng.choice(ENDS),
                )
                turns = tuple(
                    replace(
                        turn,
                        worded=rng.choice(("", "", "policy: repeats-itself 2, assistant 1")),
                        route=turn.route and replace(turn.route, version=rng.choice(("urls/1", "urls/2"))),
                        reply=turn.reply
                        and replace(
                            turn.reply,
                            model=rng.choice(("", "m-1", "m-2")),
                            finish=rng.choice(("stop", "length", "content_filter")),
                            notes=rng.choice(((), ("sent twice",), ("sent twice", "cut"))),
                        ),
                    )
                    for turn in one.turns
                )
                at = rng.choice(("", f"2026-01-01T00:{rng.randint(0, 59):02d}:00.000000+00:00"))
                found.append(replace(one, turns=turns, started_at=at, place=rng.choice((1, 1, 2))))
    unended = [replace(one, attempt=2, outcome=None) for one in found[::5]]
    lost = [lose(rng, one) for one in found if rng.random() < 0.3]
    alone = replace(found[0], key=replace(found[0].key, trial=9), trial_id="alone", outcome=None)
    taken = {one.key for one in lost}
    never = rng.sample(sorted(taken), 2)
    kept = [replace(one, attempt=3) if one.key in taken else one for one in found if one.key not in never]
    unended = [replace(one, attempt=4) for one in unended]
    cut = replace(kept[3], outcome=Outcome("user-stopped", "no-words"))
    return [*lost, *kept[:3], cut, *kept[4:], *unended, alone]


def lose(rng: random.Random, one: Conversation) -> Conversation:
    """Return an attempt that was lost, more often in some states, after any number of answers."""
    turns = one.turns[: rng.randint(0, len(one.turns))]
    states = tuple(
        replace(
            turn,
            state=rng.choice(("ask", "insist")) if turn.number > 1 else "ask",
            route=turn.route and replace(turn.route, target=rng.choice(("ask", "insist", "stop:completed"))),
        )
        for turn in turns
    )
    end = Outcome(INVALID, rng.choice(("timeout", "no-reply")), rng.choice(("", "after 60 s", "after 90 s")))
    return replace(one, trial_id=f"{one.trial_id}-lost", attempt=rng.choice((1, 2)), turns=states, outcome=end)


def recorded(folder: Path, conversations: list[Conversation], trials: int = 8) -> Path:
    systems = {name: {"name": name, "driver": "python"} for name in ("A", "B", "C")}
    header = make_header(
        audit={"name": "t", "trials": trials},
        protocol=None,
        topics=topic_set(*(Topic(name, MOVIE, "say") for name in TOPICS)),
        systems=systems,
    )
    record(folder, conversations, header)
    return folder


def printed(run: Run, request: ScoreRequest, capsys: pytest.CaptureFixture[str], *, every: bool) -> str:
    gathered = request.gathered([run])
    scored = request.scored(gathered.material)
    print_scores(
        people_console(), gathered.material, scored.table, every=every, asked=scored.names, selection=scored.selection
    )
    return capsys.readouterr().out


@pytest.mark.parametrize("seed", range(4))
def test_a_run_read_in_one_pass_is_printed_as_one_held_whole(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    gold = tmp_path / "gold.csv"
    rows = [f"{topic},{movie(number)},L{number % 3},,{number},Asia" for topic in TOPICS for number in range(1, 7)]
    gold.write_text("\n".join(["topic,entity,grade,title,RATINGS,ORIGIN", *rows]), encoding="utf-8")
    monkeypatch.setenv("COLUMNS", "50" if seed % 2 else "120")
    folder = recorded(tmp_path / "run", world(seed))
    for request in (
        ScoreRequest(),
        ScoreRequest(gold=str(gold), settings={"unit": "characters"}),
        ScoreRequest(("%useful S1", "%recovery")),
        ScoreRequest(("T-measure", "refusal_rate", "D(RATINGS, 2)", "%sourced", "R"), gold=str(gold)),
        ScoreRequest(("CVaR(R)", "Q(T-measure, beta=0.5)", "min(R)"), gold=str(gold)),
    ):
        found = outlined_run(folder, request, at_once=7)
        assert isinstance(found, OutlinedRun)
        every = seed > 1
        assert printed(found, request, capsys, every=every) == printed(read(folder), request, capsys, every=every)


def test_measures_that_need_more_leave_the_run_to_the_reader_that_holds_it_whole(tmp_path: Path) -> None:
    folder = recorded(tmp_path / "run", world(1))
    for measure in ("pooled(GF(RATINGS))", "P(R, below=0.1)", "breakdown", "SWAN", "latency", "nothing"):
        assert outlined_run(folder, ScoreRequest((measure,))) is None


def test_losses_are_found_in_outlines_as_in_whole_conversations(tmp_path: Path) -> None:
    named: set[tuple[str, str, bool]] = set()
    for seed in range(4):
        folder = recorded(tmp_path / str(seed), world(seed))
        found, whole = outlined_run(folder, ScoreRequest()), read(folder)
        assert found is not None
        lost = first_lost(whole.conversations)
        assert len(lost) > 5
        assert first_lost(found.conversations).keys() == lost.keys()
        told = concentrations(whole.conversations, alpha=8.0)  # so that all are told
        named |= {(one.state, one.label, one.length != "") for one in told}
        assert concentrations(found.conversations, alpha=8.0) == told
        assert loss_table(found.conversations) == loss_table(whole.conversations)
    assert named >= {("insist", "", False), ("", "o", False), ("", "x", False), ("", "", True)}


def test_what_needs_more_than_outlines_is_read_whole(tmp_path: Path) -> None:
    first, *rest = world(5)
    valid = next(one for one in rest if one.valid)
    cases: dict[str, Callable[[], list[Conversation]]] = {
        "two valid attempts": lambda: [first, *rest, replace(valid, attempt=9, trial_id="again")],
        "a topic that the run does not have": lambda: [replace(first, key=replace(first.key, topic="M9")), *rest],
    }
    for name, make in cases.items():
        assert outlined_run(recorded(tmp_path / name, make()), ScoreRequest()) is None, name
    whole = recorded(tmp_path / "whole", [first, *rest])
    assert outlined_run(whole, ScoreRequest()) is not None
    assert outlined_run(whole, ScoreRequest(("P(R, below=0.1)",))) is None
    file = next(whole.glob("trials-*.jsonl"))
    lines = file.read_bytes().splitlines(keepends=True)
    for edited in ([*lines, lines[2]], [*lines[:3], b"nothing\n", *lines[3:]], lines[:-3]):
        file.write_bytes(b"".join(edited))
        assert outlined_run(whole, ScoreRequest()) is None
