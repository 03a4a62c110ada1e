"""Where a file may be written, by what is there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harvest.cli.parameters import check_output_file
from recordings.files.evidence import write_safely
from tests.support.command_line import harvest
from topics.errors import InputError


def test_an_unwritable_path_is_reported_as_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = tmp_path / "a.txt"
    there.write_text("kept")
    for path, said in (
        (there, "a.txt: this file exists already"),
        (tmp_path, "this is a folder, not a file"),
        (tmp_path / "no" / "a", "no: there is no such folder"),
        (there / "b", "a.txt: there is no such folder"),
        (tmp_path / "b", ""),
    ):
        if said:
            with pytest.raises(InputError, match=said):
                check_output_file(path)
        else:
            check_output_file(path)
    check_output_file(there, replace=True)
    with pytest.raises(InputError, match="refusing to overwrite a file that Harvest did not write"):
        check_output_file(there, replace=True, ours=lambda data: data != b"kept")
    with pytest.raises(InputError, match="a device or pipe"):
        check_output_file(Path(os.devnull), replace=True)
    monkeypatch.setattr(os, "access", lambda *_: False)  # the tests may run as root, who may write everywhere
    with pytest.raises(InputError, match=r"b: cannot be written: there is no write permission for the folder"):
        check_output_file(tmp_path / "b")


def test_force_overwrites_an_older_report_and_nothing_else(tmp_path: Path) -> None:
    page, run = tmp_path / "page.html", tmp_path / "nowhere"
    page.write_text("<title>of somebody</title>")
    done = harvest("report", run, "--out", page, "--force")
    assert (done.returncode, f"{page}: refusing to overwrite a file that Harvest did not write" in done.stderr) == (
        2,
        True,
    ), done.stderr
    page.write_text("<title>run – Harvest report</title>", encoding="utf-8")
    done = harvest("report", run, "--out", page, "--force")
    assert (done.returncode, f"{run}: there is no such" in done.stderr) == (2, True), done.stderr


def test_a_fault_of_the_disk_names_the_file_and_not_the_temporary_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as fault:
        write_safely(tmp_path / "no" / "a.txt", b"")
    assert fault.value.filename == str(tmp_path / "no" / "a.txt")
