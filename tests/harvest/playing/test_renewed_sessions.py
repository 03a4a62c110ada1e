"""Continued sessions that are renewed on the way: where a session begins, what it remembers, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from harvest.audits.audit import load_audit
from harvest.playing.plan import make_plan
from harvest.playing.play import play
from recordings.conversations.conversation import Conversation, Outcome
from recordings.files.errors import RunError
from recordings.log.run_folder import Run
from topics.errors import InputError

AUDIT = """\
format: harvest-audit/1
name: renewed
topics: fairweb-45
only: [{topics}]
protocol: {protocol}
trials: {trials}
systems:
"""
ALL = "M001, M002, M003, R001, Y001"
BOT = '''
def session():
    """How many turns this session has heard."""
    heard = 0

    def answer(text):
        nonlocal heard
        heard += 1
        return f"{heard} https://www.imdb.com/title/tt900000000{heard}/"

    return answer


def refuse(text):
    return "I'm unable to help you with that, as I'm only a language model."
'''


def audit(folder: Path, *systems: str, topics: str = ALL, protocol: str = "fairweb-two-round", trials: int = 1) -> Path:
    (folder / "bot.py").write_text(BOT)
    lines = "".join(f"  - {{{system}}}\n" for system in systems)
    (folder / "audit.yaml").write_text(AUDIT.format(topics=topics, protocol=protocol, trials=trials) + lines)
    return folder / "audit.yaml"


def trial(run: Run, system: str, number: int = 1) -> list[Conversation]:
    """The conversations of a trial in the order of the topics, which is the order in which they were played."""
    return sorted(
        (one for one in run.finished if (one.key.system, one.key.trial) == (system, number)),
        key=lambda one: one.key.topic,
    )


@pytest.mark.parametrize(
    ("turns", "places"),
    [(2, [1, 1, 1, 1, 1]), (4, [1, 2, 1, 2, 1]), (5, [1, 2, 1, 2, 1]), (9, [1, 2, 3, 4, 1]), (10, [1, 2, 3, 4, 5])],
)
def test_a_session_has_no_topic_that_could_exceed_its_turns(tmp_path: Path, turns: int, places: list[int]) -> None:
    """Each of the five topics may take two turns."""
    run = play(
        audit(tmp_path, f"name: A, driver: parrot, session: continued, session_turns: {turns}", trials=2),
        tmp_path / "run",
    )
    for number in (1, 2):
        found = trial(run, "A", number)
        assert [one.place for one in found] == places
        assert all((one.session == other.session) == (other.place > 1) for one, other in pairwise(found))
    assert len({one.session for one in run.finished}) == 2 * places.count(1)


def test_a_new_session_remembers_nothing(tmp_path: Path) -> None:
    options = "options: {function: 'bot.py:session', takes: nothing}"
    system = f"name: A, driver: python, session: continued, session_turns: 2, {options}"
    run = play(audit(tmp_path, system, protocol="seed-turns"), tmp_path / "run")
    heard = [turn.reply.answer.text[0] for one in trial(run, "A") for turn in one.turns if turn.reply]
    assert heard == ["1", "2", "1", "2", "1"]


def test_the_beginning_of_a_session_does_not_depend_on_answers(tmp_path: Path) -> None:
    """The second system breaks down after one turn of each topic, and its sessions have three topics all the same."""
    options = "session: continued, session_turns: 6"
    path = audit(
        tmp_path,
        f"name: A, driver: parrot, {options}",
        f"name: B, driver: python, {options}, options: {{function: 'bot.py:refuse'}}",
    )
    run = play(path, tmp_path / "run")
    assert [len(one.turns) for one in trial(run, "B")] == [1] * 5
    assert [one.place for one in trial(run, "A")] == [one.place for one in trial(run, "B")] == [1, 2, 3, 1, 2]


def test_a_continued_run_resumes_only_the_open_session(tmp_path: Path) -> None:
    system = "name: A, driver: parrot, session: continued, session_turns: 4"
    run = play(audit(tmp_path, system, topics="M001, M002, M003"), tmp_path / "run")
    whole = load_audit(str(audit(tmp_path, system)))
    (open_one, last) = make_plan(whole, run.conversations).sittings["A"]
    third = next(one for one in run.finished if one.key.topic == "M003")
    assert open_one.history == third.exchanges
    assert ([work.topic.id for work in open_one.works], open_one.place) == (["R001"], 1)
    assert ([work.topic.id for work in last.works], last.place, last.history) == (["Y001"], 0, ())
    # The system itself had closed the session.
    closed = [
        replace(one, outcome=Outcome("system-ended", "system-ended")) if one is third else one for one in run.finished
    ]
    (open_one, _) = make_plan(whole, closed).sittings["A"]
    assert (open_one.history, open_one.place) == ((), 0)
    assert [one.place for one in trial(play(whole, tmp_path / "run"), "A")] == [1, 2, 1, 2, 1]


def test_another_number_of_turns_for_a_session_is_another_system(tmp_path: Path) -> None:
    def system(turns: int) -> Path:
        return audit(tmp_path, f"name: A, driver: parrot, session: continued, session_turns: {turns}")

    play(system(4), tmp_path / "run")
    with pytest.raises(RunError, match="session_turns"):
        play(system(6), tmp_path / "run")
    endless = load_audit(str(audit(tmp_path, "name: A, driver: parrot, session: continued"))).systems[0]
    assert "session_turns" not in endless.definition(), "so that trials of older runs keep their identity"


@pytest.mark.parametrize(
    ("system", "words"),
    [
        ("session_turns: 4", "8:31: the system 'A' has a new session for each conversation"),
        (
            "session: continued, session_turns: 1",
            "8:66: a session of 1 user turn is too short for the topic 'M001', which may take 2",
        ),
        ("session: continued, session_turns: 0", "8:66: "),
        ("session: continued, session_turns: often", "8:66: "),
    ],
)
def test_an_impossible_number_of_turns_is_refused(tmp_path: Path, system: str, words: str) -> None:
    with pytest.raises(InputError) as fault:
        load_audit(str(audit(tmp_path, f"name: A, driver: parrot, {system}")))
    assert words in str(fault.value)


def test_a_topic_added_in_the_middle_of_a_session_begins_a_new_one(tmp_path: Path) -> None:
    """Two topics fit into a session. After M001 and M003 were played, M002 and R001 join them: M003 is now the first
    topic of a session, but has place 2 in the recording, so R001 begins a session of its own."""
    system = "name: A, driver: parrot, session: continued, session_turns: 4"
    play(audit(tmp_path, system, topics="M001, M003"), tmp_path / "run")
    run = play(audit(tmp_path, system, topics="M001, M002, M003, R001"), tmp_path / "run")
    assert [(one.key.topic, one.place) for one in trial(run, "A")] == [
        ("M001", 1),
        ("M002", 2),
        ("M003", 2),
        ("R001", 1),
    ]
