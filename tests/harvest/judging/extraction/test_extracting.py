"""Nuggets by a model, from a run and an endpoint over real HTTP to a layer that is scored."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from harvest.cli.main import main
from harvest.judging.extraction.endpoint_file import read_extraction_endpoint
from harvest.judging.extraction.extracting import Extracted, extract, result_sentences
from recordings.files.errors import RunError, StoreError
from recordings.judged.judgments import Layer, read_layers
from recordings.log.run_folder import read
from recordings.merging.merge import merge
from scoring.swan.assessment import assess
from scoring.swan.extraction import extract_nuggets
from scoring.swan.judged import EXTRACTION, NUGGET, Judgments
from scoring.swan.precedence import Precedence
from scoring.swan.schema import load_schema
from scoring.words import passages
from tests.servers.local_http import Asked, LocalServer, response, serving
from tests.support.checkout import ROOT
from tests.support.command_line import harvest
from tests.support.forked_commands import ForkedCommand
from tests.support.nugget_model import Handler, answering, completion, endpoints_file, passage_of, replying, ruled
from tests.support.recorded_run import record
from topics.errors import InputError

SAMPLE = ROOT / "recordings" / "samples" / "run-1"
TOPICS = ("M002", "R001")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two topics with two systems."""
    return play(tmp_path_factory.mktemp("played") / "run")


def play(folder: Path, *options: str) -> Path:
    done = harvest("run", "demo", "--trials", "1", "--topics", ",".join(TOPICS), "--out", str(folder), *options)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def run(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "run"))


async def asked_for(run: Path, server: LocalServer | str, *, tries: int = 2, **options: Any) -> Extracted:
    """The extraction of the whole run, as the command does it."""
    url = server if isinstance(server, str) else server.url
    folder = run.parent
    secrets: set[str] = set()
    endpoint = read_extraction_endpoint(endpoints_file(folder, url, **options), None, secrets)
    return await extract(run, read(run).finished, endpoint, secrets, tries=tries)


@asynccontextmanager
async def extraction(
    run: Path, handler: Handler, *, tries: int = 2, **options: Any
) -> AsyncIterator[tuple[Extracted, LocalServer]]:
    async with serving(handler) as server:
        yield await asked_for(run, server, tries=tries, **options), server


def models(run: Path) -> list[Layer]:
    return [layer for layer in read_layers(run) if layer.kind == "model"]


def without_models(run: Path) -> None:
    for layer in models(run):
        Path(layer.path).unlink()


_GROWING = ("lock", "inventory.jsonl")


def files(run: Path) -> dict[str, bytes]:
    return {str(file.relative_to(run)): file.read_bytes() for file in run.rglob("*") if file.is_file()}


async def test_every_passage_is_requested_once_and_the_layer_contains_the_results(run: Path) -> None:
    async with extraction(run, replying(ruled)) as (done, server):
        pass
    assert done.is_complete
    conversations = read(run).finished
    every = [one for talk in conversations for one in passages(talk) if one.words]
    bodies = [request.body for request in server.asked]
    assert len(set(bodies)) == len(bodies) == done.requests < len(every)  # both systems were asked in the same words
    (layer,) = models(run)
    assert (layer.author, len(layer.version), layer.source) == ("m1", 16, "harvest annotate --extract")
    schema = load_schema()
    judged = Judgments.from_layers(read_layers(run), schema, Precedence(nuggets="m1"))
    for talk in conversations:
        rules = [one for one in extract_nuggets(talk) if one.type != "E"]
        found = [one for one in assess(talk, schema, judged).nuggets if one.type != "E"]
        assert {one.version for one in found} == {f"m1/{layer.version}"}
        assert [(one.span, one.type, one.act, one.position) for one in found] == [
            (one.span, one.type, one.act, one.position) for one in rules
        ]


async def test_a_request_follows_the_options_and_its_seed_belongs_to_the_passage(run: Path) -> None:
    async with extraction(run, replying(ruled)) as (_, first):
        pass
    again = Path(shutil.copytree(run, run.parent / "again", ignore=shutil.ignore_patterns("judgments", "extraction")))
    async with extraction(again, replying(ruled), concurrency=1) as (_, second):
        pass
    assert {request.body for request in first.asked} == {request.body for request in second.asked}
    request = first.asked[0]
    assert request.target == "/chat/completions"
    assert {key: request.json[key] for key in ("model", "temperature", "max_tokens")} == {
        "model": "m1",
        "temperature": 0.0,
        "max_tokens": 4096,
    }
    seeds = [one.json["seed"] for one in first.asked]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**31 for seed in seeds)


