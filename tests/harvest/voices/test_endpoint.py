"""The endpoint that words a user's turns, over real HTTP: what it is asked, and what comes of what it does wrong."""

from __future__ import annotations

import asyncio
import json
import re
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from harvest.audits.audit import Audit, load_audit
from harvest.cli import main
from harvest.cli.show import command
from harvest.playing.attempt import Player
from harvest.playing.plan import make_plan
from harvest.playing.play import SilentWatcher
from harvest.playing.runner import Runner
from harvest.systems.driver import Surroundings
from harvest.voices.endpoint import Endpoint, EndpointError, EndpointOptions
from recordings.conversations.conversation import Conversation, Outcome
from recordings.conversations.endings import missing_turns
from recordings.log.continuation import refuse_differences
from recordings.log.run_folder import Run, read
from recordings.log.store import RunWriter
from simulators.outside import Message, Prompt, Sample
from simulators.scripted import ScriptedUser
from tests.servers.local_http import Asked, LocalServer, response, serving
from topics.errors import HarvestError, InputError

PROMPT = Prompt("words", "ask", (Message("system", "Be a person."), Message("user", "Begin.")), ("u", 1), 77)
PROTOCOL = {
    "format": "harvest-protocol/1",
    "name": "worded",
    "version": 1,
    "start": "talk",
    "turn_limit": 4,
    "users": {
        "visitor": {
            "simulator": "llm",
            "samples": 2,
            "over": {
                "simulator": "agenda",
                "requests": ["{{ topic.request }}", "Which of them are the oldest?"],
                "initiative": 0.0,
                "patience": 0,
                "stop": None,
            },
        }
    },
    "states": {"talk": {"user": "visitor", "edges": [{"otherwise": True, "label": "o", "go": "talk"}]}},
}
FREE = {**PROTOCOL, "users": {"visitor": {"simulator": "llm", "samples": 2, "mode": "free"}}}
PARROT = {"driver": "parrot"}
Handler = Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]


def completion(text: str, finish: str = "stop") -> bytes:
    value = {"choices": [{"index": 0, "message": {"content": text}, "finish_reason": finish}]}
    return response("200 OK", json.dumps(value))


def saying(*bodies: bytes) -> Handler:
    """A handler that writes these bytes, one for each request, the last for ever."""
    left = deque(bodies)

    async def handler(asked: Asked, writer: asyncio.StreamWriter) -> None:
        body = left.popleft() if len(left) > 1 else left[0]
        writer.write(body)
        await writer.drain()
        if not body.startswith(b"HTTP/1.1 200") or b"Content-Length" not in body or b"CUT" in body:
            writer.close()

    return handler


async def silent(asked: Asked, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(30)


def audit_file(
    folder: Path, url: str, *, trials: int = 1, protocol: Any = PROTOCOL, system: Any = PARROT, **options: Any
) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "worded.yaml").write_text(json.dumps(protocol), encoding="utf-8")
    endpoint = {"base_url": url, "model": "m1", "retries": 0, "retry_wait": 0, "timeout": 5, **options}
    audit = {
        "format": "harvest-audit/1",
        "name": "worded",
        "topics": "fairweb-45",
        "only": ["M002"],
        "protocol": "worded.yaml",
        "trials": trials,
        "systems": [{"name": "A", "attempts": 1, "concurrency": 4, **system}],
        "endpoints": {"words": endpoint},
    }
    path = folder / "audit.yaml"
    path.write_text(yaml.safe_dump(audit), encoding="utf-8")
    return path


class _Nobody(SilentWatcher):
    def __init__(self) -> None:
        self.left: list[str] = []

    def system_left(self, system: str, reason: str, unplayed: int) -> None:
        self.left.append(reason)


async def played(audit: Audit, folder: Path) -> tuple[Run, list[str]]:
    """The run of the audit, as `harvest run` plays it, and why systems were left alone."""
    watcher = _Nobody()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(audit.endpoints)
        writer = await stack.enter_async_context(RunWriter.open(folder, audit.header(), secrets=audit.secrets))
        player = Player(writer, ScriptedUser(audit.protocol, audit.users), audit.seed, words=audit.endpoints)
        await Runner(player, audit.systems, audit.drivers, watcher).play(make_plan(audit))
    return read(folder), watcher.left


async def conversation(tmp_path: Path, handler: Handler, **options: Any) -> tuple[Conversation, LocalServer]:
    async with serving(handler) as server:
        run, _ = await played(load_audit(str(audit_file(tmp_path, server.url, **options))), tmp_path / "run")
    (one,) = run.conversations
    return one, server


