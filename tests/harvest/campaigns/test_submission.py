"""A run of a campaign, whatever breaks: the track has every utterance of ours, each once."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import signal
from contextlib import AbstractContextManager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from harvest.campaigns.campaign import load_campaign
from harvest.campaigns.submission import Submission
from harvest.systems.driver import Denied, DriverError
from recordings.conversations.conversation import Conversation
from recordings.files.errors import RunError
from recordings.log.run_folder import read
from tests.servers.local_http import Asked, response, serving
from tests.servers.tracks import TOKEN, InteractiveTask, Track, UserSim
from tests.support.command_line import harvest
from tests.support.forked_commands import ForkedCommand
from tests.support.mutations import mutated
from topics.errors import InputError

GOALS: tuple[dict[str, str], ...] = (
    {"id": "g1", "context": "I study rivers.", "topic": "Which datasets have river levels?", "discipline": "hydrology"},
    {"id": "g2", "context": "I study bees.", "topic": "Where are counts of bees?", "discipline": "biology"},
)
TOPICS = {"1-1": ["Show me schools.", "In Canada?", "Thanks."], "2-1": ["What is a fjord?", "I see."]}
CLOSING = "That is all, thank you."


@pytest.fixture(autouse=True)
def _token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACK_TOKEN", TOKEN)


def campaign(folder: Path, url: str, more: str = "") -> Path:
    (folder / "c.yaml").write_text(
        f"format: harvest-campaign/1\nname: team\ndescription: A test.\nurl: {url}\n"
        'headers: {Authorization: {env: TRACK_TOKEN, prefix: "Bearer "}}\n'
        f"wait: 0.01\ntimeout: 0.3\n{more or USER}" + ("" if "settle" in more else "settle: 0\n")
    )
    return folder / "c.yaml"


USER = f"track: trec-usersim\nprotocol: helpdesk\nclosing: {CLOSING}\n"
SYSTEM = "track: ikat\nsystem: {name: mine, driver: python, options: {function: 'system.py:answer', takes: history}}\n"


async def played(server: Track, folder: Path, more: str = "", *, debug: bool = False) -> str:
    """Play the run with seed 1, and return how the track's record differs from the ledger."""
    async with serving(server) as local:
        read = load_campaign(campaign(folder, local.url, more))
        with read.submission(1, folder / "ledger.jsonl", debug=debug, report=lambda _: None) as submission:
            try:
                await submission.play()
                return (await submission.check())[1]
            finally:
                await submission.side.close()
                await submission.server.close()


def events(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "ledger.jsonl").read_text().splitlines()]


def usersim(**more: Any) -> UserSim:
    return UserSim(goals=GOALS, **more)


# helpdesk's customer says its request and one more, and leaves when both are answered.
WHOLE = [[goal["topic"], "And what can I do if that does not help?", CLOSING] for goal in GOALS]


def test_goals_become_topics_and_the_stop_of_the_user_is_final(tmp_path: Path) -> None:
    server = usersim()
    assert asyncio.run(played(server, tmp_path)) == ""
    assert server.said("team-1") == WHOLE
    finals = [one["is_final"] for talk in server.runs["team-1"] for one in talk if one["participant_id"] == "user"]
    assert finals == [False, False, True] * 2
    assert server.paths == ["/task2/run/start", *["/task2/run/continue"] * 6, "/run/dump"]
    asked = [one for one in events(tmp_path) if one["event"] == "sending" and one["call"] == "say"]
    assert [(one["topic"], one["last"], one.get("reason")) for one in asked] == [
        *[("g1", False, None)] * 2,
        ("g1", True, "goal-reached"),
        *[("g2", False, None)] * 2,
        ("g2", True, "goal-reached"),
    ]


def test_a_spent_budget_begins_the_next_conversation(tmp_path: Path) -> None:
    server = usersim(budget=2, chats=True)
    assert asyncio.run(played(server, tmp_path)) == ""
    assert server.said("team-1") == [talk[:2] for talk in WHOLE]


def test_debugging_uses_the_twin_topics(tmp_path: Path) -> None:
    server = usersim()
    asyncio.run(played(server, tmp_path, debug=True))
    assert server.paths == ["/task2/debug/start", *["/task2/debug/continue"] * 6, "/debug/dump"]


