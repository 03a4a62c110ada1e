"""A system that only says that it is asked too much, from the audit to the exit code, and what the same command does
later."""

from __future__ import annotations

from pathlib import Path

import pytest

from recordings.log.run_folder import read
from tests.support.chat_api import chat_api
from tests.support.command_line import harvest

AUDIT = """\
format: harvest-audit/1
name: busy
topics: fairweb-45
only: [M001, M002, R001, R002]
protocol: fairweb-two-round
trials: TRIALS
systems:
  - name: A
    driver: openai
    concurrency: CONCURRENCY
    busy_timeout: 1
    retry_wait: 0.1
    options: {base_url: "http://127.0.0.1:PORT/v1", model: m}
"""


@pytest.mark.parametrize(("concurrency", "trials"), [(1, 1), (20, 6)])
def test_a_busy_system_is_abandoned_with_invalid_trials_and_the_same_command_plays_them_later(
    tmp_path: Path, concurrency: int, trials: int
) -> None:
    statuses = [429]
    with chat_api(
        lambda turns: ("Here: https://www.imdb.com/title/tt9000000001/", "m"), status=lambda: statuses[0]
    ) as port:
        text = AUDIT.replace("PORT", str(port)).replace("CONCURRENCY", str(concurrency)).replace("TRIALS", str(trials))
        (tmp_path / "audit.yaml").write_text(text)
        first = harvest("run", "audit.yaml", "--out", "run", cwd=tmp_path, width=200)
        assert first.returncode == 3
        assert "A says that it gets too many requests: unless it answers, Harvest waits until " in first.stderr
        assert "A is not contacted again: it has only said for " in first.stderr
        assert "s that it gets too many requests, and Harvest waits for at most 1 s (busy_timeout)" in first.stderr
        assert not read(tmp_path / "run").finished
        statuses[0] = 200
        second = harvest("run", "audit.yaml", "--out", "run", cwd=tmp_path, width=200)
    assert second.returncode == 0, second.stderr
    assert len(read(tmp_path / "run").finished) == 4 * trials


@pytest.mark.parametrize("value", ["0", "-1", "soon", "100000"])
def test_an_invalid_bound_is_refused_at_its_place(tmp_path: Path, value: str) -> None:
    text = (
        AUDIT.replace("PORT", "1")
        .replace("CONCURRENCY", "1")
        .replace("TRIALS", "1")
        .replace("busy_timeout: 1", f"busy_timeout: {value}")
    )
    (tmp_path / "audit.yaml").write_text(text)
    refused = harvest("check", "audit.yaml", cwd=tmp_path)
    assert refused.returncode == 2
    assert "audit.yaml:11:19: busy_timeout: must be" in refused.stderr
