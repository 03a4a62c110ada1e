"""The extractor of nuggets against LiteLLM's proxy, a server nobody here wrote."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from harvest.judging.extraction.endpoint_file import read_extraction_endpoint
from harvest.judging.extraction.extracting import Extracted, extract
from recordings.log.run_folder import read
from tests.servers.litellm_proxy import KEY
from tests.support.nugget_model import endpoints_file
from tests.support.recorded_run import record

SAID = "It is old. Do you like it?"


async def extraction(
    folder: Path, address: str, monkeypatch: pytest.MonkeyPatch, *, key: str = KEY, **options: Any
) -> Extracted:
    await record(folder / "run", [SAID], trials=1)
    monkeypatch.setenv("NUGGETS_KEY", key)
    secrets: set[str] = set()
    file = endpoints_file(folder, f"{address}/v1", **{"api_key_env": "NUGGETS_KEY", "timeout": 30, **options})
    endpoint = read_extraction_endpoint(file, None, secrets)
    return await extract(folder / "run", read(folder / "run").finished, endpoint, secrets, tries=1)


async def test_a_reply_in_the_requested_shape_becomes_a_layer(
    litellm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = await extraction(tmp_path, litellm, monkeypatch, model="nuggets")
    assert (done.is_complete, done.found.unreadable) == (True, Counter())
    nuggets = [one.value for one in done.found.layer.judgments if one.criterion == "nugget"]
    assert [value["text"] for value in nuggets if isinstance(value, dict)] == ["Do you like it?"] * len(nuggets)
    assert nuggets


@pytest.mark.parametrize("model", ["mock", "empty"])
async def test_prose_and_empty_replies_are_unreadable(
    litellm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    done = await extraction(tmp_path, litellm, monkeypatch, model=model)
    assert (done.is_complete, set(done.found.unreadable)) == (False, {"not-json"})


@pytest.mark.parametrize("options", [{"model": "busy"}, {"model": "broken"}, {"model": "none"}, {"key": "sk-wrong"}])
async def test_a_request_that_the_proxy_refuses_is_a_failure_and_never_nuggets(
    litellm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    done = await extraction(tmp_path, litellm, monkeypatch, **options)
    assert (done.is_complete, done.requests, done.path) == (False, 0, None)
    assert all("endpoint-failed" in why for _, why in done.found.missing)