def test_a_greeting_is_recorded_and_the_user_opens_nevertheless(tmp_path: Path) -> None:
    server = usersim(greeting="Hello, how can I help?", faults={3: "after", 4: "after"})
    assert asyncio.run(played(server, tmp_path)) == ""
    assert server.said("team-1") == WHOLE
    assert harvest("data", "import", tmp_path / "ledger.jsonl", "--out", tmp_path / "run").returncode == 0
    first = read(tmp_path / "run").conversations[0]
    assert _words(first)[:2] == [("", "Hello, how can I help?"), (WHOLE[0][0], server.runs["team-1"][0][2]["text"])]
    assert [turn.label for turn in first.turns] == [None, "o", "o", None]


def test_an_empty_answer_is_an_answer(tmp_path: Path) -> None:
    server = usersim(replies=lambda number, said: "" if number == 1 else f"About {said}: yes.", faults={2: "after"})
    assert asyncio.run(played(server, tmp_path)) == ""
    for file in ("ledger.jsonl", "dump.jsonl"):
        (tmp_path / "dump.jsonl").write_text(server.get("/run/dump", "team-1")[1])
        assert harvest("data", "import", tmp_path / file, "--out", tmp_path / f"of-{file}").returncode == 0
        first = read(tmp_path / f"of-{file}").conversations[0]
        assert _words(first)[0] == (WHOLE[0][0], "")


def test_an_assistant_that_ends_the_conversation_is_answered_with_the_closing(tmp_path: Path) -> None:
    server = usersim(closes=1)
    assert asyncio.run(played(server, tmp_path)) == ""
    assert server.said("team-1") == [[talk[0], CLOSING] for talk in WHOLE]
    assert [one["reason"] for one in events(tmp_path) if one.get("last")] == ["system-ended"] * 2


def test_a_track_that_always_fails_is_abandoned(tmp_path: Path) -> None:
    server = usersim(faults=dict.fromkeys(range(3, 99), "error before"))
    with pytest.raises(DriverError, match="500"):
        asyncio.run(played(server, tmp_path))
    assert sum(one["event"] == "failed" for one in events(tmp_path)) == 5
    server.faults.clear()
    assert asyncio.run(played(server, tmp_path)) == ""
    assert server.said("team-1") == WHOLE


KINDS = ("before", "after", "error before", "error after", "busy", "slow")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("post", range(1, 8))
def test_a_fault_at_any_request_neither_loses_nor_doubles_anything(tmp_path: Path, kind: str, post: int) -> None:
    server = usersim(faults={post: kind})
    settle = "settle: 1.5\n" if kind == "slow" else ""
    assert asyncio.run(played(server, tmp_path, USER + settle)) == ""
    assert server.said("team-1") == WHOLE
    assert any(one["event"] == "failed" for one in events(tmp_path))


@pytest.mark.parametrize("kind", ["hook before", "hook after"])
def test_a_run_killed_at_each_request_continues(tmp_path: Path, kind: str) -> None:
    server = usersim(faults=dict.fromkeys(range(1, 15, 2), kind))
    ends = asyncio.run(_killed(server, tmp_path))
    assert server.said("team-1") == WHOLE
    assert ends.count(-signal.SIGKILL) == 7 if kind == "hook before" else 3
    assert ends[-1] == 0
    assert len((tmp_path / "out" / "team-1.dump.jsonl").read_text().splitlines()) == 10


async def _killed(server: Track, folder: Path, more: str = "") -> list[int | None]:
    ends: list[int | None] = []
    async with serving(server) as local:
        file = campaign(folder, local.url, more)
        while not ends or (ends[-1] == -signal.SIGKILL and len(ends) < 20):
            ends.append((await _submitted(file, folder, server))[0])
    return ends


def test_an_interrupted_run_continues(tmp_path: Path) -> None:
    server = usersim(faults={4: "hook after"})

    async def both() -> tuple[tuple[int | None, str, str], tuple[int | None, str, str]]:
        async with serving(server) as local:
            # A wait in which the signal finds it.
            file = campaign(tmp_path, local.url, USER + "attempts: 2\n")
            file.write_text(file.read_text().replace("wait: 0.01", "wait: 60"))
            first = await _submitted(file, tmp_path, server, signal.SIGINT)
            return first, await _submitted(file, tmp_path)

    first, second = asyncio.run(both())
    assert first[0] == 130
    assert "the same command continues it" in first[2]
    assert second[0] == 0
    assert server.said("team-1") == WHOLE
    assert "team-1: conversation 2 ended after 3 utterances" in second[2]


