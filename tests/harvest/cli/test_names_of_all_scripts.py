"""One audit whose own name, systems, topics, protocol and judges have letters of many scripts: every command, file and
page names them as they were written."""

from __future__ import annotations

import csv
import json
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Literal
from urllib.parse import quote, unquote

import pytest
from playwright.sync_api import Browser

from harvest.stores.store import open_store
from recordings.log.run_folder import read
from tests.support.command_line import harvest
from tests.support.object_store import s3_server
from tests.support.opened_report import launched, opened, until
from tests.support.viewed_folder import View, viewing

AUDIT, SYSTEMS = "wöchentliche Prüfung", ("Große Änderung", "助手", "مساعد")
TOPICS = ("Größe", "金利", "سؤال", "हिन्दी", "Вопрос")
PROTOCOL = """\
format: harvest-protocol/1
name: Geduldige-Prüfung
version: 1
rules:
  nützlich: {contains: {phrases: [Kredit]}}
start: frage
states:
  frage:
    say: "{{ topic.request }}"
    edges: [{if: nützlich, label: o, go: größer}, {otherwise: true, label: x, go: größer}]
  größer:
    say: Und dann?
    edges: [{if: nützlich, label: o, stop: completed}, {otherwise: true, label: x, stop: completed}]
"""


def write_audit(folder: Path) -> Path:
    (folder / "bot.py").write_text("def answer(text):\n    return 'Ein Kredit.' if '2' in text else 'Nichts.'\n")
    (folder / "protocol.yaml").write_text(PROTOCOL, encoding="utf-8")
    topics = [{"id": name, "type": "金融", "request": f"Frage {at}: {name}?"} for at, name in enumerate(TOPICS)]
    value = {"format": "harvest-topics/1", "name": "Bänke", "types": {"金融": {}}, "topics": topics}
    (folder / "topics.yaml").write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    options = {"function": "bot.py:answer"}
    audit = {
        "format": "harvest-audit/1",
        "name": AUDIT,
        "topics": "topics.yaml",
        "protocol": "protocol.yaml",
        "trials": 2,
        "thresholds": [{"measure": "%useful", "turn": 1, "at_least": 0.01, "judge": "estimate", "system": "助手"}],
        "systems": [{"name": name, "driver": "python", "options": options} for name in SYSTEMS],
    }
    (folder / "audit.yaml").write_text(json.dumps(audit, ensure_ascii=False), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = write_audit(tmp_path_factory.mktemp("names"))
    done = harvest("run", "audit.yaml", "--junit", "junit.xml", cwd=found)
    assert done.returncode == 0, done.stderr
    return found


def run_of(folder: Path) -> Path:
    return folder / "runs" / AUDIT


def test_the_run_and_its_recording_have_the_names_as_written(folder: Path) -> None:
    run = read(run_of(folder))
    assert tuple(run.header.systems) == SYSTEMS
    assert {one.key.topic for one in run.finished} == set(TOPICS)
    assert {turn.route.rule for one in run.finished for turn in one.turns if turn.route} == {"nützlich", "otherwise"}
    assert harvest("data", "verify", run_of(folder)).returncode == 0


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_conversation_is_found_in_any_unicode_normal_form(folder: Path, form: Literal["NFC", "NFD"]) -> None:
    words = [unicodedata.normalize(form, word) for word in ("--system", "Große Änderung", "--topic=Größe")]
    done = harvest("show", run_of(folder), *words, "--trial", 1)
    assert done.returncode == 0, done.stderr
    assert "Große Änderung · Größe · trial 1" in done.stdout
    assert "nützlich is not met: Kredit: not found" in done.stdout


@pytest.mark.parametrize("form", ["text", "mermaid", "dot", "svg", "graphml", "json"])
def test_a_tree_is_drawn_in_every_form(folder: Path, form: str) -> None:
    done = harvest("tree", run_of(folder), "--system", "助手", "--topic", "金利", "--format", form)
    assert done.returncode == 0, done.stderr
    if form in ("svg", "graphml"):
        ET.fromstring(done.stdout)
    # GraphML has no title, but what was said: the request names the topic.
    assert "金利" in ("".join(ET.fromstring(done.stdout).itertext()) if form == "graphml" else done.stdout)


def test_junit_is_xml_that_names_audit_and_systems(folder: Path) -> None:
    root = ET.parse(folder / "junit.xml").getroot()
    assert root.get("name") == f"harvest run {AUDIT}"
    assert "助手" in {suite.get("name") for suite in root.iter("testsuite")}


@pytest.mark.parametrize(
    "words",
    [
        ("score", "RUN", "--json"),
        ("score", "RUN", "--latex"),
        ("compare", "RUN", "--json"),
        ("compare", "RUN", "--csv"),
        ("variance", "RUN", "--json"),
        ("relabel", "RUN", "--json"),
    ],
    ids=" ".join,
)
def test_studies_name_every_system(folder: Path, words: tuple[str, ...]) -> None:
    done = harvest(*(run_of(folder) if word == "RUN" else word for word in words))
    assert done.returncode == 0, done.stderr
    told = done.stdout if words[-1] != "--json" else json.dumps(json.loads(done.stdout), ensure_ascii=False)
    assert all(name in told for name in SYSTEMS)


def test_messages_come_back_with_their_names(folder: Path) -> None:
    exported = harvest("data", "export", run_of(folder), "--format", "messages", "--out", "messages.jsonl", cwd=folder)
    assert exported.returncode == 0, exported.stderr
    words = ("data", "import", "--format", "messages", "messages.jsonl", "--topics", "topics.yaml", "--out", "imported")
    imported = harvest(*words, cwd=folder)
    assert imported.returncode == 0, imported.stderr
    there, here = ({one.key for one in read(path).finished} for path in (run_of(folder), folder / "imported"))
    assert there == here


def test_judges_of_other_scripts_have_their_own_judgments(folder: Path) -> None:
    run, sheet = run_of(folder), folder / "sheet.csv"
    assert harvest("judge", "sheet", run, "--export", sheet, "--criterion", "Fluency").returncode == 0
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for value, author in (("1", "佐藤"), ("0", "ジョン・スミス")):
        with (folder / "done.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows({**row, "value": value} for row in rows)
        done = harvest("judge", "sheet", run, "--import", folder / "done.csv", "--author", author)
        assert done.returncode == 0, done.stderr
    for author, score in (("佐藤", 1.0), ("ジョン・スミス", 0.0)):
        done = harvest("score", run, "-m", "WAN(Fluency)", "--judges", f"human:{author}", "--json")
        rows_ = json.loads(done.stdout)["rows"]
        assert {row["value"] for row in rows_ if row["measure"].startswith("WAN") and row["topic"] is None} == {score}


def test_a_schedule_has_a_unit_of_its_own_for_each_name(folder: Path) -> None:
    assert harvest("watch", "bless", run_of(folder), "--out", "baseline.json", cwd=folder).returncode == 0
    done = harvest("watch", "schedule", "audit.yaml", "--baseline", "baseline.json", "--systemd", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert f"Description=Harvest: {AUDIT} is audited again" in done.stdout
    assert "/harvest-w-chentliche-Pr-fung-" in done.stdout


@pytest.fixture(scope="module")
def s3() -> Iterator[dict[str, str]]:
    with s3_server("audits") as environment:
        yield environment


def test_a_store_keeps_a_run_under_such_names(
    s3: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in s3.items():
        monkeypatch.setenv(name, value)
    write_audit(tmp_path)
    store = "s3://audits/週次/wöchentlich"
    played = harvest("run", "audit.yaml", "--shard", "1/1", "--store", store, cwd=tmp_path)
    assert played.returncode == 0, played.stderr
    assert open_store(store).folders() == ["1-of-1"]
    merged = harvest("data", "merge", f"{store}/1-of-1", "--out", "merged", cwd=tmp_path)
    assert merged.returncode == 0, merged.stderr
    assert len(read(tmp_path / "merged").finished) == 2 * len(TOPICS) * len(SYSTEMS)


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("audit.yaml", '{"name": "助手"', '{"name": "Große änderung"', "'Große änderung' look alike"),
        ("audit.yaml", '{"name": "助手"', '{"name": "助/手"', "has characters that are not allowed here"),
        ("audit.yaml", '"name": "wö', '"name": "wо', "mixes Latin and Cyrillic letters"),
        ("topics.yaml", '"id": "金利"', '"id": "größe"', "the ids 'Größe' and 'größe' look alike"),
        ("topics.yaml", '"id": "金利"', '"id": "Gro\u0308ße"', "composed form (NFC)"),
        ("protocol.yaml", "  größer:\n",
         "  größer: {say: Hm, edges: [{otherwise: true, label: x, go: GRÖßER}]}\n  GRÖßER:\n", "'GRÖßER' look alike"),
        ("protocol.yaml", "  nützlich: {", "  nütz lich: {}\n  nützlich: {", "'nütz lich' is not a valid name"),
    ],
)  # fmt: skip
def test_a_name_that_imitates_another_is_refused_in_one_message(
    file: str, old: str, new: str, words: str, tmp_path: Path
) -> None:
    path = write_audit(tmp_path) / file
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    done = harvest("check", "audit.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("error:") == 1
    assert words in done.stderr
    assert f"{file}:" in done.stderr.splitlines()[0]


@pytest.fixture(scope="module")
def page(folder: Path) -> Path:
    page = folder / "bericht-größe.html"
    assert harvest("report", run_of(folder), "--out", page).returncode == 0
    return page


@pytest.fixture(scope="module")
def view(folder: Path) -> Iterator[View]:
    with viewing(folder) as view:
        yield view


@pytest.fixture(scope="module")
def browser(page: Path) -> Iterator[Browser]:
    """For the last tests of this file, because no run can be played while it is open."""
    with launched() as browser:
        yield browser


@pytest.mark.parametrize(
    ("system", "topic"), [(SYSTEMS[0], TOPICS[0]), (SYSTEMS[1], TOPICS[3]), (SYSTEMS[2], TOPICS[2])]
)
def test_a_page_opens_the_conversation_in_its_address(page: Path, browser: Browser, system: str, topic: str) -> None:
    address = f"#system={quote(system, safe='')}&topic={quote(topic, safe='')}&trial=1"
    with opened(browser, page, address) as watched:
        until(watched.page, f"document.body.innerText.includes({json.dumps(f'{topic}?')})")


@pytest.mark.parametrize(
    "address",
    [
        f"harvest show 'runs/{AUDIT}' --system '{SYSTEMS[0]}' --topic '{TOPICS[0]}' --trial 1",
        f"harvest show 'runs/{AUDIT}' --system '{SYSTEMS[2]}' --topic '{TOPICS[3]}' --trial 2",
        f"#topic={quote(TOPICS[1])}&system={quote(SYSTEMS[1])}&trial=1",
    ],
)
def test_the_view_opens_the_conversation_in_its_address(view: View, browser: Browser, address: str) -> None:
    topic = next(name for name in TOPICS if name in unquote(address))
    window = browser.new_page()
    window.goto(view.link)
    until(window, "document.documentElement.dataset.ready")
    until(window, f"document.body.innerText.includes({json.dumps(AUDIT)})")
    window.evaluate("hash => { location.hash = hash; }", f"#run={quote(f'runs/{AUDIT}')}")
    window.fill("#wanted", address)
    window.press("#wanted", "Enter")
    said = json.dumps(f"{topic}?")
    until(window, f"!document.getElementById('reading').hidden && document.body.innerText.includes({said})")
    window.close()
