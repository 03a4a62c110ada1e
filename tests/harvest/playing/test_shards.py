"""An audit shared by several machines: the merged shards are the run that one machine would have made."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from harvest.audits.audit import load_audit
from harvest.cli import main
from harvest.playing.play import play, play_audit
from recordings.files.times import unix_seconds
from recordings.log.run_folder import read
from recordings.log.shard import Shard
from recordings.merging.merge import merge
from tests.support.cluster import content, counting_api
from tests.support.fault_page import Row, code_lines, hold

AUDIT = """\
format: harvest-audit/1
name: shared
topics: fairweb-45
only: [M002, M007, R001, Y001]
protocol: fairweb-two-round
gold: parrot
order: latin
trials: 4
systems:
  - {name: fresh, driver: parrot, rate: 600/s, concurrency: 4}
  - {name: goes-on, driver: parrot, session: continued, options: {profile: erratic, carry: 0.5}}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("audit.yaml").write_text(AUDIT)
    return tmp_path


def _harvest(*arguments: str) -> int:
    with pytest.raises(SystemExit) as done:
        main(list(arguments))
    return int(done.value.code or 0)


def _content(run: str) -> set[str]:
    """Every attempt, without when it was, how long it took, and who recorded it."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items() if key not in _TIMES}
        return [plain(item) for item in value] if isinstance(value, list) else value

    return {json.dumps(plain(list(one.rows)), sort_keys=True) for one in read(run, keep_rows=True).attempts}


_TIMES = {"at", "asked_at", "first_seconds", "seconds", "worker"}


def test_merged_shards_are_the_run_of_one_machine(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _harvest("run", "audit.yaml", "--out", "whole") == 0
    for index in (3, 1, 2):
        assert _harvest("run", "audit.yaml", "--shard", f"{index}/3") == 0
    shards = [f"runs/shared-{index}-of-3" for index in (1, 2, 3)]
    said = capsys.readouterr().err
    assert "1/3 of each system's pace" in said
    assert f"harvest data merge {' '.join(shards)} --out runs/shared" in said

    assert _harvest("data", "merge", shards[2], shards[0], "--out", "two") == 3
    assert "missing: 1 shard of 3 not merged: 2" in capsys.readouterr().err
    assert _harvest("data", "merge", *shards, "--out", "merged") == 0
    assert _harvest("data", "merge", "two", shards[1], "--out", "in steps") == 0

    assert _content("merged") == _content("in steps") == _content("whole")
    capsys.readouterr()
    rows = []
    for run in ("merged", "whole"):
        _harvest("score", run, "--json")
        rows.append(json.loads(capsys.readouterr().out)["rows"])
    assert rows[0] == rows[1]
    assert _harvest("run", "audit.yaml", "--out", "merged") == 0
    assert "nothing to play" in capsys.readouterr().err


def test_machines_that_share_a_store_and_no_folder_record_the_run_of_one(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = f"file://{here}/store"
    assert _harvest("run", "audit.yaml", "--out", "whole") == 0
    for place, index in (("east", 1), ("west", 2)):
        Path(place).mkdir()
        monkeypatch.chdir(place)
        assert _harvest("run", "../audit.yaml", "--shard", f"{index}/2", "--store", store) == 0
        monkeypatch.chdir(here)
    assert f"harvest data merge {store} --out runs/shared" in capsys.readouterr().err
    assert _harvest("data", "merge", f"{store}/1-of-2", "--out", "half") == 3
    assert "missing: 1 shard of 2 not merged: 2" in capsys.readouterr().err
    assert _harvest("data", "merge", store, "--out", "merged") == 0
    assert _content("merged") == _content("whole")
    assert _harvest("run", "audit.yaml", "--shard", "1/2", "--store", store) == 0
    assert "; nothing to play" in capsys.readouterr().err, "a third machine has all of it"
    assert sorted(path.name for path in here.iterdir() if path.name.startswith(".")) == []


def test_a_store_has_one_division(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = f"file://{here}/store"
    few = ("run", "audit.yaml", "--topics", "M002", "--trials", "1", "--store", store)
    assert _harvest(*few, "--shard", "1/2") == 0
    capsys.readouterr()
    assert _harvest(*few, "--shard", "1/3") == 2
    told = capsys.readouterr().err
    assert "divided into 2 shards, not 3\n  allowed: --shard I/2" in told
    hold(
        Row(
            "an audit is dealt out in another way at the same address: `--shard 1/3` where shards of 2 are",
            "nothing was sent",
            "no",
            code_lines(told[told.index("error: ") :].replace(store, "…")),
            "`test_a_store_has_one_division`",
        ),
        "Stores and links",
    )
    assert _harvest(*few[:-1], f"{store}/1-of-2", "--shard", "1/2") == 2
    said = capsys.readouterr().err
    assert f"error: {store}/1-of-2: this is the address of one run in a store" in said
    assert f"do: give --store {store}\n" in said
    assert not Path("runs/shared-1-of-3").exists()
    assert sorted(one.name for one in Path("store").iterdir()) == ["1-of-2"]


def test_an_invalid_worker_name_shuts_nobody_out(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = ("--store", f"file://{here}/store", "--shard", "1/2")
    few = ("run", "audit.yaml", "--topics", "M002", "--trials", "1")
    for name in ("../x", "x" * 61):
        assert _harvest(*few, *store, "--worker", name) == 2
        said = capsys.readouterr().err
        assert f"error: {name!r} cannot be a worker's name\n  allowed: up to 60 letters, digits" in said
    assert not list(Path("store").rglob("claim"))
    assert _harvest(*few, *store, "--worker", "x" * 60) == 0


def test_a_store_has_one_audit(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = f"file://{here}/store"
    few = ("run", "audit.yaml", "--topics", "M002", "--trials", "2", "--store", store)
    assert _harvest(*few, "--shard", "1/2") == 0
    capsys.readouterr()
    assert _harvest(*few, "--shard", "2/2", "--seed", "7") == 2
    said = capsys.readouterr().err
    assert f"error: {store}/1-of-2: the audit at this address was recorded with different settings:" in said
    assert "the seed was 1 and is now 7" in said
    assert not Path("runs/shared-2-of-2").exists(), "it is refused before anything is sent"
    assert [one.name for one in Path("store").iterdir()] == ["1-of-2"]

    # More trials are no other audit, and what is wrong with another shard does not stop this one.
    (header,) = Path("store/1-of-2/stints").glob("*/run.json")
    header.write_bytes(header.read_bytes()[:-9])
    more = [*few[:5], "4", *few[6:]]
    assert _harvest(*more, "--shard", "2/2") == 0


def test_a_run_continues_as_its_shard(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _harvest("run", "audit.yaml", "--shard", "1/2", "--out", "one") == 0
    for others in (["--shard", "2/2"], []):
        assert _harvest("run", "audit.yaml", *others, "--out", "one") == 2
        assert "it was shard 1 of 2 and is now" in capsys.readouterr().err
    assert _harvest("run", "audit.yaml", "--shard", "1/2", "--trials", "6", "--out", "one") == 0
    assert _harvest("run", "audit.yaml", "--shard", "2/2", "--out", "two") == 0
    assert _harvest("data", "merge", "one", "two", "--out", "both") == 2
    said = "shards of different audits: trials differs (4 and 6), between shard 1 of 2 and shard 2 of 2"
    assert said in capsys.readouterr().err
    assert _harvest("run", "audit.yaml", "--shard", "3/3", "--out", "three") == 0
    assert _harvest("data", "merge", "two", "three", "--out", "both") == 2
    assert "different divisions: into 2 shards and into 3 shards" in capsys.readouterr().err


def test_a_salvaged_shard_continues_as_that_shard(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No trial of the other machines is played for it."""
    for index in (1, 2):
        assert _harvest("run", "audit.yaml", "--shard", f"{index}/2", "--out", f"{index}") == 0
    (file,) = Path("1").glob("trials-*.jsonl")
    file.write_bytes(file.read_bytes().replace(b'"event":"turn"', b'"event"="turn"', 1))
    capsys.readouterr()
    assert _harvest("data", "merge", "1", "--salvage", "--out", "saved") == 3
    said = capsys.readouterr().err
    assert "shards of 2" not in said, "what is missing in the others is not missing here"
    assert "missing: 1 of 16 trials without a valid attempt" in said
    assert "played again by: harvest run AUDIT --shard 1/2 --out saved\n" in said
    assert _harvest("score", "saved") == 2
    assert _harvest("run", "audit.yaml", "--shard", "1/2", "--out", "saved") == 0
    assert "15 of 16 trials; 1 to play" in capsys.readouterr().err
    assert _harvest("data", "merge", "saved", "2", "--out", "both") == 3, "what was damaged stays noted"
    assert _harvest("data", "merge", "1", "2", "--salvage", "--out", "saved whole") == 3
    assert "by: harvest run AUDIT --out 'saved whole'\n" in capsys.readouterr().err
    assert _harvest("run", "audit.yaml", "--out", "both") == 0
    assert "nothing to play" in capsys.readouterr().err


