"""Which runs and histories of a folder are listed, and with which verdict."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from harvest.studies.watch.history import Look, LookFigure, LookSystem
from harvest.viewing.listing import VERDICTS, Listing, look_verdict
from recordings.log.header import make_header
from recordings.log.store import RunWriter
from tests.support.checkout import ROOT
from tests.support.histories import write_history

SAMPLE = ROOT / "recordings" / "samples" / "run-1"


def listed(folder: Path) -> Listing:
    listing = Listing(folder)
    listing.refresh()
    return listing


def copied(to: Path) -> Path:
    return Path(shutil.copytree(SAMPLE, to))


def figure(word: str, *, gated: bool = True) -> LookFigure:
    evidence = ((0.0,), (0.0,)) if gated else None
    return LookFigure(value=0.5, n=4, low=-0.1, high=0.1, evidence=evidence, verdict="cannot tell", word=word)


def look(at: str, run: str, *words: str) -> Look:
    figures = {f"figure {number}": figure(word) for number, word in enumerate(words)}
    return Look(at=at, run=run, baseline="b", systems={"A": LookSystem(planned=4, valid=4, figures=figures)})


def test_runs_are_found_in_subfolders_but_not_behind_links_or_in_hidden_folders(tmp_path: Path) -> None:
    folder = tmp_path / "all"
    for name in ("one", "weekly/two", ".hidden/three", "one/within"):
        copied(folder / name)
    copied(tmp_path / "elsewhere")
    (folder / "link").symlink_to(tmp_path / "elsewhere")
    (folder / "notes.txt").write_text("run.json")
    listing = listed(folder)
    assert sorted(one.path for one in listing.runs.values()) == ["one", "weekly/two"]
    one = next(one for one in listing.runs.values() if one.path == "weekly/two")
    header = json.loads((SAMPLE / "run.json").read_text())
    assert (one.audit, one.created_at) == (header["audit"]["name"], header["created_at"])
    assert (one.systems, one.topics) == (tuple(header["systems"]), len(header["hashes"]["topics"]))
    assert listing.name_of(one) == "two"


def test_the_folder_may_be_a_run_or_a_link_to_one(tmp_path: Path) -> None:
    copied(tmp_path / "run")
    (tmp_path / "link").symlink_to(tmp_path / "run")
    for folder in (tmp_path / "run", tmp_path / "link"):
        listing = listed(folder)
        (one,) = listing.runs.values()
        assert (one.path, listing.name_of(one)) == (".", "run")


def test_changes_are_noticed_and_keys_are_kept(tmp_path: Path) -> None:
    copied(tmp_path / "one")
    listing = listed(tmp_path)
    (key,) = listing.runs
    assert not listing.is_stale()
    assert listing.refresh() == set()
    RunWriter.create(tmp_path / "sub" / "two", make_header(audit=None, protocol=None, topics=None, systems={}))
    assert listing.is_stale()
    (new,) = listing.refresh()
    assert listing.runs[new].path == "sub/two"
    assert key in listing.runs
    shutil.rmtree(tmp_path / "one")
    assert listing.is_stale()
    assert listing.refresh() == {key}
    assert set(listing.runs) == {new}


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff", b'{"created_at": 7}', b'{"format": "harvest-run/9"}'])
def test_an_unreadable_header_is_listed_with_its_fault(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_bytes(data)
    (one,) = listed(tmp_path).runs.values()
    assert one.fault


def test_a_header_that_is_a_pipe_or_a_link_blocks_nobody(tmp_path: Path) -> None:
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "run.json")
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "run.json").symlink_to(SAMPLE / "run.json")
    assert all(one.fault for one in listed(tmp_path).runs.values())


def test_the_verdict_of_a_run_is_that_of_its_look(tmp_path: Path) -> None:
    copied(tmp_path / "runs" / "first")
    copied(tmp_path / "runs" / "second")
    at = json.loads((SAMPLE / "run.json").read_text())["created_at"]
    history = tmp_path / "audit.history.jsonl"
    write_history(
        history, [look(at, "first", "same", "fell"), look("2025-01-01T00:00:00.000000+00:00", "second", "same")]
    )
    listing = listed(tmp_path)
    (one,) = listing.histories.values()
    assert (one.path, one.baseline, len(one.looks)) == ("audit.history.jsonl", "", 2)
    watched = {listing.runs[key].path: look_verdict(found) for key, (_, found) in listing.watched().items()}
    assert watched == {"runs/first": "fell"}, "the second look is at another run of that name"
    (tmp_path / "audit.baseline.json").write_text("{}")
    write_history(history, [look(at, "second", "changed")])
    assert listing.is_stale()
    listing.refresh()
    (one,) = listing.histories.values()
    assert (one.baseline, len(one.looks)) == ("audit.baseline.json", 2), "both looks are at runs begun at once"


def test_a_changed_history_is_listed_with_its_fault(tmp_path: Path) -> None:
    (tmp_path / "a.history.jsonl").write_text('{"no": "look"}\n')
    (one,) = listed(tmp_path).histories.values()
    assert one.fault


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        (["same", "back"], "back"),
        (["same", "cannot tell"], "cannot tell"),
        (["rose", "changed", "alarm"], "changed"),
        ([], "could not be measured"),
    ],
)
def test_the_most_serious_verdict_counts(words: list[str], verdict: str) -> None:
    assert look_verdict(look("2026-01-01T00:00:00.000000+00:00", "r", *words)) == verdict
    assert verdict in VERDICTS


def test_a_figure_that_is_not_gated_gives_no_verdict() -> None:
    free = LookSystem(planned=1, valid=1, figures={"a": figure("changed", gated=False), "b": figure("same")})
    assert look_verdict(Look(at="2026-01-01", run="r", baseline="b", systems={"A": free})) == "same"
