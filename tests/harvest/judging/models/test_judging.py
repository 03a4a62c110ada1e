"""A model as judge, from a run and an endpoint over real HTTP to a layer that is scored."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from harvest.cli.main import main
from recordings.judged.judgments import Layer, read_layers
from tests.servers.local_http import Asked, response, serving
from tests.support.checkout import DATA
from tests.support.command_line import harvest
from tests.support.forked_commands import ForkedCommand
from tests.support.judge_model import by_length, judge_file, prefers_first, prefers_longer, scoring, shown_to
from tests.support.nugget_model import Handler, completion, replying


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three topics with two systems."""
    folder = tmp_path_factory.mktemp("played") / "run"
    done = harvest("run", "demo", "--trials", "1", "--topics", "M002,R001,Y001", "--out", str(folder))
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def run(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "run"))


def begun(*words: object) -> ForkedCommand:
    return ForkedCommand("judge", "model", *words)


async def judged(handler: Handler, run: Path, *more: object, **options: Any) -> tuple[int, str, list[Asked]]:
    """Exit code, what was told, and what was asked."""
    async with serving(handler) as server, asyncio.timeout(120):
        file = judge_file(run.parent, server.url, **options)
        done = begun(run, "--with", file, *more)
        out, told = await asyncio.to_thread(done.communicate)
    assert out == b""
    assert done.returncode is not None
    return done.returncode, told.decode(), server.asked


def contents(run: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in run.rglob("*") if file.suffix}


def models(run: Path) -> list[Layer]:
    return [layer for layer in read_layers(run) if layer.kind == "model"]


def scores(run: Path, capfd: pytest.CaptureFixture[str], *more: str) -> dict[str, Any]:
    with pytest.raises(SystemExit) as done:
        main(["score", str(run), "--json", *more])
    out, told = capfd.readouterr()
    assert done.value.code == 0, told
    found: dict[str, Any] = json.loads(out)
    return found