def test_an_audit_continued_from_a_shard_is_salvaged_as_the_audit(here: Path) -> None:
    assert _harvest("run", "audit.yaml", "--shard", "1/2", "--out", "one") == 0
    assert _harvest("data", "merge", "one", "--out", "under way") == 3
    assert _harvest("run", "audit.yaml", "--out", "under way") == 0
    assert _harvest("data", "merge", "under way", "--salvage", "--out", "saved") == 0
    assert _harvest("score", "saved") == 0


def test_a_merged_run_keeps_its_noted_changes_when_it_is_merged_again(here: Path) -> None:
    for index in (1, 2):
        assert _harvest("run", "audit.yaml", "--shard", f"{index}/2", "--out", f"{index}") == 0
    assert _harvest("data", "merge", "1", "2", "--out", "both") == 0
    Path("audit.yaml").write_text(AUDIT.replace("trials: 4", "trials: 5") + "scoring: {patience: 5}\n")
    assert _harvest("run", "audit.yaml", "--out", "both") == 0
    assert _harvest("data", "merge", "both", "--out", "again") == 0
    assert _harvest("data", "merge", "again", "both", "--out", "once more") == 0
    for run in ("again", "once more"):
        audit: Any = read(run).header.audit
        assert (audit["trials"], audit["scoring"]) == (5, {"patience": 5})


