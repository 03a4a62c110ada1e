"""The judge against LiteLLM's proxy, a server nobody here wrote."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from harvest.judging.models.judge_file import read_judge
from harvest.judging.models.judging import Judged, judge_things
from harvest.judging.models.questions import item_things
from harvest.judging.serving.questions import questions
from harvest.judging.sheets.asked_rows import Draw, assess_run, select_rows
from recordings.log.run_folder import read
from scoring.swan.schema import load_schema
from tests.servers.litellm_proxy import KEY
from tests.support.judge_model import judge_file
from tests.support.recorded_run import record


async def judging(
    folder: Path, address: str, monkeypatch: pytest.MonkeyPatch, *, model: str, key: str = KEY, samples: int = 1
) -> Judged:
    await record(folder / "run", ["It is old.", "Do you like it?"], trials=1)
    monkeypatch.setenv("JUDGE_KEY", key)
    secrets: set[str] = set()
    options: dict[str, Any] = {"model": model, "api_key_env": "JUDGE_KEY", "timeout": 30, "temperature": 0.5}
    judge, endpoint = read_judge(
        judge_file(folder, f"{address}/v1", endpoint=options, criteria=["Fluency"], samples=samples), secrets
    )
    schema, recorded = load_schema(), read(folder / "run")
    assessed = assess_run(folder / "run", recorded, schema)
    rows, _ = select_rows(assessed, schema, ["Fluency"], Draw(), "model")
    things = item_things(questions(rows, assessed), judge, {})
    return await judge_things(folder / "run", things, judge, endpoint, secrets, tries=1)


async def test_a_reply_in_the_requested_shape_becomes_a_layer(
    litellm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = await judging(tmp_path, litellm, monkeypatch, model="judge", samples=2)
    assert [(one.value, one.samples, one.note) for one in done.layer.judgments] == [
        (1.0, (1.0, 1.0), "It reads well.")
    ] * 2
    assert (done.requests, done.failures) == (4, {})


@pytest.mark.parametrize(
    ("model", "key", "why"),
    [
        ("mock", KEY, "nonsense"),
        ("empty", KEY, "nonsense"),
        ("nuggets", KEY, "out of schema"),
        ("long", KEY, "overflowed"),
        ("busy", KEY, "failed"),
        ("broken", KEY, "failed"),
        ("none", KEY, "failed"),
        ("judge", "sk-wrong", "failed"),
    ],
)
async def test_any_other_reply_of_the_proxy_leaves_items_unjudged(
    litellm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, key: str, why: str
) -> None:
    done = await judging(tmp_path, litellm, monkeypatch, model=model, key=key)
    assert done.unjudged == Counter({why: 2}), done.failures