async def _submitted(
    file: Path, folder: Path, server: Track | None = None, by: signal.Signals = signal.SIGKILL
) -> tuple[int | None, str, str]:
    """Submit in a process, which the server may kill. Returns the exit code and what it prints."""
    words = ("users", "submit", str(file), "--out", str(folder / "out"))
    process = ForkedCommand(*words)
    if server is not None:
        server.hook = lambda: process.send_signal(by)
    out, err = await asyncio.to_thread(process.communicate)
    return process.returncode, out.decode(), err.decode()


PROTOCOL = """\
format: harvest-protocol/1
name: any
version: 1
start: talk
turn_limit: 5
users: {visitor: %s}
states:
  talk: {user: visitor, edges: [{otherwise: true, label: o, go: talk}]}
"""
USERS = {
    "agenda": "{simulator: agenda, requests: ['{{ topic.request }}', 'And for {{ topic.fields.discipline }}?']}",
    "clarification": "{simulator: clarification, facet: '{{ topic.fields.context }}'}",
    "llm": "{simulator: llm, mode: free}",
    "llm over agenda": "{simulator: llm, over: {simulator: agenda, requests: ['{{ topic.request }}', 'Why?']}}",
    "markov": "{simulator: markov}",
    "paraphrasing": "{simulator: paraphrasing, typos: 0.3, over: {simulator: random, leave: 0.2}}",
    "persona": "{simulator: persona, group: a, groups: {a: {cue: I am old.}}, over: {simulator: markov}}",
    "random": "{simulator: random, leave: 0.1}",
    "reformulating": "{simulator: reformulating, over: {simulator: markov}}",
    "subtopic": "{simulator: subtopic, subtopics: ['What of {{ topic.fields.age }}?', 'Who pays?'], stop: null}",
}
"""Users of every kind that needs no recording; the protocol's own turns are played in the other tests."""


@pytest.mark.parametrize("name", USERS)
def test_any_user_is_a_submission_that_remembers_what_it_said(tmp_path: Path, name: str) -> None:
    (tmp_path / "any.protocol.yaml").write_text(PROTOCOL % USERS[name])

    async def both() -> tuple[UserSim, UserSim]:
        models = count()

        async def model(asked: Asked, writer: asyncio.StreamWriter) -> None:
            """A model that never says the same twice, so that a turn that is worded again would show."""
            number = next(models)
            text = f"Could you tell me number {number} about rivers and bees, and for which levels and counts?"
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            writer.write(response("200 OK", json.dumps({"choices": [choice]})))

        async with serving(model) as words:
            ends = f"endpoints: {{words: {{base_url: {words.url}/v1, model: m}}}}\n" if "llm" in name else ""
            more = f"track: trec-usersim\nprotocol: any.protocol.yaml\nclosing: {CLOSING}\n{ends}"
            plain, broken = usersim(), usersim(faults=dict.fromkeys(range(2, 99, 3), "hook after"))
            broken.hook = lambda: setattr(broken, "down", True)
            await played(plain, _folder(tmp_path, "plain"), more)
            for _ in range(20):
                broken.down = False
                try:
                    assert await played(broken, _folder(tmp_path, "broken"), more) == ""
                    break
                except DriverError:
                    continue
            return plain, broken

    plain, broken = asyncio.run(both())
    for server, folder in ((plain, "plain"), (broken, "broken")):
        ours = [one for one in events(tmp_path / folder) if one.get("call") == "say"]
        assert [text for talk in server.said("team-1") for text in talk] == [one["text"] for one in ours]
        assert len(server.said("team-1")) == len(GOALS)
    if "llm" not in name:
        assert broken.said("team-1") == plain.said("team-1")


def _folder(base: Path, name: str) -> Path:
    folder = base / name
    folder.mkdir(exist_ok=True)
    (folder / "any.protocol.yaml").write_bytes((base / "any.protocol.yaml").read_bytes())
    return folder


