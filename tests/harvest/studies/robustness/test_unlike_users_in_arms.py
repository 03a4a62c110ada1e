"""Arms and groups whose users say something else by the system's answers: no study names a winner among them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import yaml

from harvest.audits.audit import load_audit
from harvest.playing.play import play
from harvest.studies.robustness.factors import factor_study
from harvest.studies.robustness.ranking_by_user import ranking_by_user
from harvest.studies.robustness.robustness import robustness
from harvest.studies.scores.arms import gather_arms
from tests.harvest.voices.test_endpoint import completion
from tests.servers.local_http import Asked, serving
from tests.support.failing_users import SYSTEMS
from tests.support.faulty_turns import NEEDS

NEED = NEEDS["en"]
PROTOCOL = {
    "format": "harvest-protocol/1",
    "name": "talk",
    "version": 1,
    "start": "talk",
    "turn_limit": 2,
    "rules": {"unanswered": {"contains": {"phrases": ["No idea"]}}},
    "users": {
        "visitor": {
            "simulator": "llm",
            "over": {"simulator": "agenda", "requests": [NEED.intended, NEED.second], "stop": None, "initiative": 0.0},
        }
    },
    "states": {
        "talk": {
            "user": "visitor",
            "edges": [
                {"if": "unanswered", "label": "x", "go": "talk"},
                {"otherwise": True, "label": "o", "go": "talk"},
            ],
        }
    },
}
SYSTEM = """\
import random
draws = random.Random({seed})
def answer(text):
    return "{name} " + ("Here it is." if draws.random() < .8 else "No idea.") + " %d" % draws.randrange(10**6)
"""


async def test_arms_rankings_and_factors_withhold_differences_that_unlike_users_may_explain(tmp_path: Path) -> None:
    """The model takes leave after SYSB's answers where its person is a sailor; elsewhere it says what was meant."""

    async def words(asked: Asked, writer: asyncio.StreamWriter) -> None:
        messages = asked.json["messages"]
        told, last = messages[0]["content"], messages[-1]["content"]
        meant = told.split("not the person's own yet:\n")[1].split("\n\nSay this as")[0]
        sails = "a sailor" in told and last.startswith("SYSB")
        writer.write(completion(NEED.faulty["farewell"][asked.json["seed"] % 3] if sails else meant))
        await writer.drain()

    for name, seed in zip(SYSTEMS, (1, 2), strict=True):
        (tmp_path / f"{name}.py").write_text(SYSTEM.format(name=name, seed=seed))
    (tmp_path / "talk.yaml").write_text(json.dumps(PROTOCOL))
    async with serving(words) as server:
        audit = {
            "format": "harvest-audit/1",
            "name": "arms",
            "topics": "fairweb-45",
            "only": [f"M{number:03}" for number in range(1, 16)],
            "protocol": "talk.yaml",
            "trials": 3,
            "systems": [
                {"name": name, "driver": "python", "options": {"function": f"{name}.py:answer"}} for name in SYSTEMS
            ],
            "factors": {"person": {"anybody": {}, "sailor": {"users": {"visitor": {"persona": "a sailor"}}}}},
            "endpoints": {"words": {"base_url": server.url, "model": "m", "retries": 0}},
        }
        (tmp_path / "audit.yaml").write_text(yaml.safe_dump(audit))
        run = await asyncio.to_thread(play, load_audit(str(tmp_path / "audit.yaml")), tmp_path / "run")
    armed = gather_arms(run)
    assert {(one.system, one.other) for one in armed.material.user_card.withholding_differences} >= {
        ("SYSB [sailor]", "SYSA [sailor]"),
        ("SYSB [sailor]", "SYSB [anybody]"),
    }
    first, second = robustness(armed)
    (mean,) = second.measures
    own = mean.differences["sailor"]
    assert own.beyond is not True
    assert own.interval.method.endswith("within the bounds of what was lost")
    assert any("met unlike users" in note for note in second.notes)
    assert not any("met unlike users" in note for note in first.notes)
    assert first.measures[0].differences["sailor"].interval.method != own.interval.method
    assert ranking_by_user(armed) == ()
    study = factor_study(armed)
    assert study is not None
    assert {one.name for one in study.effects} == {"SYSA"}
    assert [why.partition(":")[0] for why in study.left_out] == ["SYSB", "SYSA − SYSB"]
