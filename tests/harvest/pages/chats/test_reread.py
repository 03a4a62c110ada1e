"""`harvest pages read-again`: answers that were read badly are mended from the pages that were kept of them.

The pages are real: they come from a chat played in a browser. What was "read then" is made worse on the way into the
recording, as a poorer reader would have done.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from harvest.audits.audit import Audit, load_audit
from harvest.cli.main import main
from harvest.drivers.browser import BrowserDriver
from harvest.drivers.registry import build_driver
from harvest.pages.browser.process import Browser
from harvest.pages.browser.rotation import BrowserRotation
from harvest.pages.chats.reread import read_again
from harvest.systems.driver import Exhibit, Opening, Reply, Surroundings
from protocols.answer import Answer
from recordings.log.chain import chain_file
from recordings.log.run_folder import Run, read
from recordings.log.store import RunWriter
from tests.servers.page_replies import reply_of
from tests.support.browsing import settings
from tests.support.forked_commands import run_forked
from tests.support.interfaces import awkward_pages
from tests.support.kept_answers import EVERY, Worse, keep_answers, record_conversation

ASK, MORE, INSIST = "Please name some films about the sea.", "Can you name a few more?", "Give a link to each, please."
PROTOCOL = f"""\
format: harvest-protocol/1
name: links
version: 1
turn_limit: 2
rules:
  linked: {{urls: {{kind: any, at_least: 1}}}}
start: ask
states:
  ask:
    say: {ASK}
    edges:
      - {{if: linked, label: o, go: more}}
      - {{otherwise: true, label: x, go: insist}}
  more:
    say: {MORE}
    edges:
      - {{if: linked, label: o, stop: completed}}
      - {{otherwise: true, label: x, stop: breakdown}}
  insist:
    say: {INSIST}
    edges:
      - {{if: linked, label: o, stop: completed}}
      - {{otherwise: true, label: x, stop: breakdown}}
"""
AUDIT = """\
format: harvest-audit/1
name: sea
topics: fairweb-45
only: [M001]
protocol: links.yaml
trials: 1
systems:
  - {name: page, driver: browser, options: {url: "URL"}}
