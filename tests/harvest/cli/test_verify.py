"""`harvest data verify`: recordings, figures and reports that were changed are told, with the place."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harvest.cli.main import main
from harvest.studies.scores.rescored import rescored
from tests.support.reported import copied_run

Told = tuple[int, str]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("verify")
    copied_run(folder / "played").rename(folder / "small")
    with pytest.raises(SystemExit):
        main(["report", str(folder / "small"), "--out", str(folder / "report.html")])
    with pytest.raises(SystemExit):
        main(["score", str(folder / "small"), "--keep", "-m", "CVaR(R, beta=0.5)"])
    return folder


@pytest.fixture
def here(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy that was moved, in which nothing of the first one can be found."""
    moved = Path(shutil.copytree(made, tmp_path / "moved"))
    page = moved / "report.html"
    page.write_text(page.read_text(encoding="utf-8").replace(str(made), "/nowhere"), encoding="utf-8")
    monkeypatch.chdir(moved)
    return moved


def verify(capsys: pytest.CaptureFixture[str], *words: str) -> Told:
    with pytest.raises(SystemExit) as done:
        main(["data", "verify", *words])
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    return int(done.value.code or 0), " ".join((printed.out + printed.err).split())


def test_an_unchanged_run_is_verified_even_after_it_was_moved(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = verify(capsys, "small", "report.html")
    assert (code, told.count("verified: ")) == (0, 2), told
    assert "figures computed again" in told
    assert "they can write a new chain" in told


def test_the_hash_of_a_recording_is_compared(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["data", "verify", "small", "--json"])
    (found,) = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "verified"
    assert verify(capsys, "small", "--hash", found["recording"].upper())[0] == 0
    code, told = verify(capsys, "small", "--hash", "0" * 32)
    assert (code, f"the hash of the recording is {found['recording']}, not 0000" in told) == (1, True)


def test_a_changed_figure_is_named(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = here / "small" / "scores.json"
    scores = json.loads(file.read_text())
    row = next(one for one in scores["rows"] if {one["topic"], one["topic_type"], one["trial"]} == {None})
    row["value"] += 1e-12
    file.write_text(json.dumps(scores))
    code, told = verify(capsys, "small")
    assert code == 1
    assert (
        f"scores.json: CVaR(R, beta=0.5), {row['system']}: value is {row['value']!r}, and the recording gives" in told
    )


@pytest.mark.parametrize("asked", ["CVaR(R, beta=0.5)", "R"])
def test_removed_figures_are_reported_as_missing(here: Path, capsys: pytest.CaptureFixture[str], asked: str) -> None:
    with pytest.raises(SystemExit):
        main(["score", str(here / "small"), "--keep", "-m", asked])
    file = here / "small" / "scores.json"
    scores = json.loads(file.read_text())
    rows = scores["rows"]
    for gone in (rows[:1], rows[-2:], rows):
        file.write_text(json.dumps({**scores, "rows": [row for row in rows if row not in gone]}))
        (said,) = rescored(here / "small")
        assert said.startswith(f"{len(gone)} figure{'s' * (len(gone) > 1)} that the recording gives")
    code, told = verify(capsys, "small")
    assert (code, "scores.json: " in told) == (1, True)


def test_missing_rows_are_found_in_scores_of_an_earlier_version(here: Path) -> None:
    file = here / "small" / "scores.json"
    scores = json.loads(file.read_text())
    del scores["asked"]
    file.write_text(json.dumps(scores))
    assert not list(rescored(here / "small"))
    file.write_text(json.dumps({**scores, "rows": scores["rows"][1:]}))
    (said,) = rescored(here / "small")
    assert said.startswith("1 figure that the recording gives is not in it: CVaR(R, beta=0.5), A")


def test_a_removed_or_changed_note_is_reported(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for layer in (here / "small" / "judgments").glob("*.jsonl"):
        layer.unlink()
    with pytest.raises(SystemExit):
        main(["score", str(here / "small"), "--keep"])
    capsys.readouterr()
    file = here / "small" / "scores.json"
    kept = file.read_text()
    scores = json.loads(kept)
    assert scores["notes"]
    assert not list(rescored(here / "small"))
    for notes in ([], [f"{scores['notes'][0]} Not so.", *scores["notes"][1:]], None):
        file.write_text(json.dumps({**scores, "notes": notes}))
        assert any(said.startswith("a note that the recording gives") for said in rescored(here / "small"))
    file.write_text(json.dumps({**scores, "notes": [*scores["notes"], "Nothing is missing."]}))
    assert list(rescored(here / "small")) == ["a note in it is not what the recording gives: Nothing is missing."]


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (lambda scores: {**scores, "verdict": "A is better"}, 1, "'verdict' is nothing that Harvest writes there"),
        (lambda scores: {**scores, "format": "harvest-scores/0"}, 1, "its format is 'harvest-scores/0'"),
        (lambda scores: {**scores, "selection": {"lost_after_an_answer": {"A": 3}}}, 1, "what lost attempts come to"),
        (
            lambda scores: {
                **{key: value for key, value in scores.items() if key != "asked"},
                "rows": [row for row in scores["rows"] if row["measure"] != "R"],
            },
            0,
            "it does not record which figures were requested",
        ),
    ],
)
def test_additions_to_the_head_of_scores_are_found(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    change: Callable[[dict[str, Any]], dict[str, Any]],
    code: int,
    said: str,
) -> None:
    file = here / "small" / "scores.json"
    file.write_text(json.dumps(change(json.loads(file.read_text()))))
    found, told = verify(capsys, "small")
    assert (found, said in told, "verified in part: small" in told) == (code, True, not code), told


def test_a_repeated_key_in_a_score_is_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = here / "small" / "scores.json"
    file.write_text(file.read_text().replace('"value":', '"value":0.123,"value":', 1))
    code, told = verify(capsys, "small")
    assert (code, "row 1 has the key 'value' twice" in told) == (3, True), told


def test_figures_whose_intervals_have_the_earlier_name_match_the_recording(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["score", str(here / "small"), "--keep"])
    capsys.readouterr()
    file = here / "small" / "scores.json"
    today, then = "Gaffke-type interval with an unseen", "Bayesian bootstrap with an unseen"
    kept = file.read_text()
    assert today in kept
    file.write_text(kept.replace(today, then))
    assert verify(capsys, "small")[0] == 0
    file.write_text(kept.replace(today, "a bootstrap with an unseen"))
    assert verify(capsys, "small")[0] == 1


def test_a_changed_report_says_where(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = here / "report.html"
    text = page.read_text(encoding="utf-8")
    place = text.index('class="found">') + 14
    page.write_text(text[:place] + "B" + text[place + 1 :], encoding="utf-8")
    code, told = verify(capsys, "report.html")
    assert code == 1
    assert f"report.html:{text[:place].count(chr(10)) + 1}: column" in told


def test_a_run_that_was_judged_after_its_report_was_made_is_named(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = here / "report.html"
    page.write_text(page.read_text(encoding="utf-8").replace("%useful", "%usefull"), encoding="utf-8")
    past = page.stat().st_mtime - 1000
    (layer,) = (here / "small" / "judgments").glob("*.jsonl")
    os.utime(layer, (past, past))
    assert "judgments newer" not in verify(capsys, "report.html")[1]
    os.utime(page, (past - 1, past - 1))
    code, told = verify(capsys, "report.html")
    assert (code, "small: has judgments newer than the report" in told) == (1, True), told


def test_a_changed_recording_is_not_the_one_that_a_report_was_made_from(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (events,) = (here / "small").glob("trials-*.jsonl")
    data = events.read_bytes()
    events.write_bytes(data.replace(b'"label":"o"', b'"label":"x"', 1))
    line = data[: data.index(b'"label":"o"')].count(b"\n") + 1
    code, told = verify(capsys, "small", "report.html")
    assert code == 1
    assert f"{events.name}:{line}: this line was changed" in told
    assert "recorded into, or changed, since the report was made" in told


@pytest.mark.parametrize("scored", [True, False])
def test_a_run_that_no_command_can_read_is_not_verified(
    here: Path, capsys: pytest.CaptureFixture[str], scored: bool
) -> None:
    """A program that synchronises folders may leave a second copy of a file in one."""
    (events,) = (here / "small").glob("trials-*.jsonl")
    shutil.copy(events, events.with_name(f"{events.stem} (1).jsonl"))
    if not scored:
        (here / "small" / "scores.json").unlink()
    code, told = verify(capsys, "small")
    assert (code, "not verified: small" in told) == (3, True), told
    assert "note: it cannot be read: small/" in told
    assert "begins again" in told


def test_a_missing_run_leaves_the_report_unverified(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "small").rename(here / "other")
    code, told = verify(capsys, "report.html")
    assert (code, "not verified" in told, "the run is not there" in told) == (3, True, True)


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["."], "this is not a run folder: it has no run.json do: name one of the runs in it (1), such as small"),
        (
            ["nothing"],
            "nothing: cannot be read: No such file or directory do: check the path; relative",
        ),
        (["binary"], "binary: a report must be UTF-8 text do: name a run folder, or a page"),
        (["small", "--hash", ""], "--hash '' is not a hash"),
        (["small", "--hash", "zzz"], "--hash 'zzz' is not a hash"),
        (["small/run.json"], "does not record the runs from which it was made"),
        (["small", "report.html", "--hash", "0"], "--hash can only be used with a single run"),
        (["report.html", "--hash", "0"], "--hash can only be used with a single run"),
    ],
)
def test_a_file_that_is_neither_is_refused(
    here: Path, capsys: pytest.CaptureFixture[str], words: list[str], what: str
) -> None:
    (here / "binary").write_bytes(b"\xff")
    code, told = verify(capsys, *words)
    assert (code, what in told) == (2, True), told


@pytest.mark.parametrize("changed", [{"runs": []}, {"software": ["a"]}, {"software": 1.5}, {"measures": True}])
def test_a_report_with_a_false_record_of_its_sources_is_refused(
    here: Path, capsys: pytest.CaptureFixture[str], changed: dict[str, object]
) -> None:
    page = (here / "report.html").read_text()
    before, opening, rest = page.partition('id="from">')
    said, closing, after = rest.partition("</script>")
    (here / "report.html").write_text(f"{before}{opening}{json.dumps({**json.loads(said), **changed})}{closing}{after}")
    code, told = verify(capsys, "report.html")
    assert (code, "does not record the runs from which it was made" in told) == (2, True), told


def test_a_pipe_does_not_block_verification(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(here / "pipe.html")
    code, told = verify(capsys, "pipe.html")
    assert (code, "pipe.html: cannot be read: this is a pipe, not a file" in told) == (2, True), told


def test_files_without_scores_are_reported(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "small" / "scores.json").write_text("[]")
    code, told = verify(capsys, "small")
    assert (code, "figures could not be computed again" in told) == (3, True), told
    (here / "small" / "scores.json").write_text("{")
    code, told = verify(capsys, "small")
    assert (code, "\u240a" in told, "do: harvest score small --keep writes it again" in told) == (3, False, True), told


@pytest.mark.parametrize("kind", ["pipe", "link", "folder"])
@pytest.mark.parametrize(
    "place", ["run.json", "inventory.jsonl", "trials-000001.jsonl", "trials-000001.chain", "judgments/*", "judgments"]
)
def test_special_files_are_neither_read_nor_waited_for(
    here: Path, capsys: pytest.CaptureFixture[str], place: str, kind: str
) -> None:
    (path,) = (here / "small").glob(place)
    if (kind, path.is_dir()) == ("folder", True):
        return
    path.rename(here / "aside")
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to(here / "aside")
    else:
        path.mkdir()
    code, told = verify(capsys, "small")
    if place == "run.json" and kind != "link":
        assert (code, "run.json: it is gone" in told) == (3, True), told
    elif (place, kind) == ("judgments", "pipe"):
        assert (code, "it was added to this run and is now missing" in told) == (3, True), told
    else:
        assert (code, f"this is a {kind}, not a file, so it was not read" in told) == (3, True), told


@pytest.mark.parametrize("left", [b"\0" * 600, b"x", b'{"format": "harvest-inventory/1", "held": {', b""])
def test_an_inventory_without_a_valid_line_counts_as_missing(
    here: Path, capsys: pytest.CaptureFixture[str], left: bytes
) -> None:
    (here / "small" / "inventory.jsonl").write_bytes(left)
    shutil.rmtree(here / "small" / "judgments")
    code, told = verify(capsys, "small")
    assert (code, "inventory.jsonl: it is missing" in told) == (3, True), told


def test_one_writer_that_was_stopped_explains_one_missing_item(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is missing at the end of the inventory is a stop, or a cut, by how much of it there is."""
    file = here / "small" / "inventory.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    verdicts = {}
    for kept in range(1, len(lines)):
        file.write_bytes(b"".join(lines[:kept]))
        verdicts[kept] = verify(capsys, "small")
    last = len(lines) - 1
    assert (verdicts[last][0], "its writer was stopped at that moment" in verdicts[last][1]) == (0, True), verdicts[
        last
    ]
    for kept in range(1, last):
        code, told = verdicts[kept]
        assert (
            code,
            "they were removed, or the files were added by hand; other missing files cannot be detected" in told,
        ) == (
            3,
            True,
        ), told


@pytest.mark.parametrize("gone", ["trials-*", "trials-*.jsonl", "judgments/*", "run.json"])
def test_missing_items_are_reported_once(here: Path, capsys: pytest.CaptureFixture[str], gone: str) -> None:
    files = sorted((here / "small").glob(gone))
    for file in files:
        file.unlink()
    code, told = verify(capsys, "small")
    assert (code, told.startswith("not verified: small")) == (3, True), told
    named = files[-1].relative_to(here / "small").with_suffix(files[-1].suffix.replace("chain", "jsonl"))
    assert told.count(f"{named}: it ") == 1, told
    assert ("figures were not computed again, without" in told) == (gone != "run.json"), told
    assert "no file of events is here" not in told, told


def test_a_copied_report_is_checked_against_its_copied_runs(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = Path(shutil.copytree(made / "small", tmp_path / "copy" / "small"))  # the first one is still there
    shutil.copy(made / "report.html", copy.parent)
    monkeypatch.chdir(copy.parent)
    assert verify(capsys, "report.html")[0] == 0
    (events,) = copy.glob("trials-*.jsonl")
    events.write_bytes(events.read_bytes().replace(b'"label":"o"', b'"label":"x"', 1))
    code, told = verify(capsys, "report.html")
    assert (code, "recorded into, or changed, since the report was made" in told) == (1, True), told


def test_a_report_in_its_run_is_verified_from_wherever_the_copy_is_seen(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Path(shutil.copytree(made / "small", tmp_path / "run"))
    with pytest.raises(SystemExit):
        main(["report", str(run), "--out", str(run / "report.html")])
    copy = Path(shutil.copytree(run, tmp_path / "dr"))
    for folder, page in ((tmp_path, "dr/report.html"), (copy, "report.html"), (tmp_path, str(copy / "report.html"))):
        monkeypatch.chdir(folder)
        code, told = verify(capsys, page)
        assert code == 0, told


def test_measures_that_a_package_adds_later_are_named_and_are_not_a_difference_of_the_recording(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harvest.report.remaking.unasked_plug_ins", lambda: ("MINE",))
    assert verify(capsys, "report.html")[0] == 0, "it shows nothing of them"
    page = here / "report.html"
    page.write_text(page.read_text(encoding="utf-8").replace("Distributions", "Spread", 1), encoding="utf-8")
    code, told = verify(capsys, "report.html")
    assert (code, "made with other measures of installed packages: now there is also MINE" in told) == (3, True), told


def test_added_doubled_or_moved_rows_are_reported_or_found(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = here / "small" / "scores.json"
    scores = json.loads(file.read_text())
    rows = scores["rows"]
    file.write_text(json.dumps({**scores, "rows": rows[::-1]}))
    assert verify(capsys, "small")[0] == 0
    file.write_text(json.dumps({**scores, "rows": [*rows, rows[3]]}))
    code, told = verify(capsys, "small")
    assert (code, "the recording gives no such figure" in told) == (1, True), told
    file.write_text(json.dumps({**scores, "rows": [*rows, {**rows[3], "topic": ["M001"]}]}))
    code, told = verify(capsys, "small")
    assert (code, "the recording gives no such figure" in told) == (1, True), told
    file.write_text(json.dumps({**scores, "rows": [*rows, 7]}))
    code, told = verify(capsys, "small")
    assert (code, f"row {len(rows) + 1} is not a score" in told) == (3, True), told


def test_an_ambiguous_name_hides_no_change(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run in `8` whose folder is called `9` now: 83.3% and 93.3% would be the same."""
    (here / "small").rename(here / "8")
    assert main_code("report", "8", "--out", "8/report.html") == 0
    (here / "8").rename(here / "9")
    page = here / "9" / "report.html"
    changed = page.read_text(encoding="utf-8").replace("8", "9", 1)
    page.write_text(changed, encoding="utf-8")
    capsys.readouterr()
    assert main_code("data", "verify", "9/report.html") == 1
    assert "so short a name may mean something else" in " ".join(capsys.readouterr().out.split())


def main_code(*words: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(list(words))
    return int(stop.value.code or 0)
