"""`harvest probe` finds out which API a URL has, and sends one turn at most."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
import yaml

from tests.servers.threaded import QuietHandler, threaded
from tests.support.command_line import harvest

TALKS = {"message": {"content": "I am a mill."}, "done": True, "done_reason": "stop", "model": "m1"}
CLAUDE = {"type": "message", "content": [{"type": "text", "text": "I am a mill."}], "stop_reason": "end_turn"}
CARD = {"name": "mill", "supportedInterfaces": [{"url": "URL/rpc", "protocolBinding": "JSONRPC"}]}
TASK: dict[str, Any] = {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}}
TASK |= {"artifacts": [{"parts": [{"text": "I am a mill."}]}]}
CHAT = {"choices": [{"message": {"role": "assistant", "content": "I am a mill."}, "finish_reason": "stop"}]}
SERVERS: dict[str, dict[str, Any]] = {
    "ollama": {"/api/tags": {"models": [{"name": "m1"}]}, "/v1/models": {"data": [{"id": "m1"}]}, "/api/chat": TALKS},
    "anthropic": {"/v1/models": {"data": [{"type": "model", "id": "m1"}]}, "/v1/messages": CLAUDE},
    "openai": {"/v1/models": {"object": "list", "data": [{"id": "m1"}]}, "/v1/chat/completions": CHAT},
    "a2a": {"/.well-known/agent-card.json": CARD, "/rpc": {"jsonrpc": "2.0", "id": 1, "result": {"task": TASK}}},
    "a2a-0.3": {
        "/.well-known/agent-card.json": {"name": "mill", "protocolVersion": "0.3.0", "url": "URL/rpc"},
        "/rpc": {"jsonrpc": "2.0", "id": 1, "result": {"kind": "message", "parts": [{"text": "I am a mill."}]}},
    },
    "rasa": {
        "/version": {"version": "3.6", "minimum_compatible_version": "3.0"},
        "/webhooks/rest/webhook": [{"recipient_id": "x", "text": "I am a mill."}],
    },
}


@dataclass
class Server:
    url: str = ""
    posts: list[str] = field(default_factory=list)
    gets: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)


@contextmanager
def answering(
    answers: dict[str, Any], *, posts: dict[str, Iterator[Any]] | None = None, other: int = 404
) -> Iterator[Server]:
    """`posts` has what a POST gets where that is another answer, and `other` the status of any other address."""
    server = Server()

    class Handler(QuietHandler):
        def _answer(self) -> None:
            server.keys |= {self.headers[name] for name in ("x-api-key", "Authorization") if self.headers[name]}
            own = (posts or {}).get(self.path) if self.command == "POST" else None
            found = next(own) if own else answers.get(self.path)
            body = json.dumps(found).replace("URL", server.url).encode()
            self.send_response(other if found is None else found if isinstance(found, int) else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            server.gets.append(self.path)
            self._answer()

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            server.posts.append(self.path)
            self._answer()

    with threaded(Handler) as http:
        server.url = f"http://127.0.0.1:{http.server_port}"
        yield server


@pytest.mark.parametrize("name", SERVERS)
def test_an_api_is_recognised_from_get_requests_and_receives_one_turn(name: str) -> None:
    with answering(SERVERS[name]) as server:
        done = harvest("probe", server.url, "--message", "Who are you?", width=200)
    assert done.returncode == 0, done.stderr
    (system,) = yaml.safe_load(done.stdout)
    assert system["driver"] == name
    assert system["options"].get("model", "m1") == "m1"
    assert len(server.posts) == 1
    lines = done.stderr.splitlines()
    assert [line for line in lines if line.startswith("looks at")] == [
        f"looks at {server.url}{path}" for path in dict.fromkeys(server.gets)
    ]
    told = lines.index(f"sends the turn 'Who are you?' once, as the driver {name}")
    assert lines[told + 1].endswith("I am a mill.")


def test_nothing_is_sent_by_a_dry_probe() -> None:
    with answering(SERVERS["ollama"]) as server:
        done = harvest("probe", server.url, "--dry", "--json")
    told = json.loads(done.stdout)
    assert (told["driver"], [one["driver"] for one in told["found"]]) == ("ollama", ["ollama", "openai"])
    assert (told["answer"], server.posts) == (None, [])


def test_a_url_in_the_form_of_an_api_needs_no_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROBE_KEY", "key-0123456789")
    with answering(SERVERS["anthropic"]) as server:
        url = f"{server.url}/v1/messages"
        done = harvest("probe", url, "--key-env", "PROBE_KEY", "--option", "model=m1", width=200)
    assert done.returncode == 0, done.stderr
    (system,) = yaml.safe_load(done.stdout)
    assert system["options"] == {"model": "m1", "base_url": f"{server.url}/v1", "api_key_env": "PROBE_KEY"}
    assert (server.gets, server.posts, server.keys) == ([], ["/v1/messages"], {"key-0123456789"})
    assert f"sends: PROBE_KEY to {server.url}" in done.stderr.splitlines()
    assert "key-0123456789" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("url", "driver", "options"),
    [
        ("https://api.anthropic.com", "anthropic", {"base_url": "https://api.anthropic.com/v1"}),
        ("https://mine.openai.azure.com/openai/v1", "azure", {"base_url": "https://mine.openai.azure.com/openai/v1"}),
        ("https://bedrock-runtime.eu-west-1.amazonaws.com/model/a%3A0/converse", "bedrock", {"model": "a:0"}),
        ("https://h.example/api/v1/prediction/3f1c", "flowise", {"flow": "3f1c", "base_url": "https://h.example"}),
        ("https://h.example/v1beta/models/g-9:generateContent", "gemini", {"model": "g-9"}),
        ("https://h.example/v1/chat/completions/", "openai", {"base_url": "https://h.example/v1"}),
    ],
)
def test_a_url_alone_may_identify_the_api(url: str, driver: str, options: dict[str, str]) -> None:
    done = harvest("probe", url, "--dry")
    (system,) = yaml.safe_load(done.stdout)
    assert system["driver"] == driver
    assert system["options"].items() >= options.items()
    assert "looks at" not in done.stderr


def test_a_driver_can_be_requested_and_its_fault_is_reported() -> None:
    with answering(SERVERS["rasa"]) as server:
        done = harvest("probe", server.url, "--driver", "ollama", "--option", "model=m1", width=200)
    assert done.returncode == 2
    assert "no answer: http-404" in done.stderr
    assert (server.gets, server.posts) == ([], ["/api/chat"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["desk.example.org"], "not a URL that starts with http:// or https://"),
        (["https://me:pw@h.example"], "must not contain a user name or a password"),
        (["https://h.example", "--message", " "], "--message is empty"),
        (["https://h.example", "--option", "model"], "--option 'model' has no value"),
        (["https://h.example", "--driver", "command"], "the driver 'command' is not for an API that can be probed"),
        (["https://h.example", "--driver", "antropic"], "did you mean 'anthropic'"),
        (["http://h.example", "--key-env", "HOME"], "HOME would be sent to http://h.example over plain http"),
        (["https://127.0.0.1:1", "--key-env", "NO_SUCH_KEY"], "needs the environment variable NO_SUCH_KEY"),
        (["http://127.0.0.1:1"], "no connection to 127.0.0.1:1"),
    ],
)
def test_bad_input_gets_one_message(words: list[str], said: str) -> None:
    done = harvest("probe", *words, width=1000)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert "pw" not in done.stderr


def test_an_unknown_api_receives_no_turn() -> None:
    with answering({"/": {"hello": 1}}) as server:
        done = harvest("probe", server.url, "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["driver"] is None
    assert server.posts == []


@pytest.mark.parametrize("method", [405, 404])
def test_chat_completions_without_a_list_of_models_are_found(method: int) -> None:
    # The server has one address; by GET, it says 405 (as FastAPI and Flask do) or 404 (as Express does).
    posted = iter([CHAT] * 3)
    answers = {"/v1/chat/completions": method}
    with answering(answers, posts={"/v1/chat/completions": posted}) as server:
        plain = harvest("probe", server.url, "--option", "model=m1", width=1000)
        asked = harvest("probe", server.url, "--driver", "openai", "--option", "model=m1", width=1000)
    expected = {"model": "m1", "base_url": f"{server.url}/v1"}
    if method == 405:
        assert yaml.safe_load(plain.stdout)[0]["options"].items() >= expected.items()
    else:
        assert "--driver openai --option model=NAME" in plain.stderr
    assert yaml.safe_load(asked.stdout)[0]["options"].items() >= expected.items()
    assert asked.returncode == 0
    assert plain.returncode == (0 if method == 405 else 2)
    assert set(server.posts) == {"/v1/chat/completions", "/chat/completions"}


def test_a_server_that_allows_no_get_requests_is_not_recognised() -> None:
    with answering(dict.fromkeys(("/chat/completions", "/v1/chat/completions"), 405), other=405) as server:
        done = harvest("probe", server.url, width=1000)
    assert "no known API was recognised" in done.stderr
    assert server.posts == []


def test_a_missing_key_is_requested() -> None:
    with answering({"/v1/models": 401, "/v1/messages": 401}) as server:
        looked = harvest("probe", server.url, width=200)
        sent = harvest("probe", f"{server.url}/v1/messages", "--option", "model=m1", width=200)
    assert "refused (401): it may need a key" in looked.stderr
    assert "name its environment variable by --key-env" in sent.stderr
    assert looked.returncode == sent.returncode == 2