"""
PAGE = "name-lines"


@dataclass(frozen=True, slots=True)
class Played:
    """Two conversations on one page, as the driver gave them: the second user turn is MORE, or INSIST."""

    url: str
    more: Sequence[tuple[str, Reply]]
    insist: Sequence[tuple[str, Reply]]


@pytest.fixture(scope="module")
def played() -> Iterator[Played]:
    async def play(url: str) -> tuple[list[tuple[str, Reply]], list[tuple[str, Reply]]]:
        browser = await Browser.launch(settings())
        driver = build_driver("browser", {"url": url}, Surroundings("page", Path()))
        assert isinstance(driver, BrowserDriver)
        driver._relay = BrowserRotation(driver._settings, first=browser)

        async def talk(*texts: str) -> list[tuple[str, Reply]]:
            session = await driver.open(Opening("page", "M001", 1, 1))
            try:
                return [(text, await session.say(text)) for text in texts]
            finally:
                await session.close()

        try:
            return await asyncio.gather(talk(ASK, MORE), talk(ASK, INSIST))
        finally:
            await browser.close()

    with awkward_pages() as pages:
        url = pages.url(PAGE)
        yield Played(url, *asyncio.run(play(url)))


@pytest.fixture
def audit(tmp_path: Path, played: Played) -> Audit:
    (tmp_path / "links.yaml").write_text(PROTOCOL)
    (tmp_path / "audit.yaml").write_text(AUDIT.replace("URL", played.url))
    return load_audit(str(tmp_path / "audit.yaml"))


def record(
    audit: Audit,
    turns: Sequence[tuple[str, Reply]],
    worse: Worse = lambda turn, answer: answer,
    *,
    exhibits: Sequence[str] = EVERY,
    secrets: Sequence[str] = (),
) -> Path:
    """A run of the audit with one conversation, read then as `worse` says."""
    path = audit.folder / "run"

    async def write() -> None:
        async with RunWriter.create(path, audit.header(), secrets=secrets) as writer:
            topic = audit.topics.topics[0]
            await record_conversation(writer, audit.protocol, topic, turns, worse=worse, exhibits=exhibits)

    asyncio.run(write())
    return path


def unlinked(*turns: int) -> Worse:
    """A reader that loses the links of these turns."""
    return lambda turn, answer: Answer(f"Answer {turn}, without its links.") if turn in turns else answer


def reread(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[str, str]:
    """What the command printed, on standard output and standard error. It must end well."""
    with pytest.raises(SystemExit) as stopped:
        main(["pages", "read-again", *map(str, arguments)])
    out, err = capsys.readouterr()
    assert stopped.value.code == 0, err
    return out, err


def content(folder: Path) -> Mapping[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def labels(run: Run) -> list[str]:
    return [one.label(turn.number) for one in run.conversations for turn in one.turns]


@pytest.mark.parametrize("exhibits", [EVERY, ("page",), ("reply", "watch"), ("reply",)])
def test_a_fresh_run_is_read_the_same(audit: Audit, played: Played, exhibits: tuple[str, ...]) -> None:
    answers, found = read_again(read(record(audit, played.more, exhibits=exhibits)))
    assert [(one.source, one.changed, one.trouble, one.refused) for one in answers] == [
        (exhibits[0], False, "", ""),
        (exhibits[0], False, "", ""),
    ]
    assert found == []


@pytest.mark.parametrize("exhibits", [EVERY, ("reply",)])
def test_a_badly_read_answer_is_corrected_in_a_new_run(
    audit: Audit, played: Played, capsys: pytest.CaptureFixture[str], exhibits: tuple[str, ...]
) -> None:
    run = record(audit, played.more, unlinked(2), exhibits=exhibits)
    before = content(run)
    assert labels(read(run)) == ["o", "x"]
    out, _ = reread(capsys, run, "--out", audit.folder / "mended")

    truth = reply_of(PAGE, 2, MORE)
    assert "turn 2: the text changed (28 characters" in out
    assert "the label was x, now o" in out
    assert "  - Answer 2, without its links." in out
    assert f"  link + {truth.links[0][1]}" in out
    assert "2 answers read again: 1 changed, 1 the same" in out
    assert content(run) == before, "the run itself must not be touched"

    mended = read(audit.folder / "mended")
    (one,) = mended.conversations
    assert one.turns[1].reply is not None
    assert one.turns[1].reply.answer.text == truth.markdown
    assert [(link.text, link.href) for link in one.turns[1].reply.answer.links] == list(truth.links)
    assert labels(mended) == ["o", "o"]
    assert one.outcome is not None
    assert one.outcome.kind == "completed", "the answer that ended it is a useful one now"
    assert mended.damage == ()


def test_the_new_run_names_its_source_and_the_earlier_text(
    audit: Audit, played: Played, capsys: pytest.CaptureFixture[str]
) -> None:
    run = record(audit, played.more, unlinked(2))
    reread(capsys, run, "--out", audit.folder / "mended")
    mended = read(audit.folder / "mended", keep_rows=True)
    source = mended.header.source
    assert isinstance(source, dict)
    assert (source["format"], source["run"], source["changed"]) == ("reread", "run", 1)
    assert isinstance(source["files"], dict)
    assert list(source["files"]) == ["trials-000001.jsonl"]
    rows = {(row["event"], row.get("turn")): row for row in mended.attempts[0].rows}
    assert rows["turn", 2]["before"] == {"text": "Answer 2, without its links.", "links": []}
    before = rows["route", 2]["before"]
    assert isinstance(before, dict)
    assert (before["label"], before["target"]) == ("x", "stop:breakdown")
    assert "before" not in rows["turn", 1]
    assert rows["trial-ended", None]["before"]

    # With everything it needs in it, it can be read anew as well, and then nothing is left to change.
    out, _ = reread(capsys, audit.folder / "mended", "--out", audit.folder / "again")
    assert "2 answers read again: 0 changed, 2 the same" in out
    assert content(audit.folder / "again").keys() != set()
    again = read(audit.folder / "again")
    assert again.conversations == mended.conversations
    assert isinstance(again.header.source, dict)
    assert again.header.source["source"] == source


def test_the_evidence_of_a_decision_fits_the_corrected_text(
    audit: Audit, played: Played, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where the label stays: the words it rests on stand elsewhere now."""
    run = record(audit, played.more, lambda turn, answer: replace(answer, text=answer.text.partition(" ")[2]))
    reread(capsys, run, "--out", audit.folder / "mended")
    mended = read(audit.folder / "mended", keep_rows=True)
    assert labels(mended) == ["o", "o"]
    for turn in mended.conversations[0].turns:
        assert turn.route is not None
        assert turn.reply is not None
        spans = [piece for piece in turn.route.evidence if piece.start >= 0]
        assert spans
        assert all(turn.reply.answer.text[piece.start : piece.end] == piece.quote for piece in spans)


