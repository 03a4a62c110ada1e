"""Servers of two tracks, written from their specifications, with faults on order.

UserSim: TREC-UserSim/trec-usersim-baseline, docs/sequence.md, docs/task2_workflow.md, simulator/src/api_client.py.
InteractiveTask: marcel-gohsen/user-simulation-api, README.md and src/api/run_router.py (TREC iKAT 2025).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.servers.local_http import Asked, response

TOKEN = "team-token"


@dataclass
class Track:
    """A track's server, which keeps its state while it is served again. faults: what goes wrong at the n-th POST, from
    1: `before` and `after` break the connection without or with having taken it, `error before` and `error after`
    answer 500, `busy` 429, `slow` takes it after a while, and `hook before` and `hook after` call `hook`."""

    faults: dict[int, str] = field(default_factory=dict)
    hook: Callable[[], object] = lambda: None
    slow: float = 0.5
    posts: int = 0
    down: bool = False

    async def __call__(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        if self.down:
            writer.close()
            return
        if asked.headers.get("authorization") != f"Bearer {TOKEN}":
            writer.write(response("401 Unauthorized", '{"detail": "Invalid token"}'))
            return
        if asked.method == "GET":
            status, body = self.get(asked.path, asked.query["run_id"][0])
            writer.write(response(status, body if isinstance(body, str) else json.dumps(body)))
            return
        self.posts += 1
        fault = self.faults.get(self.posts, "")
        if "before" in fault or fault == "busy":
            if fault.startswith("hook"):
                self.hook()
            if fault == "busy":
                writer.write(response("429 Too Many Requests", "{}", "Retry-After: 0"))
            elif fault.startswith("error"):
                writer.write(response("500 Internal Server Error", '{"detail": "as ordered"}'))
            else:
                writer.close()
            return
        if fault == "slow":
            task = asyncio.ensure_future(self._take_later(asked))
            await asyncio.shield(task)
            return
        status, body = self.post(asked.path, asked.json)
        if fault.startswith("hook"):
            self.hook()
        if fault.startswith("error"):
            status, body = "500 Internal Server Error", {"detail": "as ordered"}
        elif fault:
            writer.close()
            return
        writer.write(response(status, json.dumps(body) if body is not None else ""))

    async def _take_later(self, asked: Asked) -> None:
        await asyncio.sleep(self.slow)
        self.post(asked.path, asked.json)

    def get(self, path: str, run_id: str) -> tuple[str, Any]:
        raise NotImplementedError

    def post(self, path: str, body: dict[str, Any]) -> tuple[str, Any]:
        raise NotImplementedError


@dataclass
class UserSim(Track):
    """goals: of the conversations, in order. budget: utterances of the user in a conversation. names_goal: whether the
    status repeats the scenario. greeting: of the assistant, if it speaks first. closes: the utterance of the user after
    which the assistant ends the conversation. chats: whether a reply has all messages of the conversation, as since
    June 2026, and not the last utterance. replies: what the assistant says, by the number of the utterance."""

    goals: tuple[dict[str, str], ...] = ()
    budget: int = 6
    names_goal: bool = True
    greeting: str = ""
    closes: int = 0
    chats: bool = False
    replies: Callable[[int, str], str] = lambda number, said: f"About {said} there is entry {number}."
    runs: dict[str, list[list[dict[str, Any]]]] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)

    def scenario(self, run: str) -> dict[str, Any]:
        number = len(self.runs[run]) - 1
        persona = {"general_info": {"age": "30-39"}, "experience_with_ai": {"trust": None}}
        scenario = {"goal": self.goals[number], "persona": persona}
        return {"conversation_id": f"{run}/c{number + 1}", "scenario": scenario}

    def utterance(self, run: str, text: str, *, final: bool = False) -> dict[str, Any]:
        name = self.scenario(run)["conversation_id"]
        known = {"conversation_id": name, "participant_id": "agent", "is_final": final, "timestamp": "2026"}
        return {**known, "text": text, "sources": [], "annotations": {}}

    def greet(self, run: str) -> dict[str, Any] | None:
        if not self.greeting:
            return None
        self.runs[run][-1].append(self.utterance(run, self.greeting))
        return self.runs[run][-1][-1]

    def said(self, run: str) -> list[list[str]]:
        """What the user said, by conversation."""
        own = [[one["text"] for one in talk if one["participant_id"] == "user"] for talk in self.runs[run]]
        return [talk for talk in own if talk]

    def post(self, path: str, body: dict[str, Any]) -> tuple[str, Any]:
        self.paths.append(path)
        run = body["run_id"]
        if path.endswith("/start"):
            if run in self.runs:
                return "412 Precondition Failed", {"detail": f'Active run with the name "{run}" already exists'}
            self.runs[run] = [[]]
            return "200 OK", {**self.scenario(run), "utterance": self.greet(run)}
        if run not in self.runs or len(self.runs[run]) > len(self.goals):
            return "428 Precondition Required", {"detail": "the run does not exist or was completed"}
        said, talk = body["user_utterance"], self.runs[run][-1]
        assert set(said) >= {"conversation_id", "participant_id", "text", "sources", "annotations", "timestamp"}
        if said["conversation_id"] != self.scenario(run)["conversation_id"]:
            return "400 Bad Request", {"detail": "another conversation is open"}
        talk.append(said)
        number = sum(one["participant_id"] == "user" for one in talk)
        if said["is_final"] or number >= self.budget:
            self.runs[run].append([])
            if len(self.runs[run]) > len(self.goals):
                return "428 Precondition Required", {"detail": "completed"}
            return "201 Created", {**self.scenario(run), "utterance": self.greet(run)}
        reply = self.utterance(run, self.replies(number, said["text"]), final=number == self.closes)
        talk.append(reply)
        said_last = {"chat_messages": talk} if self.chats else {"utterance": reply}
        return "200 OK", {**self.scenario(run), **said_last}

    def get(self, path: str, run_id: str) -> tuple[str, Any]:
        self.paths.append(path)
        if run_id not in self.runs:
            return "404 Not Found", {"detail": "no such run"}
        if path.endswith("/dump"):
            return "200 OK", "\n".join(json.dumps(one) for talk in self.runs[run_id] for one in talk)
        if len(self.runs[run_id]) > len(self.goals):
            return (
                ("428 Precondition Required", {}) if path.endswith("/session") else ("200 OK", {"status": "complete"})
            )
        if path.endswith("/session"):
            return "200 OK", self.runs[run_id][-1]
        return "200 OK", {"status": "active", **(self.scenario(run_id) if self.names_goal else {})}


@dataclass
class InteractiveTask(Track):
    """topics: by id, what the user says in the conversation; the last utterance ends it. replies: what each reply has
    besides."""

    replies: dict[str, Any] = field(default_factory=dict)
    topics: dict[str, list[str]] = field(default_factory=dict)
    runs: dict[str, list[list[dict[str, str]]]] = field(default_factory=dict)
    open: dict[str, bool] = field(default_factory=dict)

    def message(self, run: str, *, over: bool) -> dict[str, Any]:
        talk, number = self.runs[run][-1], len(self.runs[run])
        return {
            **self.replies,
            "timestamp": "2026",
            "run_id": run,
            "topic_id": list(self.topics)[number - 1],
            "user_id": "u",
            "utterance": talk[-1]["content"],
            "history": talk,
            "last_response_of_session": over,
            "last_response_of_run": over and number == len(self.topics),
        }

    def answers(self, run: str) -> list[list[str]]:
        return [[one["content"] for one in talk if one["role"] == "assistant"] for talk in self.runs[run]]

    def post(self, path: str, body: dict[str, Any]) -> tuple[str, Any]:
        run = body["run_id"]
        if path.endswith("/start"):
            if run in self.runs:
                return "412 Precondition Failed", {"detail": "exists"}
            self.runs[run] = []
        elif run not in self.runs or (len(self.runs[run]) == len(self.topics) and not self.open[run]):
            return "428 Precondition Required", {"detail": "does not exist or was completed"}
        if path.endswith("/start") or not self.open[run]:
            wanted = list(self.topics.values())[len(self.runs[run])]
            self.runs[run].append([{"role": "user", "content": wanted[0]}])
            self.open[run] = True
            return "200 OK", self.message(run, over=False)
        assert isinstance(body["response"], str)
        talk, wanted = self.runs[run][-1], list(self.topics.values())[len(self.runs[run]) - 1]
        talk.append({"role": "assistant", "content": body["response"]})
        talk.append({"role": "user", "content": wanted[len(talk) // 2]})
        self.open[run] = len(talk) // 2 + 1 < len(wanted)
        return "200 OK", self.message(run, over=not self.open[run])

    def get(self, path: str, run_id: str) -> tuple[str, Any]:
        if run_id not in self.runs:
            return ("404 Not Found" if not path.endswith("/session") else "428 Precondition Required"), {}
        done = list(self.topics)[: len(self.runs[run_id]) - self.open[run_id]]
        complete = len(done) == len(self.topics)
        if path.endswith("/status"):
            return "200 OK", {"status": "complete" if complete else "active", "done_topics": done}
        if path.endswith("/session"):
            if complete:
                return "428 Precondition Required", {}
            return ("200 OK", self.message(run_id, over=False)) if self.open[run_id] else ("500 Server Error", "")
        lines = [
            {"metadata": {"run_id": run_id, "topic_id": f"{topic}_{turn}"}, "responses": [answer]}
            for topic, talk in zip(self.topics, self.runs[run_id], strict=False)
            for turn in range(len(talk) // 2)
            for answer in [
                {"rank": 1, "user_utterance": talk[2 * turn]["content"], "text": talk[2 * turn + 1]["content"]}
            ]
        ]
        return "200 OK", "\n".join(map(json.dumps, lines))
