"""Names that a log gives its systems and topics stand in headings, links and pictures of a report: as text alone."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from harvest.report.document import make_report
from harvest.report.page import page
from recordings.log.run_folder import read
from tests.support.command_line import harvest
from tests.support.hostile_replies import HOSTILE
from tests.support.opened_report import launched, opened

SVG = "{http://www.w3.org/2000/svg}"
RUN = ("script", "image", "foreignObject", "a", "use", "style", "animate", "set")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a log of two systems with hostile names; as many as an import takes."""
    folder = tmp_path_factory.mktemp("names")
    names = [HOSTILE["script"], "</svg><script>document.title='taken'</script>" + HOSTILE["label"].strip()]
    lines = [
        {
            "messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": answer}],
            "metadata": {"system": name, "topic": f"T{topic}", "trial": trial, "labels": ["o" if trial % 2 else "x"]},
        }
        for name in names
        for topic in range(1, 7)
        for trial, answer in enumerate(HOSTILE.values(), 1)
    ]
    (folder / "log.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    done = harvest("data", "import", "--format", "messages", "log.jsonl", "--out", "run", cwd=folder)
    assert done.returncode == 0, done.stderr
    made = page(make_report([read(folder / "run")], beside=folder), "names")
    (folder / "names.html").write_text(made.html, encoding="utf-8")
    return folder / "names.html"


def test_every_picture_is_xml_in_which_nothing_runs(report: Path) -> None:
    pictures = re.findall(r"<svg .*?</svg>", report.read_text(encoding="utf-8"), re.DOTALL)
    assert any("harvest-chart" in one for one in pictures)
    for one in pictures:
        text = one if "xmlns=" in one else one.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
        for part in ElementTree.fromstring(text).iter():
            assert part.tag.startswith(SVG)
            assert part.tag.removeprefix(SVG) not in (
                "script",
                "image",
                "foreignObject",
                "a",
                "use",
                "style",
                "animate",
            )
            assert [name for name in part.attrib if name.startswith("on") or name.endswith("href")] == []


def test_the_page_shows_the_names_and_runs_nothing_of_them(report: Path) -> None:
    with launched() as browser, opened(browser, report) as watched:
        window = watched.page
        assert window.title() == "run – Harvest report"
        assert window.evaluate("document.querySelectorAll('img, iframe, object, embed').length") == 0
        assert window.evaluate("document.querySelectorAll('script').length") >= 2
        names = window.evaluate("[...document.querySelectorAll('[name=system] option')].map(one => one.value)")
        assert any("<img src=x onerror=alert(1)>" in name for name in names)
        window.select_option("[name=system]", names[1])
        window.locator("#list a").first.click()
        window.wait_for_selector("#text .said.system")
        assert window.locator("#reader-title").inner_text().startswith(names[1][:20])
