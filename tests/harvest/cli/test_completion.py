"""Shells complete commands, options and files with what `harvest completion` prints."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

from harvest.cli.commands import COMMANDS
from harvest.cli.completion import VARIABLE
from tests.support.command_line import harvest

BIN = Path(sys.executable).parent


def completed(*words: str) -> list[str]:
    """What bash is given for the last of `words`."""
    line = " ".join(("harvest", *words))
    with mock.patch.dict(os.environ, {VARIABLE: "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words))}):
        done = harvest()
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_commands_are_completed() -> None:
    assert completed("") == [f"plain,{name}" for name in COMMANDS if " " not in name]
    assert completed("sco") == ["plain,score"]
    assert completed("watch", "") == [f"plain,{name}" for name in COMMANDS["watch"].commands]
    assert completed("metrics", "breakdown", "ev") == ["plain,eval"]


def test_options_choices_and_files_are_completed() -> None:
    assert "plain,--measure" in completed("score", "--me")
    assert completed("init", "--driver", "com") == ["plain,command"]
    assert "plain,--author" in completed("judge", "page", "run", "--au")
    assert completed("run", "aud") == ["file,aud"]
    assert completed("score", "run") == ["file,run"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_is_printed_for_each_shell(shell: str) -> None:
    done = harvest("completion", shell)
    assert done.returncode == 0, done.stderr
    assert f"{VARIABLE}={shell}_complete" in done.stdout
    assert "harvest" in done.stdout


def test_bash_completes_with_the_script(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    script = tmp_path / "harvest.bash"
    script.write_text(harvest("completion", "bash").stdout)
    asked = f"""
        source {script}
        COMP_WORDS=(harvest rela) COMP_CWORD=1
        _harvest_completion harvest rela harvest
        echo "${{COMPREPLY[@]}}"
    """
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    done = subprocess.run([bash, "-c", asked], env=environment, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["relabel"]
