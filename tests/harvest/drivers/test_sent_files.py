"""Files sent with a turn, through each door that can carry them: the server gets the bytes, the record their digest."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from harvest.drivers.file_shapes import multipart
from harvest.drivers.recipe import read_recipe
from harvest.drivers.registry import build_driver, recipe_names
from harvest.systems.driver import Attaching, Denied, Driver, NotSent, Opening, Reply, Surroundings
from protocols.answer import Answer, Exchange
from recordings.log.run_folder import read
from tests.harvest.drivers.test_pressing import values
from tests.harvest.drivers.test_recipes import CASES as DOORS_AND_STREAMS
from tests.harvest.drivers.test_recipes import opened
from tests.servers.local_http import Asked, response, serving
from tests.support.command_line import harvest
from tests.topics.test_sent_files import PNG, topics_with
from topics.errors import InputError
from topics.sent_files import SentFile, read_sent_file

DATA = base64.b64encode(PNG).decode()
URL = f"data:image/png;base64,{DATA}"
SHAPES: dict[str, Any] = {
    "a2a": {"raw": DATA, "filename": "mill.png", "mediaType": "image/png"},
    "anthropic": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}},
    "azure": {"type": "image_url", "image_url": {"url": URL}},
    "bedrock": {"image": {"format": "png", "source": {"bytes": DATA}}},
    "copilot-studio": {"contentType": "image/png", "contentUrl": URL, "name": "mill.png"},
    "dify": {"type": "image", "transfer_method": "local_file", "upload_file_id": "file-1"},
    "direct-line": {"contentType": "image/png", "contentUrl": URL, "name": "mill.png"},
    "gemini": {"inlineData": {"mimeType": "image/png", "data": DATA}},
    "langgraph": {"type": "image_url", "image_url": {"url": URL}},
    "ollama": DATA,
    "openai-responses": {"type": "input_image", "image_url": URL},
    "perplexity": {"type": "image_url", "image_url": {"url": URL}},
    "vertex": {"inlineData": {"mimeType": "image/png", "data": DATA}},
}
STORE = {"url": "http://127.0.0.1/store", "form": {}, "part": "f", "keep": {"stored": "$.id"}}
CASES = [case for case in DOORS_AND_STREAMS if case[0] in SHAPES]


@pytest.fixture
def picture(tmp_path: Path) -> SentFile:
    return made(tmp_path, "mill.png", PNG)


def made(folder: Path, name: str, data: bytes = b"x") -> SentFile:
    (folder / name).write_bytes(data)
    return read_sent_file(folder, name)


async def attached(session: object, text: str, *files: SentFile) -> Reply:
    assert isinstance(session, Attaching)
    return await session.attach(text, files)


def test_every_recipe_that_says_how_files_are_sent_is_tested() -> None:
    described = {name for name in recipe_names() if "attach" in read_recipe(name).described}
    assert described | {"azure", "perplexity"} == set(SHAPES)


@pytest.mark.parametrize(("name", "streamed"), CASES)
async def test_a_picture_arrives_in_the_shape_of_the_api_and_stays_in_the_history(
    name: str, streamed: bool, picture: SentFile
) -> None:
    async with opened(name, streamed) as (driver, door, server):
        assert driver.capabilities.attaches
        session = await driver.open(Opening("s", "M002", 1, 1))
        first = await attached(session, "What is it?", picture)
        assert first.turn.answer.text == door.truth("What is it?", 1).text
        told = [one for one in server.asked if not one.headers.get("content-type", "").startswith("multipart/")]
        assert SHAPES[name] in [value for one in told for value in values(one)]
        assert (await session.say("And now?")).turn.answer.text == door.truth("And now?", 2).text
        again = [value for value in values(server.asked[-1]) if value == SHAPES[name]]
        assert len(again) == (0 if driver.capabilities.stateful else 1)
        if driver.capabilities.editable_history:  # as after a run that was killed
            said = Exchange("What is it?", first.turn.answer, (picture,))
            later = await driver.open(Opening("s", "M002", 1, 1, history=(said,)))
            await later.say("And now?")
            assert SHAPES[name] in values(server.asked[-1])


@pytest.mark.parametrize(
    ("recipe", "file", "shape"),
    [
        (
            "anthropic",
            "a.pdf",
            {"type": "base64", "media_type": "application/pdf", "data": "eA=="},
        ),
        ("anthropic", "a.md", {"type": "text", "media_type": "text/plain", "data": "x"}),
        ("openai-responses", "a.pdf", "data:application/pdf;base64,eA=="),
        ("azure", "a.mp3", {"data": "eA==", "format": "mp3"}),
        ("azure", "a.pdf", {"filename": "a.pdf", "file_data": "data:application/pdf;base64,eA=="}),
        ("bedrock", "a b_1.2.md", {"format": "md", "name": "a b-1-2", "source": {"bytes": "eA=="}}),
    ],
)
async def test_files_of_other_types_have_other_shapes(tmp_path: Path, recipe: str, file: str, shape: Any) -> None:
    async with opened(recipe, False) as (driver, _, server):
        session = await driver.open(Opening("s", "M002", 1, 1))
        await attached(session, "What is it?", made(tmp_path, file))
        assert shape in values(server.asked[-1])


async def test_a_type_without_a_shape_is_not_sent(tmp_path: Path) -> None:
    async with opened("anthropic", False) as (driver, _, server):
        session = await driver.open(Opening("s", "M002", 1, 1))
        with pytest.raises(Denied, match=r"cannot-attach: the driver of this system has no shape for a\.wav"):
            await attached(session, "What is it?", made(tmp_path, "a.wav"))
        assert server.asked == []


PROGRAM = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"text": line.strip()}), flush=True)
"""
FUNCTIONS = """
import json
def told(files): return [[one["name"], one["type"], one["data"].decode("latin-1")] for one in files]
def plain(text, files): return json.dumps([text, told(files)])
def past(text, history, pressed, files):
    return json.dumps([[told(one.get("files", [])) for one in history], pressed, told(files)])
def session():
    return lambda text, files: json.dumps([text, told(files)])
def old(text): return text
"""
GIVEN = ["mill.png", "image/png", PNG.decode("latin-1")]


