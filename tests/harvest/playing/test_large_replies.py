"""Megabytes in a reply: what they cost is bounded, it is paid off the event loop, and nothing is lost silently."""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import recordings.log.store
from harvest import load_audit, play
from harvest.drivers.received import join_surrogates
from harvest.drivers.registry import build_driver
from harvest.systems.driver import Opening, Surroundings
from protocols.answer import Answer
from recordings.conversations.conversation import Outcome, SystemTurn, TrialKey
from recordings.events.events import Answered, TrialEnded, TrialStarted
from recordings.events.events import Asked as AskedTurn
from recordings.events.redacted_events import redacted_events
from recordings.files.json_text import encode_line
from recordings.log.header import Header
from recordings.log.own_loop import LONG
from recordings.log.run_folder import read
from recordings.log.store import RunWriter
from recordings.secrets.redaction import Redactor
from simulators.promises import check_memory
from tests.servers.local_http import Asked, response, serving
from tests.support.fillers import FILLERS, filled
from topics.links import MOST_LINKS, Link, find_links, find_urls

SECRET = "Kanarie-41!geel/vogel+zang="
SIZE = 30_000


def seconds(work: Callable[[], object]) -> float:
    """CPU of this thread: the smallest of two, or of as many as fit into a hundredth of a second."""
    taken: list[float] = []
    while len(taken) < 2 or (sum(taken) < 0.01 and len(taken) < 50):
        begun = time.thread_time()
        work()
        taken.append(time.thread_time() - begun)
    return min(taken)


def characters(text: str) -> float:
    """Seconds of one regular expression that stops at every character."""
    return seconds(lambda: re.findall(r"(?s).", text))


@pytest.mark.parametrize("name", FILLERS)
def test_redacting_a_reply_takes_about_as_long_as_visiting_each_character(name: str) -> None:
    redactor = Redactor([SECRET])
    text = filled(FILLERS[name], SIZE)
    data = json.dumps({"text": text}).encode()
    # Where every word is a secret, each of them is taken out: that costs more.
    most = 50 if name == "set-cookie" else 12
    assert seconds(lambda: redactor.text(text)) < most * characters(text)
    assert seconds(lambda: redactor.data(data, "application/json")) < most * characters(data.decode())


def test_finding_no_link_in_a_reply_takes_about_as_long_as_copying_it_in_lower_case() -> None:
    text = "\u200b" + "plain words of a reply, " * 40_000
    assert seconds(lambda: find_links(text)) < seconds(lambda: text.lower()) * 4


def test_a_url_that_is_plain_from_end_to_end_is_scanned_once() -> None:
    text = "".join(f"https://host{number}.example/path/{number}?q=1 " for number in range(MOST_LINKS))
    assert seconds(lambda: find_urls(text)) < characters(text) * 6


def test_a_json_memory_is_recognised_without_writing_the_answers() -> None:
    memory = {"exchanges": [{"said": "a", "answer": {"text": "plain words of a reply, " * 40_000, "links": []}}]}
    assert seconds(lambda: check_memory(memory, "u")) < seconds(lambda: json.dumps(memory)) / 4


def test_a_line_is_written_in_about_the_time_of_its_json() -> None:
    text = "\u200b" + "plain words of a reply, " * 40_000
    assert seconds(lambda: encode_line({"text": text})) < 8 * seconds(
        lambda: json.dumps(text, ensure_ascii=False).encode()
    )


def test_a_text_without_surrogates_is_used_unchanged() -> None:
    text = "申し訳ありません \U0001f600"
    assert join_surrogates(text) is text
    assert join_surrogates("\ud83d\ude00") == "\U0001f600"
    assert join_surrogates("\ud83d \ude00") == "\ud83d \ude00"


def test_only_the_first_links_of_a_reply_full_of_links_are_read_and_the_others_counted() -> None:
    found = find_links("".join(f"https://a.example/{number} " for number in range(MOST_LINKS + 5_000)))
    assert [found.links[0].href, found.links[-1].href] == [
        "https://a.example/0",
        f"https://a.example/{MOST_LINKS - 1}",
    ]
    assert (len(found.links), found.left_out) == (MOST_LINKS, 5_000)
    few = "".join(f"[{number}](https://a.example/{number}) " for number in range(MOST_LINKS + 1))
    assert (len(find_links(few).links), find_links(few).left_out) == (MOST_LINKS, 1)
    assert find_links("https://a.example/ and [b](https://b.example/)").left_out == 0


async def test_the_number_of_left_out_links_is_recorded_and_read_back(tmp_path: Path) -> None:
    answer = Answer.of("https://a.example/b " * (MOST_LINKS + 7))
    async with RunWriter.create(tmp_path / "run", header(), secrets=[SECRET]) as writer:
        await writer.append(
            TrialStarted("id", TrialKey("B", "M001", 1), 1),
            AskedTurn("id", 1, 1, "ask", "x"),
            Answered("id", 1, 1, SystemTurn(answer)),
            TrialEnded("id", 1, Outcome("completed")),
        )
    (trial,) = read(tmp_path / "run").finished
    assert trial.turns[0].reply is not None
    assert trial.turns[0].reply.answer.links_left_out == 7
    assert trial.turns[0].reply.answer == answer