def test_a_user_whose_model_fails_says_nothing_and_retries_with_other_seeds(tmp_path: Path) -> None:
    (tmp_path / "any.protocol.yaml").write_text(PROTOCOL % USERS["llm over agenda"])
    seeds: list[int] = []
    server = usersim()

    async def both() -> None:
        async def model(asked: Asked, writer: asyncio.StreamWriter) -> None:
            seeds.append(asked.json["seed"])
            failing = len(seeds) <= 1
            text = "" if failing else "Which datasets have river levels, and where are the counts of bees, and why?"
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            status = "400 Bad Request" if failing else "200 OK"
            writer.write(response(status, json.dumps({"choices": [choice]})))

        async with serving(model) as words:
            ends = f"endpoints: {{words: {{base_url: {words.url}/v1, model: m}}}}\n"
            more = f"track: trec-usersim\nprotocol: any.protocol.yaml\nclosing: {CLOSING}\n{ends}"
            with pytest.raises(DriverError, match="400 Bad Request"):
                await played(server, tmp_path, more)
            assert server.said("team-1") == []
            assert await played(server, tmp_path, more) == ""

    asyncio.run(both())
    assert seeds[0] not in seeds[1:]
    assert [one["reason"] for one in events(tmp_path) if one["event"] == "failed"] == ["endpoint-failed"]
    assert len(server.said("team-1")) == len(GOALS)


def test_each_seed_is_a_run_of_its_own(tmp_path: Path) -> None:
    server = usersim()

    async def submitted() -> tuple[list[str], str]:
        async with serving(server) as local:
            more = "track: trec-usersim\nprotocol: open-ended\nseeds: [1, 2, 3]\n"
            file = campaign(tmp_path, local.url, more)
            done, again = await _submitted(file, tmp_path), await _submitted(file, tmp_path)
            return done[1].splitlines(), again[2]

    steps, again = asyncio.run(submitted())
    assert again.count(": complete: ") == 3
    assert list(server.runs) == ["team-1", "team-2", "team-3"]
    said = [server.said(name) for name in server.runs]
    assert said[0] != said[1] != said[2]
    for step in steps:
        done = harvest(*shlex.split(step)[1:])
        assert done.returncode == 0, done.stderr
    for name in server.runs:
        recorded = read(tmp_path / "out" / name).conversations
        assert [[turn.said for turn in one.turns] for one in recorded] == server.said(name)
        assert {one.key.topic for one in recorded} == {"g1", "g2"}
        assert all(turn.act for one in recorded for turn in one.turns if turn.reply is not None)
        dumped = harvest("data", "import", tmp_path / "out" / f"{name}.dump.jsonl", "--out", tmp_path / f"{name}-dump")
        assert dumped.returncode == 0, dumped.stderr
        others = read(tmp_path / f"{name}-dump").conversations
        assert [_words(one) for one in others] == [_words(one) for one in recorded]


def _words(conversation: Conversation) -> list[tuple[str, str | None]]:
    return [(turn.said, turn.reply.answer.text if turn.reply else None) for turn in conversation.turns]


def test_a_track_that_is_down_is_asked_again_by_the_next_command(tmp_path: Path) -> None:
    server = usersim(faults={3: "after"})
    server.hook = lambda: setattr(server, "down", True)
    server.faults[3] = "hook after"
    with pytest.raises(DriverError, match="it is not known whether the last request arrived"):
        asyncio.run(played(server, tmp_path))
    server.down = False
    assert asyncio.run(played(server, tmp_path)) == ""
    assert server.said("team-1") == WHOLE


def test_a_lost_goal_is_requested_and_never_guessed(tmp_path: Path) -> None:
    server = usersim(faults={4: "after"}, names_goal=False)  # the reply that named the second goal
    with pytest.raises(RunError, match="neither its session nor its status names the goal"):
        asyncio.run(played(server, tmp_path))
    server.names_goal = True
    assert asyncio.run(played(server, tmp_path)) == ""
    assert server.said("team-1") == WHOLE


def shortened_while_down(fault: int, folder: Path, *, torn: int) -> UserSim:
    """The server, which went down before the request number `fault` and is up again. The ledger breaks off `torn`
    bytes after the beginning of the line with our second utterance."""
    server = usersim(faults={fault: "hook before"})
    server.hook = lambda: setattr(server, "down", True)
    with pytest.raises(DriverError):
        asyncio.run(played(server, folder))
    ledger = folder / "ledger.jsonl"
    lines = ledger.read_bytes().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if json.loads(line).get("text") == WHOLE[0][1])
    ledger.write_bytes(b"".join(lines[:at]) + lines[at][:torn])
    server.down = False
    return server


