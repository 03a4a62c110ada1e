"""`harvest check` says by which hazard a user leaves whose file does not name a stop model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harvest.cli.main import main
from protocols.library import load_protocol
from simulators.registry import SIMULATORS, default_hazards, simulator
from simulators.stopping.hazard import ORIGIN, Hazard

PROTOCOL = """\
format: harvest-protocol/1
name: visit
version: 1
turn_limit: 6
rules: {useful: {urls: {kind: asked}}}
users: {visitor: USER}
start: talk
states:
  talk: {user: visitor, edges: [{if: useful, label: o, go: talk}, {otherwise: true, label: x, go: talk}]}
"""
AGENDA = "simulator: agenda, requests: ['{{ topic.request }}']"


def audit(tmp_path: Path, user: str) -> Path:
    (tmp_path / "visit.yaml").write_text(PROTOCOL.replace("USER", user), encoding="utf-8")
    path = tmp_path / "audit.yaml"
    path.write_text(
        "{format: harvest-audit/1, name: a, topics: fairweb-45, only: [M002], protocol: visit.yaml, trials: 1, seed: 1,"
        " systems: [{name: A, driver: parrot}]}",
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize(
    ("user", "where"),
    [
        (f"{{{AGENDA}}}", "visitor"),
        ("{simulator: clarification, facet: recent ones}", "visitor"),
        (f"{{simulator: paraphrasing, typos: 0.1, over: {{{AGENDA}}}}}", "visitor.over"),
        (f"{{{AGENDA}, stop: null}}", None),
        (f"{{{AGENDA}, stop: {{model: hazard}}}}", None),
        ("{simulator: random}", None),
    ],
)
def test_an_unrequested_hazard_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], user: str, where: str | None
) -> None:
    path = audit(tmp_path, user)
    found = default_hazards(load_protocol(tmp_path / "visit.yaml"))
    assert found == ({where: Hazard()} if where else {})
    with pytest.raises(SystemExit) as left:
        main(["check", str(path)])
    assert not left.value.code
    printed = " ".join(capsys.readouterr().out.split())
    told = f"the user {where!r} leaves by a hazard that its file does not ask for: after turn t, with a share c of its"
    assert (told in printed) is bool(where)
    assert ("logit -2.72 + 0.11·t + 1.78·c" in printed and ORIGIN in printed) is bool(where)
    with pytest.raises(SystemExit):
        main(["check", str(path), "--json"])
    held = json.loads(capsys.readouterr().out)["unasked_hazards"]
    assert held == ({where: Hazard().model_dump()} if where else {})


def test_users_of_arms_are_reported_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = audit(tmp_path, "{simulator: random}")
    arms = f"arms: {{plain: {{}}, planned: {{users: {{visitor: {{{AGENDA}}}}}}}}}"
    path.write_text(path.read_text(encoding="utf-8")[:-1] + f", {arms}}}", encoding="utf-8")
    with pytest.raises(SystemExit) as left:
        main(["check", str(path), "--json"])
    assert not left.value.code
    assert list(json.loads(capsys.readouterr().out)["unasked_hazards"]) == ["visitor"]


def test_every_simulator_with_a_stop_model_by_default_is_among_them() -> None:
    """A new simulator with another default would not be told: then `unasked_hazards` must learn of it."""
    for name in SIMULATORS:
        stop = simulator(name).options.model_fields.get("stop")
        assert stop is None or stop.default is None or isinstance(stop.default, Hazard), name
