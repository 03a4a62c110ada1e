"""What machines are told by `harvest watch run` and `harvest score`, and that it never changes an exit code."""

from __future__ import annotations

import json
from itertools import cycle
from pathlib import Path

import junitparser
import pytest
from prometheus_client.parser import text_string_to_metric_families

from harvest.studies.watch.history import read_history
from recordings.log.run_folder import read
from tests.support.bulletins import commands
from tests.support.chat_api import chat_api
from tests.support.command_line import harvest
from tests.support.hostile_replies import HOSTILE, LARGE
from tests.support.listening import listening
from tests.support.watched_bot import WATCHED, becomes, bless, copied, watch

AUDIT = (
    WATCHED
    + """\
thresholds:
  - {measure: "%useful S1", at_least: 0.5}
  - {measure: "ave%useful", at_most: 0.99}
"""
)
HOSTILE_AUDIT = """\
format: harvest-audit/1
name: hostile
topics: fairweb-45
only: [M001, M002, M003]
protocol: fairweb-two-round
trials: 4
systems:
  - {name: bot, driver: openai, options: {base_url: "http://127.0.0.1:PORT/v1", model: m, max_reply: 100000000}}
"""
CHANNELS = ("--junit", "junit.xml", "--prometheus", "harvest.prom", "--webhook-env", "HOOK", "--github")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bless(watch(tmp_path_factory.mktemp("watched"), AUDIT), "runs/base")


@pytest.fixture
def folder(base: Path, tmp_path: Path) -> Path:
    return copied(base, tmp_path)


def reaudit(folder: Path, *options: str) -> tuple[int, str, str]:
    done = harvest("watch", "run", "audit.yaml", "--enforce", "--confirm-after", "0", *options, cwd=folder)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def metrics(folder: Path) -> dict[str, float]:
    families = text_string_to_metric_families((folder / "harvest.prom").read_text())
    return {one.name: one.samples[0].value for one in families}


def test_every_form_agrees_with_the_exit_code(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))
    (folder / "summary.md").write_text("of an earlier command\n")
    with listening() as hook:
        monkeypatch.setenv("HOOK", hook.url)
        code, out, err = reaudit(folder, *CHANNELS)
        assert code == 0, err
        first = metrics(folder)
        assert first["harvest_exit_code"] == 0
        assert first["harvest_last_success_timestamp_seconds"] == first["harvest_last_audit_timestamp_seconds"]

        becomes(folder, useful=5)
        codes = [reaudit(folder)[0] for _ in range(3)]
        code, out, err = reaudit(folder, *CHANNELS)
        assert (codes[0], code) == (0, 1), err
        suites = junitparser.JUnitXml.fromfile(str(folder / "junit.xml"))
        assert (suites.failures, suites.errors) == (1, 0)
        assert [kind for kind, _, _ in commands(out)] == ["error"]
        assert "ave%useful changed by -" in out
        assert metrics(folder)["harvest_exit_code"] == 1
        assert json.loads(hook.sent[-1])["verdict"] == "changed"

        becomes(folder, down=True)
        changed = metrics(folder)
        code, out, err = reaudit(folder, *CHANNELS)
        assert code == 3
        suites = junitparser.JUnitXml.fromfile(str(folder / "junit.xml"))
        assert (suites.failures, suites.errors) == (0, 2), "the figure and the coverage"
        down = metrics(folder)
        assert down["harvest_exit_code"] == 3
        assert down["harvest_last_success_timestamp_seconds"] == changed["harvest_last_success_timestamp_seconds"]
        assert down["harvest_last_audit_timestamp_seconds"] > changed["harvest_last_audit_timestamp_seconds"]
        assert [json.loads(body)["exit_code"] for body in hook.sent] == [0, 1, 3]
    summary = (folder / "summary.md").read_text()
    assert summary.startswith("of an earlier command\n## watched: ")
    assert summary.count("\n## watched: ") == 3
    assert "imdb" not in "".join(map(str, hook.sent))


