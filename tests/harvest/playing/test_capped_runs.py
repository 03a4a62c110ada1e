"""Runs with a cap: whole rounds, nothing above the cap, and on with a larger one as if there had been none."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from harvest.audits.audit import load_audit
from harvest.cli import main
from harvest.playing.play import play, play_audit
from harvest.studies.scores.gathered import gather_runs
from harvest.studies.trees.folded_trees import fold_trees
from recordings.log.caps import Amounts, standings
from recordings.log.run_folder import Run, read
from recordings.log.shard import Shard
from recordings.merging.merge import merge
from tests.support.forked_commands import ForkedCommand
from tests.support.metered import requests, write_audit
from topics.errors import InputError

# The tokens of each reply of a model.
TOOK = {"prompt_tokens": 40, "completion_tokens": 10}

# Of one round of `tests.support.metered`: 24 requests, tokens, and what they cost.
ROUND = {"turns": 24, "tokens": 7600, "cost": 4.4 + 3.0}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARVEST_REQUESTS", str(tmp_path / "requests.jsonl"))
    write_audit(tmp_path)
    return tmp_path


def played(folder: str, **options: Any) -> Run:
    return play(load_audit("audit.yaml", **options), folder)


def balance(run: Run) -> set[int]:
    """How many trials of each topic with each system are in the figures."""
    counts = Counter((one.key.system, one.key.topic) for one in gather_runs(run).material.finished)
    return set(counts.values())


def content(folder: str) -> list[str]:
    """Every event but those of requests, without when it was, how long it took, and who recorded it."""
    times = {"at", "asked_at", "first_seconds", "seconds", "worker"}
    rows = [row for one in read(folder, keep_rows=True).attempts for row in one.rows]
    kept = [{key: row[key] for key in row if key not in times} for row in rows if row["event"] not in ("sent", "spent")]
    assert len(kept) > 100
    return sorted(json.dumps(row, sort_keys=True) for row in kept)


@pytest.mark.parametrize("kind", ROUND)
@pytest.mark.parametrize("rounds", [1.0, 1.5, 2.1, 2.3, 4.2])
def test_a_run_ends_after_the_last_round_whose_reserve_was_left(here: Path, kind: str, rounds: float) -> None:
    most = ROUND[kind] * rounds
    run = played("run", caps={kind: most})
    (found,) = standings(run.header, run.attempts)
    whole = 1 if rounds < 2.2 else int(rounds - 0.2)  # a first round has no reserve; the others need 1.2 rounds
    assert (found.whole, found.planned, found.broken, found.stopped) == (whole, 6, 0, True)
    assert getattr(found.ledger.spent, kind) == pytest.approx(whole * ROUND[kind])
    assert len(requests(here)) == whole * 24
    assert balance(run) == {whole}


def test_a_run_continued_with_a_larger_cap_equals_the_run_without_one(here: Path) -> None:
    for turns in (24, 60, 90):
        run = played("run", caps={"turns": turns})
        assert len(requests(here)) <= turns
    assert balance(run) == {3}
    played("run")
    played("whole")
    assert content("run") == content("whole")
    assert (
        json.loads(Path("run/run.json").read_text())["audit"] == json.loads(Path("whole/run.json").read_text())["audit"]
    )
    assert standings(read("run").header, read("run").attempts) == ()
    assert len(requests(here)) == 2 * 6 * 24, "a turn was sent again"


def test_a_run_without_a_cap_is_recorded_without_requests(here: Path) -> None:
    played("run")
    lines = [json.loads(line) for line in Path("run/trials-000001.jsonl").read_text().splitlines()]
    assert {line["event"] for line in lines} == {"opened", "trial-started", "asked", "turn", "route", "trial-ended"}
    assert "caps" not in json.loads(Path("run/run.json").read_text())["audit"]


def test_a_round_that_the_cap_stops_is_in_no_figure_and_is_completed_later(here: Path) -> None:
    write_audit(here, function="worsening")  # 8 requests a round; from the seventeenth on, 40
    run = played("run", caps={"turns": 40})
    (found,) = standings(run.header, run.attempts)
    assert (found.whole, found.broken, found.stopped) == (2, 3, True)
    assert len(requests(here)) == 40
    assert balance(run) == {2}
    assert {one.key for one in run.finished} > {one.key for one in gather_runs(run).material.finished}
    assert all(key.trial <= 2 for key in gather_runs(run).material.planned)
    trees, left = fold_trees(run, merge="label")
    assert sum(len(tree.trials) for tree in trees) == 2 * 8
    assert "round 3 was broken off" in left[0]
    again = played("run", caps={"turns": 40})
    assert len(requests(here)) == 40, "the cap was reached, and something was sent"
    assert standings(again.header, again.attempts)[0].whole == 2
    run = played("run", caps={"turns": 100})
    assert standings(run.header, run.attempts)[0].whole == 3
    assert balance(run) == {3}


def test_failed_requests_and_retries_count_as_much_as_the_most_expensive(here: Path) -> None:
    write_audit(here, function="failing", more="max_invalid: 1\n")
    with pytest.warns(UserWarning, match="has no valid attempt"):
        run = played("run", caps={"turns": 80})
    assert not run.finished
    assert len(requests(here)) <= 80
    assert standings(run.header, run.attempts)[0].ledger.spent.turns == len(requests(here))
    # Every conversation is tried twice, and each try sends its first turn three times.
    assert Counter(map(len, requests(here))) == {1: len(requests(here))}


def test_a_system_without_counts_of_tokens_is_refused_after_its_first_reply(here: Path) -> None:
    write_audit(here, function="uncounted")
    with pytest.raises(
        InputError, match="max_tokens and max_cost cannot be kept for 'A': its reply came without counts"
    ):
        played("run", caps={"cost": 10})
    assert len(requests(here)) <= 4  # of the turns under way
    assert sum(len(one.exchanges) for one in read("run").conversations) == len(requests(here))
    Path("audit.yaml").write_text(
        Path("audit.yaml").read_text().replace("A: {input: 1000, output: 2000}", "A: {turn: 1}")
    )
    run = played("priced", caps={"cost": 40})
    assert standings(run.header, run.attempts)[0].ledger.spent.cost == pytest.approx(2 * (12 * 1.0 + 12 * 0.25))


def test_the_requests_for_words_of_a_simulated_user_count(here: Path) -> None:
    """By a server that writes what it is asked to, in other words, and says how many tokens that took."""
    from tests.support.chat_api import chat_api

    asked: list[str] = []

    def rewording(said: list[str]) -> tuple[str, str]:
        asked.append(said[-1])
        return f"Could you tell me this, number {len(asked)}?", "m1"

    with chat_api(rewording, usage=TOOK) as port:
        protocol = yaml.safe_load(Path("insistent.yaml").read_text())
        protocol["users"] = {"visitor": {"simulator": "llm", "mode": "free", "turns": 2}}
        protocol["states"] = {"ask": {"user": "visitor", "edges": [{"otherwise": True, "label": "x", "go": "ask"}]}}
        Path("insistent.yaml").write_text(yaml.safe_dump(protocol))
        audit = yaml.safe_load(Path("audit.yaml").read_text())
        audit["endpoints"] = {"words": {"base_url": f"http://127.0.0.1:{port}/v1", "model": "m1"}}
        audit["prices"]["words"] = {"input": 10_000, "output": 10_000}
        Path("audit.yaml").write_text(yaml.safe_dump(audit))
        run = played("run", caps={"cost": 30, "turns": 1000})
    (found,) = standings(run.header, run.attempts)
    assert asked
    assert found.ledger.spent.cost == pytest.approx(len(asked) * 0.5 + cost_of(run))
    assert found.stopped
    assert found.ledger.spent.cost <= 30


def cost_of(run: Run) -> float:
    """What the answered turns cost by the prices of the audit."""
    costs = 0.0
    for one in run.conversations:
        for turn in one.turns:
            if turn.reply is not None:
                tokens = turn.reply.tokens
                costs += (
                    0.25 if one.key.system == "B" else (tokens["prompt"] * 1000 + tokens["completion"] * 2000) / 1e6
                )
    return costs


def test_the_use_of_models_in_a_run_without_a_cap_is_unknown(here: Path) -> None:
    audit = yaml.safe_load(Path("audit.yaml").read_text())
    audit["endpoints"] = {"words": {"base_url": "http://127.0.0.1:9/v1", "model": "m1"}}
    audit["prices"]["words"] = {"turn": 1}
    Path("audit.yaml").write_text(yaml.safe_dump(audit))
    played("run", trials=1)
    with pytest.raises(InputError, match="played without a cap, so the use of its user models is unknown"):
        played("run", caps={"cost": 60})
    assert standings_of("run", turns=60).whole == 2  # one without a cap, one with it


def standings_of(folder: str, **caps: float) -> Any:
    run = played(folder, caps=caps)
    return standings(run.header, run.attempts)[0]


def test_two_shards_respect_the_cap_together_and_their_merged_run_is_balanced(here: Path) -> None:
    for index in (1, 2):
        asyncio.run(play_audit(load_audit("audit.yaml", shard=Shard(index, 2), caps={"turns": 130}), here / str(index)))
    assert len(requests(here)) == 96  # two rounds of 24 each: 48 + 28.8 is more than 65
    merged = merge([here / "1", here / "2"], here / "merged")
    assert merged.missing == ()
    run = read("merged")
    assert [(one.whole, one.planned) for one in standings(run.header, run.attempts)] == [(2, 3), (2, 3)]
    assert balance(run) == {4}
    assert [str(one)[:14] for one in standings(run.header, run.attempts)] == ["shard 1 of 2: ", "shard 2 of 2: "]
    assert gather_runs(run).material.capped == (
        "2 of 2 shards stopped by their parts of the cap, after 4 of 6 rounds of theirs (turns 96 of 130)",
    )


def test_requests_that_never_arrived_are_free_and_failed_ones_are_not(here: Path) -> None:
    """By a server that says now and then that it gets too many requests, and now and then fails."""
    from tests.support.chat_api import chat_api

    replies = itertools.cycle([429, 200, 500, 200, 200])
    sent: list[int] = []

    def status() -> int:
        sent.append(next(replies))
        return sent[-1]

    with chat_api(lambda said: ("here it is", "m1"), status=status, usage=TOOK) as port:
        system = {"driver": "openai", "options": {"base_url": f"http://127.0.0.1:{port}/v1", "model": "m1"}}
        audit = yaml.safe_load(Path("audit.yaml").read_text())
        audit["systems"] = [{"name": name, "retry_wait": 0, **system} for name in ("A", "B")]
        Path("audit.yaml").write_text(json.dumps(audit))
        run = played("run", caps={"turns": 30, "tokens": 100_000})
    (found,) = standings(run.header, run.attempts)
    arrived = [one for one in sent if one != 429]
    assert {429, 500} <= set(sent)
    assert found.ledger.spent == Amounts(tokens=50 * len(arrived), turns=len(arrived))
    assert found.stopped
    assert found.whole >= 2


DESIGNS = """\
format: harvest-audit/1
name: designs
topics: fairweb-45
only: [M002, M007, R001, Y001, R002]
protocol: fairweb-two-round
order: latin
trials: 5
trials_of: {M007: 3}
systems:
  - {name: fresh, driver: parrot, concurrency: 4}
  - {name: goes-on, driver: parrot, session: continued, options: {profile: erratic, carry: 0.5}}
