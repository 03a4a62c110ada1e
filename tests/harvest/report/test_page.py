"""The page as a file: it runs nothing but its own script, its figures are those of the commands, and it is whole."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from harvest.report.document import Report, make_report
from harvest.report.page import SCRIPTS, chunk_file, page
from harvest.report.transcripts import MOST_TEXT, limit_text
from harvest.studies.compare.comparison import compare_runs
from harvest.studies.scores.gathered import score_runs
from harvest.tables.figures import shown_with_interval
from recordings.log.run_folder import read
from tests.support.checkout import ROOT
from tests.support.command_line import harvest
from tests.support.reported import HOSTILE, copied_run, hostile_run

TAKEN = "\"'><img src=x onerror=\"document.title='taken'\"></script><script>document.title='taken'</script>&amp;"


class Read(HTMLParser):
    """tags: of every element, with its attributes. tables: by section, rows of cells. data: inert scripts by id."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.sections: dict[str, list[list[str]]] = {}
        self.data: dict[str, str] = {}
        self.own: dict[str, str] = {}
        self._section = ""
        self._script: str | None = None
        self._cell = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append((tag, given))
        if tag == "section":
            self._section = str(given.get("id"))
            self.sections[self._section] = []
        elif tag == "tr" and self._section:
            self.sections[self._section].append([])
        elif tag in ("td", "th") and self._section:
            self.sections[self._section][-1].append("")
            self._cell = True
        elif tag in ("script", "style"):
            self._script = str(given.get("id") or tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._cell = False
        elif tag in ("script", "style"):
            self._script = None

    def handle_data(self, data: str) -> None:
        if self._script is not None:
            place = self.own if self._script in ("script", "style") else self.data
            place[self._script] = place.get(self._script, "") + data
        elif self._cell:
            self.sections[self._section][-1][-1] += data


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied_run(tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def report(run: Path) -> Report:
    return make_report([read(run)], beside=run.parent, made="2026-01-01T00:00:00Z", command=["harvest", "report"])


@pytest.fixture(scope="module")
def parsed(report: Report) -> Read:
    return Read(page(report, "report").html)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Report:
    found = hostile_run(tmp_path_factory.mktemp("hostile"))
    return make_report([read(found)], beside=found.parent)


def digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def conversations(report: Report) -> list[dict[str, Any]]:
    return [one for chunk in report.chunks for one in json.loads(chunk)]


def test_the_figures_of_the_page_are_those_of_harvest_score(run: Path, parsed: Read) -> None:
    done = harvest("score", run, "--json")
    rows = [
        row
        for row in json.loads(done.stdout)["rows"]
        if row["topic"] is None and row["trial"] is None and row["topic_type"] is None
    ]
    table = {cells[0]: cells[1:] for cells in parsed.sections["figures"] if len(cells) == 5}
    place = {"A": 0, "B": 2}
    assert len(rows) > 20
    scored = {
        (one.measure, one.turn, one.system): one
        for one in score_runs(run).rows
        if one.topic is None and (one.trial is None and one.topic_type is None)
    }
    for row in rows:
        one = scored[row["measure"], row["turn"], row["system"]]
        name = f"{row['measure']} S{row['turn']}" if row["turn"] else row["measure"]
        shown, n = table[name][place[row["system"]] :][:2]
        assert n == str(row["n"]), name
        assert shown == shown_with_interval(one), name
        value = float(shown.split()[0].rstrip("%")) / (100 if "%" in shown.split()[0] else 1)
        assert value == pytest.approx(row["value"], abs=0.00051 if "%" in shown else 0.000051), name
        if row["low"] is not None:
            low, high = (float(end) for end in re.findall(r"-?[\d.]+", shown.partition("[")[2]))
            scale = 100 if "%" in shown else 1
            assert (low / scale, high / scale) == pytest.approx((row["low"], row["high"]), abs=0.00051)


def test_the_first_difference_is_that_of_harvest_compare(run: Path, report: Report) -> None:
    (pair,) = next(one for one in compare_runs([read(run)]).measures if one.measure == "ave%useful").pairs
    found = report.document["finding"]["found"]
    said = [float(part) for part in re.findall(r"[+-][\d.]+", found)]
    sign = -1 if pair.verdict == "worse" else 1
    ends = sorted((100 * sign * pair.interval.low, 100 * sign * pair.interval.high))
    assert said == pytest.approx([100 * sign * pair.value, *ends], abs=0.051)
    assert "for topics like these" in report.document["finding"]["scope"]
    assert (report.document["finding"]["verdict"] == "better") == pair.is_distinguished


def test_the_policy_names_the_hashes_of_the_one_script_and_the_one_style_and_allows_nothing_else(parsed: Read) -> None:
    (policy,) = (
        str(given["content"]) for tag, given in parsed.tags if given.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy == (
        f"default-src 'none'; script-src '{digest(parsed.own['script'])}'; style-src '{digest(parsed.own['style'])}'; "
        "base-uri 'none'; form-action 'none'"
    )
    code = [given for tag, given in parsed.tags if tag == "script" and given.get("type") != "application/json"]
    assert code == [{}]
    assert not [given for _, given in parsed.tags if "style" in given or any(name.startswith("on") for name in given)]


def test_the_page_refers_to_nothing_outside_itself(parsed: Read) -> None:
    for tag, given in parsed.tags:
        assert tag not in ("img", "link", "iframe", "object", "embed", "base", "use", "image"), tag
        for name in ("src", "href", "action", "data", "srcset", "poster", "xlink:href"):
            assert (given.get(name) or "#").startswith("#"), (tag, given)
    assert not re.search(r"@import|url\(", parsed.own["style"])


def test_our_script_never_turns_text_into_markup_and_requests_nothing_but_chunks() -> None:
    """No way to write markup, to run text, or to fetch: what a system wrote reaches a page as text alone."""
    scripts = sorted((ROOT / "harvest" / "report").glob("*.js"))
    assert {one.name for one in scripts} == {*SCRIPTS}
    script = "".join(one.read_text(encoding="utf-8") for one in scripts)
    for way in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
        "DOMParser",
        "createContextualFragment",
        "fetch(",
        "XMLHttpRequest",
        "import(",
        'setAttribute("on',
        ".cssText",
        "srcdoc",
    ):
        assert way not in script, way
    assert sorted(re.findall(r"(\w+)\.src = ", script)) == ["image", "script"], "screenshots and chunks, both ours"


def test_every_opened_element_is_closed_and_no_id_occurs_twice(report: Report) -> None:
    text = page(report, "report").html
    void = {"meta", "rect", "path", "circle"}
    for tag in ("section", "table", "tr", "td", "details", "summary", "ul", "li", "div", "p", "svg", "script", "a"):
        assert tag not in void
        assert len(re.findall(rf"<{tag}[ >]", text)) == text.count(f"</{tag}>"), tag
    ids = [given["id"] for _, given in Read(text).tags if given.get("id")]
    assert len(ids) == len(set(ids))


def test_every_link_of_the_page_leads_to_a_section_or_to_existing_conversations(parsed: Read) -> None:
    index = json.loads(parsed.data["index"])
    ids = {given.get("id") for _, given in parsed.tags}
    links = {str(given["href"])[1:] for tag, given in parsed.tags if tag == "a"}
    assert len(links) > 20
    for link in links:
        if "=" not in link:
            assert link in ids
            continue
        wanted = dict(part.split("=") for part in link.split("&"))
        assert wanted.get("system", index["systems"][0]) in index["systems"]
        assert wanted.get("topic", index["topics"][0]) in index["topics"]
        if "tree" in wanted:
            tree = index["trees"][int(wanted["tree"])]
            assert wanted["node"] in tree["sizes"]


def test_the_conversations_of_a_branch_are_as_many_as_its_figure_says(report: Report) -> None:
    (section,) = [one for one in report.document["sections"] if one["id"] == "trees"]
    trees = [inner["tree"] for block in section["blocks"] for inner in block.get("blocks", ()) if "tree" in inner]
    index = report.document["index"]["trees"]

    def turns(segment: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        return [*segment["turns"], *(turn for branch in segment["branches"] for turn in turns(branch))]

    checked = 0
    for tree, kept in zip(trees, index, strict=True):
        for turn in (turn for segment in tree["segments"] for turn in turns(segment)):
            node = int(re.findall(r"node=(\d+)", turn["href"])[0])
            inside = range(node, node + kept["sizes"][str(node)])
            assert sum(end in inside for end in kept["ends"].values()) == turn["n"]
            checked += 1
    assert checked >= 12


def test_each_chunk_contains_the_conversations_that_the_index_says(run: Path, report: Report) -> None:
    index = report.document["index"]
    recorded = read(run).conversations
    assert len(index["system"]) == len(recorded) == len(conversations(report))
    assert index["chunks"][0] == 0
    for place, (one, kept) in enumerate(zip(recorded, conversations(report), strict=True)):
        assert index["systems"][index["system"][place]] == one.key.system
        assert index["topics"][index["topic"][place]] == one.key.topic
        assert [turn["said"] for turn in kept["turns"]] == [turn.said for turn in one.turns]
        assert [turn.get("text") for turn in kept["turns"]] == [
            turn.reply.answer.text if turn.reply else None for turn in one.turns
        ]


def test_above_a_size_conversations_are_in_files_beside_the_page_which_says_so(report: Report) -> None:
    whole, apart = page(report, "r"), page(report, "r", inside=1000)
    assert not whole.files
    assert list(apart.files) == [chunk_file("r", place) for place in range(len(report.chunks))]
    assert len(apart.html) < len(whole.html) - sum(map(len, report.chunks)) // 2
    assert "keep it beside this page" in apart.html
    assert any("'self' file:" in str(given.get("content")) for _, given in Read(apart.html).tags)
    for place, text in enumerate(apart.files.values()):
        argument = text.removeprefix(f"harvestChunk({place},").removesuffix(");\n")
        assert json.loads(json.loads(argument)) == json.loads(report.chunks[place])


def test_no_text_written_by_a_system_is_markup_wherever_the_conversations_are(hostile: Report) -> None:
    for made in (page(hostile, "r"), page(hostile, "r", inside=10)):
        found = Read(made.html)
        assert not [tag for tag, _ in found.tags if tag in ("img", "b-hostile", "svg-hostile")]
        assert sum(tag == "script" and not given for tag, given in found.tags) == 1
        assert "onerror" not in str([given for _, given in found.tags])
        for text in (*found.data.values(), *made.files.values()):
            assert "<" not in text
            assert "\u2028" not in text


def test_a_text_is_shown_shortened_with_the_length_of_the_cut_and_without_control_characters(hostile: Report) -> None:
    turns = [turn for one in conversations(hostile) for turn in one["turns"] if turn.get("text")]
    longest = [turn for turn in turns if turn["text"].startswith("ÅÅÅ")]
    assert longest
    for turn in longest:
        assert (len(turn["text"]), turn["cut"]) == (MOST_TEXT, 100_000 - MOST_TEXT)
    every = "".join(turn["text"] for turn in turns)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", every)
    assert "␛[31mred" in every
    assert HOSTILE[9] in every, "what steers nothing stays as it was"
    shown, cut = limit_text("x" * 10_000_000)
    assert (len(shown), cut) == (MOST_TEXT, 10_000_000 - MOST_TEXT)


def test_any_text_in_a_document_is_text_on_the_page(report: Report) -> None:
    """Names of systems, topics and measures, reasons and notes: each leaf of the document is replaced in turn."""

    def replaced(value: Any, key: str = "") -> Any:
        if isinstance(value, str) and key not in ("picture", "pictures", "id", "tone", "verdict"):
            return TAKEN
        if isinstance(value, dict):
            return {name: replaced(one, name) for name, one in value.items()}
        return [replaced(one, key) for one in value] if isinstance(value, list | tuple) else value

    found = Read(page(replace(report, document=replaced(report.document)), "r").html)
    assert not [tag for tag, _ in found.tags if tag == "img"]
    assert sum(tag == "script" and not given for tag, given in found.tags) == 1
    assert not [given for _, given in found.tags if any(name.startswith("on") for name in given)]


def test_the_page_names_no_folder_of_the_machine_that_made_it(run: Path) -> None:
    command = ["harvest", "report", str(run.resolve()), "--out", str(run.resolve().parent / "r.html"), "--force"]
    text = page(make_report([read(run.resolve())], beside=run.resolve().parent, command=command), "r").html
    assert str(run.resolve().parent) not in text
    assert "harvest report run --out r.html --force" in text
    assert "harvest show run --beside A,B" in text


def test_the_same_run_gives_the_same_page(run: Path, report: Report) -> None:
    again = make_report([read(run)], beside=run.parent, made="2026-01-01T00:00:00Z", command=["harvest", "report"])
    assert page(again, "report") == page(report, "report")