async def sampled(handler: Handler, **options: Any) -> tuple[Sample, list[Asked]]:
    async with serving(handler) as server:
        given = {"base_url": server.url, "model": "m1", "retries": 0, "retry_wait": 0, "timeout": 5, **options}
        around = Surroundings("", Path(), environment={"WORDS_KEY": "sk-words-secret"})
        endpoint = Endpoint("words", EndpointOptions.model_validate(given), around)
        try:
            return await endpoint.sample(PROMPT), server.asked
        finally:
            await endpoint.close()


async def test_the_request_follows_the_options() -> None:
    sample, (asked,) = await sampled(
        saying(completion("hello there", "stop")), api_key_env="WORDS_KEY", temperature=0.7, extra={"top_k": 40}
    )
    assert sample == Sample("hello there", "stop")
    assert asked.target == "/chat/completions"
    assert asked.headers["authorization"] == "Bearer sk-words-secret"
    assert asked.json == {
        "model": "m1",
        "temperature": 0.7,
        "max_tokens": 300,
        "seed": 77,
        "top_k": 40,
        "messages": [{"role": "system", "content": "Be a person."}, {"role": "user", "content": "Begin."}],
    }


async def test_an_endpoint_that_only_complains_is_abandoned_and_this_is_reported() -> None:
    told: list[tuple[str, str]] = []
    async with serving(saying(response("429 Too Many Requests", ""))) as server:
        given = {"base_url": server.url, "model": "m1", "retries": 20, "retry_wait": 0.1, "busy_timeout": 1}
        endpoint = Endpoint("words", EndpointOptions.model_validate(given), Surroundings("", Path()))
        endpoint.report_waits(lambda name, why: told.append((name, why)))
        try:
            with pytest.raises(EndpointError, match="http-429"):
                await endpoint.sample(PROMPT)
            asked = len(server.asked)
            with pytest.raises(EndpointError, match="asked-too-much: it has only said for"):
                await endpoint.sample(PROMPT)
        finally:
            await endpoint.close()
    assert 2 <= asked == len(server.asked)
    ((name, why),) = told
    assert name == "the endpoint 'words'"
    assert why.startswith("says that it gets too many requests: unless it answers, Harvest waits until ")


async def test_an_endpoint_without_seeds_is_sent_none() -> None:
    _, (asked,) = await sampled(saying(completion("hello")), seed=False, max_tokens=None)
    assert set(asked.json) == {"model", "messages"}


@pytest.mark.parametrize("key", ["messages", "seed", "model", "stream"])
def test_extra_fields_cannot_replace_ours(key: str) -> None:
    with pytest.raises(ValueError, match=key):
        EndpointOptions.model_validate({"base_url": "http://localhost/v1", "model": "m", "extra": {key: 1}})


async def test_a_failure_before_a_success_costs_only_one_request() -> None:
    busy = response("503 Service Unavailable", "busy")
    sample, asked = await sampled(saying(busy, busy, completion("hello")), retries=2)
    assert (sample.text, len(asked)) == ("hello", 3)
    assert len({one.body for one in asked}) == 1