async def test_the_earlier_passages_are_shown_in_order(run: Path) -> None:
    async with extraction(run, replying(ruled)) as (_, server):
        pass
    talks = [[(one.speaker, one.text) for one in passages(talk)] for talk in read(run).finished]
    for request in server.asked:
        passage, earlier = passage_of(request)
        way = [*((one.speaker, one.text[:4000]) for one in earlier), (passage.speaker, passage.text)]
        assert any([(who, text[:4000]) for who, text in talk[: len(way) - 1]] + [talk[len(way) - 1]] == way
                   for talk in talks if len(talk) >= len(way))  # fmt: skip


async def test_a_stored_reply_is_not_requested_again_and_changes_nothing(run: Path) -> None:
    async with extraction(run, replying(ruled)):
        pass
    before = files(run)
    async with extraction(run, replying(ruled)) as (done, server):
        pass
    assert (server.asked, done.requests, done.before, done.path) == ([], 0, 4, None)
    assert files(run) == before
    assert "nothing new to write" in [*result_sentences(done)]


async def test_replies_whose_layer_is_missing_are_not_requested_again(run: Path) -> None:
    async with extraction(run, replying(ruled)) as (first, _):
        pass
    assert first.path is not None
    first.path.unlink()
    async with extraction(run, replying(ruled)) as (second, server):
        pass
    assert server.asked == []
    assert second.found.layer.judgments == first.found.layer.judgments


@pytest.mark.parametrize(
    ("item", "why"),
    [
        ({"quote": "What nobody ever said.", "type": "F"}, "not-said"),
        ({"quote": "a", "type": "O", "act": "GRUNT"}, "act"),
        ({"quote": "a", "type": "E"}, "type"),
        ("a", "no-nugget"),
    ],
)
async def test_an_impossible_nugget_is_refused_counted_and_reported(run: Path, item: Any, why: str) -> None:
    async with extraction(run, replying(answering(item))) as (done, _):
        pass
    assert done.is_complete  # every passage was read; nothing of it became a nugget
    assert not [one for one in done.found.layer.judgments if one.criterion == NUGGET]
    passages_of_run = sum(one.words > 0 for talk in read(run).finished for one in passages(talk))
    assert done.found.refused == Counter({why: passages_of_run})
    assert f"{passages_of_run} nuggets refused: {passages_of_run} {why}" in [*result_sentences(done)]
    kept = [one.value for one in models(run)[0].judgments if one.criterion == EXTRACTION]
    assert all(isinstance(value, dict) and value["nuggets"] == 0 for value in kept)


async def test_a_conversation_without_nuggets_from_the_model_does_not_get_those_of_the_rules(run: Path) -> None:
    async with extraction(run, replying(answering())):
        pass
    schema = load_schema()
    judged = Judgments.from_layers(read_layers(run), schema, Precedence(nuggets="m1"))
    found = assess(read(run).finished[0], schema, judged)
    assert (found.lacking, [one for one in found.nuggets if one.type != "E"]) == (False, [])
    assert found.items["Correctness"] == ()
    assert found.items["Conciseness"] != ()


UNREADABLE: dict[str, tuple[Callable[[Asked], str | bytes], str]] = {
    "prose": (lambda asked: f"Sure! {ruled(asked)}", "not-json"),
    "cut": (lambda asked: completion(ruled(asked), "length"), "cut"),
    "shape": (lambda _: "[]", "wrong-shape"),
    "empty": (lambda _: "", "not-json"),
}


