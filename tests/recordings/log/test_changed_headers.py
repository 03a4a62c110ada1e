"""A `run.json` that somebody changed is one message with its place, for every command that reads it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harvest.cli import main
from harvest.studies.runs.side_by_side import find_contrasts
from harvest.studies.scores.gathered import gather_runs
from recordings.log.continuation import refuse_differences
from recordings.log.run_folder import read
from recordings.log.turn_counts import most_turns
from recordings.merging.merge import merge
from topics.errors import InputError

AUDIT = """\
format: harvest-audit/1
name: changed
topics: fairweb-45
only: [M002]
protocol: fairweb-two-round
trials: 1
scoring: {alpha: 0.4, gains: {L1: 0.5}, weights: {RATINGS: 1}, shares: bootstrap}
thresholds: [{measure: "%useful", system: mine, turn: 1, at_least: 0.0}]
systems:
  - {name: mine, driver: parrot}
"""
WRONG: tuple[object, ...] = ("x", True, -1, 10**30, ["x"], {"x": [1]})

Loc = tuple[str | int, ...]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("played")
    (folder / "audit.yaml").write_text(AUDIT)
    with pytest.raises(SystemExit) as ended:
        main(["run", "--no-report", str(folder / "audit.yaml"), "--out", str(folder / "run")])
    assert ended.value.code == 0
    merge([folder / "run"], folder / "merged")  # whose header has parts
    return folder / "merged"


def fields(value: object, loc: Loc = ()) -> Iterator[Loc]:
    """Ways to all fields; of topics and protocol, which have tests of their own, the first level."""
    if loc:
        yield loc
    if loc[:1] in (("topics",), ("protocol",)) and len(loc) > 1:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            yield from fields(item, (*loc, key))
    if isinstance(value, list) and value:
        yield from fields(value[0], (*loc, 0))


def changed(value: Any, loc: Loc, item: object) -> Any:
    head, *rest = loc
    inner = changed(value[head], tuple(rest), item) if rest else item
    if isinstance(value, list):
        return [inner, *value[1:]]
    return {**value, head: inner}


@pytest.mark.parametrize("every", [6, pytest.param(1, marks=pytest.mark.soak)])
def test_no_field_of_a_header_can_be_changed_into_a_fault_of_harvest(every: int, run: Path, tmp_path: Path) -> None:
    """every: each field is changed to one of so many of the wrong values, the next field to the next of them."""
    shutil.copytree(run, tmp_path / "run")
    file = tmp_path / "run" / "run.json"
    value = json.loads(file.read_text())
    whole = read(run)
    refused = 0
    for place, loc in enumerate(fields(value)):
        for item in WRONG[place % every :: every]:
            file.write_text(json.dumps(changed(value, loc, item), indent=2))
            try:
                taken = read(tmp_path / "run")
                _ = gather_runs(taken).material
                most_turns(taken.header, taken.conversations)
                find_contrasts([whole, taken])
                refuse_differences(taken.header, whole.header, "run")
            except InputError:
                refused += 1
            except Exception as fault:
                raise AssertionError(f"{'.'.join(map(str, loc))}: {item!r}") from fault
    assert refused > 200 / every


@pytest.mark.parametrize(
    ("loc", "item", "words"),
    [
        (("audit", "trials"), "x", "audit.trials: must be a whole number"),
        (("audit", "trials"), 10**12, "audit.trials: must be a whole number from 0 to 1000000"),
        (("audit", "thresholds"), "x", "audit.thresholds: must be a list"),
        (("audit", "thresholds", 0), [], "audit.thresholds.0: must be an object"),
        (("audit", "thresholds", 0, "at_least"), "x", "at_least: must be a number"),
        (("audit", "thresholds", 0, "turn"), -1, "turn: must be at least 1"),
        (("audit", "scoring"), "x", "audit.scoring: must be an object"),
        (("audit", "scoring", "alpha"), "x", "alpha: must be a number"),
        (("audit", "scoring", "weights"), [], "weights: must be a mapping"),
        (("audit", "scoring", "shares"), "x", "shares: is not one of the words allowed here"),
        (("systems",), [], "systems: must be an object"),
        (("hashes", "topics"), {"M002": 1}, "hashes.topics.M002: must be text"),
        (("parts", 0, "software"), None, "parts.0.software: must be an object"),
        (("topics", "topics"), "x", "topics: must be a list"),
        (("protocol", "states"), "x", "states"),
    ],
)
def test_the_message_names_the_field_and_its_line(
    run: Path, tmp_path: Path, loc: Loc, item: object, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(run, tmp_path / "run")
    file = tmp_path / "run" / "run.json"
    file.write_text(json.dumps(changed(json.loads(file.read_text()), loc, item), indent=2))
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(["score", str(tmp_path / "run")])
    said = capsys.readouterr().err
    assert ended.value.code == 2, said
    found = re.search(rf"{re.escape(str(file))}:(\d+):\d+: .*{re.escape(words)}", said)
    assert found, said
    named = [str(part) for part in loc if isinstance(part, str)]
    assert any(f'"{name}"' in file.read_text().splitlines()[int(found[1]) - 1] for name in named) or "0" in words


COMMANDS: dict[str, tuple[str, ...]] = {
    "score": ("score", "RUN"),
    "show": ("show", "RUN"),
    "tree": ("tree", "RUN"),
    "merge": ("data", "merge", "RUN", "--out", "OUT"),
    "salvage": ("data", "merge", "RUN", "--salvage", "--out", "OUT"),
    "export": ("data", "export", "RUN", "--format", "gfrc", "--out", "OUT"),
    "run": ("run", "AUDIT", "--out", "RUN"),
    "read again": ("pages", "read-again", "RUN"),
    "relabel": ("relabel", "RUN"),
    "rules": ("judge", "rules", "RUN"),
    "check": ("check", "AUDIT", "--out", "RUN"),
    "users check": ("users", "check", "RUN", "RUN"),
    "users fit": ("users", "fit", "RUN", "--out", "OUT"),
    "users groups": ("users", "groups", "RUN"),
    "variance": ("variance", "RUN"),
    "users findings": ("users", "findings", "RUN"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_says_so_in_one_message(
    command: str, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(run, tmp_path / "run")
    (tmp_path / "audit.yaml").write_text(AUDIT)
    file = tmp_path / "run" / "run.json"
    file.write_text(json.dumps(changed(json.loads(file.read_text()), ("audit", "trials"), "x")))
    places = {"RUN": tmp_path / "run", "OUT": tmp_path / "out", "AUDIT": tmp_path / "audit.yaml"}
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main([str(places.get(word, word)) for word in COMMANDS[command]])
    said = capsys.readouterr().err
    assert ended.value.code == 2, said
    assert said.count("audit.trials: must be a whole number") == 1
    assert "Traceback" not in said
    assert not (tmp_path / "out").exists()
