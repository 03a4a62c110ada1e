"""Shells complete commands, options and files with what `harvest completion` prints."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harvest.cli.completion import VARIABLE
from harvest.cli.main import COMMANDS

BIN = Path(sys.executable).parent


def printed(shell: str) -> str:
    command: list[str | Path] = [BIN / "harvest", "completion", shell]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def completed(*words: str) -> list[str]:
    """What bash is given for the last of `words`."""
    line = " ".join(("harvest", *words))
    environment = {**os.environ, VARIABLE: "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words))}
    done = subprocess.run(
        [sys.executable, "-m", "harvest"], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_commands_are_completed_with_no_import_of_them() -> None:
    assert completed("") == [f"plain,{name}" for name in COMMANDS]
    assert completed("sco") == ["plain,score"]


def test_options_choices_and_files_are_completed() -> None:
    assert "plain,--measure" in completed("score", "--me")
    assert completed("init", "--driver", "co") == ["plain,command"]
    assert completed("run", "aud") == ["file,aud"]
    assert completed("score", "run") == ["file,run"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_is_printed_for_each_shell(shell: str) -> None:
    done = subprocess.run(
        [BIN / "harvest", "completion", shell], capture_output=True, text=True, check=True, timeout=60
    )
    assert f"{VARIABLE}={shell}_complete" in done.stdout
    assert "harvest" in done.stdout


def test_bash_completes_with_the_script(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    script = tmp_path / "harvest.bash"
    done = subprocess.run(
        [BIN / "harvest", "completion", "bash"], capture_output=True, text=True, check=True, timeout=60
    )
    script.write_text(done.stdout)
    asked = f"""
        source {script}
        COMP_WORDS=(harvest repl) COMP_CWORD=1
        _harvest_completion harvest repl harvest
        echo "${{COMPREPLY[@]}}"
    """
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    done = subprocess.run([bash, "-c", asked], env=environment, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["replay-routes"]
