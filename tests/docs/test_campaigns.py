"""docs/campaigns.md: its campaigns are taken, and played against the servers of their tracks."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from harvest.campaigns.campaign import CampaignFile, load_campaign
from harvest.campaigns.track import track_names
from harvest.drivers.options import WireOptions
from recordings.log.run_folder import read
from tests.servers.local_http import completions, serving
from tests.servers.tracks import TOKEN, InteractiveTask, UserSim
from tests.support.checkout import DOCS
from tests.support.command_line import harvest

PAGE = (DOCS / "campaigns.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
GOALS = ({"id": "g1", "context": "I study rivers.", "topic": "Which datasets have river levels?"},)


@pytest.mark.parametrize("block", BLOCKS, ids=[re.findall(r"name: (\S+)", block)[0] for block in BLOCKS])
def test_each_campaign_is_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: str) -> None:
    monkeypatch.setenv("USERSIM_TOKEN", TOKEN)
    monkeypatch.setenv("IKAT_TOKEN", TOKEN)
    server = InteractiveTask(topics={"1-1": ["Hi.", "And?", "Bye."]}) if "ikat" in block else UserSim(goals=GOALS)

    async def played() -> str:
        async with serving(server) as track, serving(completions) as system:
            text = re.sub(r"^url: \S+", f"url: {track.url}", block, flags=re.MULTILINE)
            (tmp_path / "c.yaml").write_text(text.replace("http://127.0.0.1:8000", system.url))
            campaign = load_campaign(tmp_path / "c.yaml")
            with campaign.submission(1, tmp_path / "ledger", debug=False, report=lambda _: None) as submission:
                await submission.play()
                difference = (await submission.check())[1]
                await submission.side.close()
                await submission.server.close()
                return difference

    assert asyncio.run(played()) == ""
    assert harvest("data", "import", tmp_path / "ledger", "--out", tmp_path / "run").returncode == 0
    first = read(tmp_path / "run").conversations[0].turns[0].reply
    assert first is not None
    assert bool(first.tokens) == isinstance(server, InteractiveTask)
    if isinstance(server, UserSim):
        assert server.paths[:2] == (
            ["/run/start", "/run/continue"] if "api:" in block else ["/task2/run/start", "/task2/run/continue"]
        )


def test_every_key_and_every_track_is_on_the_page() -> None:
    for key in CampaignFile.model_fields:
        assert f"`{key}`" in PAGE or f"\n{key}: " in PAGE or f"\n{key}:\n" in PAGE, key
    for name in track_names():
        assert f"track: {name}" in PAGE
    assert WireOptions.model_fields.keys() < CampaignFile.model_fields.keys()
