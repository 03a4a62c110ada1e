"""One run of hostile replies through every command that writes what systems said, or figures of it, into a form.

What machines are told (JUnit, GitHub, metrics, webhooks) meets the same replies in test_notifying.py.
"""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

import pytest

from harvest.report.transcripts import MOST_TEXT
from recordings.log.run_folder import read
from tests.support.bulletins import commands
from tests.support.command_line import harvest
from tests.support.hostile_replies import HOSTILE, LARGE
from tests.support.opened_report import launched, opened, until

BOT = """\
import json, pathlib
REPLIES = json.loads((pathlib.Path(__file__).parent / "replies.json").read_text())
ASKED = [0, 0]
def one(text, seed=0):
    ASKED[0] += 1
    return REPLIES[ASKED[0] % len(REPLIES)]
def two(text, seed=0):
    ASKED[1] += 1
    return REPLIES[ASKED[1] // 2 % len(REPLIES)]
"""
AUDIT = """\
format: harvest-audit/1
name: hostile
topics: fairweb-45
only: [M001, M002, M003, M004]
protocol: fairweb-two-round
trials: 3
gold: parrot
systems:
  - {name: one, driver: python, options: {function: "bot.py:one", max_reply: 20000000}}
  - {name: two, driver: python, options: {function: "bot.py:two", max_reply: 20000000}}
thresholds:
  - {measure: "%useful S1", at_most: 0.5}
"""


@pytest.fixture(scope="module", params=[1, pytest.param(10, marks=pytest.mark.soak)], ids=lambda size: f"{size} MiB")
def large(request: pytest.FixtureRequest) -> str:
    return LARGE * int(request.param)


@pytest.fixture(scope="module")
def folder(large: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "replies.json").write_text(json.dumps([*HOSTILE.values(), large]))
    (folder / "bot.py").write_text(BOT)
    (folder / "audit.yaml").write_text(AUDIT)
    assert harvest("run", "audit.yaml", "--out", "run", cwd=folder).returncode in (0, 1, 3)
    said = {turn.reply.answer.text for one in read(folder / "run").finished for turn in one.turns if turn.reply}
    assert {text[:200] for text in said} == {text[:200] for text in (*HOSTILE.values(), large)}
    assert large in said
    return folder


def written(folder: Path, *words: str) -> str:
    done = harvest(*words, cwd=folder)
    assert done.returncode in (0, 1, 3), done.stderr
    assert "Traceback" not in done.stderr
    assert steering(done.stderr) == set()
    return done.stdout


def steering(text: str) -> set[str]:
    """Characters that could steer a terminal, an editor or a page."""
    bidi = {*"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"}
    return {
        sign for sign in text if sign in bidi or (unicodedata.category(sign) in ("Cc", "Cs") and sign not in "\n\t")
    }


TREE = ("tree", "run", "--system", "one", "--merge", "exact")
TABLES = [
    ("score", "run", "--all"),
    ("compare", "run"),
    ("variance", "run"),
    (*TREE, "--format"),
    ("compare", "run", "-m", "%useful S1"),
]


@pytest.mark.parametrize("words", TABLES, ids=lambda words: " ".join(words))
def test_no_cell_of_a_csv_is_a_formula(folder: Path, words: tuple[str, ...]) -> None:
    text = written(folder, *words, *(["csv"] if words[-1] == "--format" else ["--csv"]))
    assert steering(text) == set()
    heading, *rows = list(csv.reader(io.StringIO(text), strict=True))
    assert rows
    for row in rows:
        assert len(row) == len(heading)
        assert [cell for cell in row if re.match(r"\s*[=+@\-\t\r]", cell) and not is_number(cell)] == []


def is_number(cell: str) -> bool:
    with suppress(ValueError):
        float(cell)
        return True
    return False


