"""What commands say of a cap: before, while and after a run is played."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harvest.cli import main
from tests.support.metered import requests, write_audit


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARVEST_REQUESTS", str(tmp_path / "requests.jsonl"))
    monkeypatch.setenv("COLUMNS", "200")
    write_audit(tmp_path)
    return tmp_path


def harvest(*arguments: str) -> int:
    with pytest.raises(SystemExit) as done:
        main(list(arguments))
    return int(done.value.code or 0)


STOPPED = "stopped after 2 of 6 rounds by its cap (cost 14.8 of 20"


def test_a_run_and_all_commands_that_read_it_report_after_how_many_rounds_it_was_stopped(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert harvest("run", "audit.yaml", "--out", "run", "--max-cost", "20") == 0
    told = capsys.readouterr()
    assert "cap: at most cost 20; 6 rounds of up to 8 trials are planned" in told.err
    assert STOPPED in told.out
    assert "no valid attempt" not in told.out
    assert STOPPED in Path("run/report.html").read_text()
    for command in (["score", "run"], ["show", "run"], ["compare", "run"]):
        harvest(*command)
        assert STOPPED in capsys.readouterr().out, command
    assert harvest("score", "run", "--json") == 0
    assert STOPPED in capsys.readouterr().out


def test_check_prints_the_cost_of_the_rest_if_it_is_known(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert harvest("check", "audit.yaml", "--max-cost", "20") == 0
    assert "what the rest costs cannot be known before" in capsys.readouterr().out
    audit = Path("audit.yaml")
    audit.write_text(audit.read_text().replace("A: {input: 1000, output: 2000}", "A: {turn: 1}"))
    assert harvest("check", "audit.yaml", "--max-cost", "20") == 0
    # 24 trials of each system, of up to 5 turns, in up to 2 attempts, each sent up to 3 times: 720 · (1 + .25)
    assert "the rest costs at most 900, by the prices of turns, including retries" in capsys.readouterr().out
    assert harvest("check", "audit.yaml", "--max-cost", "20", "--json") == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["caps"], plan["cost_at_most"]) == ({"cost": 20}, 900)
    assert harvest("run", "audit.yaml", "--out", "run", "--max-turns", "60") == 0
    capsys.readouterr()
    assert harvest("check", "audit.yaml", "--max-turns", "60", "--out", "run") == 0
    told = capsys.readouterr().out
    assert "cap: 2 of 6 rounds played: turns 48 of 60" in told
    assert "cap: at this rate, all 6 rounds take about turns 144" in told
    assert len(requests(here)) == 48


def test_a_run_without_a_complete_round_has_no_figures(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert harvest("run", "audit.yaml", "--out", "run", "--max-turns", "20") == 3
    told = capsys.readouterr().out
    assert "There is nothing to score: stopped after 0 of 6 rounds by its cap (turns 20 of 20)" in told
    assert "round 1 was broken off, and 7 finished trials of it left out of all figures" in told
    assert harvest("run", "audit.yaml", "--out", "run", "--max-turns", "24") == 0
    assert "stopped after 1 of 6 rounds by its cap" in capsys.readouterr().out
    assert len(requests(here)) == 24


def test_a_shard_says_what_its_cap_covers(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert harvest("run", "audit.yaml", "--shard", "1/2", "--max-turns", "70") == 0
    told = capsys.readouterr()
    assert (
        "cap: at most turns 35 on this machine, of turns 70 in all; 3 rounds of up to 8 trials are planned" in told.err
    )
    assert "shard 1 of 2: stopped after 1 of 3 rounds by its cap (turns 24 of 35)" in told.err


def test_a_watched_audit_with_a_cap_is_judged_by_its_complete_rounds(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_audit(here, more="max_turns: 60\n")
    assert harvest("run", "audit.yaml", "--out", "first") == 0
    assert harvest("watch", "bless", "first", "--out", "audit.baseline.json") == 0
    for _ in range(2):
        capsys.readouterr()
        assert harvest("watch", "run", "audit.yaml", "--no-report") == 0
        told = capsys.readouterr()
        assert "stopped after 2 of 6 rounds by its cap (turns 48 of 60)" in told.err
        assert "was stopped after" not in told.err, "a capped run counts as one that was interrupted"
        assert "A, 8 valid trials of 8" in told.out


@pytest.mark.parametrize(
    "given", [("--max-cost", "0"), ("--max-cost", "nan"), ("--max-turns", "0"), ("--max-tokens", "x")]
)
def test_an_invalid_cap_is_refused(here: Path, given: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert harvest("run", "audit.yaml", *given) == 2
    assert given[0] in capsys.readouterr().err