def test_a_torn_line_was_not_sent(tmp_path: Path) -> None:
    server = shortened_while_down(3, tmp_path, torn=40)
    assert asyncio.run(played(server, tmp_path)) == ""
    assert server.said("team-1") == WHOLE


def test_a_ledger_that_lost_lines_is_refused(tmp_path: Path) -> None:
    server = shortened_while_down(4, tmp_path, torn=0)
    with pytest.raises(
        RunError, match="2 utterances from this side in the conversation 'team-1/c1', which are not the 1 "
    ):
        asyncio.run(played(server, tmp_path))


def test_two_hundred_damaged_ledgers_are_either_refused_or_continued(tmp_path: Path) -> None:
    server = usersim(faults={5: "hook before"})
    server.hook = lambda: setattr(server, "down", True)
    with pytest.raises(DriverError):
        asyncio.run(played(server, tmp_path))
    data = (tmp_path / "ledger.jsonl").read_bytes()
    faults = []
    read_ = load_campaign(tmp_path / "c.yaml")
    for seed in range(200):
        (tmp_path / "ledger.jsonl").write_bytes(mutated(data, seed))
        try:
            with read_.submission(1, tmp_path / "ledger.jsonl", debug=False, report=lambda _: None):
                pass
        except InputError as fault:
            faults.append(str(fault))
    assert len(faults) > 50  # others change a word
    assert all("ledger.jsonl:" in fault for fault in faults)


def test_a_second_process_cannot_play_the_same_run(tmp_path: Path) -> None:
    read_ = load_campaign(campaign(tmp_path, "http://127.0.0.1:9"))

    def opened() -> AbstractContextManager[Submission]:
        return read_.submission(1, tmp_path / "ledger.jsonl", debug=False, report=lambda _: None)

    with opened(), pytest.raises(RunError, match="another process has been writing to this file"), opened():
        pass


def test_a_secret_is_neither_sent_nor_kept_and_neither_is_a_reply_with_nan(tmp_path: Path) -> None:
    (tmp_path / "system.py").write_text(f"def answer(text, history):\n    return 'the key is {TOKEN}-1 \\ud83d'\n")
    server = task(replies={"score": float("nan")})
    assert asyncio.run(played(server, tmp_path, SYSTEM)) == ""
    (first, *_), *_ = server.answers("team-1")
    assert TOKEN not in first
    assert first.startswith("the key is [redacted")
    assert TOKEN not in (tmp_path / "ledger.jsonl").read_text()
    assert '"score": NaN' in events(tmp_path)[2]["body"]


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ("track: trec-usersim\n", "has the assistant, so a campaign needs a protocol with simulated users"),
        ("track: ikat\nprotocol: helpdesk\n", "has the user, so a campaign needs a system"),
        (USER + "system: {name: s, driver: parrot}\n", "the track 'trec-usersim' plays this side itself"),
        ("track: trek\nprotocol: helpdesk\n", "there is no track 'trek'"),
        (USER + "api: {say: run}\n", "a path such as /run/start"),
        (USER + "api: {say_body: {x: '{{ txt }}'}}\n", "{{ txt }} cannot be used here"),
        (USER + "api: {speak: /say}\n", "speak"),
        (USER + "seeds: []\n", "seeds"),
        (USER.replace("helpdesk", "consistency-over-sessions"), "return in new sessions, which no track has"),
        (USER.replace("helpdesk", "harmlessness"), "asks its systems for harm"),
        (USER + "harm: declared\n", "no user asks for harm"),
        (USER.replace("helpdesk", "nowhere"), "unknown protocol 'nowhere'"),
    ],
)
def test_a_wrong_campaign_is_refused_at_its_place(tmp_path: Path, more: str, what: str) -> None:
    file = campaign(tmp_path, "http://127.0.0.1:9", more)
    with (
        pytest.raises(InputError) as fault,
        load_campaign(file).submission(1, tmp_path / "ledger.jsonl", debug=False, report=lambda _: None),
    ):
        pass
    assert what in str(fault.value)
    assert re.match(rf"{re.escape(str(file))}:\d+:\d+: ", str(fault.value))


def test_a_key_is_not_sent_in_clear_to_another_machine(tmp_path: Path) -> None:
    file = campaign(tmp_path, "http://usersim.example")
    with pytest.raises(InputError, match=r"TRACK_TOKEN would be sent to http://usersim\.example over plain http"):
        load_campaign(file)
    assert load_campaign(file, keys_in_clear=True).file.name == "team"