@pytest.mark.parametrize("name", UNREADABLE)
async def test_an_unreadable_reply_costs_one_retry_with_another_seed_and_then_the_conversation(
    run: Path, name: str
) -> None:
    reply, why = UNREADABLE[name]
    async with extraction(run, replying(reply), tries=3) as (done, server):
        pass
    assert (done.is_complete, len(done.found.missing), done.path) == (False, 4, None)
    assert models(run) == []
    asked = Counter(request.json["messages"][-1]["content"] for request in server.asked)
    assert set(asked.values()) == {3}
    assert len({request.json["seed"] for request in server.asked}) == len(server.asked)
    assert done.found.unreadable == Counter({why: len(asked)})
    told = "\n".join(result_sentences(done))
    assert "4 conversations left out as incomplete; repeat the command to continue:\n  A, M002, trial 1: turn 1" in told
    assert "--tries 4 asks for one more" in told
    async with extraction(run, replying(ruled), tries=3) as (again, server):
        pass
    assert (server.asked, again.is_complete) == ([], False)  # what was replied is known
    async with extraction(run, replying(ruled), tries=4) as (last, server):
        pass
    assert (len(server.asked), last.is_complete) == (len(asked), True)


async def test_the_second_reply_counts_if_the_first_is_unreadable(run: Path) -> None:
    seen = Counter[str]()

    def reply(asked: Asked) -> str:
        seen[asked.json["messages"][-1]["content"]] += 1
        return "Hm." if seen[asked.json["messages"][-1]["content"]] == 1 else ruled(asked)

    async with extraction(run, replying(reply)) as (done, _):
        pass
    assert done.is_complete
    assert set(seen.values()) == {2}


