"""People at the page in Chromium: by keyboard, narrow and wide, light and dark; cut off, reloaded, server killed."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser, sync_playwright

from harvest.serving.guard import TOKEN_HEADER
from recordings.judged.decisions import read_decisions
from recordings.judged.judgments import read_layers
from recordings.log.run_folder import read
from tests.support.accessibility import violations
from tests.support.browsing import settings
from tests.support.checkout import ROOT
from tests.support.command_line import harvest
from tests.support.judged_page import asked_of
from tests.support.judging_command import Server, serving
from tests.support.judging_desk import Desk, sitting
from tests.support.reported import copied_run, small_run

FOREIGN = "rebound.example"
"""A name of somebody else's that leads to this machine, as DNS rebinding makes it do."""

SIZES = [(320, "light"), (320, "dark"), (1280, "light"), (1280, "dark")]

STRANGE = (
    "\u05d0\u05d1\u05d2 is Hebrew for abc\u202e. It was \U0001f468\u200d\U0001f469\u200d\U0001f467 in 1999!\r\n"
    "- First e\u0301t\u00e9 was hot.\r\n- Then <img src=x onerror=document.title=1> came. \U0001d54f is a letter; "
    "\ud83d is half of one. \u0645\u0631\u062d\u0628\u0627 means hello. He was murdered."
)
"""From right to left, emoji of several characters, line ends of two, half a character, markup, and harm."""


@pytest.fixture(scope="module")
def browser(audited: Path, strange: Path) -> Iterator[Browser]:
    """audited, strange: are made before, because no run can be played where a browser of this kind is open."""
    with sync_playwright() as started:
        opened = started.chromium.launch(
            executable_path=settings().executable,
            args=["--no-sandbox", f"--host-resolver-rules=MAP {FOREIGN} 127.0.0.1"],
        )
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied_run(tmp_path_factory.mktemp("audited"))