WRONGS = {
    "5xx": saying(response("500 Internal Server Error", "Sorry, something went wrong.")),
    "503": saying(response("503 Service Unavailable", "")),
    "429": saying(response("429 Too Many Requests", "")),
    "no-key": saying(response("401 Unauthorized", '{"error": {"message": "no such key"}}')),
    "no-json": saying(response("200 OK", "<html>I am sorry</html>", media_type="text/html")),
    "no-choices": saying(response("200 OK", '{"choices": []}')),
    "error-with-200": saying(response("200 OK", '{"error": {"message": "Sorry, overloaded"}}')),
    "deep": saying(response("200 OK", "[" * 200_000)),
    "deep-5xx": saying(response("500 Internal Server Error", "[" * 200_000)),
    "wrong-shape": saying(response("200 OK", '{"choices": [{"message": "Which films?"}]}')),
    "cut-body": saying(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{"CUT'),
    "no-http": saying(b"\x00\x01 not HTTP\r\n\r\n"),
    "not-utf8": saying(response("200 OK", b'{"choices": [{"message": {"content": "\xff\xfe"}}]}')),
    "silence": silent,
}


@pytest.mark.parametrize("wrong", WRONGS)
async def test_every_broken_reply_of_the_endpoint_is_a_typed_failure(wrong: str) -> None:
    with pytest.raises(EndpointError) as caught:
        await sampled(WRONGS[wrong], timeout=0.5)
    assert caught.value.reason == "endpoint-failed"
    assert "'words'" in caught.value.detail
    assert not caught.value.partial


@pytest.mark.parametrize("wrong", WRONGS)
async def test_a_failure_at_the_opening_is_an_invalid_attempt_without_words(wrong: str, tmp_path: Path) -> None:
    one, _ = await conversation(tmp_path, WRONGS[wrong], timeout=0.5)
    assert one.outcome is not None
    assert (one.outcome.kind, one.outcome.reason) == ("invalid", "endpoint-failed")
    assert one.turns == ()


async def test_after_a_failure_in_the_middle_the_policys_words_are_said_and_the_failure_is_kept(tmp_path: Path) -> None:
    handler = saying(completion("any films on time travel?"), response("502 Bad Gateway", "Sorry!"))
    one, _ = await conversation(tmp_path, handler)
    assert one.outcome is not None
    assert (one.outcome.kind, one.outcome.reason) == ("user-stopped", "goal-reached")
    assert [(turn.said, turn.worded) for turn in one.turns] == [
        ("any films on time travel?", ""),
        ("Which of them are the oldest?", "policy: endpoint-failed"),
    ]
    last = one.turns[-1].reply
    assert last is not None
    (sample,) = json.loads((tmp_path / "run" / last.evidence["wording"]).read_text())
    assert (sample["finish"], sample["text"]) == ("endpoint-failed", "")
    assert b"Sorry!" in (tmp_path / "run" / last.evidence["endpoint-response"]).read_bytes()
    assert read(tmp_path / "run").damage == ()


async def test_answers_before_the_failure_of_a_free_model_count_and_are_not_played_again(tmp_path: Path) -> None:
    for name, wrong in (("status", response("400 Bad Request", "too long")), ("words", completion("As an AI, no."))):
        folder = tmp_path / name
        handler = saying(completion("any films on time travel?"), wrong)
        one, server = await conversation(folder, handler, protocol=FREE, system={**PARROT, "attempts": 5})
        assert one.outcome is not None
        reason = "endpoint-failed" if name == "status" else "no-words"
        assert (one.outcome.kind, one.outcome.reason, one.attempt) == ("user-stopped", reason, 1)
        assert one.outcome.detail
        assert missing_turns(one) == 0
        assert [(turn.said, turn.label) for turn in one.turns] == [("any films on time travel?", "o")]
        assert len(server.asked) == (2 if name == "status" else 3)
        run = read(folder / "run")
        assert [failed.reason for failed in run.failures] == [reason]
        assert run.failures[0].evidence
        assert run.damage == ()


async def test_only_a_lost_trial_uses_other_seeds(
    tmp_path: Path,
) -> None:
    handler = saying(response("502 Bad Gateway", ""), response("502 Bad Gateway", ""), completion("any films?"))
    async with serving(handler) as server:
        audit = load_audit(str(audit_file(tmp_path, server.url, system={**PARROT, "attempts": 3})))
        run, _ = await played(audit, tmp_path / "run")
    assert [one.valid for one in run.conversations] == [False, False, True]
    seeds = [asked.json["seed"] for asked in server.asked[:3]]
    assert len(set(seeds)) == 3
    whole = run.conversations[-1]

    def lost(*outcomes: Outcome | None) -> int:
        attempts = [replace(whole, attempt=number, outcome=one) for number, one in enumerate(outcomes, 1)]
        ((sitting,),) = make_plan(audit, attempts).sittings.values()
        return sitting.works[0].lost

    invalid = Outcome("invalid", "endpoint-failed")
    assert (lost(), lost(None), lost(invalid, None), lost(invalid, invalid)) == (0, 0, 1, 2)


async def test_no_server_at_all_is_an_invalid_attempt(tmp_path: Path) -> None:
    async with serving(silent) as server:
        url = server.url
    run, _ = await played(load_audit(str(audit_file(tmp_path, url))), tmp_path / "run")
    (one,) = run.conversations
    assert one.outcome is not None
    assert (one.outcome.kind, one.outcome.reason, one.turns) == ("invalid", "endpoint-failed", ())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "\x00\x01\x02",
        "{}",
        "As an AI, I have no wishes.",
        "I'm sorry, but I can't help.",
        "How can I help you?",
    ],
)
async def test_words_unlike_a_persons_are_never_sent_and_do_not_count_against_the_system(
    text: str, tmp_path: Path
) -> None:
    one, server = await conversation(tmp_path, saying(completion(text)))
    assert one.outcome is not None
    assert (one.outcome.kind, one.outcome.reason) == ("user-stopped", "goal-reached")
    assert [turn.said for turn in one.turns[1:]] == ["Which of them are the oldest?"]
    assert all(turn.worded.startswith("policy: ") for turn in one.turns)
    assert len(server.asked) == 4
    one, server = await conversation(tmp_path / "free", saying(completion(text)), protocol=FREE)
    assert one.outcome is not None
    assert (one.outcome.kind, one.outcome.reason, one.turns) == ("invalid", "no-words", ())
    assert len(server.asked) == 2


