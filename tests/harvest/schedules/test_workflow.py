"""A workflow, held to GitHub's schema, with its shell steps run."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml

from harvest.schedules.job import EVERY, Job
from harvest.schedules.workflow import ACTIONS, workflow
from tests.harvest.schedules.test_job import job
from tests.support.schedulers import check_workflow


def made(one: Job, folder: str = ".", history: str = "audit.history.jsonl") -> str:
    return workflow(
        one,
        folder=PurePosixPath(folder),
        history=PurePosixPath(history),
        runs=PurePosixPath("runs/weekly"),
        install="conversation-harvest==0.1.0",
    )


def steps(text: str) -> dict[str, dict[str, Any]]:
    return {one.get("name", one.get("uses")): one for one in yaml.safe_load(text)["jobs"]["reaudit"]["steps"]}


@pytest.mark.parametrize("every", EVERY)
@pytest.mark.parametrize("variables", [(), ("KEY", "HOOK")])
def test_github_would_accept_it(tmp_path: Path, every: str, variables: tuple[str, ...]) -> None:
    one = replace(job("harvest", "watch", "run", "audits/a.yaml", variables=variables), every=every)  # type: ignore[arg-type]
    text = made(one, folder="studies/of mine")
    (tmp_path / "harvest-weekly.yml").write_text(text)
    check_workflow(tmp_path / "harvest-weekly.yml")
    whole = yaml.safe_load(text)
    assert whole["permissions"] == {"actions": "read", "contents": "read"}
    assert whole["concurrency"] == {"group": "harvest-weekly", "cancel-in-progress": False}
    assert whole["jobs"]["reaudit"]["timeout-minutes"] <= 360
    play = steps(text)["Play the audit again"]
    command, _, follows = play["run"].strip().partition(" ${{ ")
    assert command == "harvest watch run audits/a.yaml --github --junit harvest-weekly.xml"
    times = [one["cron"] for one in whole[True]["schedule"]]  # YAML takes `on` for true
    if every == "hour":
        assert (len(times), follows) == (1, "")
    else:
        assert follows == f"github.event.schedule == '{times[1]}' && '--if-alarm' || '' }}}}"
    assert play.get("env", {}) == {name: f"${{{{ secrets.{name} }}}}" for name in variables}
    assert (
        steps(text)["Keep the history, which contains no texts"]["with"]["path"]
        == "studies/of mine/audit.history.jsonl"
    )


def test_actions_are_pinned_by_content() -> None:
    for name, used in ACTIONS.items():
        assert re.fullmatch(rf"actions/{name}@[0-9a-f]{{40}} # v\d+\.\d+\.\d+", used)
    named = {one["uses"] for one in steps(made(job("harvest"))).values() if "uses" in one}
    assert named == {one.partition(" ")[0] for one in ACTIONS.values()}


def test_conversations_are_kept_only_in_private_repositories() -> None:
    for name, step in steps(made(job("harvest"))).items():
        if "upload-artifact" in step.get("uses", ""):
            private = "github.event.repository.private" in step["if"]
            assert private == (name == "Keep the run")
            assert step["with"]["retention-days"] == 90


GH = """\
#!/bin/sh
case "$1 $2" in
"run list") [ -e broken ] && exit 1; echo 30; echo 20; echo 10 ;;
"run download") [ "$3" = 20 ] && [ -e kept ] || exit 1
  while [ "$1" != --dir ]; do shift; done; mkdir -p "$2"; echo earlier > "$2/a history.jsonl" ;;
esac
"""


@pytest.mark.parametrize(
    ("there", "code", "history"),
    [
        (("kept",), 0, "earlier\n"),
        (("kept", "logs/a history.jsonl"), 0, "earlier\n"),
        ((), 0, None),
        (("broken",), 1, None),
    ],
    ids=["the last run that kept one", "in place of a committed one", "none yet", "GitHub does not answer"],
)
def test_the_history_is_that_of_the_last_run_that_kept_one(
    tmp_path: Path, there: tuple[str, ...], code: int, history: str | None
) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "gh").write_text(GH)
    (tmp_path / "tools" / "gh").chmod(0o755)
    for name in there:
        (tmp_path / name).write_text("old\n")
    step = steps(made(job("harvest"), history="logs/a history.jsonl"))["Bring the history of earlier audits"]
    done = subprocess.run(
        ["bash", "-e", "-c", step["run"]],
        cwd=tmp_path,
        env={"PATH": f"{tmp_path / 'tools'}:/usr/bin:/bin", "RUNNER_TEMP": str(tmp_path / "temp")},
        capture_output=True,
        check=False,
        timeout=20,
    )
    path = tmp_path / "logs" / "a history.jsonl"
    assert done.returncode == code
    assert (path.read_text() if path.exists() else None) == history