@pytest.mark.parametrize("mode", ["json", "once"])
async def test_a_program_reads_files_and_the_evidence_holds_their_digest(
    mode: str, tmp_path: Path, picture: SentFile
) -> None:
    (tmp_path / "bot.py").write_text(PROGRAM if mode == "json" else "import sys; print(sys.stdin.read())")
    options = {"argv": (sys.executable, str(tmp_path / "bot.py")), "mode": mode, "files": True}
    driver = build_driver("command", options, Surroundings("s", tmp_path))
    assert driver.capabilities.attaches == ("*/*",)
    session = await driver.open(Opening("s", "M002", 1, 1))
    replies = [await attached(session, "What is it?", picture), await session.say("And now?")]
    await session.close()
    await driver.close()
    first, second = (json.loads(reply.turn.answer.text) for reply in replies)
    shape = {"name": "mill.png", "type": "image/png", "data": DATA}
    before: dict[str, Any] = {} if mode == "json" else {"history": []}
    assert first == {"text": "What is it?", **before, "files": [shape]}
    assert "files" not in second
    if mode == "once":
        assert second["history"][0] == {"role": "user", "content": "What is it?", "files": [shape]}
    told = [json.loads(one.data) for reply in replies for one in reply.exhibits if one.name == "stdin"]
    kept = {"name": "mill.png", "type": "image/png", "sha256": picture.sha256}
    assert told[0] == {"text": "What is it?", **before, "files": [kept]}
    assert mode == "json" or told[1]["history"][0]["files"] == [kept]


@pytest.mark.parametrize("options", [{"mode": "lines"}, {"mode": "once", "input": "text"}])
def test_a_program_that_reads_plain_text_takes_no_files(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="`files` needs JSON"):
        build_driver("command", {"argv": ("cat",), "files": True, **options}, Surroundings("s", Path()))
    assert build_driver("command", {"argv": ("cat",), **options}, Surroundings("s", Path())).capabilities.attaches == ()


