"""Re-audits that were stopped: every dated run has a look, or the next command names it, with what goes on with it."""

from __future__ import annotations

import json
import random
import re
import shlex
import shutil
import time
from collections import Counter
from pathlib import Path

import pytest

from harvest.cli.main import main
from harvest.parrot.placebo import placebo_server
from harvest.studies.watch.dated_runs import new_dated_run
from harvest.studies.watch.history import WatchRules, read_history, whole_history
from harvest.systems.timing import REAL_CLOCK
from recordings.files.lock import Lock
from recordings.log.header import read_header
from recordings.log.run_folder import read
from tests.support.command_line import harvest
from tests.support.forked_commands import fork_command
from tests.support.watched_bot import WATCHED, becomes, bless, copied, watch

RUNS, HISTORY = Path("runs", "watched"), "audit.history.jsonl"
SMALL = WATCHED.replace("trials: 6", "trials: 2").replace(", M003, M004, M005, M006, M007, M008", "")
"""Two topics, four trials."""


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = bless(watch(tmp_path_factory.mktemp("once"), SMALL), "runs/base-0")
    assert harvest("watch", "run", "audit.yaml", cwd=folder).returncode == 0
    return folder


@pytest.fixture
def folder(once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(copied(once, tmp_path))
    return tmp_path


def reaudit(*options: str) -> str:
    """What is said on standard error."""
    done = harvest("watch", "run", "audit.yaml", *options)
    assert done.returncode in (0, 1, 3), done.stderr
    return " ".join(done.stderr.split())


def named(said: str) -> dict[str, str]:
    """By run, the command that goes on with it, of what a command said."""
    found = re.findall(
        r"note: (\S+): it was [^;]*; to continue it: harvest (watch run .*?)(?= note:| no alarm|$)", said
    )
    return dict(found)


def whats_left() -> str:
    """What a command says that plays nothing."""
    return reaudit("--if-alarm")


def stop(run: Path, lines: int) -> None:
    """Leave so many lines of the events of a run: what a command wrote that was killed then."""
    (events,) = run.glob("trials-*.jsonl")
    kept = events.read_bytes().splitlines(keepends=True)[:lines]
    events.write_bytes(b"".join(kept))
    events.with_suffix(".chain").unlink()


def the_run() -> Path:
    (run,) = (one for one in RUNS.iterdir() if one.is_dir())
    return run


def test_a_run_that_was_killed_before_its_look_is_named_with_the_command_that_judges_it(folder: Path) -> None:
    assert "note:" not in whats_left()
    Path(HISTORY).unlink()
    said = whats_left()
    assert f"{the_run()}: it was played, and not judged" in said
    assert named(said) == {str(the_run()): f"watch run audit.yaml --run {the_run()}"}
    assert harvest(*shlex.split(named(said)[str(the_run())])).returncode == 0
    assert "note:" not in whats_left()
    assert [one.run for one in read_history(HISTORY)] == [the_run().name]


@pytest.mark.parametrize("lines", [1, 2, 3, 9])
def test_a_partly_played_run_that_was_killed_is_named_with_the_command_that_resumes_it(
    folder: Path, lines: int
) -> None:
    run = the_run()
    Path(HISTORY).unlink()
    stop(run, lines)
    before = [one.key for one in read(run).finished]
    said = whats_left()
    assert named(said) == {str(run): f"watch run audit.yaml --resume {run}"}
    assert ("it was stopped before any trial was recorded" in said) == (lines == 1)
    done = harvest(*shlex.split(named(said)[str(run)]))
    assert done.returncode == 0, done.stderr
    assert "note:" not in whats_left()
    (look,) = read_history(HISTORY)
    assert (look.run, look.systems["bot"].planned, look.systems["bot"].valid) == (run.name, 4, 4)
    assert {one.key for one in read(run).finished} > set(before)


def test_a_folder_in_which_nothing_was_begun_is_resumed_too_and_a_locked_one_is_not_named(folder: Path) -> None:
    empty = new_dated_run(RUNS, REAL_CLOCK.now())
    lock = Lock(empty)
    assert "note:" not in whats_left(), "somebody is at it"
    lock.release()
    said = whats_left()
    assert named(said) == {str(empty): f"watch run audit.yaml --resume {empty}"}
    assert harvest(*shlex.split(named(said)[str(empty)])).returncode == 0
    assert "note:" not in whats_left()
    assert len(read_history(HISTORY)) == 2


def test_added_trials_without_a_judgment_are_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    history = Path(HISTORY).read_text()
    reaudit("--extend", "2")
    Path(HISTORY).write_text(history)
    said = whats_left()
    assert f"{the_run()}: it was played, and not judged since trials were added" in said
    files = {file.name for file in the_run().glob("trials-*.jsonl")}
    last = the_run() / max(files)
    last.write_bytes(b"".join(last.read_bytes().splitlines(keepends=True)[:1]))
    last.with_suffix(".chain").unlink()
    said = whats_left()
    assert "it was stopped after 4 of 8 trials, and not judged since trials were added" in said
    reaudit("--resume", str(the_run()))
    (look,) = read_history(HISTORY)
    assert look.systems["bot"].valid == 8, "as many as were begun, and not as many as the audit has"
    assert "note:" not in whats_left()


def test_an_unreadable_run_is_named_and_many_are_listed(folder: Path) -> None:
    Path(HISTORY).unlink()
    for number in range(2, 9):
        shutil.copytree(the_run_or(RUNS), RUNS / f"2026-01-01T00-00-0{number}")
    (RUNS / "2026-01-01T00-00-08" / "run.json").write_text("{")
    (RUNS / "2026-01-01T00-00-09.placebo").mkdir()
    (RUNS / "notes").mkdir()
    said = whats_left()
    assert all(f"{RUNS}/2026-01-01T00-00-0{number}" in said for number in range(2, 9))
    assert "2026-01-01T00-00-08: it was not judged, and cannot be read: " in said
    assert ("notes" in said, ".placebo" in said) == (False, False)
    assert len(named(said)) == 4


def the_run_or(runs: Path) -> Path:
    return max(runs.iterdir())


def test_commands_about_a_run_keep_the_named_files(folder: Path) -> None:
    shutil.move("audit.baseline.json", "b.json")
    said = reaudit("--if-alarm", "--baseline", "b.json", "--history", "other.jsonl")
    run = the_run()
    assert named(said)[str(run)] == f"watch run audit.yaml --run {run} --baseline b.json --history other.jsonl"
    assert harvest(*shlex.split(named(said)[str(run)])).returncode == 0
    assert [one.run for one in read_history("other.jsonl")] == [run.name]


def test_an_interrupted_reaudit_says_how_to_resume_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = {one.name for one in RUNS.iterdir()}

    def stopped(*_: object, **__: object) -> None:
        (run,) = (one for one in RUNS.iterdir() if one.name not in runs)
        shutil.copytree(the_run_of(runs), run, dirs_exist_ok=True)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("harvest.cli.playing.run_until_stopped", stopped)
        patched.setattr("harvest.cli.playing.play_audit", lambda *_, **__: None)
        with pytest.raises(SystemExit) as ended:
            main(["watch", "run", "audit.yaml"])
    assert ended.value.code == 130
    (new,) = (one for one in RUNS.iterdir() if one.name not in runs)
    said = " ".join(capsys.readouterr().err.split())
    assert said.endswith(
        f"every finished turn is saved, and this resumes it: harvest watch run audit.yaml --resume {new}"
    )


def the_run_of(names: set[str]) -> Path:
    (name,) = names
    return RUNS / name


def test_two_runs_that_begin_in_the_same_second_have_different_names(tmp_path: Path) -> None:
    now = REAL_CLOCK.now()
    made = [new_dated_run(tmp_path / "runs", now) for _ in range(3)]
    assert [one.name.removeprefix(made[0].name) for one in made] == ["", "-2", "-3"]


@pytest.mark.parametrize(
    "wrong",
    [("--resume", "runs/base-0", "--extend", "1"), ("--run", "a", "--resume", "b"), ("--resume", "b", "--if-alarm")],
)
def test_options_that_exclude_each_other_are_refused(folder: Path, wrong: tuple[str, ...]) -> None:
    done = harvest("watch", "run", "audit.yaml", *wrong)
    assert done.returncode == 2
    gone = harvest("watch", "run", "audit.yaml", "--resume", "runs/gone")
    assert (gone.returncode, "runs/gone: there is no such run" in gone.stderr) == (2, True)


def test_judging_a_run_again_uses_the_options_of_its_look_and_keeps_its_notices(folder: Path) -> None:
    becomes(folder, useful=0)
    reaudit("--matters", "0.2", "--confirm-after", "0", "--enforce")
    run = str(RUNS / read_history(HISTORY)[-1].run)
    kept = Path(HISTORY).read_text()
    said = reaudit("--run", run)
    assert "judged as before, with --matters 0.2 --looks 52 --confirm-after 0 --enforce" in said
    assert Path(HISTORY).read_text() == kept, "the same was told again"
    said = reaudit("--run", run, "--looks", "10")
    assert "judged again; the earlier verdict stays in the history, too: bot ave%useful" in said
    history = whole_history(HISTORY)
    assert Path(HISTORY).read_text().startswith(kept)
    assert (len(history.lines), len(history.looks)) == (3, 2)
    assert history.looks[-1].rules == WatchRules(matters=0.2, looks=10, apart=0, enforce=True)
    assert history.lines[-1].revises == history.lines[-2].hash
    shown = harvest("watch", "history", HISTORY)
    assert "was judged again; before: bot ave%useful" in " ".join(shown.stderr.split())
    told = json.loads(harvest("watch", "history", HISTORY, "--json").stdout)
    assert [len(one["earlier"]) for one in told["looks"]] == [0, 1]


def test_a_run_of_the_baseline_is_not_evidence(folder: Path) -> None:
    kept = Path(HISTORY).read_text()
    said = reaudit("--run", "runs/base-0")
    assert "this run is in the baseline, so it is not evidence, and no look is added to the history" in said
    assert Path(HISTORY).read_text() == kept
    shutil.copytree("runs/base-0", RUNS / "2026-01-01T00-00-00")
    assert "note:" not in whats_left(), "nor is it missed"


def test_a_look_from_the_future_is_named_and_not_extended(folder: Path) -> None:
    line = json.loads(Path(HISTORY).read_text())
    del line["hash"]
    with Path(HISTORY).open("a") as file:
        file.write(json.dumps({**line, "at": "2136-01-01T00:00:00Z", "run": "later"}) + "\n")
    said = reaudit("--extend", "1")
    assert f"{HISTORY}: the look at later is dated 2136-01-01T00:00, which is in the future" in said
    assert read(the_run()).header.created_at == line["at"]
    assert len(read(the_run()).finished) == 6


def test_a_baseline_that_is_replaced_meanwhile_is_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert harvest("run", "audit.yaml", "--out", "runs/base-1").returncode == 0
    whole = read_header

    def replaced(path: Path) -> object:
        text = Path("audit.baseline.json").read_text()
        Path("audit.baseline.json").write_text(text.replace('"blessed_by": "me"', '"blessed_by": "you"'))
        return whole(path)

    monkeypatch.setattr("recordings.log.run_folder.read_header", replaced)
    said = reaudit("--run", "runs/base-1")
    assert "audit.baseline.json was replaced meanwhile" in said
    assert "to compare it with the new one: harvest watch run audit.yaml --run runs/base-1" in said


def test_a_stopped_placebo_is_played_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with placebo_server() as system:  # any system that answers will do
        Path("audit.yaml").write_text(PLACEBO.replace("URL", system.url))
        assert harvest("run", "audit.yaml", "--out", "runs/base").returncode == 0
        assert harvest("watch", "bless", "runs/base", "--out", "audit.baseline.json").returncode == 0
        reaudit()
        (run,) = (one for one in RUNS.iterdir() if not one.name.endswith(".placebo"))
        Path(HISTORY).unlink()
        said = whats_left()
        assert named(said) == {str(run): f"watch run audit.yaml --resume {run}"}, "it is whole, but for its placebo"
        assert harvest(*shlex.split(named(said)[str(run)])).returncode == 0
        assert {one.name.removeprefix(run.name) for one in RUNS.iterdir()} == {"", ".placebo", ".placebo-2"}
        assert "note:" not in whats_left()


PLACEBO = """\
format: harvest-audit/1
name: watched
topics: fairweb-45
only: [M001, M002]
protocol: seed-turns
trials: 2
placebo: true
systems:
  - {name: api, driver: openai, options: {base_url: "URL/v1", model: m, stream: true}, concurrency: 4}
"""


SLOW = """\
import time
def answer(text, seed=0):
    time.sleep(0.05)
    return "See https://www.imdb.com/title/tt0390384/"
"""
"""An assistant without a file that a kill could tear. It never changes: an alarm would have `whats_left` play a run."""


def killed(folder: Path, after: float, *, begun: bool) -> float:
    """A re-audit that is killed so many seconds after it began, or (begun) after there was a folder for its run.
    Returns how long it took, counted likewise."""
    before = set((folder / RUNS).iterdir())
    process = fork_command(["watch", "run", "audit.yaml"], folder, folder / "said")
    while begun and process.is_alive() and set((folder / RUNS).iterdir()) == before:
        time.sleep(0.002)
    began = time.monotonic()
    process.join(timeout=after)
    process.kill()
    process.join()
    return time.monotonic() - began


@pytest.mark.parametrize("kills", [3, pytest.param(200, marks=pytest.mark.soak)])
def test_kill_9_at_random_moments_leaves_no_run_without_a_look_or_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kills: int
) -> None:
    watch(tmp_path, SMALL)
    (tmp_path / "bot.py").write_text(SLOW)
    monkeypatch.chdir(bless(tmp_path, "runs/base-0"))
    RUNS.mkdir()
    whole = killed(tmp_path, 60, begun=True)  # how long one takes here and now, once its run has a folder
    rng = random.Random(kills)
    ended = Counter[str]()
    for number in range(kills):
        before = set(RUNS.iterdir())
        begun = number % 5 > 0
        killed(tmp_path, rng.uniform(0, 1.1 * whole) + (0 if begun else whole), begun=begun)
        said, judged = named(whats_left()), {one.run for one in read_history(HISTORY)}
        new = set(RUNS.iterdir()) - before
        assert len(new) <= 1
        for one in new:
            command = said.pop(str(one), "")
            assert (one.name in judged) != bool(command), one
            ended["judged" if not command else "whole" if "--run" in command else "not whole"] += 1
            if command and number % 2:  # the others are left, and named again and again
                done = harvest(*shlex.split(command))
                assert done.returncode == 0, done.stderr
        ended["not begun"] += not new
    told, looked = whats_left(), {one.run for one in read_history(HISTORY)}
    assert [one for one in RUNS.iterdir() if one.name not in looked and str(one) not in told] == []
    assert whole_history(HISTORY).torn == ()
    print(f"{kills} kills: {dict(ended)}; {len(list(RUNS.iterdir()))} dated runs, {len(looked)} with a look")
