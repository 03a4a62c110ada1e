"""The tutorials, done as they are written: files, commands and what they print, and the Python in a notebook."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harvest.cli.commands import COMMANDS
from tests.docs.test_notebook import executed, plain
from tests.support.checkout import DOCS
from tests.support.forked_harvest import command_at

TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page: str) -> Iterator[tuple[str, str, str]]:
    """Each fenced block: its language, the file that the words before it name last (or nothing), and its text."""
    end = 0
    for block in BLOCK.finditer(page):
        named = re.findall(r"`([\w-]+\.\w+)`", page[end : block.start()])
        yield block[1], named[-1] if named else "", block[2]
        end = block.end()


def parts_in_order(wanted: str, printed: str) -> list[str]:
    """The lines of a block that are not printed, or not in this order; trailing spaces and "…" do not count."""
    lines = iter([line.rstrip() for line in printed.splitlines()])
    return [line for line in wanted.splitlines() if line.strip() not in ("", "…") and line.rstrip() not in lines]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with command_at(tmp_path_factory.mktemp("programs")) as folder:
        yield folder


@pytest.fixture
def shell(tmp_path: Path, programs: Path) -> Iterator[Any]:
    """Runs commands with bash in the folder of the test, and gives what they print; servers end with the test."""
    settings = {
        **os.environ,
        "PATH": os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]]),
        "COLUMNS": "80",
        "OPENBLAS_NUM_THREADS": "1",
    }
    groups: list[int] = []

    def run(commands: str) -> str:
        # What a command leaves running in the background writes into a file, so that reading ends with the command.
        with (tmp_path / ".printed").open("w+", encoding="utf-8") as out:
            words = ["bash", "-e", "-c", commands]
            process = subprocess.Popen(
                words, cwd=tmp_path, env=settings, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
            )
            groups.append(process.pid)
            code = process.wait(300)
            out.seek(0)
            printed = out.read()
        assert code == 0, (commands, printed[-2000:])
        return printed

    yield run
    for group in groups:
        try:
            os.killpg(group, signal.SIGTERM)
        except ProcessLookupError:
            continue


@pytest.mark.usefixtures("quiet_kernels")
@pytest.mark.filterwarnings("default")  # of Jupyter
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_does_what_it_says(page: Path, tmp_path: Path, shell: Any) -> None:
    printed, cells = "", []
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    for language, name, text in blocks(page.read_text(encoding="utf-8")):
        text = text.replace("8479", str(port))  # others may do this tutorial, too
        if language == "sh":
            text = text.replace("sleep 2", f"until (: >/dev/tcp/127.0.0.1/{port}) 2>/dev/null; do sleep 0.1; done")
            if text.startswith("pdflatex") and shutil.which("pdflatex") is None:
                continue
            printed = shell(text)
        elif language == "text":
            assert parts_in_order(text, printed) == [], printed
        elif ">>>" in text:
            cells += doctest.DocTestParser().get_examples(text)
        else:
            assert name.endswith({"yaml": ".yaml", "python": ".py", "latex": ".tex"}[language]), text
            (tmp_path / name).write_text(text, encoding="utf-8")
    for cell, outputs in zip(cells, executed([one.source for one in cells], tmp_path), strict=True):
        assert plain(outputs) == cell.want, cell.source
    if shutil.which("pdflatex") and "paper.tex" in page.read_text():
        assert (tmp_path / "paper.pdf").stat().st_size > 10_000


def test_a_wrong_line_and_a_wrong_order_are_detected() -> None:
    assert parts_in_order("a\n…\nc\n", "a  \nb\nc\n") == []
    assert parts_in_order("c\na\n", "a\nb\nc\n") == ["a"]
    assert parts_in_order("ab\n", "abc\n") == ["ab"]


def test_every_command_answers_a_question() -> None:
    page = (DOCS / "start.md").read_text(encoding="utf-8")
    leaves = {name for name in COMMANDS if not any(other.startswith(f"{name} ") for other in COMMANDS)}
    assert {name for name in leaves if f"`harvest {name}" not in page} == set()
