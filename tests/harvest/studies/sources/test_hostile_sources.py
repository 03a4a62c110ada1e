"""What a system writes into its sources is text wherever it is shown: in a terminal, on pages, and in files."""

import csv
import io
import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser

from harvest.cli.main import main
from protocols.answer import Answer, Source
from recordings.log.run_folder import Run, read
from tests.support.citing_runs import record_cited
from tests.support.command_line import harvest
from tests.support.judging_command import serving
from tests.support.judging_desk import sitting
from tests.support.opened_report import launched, opened
from tests.support.viewed_folder import viewing

TAKEN = "</script><script>document.title='taken'</script>"
SOURCES = (
    Source("https://a.example/" + TAKEN, TAKEN, text=TAKEN),
    Source(
        "https://b.example/\"onmouseover=\"document.title='taken'", "\"'><img src=x onerror=\"document.title='taken'\">"
    ),
    Source("javascript:document.title='taken'", "a title"),
    Source("data:text/html," + TAKEN, "</a><iframe src=https://c.example/></iframe>"),
    Source("https://c.example/\u202egpj.exe", "\u202eltr \x07\x1b[31mred\x1b]8;;https://d.example/\x07"),
    Source("https://d.example/" + "a" * 2**20, "T" * 2**18),
    Source(f"https://{'e' * 60}.{'.'.join(['f' * 60] * 3)}.example/", '=HYPERLINK("https://d.example/","x")'),
    Source("https://\u0430pple.com/", "\n\n\r new\x00line\x85\u200b\u2066zero\u2069"),
    Source("https://user:pass@g.example:99999/%0d%0aSet-Cookie:x", "\\input{/etc/passwd} $x$ % & # _"),
)
TABLE = f'domain,kind,owner\na.example,"{TAKEN}",=cmd|x\nb.example,<b onclick=alert(1)>,\\input{{x}} $%&_#\n'


def cited(system: str, topic: int, trial: int) -> list[Answer]:
    own = SOURCES if system == "A" else SOURCES[1:5] if topic else SOURCES[:2]
    linked = [f"[{one.title[:40]}]({one.href})" for one in own if len(one.href) < 3000]
    return [Answer.of("See " + " ".join(linked), sources=own)]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("hostile")
    found = record_cited(folder / "run", cited, systems=("A", "B"), topics=2, trials=1)
    (folder / "sources.csv").write_text(TABLE, encoding="utf-8")
    return found


@pytest.fixture(scope="module")
def report(run: Run) -> Path:
    """Made before a browser is open."""
    table = str(run.path.parent / "sources.csv")
    assert harvest("report", "run", "--sources", table, cwd=run.path.parent).returncode == 0
    return run.path.parent / "report.html"


@pytest.fixture(scope="module")
def browser(report: Path) -> Iterator[Browser]:
    with launched() as started:
        yield started


@pytest.mark.parametrize(
    "words",
    [
        ("sources",),
        ("score", "-m", "%citations(kind), %sourced(owner), domains"),
        ("compare", "-m", "%sourced(kind)"),
        ("show", "--system", "A", "--topic", "T000", "--trial", "1"),
    ],
    ids=lambda words: str(words[0]),
)
def test_a_terminal_is_not_steered(
    words: tuple[str, ...], run: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    table = () if words[0] == "show" else ("--sources", str(run.path.parent / "sources.csv"))
    with pytest.raises(SystemExit):
        main([words[0], str(run.path), *words[1:], *table])
    printed = capsys.readouterr()
    assert {one for one in printed.out + printed.err if unicodedata.category(one) == "Cc"} <= {"\n"}
    assert set(printed.out + printed.err).isdisjoint("\u202e\u2066\u2069")
    assert len(printed.out) < 50_000
    if words[0] in ("sources", "compare"):
        assert max(map(len, printed.out.splitlines())) <= 60


def test_files_contain_names_as_text(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sources", str(run.path), "--sources", str(run.path.parent / "sources.csv")]

    def written(*form: str) -> str:
        with pytest.raises(SystemExit):
            main([*words, *form])
        return capsys.readouterr().out

    assert any(TAKEN in row.values() for row in csv.DictReader(io.StringIO(written("--csv"))))
    assert TAKEN in str(json.loads(written("--json")))
    latex = written("--latex")
    assert "\\input{" not in latex
    assert r"\textbackslash" in latex
    written("--figure", str(tmp_path / "drawn.svg"))
    tags = {one.tag.rpartition("}")[2] for one in ElementTree.parse(tmp_path / "drawn.svg").iter()}
    assert tags.isdisjoint({"script", "a", "img", "image", "foreignObject", "b"})


def test_an_exported_table_is_read_back_with_the_same_sources(run: Run, tmp_path: Path) -> None:
    assert harvest("data", "export", run.path, "--format", "table", "--out", "t.csv", cwd=tmp_path).returncode == 0
    assert harvest("data", "import", "t.csv", "--out", "again", cwd=tmp_path).returncode == 0
    there, back = (
        {one.key: [turn.reply and turn.reply.answer.sources for turn in one.turns] for one in read(path).conversations}
        for path in (run.path, tmp_path / "again")
    )
    assert len(there) == 4
    assert back == there


@pytest.mark.parametrize("width", [320, 1280])
def test_a_report_runs_nothing(width: int, browser: Browser, report: Path) -> None:
    with opened(browser, report, width=width) as watched:
        page = watched.page
        page.locator("#list a").first.click()
        page.wait_for_selector("#text .said.system")
        assert page.title() == "citing · run – Harvest report"
        assert page.locator("img, iframe, object, embed, [onclick], [onmouseover]").count() == 0
        assert page.locator("a[href^='javascript'], a[href^='data']").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert report.stat().st_size < 2**20


def test_the_view_runs_nothing(browser: Browser, run: Run) -> None:
    with viewing(run.path.parent) as view:
        page = browser.new_page(viewport={"width": 320, "height": 800})
        page.goto(view.link)
        page.wait_for_selector("#runs input")
        page.evaluate("location.hash = '#run=run&system=A&topic=T000&trial=1'")
        page.wait_for_selector("#reading .said")
        assert page.title() != "taken"
        assert page.locator("#reading").locator("script, img, iframe, [onclick], [onmouseover]").count() == 0
        assert page.locator("a[href^='javascript'], a[href^='data']").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_the_page_for_judges_runs_nothing(browser: Browser, run: Run) -> None:
    with (
        serving(run.path, "--criterion", "Correctness", people=("anna",)) as server,
        sitting(browser, server.links["anna"]) as (desk, _),
    ):
        desk.until_shown()
        assert desk.page.title() != "taken"
        assert desk.page.locator("img, iframe, object, embed, [onclick], [onmouseover]").count() == 0
        assert desk.page.locator("a[href^='javascript'], a[href^='data']").count() == 0
