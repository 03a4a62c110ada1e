"""What people are told once they have judged: the printed command gives the figure that it is said to give."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from harvest.cli.judge.serving import print_judged
from recordings.judged.judgments import Judgment, Layer, write_layer
from recordings.log.run_folder import read
from scoring.swan.schema import load_schema
from tests.support.command_line import harvest
from tests.support.reported import copied_run

SCHEMA = """\
format: harvest-schema/1
name: own
criteria:
  - {number: 1, name: Useful, question: Is it useful?, level: turn, scorers: [human]}
"""


def test_the_share_of_answers_does_not_depend_on_how_unevenly_they_were_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = copied_run(tmp_path / "run")
    schema = tmp_path / "own.yaml"
    schema.write_text(SCHEMA)
    given: dict[str, list[float]] = {}
    judgments = []
    for place, one in enumerate(read(run).finished):
        for turn in one.turns[: 1 + place % 2] if place < 5 or place % 3 == 0 else ():  # some topics, and some turns
            said = float((place + turn.number) % 4 > 0)
            given.setdefault(one.key.system, []).append(said)
            about: dict[str, str | int] = {"trial": one.trial_id, "attempt": one.attempt}
            judgments.append(Judgment({**about, "turn": turn.number, "speaker": "system"}, "Useful", said))
    write_layer(run, Layer("human", "anna", "1", judgments=tuple(judgments)))
    print_judged(run, load_schema(str(schema)), ["Useful"], str(schema), "", scores=(0, 1))
    printed = capsys.readouterr().err
    (command,) = re.findall(r"the share of answers judged 1 \(yes\):\n +harvest (.*)", printed)
    rows = json.loads(harvest(*shlex.split(command), "--json").stdout)["rows"]
    shares = {row["system"]: row["value"] for row in rows if not row["topic"] and not row["trial"]}
    assert shares == pytest.approx({system: sum(said) / len(said) for system, said in given.items()})
    print_judged(run, load_schema(str(schema)), ["Useful"], str(schema), "", scores=(0, 0.5, 1))
    assert "-m 'WAN(Useful)'" in capsys.readouterr().err, "scores between have no share"
