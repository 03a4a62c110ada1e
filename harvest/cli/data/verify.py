"""`harvest data verify`: check a recording for changes, and recompute its figures and reports."""

import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path

import click
from rich.text import Text

from harvest.cli.parameters import PathArgument
from harvest.terminal import people_console, printable
from recordings.checking.chain_check import check_recording
from recordings.files.errors import RunError, no_run
from recordings.log.run_folder import event_files, is_run, read
from topics.counting import pluralize
from topics.errors import HarvestError, InputError
from topics.regular_file import list_entries

_MOST, _LONGEST = 20, 300  # the number of faults, and of characters of each
_NEWER = "{}: has judgments newer than the report, which may change it: make it again"
_NO_REQUEST = (
    "it does not record which figures were requested, so a missing one is not noticed: it is of an earlier version, "
    "or was changed"
)
_CHAIN_NOTE = (
    "The chain shows accidental changes. It proves nothing against people who can write the folder, because "
    "they can write a new chain: keep the hash of the recording elsewhere (--hash), or sign it."
)


@dataclass(slots=True)
class _CheckResult:
    """The result of a check. `faults` are changed files, and figures that do not follow from the recording. `gaps`
    say why something could not be verified. `notes` are remaining uncertainties. `partly` is True if no hash covers
    some part of the recording."""

    what: str
    said: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    open: bool = False
    partly: bool = False
    recording: str | None = None

    @property
    def verdict(self) -> str:
        if self.faults:
            return "differs"
        return "not verified" if self.open else "verified in part" if self.partly else "verified"


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="RUN|REPORT...", type=PathArgument())
@click.option("--hash", "wanted", metavar="HASH", help="The hash that the recording of RUN must have.")
@click.option("--json", "as_json", is_flag=True, help="The findings as one JSON document on standard output.")
def command(paths: tuple[Path, ...], wanted: str | None, as_json: bool) -> int:
    """Verify recorded runs and reports, offline.

    For a RUN, every file is checked against its chain of hashes, its name or the inventory, and every figure in
    `scores.json` is computed again. A REPORT is made again from its runs and compared byte by byte. If a difference
    is found, its position is printed and the exit code is 1. The exit code is 3 if something could not be verified,
    such as a missing chain or layer. Parts that no hash covers, such as the last lines of a killed process, are
    "verified in part", with exit code 0.
    """
    if wanted is not None and (len(paths) > 1 or not is_run(paths[0])):
        raise InputError("--hash can only be used with a single run", advice="verify the runs one by one")
    if wanted is not None and not re.fullmatch(r"[0-9a-f]{32}", wanted.strip().lower()):
        raise InputError(
            f"--hash {wanted!r} is not a hash", allowed="32 hexadecimal digits, as printed by harvest data verify RUN"
        )
    found = [_verify_run(path, wanted) if path.is_dir() else _verify_report(path) for path in paths]
    if as_json:
        click.echo(json.dumps([{**asdict(one), "verdict": one.verdict} for one in found], ensure_ascii=False))
    people = people_console(stderr=as_json)
    for one in found:
        style = {"verified": "bold green", "verified in part": "bold yellow"}.get(one.verdict, "bold red")
        people.print(Text.assemble((f"{one.verdict}: ", style), printable(one.what, line=True)), soft_wrap=True)
        wrong = [*one.faults, *one.gaps]
        for sentence in wrong[:_MOST]:
            shown = sentence if len(sentence) <= _LONGEST else f"{sentence[:_LONGEST]}… (--json has it whole)"
            people.print(Text(printable(f"  {shown}", line=True), style="red"), soft_wrap=True)
        if len(wrong) > _MOST:
            people.print(f"  and {len(wrong) - _MOST} more: --json lists all", style="red")
        for sentence in one.said:
            people.print(f"  {sentence}", soft_wrap=True)
        for sentence in one.notes:
            people.print(Text(printable(f"  note: {sentence}", line=True), style="yellow"), soft_wrap=True)
        if one.recording:
            people.print(f"  hash of the recording: {one.recording}", soft_wrap=True)
    if any(one.recording for one in found):
        people.print(_CHAIN_NOTE, style="dim")
    return 1 if any(one.faults for one in found) else 3 if any(one.open for one in found) else 0