async def test_refused_words_are_kept_if_the_user_found_no_others(tmp_path: Path) -> None:
    handler = saying(completion("any films on time travel?"), completion("I am an AI."), completion(""))
    one, _ = await conversation(tmp_path, handler, protocol=FREE)
    assert one.outcome is not None
    assert (one.outcome.kind, one.outcome.reason) == ("user-stopped", "no-words")
    assert [turn.said for turn in one.turns] == ["any films on time travel?"]
    kept = [json.loads(file.read_text(encoding="utf-8")) for file in _kept_words(tmp_path / "run")]
    assert ["I am an AI.", ""] in [[sample["text"] for sample in samples] for samples in kept]
    assert "2 samples refused: assistant 1, empty 1" in one.outcome.detail
    shown = CliRunner().invoke(command, [str(tmp_path / "run"), "--all", "--text"]).output
    assert "2 samples refused: assistant 1, empty 1" in " ".join(shown.split())
    (path,) = re.findall(r"evidence of the failure, wording: (\S+)", shown)
    assert json.loads((tmp_path / "run" / path).read_text(encoding="utf-8"))[0]["text"] == "I am an AI."


def _kept_words(run: Path) -> list[Path]:
    return [
        file for file in (run / "evidence").rglob("*") if file.is_file() and b'"source": "words"' in file.read_bytes()
    ]


async def test_a_conversation_is_played_with_the_models_words_and_the_policys_acts(tmp_path: Path) -> None:
    handler = saying(completion("any films on time travel?"), completion("and the oldest ones?"))
    one, server = await conversation(tmp_path, handler)
    assert one.outcome is not None
    assert [(turn.said, turn.user, turn.act) for turn in one.turns] == [
        ("any films on time travel?", "visitor", "ask"),
        ("and the oldest ones?", "visitor", "ask"),
    ]
    assert (one.outcome.kind, one.outcome.reason) == ("user-stopped", "goal-reached")
    assert one.turns[0].reply is not None
    assert server.asked[1].json["messages"][-1] == {"role": "user", "content": one.turns[0].reply.answer.text}


async def test_no_words_are_requested_once_the_system_has_closed_the_conversation(tmp_path: Path) -> None:
    program = "import json; input(); print(json.dumps({'text': 'goodbye', 'ended': True}))"
    system = {"driver": "command", "options": {"argv": ["python3", "-c", program], "mode": "json"}}
    one, server = await conversation(tmp_path, saying(completion("any films on time travel?")), system=system)
    assert one.outcome is not None
    assert one.outcome.kind == "system-ended"
    assert one.turns[0].label == "o"
    assert len(server.asked) == 1


async def test_sampled_and_refused_words_are_kept_with_the_turn(tmp_path: Path) -> None:
    handler = saying(completion("How can I help you?"), completion("any films on time travel?"), completion(""))
    one, _ = await conversation(tmp_path, handler)
    assert one.turns[0].reply is not None
    address = one.turns[0].reply.evidence["wording"]
    (kept,) = (tmp_path / "run" / "evidence").rglob(f"*{address.rpartition('/')[2].rpartition(':')[2]}*")
    samples = json.loads(kept.read_text(encoding="utf-8"))
    assert [sample["text"] for sample in samples] == ["How can I help you?", "any films on time travel?"]
    assert len({sample["seed"] for sample in samples}) == 2


async def test_a_key_is_nowhere_in_the_run_although_the_endpoint_repeats_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-words-secret-0123456789"
    monkeypatch.setenv("WORDS_KEY", key)
    wrong = response("401 Unauthorized", json.dumps({"error": {"message": f"the key {key} is wrong"}}))
    handler = saying(completion(f"my key is {key}, any films?"), wrong)
    one, server = await conversation(tmp_path, handler, api_key_env="WORDS_KEY")
    assert server.asked[0].headers["authorization"] == f"Bearer {key}"
    assert one.outcome is not None
    for file in (tmp_path / "run").rglob("*"):
        assert not file.is_file() or key.encode() not in file.read_bytes(), file


def test_an_unset_key_is_refused_before_anything_is_played(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="WORDS_KEY") as caught:
        load_audit(str(audit_file(tmp_path, "http://127.0.0.1:9/v1", api_key_env="WORDS_KEY")))
    assert "endpoint 'words'" in str(caught.value)