arms: {plain: {}, thanks: {wording: {politeness: 1}}}
"""


def test_a_larger_cap_continues_sessions_arms_and_trial_numbers_as_in_an_uncapped_run(here: Path) -> None:
    Path("audit.yaml").write_text(DESIGNS)
    rounds = []
    for turns in (70, 100, 130):
        run = played("run", caps={"turns": turns})
        rounds.append(standings(run.header, run.attempts)[0].whole)
        counts = Counter((one.key.system, one.key.topic) for one in gather_runs(run).material.finished)
        assert {count for (_, topic), count in counts.items() if topic != "M007"} == {rounds[-1]}
        assert {count for (_, topic), count in counts.items() if topic == "M007"} == {min(3, rounds[-1])}
    assert rounds == sorted(set(rounds)), "no cap let more rounds be played than the one before"
    played("run")
    played("whole")
    assert content("run") == content("whole")


def test_a_cap_below_a_single_round_is_refused_before_anything_is_sent(here: Path) -> None:
    for options in ({"caps": {"turns": 7}}, {"caps": {"turns": 15}, "shard": Shard(1, 2)}):
        with pytest.raises(InputError, match="too small for a single round, which takes at least: turns 8 of 7"):
            played("run", **options)
    assert not Path("run").exists()
    assert not requests(here)


def _run(*options: str) -> ForkedCommand:
    return ForkedCommand("run", "audit.yaml", "--out", "run", "--no-report", *options)


def killed(moments: Callable[[], float], kills: int, most: int) -> int:
    """Kill a run with a cap at these moments after its first turn, and let it end. Return how often that hit it."""
    hit = 0
    for _ in range(kills):
        before = len(list(Path("run").glob("trials-*")))
        process = _run("--max-turns", str(most))
        while process.poll() is None and len(list(Path("run").glob("trials-*"))) == before:
            time.sleep(0.005)
        time.sleep(moments())
        hit += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert len(requests(Path())) <= most
    process = _run("--max-turns", str(most))
    _, messages = process.communicate(timeout=300)
    assert process.returncode in (0, 3), messages.decode()
    return hit


@pytest.mark.parametrize("kills", [4, pytest.param(60, marks=pytest.mark.soak)])
def test_after_kills_the_cap_is_respected_and_nothing_is_lost(
    here: Path, monkeypatch: pytest.MonkeyPatch, kills: int
) -> None:
    monkeypatch.setenv("HARVEST_PAUSE", "0.02")
    moments = random.Random(20261129)
    most = 100 + 10 * kills
    write_audit(here, trials=6 if kills < 10 else 60)
    assert killed(lambda: moments.uniform(0, 0.6), kills, most) > kills // 3, "the kills came too late"
    run = read("run")
    (found,) = standings(run.header, run.attempts)
    assert found.ledger.spent.turns >= len(requests(here)), "a request that went out is not counted"
    assert len(requests(here)) <= most
    assert balance(run) == {found.whole}
    monkeypatch.setenv("HARVEST_PAUSE", "0")
    with pytest.raises(SystemExit) as done:
        main(["run", "audit.yaml", "--out", "run", "--no-report"])
    assert not done.value.code
    whole = played("whole")
    run = read("run")
    assert {(one.key, one.exchanges) for one in run.finished} == {(one.key, one.exchanges) for one in whole.finished}
    assert Counter(one.key for one in run.conversations if one.valid) == Counter(one.key for one in whole.finished)