def test_shards_whose_figures_would_depend_on_the_order_are_refused(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Scoring, thresholds, name, and what the gold says; once all are of one audit again, they are merged."""
    small = AUDIT.replace("only: [M002, M007, R001, Y001]", "only: [M002]").replace("trials: 4", "trials: 2")
    title, *rows = (resources.files("topics") / "parrot.gold.csv").read_text().splitlines(keepends=True)
    rows = [row for row in rows if row.startswith("M002,")]
    Path("gold.csv").write_text("".join([title, *rows]))
    small = small.replace("gold: parrot", "gold: gold.csv")
    changes = {
        "name differs ('other' and 'shared')": small.replace("name: shared", "name: other"),
        "scoring.patience differs (50 and not given)": small + "scoring: {patience: 50}\n",
        "thresholds differs": small + 'thresholds: [{measure: "%useful S1", at_least: 0}]\n',
        "gold differs ('gold.csv' and not given)": small.replace("gold: gold.csv\n", ""),
    }
    Path("audit.yaml").write_text(small)
    assert _harvest("run", "audit.yaml", "--shard", "1/2", "--out", "one") == 0
    for number, (said, text) in enumerate(changes.items()):
        Path("changed.yaml").write_text(text)
        assert _harvest("run", "changed.yaml", "--shard", "2/2", "--out", f"two-{number}") == 0
        capsys.readouterr()
        for runs in (("one", f"two-{number}"), (f"two-{number}", "one")):
            assert _harvest("data", "merge", *runs, "--out", "both") == 2, said
            assert f"shards of different audits: {said}" in capsys.readouterr().err

    Path("gold.csv").write_text("".join([title, *rows[1:]]))
    assert _harvest("run", "audit.yaml", "--shard", "2/2", "--out", "two") == 0
    capsys.readouterr()
    assert _harvest("data", "merge", "one", "two", "--out", "both") == 2
    assert "shards of different audits: the gold of " in capsys.readouterr().err
    assert _harvest("run", "audit.yaml", "--shard", "1/2", "--out", "one") == 0
    assert _harvest("data", "merge", "one", "two", "--out", "both") == 0


def test_the_figures_of_a_shard_are_not_mistaken_for_those_of_the_audit(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topic = ("--topics", "M002", "--trials", "2")
    for shard in ("1/2", "1/1"):
        assert _harvest("run", "audit.yaml", *topic, "--shard", shard, "--out", shard.replace("/", "of")) == 0
    commands = (("score",), ("compare",), ("variance",), ("report",), ("watch bless", "--out", "b.json"))
    capsys.readouterr()
    for command, *options in (*commands, ("tree", "--score", "S1")):
        assert _harvest(*command.split(), "1of2", *options) == 2, command
        said = capsys.readouterr()
        assert said.out == ""
        assert "1of2: this is only shard 1 of 2: its figures would be mistaken" in said.err, command
        assert "do: merge all shards" in said.err
    assert not {*here.glob("*.html"), *here.glob("*.json")}
    for command in ("show", "tree"):
        assert _harvest(command, "1of2") == 0
        assert "note: this is shard 1 of 2 of an audit" in "".join(capsys.readouterr())
    assert _harvest("score", "1of1") == 0, "it is the whole audit"
    assert _harvest("data", "merge", "1of2", "--out", "half") == 3
    assert _harvest("score", "half") == 0
    assert "planned trials not played yet" in "".join(capsys.readouterr())


def test_each_machine_has_its_share_of_the_limits_of_a_system(here: Path) -> None:
    whole, shard = load_audit("audit.yaml"), load_audit("audit.yaml", shard=Shard(2, 3))
    for one, part in zip(whole.systems, shard.systems, strict=True):
        assert part.limits.spacing == pytest.approx(3 * one.limits.spacing)
    assert [one.limits.concurrency for one in shard.systems] == [1, 1]


def test_a_shard_without_a_trial_says_so(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    codes = [
        _harvest("run", "audit.yaml", "--topics", "M002", "--trials", "1", "--shard", f"{i}/9") for i in range(1, 10)
    ]
    assert codes == [0] * 9
    assert capsys.readouterr().err.count("nothing to play") == 7  # one for the fresh topic, one for the session


def test_three_simultaneous_shards_ask_nothing_twice_and_each_respects_its_share_of_the_rate(here: Path) -> None:
    """One of them is stopped and resumed. Shards do not know of each other, so each keeps three times the spacing."""
    with counting_api() as api:
        counted = (
            AUDIT[: AUDIT.index("systems:")].replace("gold: parrot\n", "")
            + f"""systems:
  - name: counting
    driver: openai
    rate: 20/s
    concurrency: 3
    options: {{base_url: "{api.url}", model: m, seed: trial}}
"""
        )
        Path("counted.yaml").write_text(counted)

        async def play_shard(index: int) -> None:
            audit = load_audit("counted.yaml", shard=Shard(index, 3))
            await play_audit(audit, here / f"{index}", worker=f"shard{index}")

        async def play_all() -> None:
            first, *others = (asyncio.create_task(play_shard(index)) for index in (1, 2, 3))
            await asyncio.sleep(0.2)
            first.cancel()
            with suppress(asyncio.CancelledError):
                await first
            await play_shard(1)
            await asyncio.gather(*others)

        asyncio.run(play_all())
        asked, spacing = api.asked.copy(), 3 / 20
        merge([Path("1"), Path("2"), Path("3")], Path("merged"))
        merged = read("merged", keep_rows=True)
        turns = sum(len(one.turns) for one in merged.finished)
        assert len(merged.finished) == len({one.key for one in merged.finished}) == 16
        assert turns <= asked.total() <= turns + 1
        assert max(asked.values()) <= 2
        for index in (1, 2, 3):
            replies = [turn.reply for one in read(f"{index}").conversations for turn in one.turns]
            sent = sorted(unix_seconds(reply.asked_at) for reply in replies if reply is not None)
            assert sent[-1] - sent[0] >= (len(sent) - 2) * spacing - 0.1  # the one that was resumed began twice
        play("counted.yaml", "whole")
    assert content(merged) == content(read("whole", keep_rows=True))
