"""From one audit to what people say of it: run, pool, serve, score, report, by commands alone; no file is edited."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import httpx
import pytest

from harvest.serving.guard import TOKEN_HEADER
from tests.support.command_line import harvest
from tests.support.judging_command import serving
from tests.support.reported import small_run

SAID = {"anna": 1, "ben": 0, "carl": 1}


def decide(link: str, value: float) -> int:
    """Every question of one person, as the page asks and answers. How many there were."""
    address, _, token = link.partition("#")
    with httpx.Client(base_url=address, headers={TOKEN_HEADER: token, "Origin": address.rstrip("/")}) as client:
        work = client.get("/api/work").raise_for_status().json()
        for number, (known, _) in enumerate(work["questions"]):
            shown = client.get(f"/api/questions/{known}").raise_for_status().json()
            assert any(side["asked"] for told in shown["conversations"] for side in told)
            sent = {"id": f"{work['person']}-{number:016}", "question": known, "value": value, "note": ""}
            progress = client.post("/api/answers", json=sent).raise_for_status().json()["progress"]
        assert (progress["done"], progress["of"]) == (len(work["questions"]), len(work["questions"]))
    return len(work["questions"])


def pooled(run: Path) -> int:
    """Words whose Correctness is judged."""
    told = harvest("judge", "pool", run, "--criterion", "Correctness", "--json")
    assert told.returncode == 0, told.stderr
    rows = [row for row in json.loads(told.stdout)["long"] if row["measure"] == "Correctness"]
    counts = {row["figure"]: row["estimate"] for row in rows}
    assert counts["things"] > 12
    return int(counts["things judged"])


def test_what_people_decide_is_in_pool_score_and_report(tmp_path: Path) -> None:
    run = small_run(tmp_path, trials=1)
    assert pooled(run) == 0
    with serving(run, "--criterion", "Correctness", "--sample", "12", "--once", people=tuple(SAID)) as server:
        asked = {decide(server.links[name], value) for name, value in SAID.items()}
        code, told = server.end(signal.SIGINT)
    (count,) = asked
    assert (code, count > 6) == (0, True), told
    assert "Krippendorff" in told
    assert pooled(run) == count

    scored = harvest("score", run, "-m", "WAN(Correctness)", "--json")
    assert scored.returncode == 0, scored.stderr
    rows = json.loads(scored.stdout)["rows"]
    systems = [one for one in rows if one["trial"] is None and one["topic"] is None and one["topic_type"] is None]
    # Two of three say 1, of everything: none of them is the one who counts.
    assert {one["system"]: one["value"] for one in systems} == pytest.approx({"A": 2 / 3, "B": 2 / 3})
    assert all(one["n"] > 0 and one["scorers"] for one in systems)
    alone = harvest("score", run, "-m", "WAN(Correctness)", "--judgments", "ben", "--json")
    assert {one["value"] for one in json.loads(alone.stdout)["rows"] if one["n"]} == {0.0}

    page = tmp_path / "report.html"
    assert harvest("report", run, "--out", page).returncode == 0
    text = page.read_text(encoding="utf-8")
    assert "0.67" in text
    for name in SAID:
        assert f"human {name}" in text
