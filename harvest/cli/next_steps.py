"""The end of a command that played a run: it writes the report, and suggests the next step."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from harvest.terminal import printable, wrap_lines
from recordings.log.run_folder import Run
from topics.errors import HarvestError

# Something to look at, and the command or the place that shows it.
Step = tuple[str, str]


def write_run_report(
    people: Console, named: Path, run: Run, *, baseline: Path | None = None, history: Path | None = None
) -> bool:
    """Write the report of a run into its folder, and print its path. `named` is the folder as the user wrote it. With a
    baseline, the report compares the run with it. Return False if the report could not be written, because the run is
    recorded and scored all the same."""
    from harvest.cli.report import write_report  # late: a run that is interrupted needs none of it

    command = ["harvest", "report", str(named), "--out", str(named / "report.html"), "--force"]
    for option, file in (("--baseline", baseline), ("--history", history)):
        command += [option, str(file)] if file is not None else []
    try:
        told, _ = write_report((run,), run.path / "report.html", command, baseline=baseline, history=history)
    except (HarvestError, OSError) as fault:
        people.print(escape(printable(f"no report was written: {fault}", line=True)), soft_wrap=True)
        return False
    people.print(escape(told), soft_wrap=True)
    return True


def report_step(named: Path, what: str) -> Step:
    """Return the step that opens the report of the run `named`. `what` describes the contents of the report."""
    return f"the report: {what}", f"open {named / 'report.html'} in a browser"


def print_next_steps(people: Console, steps: Sequence[Step]) -> None:
    people.print("\nWhat to look at next:")
    for what, how in steps:
        people.print(
            escape(wrap_lines(f"  {what}:", people.width if people.is_terminal else None, hang=2)), soft_wrap=True
        )
        people.print(f"    {escape(printable(how, line=True))}", soft_wrap=True)  # unbroken, so that it can be copied
