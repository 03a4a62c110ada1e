"""Pictures of studies: well-formed, whole in themselves, in words too, and nothing told by colour alone."""

from __future__ import annotations

import os
import re
import shutil
import stat
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.audits.audit import load_audit
from harvest.studies.compare.chart import comparison_chart
from harvest.studies.compare.comparison import Comparison, compare_runs
from harvest.studies.plan.chart import plan_chart
from harvest.studies.plan.differences import plan_difference
from harvest.studies.variance.rows import variance_chart
from harvest.studies.variance.variance import study_variance
from harvest.tables.drawing.axis import Axis
from harvest.tables.drawing.colours import THEMES
from harvest.tables.drawing.interval_chart import IntervalPanel, IntervalRow, interval_panel, panel_width
from harvest.tables.drawing.svg import MARGIN, page
from recordings.log.run_folder import read
from scoring.notation import parse
from tests.support.command_line import harvest
from topics.decimals import format_change

SVG = "{http://www.w3.org/2000/svg}"
AUDIT = """format: harvest-audit/1
name: small
topics: fairweb-45
only: [M001, M002, M003, R001, R002, Y001]
protocol: fairweb-two-round
gold: parrot
trials: 3
systems:
  - {name: A, driver: parrot}
  - {name: B, driver: parrot, options: {profile: erratic}}
  - {name: C-with-a-name-that-is-rather-long-1, driver: parrot}
  - {name: C-with-a-name-that-is-rather-long-2, driver: parrot}
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("charts")
    (folder / "audit.yaml").write_text(AUDIT, encoding="utf-8")
    assert harvest("run", folder / "audit.yaml", "--out", folder / "run").returncode == 0
    return folder / "run"


@pytest.fixture(scope="module")
def compared(run: Path) -> Comparison:
    return compare_runs([read(run)], measures=[parse(text) for text in ("ave%useful", "%recovery", "R")])


@pytest.fixture(scope="module")
def charts(run: Path, compared: Comparison) -> Mapping[str, str]:
    plan = plan_difference(load_audit(str(run.parent / "audit.yaml")), detect=20, topics=(6, 12, 24), trials=(1, 3))
    return {
        "compare": comparison_chart(compared, details=True),
        "variance": variance_chart(study_variance([read(run)], measures=[parse("ave%useful"), parse("R")])),
        "plan": plan_chart(plan),
    }


def words(svg: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]


STUDIES = ["compare", "variance", "plan"]


@pytest.mark.parametrize("study", STUDIES)
def test_a_chart_is_complete_and_describes_itself_in_words(study: str, charts: Mapping[str, str]) -> None:
    svg = charts[study]
    root = ET.fromstring(svg)
    assert root.get("role") == "img"
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert description is not None
    assert root.get("aria-label") == title.text
    assert len(description.text or "") > 100
    assert not re.search(r"<(script|image|use|a|foreignObject)\b|\bid=|url\(|@import|href", svg)
    assert "\n\n" not in svg, "it may stand within a page of Markdown"


@pytest.mark.parametrize("study", STUDIES)
def test_every_colour_is_a_variable_with_a_light_and_a_dark_value_and_an_attribute(
    study: str, charts: Mapping[str, str]
) -> None:
    svg = charts[study]
    style = ET.fromstring(svg).findtext(f"{SVG}style") or ""
    light, _, dark = style.partition("@media screen and (prefers-color-scheme:dark)")
    for name, both in THEMES.items():
        assert f"--harvest-{name}:{both[0]};" in light
        assert f"--harvest-{name}:{both[1]};" in dark
    for element in ET.fromstring(svg).iter():
        for name in (element.get("class") or "").split():
            if name[:2] in ("f-", "s-"):
                given_ = element.get("fill" if name[0] == "f" else "stroke")
                assert given_ == THEMES[name[2:]][0], "where no style sheet is read"


@pytest.mark.parametrize("study", STUDIES)
def test_nothing_lies_outside_the_picture(study: str, charts: Mapping[str, str]) -> None:
    root = ET.fromstring(charts[study])
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))
    for element in root.iter():
        for name, most in (("x", width), ("y", height), ("cx", width), ("cy", height)):
            if element.get(name) is not None:
                assert 0 <= float(element.get(name, "")) <= most


def test_a_comparison_shows_every_pair_in_full_with_its_figures_and_marks_without_colour(
    charts: Mapping[str, str], compared: Comparison
) -> None:
    said = words(charts["compare"])
    assert not re.search(r"[+−]0\.0+(?![0-9])", " ".join(said)), "a difference that rounds to zero has no sign"
    long = "C-with-a-name-that-is-rather-long"
    assert said.count(f"{long}-1 − {long}-2") == 3, "names are not cut: these would be alike"
    assert not any("…" in one for one in said)
    (ave,) = (one for one in compared.measures if one.measure == "ave%useful")
    for pair in ave.pairs:
        value, low, high = (
            format_change(one, share=True).replace("-", "−")
            for one in (pair.value, pair.interval.low, pair.interval.high)
        )
        interval = f"{low}, {high}"
        assert any(one.startswith(f"{value} [{interval}], p ") for one in said), pair
    marks = list(ET.fromstring(charts["compare"]).iter(f"{SVG}circle"))
    pairs = [pair for one in compared.measures for pair in one.pairs if pair.value == pair.value]
    filled = [mark for mark in marks if mark.get("fill") != THEMES["paper"][0]]
    assert (len(marks), len(filled)) == (len(pairs), sum(pair.is_distinguished for pair in pairs))
    assert sum(bool(pair.drivers) for pair in pairs) > 3
    assert "What topics add is drawn for the first 3 differences; --csv has it for every one" in said


def test_marks_are_at_their_values(compared: Comparison) -> None:
    """The scale, as its labels say it, puts every mark and every end of an interval at its value."""
    svg = comparison_chart(replace(compared, measures=compared.measures[:1]))
    root = ET.fromstring(svg)
    labels = [
        (float((one.text or "").replace("−", "-")), float(one.get("x", "")))
        for one in root.iter(f"{SVG}text")
        if one.get("text-anchor") == "middle" and re.fullmatch(r"−?[\d.]+", one.text or "")
    ]
    (low, at), (high, end) = labels[0], labels[-1]
    wanted = [100 * pair.value for pair in compared.measures[0].pairs]
    drawn = [float(one.get("cx", "")) for one in root.iter(f"{SVG}circle")]
    for value, x in zip(wanted, drawn, strict=True):
        assert low + (x - at) * (high - low) / (end - at) == pytest.approx(value, abs=0.2)


def test_a_plan_has_a_curve_for_each_number_of_trials_told_apart_by_dashes_and_marks(
    charts: Mapping[str, str],
) -> None:
    said = words(charts["plan"])
    assert {"× 1 trial", "× 3 trials", "Topics like these", "These topics", "4 studies of 5"} <= {*said}
    dashes = {
        element.get("stroke-dasharray", "")
        for element in ET.fromstring(charts["plan"]).iter(f"{SVG}path")
        if element.get("stroke-linejoin")
    }
    assert len(dashes) == 2


def test_a_figure_without_a_value_or_an_interval_is_only_in_words() -> None:
    panel = IntervalPanel("T", "unit", [IntervalRow("a", said="n/a: one topic"), IntervalRow("b", 2.0, said="2.0")])
    elements, down = interval_panel(panel, panel_width(panel), 0)
    svg = page("t", "d", elements, panel_width(panel) + 2 * MARGIN, down)
    assert len(list(ET.fromstring(svg).iter(f"{SVG}circle"))) == 1
    assert "n/a: one topic" in words(svg)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6))
def test_an_axis_covers_all_values_and_its_marks_are_round_and_in_order(values: Sequence[float]) -> None:
    axis = Axis.from_values(values, 10.0, 200.0)
    slack = 1e-6 * max(1.0, *map(abs, values))
    assert axis.low <= min(values) + slack
    assert max(values) - slack <= axis.high
    assert 2 <= len(axis.ticks) <= 10
    assert axis.position(axis.low) == 10
    assert axis.position(axis.high) == pytest.approx(200)
    assert all(10 - 1e-6 <= axis.position(value) <= 200 + 1e-6 for value in values)
    shown = [float(axis.label(tick).replace("−", "-")) for tick in axis.ticks]
    assert shown == pytest.approx(list(axis.ticks), abs=axis.step / 1000 + slack)


@given(st.text(max_size=60))
def test_the_picture_is_xml_and_contains_any_name(name: str) -> None:
    panel = IntervalPanel(name, name, [IntervalRow(name, 1.0, 0.0, 2.0, name)])
    elements, down = interval_panel(panel, panel_width(panel), 0)
    root = ET.fromstring(page(name, name, elements, 800, down))
    assert not list(root.iter(f"{SVG}script"))


def test_files_are_written_by_their_type_in_addition_to_the_output(run: Path, tmp_path: Path) -> None:
    svg, png = tmp_path / "c.svg", tmp_path / "c.png"
    done = harvest("compare", run, "-m", "ave%useful", "--csv", "--figure", svg, "--figure", png)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("study,run,figure")
    assert done.stderr.splitlines() == [f"wrote {svg}", f"wrote {png}"]
    root, data = ET.fromstring(svg.read_text(encoding="utf-8")), png.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    size = int.from_bytes(data[16:20]), int.from_bytes(data[20:24])
    assert size == (2 * int(root.get("width", "0")), 2 * int(root.get("height", "0")))
    tree = tmp_path / "t.svg"
    assert harvest("tree", run, "--system", "A", "--format", "csv", "--figure", tree).returncode == 0
    assert tree.read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["c.pdf"], "unknown picture format"),
        (["there.svg"], "exists already"),
        (["none/c.svg"], "there is no such folder"),
        (["c.svg", "c.svg"], "--figure contains the same file twice"),
    ],
)
def test_an_unwritable_file_is_refused_before_anything_is_computed(
    run: Path, tmp_path: Path, names: Sequence[str], said: str
) -> None:
    (tmp_path / "there.svg").write_text("mine", encoding="utf-8")
    words_ = [word for name in names for word in ("--figure", tmp_path / name)]
    with mock.patch("harvest.cli.compare.compare_runs", side_effect=AssertionError("computed")):
        done = harvest("compare", run, *words_)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
    assert (tmp_path / "there.svg").read_text(encoding="utf-8") == "mine"


def test_without_a_browser_a_png_is_refused_with_an_alternative(run: Path, tmp_path: Path) -> None:
    with mock.patch.dict(os.environ, HARVEST_BROWSER=str(tmp_path / "nowhere")):
        done = harvest("variance", run, "--figure", tmp_path / "v.png")
        assert done.returncode == 2
        assert "a PNG needs a browser, but none was found" in done.stderr
        assert "--figure FILE.svg" in done.stderr
        assert harvest("variance", run, "--figure", tmp_path / "v.svg").returncode == 0, "which takes none"


def test_a_browser_that_does_not_start_is_reported_without_a_traceback(run: Path, tmp_path: Path) -> None:
    broken = tmp_path / "chromium"
    shutil.copy("/bin/false", broken)
    broken.chmod(broken.stat().st_mode | stat.S_IXUSR)
    with mock.patch.dict(os.environ, HARVEST_BROWSER=str(broken)):
        done = harvest("variance", run, "--figure", tmp_path / "v.png")
    assert done.returncode == 2
    assert "the browser did not draw the picture" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "v.png").exists()