def test_a_conversation_that_would_have_taken_another_path_is_played_again(
    audit: Audit, played: Played, capsys: pytest.CaptureFixture[str]
) -> None:
    """The user insisted on links that were there: that is no playing of the protocol, and no fault of the system."""
    run = record(audit, played.insist, unlinked(1))
    assert labels(read(run)) == ["x", "o"]
    out, _ = reread(capsys, run, "--out", audit.folder / "mended")
    assert "the label was x, now o" in out
    assert f"would say '{MORE}'; in the recording, the user said '{INSIST}'" in out
    assert "outcome: was completed, now invalid (read-anew)" in out
    mended = read(audit.folder / "mended")
    (one,) = mended.conversations
    assert (one.outcome and one.outcome.reason, mended.finished) == ("read-anew", ())
    assert labels(mended) == ["o", "o"]

    done = run_forked("run", audit.folder / "audit.yaml", "--out", audit.folder / "mended", "--no-report")
    assert done.returncode == 0, done.stderr
    (first, second) = read(audit.folder / "mended").conversations
    assert (first.attempt, first.valid, second.attempt, second.valid) == (1, False, 2, True)
    assert [turn.said for turn in second.turns] == [ASK, MORE]


def test_without_a_new_run_nothing_is_written(audit: Audit, played: Played, capsys: pytest.CaptureFixture[str]) -> None:
    run = record(audit, played.insist, unlinked(1))
    before = content(audit.folder)
    out, _ = reread(capsys, run, "--json")
    assert content(audit.folder) == before
    told = json.loads(out)
    assert (told["format"], told["read"], told["changed"], told["parted"]) == ("harvest-reread/1", 2, 1, 1)
    (turn,) = told["turns"]
    assert (turn["turn"], turn["label_was"], turn["label_now"], turn["source"]) == (1, "x", "o", "page")
    assert turn["now"]["text"] == reply_of(PAGE, 1, ASK).markdown
    (conversation,) = told["conversations"]
    assert conversation["outcome"] == {"kind": "invalid", "reason": "read-anew"}


def test_damage_is_reported_in_a_line_and_the_rest_is_read(
    audit: Audit, played: Played, capsys: pytest.CaptureFixture[str]
) -> None:
    run = record(audit, played.insist, unlinked(1, 2), exhibits=("page",))
    (first, second) = (turn.reply.evidence["page"] for turn in read(run).conversations[0].turns if turn.reply)
    page = run / first
    page.write_bytes(page.read_bytes()[:-100])
    out, _ = reread(capsys, run)
    assert f"turn 1: the exhibit 'page', {first}: its content does not match its name" in out
    assert "1 answer read again: 1 changed, 0 the same" in out
    page.unlink()
    out, _ = reread(capsys, run, "--out", audit.folder / "mended")
    assert f"turn 1: the exhibit 'page', {first}: cannot be read" in out
    kept = read(audit.folder / "mended").conversations[0].turns[0].reply
    assert kept is not None
    assert kept.answer.text == "Answer 1, without its links.", "what cannot be read again stays as it was"
    assert second != first


@pytest.mark.parametrize(
    ("exhibit", "why"),
    [
        (b"", "not a recorded page"),
        (b"<h-page><p>[redacted:secret]</h-page>", "not a recorded page"),
        (b'<h-page width="[redacted:number]"></h-page>', "cannot be read"),
        (b"<html/>", "the root element is 'html'"),
        (b"\xff\xfe\x00", "is not text"),
        (
            b'<h-page asked="9">' + b"<div>" * 50_000 + b"</div>" * 50_000 + b"</h-page>",
            "elements are nested more than 300 deep",
        ),
    ],
)
def test_an_exhibit_that_is_not_a_page_does_not_stop_it(
    audit: Audit, played: Played, capsys: pytest.CaptureFixture[str], exhibit: bytes, why: str
) -> None:
    (text, reply), second = played.more
    spoilt = replace(reply, exhibits=(Exhibit("page", "application/xhtml+xml", exhibit),))
    out, _ = reread(capsys, record(audit, [(text, spoilt), second], unlinked(2)))
    assert "turn 1: " in out
    assert why in out
    assert "1 answer read again: 1 changed, 0 the same" in out


def test_answers_without_a_stored_page_are_counted(
    audit: Audit, played: Played, capsys: pytest.CaptureFixture[str]
) -> None:
    out, _ = reread(capsys, record(audit, played.insist, unlinked(1), exhibits=("watch",)))
    assert "page: no page was stored for 2 answers" in out
    assert "0 answers read again" in out


