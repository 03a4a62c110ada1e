"""`harvest watch schedule`: print the configuration that makes cron, systemd or GitHub Actions repeat an audit."""

import shutil
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import Any

import click

from harvest.audits.audit_file import read_audit
from harvest.audits.exposures import read_exposures
from harvest.cli.installation import DISTRIBUTION
from harvest.cli.parameters import PathArgument
from harvest.cli.watch.reaudit import baseline_path, history_path
from harvest.cli.watch.reaudit import command as reaudit
from harvest.schedules.crontab import crontab
from harvest.schedules.job import EVERY, Every, Job
from harvest.schedules.systemd import systemd
from harvest.schedules.workflow import workflow
from harvest.tables.study_form import FORMS
from harvest.terminal import printable
from topics.errors import InputError

_FLOCK = "/usr/bin/flock"


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("audit", type=PathArgument(str))
@click.argument("further", nargs=-1, metavar="[OPTION OF WATCH RUN]...", type=click.UNPROCESSED)
@click.option("--cron", is_flag=True, help="A line for crontab.")
@click.option("--systemd", "as_units", is_flag=True, help="A script that installs a service and a timer.")
@click.option("--github", is_flag=True, help="A workflow for GitHub Actions.")
@click.option("--every", type=click.Choice(EVERY), default="week", show_default=True, help="How often.")
@click.option(
    "--install", metavar="REQUIREMENT", help=f"What pip installs on GitHub's runner [{DISTRIBUTION}, this version]."
)
def command(
    audit: str,
    further: tuple[str, ...],
    cron: bool,
    as_units: bool,
    github: bool,
    every: Every,
    install: str | None,
) -> None:
    """Print a schedule for cron, systemd or GitHub Actions.

    The schedule plays the audit again with `harvest watch run`, from the folder in which this command is run, and once
    more within hours if that shows an alarm or a fall. Options
    of `harvest watch run`, such as --strict and --prometheus FILE, can be given here and become part of the schedule.
    """
    if cron + as_units + github != 1:
        what = "several kinds of schedules are given" if cron + as_units + github else "the kind of schedule is missing"
        raise InputError(what, allowed="one of --cron, --systemd and --github")
    if install is not None and not github:
        raise InputError("--install can only be used with --github, as other schedules use the Harvest of this machine")
    options = _check_options(audit, further)
    document, file = read_audit(audit)
    needed = (name for one in read_exposures(document, file) for name in one.needed)
    variables = tuple(dict.fromkeys([*needed, *filter(None, [options["webhook_env"]])]))
    words, folder, beside = ("watch", "run", audit, *further), Path.cwd(), Path(audit).absolute()
    base = options["baseline"] or baseline_path(audit)
    if not base.exists():
        _print_hint(f"there is no baseline yet; before the first audit: harvest watch bless RUN… --out {base}")
    # This very installation, called from anywhere.
    script = Path(sys.executable).with_name("harvest")
    installed = (str(script),) if script.is_file() else (sys.executable, "-m", "harvest")
    job = Job(
        file.name,
        every,
        (*installed, *words),
        folder,
        lock=beside.with_suffix(".lock"),
        log=beside.with_suffix(".log"),
        environment=beside.with_suffix(".env"),
        variables=variables,
    )
    if github:
        if job.confirms:
            raise InputError(
                "a second workflow cannot confirm an alarm, because each workflow has its own history",
                advice="leave out --if-alarm: the workflow plays again by itself, within hours of an alarm or a fall",
            )
        _relative_path(audit)
        root = next((one for one in (folder, *folder.parents) if (one / ".git").exists()), folder)
        text = workflow(
            replace(job, words=("harvest", *words)),
            folder=PurePosixPath(folder.relative_to(root)),
            history=_relative_path(options["history"] or history_path(base)),
            runs=_relative_path(options["out"] or Path("runs") / file.name),
            install=install or f"{DISTRIBUTION}=={version(DISTRIBUTION)}",
        )
    else:
        if variables:
            _print_hint(f"put {', '.join(variables)} into {job.environment} as NAME=value lines, and chmod 600 it")
        flock = shutil.which("flock")
        if flock is None:
            _print_hint("flock(1), which keeps audits from overlapping, is not on this machine: install util-linux")
        document_asked = any(options[f"as_{name}"] for name in FORMS)  # which needs an audit
        after = None if document_asked else job.follow_up
        jobs, locking = [job, *([after] if after else [])], flock or _FLOCK
        text = "".join(crontab(one, locking) for one in jobs) if cron else systemd(jobs, locking)
    click.echo(text, nl=False)


def _check_options(audit: str, further: tuple[str, ...]) -> dict[str, Any]:
    """Parse options with `harvest watch run`, so that a wrong option is rejected now and not at the scheduled time."""
    given = reaudit.make_context("harvest watch run", [audit, *further]).params
    for name, option in (("recorded", "--run"), ("stopped", "--resume"), ("extend", "--extend")):
        if given[name] is not None:
            raise InputError(f"{option} is for an existing run, but a schedule plays new runs", advice="leave it out")
    return given


def _relative_path(path: str | Path) -> PurePosixPath:
    """Return a path that stays valid in a copy of this folder on another machine, or raise InputError."""
    if Path(path).is_absolute() or ".." in Path(path).parts:
        raise InputError(
            f"{path} is outside this folder, so GitHub's runner would not have it",
            advice="run this command in the repository, with paths relative to it",
        )
    return PurePosixPath(path)


def _print_hint(text: str) -> None:
    click.echo(printable(text, line=True), err=True)
