"""The command line imports late: asking for help must not load what only commands need."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from harvest.cli.main import COMMANDS

HEAVY = {"asyncio", "httpx", "jinja2", "numpy", "prompt_toolkit", "pydantic", "rich", "yaml"}
PROGRAM = """
import contextlib, io, json, sys
from harvest.cli import main
with contextlib.redirect_stdout(io.StringIO()):
    try:
        main(["--help"])
    except SystemExit:
        pass
print(json.dumps(sorted(sys.modules)))
"""


def test_help_imports_none_of_the_heavy_libraries() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert HEAVY & set(json.loads(done.stdout)) == set()


def test_only_a_person_at_a_terminal_waits_for_the_line_editor() -> None:
    program = "import sys, harvest.cli.chat; print('prompt_toolkit' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize("name", list(COMMANDS))
def test_the_summary_in_the_list_is_what_the_command_says_of_itself(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "harvest", name, "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={"COLUMNS": "200"},
    )
    assert COMMANDS[name].summary.rstrip(".") in done.stdout
