"""After a re-audit: why and what next in a sentence each, explanations once, a report, and three things to look at."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.support.command_line import harvest
from tests.support.watched_bot import becomes, bless, copied, watch

LEGEND = "changed: an alarm over all looks"


@pytest.fixture(scope="module")
def four_times(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bless(watch(tmp_path_factory.mktemp("four")), *(f"runs/base-{number}" for number in range(4)))


@pytest.fixture
def blessed(four_times: Path, tmp_path: Path) -> Path:
    return copied(four_times, tmp_path)


def reaudit(folder: Path, *options: str) -> str:
    done = harvest("watch", "run", "audit.yaml", "--confirm-after", "0", *options, cwd=folder, width=80)
    assert done.returncode in (0, 1, 3), done.stderr
    return done.stdout


def suggested(printed: str) -> list[str]:
    _, _, rest = printed.partition("What to look at next:\n")
    return re.findall(r"^    (.*)$", rest, re.MULTILINE)


def test_a_change_leads_to_its_report_to_two_conversations_and_to_its_cause(blessed: Path) -> None:
    becomes(blessed, useful=10)
    printed = [reaudit(blessed) for _ in range(2)]
    last = reaudit(blessed, "--report")
    sentences = " ".join(last.split("bot, 48 valid")[0].split())
    assert re.match(
        r"bot: ave%useful changed by .* Why: Over the 3 audits since .*, ave%useful is lower on all 8 topics, on each "
        r"by more than chance explains.*\. Conversations part at answer .*\. Next: Read .* RUN… --out "
        r"audit\.baseline\.json --replace\.",
        sentences,
    )
    page, show, compare = suggested(last)
    (run,) = re.findall(r"open (runs/watched/.*)/report\.html in a browser", page)
    assert shlex.split(show)[:4] == ["harvest", "show", "runs/base-3", run]
    assert compare == f"harvest compare runs/base-3 {run} --estimand these -m ave%useful"
    both = harvest(*shlex.split(show)[1:], cwd=blessed)
    assert (both.returncode, both.stderr) == (0, "")
    assert "S1: labels differ" in both.stdout
    compared = harvest(*shlex.split(compare)[1:], cwd=blessed)
    assert compared.returncode == 0
    assert "driven by" in compared.stdout
    verified = harvest("data", "verify", f"{run}/report.html", cwd=blessed)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    for place, said in enumerate([*printed, last]):
        assert (LEGEND in " ".join(said.split())) == (place == 0), "explained by the first audit alone"
    explained = " ".join(reaudit(blessed, "--run", run, "--explain").split())
    for line in (LEGEND, "- alarm, as a verdict: ", "- perhaps back: after a change, one audit is near the baseline"):
        assert line in explained, "every verdict that is printed is explained, each in a line of its own"


def test_an_alarm_leads_to_another_audit_with_the_same_options(blessed: Path) -> None:
    (blessed / "audit.baseline.json").rename(blessed / "other.json")
    becomes(blessed, useful=40)
    said = reaudit(blessed, "--baseline", "other.json", "--out", "weeks", "--matters", "0.04", "--report")
    assert re.search(r"alarm|fell by", said)
    again = "harvest watch run audit.yaml --baseline other.json --out weeks --matters 0.04 --confirm-after 0"
    assert suggested(said)[2] == again


def test_if_nothing_was_measured_the_reasons_come_next(blessed: Path) -> None:
    becomes(blessed, down=True)
    said = reaudit(blessed, "--report")
    assert [one.split()[:2] for one in suggested(said)[1:]] == [["harvest", "show"], ["harvest", "watch"]]
    assert harvest(*shlex.split(suggested(said)[1])[1:], cwd=blessed).returncode == 0


def test_without_a_report_and_as_json_nothing_is_suggested(blessed: Path) -> None:
    assert "What to look at next" not in reaudit(blessed, "--no-report")
    json.loads(reaudit(blessed, "--json", "--report"))
    assert not list(blessed.rglob("report.html"))


def test_a_missing_blessed_run_is_not_suggested(blessed: Path) -> None:
    for number in range(4):
        (blessed / f"runs/base-{number}").rename(blessed / f"moved-{number}")
    becomes(blessed, useful=5)
    said = ""
    for _ in range(3):
        said = reaudit(blessed, "--report")
    _, show, series = suggested(said)
    assert "--beside" not in show
    assert harvest(*shlex.split(show)[1:], cwd=blessed).returncode == 0
    assert series == "harvest watch history audit.history.jsonl"