def test_a_failed_notice_is_reported_and_changes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    becomes(folder, useful=5)
    for _ in range(3):
        reaudit(folder)
    monkeypatch.setenv("HOOK", "http://127.0.0.1:9/services/SECRET")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    code, out, err = reaudit(folder, *CHANNELS[4:], "--junit", "x" * 250)
    assert code == 1
    assert "webhook: not delivered (connect); the verdict stands" in err
    assert "SECRET" not in out + err
    assert "was not written: " in err
    assert "GITHUB_STEP_SUMMARY is not set" in err
    assert [kind for kind, _, _ in commands(out)] == ["error"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--github", "--json"), "--github and --json both print to standard output"),
        (("--junit", "nowhere/junit.xml"), "there is no such folder"),
        (("--prometheus", "nowhere/a.prom"), "there is no such folder"),
        (("--webhook-env", "NOT_SET_ANYWHERE"), "(--webhook-env) is not set"),
        (("--junit", "runs/base/run.json"), "refusing to overwrite a file that Harvest did not write"),
        (("--junit", "audit.baseline.json"), "refusing to overwrite a file that Harvest did not write"),
        (("--prometheus", "audit.yaml"), "refusing to overwrite a file that Harvest did not write"),
        (("--prometheus", "runs"), "this is a folder, not a file"),
    ],
)
def test_an_impossible_notice_is_refused_before_anything_is_played(
    folder: Path, options: tuple[str, ...], said: str
) -> None:
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    code, _, err = reaudit(folder, *options)
    assert (code, said in err) == (2, True), err
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before


def test_an_earlier_file_of_the_same_kind_is_replaced_and_another_is_not(folder: Path) -> None:
    (folder / "junit.xml").touch()
    for _ in range(2):
        done = harvest("score", "runs/base", "--junit", "junit.xml", "--prometheus", "a.prom", cwd=folder)
        assert (done.returncode, done.stderr) == (0, "")
    assert len(junitparser.JUnitXml.fromfile(str(folder / "junit.xml"))) == 1
    swapped = harvest("score", "runs/base", "--junit", "a.prom", cwd=folder)
    assert (
        swapped.returncode,
        "a.prom: refusing to overwrite a file that Harvest did not write" in swapped.stderr,
    ) == (2, True)
    (folder / "other.xml").write_text('<?xml version="1.0"?>\n<testsuites name="pytest tests"></testsuites>\n')
    assert harvest("score", "runs/base", "--junit", "other.xml", cwd=folder).returncode == 2


def test_a_file_that_appeared_meanwhile_is_kept(folder: Path) -> None:
    code, _, err = reaudit(folder, "--junit", "audit.history.jsonl")  # it is written before the verdicts are told
    assert code == 0
    assert "error: audit.history.jsonl was not written: refusing to overwrite a file that Harvest did not write" in err
    assert len(read_history(folder / "audit.history.jsonl")) == 1


def test_thresholds_are_reported_in_the_same_forms(folder: Path) -> None:
    done = harvest("score", "runs/base", "--junit", "junit.xml", "--prometheus", "a.prom", "--github", cwd=folder)
    assert done.returncode == 0
    (suite,) = junitparser.JUnitXml.fromfile(str(folder / "junit.xml"))
    assert [case.name for case in suite] == ["%useful S1 >= 0.5", "ave%useful <= 0.99"]
    assert (suite.name, suite.failures, suite.errors) == ("bot", 0, 0)
    families = {one.name: one for one in text_string_to_metric_families((folder / "a.prom").read_text())}
    limits = [families[f"harvest_figure{end}"].samples[0].value for end in ("_low", "", "_high")]
    assert 0.5 < limits[0] < limits[1] < limits[2] <= 1
    ((kind, properties, _),) = commands(done.stdout)
    assert (kind, properties["title"]) == ("notice", "watched: kept")

    (folder / "audit.yaml").write_text(AUDIT.replace("at_least: 0.5", "at_least: 0.995"))
    assert harvest("run", "audit.yaml", "--out", "runs/base", cwd=folder).returncode == 1
    done = harvest("score", "runs/base", "--junit", "junit.xml", "--github", cwd=folder)
    assert done.returncode == 1
    assert junitparser.JUnitXml.fromfile(str(folder / "junit.xml")).failures == 1
    ((kind, properties, data),) = commands(done.stdout)
    assert (kind, properties["title"]) == ("error", "watched, bot: missed")
    assert data.startswith("threshold missed: %useful S1, bot: ")
    assert data.endswith("wanted at least 99.5%")