def _verify_run(path: Path, wanted: str | None) -> _CheckResult:
    found = _CheckResult(str(path))
    if not is_run(path) and not (path / "run.json").is_symlink():
        if not event_files(path):
            raise no_run(path)
        found.open = True
        found.gaps.append("run.json: it is gone, and without it the run cannot be read: put it back")
        return found
    checked = check_recording(path)
    found.recording = checked.hash or None
    if found.recording is None:
        found.open, found.gaps = True, [str(gap) for gap in checked.gaps]
        found.faults += map(str, checked.faults)
        return found
    found.faults += map(str, checked.faults)
    found.gaps += map(str, checked.gaps)
    found.notes += map(str, checked.notes)
    found.open, found.partly = bool(checked.gaps), bool(checked.notes)
    found.said.append(
        f"{pluralize(checked.lines, 'line')} of events, {checked.chained} of them chained; "
        f"{pluralize(checked.evidence, 'exhibit')}, {pluralize(checked.layers, 'layer')} of judgments"
        + (f", {pluralize(checked.decisions, 'decision')} of people" if checked.decisions else "")
    )
    if wanted is not None and wanted.strip().lower() != checked.hash:
        found.faults.append(f"the hash of the recording is {checked.hash}, not {wanted}")
    signatures = sorted(file.name for file in path.glob("recording.*") if file.suffix in (".sig", ".asc"))
    found.notes += [f"{name}: a signature, which is not checked here" for name in signatures]
    if checked.gone:
        found.notes.append(f"figures were not computed again, without {' and '.join(checked.gone[:_MOST])}")
    elif not checked.faults:
        _verify_figures(path, found)
    return found


def _verify_figures(path: Path, found: _CheckResult) -> None:
    from harvest.studies.scores.kept_scores import kept_scores
    from harvest.studies.scores.rescored import rescored  # late: a recording may not be readable

    try:
        kept = kept_scores(path)
        if kept is None:
            read(path, spoken=True)  # as computing figures does
        found.faults += [f"scores.json: {sentence}" for sentence in rescored(path)]
    except HarvestError as fault:
        found.open = True
        said = "; ".join(line.strip() for line in str(fault).splitlines())
        unread = isinstance(fault, RunError)
        found.notes.append(f"{'it cannot be read' if unread else 'figures could not be computed again'}: {said}")
        return
    if kept is None:
        found.notes.append("no scores.json, so no figures to compute again")
        return
    found.said.append(f"{pluralize(len(kept.rows), 'figure')} computed again")
    if kept.asked is None:
        found.partly = True
        found.notes.append(f"scores.json: {_NO_REQUEST}")


def _verify_report(path: Path) -> _CheckResult:
    from harvest.report.remaking import origin, report_differences  # late: brings everything that a report shows

    found, known = _CheckResult(str(path)), origin(path)
    found.notes += [f"made with other software: {one}" for one in known.others]
    if known.gone:
        found.open = True
        found.notes += [f"{gone}: the run is not there; put it there to verify the report" for gone in known.gone]
        return found
    found.faults += [f"{changed}: recorded into, or changed, since the report was made" for changed in known.changed]
    for run in known.runs:
        checked = check_recording(run)
        found.faults += [f"{run / fault.file}: {fault.what}" for fault in checked.faults]
        found.gaps += [f"{run / gap.file}: {gap.what}" for gap in checked.gaps]
        found.notes += [f"{run / note.file}: {note.what}" for note in checked.notes]
    found.open, found.partly = bool(found.gaps), bool(found.notes)
    if not found.faults:
        differences = list(report_differences(path, known))
        if differences:
            made = path.stat().st_mtime  # as far as the files' times show
            layers = {
                run: list_entries(run, "judgments", "*.jsonl") + list_entries(run, "decisions", "*.jsonl")
                for run in known.runs
            }
            newer = [run for run, files in layers.items() if any(file.stat().st_mtime > made for file in files)]
            differences[:0] = [_NEWER.format(run) for run in newer]
        found.said.append(f"made again from {pluralize(len(known.runs), 'run')}")
        if known.measures and differences:  # they may have other causes
            found.open = True
            found.notes += [known.measures, *differences]
        else:
            found.faults += differences
    return found
