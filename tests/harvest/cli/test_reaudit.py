"""A watched audit from the command line: blessed, the same, worse, down, and back."""

from __future__ import annotations

import errno
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from harvest.cli.main import main
from harvest.drivers.completions import Completion
from harvest.parrot.placebo import placebo_server
from harvest.report.document import make_report
from harvest.studies.watch.history import WatchRules, read_history
from protocols.answer import Answer
from recordings.files.errors import StoreError
from recordings.files.shared_file import SharedFile
from recordings.log.run_folder import read
from tests.support.command_line import harvest
from tests.support.watched_bot import WATCHED, becomes, bless, copied, watch


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return watch(tmp_path)


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bless(watch(tmp_path_factory.mktemp("once")), "runs/base-0")


@pytest.fixture
def blessed_once(once: Path, tmp_path: Path) -> Path:
    return copied(once, tmp_path)


@pytest.fixture(scope="module")
def four_times(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bless(watch(tmp_path_factory.mktemp("four")), *(f"runs/base-{number}" for number in range(4)))


@pytest.fixture
def blessed(four_times: Path, tmp_path: Path) -> Path:
    """Four times: fewer only make a shadow."""
    return copied(four_times, tmp_path)


def reaudit(folder: Path, *options: str) -> tuple[int, dict[str, Any], str]:
    done = harvest("watch", "run", "audit.yaml", "--json", "--confirm-after", "0", *options, cwd=folder)
    return done.returncode, json.loads(done.stdout) if done.stdout else {}, done.stderr


def test_the_story_of_a_watched_assistant(blessed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = (blessed / "audit.baseline.json").read_text()
    assert "imdb" not in text.lower()
    assert "Please" not in text

    code, found, said = reaudit(blessed)
    assert (code, found["verdict"] != "changed") == (0, True), said
    assert re.search(r"^recorded in runs/[^/]+/20[-0-9]+T[-0-9]+$", said, re.MULTILINE), (
        "where a report of it can be made"
    )

    becomes(blessed, useful=10)
    verdicts, states = [], []
    for _ in range(4):
        code, found, said = reaudit(blessed)
        verdicts.append((code, found["verdict"]))
        states.append(verdict_of(found))
    assert verdicts[-1] == (1, "changed"), said
    assert verdicts[0][0] == 0, "one audit alone is never enough"
    assert len(found["systems"]) == 1
    changed = {row["figure"] for row in found["long"]}
    assert {"difference of a topic", "branch now"} <= changed
    assert "changed by -" in said
    assert all(len(line) <= 80 for line in said.splitlines())

    becomes(blessed, down=True)
    code, found, said = reaudit(blessed)
    assert code == 3
    assert "could not be measured" in said

    becomes(blessed, useful=90)
    code, found, said = reaudit(blessed)
    assert len(list((blessed / "runs" / "watched").iterdir())) == 7
    shown = harvest("watch", "history", "audit.history.jsonl", cwd=blessed)
    assert shown.returncode == 0
    assert shown.stdout.count("not measured") == 1
    told = json.loads(harvest("watch", "history", "audit.history.jsonl", "--json", cwd=blessed).stdout)
    assert (told["format"], len(told["looks"])) == ("harvest-history/2", 7)
    values = [row for row in told["long"] if (row["measure"], row["figure"]) == ("ave%useful", "value")]
    assert [row["run"] for row in values] == [one["run"] for one in told["looks"] if one["systems"]["bot"]["figures"]]

    looks = read_history(blessed / "audit.history.jsonl")
    assert {one.rules for one in looks} == {WatchRules(apart=0)}
    reports = [reported(blessed, look.run) for look in looks]
    assert reports[1:] == [*states, "nothing", verdict_of(found)]
    assert reports[4] == "changed", "without the history's own rules, no audit within the hour confirms"

    assert verdict_of(found) in ("perhaps back", "cannot tell"), "no alarm that its interval denies"
    words = [verdict_of(found)]
    while words[-1] != "back":
        assert len(words) < 4
        code, found, said = reaudit(blessed)
        assert code == 0, said
        words.append(verdict_of(found))
    assert "is back near the baseline" in said
    assert reported(blessed, read_history(blessed / "audit.history.jsonl")[-1].run) == "back"


def verdict_of(found: dict[str, Any]) -> str:
    """What `harvest watch run` printed of its one system, as a report calls it."""
    (system,) = found["systems"]
    (gated,) = [one for one in system["figures"] if one["gated"]]
    return str(gated["word"])


def rows_of(found: dict[str, Any], figure: str) -> dict[str, dict[str, Any]]:
    """The rows of a watched figure, by what each is."""
    return {row["figure"]: row for row in found["long"] if row["measure"] == figure}


def reported(folder: Path, run: str) -> str:
    """The verdict of a report of a dated run."""
    baseline, history = folder / "audit.baseline.json", folder / "audit.history.jsonl"
    made = make_report([read(folder / "runs" / "watched" / run)], beside=folder, baseline=baseline, history=history)
    return str(made.document["finding"]["verdict"])


def test_a_shadow_run_changes_no_exit_code_and_more_trials_extend_the_last_run(blessed_once: Path) -> None:
    becomes(blessed_once, useful=5)
    codes = [reaudit(blessed_once)[0] for _ in range(3)]
    assert codes == [0, 0, 0]
    code, found, said = reaudit(blessed_once, "--extend", "2")
    assert found["look"] == 3
    assert "shadow" in said
    last = sorted((blessed_once / "runs" / "watched").iterdir())[-1]
    assert max(one.key.trial for one in read(last).finished) == 8
    code, found, _ = reaudit(blessed_once, "--enforce")
    assert (code, found["verdict"]) == (1, "changed")


def test_an_alarm_is_confirmed_at_another_hour_and_without_an_alarm_nothing_is_played(blessed: Path) -> None:
    def if_alarm(apart: int = 0) -> tuple[int, str]:
        done = harvest("watch", "run", "audit.yaml", "--if-alarm", "--confirm-after", str(apart), cwd=blessed)
        return done.returncode, done.stderr

    code, said = if_alarm()
    assert (code, "no alarm and no fall waits to be confirmed, so nothing is played" in said) == (0, True)
    assert not (blessed / "runs" / "watched").exists()
    becomes(blessed, useful=10)
    alarms: list[bool] = []
    while not any(alarms):
        assert len(alarms) < 4
        _, found, _ = reaudit(blessed)
        (system,) = found["systems"]
        alarms = [*alarms, any(one["alarm"] for one in system["figures"])]
    code, said = if_alarm(3600)
    assert code == 0
    soon = r"too soon: what waits can be confirmed by an audit from .* UTC on, so nothing is played"
    assert re.search(soon, " ".join(said.split()))
    becomes(blessed, useful=10, down=True)
    assert if_alarm()[0] == 3
    becomes(blessed, useful=10)
    assert if_alarm()[0] == 1, "an audit that measured nothing leaves the alarm as it was"
    assert if_alarm()[0] == 0
    wrong = harvest("watch", "run", "audit.yaml", "--if-alarm", "--extend", "2", cwd=blessed)
    assert (wrong.returncode, "--if-alarm cannot be combined" in wrong.stderr) == (2, True)


def test_looks_at_one_run_share_the_error_of_calling_it_the_same(blessed: Path) -> None:
    def left(*options: str) -> tuple[str, float]:
        _, found, _ = reaudit(blessed, "--matters", "0.3", *options)
        (gated,) = [one for one in found["systems"][0]["figures"] if one["gated"]]
        return gated["verdict"], rows_of(found, gated["figure"])["chance left of a wrong same"]["estimate"]

    verdict, first = left()
    assert verdict == "same"
    assert first == pytest.approx(0.015, abs=1e-4)
    (run,) = (blessed / "runs" / "watched").iterdir()
    assert left("--run", str(run.relative_to(blessed)))[1] == pytest.approx(0.015, abs=1e-4), "the same look"
    verdict, once = left("--extend", "1")
    assert (verdict, once < 0.006) == ("same", True)
    assert left("--extend", "1")[1] < once
    assert len(read_history(blessed / "audit.history.jsonl")) == 1


def test_a_baseline_of_one_run_has_no_interval_and_is_never_called_the_same(blessed_once: Path) -> None:
    code, found, said = reaudit(blessed_once, "--matters", "0.5")
    (gated,) = [one for one in found["systems"][0]["figures"] if one["gated"]]
    rows = rows_of(found, gated["figure"])
    difference, these = rows["difference"], rows["difference between these runs"]
    assert (code, gated["verdict"], difference["low"], difference["high"]) == (0, "cannot tell", None, None)
    assert gated["no_interval_because"] == "one blessed run does not show how much audits differ by themselves"
    assert these["low"] <= difference["estimate"] <= these["high"]
    assert "between these runs" in " ".join(said.split())
    shown = harvest("watch", "history", "audit.history.jsonl", cwd=blessed_once).stdout
    assert "]°" in shown
    assert "°: of these runs, since the baseline has fewer than 4" in shown


def test_a_run_that_is_judged_twice_is_one_look(blessed_once: Path) -> None:
    assert harvest("run", "audit.yaml", "--out", "runs/other", cwd=blessed_once).returncode == 0
    code, first, _ = reaudit(blessed_once, "--run", "runs/other")
    code, second, _ = reaudit(blessed_once, "--run", "runs/other")
    assert (code, first["look"], second["look"]) == (0, 1, 1)
    assert len((blessed_once / "audit.history.jsonl").read_text().splitlines()) == 1
    wrong = harvest("watch", "history", "audit.history.jsonl", "-m", "nonsense", cwd=blessed_once)
    assert (wrong.returncode, "no figure is called 'nonsense'" in wrong.stderr) == (2, True)


def test_another_protocol_is_not_a_change_of_the_system(blessed_once: Path) -> None:
    (blessed_once / "audit.yaml").write_text(WATCHED.replace("fairweb-two-round", "seed-turns"))
    code, _, said = reaudit(blessed_once)
    assert code == 3
    assert "another protocol than the baseline's" in said


def test_a_baseline_from_before_user_words_could_be_left_out_is_still_compared(blessed_once: Path) -> None:
    file = blessed_once / "audit.baseline.json"
    document = json.loads(file.read_text())
    assert document["scoring"].pop("user_words") == "counted"
    file.write_text(json.dumps(document))
    assert reaudit(blessed_once)[0] == 0
    (blessed_once / "audit.yaml").write_text(f"{WATCHED}scoring: {{user_words: left-out}}\n")
    code, _, said = reaudit(blessed_once)
    assert (code, "another scoring than the baseline's" in said) == (3, True)


def test_nothing_is_claimed_about_a_system_whose_losses_depend_on_its_answers(blessed_once: Path) -> None:
    bot = blessed_once / "bot.py"
    lost = 'def answer(text, seed=0):\n    if text.startswith("Adhere"):\n        raise ValueError("cannot be typed")\n'
    bot.write_text(bot.read_text().replace("def answer(text, seed=0):\n", lost))
    becomes(blessed_once, useful=50)
    code, found, said = reaudit(blessed_once)
    assert code == 3
    assert (found["verdict"], found["systems"][0]["figures"]) == ("cannot tell", [])
    assert "that reached the state 'insist' of the protocol were lost there" in " ".join(said.split())


def test_an_unwatchable_audit_gives_one_message(folder: Path) -> None:
    done = harvest("watch", "run", "audit.yaml", cwd=folder)
    assert done.returncode == 2
    assert "harvest watch bless RUN… --out audit.baseline.json" in done.stderr
    (folder / "audit.baseline.json").write_text('{"format": "harvest-baseline/1"}')
    done = harvest("watch", "run", "audit.yaml", cwd=folder)
    assert done.returncode == 2
    assert "audit.baseline.json" in done.stderr
    (folder / "audit.baseline.json").unlink()
    bless(folder, "runs/base-0")
    twice = harvest("watch", "bless", "runs/base-0", "runs/base-0", "--out", "o.json", cwd=folder)
    assert (twice.returncode, "twice" in twice.stderr) == (2, True)
    nowhere = harvest("watch", "bless", "runs/base-0", "--out", "nowhere/o.json", cwd=folder)
    assert (nowhere.returncode, "there is no such folder" in nowhere.stderr) == (2, True)
    both = harvest("watch", "run", "audit.yaml", "--run", "runs/base-0", "--extend", "1", cwd=folder)
    assert (both.returncode, "cannot be used together" in both.stderr) == (2, True)
    again = harvest("watch", "bless", "runs/base-0", "--out", "audit.baseline.json", cwd=folder)
    assert (again.returncode, "this baseline exists already" in again.stderr) == (2, True)
    for further, said in (
        ((), "this file exists already"),
        (("--replace",), "refusing to overwrite a file that Harvest did not write"),
    ):
        audit = harvest("watch", "bless", "runs/base-0", "--out", "audit.yaml", *further, cwd=folder)
        assert (audit.returncode, f"audit.yaml: {said}" in audit.stderr) == (2, True)
    assert (folder / "audit.yaml").read_text() == WATCHED
    replaced = harvest("watch", "bless", "runs/base-0", "--out", "audit.baseline.json", "--replace", cwd=folder)
    assert replaced.returncode == 0
    measures = (word for name in ("%useful", "ave%useful", "%recovery") for word in ("-m", name))
    four = harvest("watch", "bless", "runs/base-0", "--out", "o.json", *measures, cwd=folder)
    assert (four.returncode, "at most 3" in four.stderr) == (2, True)
    wrong = harvest("watch", "bless", "runs/base-0", "--out", "o.json", "-m", "CVaR(R)", cwd=folder)
    assert wrong.returncode == 2
    gone = harvest("watch", "history", "gone.jsonl", cwd=folder)
    assert (gone.returncode, "gone.jsonl: no such file" in gone.stderr) == (2, True)
    for nonsense in ("1" + "0" * 30, "-5"):  # a count that no test can take, and one that is none
        text = (folder / "audit.baseline.json").read_text().replace('"planned": 48', f'"planned": {nonsense}')
        (folder / "odd.json").write_text(text)
        odd = harvest("watch", "run", "audit.yaml", "--run", "runs/base-0", "--baseline", "odd.json", cwd=folder)
        line = 1 + text[: text.index(nonsense)].count("\n")
        assert (odd.returncode, f"odd.json:{line}:15: planned: must be at" in odd.stderr) == (2, True), odd.stderr
    becomes(folder, useful=100)
    assert harvest("run", "audit.yaml", "--out", "runs/flawless", cwd=folder).returncode == 0
    never = harvest("watch", "bless", "runs/flawless", "--out", "o.json", "-m", "%recovery", cwd=folder)
    assert (never.returncode, "%recovery of bot has no value" in never.stderr) == (2, True), never.stderr
    becomes(folder, down=True)
    assert harvest("run", "audit.yaml", "--out", "runs/down", cwd=folder).returncode in (0, 3)
    down = harvest("watch", "bless", "runs/base-0", "runs/down", "--out", "o.json", cwd=folder)
    assert (down.returncode, "runs/down: no trial of bot is valid" in down.stderr) == (2, True), down.stderr
    becomes(folder)
    extended = harvest("watch", "run", "audit.yaml", "--extend", "1", cwd=folder)
    assert (extended.returncode, "no earlier run" in extended.stderr) == (2, True)
    (folder / "audit.history.jsonl").write_text('{"format": "harvest-history/1"}\n')
    broken = harvest("watch", "run", "audit.yaml", cwd=folder)
    assert (broken.returncode, "audit.history.jsonl:1" in broken.stderr) == (2, True)
    look = '{"format": "harvest-history/1", "at": "2026-01-01T00:00:00Z", "run": "r", "baseline": "b", "systems": {%s}}'
    figure = '"bot": {"planned": 1, "valid": 1, "figures": {"R": {"value": 1e999, "n": 1, "low": 0, "high": 1, '
    (folder / "odd.jsonl").write_text(look % "" + "\n" + look % (figure + '"verdict": "same"}}}'))
    endless = harvest("watch", "history", "odd.jsonl", cwd=folder)
    assert (endless.returncode, "odd.jsonl:2:" in endless.stderr and "value: " in endless.stderr) == (2, True)


def test_a_harness_that_misreads_its_placebo_claims_nothing_about_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "audit.yaml").write_text(PLACEBO)
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as done:
            main(list(words))
        assert isinstance(done.value.code, int)
        return done.value.code, capsys.readouterr().out

    with placebo_server() as system:  # any system that answers will do
        text = Path("audit.yaml").read_text().replace("URL", system.url)
        Path("audit.yaml").write_text(text)
        assert run("run", "audit.yaml", "--out", "runs/base")[0] == 0
        assert run("watch", "bless", "runs/base", "--out", "audit.baseline.json", "--by", "me")[0] == 0
        code, out = run("watch", "run", "audit.yaml", "--json")
        assert (code, json.loads(out)["harness"]) == (0, [])
        (placebo,) = Path("runs").rglob("*.placebo")
        assert len(read(placebo).finished) <= 0.05 * 4 * 8 + 1

        whole = Completion.answer

        def cut(completion: Completion) -> tuple[Answer, tuple[str, ...]]:
            answer, notes = whole(completion)
            return answer.with_text(answer.text[:-5]), notes

        monkeypatch.setattr(Completion, "answer", cut)
        looks = Path("audit.history.jsonl").read_text()
        code, out = run("watch", "run", "audit.yaml", "--json")
        assert code == 3
        assert json.loads(out)["harness"][0].startswith("an answer was cut: ")
        assert Path("audit.history.jsonl").read_text().startswith(looks)
        (_, unsound) = read_history("audit.history.jsonl")
        assert (unsound.figures, unsound.harness[0][:17]) == ((), "an answer was cut"), "it is no evidence"
        monkeypatch.undo()
        monkeypatch.chdir(tmp_path)
        code, out = run("watch", "run", "audit.yaml", "--json", "--run", json.loads(out)["run"])
        assert (code, json.loads(out)["harness"]) == (3, list(unsound.harness)), "nor is it, when it is judged again"
        assert len(read_history("audit.history.jsonl")) == 2


PLACEBO = """\
format: harvest-audit/1
name: watched
topics: fairweb-45
only: [M001, M002, M003, M004]
protocol: seed-turns
trials: 8
placebo: true
systems:
  - {name: api, driver: openai, options: {base_url: "URL/v1", model: m, stream: true}, concurrency: 4}
"""


def test_a_placebo_needs_a_driver_that_can_read_one(folder: Path) -> None:
    (folder / "audit.yaml").write_text(WATCHED + "placebo: true\n")
    bless(folder, "runs/base-0")
    done = harvest("watch", "run", "audit.yaml", cwd=folder)
    assert done.returncode == 2
    assert "audit.yaml:10:1: no system of this audit has a driver that can read a placebo" in done.stderr


@pytest.mark.parametrize("more", [(), ("--run", "runs/base-0")])
def test_an_invalid_audit_is_named_before_a_missing_baseline(folder: Path, more: tuple[str, ...]) -> None:
    (folder / "empty.yaml").write_text("")
    for audit, said in (("gone.yaml", "gone.yaml: no such file"), ("empty.yaml", "empty.yaml:1:1: the file is empty")):
        done = harvest("watch", "run", audit, *more, cwd=folder)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_an_unwritable_history_is_refused_before_anything_is_sent(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bless(folder, "runs/base-0")
    for name, said in (
        ("nowhere/h.jsonl", "nowhere: there is no such folder"),
        ("runs", "runs: the file cannot be read: this is a folder"),
    ):
        done = harvest("watch", "run", "audit.yaml", "--history", name, cwd=folder)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    with monkeypatch.context() as patched:
        patched.setattr(os, "access", lambda path, _: Path(path).name != "ro")
        (folder / "ro").mkdir()
        done = harvest("watch", "run", "audit.yaml", "--history", "ro/h.jsonl", cwd=folder)
    assert (done.returncode, "ro/h.jsonl: cannot be written" in done.stderr) == (2, True), done.stderr
    assert not (folder / "runs" / "watched").exists()


def test_a_look_that_could_not_be_written_names_the_run_to_judge(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bless(folder, "runs/base-0")

    def full(file: SharedFile, *_: object) -> None:
        raise StoreError(file.path, OSError(errno.ENOSPC, "No space left on device"))

    with monkeypatch.context() as patched:
        patched.setattr(SharedFile, "append", full)
        done = harvest("watch", "run", "audit.yaml", cwd=folder)
    assert done.returncode == 2
    assert "audit.history.jsonl: this look was not written: No space left on device" in done.stderr
    again = re.search(r"harvest (watch run audit.yaml --run runs/watched/\S+)", done.stderr)
    assert again is not None
    assert harvest(*again[1].split(), cwd=folder).returncode == 0
    assert len(list((folder / "runs" / "watched").iterdir())) == len(read_history(folder / "audit.history.jsonl")) == 1


def test_a_changed_history_line_and_an_invalid_baseline_say_what_to_do(folder: Path) -> None:
    bless(folder, "runs/base-0")
    reaudited = [harvest("watch", "run", "audit.yaml", cwd=folder).returncode for _ in range(2)]
    history = folder / "audit.history.jsonl"
    whole = history.read_text()
    first, second = whole.splitlines()
    for changed, said in (
        (second.replace('"n":', '"n" ', 1), "or remove the line: its look is then forgotten"),
        (second.replace('"valid":4', '"valid":3'), 'or, if the change is intended, remove "hash"'),
    ):
        assert changed != second
        history.write_text(f"{first}\n{changed}\n")
        cut = harvest("watch", "run", "audit.yaml", cwd=folder)
        assert (reaudited, cut.returncode) == ([0, 0], 2)
        assert "audit.history.jsonl:2:" in cut.stderr
        assert said in cut.stderr, cut.stderr
    other = harvest("watch", "history", "audit.yaml", cwd=folder)
    assert "check which file is meant: harvest watch run writes a history" in other.stderr
    none = harvest("watch", "run", "audit.yaml", "--baseline", "audit.yaml", cwd=folder)
    assert "audit.yaml:1:1: the file is not a baseline: not valid JSON" in none.stderr
    assert "do: write one with `harvest watch bless RUN… --out FILE`" in none.stderr


PARROT = """\
format: harvest-audit/1
name: weekly
topics: fairweb-45
only: [M001, M002]
protocol: fairweb-two-round
trials: 2
systems:
  - {name: A, driver: parrot}
"""


def test_a_run_of_another_audit_is_not_a_look_at_this_one(tmp_path: Path) -> None:
    def run(*words: str) -> tuple[int, str]:
        done = harvest(*words, cwd=tmp_path)
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    (tmp_path / "audit.yaml").write_text(PARROT)
    (tmp_path / "renamed.yaml").write_text(PARROT.replace("weekly", "renamed"))
    (tmp_path / "other.yaml").write_text(PARROT.replace("weekly", "other").replace("[M001, M002]", "[M001]"))
    for audit, name, *more in (("audit", "first"), ("other", "other"), ("audit", "part", "--topics", "M001")):
        assert run("run", f"{audit}.yaml", "--out", name, *more)[0] == 0
    assert run("watch", "bless", "first", "--out", "audit.baseline.json")[0] == 0

    for words in (("audit.yaml", "--run", "other"), ("other.yaml", "--baseline", "audit.baseline.json")):
        code, told = run("watch", "run", *words)
        assert (code, "this run is of the audit 'other', but the baseline is of the audit 'weekly'" in told) == (
            2,
            True,
        ), told
    assert run("report", "other", "--baseline", "audit.baseline.json")[0] == 2
    code, told = run("watch", "run", "audit.yaml", "--out", "first")
    assert (code, "the folder for dated runs must not be inside a run folder" in told) == (2, True), told
    assert not {*tmp_path.glob("*.history.jsonl"), *tmp_path.glob("*.html"), *tmp_path.glob("runs")}
    assert not [one for one in (tmp_path / "first").iterdir() if one.is_dir()]

    code, told = run("watch", "run", "audit.yaml", "--run", "part", "--strict")
    assert (code, "A: not asked: M002" in told, "no valid trial of" in told) == (3, True, False), told
    assert run("watch", "run", "renamed.yaml", "--baseline", "audit.baseline.json")[0] == 0, "it asks the same"

    code, told = run("data", "merge", "other", "first", "--out", "united")
    assert (code, "note: runs of 2 audits are merged: 'weekly', 'other'" in told) == (0, True), told
    assert "united" not in run("data", "merge", "first", "part", "--out", "whole")[1].partition("attempts")[0]


def test_blessed_runs_of_the_same_hour_are_called_simultaneous(blessed: Path) -> None:
    runs = [f"runs/base-{number}" for number in range(4)]
    written = [blessed / run / "run.json" for run in runs]
    for hour, (days, said) in enumerate(((0, 1), (3, 0))):
        for day, file in enumerate(written):
            header = json.loads(file.read_text(encoding="utf-8"))
            header["created_at"] = f"2026-01-0{1 + min(day * days, 8)}T04:1{day}:00.000000+00:00"
            file.write_text(json.dumps(header), encoding="utf-8")
        done = harvest("watch", "bless", *runs, "--out", f"{hour}.json", cwd=blessed)
        assert done.returncode == 0, done.stderr
        assert " ".join((done.stdout + done.stderr).split()).count("these runs began within an hour") == said


@pytest.mark.parametrize("at", ["", "yesterday"])
def test_a_run_without_a_start_time_is_compared_nevertheless(blessed_once: Path, at: str) -> None:
    file = blessed_once / "runs" / "base-0" / "run.json"
    header = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**header, "created_at": at}), encoding="utf-8")
    done = harvest("report", "runs/base-0", "--baseline", "audit.baseline.json", "--force", cwd=blessed_once)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
