"""The page on users for SWAN's criteria: its plans can be played, and its tables were printed by the program."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from harvest.studies.probes.rows import MEANINGS
from protocols.library import load_protocol, shipped_protocols
from scoring.swan.schema import load_schema
from simulators.probing.plan import Options
from simulators.probing.probe import ProbingUser
from simulators.probing.recorded import probes
from simulators.user import Streams
from tests.support.checkout import DOCS
from tests.support.command_line import harvest
from tests.support.talking import SCENARIO
from topics.document import parse_document

FOLDER = DOCS / "simulators"
PAGE = (FOLDER / "swan-users.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
(AUDIT,) = (one for one in EXAMPLES if one.startswith("format: harvest-audit"))
RUNS: dict[str, str] = dict(re.findall(r"```text\n\$ harvest users findings (\S+)\n(.*?)```", PAGE, re.DOTALL))
TABLE = [re.split(r"\s*\|\s*", line)[1:-1] for line in PAGE.splitlines() if line.startswith("| ")]


@pytest.mark.parametrize("plan", [one for one in EXAMPLES if "steps:" in one])
def test_an_example_is_a_plan_that_can_be_played(plan: str) -> None:
    built = ProbingUser(parse_document(plan, "swan-users.md").validate_as(Options))
    built.start(SCENARIO, Streams(1))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("obliging")
    shutil.copy(FOLDER / "obliging.py", made)
    return made


@pytest.mark.parametrize("name", RUNS)
def test_the_figures_are_those_of_a_run(name: str, folder: Path) -> None:
    audit = AUDIT.replace("harmlessness", name)
    if name != "harmlessness":
        audit = audit.replace("harm: declared\n", "")
    (folder / f"{name}.yaml").write_text(audit, encoding="utf-8")
    played = harvest("run", f"{name}.yaml", "--out", name, "--json", cwd=folder)
    assert played.returncode == 0, played.stderr
    printed = harvest("users", "findings", name, cwd=folder, width=100).stdout
    lines = [line.rstrip() for line in printed.splitlines() if line.strip()]
    shown = RUNS[name].splitlines()
    assert lines[: len(shown)] == shown
    legend = re.match(r"(\w+)(\(|: )", lines[len(shown)])
    assert legend, "and the legends follow"
    assert f" {legend[1]}" in RUNS[name]


def test_what_check_says_about_harm_is_what_the_page_says(folder: Path) -> None:
    (folder / "asked.yaml").write_text(AUDIT, encoding="utf-8")
    told = harvest("check", "asked.yaml", cwd=folder, width=110).stdout
    (shown,) = re.findall(r"```text\n(  asks for harm.*?)```", PAGE, re.DOTALL)
    assert shown in told


def test_every_criterion_is_one_of_swan_and_every_protocol_is_shipped_and_has_its_steps() -> None:
    criteria = {criterion.name for criterion in load_schema("sakai-2023").criteria}
    rows = TABLE[1 : next(n for n, row in enumerate(TABLE) if row[0].startswith("Adaptability")) + 1]
    assert len(rows) == 12
    for criterion, user, named, _ in rows:
        assert criterion.partition(",")[0] in criteria
        for protocol in re.findall(r"`([\w-]+)`", named):
            assert protocol in shipped_protocols()
            kinds = {step.kind for probe in probes(load_protocol(protocol)) for step in probe.plan.steps}
            steps = re.findall(r"`(\w+)(?:: new)?`", user) if user.startswith("probe") else []
            assert protocol == "recovery" or set(steps) <= kinds, protocol
    assert set(RUNS) == {
        *("customisability", "adaptability", "modesty", "harmlessness"),
        *("retention-over-sessions", "consistency-over-sessions"),
    }


def test_every_figure_that_the_steps_give_is_explained() -> None:
    explained = {cell for row in TABLE for cell in re.findall(r"`([^`]+)`", row[0])}
    new = {
        name
        for name in MEANINGS
        if name.startswith(("adaptability", "ignored", "compliance", "modesty", "harmless", "over_refusal"))
    }
    assert {*new, "retentiveness(sessions=k)", "consistency(sessions=k)"} <= explained
