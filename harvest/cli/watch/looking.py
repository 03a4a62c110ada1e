"""Judgment of a dated run against the baseline. Each judgment is added to the history as a look.

A re-audit can be stopped at any moment. Therefore each command names earlier runs that have no look yet, and every
message about such a run shows the command that continues the re-audit.
"""

import contextlib
import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from harvest.audits.audit import Audit, load_audit
from harvest.cli.interruption import Interrupted
from harvest.cli.playing import NOTHING_RECORDED
from harvest.studies.watch.baseline import BaselineFile, read_baseline
from harvest.studies.watch.dated_runs import unjudged_runs
from harvest.studies.watch.harness import Harness
from harvest.studies.watch.history import History, WatchRules, open_history, own_look
from harvest.studies.watch.watch import watch
from harvest.studies.watch.watched import Watched
from harvest.systems.timing import REAL_CLOCK
from harvest.terminal import printable
from recordings.files.errors import StoreError, describe_fault
from recordings.files.lock import Lock, RunLocked
from recordings.log.header import read_header
from recordings.log.run_folder import Run, count_begun_files, is_run
from topics.errors import HarvestError, InputError, Place

# The option for each rule, by the rule's name.
OPTIONS = {"matters": "--matters", "looks": "--looks", "apart": "--confirm-after", "enforce": "--enforce"}
# Runs to read for their names: after a history was moved, there are hundreds without a look.
_MOST = 5


@dataclass(frozen=True)
class Reaudit:
    """The arguments of a re-audit. `audit` is the audit as given, `base` the baseline's file and `blessed` the content
    of that file. `log` is the history's file. `further` are the options to repeat in every suggested command. `given`
    has the names of the rules that options set."""

    audit: str
    base: Path
    blessed: BaselineFile
    log: Path
    further: Sequence[str]
    rules: WatchRules
    given: Collection[str]

    def command(self, option: str, run: Path) -> str:
        return shlex.join(["harvest", "watch", "run", self.audit, option, str(run), *self.further])

    def print_unjudged(self, runs: Path, past: History, *, placebo: bool, except_run: Path | None = None) -> None:
        """Print a note for each earlier run without a look, except the run that is being resumed (`except_run`). If the
        audit has a placebo, judging alone is not enough, and the note suggests `--resume` even for a complete run."""
        every = unjudged_runs(runs, past.lines, self.blessed)
        others = [one for one in every if except_run is None or one.path.resolve() != except_run.resolve()]
        for one in others[:_MOST]:
            left = one.read_state()
            told = f"{one.path}: {left.sentence}"
            if left.readable:
                option = "--run" if left.whole and not placebo else "--resume"
                told += f"; to continue it: {self.command(option, one.path)}"
            _print_note(told)
        if others[_MOST:]:
            _print_note(f"these were not judged either: {', '.join(str(one.path) for one in others[_MOST:])}")

    @contextlib.contextmanager
    def explain_resuming(self, folder: Path) -> Iterator[None]:
        """Within the block, turn an interruption into a message that shows how to continue the dated run."""
        try:
            yield
        except Interrupted:
            if not count_begun_files(folder):
                raise Interrupted(NOTHING_RECORDED) from None
            command = self.command("--resume", folder)
            raise Interrupted(f"interrupted; every finished turn is saved, and this resumes it: {command}") from None
        finally:
            with contextlib.suppress(OSError):
                folder.rmdir()  # possible only if nothing was begun in it

    def warn_if_replaced(self, run: Path) -> None:
        """Print a note if another baseline was blessed in the meantime."""
        with contextlib.suppress(InputError):
            if read_baseline(self.base).identity != self.blessed.identity:
                _print_note(
                    f"{self.base} was replaced meanwhile, and this is compared with the one before; to compare it "
                    f"with the new one: {self.command('--run', run)}"
                )


def rule_options(rules: WatchRules, names: Collection[str]) -> list[str]:
    """Return the named rules as options of the command."""
    return [
        word
        for name, option in OPTIONS.items()
        if name in names and (value := getattr(rules, name)) is not False
        for word in ([option] if value is True else [option, f"{value:g}"])
    ]


@contextlib.contextmanager
def lock_run(folder: Path) -> Iterator[None]:
    """Lock a run until it is judged, so that no other command considers the run abandoned."""
    lock = None
    with contextlib.suppress(HarvestError):  # another process already continues it
        lock = Lock(folder)
    try:
        yield
    finally:
        if lock is not None:
            lock.release()


def add_begun_trials(audit: Audit, folder: Path, *, keys_in_clear: bool) -> Audit:
    """Return the audit with the number of trials of the run in `folder`, which may exceed the audit file's number."""
    if not is_run(folder):
        return audit
    begun = read_header(folder).audit
    trials = begun.get("trials") if isinstance(begun, dict) and not begun.get("trials_of") else None
    if not isinstance(trials, int) or (trials == audit.trials and not audit.trials_of):
        return audit
    return load_audit(audit.document.path, trials=trials, keys_in_clear=keys_in_clear)


def judge(run: Run, reaudit: Reaudit, harness: Harness | None) -> tuple[Watched, Harness | None]:
    """Judge a run against the baseline, and add a look to the history unless the run is in the baseline. The history
    is locked meanwhile, because a look depends on earlier looks. Returns the result and the faults of the harness,
    including faults noted when the run was judged before."""
    try:
        with open_history(reaudit.log) as file:
            # A run that is judged again, with more trials or other options, is the same look: its evidence counts once.
            past = file.history.cut_after(REAL_CLOCK.now().timestamp()).looks
            before = own_look(file.history.looks, reaudit.blessed.identity, run.header.created_at)
            rules = reaudit.rules
            if before is not None and before.rules is not None:
                rules = before.rules.model_copy(update={name: getattr(rules, name) for name in reaudit.given})
            found = watch(run, reaudit.blessed, past, rules=rules, name=run.path.resolve().name)
            noted = found.noted
            if before is not None and before.harness:
                harness = replace(harness or Harness(), noted=before.harness)
            if harness is not None and not harness.is_sound:  # a faulty harness gives no evidence about the system
                silent = {name: one.model_copy(update={"figures": {}}) for name, one in noted.systems.items()}
                noted = noted.model_copy(update={"systems": silent, "harness": tuple(harness.sentences())})
            if reaudit.blessed.contains_run(run.header):
                _print_note("this run is in the baseline, so it is not evidence, and no look is added to the history")
                return found, harness
            if rules != reaudit.rules:
                options = shlex.join(rule_options(rules, OPTIONS))
                _print_note(f"judged as before, with {options}; options that are given count instead")
            added = file.add(noted)
            if before is not None and added is not before:
                _print_note(f"judged again; the earlier verdict stays in the history, too: {before.verdict_text}")
    except (StoreError, RunLocked) as fault:
        reason = describe_fault(fault.fault)[0] if isinstance(fault, StoreError) else fault.what
        raise InputError(
            f"this look was not written: {reason}",
            place=Place(str(reaudit.log)),
            advice="free some space, then judge the recorded run, with the same other options: "
            + reaudit.command("--run", run.path),
        ) from fault
    return found, harness


def _print_note(text: str) -> None:
    """Print a note as one unwrapped line on standard error, so that a command in the note can be copied."""
    click.echo(printable(f"note: {text}", line=True), err=True)