@pytest.mark.parametrize("variable", ["GITHUB_ACTIONS", "TF_BUILD"])
def test_no_reply_is_a_command_to_a_ci_service(folder: Path, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_ACTIONS", "TF_BUILD"):  # of the service that runs the tests
        monkeypatch.delenv(name, raising=False)
    words = ("show", "run", "--text", "--topic", "M001")
    as_ever, as_data = written(folder, *words), written(folder, "show", "run", "--json")
    monkeypatch.setenv(variable, "true")
    assert list(commands(as_ever))
    shown = written(folder, *words)
    assert list(commands(shown)) == []
    assert shown.replace(" ", "") == as_ever.replace(" ", "")
    assert json.loads(written(folder, "show", "run", "--json")) == json.loads(as_data)


def test_no_fault_is_a_command_to_a_ci_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bot.py").write_text("def one(text, seed=0):\n    raise ValueError('##vso[a] ##[error]a')\n")
    (tmp_path / "audit.yaml").write_text(
        AUDIT.replace("trials: 3", "trials: 1").partition("  - {name: two")[0].replace(", M002, M003, M004", "")
    )
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    done = harvest("run", "audit.yaml", "--out", "run", cwd=tmp_path)
    assert "##vso [a] ## [error]a" in " ".join(done.stderr.split())


@pytest.mark.parametrize("words", TABLES, ids=lambda words: " ".join(words))
def test_no_text_is_a_command_of_latex(folder: Path, words: tuple[str, ...]) -> None:
    text = written(folder, *words, *(["latex"] if words[-1] == "--format" else ["--latex"]))
    assert steering(text) == set()
    assert "\t" not in text
    for line in text.splitlines():
        if not line.startswith("% "):
            assert special(line) == "", line
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 1
    assert text.count(r"\begin") == text.count(r"\end") == 1 + text.count(r"\begin{table}")


_OURS = re.compile(
    r"\\(?:(?:begin|end)\{table\}|centering|small\\setlength\{\\tabcolsep\}\{3pt\}|setlength\{\\belowcaptionskip\}\{4pt\}|(?:begin|end)\{tabular\}(?:\{[lr]+\})?|midrule|bottomrule|\\$)"
    r"|\\toprule  % needs \\usepackage\{booktabs\}"
    r"|\\[&%$#_{}]"
    r"|\\text(?:backslash|asciitilde|asciicircum)\{\}"
    r"|\$(?:\\(?:rightarrow|times|bullet)|[<+-]|[npAB]|-?[0-9.]+|V_\{E2\}|\^\*)\$"
)


def special(line: str) -> str:
    """What LaTeX would take for more than letters, without what our tables are made of."""
    return "".join(re.findall(r"[\\{}$#%~^_]", _OURS.sub("", re.sub(r"^\\caption\{(.*)\}$", r"\1", line))))


JSON = [
    ("score", "run", "--json"),
    ("compare", "run", "--json"),
    ("variance", "run", "--json"),
    (*TREE, "--format", "json"),
    ("relabel", "run", "--json"),
    ("show", "run", "--json"),
    ("data", "verify", "run", "--json"),
]


@pytest.mark.parametrize("words", JSON, ids=lambda words: " ".join(words))
def test_json_is_one_document_whatever_was_said(folder: Path, words: tuple[str, ...]) -> None:
    assert json.loads(written(folder, *words))


@pytest.mark.parametrize("form", ["svg", "graphml"])
def test_drawings_are_xml_without_anything_executable(folder: Path, form: str) -> None:
    text = written(folder, *TREE, "--format", form)
    for part in ElementTree.fromstring(text).iter():
        assert part.tag.rpartition("}")[2] not in ("script", "image", "foreignObject", "a", "use", "img")
        assert [name for name in part.attrib if name.startswith("on") or name.endswith("href")] == []


SHOWN = [
    ("score", "run"),
    ("compare", "run"),
    ("variance", "run"),
    TREE,
    (*TREE, "--format", "text"),
    (*TREE, "--format", "mermaid"),
    (*TREE, "--format", "dot"),
    ("relabel", "run"),
    ("show", "run"),
    ("show", "run", "--beside", "one,two"),
    *(("show", "run", "--system", "one", "--topic", "M001", "--trial", str(trial)) for trial in (1, 2, 3)),
]


@pytest.mark.parametrize("words", SHOWN, ids=lambda words: " ".join(words))
def test_no_output_steers_a_terminal(folder: Path, words: tuple[str, ...]) -> None:
    assert steering(written(folder, *words)) == set()


def test_a_report_in_a_browser_shows_every_reply_as_text_and_runs_and_requests_nothing(folder: Path) -> None:
    """Each conversation is opened; of each text the code points are the same, but for those that steer."""
    written(folder, "report", "run", "--out", "report.html")
    spoken = read(folder / "run").conversations
    with launched() as browser, opened(browser, folder / "report.html") as watched:
        window = watched.page
        window.evaluate("document.addEventListener('securitypolicyviolation', () => { document.title = 'violated'; })")
        shown = set()
        for one in spoken:
            key = one.key
            address = f"#topic={key.topic}&system={key.system}&trial={key.trial}&attempt={one.attempt}"
            window.evaluate("address => { location.hash = address; }", address)
            title = f"{key.system} · {key.topic} · trial {key.trial}"
            until(window, f"document.getElementById('reader-title').textContent.startsWith({json.dumps(title)})")
            until(window, "document.querySelector('#text .said') !== null")
            texts = window.evaluate("[...document.querySelectorAll('#text .said')].map(one => one.textContent)")
            sides = [side for turn in one.turns for side in (turn.said, turn.reply.answer.text if turn.reply else None)]
            for text, said in zip(texts, [side for side in sides if side is not None], strict=True):
                assert steering(text) == set()
                assert visible(text) == visible(said[:MOST_TEXT])
                shown.add(said[:200])
            assert window.evaluate("document.querySelectorAll('#text :is(img, script, svg, iframe, a)').length") == 0
        assert {text[:200] for text in (*HOSTILE.values(), LARGE)} <= shown
        assert window.title() == "hostile · run – Harvest report"


def visible(text: str) -> str:
    """A text without characters that steer, and without the pictures that are shown of them."""
    pictures = re.sub(r"<U\+[0-9A-F]{4,6}>|[\u2400-\u2426\ufffd]", "", text)
    return "".join(sign for sign in pictures if not steering(sign) and sign not in "\u200e\u200f\u061c\x85")


def test_the_exported_text_is_the_recorded_text(folder: Path, large: str, tmp_path: Path) -> None:
    done = harvest("data", "export", "run", "--format", "messages", "--out", tmp_path / "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    said = set(messages(tmp_path / "out"))
    assert large in said
    assert set(HOSTILE.values()) <= said


def messages(path: Path) -> Iterator[str]:
    files = [path] if path.is_file() else sorted(path.rglob("*.jsonl"))
    for file in files:
        for line in file.read_text(encoding="utf-8").split("\n")[:-1]:
            yield from (one["content"] for one in json.loads(line)["messages"])


def test_sheets_for_people_contain_no_formula(folder: Path, large: str, tmp_path: Path) -> None:
    done = harvest("judge", "sheet", "run", "--criterion", "Fluency", "--export", tmp_path / "sheet.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    before = csv.field_size_limit(2 * len(large))
    with (tmp_path / "sheet.csv").open(encoding="utf-8-sig", newline="") as file:
        cells = [cell for row in csv.reader(file, strict=True) for cell in row]
    csv.field_size_limit(before)
    assert any(cell.endswith(HOSTILE["formula"]) for cell in cells)
    assert [cell for cell in cells if re.match(r"\s*[=+@\-]", cell) and not is_number(cell)] == []


IMPORTED = """\
{"messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "x"}], "metadata": NAMED}
"""


@pytest.mark.parametrize("name", ["=1+1", "+1+1", "-2+3", "\uff1d1+1"])
def test_a_system_name_in_a_log_is_no_formula_either(tmp_path: Path, name: str) -> None:
    named = json.dumps({"system": name, "topic": "M001", "trial": 1, "labels": ["o"]})
    (tmp_path / "log.jsonl").write_text(IMPORTED.replace("NAMED", named))
    assert harvest("data", "import", "--format", "messages", "log.jsonl", "--out", "run", cwd=tmp_path).returncode == 0
    for words in (("score", "run", "--csv"), ("tree", "run", "--format", "csv")):
        rows = list(csv.DictReader(io.StringIO(written(tmp_path, *words))))
        assert {row["system"] for row in rows} == {f"'{name}"}


STEERS = HOSTILE["terminal"] + HOSTILE["right to left"]


def test_nothing_in_an_audit_steers_the_terminal(tmp_path: Path) -> None:
    audit = {
        "format": "harvest-audit/1",
        "name": "hostile",
        "topics": "fairweb-45",
        "only": ["M001"],
        "protocol": "fairweb-two-round",
        "trials": 1,
        "systems": [{"name": "one", "driver": "parrot"}],
    }
    (tmp_path / "audit.yaml").write_text(json.dumps({**audit, "about": STEERS * 9 + " the end"}))
    done = harvest("run", "audit.yaml", "--out", "run", cwd=tmp_path)
    assert steering(done.stdout + done.stderr) == set()
    assert "the end" in done.stderr
    assert done.stderr.count("owned") == 9, "nothing of it is lost"
    for field, value in (("protocol", f"{STEERS}.yaml"), ("topics", f"{STEERS}.yaml"), ("gold", f"{STEERS}.csv")):
        (tmp_path / "bad.yaml").write_text(json.dumps({**audit, field: value}))
        done = harvest("check", "bad.yaml", cwd=tmp_path)
        assert done.returncode == 2
        assert steering(done.stdout + done.stderr) == set()
    assert steering(harvest("show", STEERS, cwd=tmp_path).stderr) == set()


@pytest.mark.parametrize("event", ["trial-started", "asked", "turn", "route", "trial-ended"])
def test_nothing_in_a_recording_from_elsewhere_steers_the_terminal(tmp_path: Path, event: str) -> None:
    written(tmp_path, "run", "demo", "--topics", "M002", "--trials", "1", "--out", "run")
    file = next((tmp_path / "run").glob("trials-*.jsonl"))
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    at = next(number for number, line in enumerate(lines) if line["event"] == event)
    for field in [name for name, value in lines[at].items() if name != "event" and isinstance(value, str)]:
        changed = [*lines[:at], {**lines[at], field: STEERS}, *lines[at + 1 :]]
        file.write_text("".join(json.dumps(line) + "\n" for line in changed))
        for words in (
            ("show", "run", "--all"),
            ("show", "run", "--text", "--all"),
            ("score", "run"),
            ("compare", "run"),
        ):
            done = harvest(*words, cwd=tmp_path)
            assert done.returncode in (0, 2, 3), done.stderr
            assert steering(done.stdout + done.stderr) == set(), (field, words)


def test_no_system_name_in_a_recording_from_elsewhere_steers_the_terminal(tmp_path: Path) -> None:
    written(tmp_path, "run", "demo", "--topics", "M002", "--trials", "2", "--out", "run")
    for file in (tmp_path / "run" / "run.json", *(tmp_path / "run").glob("trials-*.jsonl")):
        file.write_text(file.read_text().replace('"A"', json.dumps(f"A{STEERS}")))
    for words in (
        ("watch", "bless", "run", "--out", "usual.json"),
        ("show", "run", "--all"),
        ("score", "run"),
        ("data", "verify", "run"),
    ):
        done = harvest(*words, cwd=tmp_path)
        assert done.returncode in (0, 1), done.stderr
        assert steering(done.stdout + done.stderr) == set(), words
