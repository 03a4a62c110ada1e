"""docs/python.md: everything that it shows is what the program prints, and its scores are those of `score --json`."""

from __future__ import annotations

import doctest
import io
import json
import math
import re
from pathlib import Path

import pandas
import pytest

import harvest
from harvest.tables.long_rows import csv_rows
from recordings import conversation_rows, read, turn_rows
from scoring.table import ScoreRow
from tests.support.checkout import DOCS, ROOT
from tests.support.command_line import harvest as command
from tests.support.distributions import commands

PAGE = DOCS / "python.md"


def test_the_page_shows_what_the_program_prints_and_its_rows_are_those_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert (failed, tried > 30) == (0, True)
    done = command("score", "python-run", "--json", "--measure", "CVaR(R)")
    table = harvest.score_runs("python-run", measures=["CVaR(R)"])
    wanted = [row.as_json() for row in table.rows if row.measure.startswith("CVaR")]
    assert wanted
    assert json.loads(done.stdout)["rows"] == wanted


def test_no_example_for_a_reader_is_longer_than_30_lines() -> None:
    blocks = PAGE.read_text(encoding="utf-8").split("```python")[1:]
    assert {len(block.split("```")[0].strip().splitlines()) > 30 for block in blocks} == {False}


def test_names_survive_the_conversion_to_pandas_as_the_page_says() -> None:
    (call,) = re.findall(r"`pandas\.(read_csv\(.*?\))`", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    rows = [
        ScoreRow("%useful", system, topic, None, None, value, 1)
        for system, topic, value in (("NA", "1e5", 0.5), ("None", "007", math.nan), ("nan", "M1", 1.0))
    ]
    frame = eval(call.replace('"scores.csv"', "file"), {**vars(pandas), "file": io.StringIO(csv_rows(rows))})
    assert list(zip(frame["system"], frame["topic"], strict=True)) == [(row.system, row.topic) for row in rows]
    assert frame["value"].isna().tolist() == [False, True, False]


def test_every_column_of_the_rows_is_on_the_page() -> None:
    run = read(ROOT / "recordings" / "samples" / "run-1")
    table = PAGE.read_text(encoding="utf-8").partition("| rows | columns |")[2].partition("\n\n")[0]
    of = {line.split("|")[1].strip(): set(re.findall("`([a-z_]+)`", line)) for line in table.splitlines()[2:]}
    both = of["both"] - {"None"}
    assert set(turn_rows(run.conversations)[0]) == both | of["of turns"]
    assert set(conversation_rows(run.conversations)[0]) == both | of["of attempts"]


def test_the_driver_and_the_measure_of_the_page_work_as_a_package_with_its_entry_points(tmp_path: Path) -> None:
    """The parts as the page has them, in the modules that its entry points name. What pip would write is written."""
    text = PAGE.read_text(encoding="utf-8")
    groups = {"harvest.drivers": "A driver of your own", "harvest.measures": "A measure of your own"}
    (tmp_path / "loud_parts").mkdir()
    (tmp_path / "loud_parts" / "__init__.py").touch()
    (tmp_path / "loud_parts-1.0.dist-info").mkdir()
    (tmp_path / "loud_parts-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: loud-parts\n")
    points = ""
    for group, heading in groups.items():
        module, code = _module(text, heading)
        (tmp_path / "loud_parts" / f"{module}.py").write_text(code, encoding="utf-8")
        points += f"[{group}]\n{_entry_point(text, group)}\n"
    (tmp_path / "loud_parts-1.0.dist-info" / "entry_points.txt").write_text(points)
    (tmp_path / "audit.yaml").write_text(AUDIT)
    (played,) = commands(tmp_path, tmp_path, ("run", "audit.yaml", "--out", "run"))
    assert played.returncode == 0, played.stderr
    (row,) = re.findall(
        r"Links +1\.0000 \[(\S+), (\S+)\] +4 ", played.stdout
    )  # every answer has the link that it shouts
    assert float(row[0]) < 1 < float(row[1])  # it has no top


AUDIT = """\
format: harvest-audit/1
name: loud
topics: fairweb-45
only: [M001, M002, M003, M004]
protocol: fairweb-two-round
trials: 1
systems: [{name: A, driver: shouting, options: {mark: " HTTPS://A.EXAMPLE/"}}]
"""


def _module(text: str, heading: str) -> tuple[str, str]:
    """Its name and its code: the first example under the heading."""
    section = text.partition(f"\n## {heading}\n")[2]
    block = section.partition("```python\n")[2].partition("```")[0]
    code = "".join(example.source for example in doctest.DocTestParser().get_examples(block))
    return heading.split()[1], code


def _entry_point(text: str, group: str) -> str:
    line = text.partition(f'"{group}"]\n')[2].partition("\n")[0].partition("#")[0]
    return line.replace('"', "")
