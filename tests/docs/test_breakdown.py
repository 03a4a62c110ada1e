"""docs/dialogues.md: its examples are what the program prints, and it names every measure and baseline.

Run as a program, it writes its tables again: `python -m tests.docs.test_breakdown`.
"""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from harvest.cli.metrics import breakdown as breakdown_command
from harvest.cli.metrics import helpdesk as helpdesk_command
from scoring.annotations import breakdown_scores, helpdesk_scores
from scoring.annotations.breakdown_files import read_breakdown_files
from scoring.measures.breakdown import figures, rate_figures
from scoring.measures.dialogue_quality import QUALITY_DIVERGENCES
from scoring.measures.nugget_detection import NUGGET_DIVERGENCES
from tests.support.checkout import DOCS
from topics.errors import InputError

PAGE = DOCS / "dialogues.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_every_example_prints_what_the_page_shows() -> None:
    result = doctest.testfile(str(PAGE), module_relative=False)
    assert result.attempted >= 10
    assert result.failed == 0


TABLE = re.compile(r"(```console\n\$ harvest metrics (breakdown|helpdesk) (.*?)\n)(.*?)```", re.DOTALL)


def printed(group: str, arguments: str) -> str:
    command = {"breakdown": breakdown_command, "helpdesk": helpdesk_command}[group].command
    done = CliRunner().invoke(command, arguments.split(), env={"COLUMNS": "80"})
    assert done.exit_code == 0, done.output
    return "".join(f"{line.rstrip()}\n" for line in done.output.splitlines())


def test_every_table_on_the_page_is_what_its_command_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PAGE.parent.parent)
    shown = TABLE.findall(TEXT)
    assert [group for _, group, _, _ in shown] == ["breakdown", "helpdesk", "helpdesk"]
    for _, group, arguments, table in shown:
        assert printed(group, arguments) == table


def test_every_table_of_figures_on_the_page_has_its_command() -> None:
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    figures_in = [text for _, text in blocks if re.search(r"\d\.\d{4}(?!\d)", text)]
    assert len(figures_in) >= 4
    assert [text for text in figures_in if not text.startswith(("$ harvest ", ">>> "))] == []


def test_every_measure_and_baseline_is_on_the_page() -> None:
    rows = [[1.0, 0.0, 0.0]]
    for figure in (*figures(rows, rows), *rate_figures(rows)):
        assert f"`{figure.measure}`" in TEXT or figure.measure.startswith("MSE"), figure.measure
    for name, meaning in breakdown_scores.BASELINES.items():
        assert f"| `{name}` |" in TEXT
        assert meaning.split(",")[0].split(" (")[0].split(" against")[0] in TEXT or "half" in meaning
    for name in helpdesk_scores.BASELINES:
        assert f"`{name}`" in TEXT
    for name in QUALITY_DIVERGENCES:
        assert f"`{name}(A)`" in TEXT
    for name in NUGGET_DIVERGENCES:
        assert f"`{name}(nugget)`" in TEXT


def test_the_lines_and_the_message_on_the_page_are_those_of_the_program(tmp_path: Path) -> None:
    block = re.search(r'```json\n(\{"dialogue".*?)```', TEXT, re.DOTALL)
    assert block is not None
    gold, guess = block[1].splitlines()
    paths = [tmp_path / "gold.jsonl", tmp_path / "cautious.jsonl"]
    paths[0].write_text(gold, encoding="utf-8")
    paths[1].write_text(guess, encoding="utf-8")
    assert [submission.name for submission in read_breakdown_files(paths).submissions] == ["cautious"]
    paths[1].write_text(
        guess.replace('"turn": 3', '"turn": 4') + "\n" + guess.replace("0.2]", "0.1]"), encoding="utf-8"
    )
    with pytest.raises(InputError) as caught:
        read_breakdown_files(paths)
    assert str(caught.value).replace(f"{tmp_path}/", "") in TEXT


def test_the_helpdesk_estimate_on_the_page_is_a_valid_estimate(tmp_path: Path) -> None:
    block = re.search(r'```json\n(\{"id".*?)```', TEXT, re.DOTALL)
    assert block is not None
    (tmp_path / "mine.json").write_text(block[1], encoding="utf-8")
    (tmp_path / "gold.json").write_text(
        '{"id": "d1", "turns": [{"sender": "customer"}, {"sender": "helpdesk"}],'
        ' "annotations": [{"nugget": ["CNUG0", "HNUG"], "quality": {"A": 1}}]}',
        encoding="utf-8",
    )
    done = CliRunner().invoke(helpdesk_command.command, ["eval", *map(str, sorted(tmp_path.iterdir())), "--all"])
    assert done.exit_code == 0, done.output
    assert "mine" in done.output


if __name__ == "__main__":
    PAGE.write_text(TABLE.sub(lambda found: f"{found[1]}{printed(found[2], found[3])}```", TEXT), encoding="utf-8")
