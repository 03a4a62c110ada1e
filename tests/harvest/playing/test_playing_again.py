"""One audit object is played as often as somebody likes: one after the other, at the same time, and by every driver."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

import harvest
from harvest.audits.placebo import placebo_audit
from recordings import Run
from tests.harvest.systems.test_conformance import CASES, _filled
from tests.harvest.voices.test_endpoint import audit_file, completion, saying
from tests.servers.local_http import serving

ECHOES = {
    "format": "harvest-protocol/1",
    "name": "echoes",
    "version": 1,
    "start": "one",
    "states": {
        name: {"say": f"echo: {name}", "edges": [{"otherwise": True, "label": "o", **to}]}
        for name, to in {"one": {"go": "two"}, "two": {"stop": "completed"}}.items()
    },
}
LIGHT = tuple(name for name, case in CASES.items() if not case.heavy and name != "replay")


async def audit_of(names: tuple[str, ...], folder: Path, stack: AsyncExitStack) -> harvest.Audit:
    """An audit in which each of the cases is a system, with its server until the stack is closed."""
    systems: list[dict[str, Any]] = []
    for name in names:
        case = CASES[name]
        url = (await stack.enter_async_context(case.server())).url if case.server else ""
        options = _filled(case.options, url)
        systems.append({"name": name, "driver": case.driver, "options": options, "attempts": 1})
    (folder / "echoes.yaml").write_text(json.dumps(ECHOES))
    audit = {"format": "harvest-audit/1", "name": "again", "topics": "fairweb-45", "only": ["M002"], "trials": 1}
    (folder / "audit.yaml").write_text(json.dumps({**audit, "protocol": "echoes.yaml", "systems": systems}))
    return harvest.load_audit(str(folder / "audit.yaml"))


def texts(run: Run) -> dict[str, list[str]]:
    return {one.key.system: [turn.reply.answer.text for turn in one.turns if turn.reply] for one in run.finished}


@pytest.mark.parametrize("names", [LIGHT, pytest.param(("browser-page",), marks=pytest.mark.soak)])
async def test_an_audit_is_played_again_by_every_driver_and_twice_at_a_time(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    async with AsyncExitStack() as stack:
        audit = await audit_of(names, tmp_path, stack)
        first = await harvest.aplay(audit, tmp_path / "x1")
        others = [harvest.aplay(audit, tmp_path / "x2")]
        if names == LIGHT:  # a browser takes seconds to start
            others.append(asyncio.to_thread(harvest.play, audit, tmp_path / "x3"))  # in an event loop of its own
        runs = [first, *await asyncio.gather(*others)]
    assert [len(said) for said in texts(first).values()] == [2] * len(names)
    assert [texts(run) for run in runs] == [texts(first)] * len(runs)
    assert {len(run.conversations) for run in runs} == {len(names)}, "no attempt was invalid"


@pytest.mark.parametrize("finds", ["refused", "nobody"])
async def test_a_system_without_a_valid_attempt_causes_a_warning(tmp_path: Path, finds: str) -> None:
    """A program does not see what `harvest run` prints. The other system of the audit is not warned of."""
    port = 9  # nobody listens there
    async with AsyncExitStack() as stack:
        if finds == "refused":
            refusing = saying(b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n")
            port = int((await stack.enter_async_context(serving(refusing))).url.rpartition(":")[2])
        await audit_of(("python-text", "openai-plain"), tmp_path, stack)
        file = tmp_path / "audit.yaml"
        system = json.loads(file.read_text())
        system["systems"][1].update(
            options={"base_url": f"http://127.0.0.1:{port}/v1", "model": "m"}, attempts=2, retries=0
        )
        file.write_text(json.dumps(system))
        with pytest.warns(
            UserWarning, match="'openai-plain' has no valid attempt, so no figures; [12] invalid"
        ) as told:
            await harvest.aplay(str(file), tmp_path / "run")
        assert [Path(one.filename).name for one in told] == [Path(__file__).name]
        with pytest.warns(UserWarning, match="no valid attempt"):
            await asyncio.to_thread(harvest.play, harvest.load_audit(str(file)), tmp_path / "run2")


def test_a_replay_is_played_again_too(tmp_path: Path) -> None:
    run = harvest.play(harvest.load_audit("demo", only=("M001",), trials=2), tmp_path / "run")
    text = json.dumps(
        {
            "format": "harvest-audit/1",
            "name": "again",
            "topics": "fairweb-45",
            "only": ["M001"],
            "protocol": "fairweb-two-round",
            "trials": 2,
            "systems": [{"name": "A", "driver": "replay", "options": {"run": "run"}}],
        }
    )
    (tmp_path / "audit.yaml").write_text(text)
    audit = harvest.load_audit(str(tmp_path / "audit.yaml"))
    for name in ("x1", "x2"):
        assert texts(harvest.play(audit, tmp_path / name))["A"] == texts(run)["A"]


async def test_the_models_that_word_turns_are_rebuilt_for_another_play_and_for_the_placebo(tmp_path: Path) -> None:
    async with serving(saying(completion("Which salads are vegan?"))) as server:
        asked = {"driver": "openai", "options": {"base_url": server.url, "model": "m"}}
        audit = harvest.load_audit(str(audit_file(tmp_path, server.url, system=asked)))
        for name in ("x1", "x2"):
            assert len((await harvest.aplay(audit, tmp_path / name)).finished) == 1
        # `harvest watch run` plays the placebo of an audit after the audit.
        placebo = placebo_audit(audit, server.url)
        assert len((await harvest.aplay(placebo, tmp_path / "placebo")).finished) == 1