async def silent(asked: Asked, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(30)


FAILURES: dict[str, Handler] = {
    "500": replying(lambda _: response("500 Internal Server Error", "Sorry, something went wrong.")),
    "429": replying(lambda _: response("429 Too Many Requests", "")),
    "401": replying(lambda _: response("401 Unauthorized", "")),
    "html": replying(lambda _: response("200 OK", "<html>", media_type="text/html")),
    "error-with-200": replying(lambda _: response("200 OK", '{"error": {"message": "overloaded"}}')),
    "no-choices": replying(lambda _: response("200 OK", '{"choices": []}')),
    "not-utf8": replying(lambda _: response("200 OK", b'{"choices": [{"message": {"content": "\xff"}}]}')),
    "silence": silent,
}


@pytest.mark.parametrize("name", FAILURES)
async def test_a_failure_of_the_endpoint_leaves_no_nuggets_no_layer_and_no_reply(run: Path, name: str) -> None:
    async with extraction(run, FAILURES[name], timeout=0.3) as (done, server):
        pass
    assert (done.requests, done.path, len(done.found.missing)) == (0, None, 4)
    assert done.found.unreadable == {}
    assert models(run) == []
    assert not [*(run / "extraction").rglob("*.jsonl")]
    assert all("endpoint-failed" in why and "extracts nuggets" in why for _, why in done.found.missing)
    async with extraction(run, replying(ruled)) as (again, _):
        pass
    assert (again.is_complete, server.asked != []) == (True, True)


async def test_a_missing_server_is_reported_and_not_retried_for_ever(run: Path) -> None:
    async with serving(silent) as server:
        url = server.url
    done = await asked_for(run, url, concurrency=1)
    assert (done.requests, done.path) == (0, None)
    assert any("no connection" in why for _, why in done.found.missing)


async def test_after_ten_failures_in_a_row_no_request_is_sent(run: Path) -> None:
    async with extraction(run, FAILURES["500"], concurrency=1) as (done, server):
        pass
    assert len(server.asked) == 10
    assert len(done.found.missing) == 4


async def test_a_conversation_with_one_failed_passage_is_not_kept_but_the_others_are(run: Path) -> None:
    lost = passages(read(run).finished[0])[-1].text

    def reply(asked: Asked) -> str | bytes:
        return failed if passage_of(asked)[0].text == lost else ruled(asked)

    failed = response("502 Bad Gateway", "")
    async with extraction(run, replying(reply)) as (done, _):
        pass
    ((left, _),) = done.found.missing
    assert left.key == read(run).finished[0].key
    (layer,) = models(run)
    about = {(one.about["trial"]) for one in layer.judgments}
    assert left.trial_id not in about
    assert len(about) == 3
    schema = load_schema()
    judged = Judgments.from_layers(read_layers(run), schema, Precedence(nuggets="m1"))
    without = assess(left, schema, judged)
    assert (without.lacking, without.nuggets, without.swan(schema).n) == (True, (), 0)
    assert without.swan(schema).value != without.swan(schema).value
    async with extraction(run, replying(ruled)) as (again, server):
        pass
    assert (len(server.asked), again.before, again.is_complete) == (1, 3, True)
    assert len(models(run)) == 2  # the first layer stays as it is
    judged = Judgments.from_layers(read_layers(run), schema, Precedence(nuggets="m1"))
    assert not any(assess(talk, schema, judged).lacking for talk in read(run).finished)


async def test_no_more_requests_run_at_once_than_the_endpoint_allows(run: Path) -> None:
    now, most = 0, 0

    async def counting(asked: Asked, writer: asyncio.StreamWriter) -> None:
        nonlocal now, most
        now, most = now + 1, max(most, now + 1)
        await asyncio.sleep(0.02)
        writer.write(completion(ruled(asked)))
        now -= 1

    async with extraction(run, counting, concurrency=3):
        pass
    assert most == 3


async def test_a_key_is_sent_but_is_neither_in_the_run_nor_in_the_messages(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-nuggets-secret-0123456789"
    monkeypatch.setenv("NUGGETS_KEY", key)
    denied = passages(read(run).finished[0])[-1].text

    def reply(asked: Asked) -> str | bytes:
        if passage_of(asked)[0].text == denied:
            return response("401 Unauthorized", json.dumps({"error": {"message": f"the key {key} is wrong"}}))
        return f"my key is {key}"

    async with extraction(run, replying(reply), api_key_env="NUGGETS_KEY") as (done, server):
        pass
    assert server.asked[0].headers["authorization"] == f"Bearer {key}"
    assert not [name for name, data in files(run).items() if key.encode() in data]
    assert any("[redacted:secret]" in data.decode() for name, data in files(run).items() if "extraction" in name)
    assert key not in "\n".join(result_sentences(done))


async def test_layers_of_two_models_and_of_two_settings_coexist(run: Path) -> None:
    async with extraction(run, replying(ruled)):
        pass
    before = files(run)
    first = {"quote": "a", "type": "F"}
    async with extraction(run, replying(answering(first)), model="m2"):
        pass
    async with extraction(run, replying(answering()), temperature=0.7):
        pass
    after = files(run)
    assert {name: after[name] for name in before if name not in _GROWING} == {
        name: data for name, data in before.items() if name not in _GROWING
    }
    assert after["inventory.jsonl"].startswith(before["inventory.jsonl"]), "it goes on"
    assert Counter(layer.author for layer in models(run)) == {"m1": 2, "m2": 1}
    schema = load_schema()
    with pytest.raises(InputError, match="several versions of the nuggets") as raised:
        Judgments.from_layers(read_layers(run), schema, Precedence(nuggets="m1"))
    versions = sorted(f"{layer.author}/{layer.version}" for layer in models(run) if layer.author == "m1")
    assert str(raised.value).count("m1/") == 2
    talk = read(run).finished[0]
    counts = {
        name: len(
            assess(talk, schema, Judgments.from_layers(read_layers(run), schema, Precedence(nuggets=name))).nuggets
        )
        for name in ("m2", *versions)
    }
    assert len(set(counts.values())) >= 2


def printed(*arguments: str) -> str:
    """What a command that must succeed prints."""
    done = harvest(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def scored(run: Path, *arguments: str) -> tuple[str, dict[str, Any]]:
    out = printed("score", str(run), "--json", *arguments)
    return out, json.loads(out)


async def test_a_run_is_scored_offline_with_the_same_result_and_by_rules_unless_the_model_is_named(
    run: Path,
) -> None:
    measures = ("-m", "SWAN", "-m", "WAN(Retentiveness)")
    plain = await asyncio.to_thread(scored, run, *measures)
    async with extraction(run, replying(answering())):
        pass
    assert await asyncio.to_thread(scored, run, *measures) == plain
    first = await asyncio.to_thread(scored, run, *measures, "--nuggets", "m1")
    assert await asyncio.to_thread(scored, run, *measures, "--nuggets", "m1") == first
    assert first != plain
    assert await asyncio.to_thread(scored, run, *measures, "--nuggets", "rules") == plain


async def test_a_score_says_which_conversations_lack_nuggets_and_how_many_were_refused(run: Path) -> None:
    lost = passages(read(run).finished[0])[-1].text
    stray = json.dumps({"nuggets": [{"quote": "What nobody ever said.", "type": "F"}]})

    def reply(asked: Asked) -> str | bytes:
        return response("502 Bad Gateway", "") if passage_of(asked)[0].text == lost else stray

    async with extraction(run, replying(reply)):
        pass
    _, table = await asyncio.to_thread(scored, run, "-m", "SWAN", "-m", "WAN(Conciseness)", "--nuggets", "m1")
    notes = " ".join(table["notes"])
    assert "1 conversation without a whole extraction by m1, in no SWAN and no WAN." in notes
    assert "12 nuggets of m1 could not be taken" in notes
    key = read(run).finished[0].key
    alone = [row for row in table["rows"] if (row["system"], row["topic"], row["trial"]) == (key.system, key.topic, 1)]
    assert {(row["value"], row["n"]) for row in alone} == {(None, 0)}


@pytest.fixture
def later(tmp_path: Path) -> Path:
    """Another run of the same trials."""
    return play(tmp_path / "later", "--seed", "9")


async def test_nuggets_found_in_one_recording_do_not_apply_to_another_of_the_same_trials(
    run: Path, later: Path
) -> None:
    assert {one.trial_id for one in read(later).finished} == {one.trial_id for one in read(run).finished}
    async with extraction(run, replying(ruled)):
        pass
    _, alone = await asyncio.to_thread(scored, run, "-m", "SWAN", "--nuggets", "m1")
    _, table = await asyncio.to_thread(scored, run, str(later), "-m", "SWAN", "--nuggets", "m1")
    assert "4 conversations without a whole extraction by m1" in " ".join(table["notes"])

    def values(rows: list[dict[str, Any]], run_name: str) -> dict[tuple[str, str], float]:
        return {
            (row["system"].removesuffix(run_name), row["topic"]): row["value"]
            for row in rows
            if row["trial"] and row["system"].endswith(run_name)
        }

    assert values(table["rows"], "@run") == values(alone["rows"], "")
    assert set(values(table["rows"], "@later").values()) == {None}


async def test_layers_are_merged_with_their_runs_and_nothing_is_requested_again(run: Path) -> None:
    async with extraction(run, replying(ruled)):
        pass
    merge([run], run.parent / "both")
    merge([run.parent / "both", run], run.parent / "again")

    def lines(run: Path) -> dict[str, bytes]:
        """Without the inventory, which lists files in the order in which they were written."""
        return {name: data for name, data in files(run).items() if name.endswith("jsonl") and name not in _GROWING}

    replies = lines(run.parent / "both")
    assert lines(run.parent / "again") == replies
    assert sum("extraction" in name for name in replies) == 1
    for _ in range(2):
        async with extraction(run.parent / "both", replying(ruled)) as (done, server):
            pass
        assert (server.asked, done.is_complete) == ([], True)
        without_models(run.parent / "both")  # and then from the replies alone


async def test_nuggets_of_words_that_are_read_differently_now_are_not_used_and_requested_again(run: Path) -> None:
    async with extraction(run, replying(ruled)):
        pass
    trials = run / "trials-000001.jsonl"
    talk = read(run).finished[0]
    said = talk.turns[-1].said
    trials.write_text(trials.read_text(encoding="utf-8").replace(said, f"{said} Please."), encoding="utf-8")
    schema = load_schema()
    judged = Judgments.from_layers(read_layers(run), schema, Precedence(nuggets="m1"))
    changed = [one for one in read(run).finished if "Please." in " ".join(turn.said for turn in one.turns)]
    assert changed
    assert all(assess(one, schema, judged).lacking == (one in changed) for one in read(run).finished)
    async with extraction(run, replying(ruled)) as (done, server):
        pass
    assert done.before == 4 - len(changed)
    assert server.asked
    judged = Judgments.from_layers(read_layers(run), schema, Precedence(nuggets="m1"))
    assert not any(assess(one, schema, judged).lacking for one in read(run).finished)


def all_assessed(run: Path) -> None:
    schema = load_schema()
    judged = Judgments.from_layers(read_layers(run), schema, Precedence(nuggets="m1"))
    for talk in read(run).finished:
        assess(talk, schema, judged)


def judgment_file(run: Path) -> Path:
    (file,) = [file for file in (run / "judgments").iterdir() if file.name.startswith("model-")]
    return file


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('"text":"', '"text":"x', "it is said to read"),
        ('"type":"F"', '"type":"E"', "the nugget is not of type F or O"),
        ('"type":"F"', '"type":"O"', "has a dialogue act"),
        ('"end":', '"end":9', "outside a text"),
        ('"turn":1', '"turn":9', "the turn does not exist"),
    ],
)
async def test_a_layer_that_was_changed_by_hand_is_refused_with_file_and_line(
    run: Path, old: str, new: str, what: str
) -> None:
    async with extraction(run, replying(ruled)):
        pass
    file = judgment_file(run)
    rows = file.read_text(encoding="utf-8").split("\n")
    row = next(i for i, text in enumerate(rows) if '"criterion":"nugget"' in text and old in text)
    file.unlink()
    file = file.with_name("model-by-hand.jsonl")  # under its own name, a layer that was changed is not even read
    file.write_text("\n".join([*rows[:row], rows[row].replace(old, new, 1), *rows[row + 1 :]]), encoding="utf-8")
    with pytest.raises(RunError, match=what) as raised:
        all_assessed(run)
    assert str(raised.value).startswith(f"{file}:{row + 1}")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"format":"harvest-extraction/9"}\n', "harvest-extraction/1 and its minor versions"),
        ("not json\n", "not valid JSON"),
        ('{"format":"harvest-extraction/1","author":"m2","version":"1"}\n', "these replies are from m2/1"),
        ('{"format":"harvest-extraction/1","author":"m1","version":"@"}\n{"key":1}\n', "a reply must have 'key'"),
    ],
)
async def test_foreign_replies_are_refused_with_file_and_line(run: Path, text: str, what: str) -> None:
    async with extraction(run, replying(lambda _: "Hm.")):
        pass
    (file,) = (run / "extraction").rglob("*.jsonl")
    version = file.parent.name.rpartition("-")[2]
    file.write_text(text.replace("@", version), encoding="utf-8")
    with pytest.raises(RunError, match="extraction") as raised:
        await asked_for(run, "http://127.0.0.1:9/v1")
    assert what in str(raised.value)
    assert f"{file}:" in str(raised.value)