async def test_nuggets_and_turns_become_a_layer_that_counts_only_if_it_is_named(
    run: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    options = {"criteria": ["Fluency", "Correctness"], "guideline": {"Fluency": "Typing errors do not count."}}
    code, told, asked = await judged(replying(by_length), run, **options)
    assert code == 0, told
    (layer,) = models(run)
    assert (layer.author, len(layer.version), layer.source) == ("m1", 16, "harvest judge")
    assert {one.criterion for one in layer.judgments} == {"Fluency", "Correctness"}
    assert all(one.value in (0.0, 1.0) and one.note == "by its length" for one in layer.judgments)
    assert f"{len(asked)} requests to send (at most {2 * len(asked)}, where replies cannot be read): about" in told
    prompts = {one.body for one in asked}
    assert len(prompts) == len(asked), "the same words were asked twice"
    assert any(b"Typing errors do not count." in body for body in prompts)
    for one in asked:
        shown = shown_to(one)
        assert shown["conversation"][-1]["speaker"] == "system"
        assert shown["judge"]["text"] in shown["conversation"][-1]["text"]
        assert '"A"' not in one.json["messages"][-1]["content"], "whose words they are"
    measure = ("-m", "WAN(Fluency)")
    assert all(row["value"] is None for row in scores(run, capfd, *measure)["rows"])
    table = scores(run, capfd, *measure, "--judges", "model")
    assert any(row["value"] is not None for row in table["rows"])
    assert any("model m1" in note for note in table["notes"])
    before = contents(run)
    code, told, asked = await judged(replying(by_length), run, **options)
    assert (code, asked) == (0, [])
    assert "all is kept" in told
    assert "nothing new to write" in told
    assert contents(run) == before


async def test_samples_are_kept_as_a_distribution(run: Path) -> None:
    every = iter([1, 0.5, None, 1, 1, "unsure"] * 50)

    def reply(asked: Asked) -> str:
        return json.dumps({"reason": "so", "score": next(every)})

    code, told, asked = await judged(
        replying(reply), run, "--concurrency", "1", "--sample", "4", criteria=["Fluency"], samples=3,
        endpoint={"temperature": 0.7},
    )  # fmt: skip
    assert code == 0, told
    (layer,) = models(run)
    first, second = layer.judgments[0], next(one for one in layer.judgments if one.samples[0] == 1 == one.samples[1])
    assert (first.samples, first.value) == ((1.0, 0.5, None), 0.75)
    assert (second.samples, second.value) == ((1.0, 1.0, "unsure"), 1.0)
    assert len({one.json["seed"] for one in asked}) == len(asked)
    assert all(one.json["temperature"] == 0.7 for one in asked)


BROKEN: dict[str, tuple[Any, str]] = {
    "an error": (response("500 Internal Server Error", "{}"), "failed"),
    "no JSON": ("I would say it is fine.", "nonsense"),
    "nothing": ("", "nonsense"),
    "out of schema": ('{"reason": "so", "score": 2}', "out of schema"),
    "cut off": (completion('{"reason": "so", "score": 1}', "length"), "overflowed"),
    "filtered": (completion('{"reason": "so", "score": 1}', "content_filter"), "refused"),
    "a tool": (completion('{"reason": "so", "score": 1}', "tool_calls"), "failed"),
    "a refusal": (
        response(
            "200 OK",
            json.dumps({"choices": [{"message": {"content": None, "refusal": "No."}, "finish_reason": "stop"}]}),
        ),
        "refused",
    ),
    "too long": (
        response("400 Bad Request", json.dumps({"error": {"message": "too long", "code": "context_length_exceeded"}})),
        "overflowed",
    ),
}


async def test_every_missing_verdict_is_counted_by_its_reason(run: Path, capfd: pytest.CaptureFixture[str]) -> None:
    number: dict[str, int] = {}

    def answer(asked: Asked) -> str | bytes:
        place = number.setdefault(str(shown_to(asked)), len(number)) % (len(BROKEN) + 3)
        return list(BROKEN.values())[place][0] if place < len(BROKEN) else scoring(1)(asked)

    code, told, _ = await judged(replying(answer), run, "--tries", "1", criteria=["Fluency"])
    assert code == 3
    (layer,) = models(run)
    assert {one.unjudged for one in layer.judgments} == {"", *(why for _, why in BROKEN.values())}
    for why, count in Counter(one.unjudged for one in layer.judgments if one.unjudged).items():
        assert f"{why} {count}" in told
    table = scores(run, capfd, "-m", "pooled(WAN(Fluency))", "--judges", "model")
    assert {row["value"] for row in table["rows"] if row["n"]} == {1.0}, "a fault was scored"


@pytest.mark.soak
@pytest.mark.parametrize("case", BROKEN)
async def test_an_invalid_verdict_leaves_the_item_visibly_unjudged(
    run: Path, capfd: pytest.CaptureFixture[str], case: str
) -> None:
    reply, why = BROKEN[case]

    def answer(asked: Asked) -> str | bytes:
        text = str(shown_to(asked)["judge"]["text"])
        return reply if len(text) % 2 else scoring(1)(asked)

    code, told, _ = await judged(replying(answer), run, "--tries", "1", criteria=["Fluency"])
    (layer,) = models(run)
    faults = [one.unjudged for one in layer.judgments if one.unjudged]
    assert set(faults) == {why}, told
    assert 0 < len(faults) < len(layer.judgments)
    assert (code, f"unjudged, in no figure: {why} {len(faults)}" in told) == (3, True), told
    table = scores(run, capfd, "-m", "pooled(WAN(Fluency))", "--judges", "model")
    assert {row["value"] for row in table["rows"] if row["n"]} == {1.0}, "a fault was scored"
    note = next(note for note in table["notes"] if "did not judge" in note)
    assert "that m1 was asked about and did not judge, in no score" in note
    code, told, _ = await judged(replying(scoring(1)), run, "--tries", "2", criteria=["Fluency"])
    assert code == 0, told
    assert not any(one.unjudged for one in models(run)[-1].judgments)


async def test_an_unreachable_endpoint_is_abandoned_after_ten_failures(run: Path) -> None:
    code, told, asked = await judged(
        replying(lambda asked: response("503 Service Unavailable", "{}")), run, criteria=["Correctness"],
        endpoint={"concurrency": 1},
    )  # fmt: skip
    assert (code, len(asked)) == (3, 10)
    assert "503" in told


async def test_a_killed_command_continues_where_it_was_and_asks_nothing_twice(run: Path) -> None:
    held, going, freed = asyncio.Event(), asyncio.Event(), asyncio.Event()
    seen = Counter[bytes]()

    async def slow(asked: Asked, writer: asyncio.StreamWriter) -> None:
        seen[asked.body] += 1
        if len(seen) == 5 and not freed.is_set():
            going.set()
            await held.wait()
        writer.write(completion(by_length(asked)))

    async with serving(slow) as server, asyncio.timeout(120):
        file = judge_file(run.parent, server.url, criteria=["Correctness"], endpoint={"concurrency": 1, "timeout": 60})
        process = begun(run, "--with", file)
        await going.wait()  # four are answered, the fifth is under way
        process.send_signal(signal.SIGKILL)
        await asyncio.to_thread(process.communicate)
        assert models(run) == []
        freed.set()
        process = begun(run, "--with", file)
        _, told = await asyncio.to_thread(process.communicate)
    assert process.returncode == 0, told
    assert sorted(seen.values())[-2:] == [1, 2]  # the one that was under way is asked again
    assert len(models(run)) == 1


async def test_no_more_requests_are_sent_than_allowed_and_the_command_continues_where_it_stopped(run: Path) -> None:
    """Every second reply cannot be read, and is asked for again: these requests count, too."""
    seen = Counter[bytes]()

    async def unsteady(asked: Asked, writer: asyncio.StreamWriter) -> None:
        seen[asked.body] += 1
        writer.write(completion("no JSON" if len(seen) % 2 else by_length(asked)))

    said, counts, judgments = [], [], []
    async with serving(unsteady) as server, asyncio.timeout(120):
        file = judge_file(run.parent, server.url, criteria=["Correctness"], endpoint={"concurrency": 3})
        for most in (4, 4, 1000):
            process = begun(run, "--with", file, "--max-requests", most)
            _, told = await asyncio.to_thread(process.communicate)
            assert process.returncode in (0, 3), told
            said.append(told.decode())
            counts.append(sum(seen.values()))
            judgments.append({json.dumps(sorted(one.about.items())) for one in models(run)[-1].judgments})
    assert counts[:2] == [4, 8]
    assert counts[2] > 8
    assert set(seen.values()) == {1}, "nothing is asked twice"
    assert "not asked about yet (--max-requests); the same command goes on" in said[0]
    assert "not asked about yet" not in said[2]
    assert judgments[0] <= judgments[1] < judgments[2]
    assert len(judgments[1]) > 0


async def test_pairs_are_asked_in_both_orders_and_a_judge_of_position_prefers_neither(
    run: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, reply in (("places", prefers_first), ("length", prefers_longer)):
        sheet = tmp_path / f"{name}.csv"
        code, told, asked = await judged(replying(reply), run, "--pairs", sheet)
        assert code == 0, told
        shown = {(shown_to(one)["first"], shown_to(one)["second"]) for one in asked}
        assert shown == {(second, first) for first, second in shown}
        (layer,) = models(sheet.with_suffix(".judged"))
        values = Counter(str(one.value) for one in layer.judgments)
        assert all(len(one.samples) == 2 for one in layer.judgments)
        if name == "places":
            assert set(values) == {"tie"}
        else:
            assert values["left"] + values["right"] > 0
        judged_folder, key = (str(sheet.with_suffix(suffix)) for suffix in (".judged", ".key.json"))
        with pytest.raises(SystemExit) as done:
            main(["judge", "preferences", judged_folder, "--key", key])
        out, told = capfd.readouterr()
        assert done.value.code == 0, told
        assert "not of people: m1 (model, unchecked)" in " ".join(out.split())


async def test_a_dry_run_prints_its_cost_and_sends_nothing(run: Path) -> None:
    prices = {"input": 1.0, "output": 2.0}
    before = contents(run)
    code, told, asked = await judged(replying(by_length), run, "--dry-run", criteria=["Fluency"], prices=prices)
    assert (code, asked) == (0, [])
    assert "tokens to read, at most" in told
    assert "by the prices given" in told
    assert contents(run) == before


@pytest.mark.parametrize(
    ("options", "more", "what"),
    [
        ({"samples": 3}, ("--criterion", "Fluency"), "would all be equal"),
        ({"scale": [1, 0]}, (), "in ascending order"),
        ({"colour": 1}, (), "unknown key"),
        ({}, (), "the judge has no criterion"),
        ({"criteria": ["Beauty"]}, (), "has no criterion called 'Beauty'"),
        ({"criteria": ["Fair exposure"]}, (), "a model cannot judge Fair exposure"),
        ({"criteria": ["Adaptability"]}, (), "a model cannot judge Adaptability"),
        ({}, ("--criterion", "Adaptability"), "only people judge sets of conversations"),
        ({"criteria": ["Fluency"], "guideline": {"Beauty": "x"}}, (), "no criterion called 'Beauty'"),
        ({"criteria": ["Fluency"], "guideline": {"fluency": "x"}}, (), "the criterion is called 'Fluency'"),
        ({"criteria": ["Fluency"]}, ("--topic", "X9"), "'X9'"),
        ({"criteria": ["Fluency"]}, ("--systems", "A,B"), "--systems can only be used with --pairs"),
        ({"endpoint": {"api_key_env": "NOT_SET_ANYWHERE"}}, (), "NOT_SET_ANYWHERE"),
    ],
)
def test_faults_are_reported_before_anything_is_sent(
    run: Path, capfd: pytest.CaptureFixture[str], options: dict[str, Any], more: tuple[str, ...], what: str
) -> None:
    file = judge_file(run.parent, "http://127.0.0.1:9/v1", **options)
    with pytest.raises(SystemExit) as done:
        main(["judge", "model", str(run), "--with", str(file), *more])
    told = " ".join(capfd.readouterr().err.split())
    assert (done.value.code, what in told) == (2, True), told


async def test_lines_of_structured_answers_are_judged_and_count_only_in_score(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "cafes"
    done = harvest("data", "import", "--format", "messages", DATA / "structured_answers.jsonl", "--out", run)
    assert done.returncode == 0, done.stderr
    lines = ("--schema", "structured-answers", "--nuggets", "lines")

    def doubts_the_third(asked: Asked) -> str:
        return json.dumps({"reason": "so", "score": 0 if "third" in shown_to(asked)["judge"]["text"] else 1})

    code, told, asked = await judged(replying(doubts_the_third), run, *lines, criteria=["Faithfulness"])
    assert code == 0, told
    judged_lines = sorted(shown_to(one)["judge"]["text"] for one in asked)
    assert len(judged_lines) == 10
    assert "A third one opens in May." in judged_lines
    assert not any(text.startswith(("#", "http")) for text in judged_lines), "titles and documents are not judged"
    table = scores(run, capfd, *lines, "--judges", "model", "-m", "WAN(Faithfulness)")
    rows = [row for row in table["rows"] if row["measure"].startswith("WAN(") and row["topic"] == "CAFES"]
    assert {(row["system"], row["value"]) for row in rows if row["trial"] is not None} == {("A", 1.0), ("B", 0.75)}
    counted = json.loads(harvest("metrics", "structured", run, "--json").stdout)["long"]
    assert all(row["n"] == 0 for row in counted if row["measure"].startswith("Faithfulness"))