def test_an_endpoint_that_the_audit_lacks_is_refused_before_anything_is_played(tmp_path: Path) -> None:
    users = {"visitor": {**PROTOCOL["users"]["visitor"], "endpoint": "wrods"}}  # type: ignore[index]
    path = audit_file(tmp_path, "http://127.0.0.1:9/v1", protocol={**PROTOCOL, "users": users})
    with pytest.raises(InputError, match="did you mean 'words'"):
        load_audit(str(path))


@pytest.mark.parametrize("option", [{"modle": "m"}, {"timeout": -1}, {"base_url": "localhost"}, {"api_key_env": "a b"}])
def test_an_option_that_an_endpoint_does_not_accept_is_refused_with_its_place(
    option: dict[str, Any], tmp_path: Path
) -> None:
    path = audit_file(tmp_path, "http://127.0.0.1:9/v1", **option)
    with pytest.raises(InputError) as caught:
        load_audit(str(path))
    assert caught.value.place is not None
    assert next(iter(option)) in str(caught.value)


def test_another_model_with_the_same_name_does_not_continue_a_run(tmp_path: Path) -> None:
    def header(**options: Any) -> Any:
        return load_audit(str(audit_file(tmp_path, "http://127.0.0.1:9/v1", **options))).header()

    refuse_differences(header(), header(retries=5, timeout=9), tmp_path)
    for change in ({"model": "m2"}, {"temperature": 0.1}, {"extra": {"top_k": 1}}):
        with pytest.raises(HarvestError, match="endpoint words has changed"):
            refuse_differences(header(), header(**change), tmp_path)


async def test_no_more_requests_run_at_once_than_the_endpoint_allows(tmp_path: Path) -> None:
    now, most = 0, 0

    async def counting(asked: Asked, writer: asyncio.StreamWriter) -> None:
        nonlocal now, most
        now, most = now + 1, max(most, now + 1)
        await asyncio.sleep(0.05)
        writer.write(completion("any films on time travel?"))
        now -= 1

    async with serving(counting) as server:
        audit = load_audit(str(audit_file(tmp_path, server.url, trials=8, concurrency=2)))
        run, _ = await played(audit, tmp_path / "run")
    assert most == 2
    assert len(run.conversations) == 8


def test_check_counts_the_requests_to_endpoints_next_to_those_to_systems(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """3 trials of 2 attempts, 4 turns of 2 samples, each asked for up to 3 times."""
    path = audit_file(tmp_path, "http://127.0.0.1:9/v1", trials=3, system={**PARROT, "attempts": 2}, retries=2)
    with pytest.raises(SystemExit) as done:
        main(["check", str(path), "--json"])
    assert not done.value.code
    assert json.loads(capsys.readouterr().out)["endpoint_requests_at_most"] == {"words": 3 * 2 * 4 * 2 * 3}
    with pytest.raises(SystemExit):
        main(["check", str(path)])
    assert "requests to the endpoint 'words': 144 at most" in capsys.readouterr().out


async def test_no_more_requests_are_sent_to_an_endpoint_than_check_says(tmp_path: Path) -> None:
    """The longest there can be: every turn is said with the last sample that is allowed."""
    replies = [completion("As an AI, no."), completion("films please")]
    replies += [answer for n in range(3) for answer in (completion("As an AI, no."), completion(f"again, {n}?"))]
    async with serving(saying(*replies)) as server:
        audit = load_audit(str(audit_file(tmp_path, server.url)))
        await played(audit, tmp_path / "run")
    most = audit.endpoints.count_most_requests(audit.protocols, audit.protocol.most_turns(audit.topics["M002"]))[
        "words"
    ]
    assert most == 8
    assert 0 < len(server.asked) <= most


@pytest.mark.parametrize(
    ("message", "finish", "found"),
    [
        ({"content": "films with Bearer sk-words-secret"}, "stop", "secret"),
        ({"content": "any films?", "role": "user"}, "stop", "other-role"),
        ({"content": "any films?", "role": "assistant"}, None, "unfinished"),
        ({"content": "any films?", "role": "assistant"}, "stop", "stop"),
    ],
)
async def test_an_echoed_key_or_words_of_another_role_are_marked_and_never_said(
    message: dict[str, str], finish: str | None, found: str
) -> None:
    body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": finish}]})
    sample, _ = await sampled(saying(response("200 OK", body)), api_key_env="WORDS_KEY")
    assert sample.finish == found
    assert "sk-words-secret" not in sample.text