async def test_half_a_line_left_by_a_killed_command_counts_as_not_requested(run: Path) -> None:
    async with extraction(run, replying(ruled)) as (done, _):
        pass
    assert done.path is not None
    done.path.unlink()
    (file,) = (run / "extraction").rglob("*.jsonl")
    torn = file.read_bytes()[:-20]
    file.write_bytes(torn)
    async with extraction(run, replying(ruled)) as (again, server):
        pass
    assert (len(server.asked), again.is_complete) == (1, True)
    assert file.read_bytes() == torn
    assert [one.name for one in sorted((run / "extraction").rglob("*.jsonl"))] == ["000001.jsonl", "000002.jsonl"]


def begun(run: Path, file: Path, *more: str) -> ForkedCommand:
    return ForkedCommand("judge", "extract", run, "--with", file, *more)


@pytest.mark.parametrize(
    "stop", [signal.SIGKILL, *(pytest.param(stop, marks=pytest.mark.soak) for stop in (signal.SIGTERM, signal.SIGINT))]
)
async def test_a_stopped_command_continues_where_it_was_and_requests_nothing_twice(
    run: Path, stop: signal.Signals
) -> None:
    held, going, freed = asyncio.Event(), asyncio.Event(), asyncio.Event()
    seen = Counter[bytes]()

    async def slow(asked: Asked, writer: asyncio.StreamWriter) -> None:
        seen[asked.body] += 1
        if len(seen) == 5 and not freed.is_set():
            going.set()
            await held.wait()
        writer.write(completion(ruled(asked)))

    async with serving(slow) as server, asyncio.timeout(120):
        file = endpoints_file(run.parent, server.url, concurrency=1, timeout=60)
        process = begun(run, file)
        await going.wait()  # four are answered, the fifth is under way
        process.send_signal(stop)
        _, told = await asyncio.to_thread(process.communicate)
        assert process.returncode == (-stop if stop == signal.SIGKILL else 130), told
        assert models(run) == []
        freed.set()
        process = begun(run, file)
        out, told = await asyncio.to_thread(process.communicate)
    assert (process.returncode, out) == (0, b""), told
    assert sorted(seen.values())[-2:] == [1, 2]  # the one that was under way is asked again
    assert b"written to judgments/model-m1-" in told
    (layer,) = models(run)
    undisturbed = Path(shutil.copytree(run, run.parent / "x", ignore=shutil.ignore_patterns("judgments", "extraction")))
    async with extraction(undisturbed, replying(ruled)) as (whole, _):
        pass
    assert whole.found.layer.judgments == layer.judgments


