"""`harvest report`: write an HTML page about recorded runs."""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from harvest.cli.garbage import pause_collection
from harvest.cli.parameters import NameOrFile, NumberRange, PathArgument, ShortHelp, WholeNumberRange, check_output_file
from harvest.report.document import make_report
from harvest.report.page import is_report, page
from harvest.studies.watch.baseline import read_baseline
from harvest.studies.watch.blessed_run import find_blessed_run
from harvest.studies.watch.history import MATTERS
from harvest.systems.timing import REAL_CLOCK
from harvest.terminal import printable, terminal_width, wrap_lines
from recordings.files.evidence import write_safely
from recordings.files.times import stamp
from recordings.log.run_folder import Run, read
from topics.counting import pluralize
from topics.errors import InputError

_CHUNK_NAME = re.compile(r"\d{4,}\.js")


@click.command(cls=ShortHelp)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=PathArgument())
@click.option(
    "--out",
    type=PathArgument(),
    metavar="FILE.html",
    default="report.html",
    show_default=True,
    help="The page.",
)
@click.option("--baseline", type=PathArgument(), metavar="FILE", help="Compare the run with this baseline.")
@click.option("--history", type=PathArgument(), metavar="FILE", help="Show the looks of `harvest watch run`.")
@click.option(
    "--matters",
    type=NumberRange(0, 1, min_open=True, max_open=True),
    help=f"The smallest difference of shares that matters [that of watch run, or {MATTERS:g}].",
)
@click.option(
    "--schema", type=NameOrFile(), metavar="NAME|FILE", help="Criteria for SWAN, if anything was judged [sakai-2023]."
)
@click.option("--judges", metavar="KIND,…", help="Whose judgments count for SWAN, in order [human,rule].")
@click.option(
    "--judgments",
    "folding",
    metavar="HOW|NAME",
    help="How several judgments of one thing become one, as in `harvest score` [distribution].",
)
@click.option(
    "--sources", type=PathArgument(), metavar="FILE", help="Table of sources to use instead of the runs' own."
)
@click.option(
    "--seed", type=WholeNumberRange(0), default=0, show_default=True, help="Seed of resampling and permutations."
)
@click.option("--force", is_flag=True, help="Overwrite an earlier report.")
def command(
    runs: tuple[Path, ...],
    out: Path,
    baseline: Path | None,
    history: Path | None,
    matters: float | None,
    schema: str | None,
    judges: str | None,
    folding: str | None,
    sources: Path | None,
    seed: int,
    force: bool,
) -> None:
    """Write one HTML page about recorded runs.

    The page opens by a double click, without a network. It shows the result, its causes and the next step, then the
    figures, grid, trees, comparison and variance, and every conversation. Conversations of more than 8 MB in total
    are written to a folder next to the page.
    """
    if out.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--out {out} is not the name of an HTML file", allowed="FILE.html")
    check_output_file(out, replace=force, ours=is_report, other="choose another name, or --force")
    files = _files_folder(out)
    if files.is_symlink() or (files.exists() and not files.is_dir()):
        raise InputError(
            f"{files} is not a folder, but the report may need a folder of this name",
            advice="choose another name for the report",
        )
    command_line = ["harvest", "report", *map(str, runs), "--out", str(out)]
    for name, value in (("--baseline", baseline), ("--history", history)):
        command_line += [name, str(value)] if value is not None else []
    command_line += ["--matters", f"{matters:g}"] if matters is not None else []
    options = (("--schema", schema), ("--judges", judges), ("--judgments", folding), ("--sources", sources))
    for name, word in options:
        command_line += [name, str(word)] if word is not None else []
    command_line += ["--seed", str(seed)] if seed else []
    with pause_collection():
        wrote, found = write_report(
            runs,
            out,
            command_line,
            baseline=baseline,
            history=history,
            matters=matters,
            schema=schema,
            judges=judges,
            folding=folding,
            sources=sources,
            seed=seed,
        )
    click.echo(wrote, err=True)
    click.echo(wrap_lines(found, terminal_width(sys.stdout)))


def _files_folder(out: Path) -> Path:
    return out.with_name(f"{out.stem}-files")


def write_report(
    runs: Sequence[Run | Path],
    out: Path,
    command_line: list[str],
    *,
    baseline: Path | None = None,
    history: Path | None = None,
    matters: float | None = None,
    schema: str | None = None,
    judges: str | None = None,
    folding: str | None = None,
    sources: Path | None = None,
    seed: int = 0,
) -> tuple[str, str]:
    """Write the page to `out`, and further files next to the page if needed. `runs` are run folders, or runs that were
    already read. The page records `command_line`, the command that makes it again. Returns a sentence about the
    written files, and the first sentence of the page."""
    given = [run if isinstance(run, Run) else read(run) for run in runs]
    report = make_report(
        given,
        beside=out.parent,
        baseline=baseline,
        history=history,
        before=find_blessed_run(read_baseline(baseline), baseline.parent, given[0].path) if baseline else None,
        matters=matters,
        schema=schema,
        judges=judges,
        folding=folding,
        sources=sources,
        seed=seed,
        made=stamp(REAL_CLOCK.now())[:19] + "Z",
        command=command_line,
    )
    made = page(report, out.stem)
    folder = _files_folder(out)
    if made.files:
        folder.mkdir(exist_ok=True)
    for file in folder.glob("*.js"):  # of an older report, with other conversations
        if _CHUNK_NAME.fullmatch(file.name) and f"{folder.name}/{file.name}" not in made.files:
            file.unlink()
    for name, text in made.files.items():
        (out.parent / name).write_text(text, encoding="utf-8")
    write_safely(out, made.html.encode())
    more = f", with {pluralize(len(made.files), 'file')} in {folder}: keep them together" if made.files else ""
    return printable(f"wrote {out}{more}", line=True), printable(str(report.document["finding"]["found"]), line=True)