async def test_the_links_of_a_reply_are_redacted_separately(tmp_path: Path) -> None:
    hrefs = ["https://a.example/x?token=abc", "https://b.example/authorization:", "bearer", f"https://c/{SECRET}", "d"]
    links = tuple(Link(f"words {number}", href) for number, href in enumerate(hrefs))
    async with RunWriter.create(tmp_path / "run", header(), secrets=[SECRET]) as writer:
        kept = writer.redacted(Answer("text", links))
        assert [link.text for link in kept.links] == [link.text for link in links]
        assert [link.href for link in kept.links] == [writer.redacted(Answer(href)).text for href in hrefs]
    assert kept.links[0].href == "https://a.example/x?token=[redacted:parameter]"
    assert kept.links[3].href == "https://c/[redacted:secret]"


@pytest.mark.parametrize("how", ["\\u{0:04x}", "\\u{0:04X}", "\\x{0:02x}", "%{0:02x}"])
@pytest.mark.parametrize("escaped", ["a", "ar", "Kge", "-41!", SECRET])
async def test_a_key_with_escaped_letters_is_in_no_exhibit(tmp_path: Path, how: str, escaped: str) -> None:
    written = "".join(how.format(ord(letter)) if letter in escaped else letter for letter in SECRET)
    shape = "sk-proj-4f3e2d1c0b9a8f7eAbCd"
    known = shape.replace("p", how.format(ord("p"))).replace("-", how.format(ord("-")))
    async with RunWriter.create(tmp_path / "run", header(), secrets=[SECRET]) as writer:
        body = '{"a": "so ' + written + " and " + known + ' it is"}'
        await writer.keep("response", "application/json", body.encode())
    (exhibit,) = (file for file in (tmp_path / "run" / "evidence").rglob("*") if file.is_file())
    assert exhibit.read_text() == '{"a": "so [redacted:secret] and [redacted:api-key] it is"}'


@dataclass
class Threads:
    """Which thread looked at long texts."""

    ours: int = field(default_factory=threading.get_ident)
    seen: list[int] = field(default_factory=list)

    def watching(self, work: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*given: Any, **named: Any) -> Any:
            self.seen.append(threading.get_ident())
            return work(*given, **named)

        return watched


@pytest.mark.parametrize("driver", ["openai", "http", "command-once", "command-json", "python"])
async def test_the_links_of_a_long_reply_are_searched_for_outside_the_event_loop(
    driver: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = Threads()
    text = "https://a.example/b " * (LONG // 10)
    monkeypatch.setattr("protocols.answer.find_links", threads.watching(find_links))
    program = tmp_path / "program.py"
    program.write_text(
        "import json, sys\n"
        f"text = 'https://a.example/b ' * {LONG // 10}\n"
        "def answer(said):\n    return text\n"
        "if __name__ == '__main__':\n"
        "    sys.stdin.readline()\n"
        "    print(json.dumps({'text': text}) if sys.argv[1:] == ['json'] else text, flush=True)\n"
    )

    async def handle(asked: Asked, writer: Any) -> None:
        message = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
        writer.write(response("200 OK", json.dumps(message)))
        await writer.drain()

    async with serving(handle) as server:
        http: dict[str, Any] = {"url": f"{server.url}/v1", "body": {"said": "{{ text }}"}, "stateful": False}
        options: dict[str, Any] = {
            "openai": {"base_url": server.url, "model": "m", "stream": False},
            "http": {**http, "reply": "$.choices[0].message.content"},
            "command-once": {"argv": (sys.executable, str(program)), "mode": "once"},
            "command-json": {"argv": (sys.executable, str(program), "json"), "mode": "json"},
            "python": {"function": f"{program}:answer"},
        }[driver]
        name = driver.partition("-")[0]
        system = build_driver(name, options, Surroundings("B", tmp_path))
        session = await system.open(Opening("B", "M001", 1, 1))
        reply = await session.say("anything")
        await session.close()
        await system.close()
    assert len(reply.turn.answer.links) == MOST_LINKS
    assert threads.seen
    assert threads.ours not in threads.seen


async def test_a_long_answer_is_redacted_and_written_outside_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = Threads()
    async with RunWriter.create(tmp_path / "run", header(), secrets=[SECRET]) as writer:
        monkeypatch.setattr(Redactor, "pieces", threads.watching(Redactor.pieces))
        long = Answered("id", 1, 1, SystemTurn(Answer(f"{SECRET} " * (LONG // 20))))
        (stored,) = await writer.append(long)
    assert stored.reply.answer.text.startswith("[redacted:secret] ")
    assert threads.seen
    assert threads.ours not in threads.seen


def header() -> Header:
    return Header(audit=None, protocol=None, topics=None, systems={}, seed=1, hashes={})


def test_an_answer_is_redacted_once_as_a_value_and_its_stored_form_is_reused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    whole = redacted_events
    answered: list[Answered] = []

    def noting(values: Any, redactor: Redactor) -> Any:
        answered.extend(value for value in values if isinstance(value, Answered))
        return whole(values, redactor)

    monkeypatch.setattr(recordings.log.store, "redacted_events", noting)
    run = play(load_audit("demo", only=("M001", "M002"), trials=2), tmp_path / "run")
    turns = [turn for conversation in run.finished for turn in conversation.turns if turn.reply is not None]
    assert len(answered) == len(turns)