def test_a_run_reports_its_thresholds_and_failed_trials(folder: Path) -> None:
    told = ("--junit", "junit.xml", "--prometheus", "harvest.prom", "--github")
    done = harvest("run", "audit.yaml", "--out", "runs/base", *told, cwd=folder)
    assert done.returncode == 0
    names = [case.name for suite in junitparser.JUnitXml.fromfile(str(folder / "junit.xml")) for case in suite]
    assert names == ["coverage", "%useful S1 >= 0.5", "ave%useful <= 0.99"]

    (folder / "audit.yaml").write_text(AUDIT.replace("max_invalid: 1", "max_invalid: 0"))
    becomes(folder, down=True)
    done = harvest("run", "audit.yaml", "--out", "runs/down", *told, cwd=folder)
    assert done.returncode == 3
    suites = junitparser.JUnitXml.fromfile(str(folder / "junit.xml"))
    assert (suites.failures, suites.errors) == (0, 3)
    assert [kind for kind, _, _ in commands(done.stdout)] == ["error"] * 3
    assert metrics(folder)["harvest_exit_code"] == 3

    shard = harvest("run", "audit.yaml", "--shard", "1/2", *told, cwd=folder)
    assert (shard.returncode, "verdicts cannot be reported for a shard" in shard.stderr) == (2, True)


def test_without_thresholds_a_score_has_nothing_to_report(folder: Path) -> None:
    (folder / "audit.yaml").write_text(AUDIT.partition("thresholds:")[0])
    assert harvest("run", "audit.yaml", "--out", "runs/bare", cwd=folder).returncode == 0
    done = harvest("score", "runs/bare", "--junit", "junit.xml", cwd=folder)
    assert (done.returncode, "report thresholds, but the audit has none" in done.stderr) == (2, True)


def test_one_system_that_is_down_is_not_hidden_by_another(folder: Path) -> None:
    second = "  - {name: sound, driver: parrot}\nthresholds:\n"
    (folder / "audit.yaml").write_text(AUDIT.replace("thresholds:\n", second))
    assert harvest("run", "audit.yaml", "--out", "runs/two", cwd=folder).returncode == 0
    assert (
        harvest("watch", "bless", "runs/two", "--out", "audit.baseline.json", "--replace", cwd=folder).returncode == 0
    )
    becomes(folder, down=True)
    code, _, err = reaudit(folder, "--junit", "junit.xml")
    assert code == 3, err
    by_name = {suite.name: suite for suite in junitparser.JUnitXml.fromfile(str(folder / "junit.xml"))}
    assert (by_name["bot"].errors, by_name["sound"].errors) == (2, 0)


def test_no_reply_or_model_name_of_a_system_gets_through_any_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    texts = cycle([*HOSTILE.values(), LARGE])
    with chat_api(lambda _: (next(texts), f"{next(texts)[:200]} {len(list(tmp_path.glob('runs/*')))}")) as port:
        (tmp_path / "audit.yaml").write_text(HOSTILE_AUDIT.replace("PORT", str(port)))
        assert harvest("run", "audit.yaml", "--out", "runs/base", cwd=tmp_path).returncode == 0
        assert harvest("watch", "bless", "runs/base", "--out", "audit.baseline.json", cwd=tmp_path).returncode == 0
        with listening() as hook:
            monkeypatch.setenv("HOOK", hook.url)
            code, out, err = reaudit(tmp_path, *CHANNELS)
    assert code == 0, err
    (folder,) = (tmp_path / "runs" / "hostile").iterdir()
    recorded = list(read(folder).finished)
    assert LARGE in [turn.reply.answer.text for one in recorded for turn in one.turns if turn.reply]
    assert "answered as " in out, "models are named, and some are hostile"
    assert [kind for kind, _, _ in commands(out + err)] == ["warning"]
    suites = junitparser.JUnitXml.fromfile(str(tmp_path / "junit.xml"))
    assert suites.failures + suites.errors == 0
    assert metrics(tmp_path)["harvest_exit_code"] == 0
    summary = (tmp_path / "summary.md").read_text()
    assert "<" not in summary
    hooked, prom = hook.sent[0].decode(), (tmp_path / "harvest.prom").read_text()
    for text in (hooked, prom):
        assert "owned" not in text, "no words of a system at all"
    for text in (hooked, prom, summary, (tmp_path / "junit.xml").read_text(), out, err):
        assert len(text) < 30_000
        assert "\u202e" not in text
        assert "\x1b]" not in text
