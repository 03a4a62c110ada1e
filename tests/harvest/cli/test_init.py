"""`harvest init` writes an audit that is taken as it is."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from harvest.audits.audit import load_audit
from harvest.audits.starter_files import starter_drivers
from harvest.cli.init import write_files
from harvest.drivers.recipe import read_recipe
from harvest.drivers.registry import DRIVERS, recipe_names
from tests.support.command_line import harvest
from topics.errors import InputError


def ended(*arguments: object, code: int = 0) -> CompletedProcess[str]:
    done = harvest(*arguments)
    assert done.returncode == code, done.stderr
    return done


def test_starter_files_use_drivers_that_reach_a_users_own_system() -> None:
    assert {"browser", "command", "http", "openai", "python"} <= set(starter_drivers())
    assert set(recipe_names()) < set(starter_drivers()) <= {*DRIVERS, *recipe_names()}


def test_the_drivers_are_listed_with_what_they_reach(tmp_path: Path) -> None:
    done = harvest("init", "--list", cwd=tmp_path, width=100)
    assert done.returncode == 0, done.stderr
    listed = [line.split()[0] for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert listed == list(starter_drivers())
    assert f"{read_recipe('anthropic').file.about} (docs/doors.md)" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("driver", starter_drivers())
def test_the_audit_that_init_writes_is_accepted_unchanged(
    tmp_path: Path, driver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for option in read_recipe(driver).options.values() if driver in recipe_names() else ():
        if option.type == "variable" and option.default:
            monkeypatch.setenv(option.default, "key")
    ended("init", tmp_path / "new", "--driver", driver)
    audit = load_audit(str(tmp_path / "new" / "audit.yaml"))
    assert [system.driver for system in audit.systems] == [driver]
    assert audit.protocol.name == "first-protocol"
    assert len(audit.topics.topics) == 2
    written = [file for file in (tmp_path / "new").iterdir() if file.name != "__pycache__"]  # kept of bot.py by Python
    assert all(len(line) <= 120 for file in written for line in file.read_text().splitlines())


@pytest.mark.parametrize("driver", ["command", "python"])
def test_an_audit_of_a_program_can_be_played_at_once(tmp_path: Path, driver: str) -> None:
    ended("init", tmp_path, "--driver", driver)
    ended("run", tmp_path / "audit.yaml", "--out", tmp_path / "run", "--trials", 1)
    assert "http" in ended("show", tmp_path / "run", "--system", "mine", "--topic", "T1", "--trial", 1).stdout


def test_no_existing_file_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "topics.yaml").write_text("mine")
    said = ended("init", tmp_path, code=2).stderr
    assert "topics.yaml exists already" in said
    assert [file.name for file in tmp_path.iterdir()] == ["topics.yaml"]
    assert (tmp_path / "topics.yaml").read_text() == "mine"


@pytest.mark.parametrize("name", ["", " ", "\n"])
def test_an_empty_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    assert "is not the name of a folder" in ended("init", name, code=2).stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a\x07b", "a\nb", "a\x1b[31mb", os.fsdecode(b"a\xff")])
def test_a_name_that_a_terminal_would_not_show_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    said = ended("init", name, code=2).stderr
    assert "contains a control character" in said
    assert said.replace("\n", "").isprintable()
    assert list(tmp_path.iterdir()) == []


def test_the_printed_command_works_with_a_name_that_begins_with_a_dash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = ended("init", "--", "-x").stderr
    told = shlex.split(said.splitlines()[-1].partition("then: ")[2])
    assert told[0] == "harvest"
    ended(*told[1:])


@pytest.mark.parametrize("inner", [".", "evidence", "evidence/new", "judgments/.."])
def test_nothing_is_written_into_a_run(tmp_path: Path, inner: str) -> None:
    (tmp_path / "run" / "evidence").mkdir(parents=True)
    (tmp_path / "run" / "judgments").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}")
    before = sorted(tmp_path.rglob("*"))
    said = ended("init", tmp_path / "run" / inner, code=2).stderr
    assert f"this path is inside the run folder {tmp_path / 'run'}" in said
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("name", ["file", "file/folder"])
def test_a_file_in_place_of_a_folder_is_one_message(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("mine")
    said = ended("init", tmp_path / name, code=2).stderr
    assert said.count("\n") == 2
    assert "name another folder" in said


def test_a_file_that_another_process_writes_meanwhile_is_not_overwritten_and_nothing_of_ours_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = Path.open

    def beside(path: Path, mode: str = "r", **options: str) -> object:
        if path.name == "topics.yaml":
            path.symlink_to(tmp_path / "theirs")
        return opened(path, mode, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", beside)
    with pytest.raises(InputError, match=r"topics.yaml exists already"):
        write_files(tmp_path, {"audit.yaml": "ours", "topics.yaml": "ours", "protocol.yaml": "ours"})
    monkeypatch.undo()
    assert [file.name for file in tmp_path.iterdir()] == ["topics.yaml"]


def test_a_dangling_link_counts_as_existing(tmp_path: Path) -> None:
    (tmp_path / "protocol.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    assert "protocol.yaml exists already" in ended("init", tmp_path, code=2).stderr
    assert [file.name for file in tmp_path.iterdir()] == ["protocol.yaml"]


def test_an_unknown_driver_is_answered_with_the_known_ones(tmp_path: Path) -> None:
    said = ended("init", tmp_path, "--driver", "opnai", code=2).stderr
    assert all(name in said for name in starter_drivers())
