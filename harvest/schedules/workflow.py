"""A workflow for GitHub Actions.

A runner starts empty. The baseline comes from the repository, and the history of earlier audits from the artifacts of
the last run that has a history. A cache is not used, because GitHub deletes it after seven days without a read, and
the evidence of a weekly audit would be lost.
"""

import json
import shlex
from pathlib import PurePosixPath

from harvest.schedules.crontab import cron_time
from harvest.schedules.job import Job, unit_name

# By content, so that a tag that is moved changes nothing.
ACTIONS = {
    "checkout": "actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0",
    "setup-python": "actions/setup-python@e797f83bcb11b83ae66e0230d6156d7c80228e7c # v6.0.0",
    "upload-artifact": "actions/upload-artifact@330a01c490aca151604b8cf639adc76d48f6c5d4 # v5.0.0",
}


def workflow(job: Job, *, folder: PurePosixPath, history: PurePosixPath, runs: PurePosixPath, install: str) -> str:
    """Return the text of a workflow file.

    The words of `job` begin with `harvest`, and its variables are secrets of the repository. The paths of `job` are
    not used, because they belong to this machine. `folder` is the working directory, relative to the root of the
    repository. The file `history` and the folder `runs` are relative to `folder`. `install` is the requirement for
    pip.
    """
    name, every, unit = job.name, job.every, unit_name(job.name)
    junit = f"{unit}.xml"
    secrets = "".join(f"\n          {one}: ${{{{ secrets.{one} }}}}" for one in job.variables)
    environment = f"\n        env:{secrets}" if secrets else ""
    command = shlex.join([*job.words, "--github", "--junit", junit])
    times = [cron_time(job.slot, every)]
    if job.follow_up is not None:  # in the same workflow, because each has its own history
        times.append(cron_time(job.follow_up.slot, job.follow_up.every))
        command += f" ${{{{ github.event.schedule == '{times[1]}' && '--if-alarm' || '' }}}}"
    also = "\n# The second time plays only if an alarm or a fall waits for another audit." if job.follow_up else ""
    schedule = "".join(f'\n    - cron: "{time}"' for time in times)
    return f"""\
# .github/workflows/{unit}.yml: {name} is audited again every {every}, at a minute drawn from its name.
# GitHub keeps this time in UTC, only for the default branch, often late, and in a public repository not at all once
# nothing was committed for 60 days.{also}
name: {json.dumps(unit)}
on:
  schedule:{schedule}
  workflow_dispatch:
permissions:
  actions: read # to bring the history of earlier audits
  contents: read
concurrency:
  group: {json.dumps(unit)}
  cancel-in-progress: false
defaults:
  run:
    working-directory: {json.dumps(str(folder))}
jobs:
  reaudit:
    runs-on: ubuntu-24.04
    timeout-minutes: {50 if every == "hour" else 350}
    steps:
      - uses: {ACTIONS["checkout"]}
        with:
          persist-credentials: false
      - uses: {ACTIONS["setup-python"]}
        with:
          python-version: "3.12"
      - name: Install Harvest
        run: {json.dumps(f"python -m pip install {shlex.quote(install)}")}
      - name: Bring the history of earlier audits
        env:
          GH_TOKEN: ${{{{ github.token }}}}
          GH_REPO: ${{{{ github.repository }}}}
        run: |
          runs=$(gh run list --workflow {unit}.yml --limit 30 --json databaseId --jq '.[].databaseId')
          for run in $runs; do
            if gh run download "$run" --name history --dir "$RUNNER_TEMP/$run"; then
              mv "$RUNNER_TEMP/$run"/{shlex.quote(history.name)} {shlex.quote(str(history))}
              exit 0
            fi
          done
          echo "No earlier audit has left a history: this one begins it."
      - name: Play the audit again{environment}
        run: |
          {command}
{_upload_step("Keep the history, which contains no texts", "always()", "history", folder / history)}\
{_upload_step("Keep the verdicts", "always()", "verdicts", folder / junit)}\
      # The conversations: in a public repository everybody could read them.
{_upload_step("Keep the run", "always() && github.event.repository.private", "run", folder / runs)}"""


def _upload_step(title: str, condition: str, name: str, path: PurePosixPath) -> str:
    return f"""\
      - name: {title}
        if: {condition}
        uses: {ACTIONS["upload-artifact"]}
        with:
          name: {name}
          path: {json.dumps(str(path))}
          if-no-files-found: ignore
          retention-days: 90
"""