async def test_two_simultaneous_commands_do_not_send_the_same_request_twice(run: Path) -> None:
    waiting, going = asyncio.Event(), asyncio.Event()

    async def slow(asked: Asked, writer: asyncio.StreamWriter) -> None:
        going.set()
        await waiting.wait()
        writer.write(completion(ruled(asked)))

    async with serving(slow) as server:
        first = asyncio.create_task(asked_for(run, server))
        await going.wait()
        with pytest.raises(RunError, match="another process"):
            await asked_for(run, server)
        waiting.set()
        assert (await first).is_complete


async def test_the_command_accepts_one_topic_and_its_exit_code_shows_incompleteness(run: Path) -> None:
    async with serving(replying(ruled)) as server:
        file = endpoints_file(run.parent, server.url)
        process = begun(run, file, "--topic", TOPICS[1], "--concurrency", "2")
        out, told = await asyncio.to_thread(process.communicate)
    assert (process.returncode, out) == (0, b"")
    assert b"2 conversations with" in told
    covered = {judgment.about["trial"] for judgment in models(run)[0].judgments}
    assert covered == {one.trial_id for one in read(run).finished if one.key.topic == TOPICS[1]}
    async with serving(FAILURES["500"]) as server:
        file = endpoints_file(run.parent, server.url)
        process = begun(run, file)
        _, told = await asyncio.to_thread(process.communicate)
    assert process.returncode == 3
    assert b"2 conversations left out as incomplete" in told