async def test_a_function_takes_files_as_its_last_argument(tmp_path: Path, picture: SentFile) -> None:
    (tmp_path / "bot.py").write_text(FUNCTIONS)

    async def two_turns(**options: Any) -> list[Any]:
        driver = build_driver("python", {"files": True, **options}, Surroundings("s", tmp_path))
        assert driver.capabilities.attaches == ("*/*",)
        session = await driver.open(Opening("s", "M002", 1, 1))
        replies = [await attached(session, "What is it?", picture), await session.say("And now?")]
        await driver.close()
        return [json.loads(reply.turn.answer.text) for reply in replies]

    expected = [["What is it?", [GIVEN]], ["And now?", []]]
    assert await two_turns(function="bot.py:plain") == expected
    assert await two_turns(function="bot.py:session", takes="nothing") == expected
    assert await two_turns(function="bot.py:past", takes="history", presses=True) == [
        [[], None, [GIVEN]],
        [[[GIVEN], []], None, []],
    ]
    with pytest.raises(InputError, match=r"calls the function with \(text, files\)"):
        build_driver("python", {"function": "bot.py:old", "files": True}, Surroundings("s", tmp_path))


async def answering(asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.write(response("200 OK", json.dumps({"a": asked.headers["content-type"].partition(";")[0]})))


def described(url: str, attach: dict[str, Any], **more: Any) -> Driver:
    given = {"url": f"{url}/say", "body": {"q": "{{ text }}"}, "reply": "$.a", "attach": attach, **more}
    return build_driver("http", given, Surroundings("s", Path()))


async def test_http_sends_files_as_json_or_as_parts_of_a_form(picture: SentFile, tmp_path: Path) -> None:
    text = made(tmp_path, 'a "b".txt', b"x\r\n")
    shapes = {"image/*": {"picture": "{{ data }}"}, "*/*": {"text": "{{ content }}", "name": "{{ name }}"}}
    async with serving(answering) as server:
        driver = described(server.url, {"files": shapes, "body": {"q": "{{ text }}", "files": "{{ files }}"}})
        session = await driver.open(Opening("s", "M002", 1, 1))
        assert (await attached(session, "Hi", picture, text)).turn.answer.text == "application/json"
        files = [{"picture": DATA}, {"text": "x\r\n", "name": 'a "b".txt'}]
        assert server.asked[-1].json == {"q": "Hi", "files": files}
        await driver.close()
        driver = described(server.url, {"form": {"q": "{{ text }}", "n": "{{ turn }}"}, "part": "upload"})
        session = await driver.open(Opening("s", "M002", 1, 1))
        assert (await attached(session, "Hi é", picture, text)).turn.answer.text == "multipart/form-data"
        asked = server.asked[-1]
        parts = asked.parts
        assert [(one.get_param("name", header="content-disposition"), one.get_filename()) for one in parts] == [
            *(("q", None), ("n", None), ("upload", "mill.png"), ("upload", "a %22b%22.txt"))
        ]
        assert [one.get_payload(decode=True) for one in parts] == ["Hi é".encode(), b"1", PNG, b"x\r\n"]
        assert [one.get_content_type() for one in parts[2:]] == ["image/png", "text/plain"]
        assert (await session.say("And?")).turn.answer.text == "application/json"
        await driver.close()


async def test_a_file_is_stored_once_in_a_conversation_before_its_turn(picture: SentFile, tmp_path: Path) -> None:
    text = made(tmp_path, "b.txt")
    refused = ["503 Busy"]

    async def storing(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.path == "/say":
            writer.write(response("200 OK", json.dumps({"a": json.dumps(asked.json)})))
        elif refused:
            writer.write(response(refused.pop(), "{}"))
        else:
            (part,) = asked.parts
            writer.write(response("201 Created", json.dumps({"id": f"id of {part.get_filename()}"})))

    async with serving(storing) as server:
        attach = {
            "store": {**STORE, "url": f"{server.url}/store"},
            "files": {"*/*": ["{{ name }}", "{{ stored }}"]},
            "message": {"t": "{{ text }}", "f": "{{ files }}"},
            "body": {"m": "{{ messages }}"},
        }
        message = {"t": "{{ text }}"}
        given: dict[str, Any] = {"body": {"m": "{{ messages }}"}, "message": message, "stateful": False}
        driver = described(server.url, attach, **given)
        session = await driver.open(Opening("s", "M002", 1, 1))
        with pytest.raises(NotSent, match=r"http-503: mill\.png was not stored"):
            await attached(session, "Hi", picture, text)
        assert [one.path for one in server.asked] == ["/store"]
        await attached(session, "Hi", picture, text)
        last = json.loads((await attached(session, "And this?", text)).turn.answer.text)
        assert [one.path for one in server.asked] == ["/store", "/store", "/store", "/say", "/say"]
        files = [["mill.png", "id of mill.png"], ["b.txt", "id of b.txt"]]
        assert [one.get("f") for one in last["m"]] == [files, None, files[1:]]
        await driver.close()


async def test_a_store_that_names_no_file_is_told(picture: SentFile) -> None:
    async with serving(answering) as server:
        attach = {
            "store": {**STORE, "url": server.url},
            "files": {"*/*": "{{ stored }}"},
            "body": ["{{ text }}", "{{ files }}"],
        }
        driver = described(server.url, attach)
        session = await driver.open(Opening("s", "M002", 1, 1))
        with pytest.raises(Denied, match=r"no-value: the answer to `store` has nothing at \$\.id"):
            await attached(session, "Hi", picture)
        await driver.close()


def test_the_same_form_has_the_same_bytes(picture: SentFile) -> None:
    assert multipart([("q", "a")], "f", [picture]) == multipart([("q", "a")], "f", [picture])


@pytest.mark.parametrize(
    ("attach", "said"),
    [
        ({}, "`attach` needs `files`, the shapes of files, or `part`"),
        ({"part": "f", "files": {"image/*": "{{ data }}"}}, "`attach` needs `files`, the shapes of files, or `part`"),
        ({"part": "f"}, "files in a `part` need a `form`"),
        ({"files": {"image/*": "{{ data }}"}}, "`attach` does not send the files"),
        ({"files": {"image/*": "{{ bytes }}"}}, "{{ bytes }} cannot be used here"),
        ({"files": {"picture": "{{ data }}"}}, "media types, such as image/*"),
        ({"files": {"image/*": "{{ data }}"}, "body": {"f": "{{ files }}"}}, "`attach` does not send the words"),
        ({"files": {"image/*": "{{ data }}"}, "body": "{{ text }} {{ files }}"}, "{{ files }} is a list"),
        ({"part": "f", "form": {"q": "{{ text }}"}, "store": STORE}, "`store` needs `files`, the shapes"),
        ({"files": {"*/*": "{{ data }}"}, "store": {**STORE, "keep": {}}}, "`store` needs `form`"),
        ({"files": {"*/*": "{{ other }}"}, "store": STORE}, "{{ other }} cannot be used here"),
    ],
)
def test_a_description_that_cannot_send_files_is_refused(attach: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as fault:
        described("http://127.0.0.1", attach)
    assert said in str(fault.value)


PROTOCOL = {
    "format": "harvest-protocol/1",
    "name": "look",
    "version": 1,
    "start": "ask",
    "states": {
        "ask": {
            "say": "{{ topic.request }}",
            "attach": True,
            "edges": [{"otherwise": True, "label": "o", "go": "more"}],
        },
        "more": {"say": "And what else?", "edges": [{"otherwise": True, "label": "o", "stop": "completed"}]},
    },
}
AUDIT = {"format": "harvest-audit/1", "name": "seen", "topics": "topics.yaml", "protocol": "look.yaml", "trials": 2}


def audit(folder: Path, url: str, **system: Any) -> Path:
    (folder / "mill.png").write_bytes(PNG)
    topics_with(folder, "mill.png")
    (folder / "look.yaml").write_text(yaml.safe_dump(PROTOCOL))
    one = {"name": "eye", "driver": "openai", "options": {"base_url": url, "model": "m"}, **system}
    (folder / "audit.yaml").write_text(yaml.safe_dump({**AUDIT, "systems": [one]}))
    return folder / "audit.yaml"


@pytest.fixture
def eye() -> Iterator[str]:
    """A model that says how many pictures it was sent with a turn."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = self.rfile.read(int(self.headers["Content-Length"]))
            message = {"content": f"I see {asked.count(URL.encode())}."}
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode())

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def run_harvest(folder: Path, *arguments: str) -> str:
    done = harvest(*arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_run_keeps_what_was_sent_by_its_digest_and_a_later_look_shows_it(tmp_path: Path, eye: str) -> None:
    audit(tmp_path, eye)
    told = run_harvest(tmp_path, "check", "audit.yaml")
    assert "files: 1 for 1 of 1 topic, 0.1 kB in all, at most 0.1 kB (mill.png)" in " ".join(told.split())
    run_harvest(tmp_path, "run", "audit.yaml", "--out", "run", "--no-report")
    run = read(tmp_path / "run")
    assert len(run.finished) == 2
    for conversation in run.finished:
        first, second = conversation.turns
        (sent,) = first.attached
        assert (sent.name, sent.type, sent.size) == ("mill.png", "image/png", len(PNG))
        assert second.attached == ()
        assert first.reply is not None
        assert second.reply is not None
        assert first.reply.answer.text.startswith("I see 1.")
        assert second.reply.answer.text.startswith("I see 1.")  # it stays in the history
        kept = tmp_path / "run" / first.reply.evidence["sent-1"]
        assert kept.read_bytes() == PNG
    shown = run_harvest(tmp_path, "show", "run", "--topic", "T1", "--trial", "1")
    assert "sent with it: mill.png (image/png, 72 bytes)" in shown
    for form, name in (("messages", "out.jsonl"), ("table", "out.csv")):
        run_harvest(tmp_path, "data", "export", "run", "--format", form, "--out", name)
        run_harvest(tmp_path, "data", "import", name, "--format", form, "--out", f"again-{form}")
        again = {one.key.trial: one for one in read(tmp_path / f"again-{form}").conversations}
        for conversation in run.finished:
            other = again[conversation.key.trial]
            assert [turn.attached for turn in other.turns] == [turn.attached for turn in conversation.turns]


def test_a_run_is_not_continued_with_another_file(tmp_path: Path, eye: str) -> None:
    audit(tmp_path, eye)
    run_harvest(tmp_path, "run", "audit.yaml", "--out", "run", "--no-report")
    (tmp_path / "mill.png").write_bytes(PNG + b"another")
    done = harvest("run", "audit.yaml", "--out", "run", "--no-report", cwd=tmp_path)
    assert done.returncode == 2
    assert "topic" in done.stderr


@pytest.mark.parametrize(
    ("system", "said"),
    [
        ({"driver": "command", "options": {"argv": ["cat"]}}, "needs attaches, which the driver 'command' does not"),
        (
            {
                "driver": "http",
                "options": {"attach": {"files": {"audio/*": "{{ data }}"}, "body": ["{{ files }}", "{{ text }}"]}},
            },
            "topic 'T1' has the file mill.png (image/png), which the driver 'http' cannot send",
        ),
    ],
)
def test_check_refuses_a_door_that_cannot_carry_the_file(tmp_path: Path, system: dict[str, Any], said: str) -> None:
    if system["driver"] == "http":
        system["options"] |= {"url": "http://127.0.0.1/", "body": "{{ text }}", "reply": "$.a"}
    audit(tmp_path, "http://127.0.0.1", **system)
    done = harvest("check", "audit.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())


def test_check_says_if_files_are_sent_by_no_state(tmp_path: Path) -> None:
    audit(tmp_path, "http://127.0.0.1")
    protocol = (tmp_path / "look.yaml").read_text().replace("attach: true", "attach: false")
    (tmp_path / "look.yaml").write_text(protocol)
    done = harvest("check", "audit.yaml", cwd=tmp_path)
    assert "note: no state of the protocol attaches the files of 1 topic" in " ".join(done.stdout.split())


def test_a_replay_is_held_to_the_files_that_were_recorded(tmp_path: Path, eye: str) -> None:
    audit(tmp_path, eye)
    run_harvest(tmp_path, "run", "audit.yaml", "--out", "run", "--no-report")
    audit(tmp_path, "", driver="replay", options={"run": "run"})
    run_harvest(tmp_path, "run", "audit.yaml", "--out", "again", "--no-report")
    (answer,) = {one.turns[0].reply.answer for one in read(tmp_path / "again").finished if one.turns[0].reply}
    assert answer == Answer.of(answer.text)