def test_redacted_text_does_not_return(audit: Audit, played: Played, capsys: pytest.CaptureFixture[str]) -> None:
    """In the page the secret was in two pieces, with markup between, where the writer could not see it."""
    secret = "kestrel-4417-harbour"
    (text, reply), second = played.more

    def torn(data: bytes) -> bytes:
        return data.replace(b"It ends with", b"The key is kestrel-44<span>17-harbour</span>. It ends with")

    exhibits = tuple(replace(one, data=torn(one.data)) if one.name == "page" else one for one in reply.exhibits)
    answer = Answer(reply.turn.answer.text.replace("It ends with", f"The key is {secret}. It ends with"))
    shown = Reply(replace(reply.turn, answer=replace(answer, links=reply.turn.answer.links)), exhibits)
    run = record(audit, [(text, shown), second], secrets=[secret])
    recorded = read(run).conversations[0].turns[0].reply
    assert recorded is not None
    assert "The key is [redacted:secret]. It ends" in recorded.answer.text
    out, _ = reread(capsys, run, "--out", audit.folder / "mended")
    assert "turn 1: left as it is: it would bring back redacted text" in out
    events = (audit.folder / "mended" / "trials-000001.jsonl").read_text()
    assert secret not in events


def test_an_error_that_was_mistaken_for_an_answer_is_not_an_answer_any_more(
    audit: Audit, played: Played, capsys: pytest.CaptureFixture[str]
) -> None:
    (text, reply), second = played.more
    exhibits = tuple(replace(one, data=_all_marked(one.data)) if one.name == "page" else one for one in reply.exhibits)
    run = record(audit, [(text, Reply(reply.turn, exhibits)), second])
    out, _ = reread(capsys, run, "--out", audit.folder / "mended")
    assert "this is considered a fault today (error)" in out
    (one,) = read(audit.folder / "mended").conversations
    assert one.outcome is not None
    assert (one.outcome.kind, one.outcome.reason) == ("invalid", "error")


def _all_marked(page: bytes) -> bytes:
    """The bubble of the answer called an error by its page."""
    marked = page.replace(b'class="row bot"', b'class="row bot error"')
    assert marked != page
    return marked


def test_a_run_without_a_protocol_is_corrected_as_far_as_possible(
    tmp_path: Path, played: Played, capsys: pytest.CaptureFixture[str]
) -> None:
    worse = [(text, replace(reply, turn=replace(reply.turn, answer=Answer("cut")))) for text, reply in played.more]
    asyncio.run(keep_answers(tmp_path / "run", {"sea": worse}))
    reread(capsys, tmp_path / "run", "--out", tmp_path / "mended")
    texts = [turn.reply.answer.text for turn in read(tmp_path / "mended").conversations[0].turns if turn.reply]
    assert texts == [reply_of(PAGE, 1, ASK).markdown, reply_of(PAGE, 2, MORE).markdown]


def test_a_new_run_never_overwrites_or_enters_another(
    audit: Audit, played: Played, capsys: pytest.CaptureFixture[str]
) -> None:
    run = record(audit, played.more, unlinked(2))
    before = content(run)
    for target, why in ((run, "this folder already exists"), (run / "new", "this is inside the run itself")):
        with pytest.raises(SystemExit) as stopped:
            main(["pages", "read-again", str(run), "--out", str(target)])
        assert stopped.value.code == 2
        assert why in capsys.readouterr().err
    assert content(run) == before


def test_a_torn_run_is_read_as_far_as_possible(
    audit: Audit, played: Played, capsys: pytest.CaptureFixture[str]
) -> None:
    """The writer was killed: the second turn was asked and has no answer, and the last line is half a line."""
    run = record(audit, played.insist, unlinked(1))
    events = run / "trials-000001.jsonl"
    lines = events.read_bytes().splitlines(True)
    cut = next(place for place, row in enumerate(lines) if b'"event":"turn"' in row and b'"turn":2' in row)
    events.write_bytes(b"".join(lines[:cut]) + lines[cut][:40])
    chain_file(events).unlink()  # it would not be closed
    out, err = reread(capsys, run, "--out", audit.folder / "mended")
    assert "1 answer read again: 1 changed" in out
    assert "torn" in err
    (one,) = read(audit.folder / "mended").conversations
    assert one.outcome is None, "an interrupted attempt stays one"
    shutil.rmtree(audit.folder / "mended")