Told = Callable[..., tuple[int, str]]


@pytest.fixture
def annotate(run: Path, capfd: pytest.CaptureFixture[str]) -> Told:
    def call(*arguments: str) -> tuple[int, str]:
        before = signal.getsignal(signal.SIGTERM)
        try:
            with pytest.raises(SystemExit) as ended:
                main(["judge", "extract", str(run), *arguments])
        finally:
            signal.signal(signal.SIGTERM, before)
        assert isinstance(ended.value.code, int)
        return ended.value.code, capfd.readouterr().err

    return call


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ("base_url: x\n", "1:1", "does not describe endpoints"),
        ("format: harvest-endpoints/2\n", "1:9", "does not describe endpoints"),
        ("format: harvest-endpoints/1\n", "1:1", "missing key 'endpoints'"),
        ("format: harvest-endpoints/1\nendpoints: {}\n", "2:12", "endpoints"),
        ("format: harvest-endpoints/1\nendpoints: {a: {base_url: x}, b: {}}\n", "2:12", "choose one: --endpoint NAME"),
        ("format: harvest-endpoints/1\nendpoints:\n  a: {base_url: 'http://h/v1'}\n", "3:6", "missing key 'model'"),
        ("format: harvest-endpoints/1\nendpoints:\n  a: {base_url: h, model: m}\n", "3:17", "base_url"),
        (
            "format: harvest-endpoints/1\nendpoints:\n  a: {base_url: 'http://h/v1', model: m, modle: n}\n",
            "3:42",
            "did you mean 'model'",
        ),
        (
            "format: harvest-endpoints/1\nendpoints:\n  a: {base_url: 'http://h', model: m, api_key_env: NOT_THERE}\n",
            "3:6",
            "the endpoint 'a' needs the environment variable NOT_THERE",
        ),
        ("format: harvest-endpoints/1\nendpoints: [\n", "3:1", "not valid YAML"),
        ("format: harvest-audit/1\nname: x\n", "1:1", "missing key"),
    ],
)
def test_a_file_that_does_not_describe_an_endpoint_is_refused_with_its_place(
    tmp_path: Path, annotate: Told, text: str, place: str, what: str
) -> None:
    file = tmp_path / "e.yaml"
    file.write_text(text)
    code, told = annotate("--with", str(file))
    assert code == 2
    assert f"error: {file}:{place}: " in told, told
    assert what in told, told