def test_a_run_is_not_continued_with_another_user(tmp_path: Path) -> None:
    server = usersim(faults={3: "hook before"})
    server.hook = lambda: setattr(server, "down", True)
    with pytest.raises(DriverError):
        asyncio.run(played(server, tmp_path))
    server.down = False
    with pytest.raises(RunError, match="the run was begun with speaker = "):
        asyncio.run(played(server, tmp_path, USER.replace("helpdesk", "open-ended")))


def test_a_run_that_something_else_continued_is_not_touched(tmp_path: Path) -> None:
    server = usersim(faults={3: "hook before"})
    server.hook = lambda: setattr(server, "down", True)
    with pytest.raises(DriverError):
        asyncio.run(played(server, tmp_path))
    server.down = False
    server.runs["team-1"][0].append(
        {"participant_id": "user", "text": "Another program.", "conversation_id": "team-1/c1"}
    )
    with pytest.raises(
        RunError, match="2 utterances from this side in the conversation 'team-1/c1', which are not the 2"
    ):
        asyncio.run(played(server, tmp_path))


def test_a_run_id_that_the_track_knows_is_refused(tmp_path: Path) -> None:
    server = usersim(runs={"team-1": [[{"participant_id": "user", "text": "Hi", "conversation_id": "team-1/c1"}]]})
    with pytest.raises(Denied, match="already exists"):
        asyncio.run(played(server, tmp_path))
    with pytest.raises(RunError, match="the track has a run 'team-1' already"):
        asyncio.run(played(server, tmp_path))


def test_a_wrong_token_stops_and_the_right_one_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = usersim()
    monkeypatch.setenv("TRACK_TOKEN", "wrong-token-of-ours")
    with pytest.raises(Denied, match="401"):
        asyncio.run(played(server, tmp_path))
    assert "wrong-token" not in (tmp_path / "ledger.jsonl").read_text()
    monkeypatch.setenv("TRACK_TOKEN", TOKEN)
    assert asyncio.run(played(server, tmp_path)) == ""
    assert server.said("team-1") == WHOLE


# The system says how many exchanges it knows, so that a session without its history would show.
FUNCTION = "def answer(text, history):\n    return f'{len(history) // 2}: about {text}'\n"
ANSWERS = [["0: about Show me schools.", "1: about In Canada?"], ["0: about What is a fjord?"]]


def task(**more: Any) -> InteractiveTask:
    return InteractiveTask(topics=TOPICS, **more)


def test_a_system_answers_the_user_of_the_track(tmp_path: Path) -> None:
    (tmp_path / "system.py").write_text(FUNCTION)
    server = task()
    assert asyncio.run(played(server, tmp_path, SYSTEM)) == ""
    assert server.answers("team-1") == ANSWERS


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("post", range(1, 6))
def test_a_fault_at_any_answer_neither_loses_nor_doubles_anything(tmp_path: Path, kind: str, post: int) -> None:
    (tmp_path / "system.py").write_text(FUNCTION)
    server = task(faults={post: kind})
    settle = "settle: 1.5\n" if kind == "slow" else ""
    assert asyncio.run(played(server, tmp_path, SYSTEM + settle)) == ""
    assert server.answers("team-1") == ANSWERS


@pytest.mark.parametrize("kind", ["hook before", "hook after"])
def test_a_system_killed_at_each_request_continues(tmp_path: Path, kind: str) -> None:
    (tmp_path / "system.py").write_text(FUNCTION)
    server = task(faults=dict.fromkeys(range(1, 11, 2), kind))
    ends = asyncio.run(_killed(server, tmp_path, SYSTEM))
    assert server.answers("team-1") == ANSWERS
    assert ends[-1] == 0
    assert -signal.SIGKILL in ends


def test_a_system_that_fails_says_nothing_and_is_asked_again(tmp_path: Path) -> None:
    (tmp_path / "system.py").write_text("def answer(text, history):\n    raise OSError('no disk')\n")
    server = task()
    with pytest.raises(DriverError, match="no disk"):
        asyncio.run(played(server, tmp_path, SYSTEM))
    assert server.answers("team-1") == [[]]
    (tmp_path / "system.py").write_text(FUNCTION)
    assert asyncio.run(played(server, tmp_path, SYSTEM)) == ""
    assert server.answers("team-1") == ANSWERS
