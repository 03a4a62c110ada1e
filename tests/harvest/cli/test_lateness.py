"""The command line imports late: asking for help must not load what only commands need."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harvest.cli.commands import COMMANDS
from harvest.cli.completion import VARIABLE
from tests.support.command_line import harvest

HEAVY = {"asyncio", "httpx", "jinja2", "numpy", "prompt_toolkit", "pydantic", "rich", "yaml"}
PROGRAM = """
import contextlib, io, json, sys
from harvest.cli import main
with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
    try:
        main(sys.argv[1:])
    except SystemExit:
        pass
print(json.dumps(sorted(sys.modules)))
"""


@pytest.mark.parametrize(
    ("words", "environment"),
    [
        (["--help"], {}),
        (["judge", "--help"], {}),
        ([], {VARIABLE: "bash_complete", "COMP_WORDS": "harvest ", "COMP_CWORD": "1"}),
        ([], {VARIABLE: "bash_complete", "COMP_WORDS": "harvest judge ", "COMP_CWORD": "2"}),
    ],
    ids=["help", "help of a group", "completion", "completion in a group"],
)
def test_help_and_the_names_of_commands_import_none_of_the_heavy_libraries(
    words: list[str], environment: dict[str, str]
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "harvest.cli.main" in json.loads(done.stdout)
    assert HEAVY & set(json.loads(done.stdout)) == set()


AUDIT = """format: harvest-audit/1
name: late
topics: fairweb-45
protocol: fairweb-two-round
trials: 1
systems:
  - {name: mine, driver: openai, options: {base_url: "http://127.0.0.1:9/v1", model: m}}
"""


def test_scoring_and_sending_are_imported_only_when_needed(tmp_path: Path) -> None:
    audit = tmp_path / "late.audit.yaml"
    audit.write_text(AUDIT, encoding="utf-8")
    plain = {name: value for name, value in os.environ.items() if name not in ("SSL_CERT_FILE", "SSL_CERT_DIR")}
    command = [sys.executable, "-c", PROGRAM, "check", str(audit)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=plain)
    loaded = set(json.loads(done.stdout))
    assert "harvest.drivers.openai" in loaded
    assert {"aiohttp", "asyncio", "httpx._client", "numpy", "rich", "scoring.library"} & loaded == set()
    assert not [name for name in loaded if name.startswith("simulators.wrappers.")], "it has neither groups nor arms"


def test_a_run_imports_scoring_only_after_it_was_played(tmp_path: Path) -> None:
    program = "import sys, harvest.cli.run, harvest.playing.play; print({'numpy', 'scoring.library'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_scoring_imports_nothing_that_only_plays_records_or_looks_at_pages() -> None:
    program = "import json, sys, harvest.cli.score, harvest.cli.scored_runs; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    assert "scoring.library" in loaded
    assert {
        "harvest.audits.arms",
        "harvest.systems.driver",
        "recordings.log.store",
        "simulators.scripted",
    } & loaded == set()
    assert not [name for name in loaded if name.startswith(("harvest.pages.witness.", "simulators.stopping."))]


def test_scores_that_were_printed_before_need_no_measures() -> None:
    program = "import json, sys, harvest.cli.score; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert {"jinja2", "numpy", "pydantic", "scoring.library", "yaml"} & set(json.loads(done.stdout)) == set()


def test_only_a_person_at_a_terminal_waits_for_the_line_editor() -> None:
    program = "import sys, harvest.cli.users.chat; print('prompt_toolkit' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize("name", list(COMMANDS))
def test_the_summary_in_the_list_is_the_first_sentence_of_the_help(name: str) -> None:
    assert COMMANDS[name].summary.rstrip(".") in harvest(*name.split(), "--help", width=200).stdout