@pytest.fixture(scope="module")
def strange(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a system that answers with STRANGE."""
    folder = tmp_path_factory.mktemp("strange")
    (folder / "strange.py").write_text(f"def answer(text):\n    return {STRANGE!a}\n", encoding="utf-8")
    return small_run(folder, "  - {name: A, driver: python, options: {function: 'strange.py:answer'}}\n", trials=1)


def session(browser: Browser, run: Path, words: tuple[str, ...], kills: int) -> int:
    """Two people decide all there is, while their server is killed, their network goes and they reload; what they said
    is then on disk, once each. How many decisions were made."""
    keys = ("c", "a", "b", "-", "u")
    with serving(run, *words) as server:
        with (
            sitting(browser, server.links["anna"], lossy=True) as (anna, net),
            sitting(browser, server.links["ben"], lossy=True) as (ben, _),
        ):
            desks = {"anna": anna, "ben": ben}
            total = int(anna.page.evaluate("Number(document.getElementById('bar').max)"))
            at_kill = {round((i + 1) * total / (kills + 1)) for i in range(kills)}
            for i in range(total):
                if i in at_kill:
                    server.end(signal.SIGKILL)
                if i - 2 in at_kill:  # two decisions of each wait in their browsers
                    server.start()
                    for name, desk in desks.items():
                        desk.until("document.getElementById('trouble').textContent.includes('Your answers are kept')")
                        desk.page.goto(server.links[name])
                        desk.until_saved()
                if i == total // 5:
                    net.set_offline(True)
                if i == total // 5 + 2:
                    net.set_offline(False)
                    anna.until_saved()
                if i == total * 7 // 10:
                    anna.page.reload()
                    anna.until("document.documentElement.dataset.ready")
                if i == total // 10:
                    before = anna.value("question")
                    anna.decide("a")
                    anna.page.keyboard.press("z")
                    anna.until(f"document.documentElement.dataset.question === {json.dumps(before)}")
                    anna.said.pop(before)
                for number, desk in enumerate(desks.values()):
                    desk.decide(keys[(i + number) % 5], "\u05d0 so \U0001f600" if i % 7 == 3 else "")
            for name, desk in desks.items():
                desk.until_saved()
                assert desk.page.evaluate(desk.over)
                assert len(desk.said) == total
                told = desk.page.request.get(
                    f"http://127.0.0.1:{server.port}/api/work", headers={TOKEN_HEADER: server.links[name].split("#")[1]}
                ).json()
                assert told["states"] == desk.said
        code, told = server.end(signal.SIGINT)
    assert (code, f"anna: {total} of {total} decisions" in told) == (0, True), told
    assert "agreement of anna, ben" in told
    assert re.search(
        rf"    harvest judge page {run} .*--adjudicate --author NAME\n.*\n    harvest score {run} -m 'WAN", told
    )
    standing = read_decisions(run).standing
    assert Counter(one.by for one in standing) == {"anna": total, "ben": total}
    lines = [
        json.loads(line)
        for file in sorted((run / "decisions").glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").split("\n")
        if line.endswith("}")
    ]
    ids = [line["id"] for line in lines if "id" in line]
    assert len(ids) == len(set(ids)) == anna.made + ben.made + 1  # and the undo
    assert Counter(layer.author for layer in read_layers(run) if layer.kind == "human") == {"anna": 1, "ben": 1}
    return anna.made + ben.made


def test_two_people_lose_nothing_and_answer_nothing_twice_despite_faults(
    browser: Browser, audited: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(audited, tmp_path / "run"))
    made = session(browser, run, ("--criterion", "Sufficiency", "--sample", "10"), kills=1)
    assert made == 21


@pytest.mark.soak
def test_two_people_lose_nothing_over_four_hundred_decisions_and_six_kills(
    browser: Browser, audited: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(audited, tmp_path / "run"))
    criteria = [word for name in ("Sufficiency", "Fluency", "Coherence") for word in ("--criterion", name)]
    assert session(browser, run, tuple(criteria), kills=6) >= 400


def test_every_code_point_arrives_and_the_marked_text_is_the_judged_text(
    browser: Browser, strange: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(strange, tmp_path / "run"))
    texts = {one.trial_id: one for one in read(run).finished}
    asked = {one.id: one for one in asked_of(run, ["Sensibleness"])}
    note = "\u202bסגור\u202c 👩‍👩‍👧 é e\u0301"
    words = ("--criterion", "Sensibleness", "--sample", "9")
    with serving(run, *words, people=("anna",)) as server:  # noqa: SIM117  one ends first
        with sitting(browser, server.links["anna"]) as (desk, _):
            seen = 0
            while not desk.page.evaluate(desk.over):
                known = asked[desk.until_shown()]
                if desk.page.locator(".cover").count():
                    assert "it may contain violence" in desk.page.locator(".cover").first.inner_text()
                    desk.page.keyboard.press("v")
                    desk.until_shown()
                turn = texts[str(known.about[0]["trial"])].turns[known.turn - 1]
                assert turn.reply is not None
                points = "one => Array.from(one.textContent, (letter) => letter.codePointAt(0))"
                marked = desk.page.locator("mark").evaluate(points)
                whole = desk.page.locator(".said.asked").evaluate(points)
                assert "".join(map(chr, whole)) == turn.reply.answer.text
                assert "".join(map(chr, marked)) == turn.reply.answer.text[known.start : known.end]
                desk.decide("c", note)
                seen += 1
            desk.until_saved()
            assert (seen, desk.page.title()) == (9, "Annotate – Harvest")
    (layer,) = [layer for layer in read_layers(run) if layer.kind == "human"]
    assert {one.note for one in layer.judgments} == {note}
    there = [about for one in asked.values() for about in one.about]
    assert all(one.about in there for one in layer.judgments)
    after = [one for one in layer.judgments if int(one.about["start"]) > STRANGE.index("\U0001d54f")]
    assert after, "where a browser counts otherwise than we do"


@pytest.fixture(scope="module")
def page(audited: Path, strange: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    run = Path(shutil.copytree(strange, tmp_path_factory.mktemp("page") / "run"))
    people = (*(f"p{i}" for i in range(len(SIZES))), "tab", "two", "full")
    with serving(run, "--criterion", "Sensibleness", "--sample", "6", people=people) as server:
        yield server


@pytest.mark.parametrize(
    ("number", "width", "theme"),
    [pytest.param(i, *one, marks=() if i == 1 else pytest.mark.soak) for i, one in enumerate(SIZES)],
)
def test_everything_works_by_keyboard_alone_and_breaks_no_rule_of_axe(
    browser: Browser, page: Server, number: int, width: int, theme: str
) -> None:
    with sitting(browser, page.links[f"p{number}"], width, theme) as (desk, _):
        window, keys = desk.page, desk.page.keyboard
        fits = "document.documentElement.scrollWidth <= innerWidth"
        desk.until_shown()
        assert "#" not in window.url, "the token does not stay in the address"
        assert window.locator(".cover").count() > 0
        assert violations(window) == []
        keys.press("v")
        desk.until("document.querySelectorAll('mark').length === 1")
        assert window.evaluate(fits), "nothing is cut off at the side"
        assert violations(window) == []
        first = desk.value("question")
        keys.press("Enter")
        assert window.locator("#saved").inner_text().startswith("Choose first")
        desk.decide("c")
        second = desk.until_shown()
        desk.until_saved()  # said later, it would hide what is said of digits
        for digit in "0135":
            keys.press(digit)
        assert window.locator("#choices input:checked").count() == 0
        assert window.locator("#saved").inner_text() == "Digits choose nothing: press the letter beside the score"
        keys.press("u")
        keys.press("b")
        keys.press("n")
        keys.type("1 2 z ? j")
        assert window.locator("#note").input_value() == "1 2 z ? j", "keys are letters while one writes"
        keys.press("Escape")
        keys.press("Enter")
        desk.until(f"document.documentElement.dataset.question !== {json.dumps(second)}")
        keys.press("ArrowLeft")
        desk.until(f"document.documentElement.dataset.question === {json.dumps(second)}")
        assert window.locator("#choices input:checked").get_attribute("value") == "0.5"
        keys.press("z")
        desk.until("document.querySelectorAll('#choices input:checked').length === 0")
        assert desk.value("question") == second
        desk.until_saved("Undone")
        desk.until("document.documentElement.dataset.done === '1'")
        desk.decide("u")
        keys.press("?")
        assert window.locator("#keys").is_visible()
        assert "unsure – I cannot tell" in window.locator("#list").inner_text()
        assert violations(window) == []
        assert window.evaluate(fits)
        keys.press("Escape")
        keys.press("j")
        assert window.locator("#jumper").is_visible()
        assert window.locator("#unsure-list button").count() == 1
        assert violations(window) == []
        keys.type("1")
        keys.press("Enter")
        desk.until(f"document.documentElement.dataset.question === {json.dumps(first)}")
        assert window.locator("#choices input:checked").get_attribute("value") == "1"
        keys.press("ArrowRight")
        keys.press("s")
        while not window.evaluate(desk.over):
            desk.decide("-")
        desk.until_saved()
        assert window.locator("#counts").inner_text().startswith("6 of 6")
        last = desk.value("question")
        keys.press("c")
        keys.press("Enter")
        assert window.locator("#save").is_disabled(), "who is faster than the page changes nothing at its end"
        assert "To change one, go back" in window.locator("#asked").inner_text()
        keys.press("ArrowLeft")
        assert desk.value("question") == last
        assert window.locator("#choices input:checked").get_attribute("value") == "null"
        assert window.locator("#save").is_enabled()
        assert violations(window) == []
        assert window.evaluate(fits)


def test_blind_pairs_are_chosen_side_by_side_and_counted_like_those_of_a_sheet(
    browser: Browser, audited: Path, tmp_path: Path
) -> None:
    sheet = tmp_path / "pairs.csv"
    words = ("--out", str(sheet), "--sample", "6")
    for first in (True, False):  # the second goes on with the pairs of the first
        with serving(audited, *words) as server:
            for name, width, key in (("anna", 320, "l"), ("ben", 1280, "r")):
                with sitting(browser, server.links[name], width) as (desk, _net):
                    desk.until_shown()
                    titles = desk.page.locator(".part")
                    assert titles.all_inner_texts() == ["Left", "Right"]
                    left, right = (box for one in titles.all() if (box := one.bounding_box()) is not None)
                    assert (left["y"] == right["y"]) == (width == 1280), "beside each other where there is room"
                    assert not first or violations(desk.page) == []
                    assert desk.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
                    for i in range(3):
                        desk.decide("t" if i == 2 else key)
                    desk.until_saved()
    done = harvest("judge", "preferences", tmp_path / "pairs.judged", "--key", tmp_path / "pairs.key.json", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["people"], document["pairs"]) == (["anna", "ben"], {"handed_out": 6, "unjudged": 0})
    counts = {row["figure"]: row["estimate"] for row in document["long"] if row["unit"] == "count"}
    decided = counts["judgments for the first"] + counts["judgments against the first"]
    assert (counts["ties"], decided, counts["judgments unsure"]) == (4, 8, 0)
    other = harvest("judge", "pairs", audited, "--out", sheet, "--serve", "--author", "anna", "--seed", "9")
    assert (
        other.returncode,
        "the pairs in this key differ from the pairs that these arguments draw" in other.stderr,
    ) == (2, True)


def test_the_tab_key_reaches_everything_and_single_keys_can_be_switched_off(browser: Browser, page: Server) -> None:
    with sitting(browser, page.links["tab"]) as (desk, _):
        window, keys = desk.page, desk.page.keyboard
        desk.until_shown()
        reached = set()
        for _ in range(25):
            keys.press("Tab")
            reached.add(window.evaluate("document.activeElement.id || document.activeElement.name"))
        assert {"conversation", "value", "note", "save", "back", "forth", "open", "jump", "help"} <= reached
        window.locator("#help").click()
        window.locator("#single").uncheck()
        keys.press("Escape")
        before = desk.value("question")
        for key in ("a", "u", "z", "j", "s", "?"):
            keys.press(key)
        assert window.locator("dialog[open]").count() == 0
        assert desk.value("question") == before
        assert window.locator("#choices input:checked").count() == 0


def test_two_windows_of_one_person_send_each_decision_once(browser: Browser, page: Server) -> None:
    with sitting(browser, page.links["two"]) as (first, context):
        second = Desk(context.new_page())
        second.page.goto(page.links["two"])
        second.until("document.documentElement.dataset.ready")
        for key in ("a", "b", "c"):
            first.decide(key)
            second.decide(key)
        first.until_saved()
        second.until_saved()
        assert second.page.locator("#trouble").is_hidden()
    assert sum(one.by == "two" for one in read_decisions(page.run).standing) == 6


def test_a_browser_that_stores_nothing_loses_nothing_while_the_page_is_open(browser: Browser, page: Server) -> None:
    with sitting(browser, page.links["full"]) as (desk, _):
        desk.page.evaluate("void (Storage.prototype.setItem = () => { throw new DOMException() })")
        desk.decide("a")
        desk.decide("b")
        desk.until_saved()
    assert sum(one.by == "full" for one in read_decisions(page.run).standing) == 2


ATTACK = """async ([target, token]) => {
  const body = JSON.stringify({ id: "f".repeat(16), question: "0".repeat(16), value: 1, note: "" });
  const tries = {
    read: () => fetch(target + "/api/work", { headers: { "Harvest-Token": token } }),
    write: () => fetch(target + "/api/answers", {
      method: "POST", headers: { "Harvest-Token": token, "Content-Type": "application/json" }, body }),
    simple: () => fetch(target + "/api/answers", { method: "POST", body }),
    blind: () => fetch(target + "/api/answers", { method: "POST", mode: "no-cors", body }),
    script: () => new Promise((done, failed) => {
      const script = document.createElement("script");
      Object.assign(script, { src: target + "/page.js", onload: done, onerror: () => failed(new TypeError()) });
      document.head.append(script);
    }),
  };
  const found = {};
  for (const [name, attempt] of Object.entries(tries)) {
    try { found[name] = ((await attempt()) || {}).type || "loaded"; } catch (fault) { found[name] = fault.name; }
  }
  const frame = document.createElement("iframe");
  frame.src = target + "/#" + token;
  document.body.append(frame);
  await new Promise((done) => { frame.onload = done; setTimeout(done, 1000); });
  return found;
}"""


class _Empty(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>elsewhere</title>")

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def elsewhere() -> Iterator[str]:
    """The address of a page that another program of this machine serves."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Empty) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


def test_another_page_in_the_same_browser_gets_nothing_even_with_a_token(browser: Browser, page: Server) -> None:
    target, token = f"http://127.0.0.1:{page.port}", page.links["p0"].split("#")[1]
    before = read_decisions(page.run)
    context = browser.new_context()
    window = context.new_page()
    answered: list[int] = []
    window.on("response", lambda one: answered.append(one.status) if one.url.startswith(target) else None)
    with elsewhere() as address:
        window.goto(address)
        found = window.evaluate(ATTACK, [target, token])
    assert found.pop("blind") in ("opaque", "TypeError"), "sent, but nobody can read what was answered"
    assert set(found.values()) == {"TypeError"}
    assert answered, "the attempts reached the server"
    assert set(answered) <= {403, 405}
    assert [frame.evaluate("document.title") for frame in window.frames[1:]] != ["Annotate – Harvest"]
    reply = window.goto(f"http://{FOREIGN}:{page.port}/#{token}")
    assert reply is not None
    assert reply.status == 421
    assert f"this page exists only at http://127.0.0.1:{page.port}" in reply.text()
    context.close()
    assert read_decisions(page.run) == before


def test_without_its_token_the_page_says_what_to_do(browser: Browser, page: Server) -> None:
    context = browser.new_context()
    window = context.new_page()
    window.goto(f"http://127.0.0.1:{page.port}/")
    desk = Desk(window)
    desk.until("!document.getElementById('trouble').hidden")
    assert "open the link that was printed" in window.locator("#trouble").inner_text()
    context.close()


def test_two_links_cannot_be_served_at_once_for_one_run(page: Server) -> None:
    command = [sys.executable, "-m", "harvest", "judge", "page", str(page.run), "--port", "0"]
    words = ["--author", "anna", "--criterion", "Fluency"]
    done = subprocess.run([*command, *words], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert (done.returncode, "is being written by another process" in done.stderr) == (2, True)
    taken = subprocess.run(
        [*command[:-1], str(page.port), *words], capture_output=True, text=True, cwd=ROOT, timeout=60
    )
    assert (taken.returncode, f"another program already listens on port {page.port}" in taken.stderr) == (2, True)


ARABIC = """\
format: harvest-words/1
language: ar
direction: rtl
words: {save: "\u062d\u0641\u0638 </script><b>", yes: "\u0646\u0639\u0645", saved: "\u062d\u064f\u0641\u0638"}
criteria:
  Sensibleness: {question: "\u0647\u0644 \u0647\u0630\u0627 \u0645\u0639\u0642\u0648\u0644\u061f"}
"""


@pytest.mark.parametrize(
    ("words", "language", "direction", "asked", "yes", "saved"),
    [
        pytest.param("de", "de", "ltr", None, "1 – ja", "Gespeichert", marks=pytest.mark.soak),
        ("ja", "ja", "ltr", None, "1 – はい", "保存しました"),
        (ARABIC, "ar", "rtl", "هل هذا معقول؟", "1 – نعم", "حُفظ"),
    ],
)
def test_the_page_speaks_the_language_of_its_judges(
    browser: Browser,
    audited: Path,
    tmp_path: Path,
    words: str,
    language: str,
    direction: str,
    asked: str | None,
    yes: str,
    saved: str,
) -> None:
    run = tmp_path / "run"
    shutil.copytree(audited, run)
    if ":" in words:
        (tmp_path / "words.yaml").write_text(words, encoding="utf-8")
        words = str(tmp_path / "words.yaml")
    options = ("--criterion", "Sensibleness", "--sample", "3", "--words", words)
    with serving(run, *options, people=("anna",)) as server:
        for width in (320, 1280):
            with sitting(browser, server.links["anna"], width) as (desk, _):
                window = desk.page
                desk.until_shown()
                root = window.evaluate("[document.documentElement.lang, document.documentElement.dir]")
                assert root == [language, direction]
                assert window.locator("#choices label").nth(2).locator("span").inner_text() == yes
                assert asked is None or window.locator("#asked").inner_text() == asked
                assert violations(window) == []
                assert window.evaluate("document.documentElement.scrollWidth <= innerWidth")
                if width == 1280:
                    desk.decide("c")
                    desk.until_saved(saved)
    assert [one.value for one in read_decisions(run).standing] == [1]


def test_documents_that_a_system_named_are_below_its_answer(browser: Browser, tmp_path: Path) -> None:
    sources = [
        {
            "href": "https://cafe.example/",
            "title": "Cafés",
            "text": "Two cat cafés. <img src=x onerror=document.title=1>",
        },
        {"href": "https://cafe.example/", "title": "Cafés"},
        {"href": "https://long.example/", "text": "long " * 1000},
        {"href": "https://harm.example/", "text": "He was murdered."},
    ]
    spoken = [{"role": "user", "content": "Where are cat cafés?"}, {"role": "assistant", "content": "In Ossendam."}]
    talks = [{"topic": "cats", "trial": n, "parts": [{"sources": sources[:n]}]} for n in (1, 4)]
    lines = (json.dumps({"messages": spoken, "metadata": {"system": "A", **talk}}) for talk in talks)
    (tmp_path / "talks.jsonl").write_text("\n".join(lines), encoding="utf-8")
    made = harvest("data", "import", "--format", "messages", "talks.jsonl", "--out", "run", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    with serving(tmp_path / "run", "--criterion", "Sensibleness", people=("anna",)) as server:
        for width in (320, 1280):
            with sitting(browser, server.links["anna"], width) as (desk, _):
                shown, listed = desk.page.locator(".sources"), "document.querySelectorAll('.sources summary').length"
                desk.until_shown()
                with_one = int(desk.page.evaluate(listed)) == 1
                desk.page.keyboard.press("ArrowRight")
                desk.until(f"{listed} === {2 if with_one else 1}")
                if not with_one:
                    desk.page.keyboard.press("ArrowLeft")
                    desk.until(f"{listed} === 2")
                assert shown.locator(":scope > p").all_inner_texts() == ["Documents it names:", "https://harm.example/"]
                assert shown.locator("summary").first.inner_text() == "Cafés – https://cafe.example/"
                shown.locator("summary").first.focus()
                desk.page.keyboard.press("Enter")
                assert shown.locator("details p").first.inner_text() == sources[0]["text"]
                assert len(shown.locator("details p").last.text_content() or "") == 4001
                assert violations(desk.page) == []
                assert desk.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