def test_the_endpoints_of_an_audit_can_be_used(tmp_path: Path) -> None:
    audit = (ROOT / "harvest" / "audits" / "demo.yaml").read_text(encoding="utf-8")
    file = tmp_path / "audit.yaml"
    file.write_text(audit + "\nendpoints:\n  words: {base_url: 'http://127.0.0.1:9/v1', model: m7}\n")
    endpoint = read_extraction_endpoint(file, None, set())
    assert (endpoint.name, endpoint.definition()["model"]) == ("words", "m7")
    assert endpoint.definition()["max_tokens"] == 4096
    asyncio.run(endpoint.close())
    with pytest.raises(InputError, match="no endpoint 'wrods'"):
        read_extraction_endpoint(file, "wrods", set())


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("--with", "not-there.yaml"), "no such file"),
        (("--topic", "M002"), "Missing option '--with'"),
        (("--with", "e.yaml", "--topic", "Z999"), "there is no finished conversation on the topic 'Z999'"),
    ],
)
def test_a_nonsensical_command_is_refused(annotate: Told, arguments: tuple[str, ...], what: str) -> None:
    code, told = annotate(*arguments)
    assert (code, what in told) == (2, True), told


def test_naming_nuggets_without_swan_or_of_an_unknown_author_is_refused(
    run: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for arguments, what in (
        (("--nuggets", "m1"), "--nuggets only affects SWAN"),
        (("-m", "SWAN", "--nuggets", "m1"), "there is no layer with nuggets of 'm1'"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(["score", str(run), *arguments])
        assert (ended.value.code, what in capfd.readouterr().err) == (2, True)


async def test_a_sheet_can_be_made_of_the_models_nuggets_and_imported(run: Path) -> None:
    def reply(asked: Asked) -> str:
        return json.dumps({"nuggets": [{"quote": passage_of(asked)[0].text.split()[0], "type": "F"}]})

    async with extraction(run, replying(reply)):
        pass
    sheet = run.parent / "sheet.jsonl"

    def call(*more: str) -> None:
        harvest("judge", "sheet", str(run), "--nuggets", "m1", *more)

    await asyncio.to_thread(call, "--export", str(sheet), "--criterion", "Correctness")
    rows = [json.loads(text) for text in sheet.read_text(encoding="utf-8").splitlines()]
    words = {one.text.split()[0] for talk in read(run).finished for one in passages(talk) if one.speaker == "system"}
    assert {row["text"] for row in rows} <= words
    sheet.write_text("".join(json.dumps({**row, "value": "1"}) + "\n" for row in rows), encoding="utf-8")
    await asyncio.to_thread(call, "--import", str(sheet), "--author", "anna")
    _, table = await asyncio.to_thread(scored, run, "-m", "WAN(Correctness)", "--nuggets", "m1")
    assert {row["value"] for row in table["rows"] if row["trial"]} == {1.0}
    _, table = await asyncio.to_thread(scored, run, "-m", "WAN(Correctness)")
    assert "in no score" in " ".join(table["notes"])


async def test_words_with_a_lone_surrogate_are_sent_and_kept(tmp_path: Path) -> None:
    await record(tmp_path / "run", ["one \ud83d two", "three"], trials=1)
    async with extraction(tmp_path / "run", replying(ruled)) as (done, server):
        pass
    assert (done.is_complete, done.requests) == (True, len(server.asked))
    judged = Judgments.from_layers(read_layers(tmp_path / "run"), load_schema(), Precedence(nuggets="m1"))
    assert assess(read(tmp_path / "run").finished[0], load_schema(), judged).nuggets


async def test_an_invalid_folder_for_replies_is_refused(run: Path) -> None:
    (run / "extraction").write_text("x")
    with pytest.raises(RunError, match="not a folder"):
        await asked_for(run, "http://127.0.0.1:9/v1")


async def test_a_full_disk_ends_the_command_with_one_message(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int, data: Any) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("recordings.log.journal.os.write", full)
    with pytest.raises(StoreError, match="No space left"):
        async with extraction(run, replying(ruled)):
            pass
    assert models(run) == []
