"""Looking at a dated run from the command line: judged against the baseline, and noted in the history.

A re-audit can be stopped at any moment. So each command names what earlier ones left without a look, and every message
about a run says by which command it is gone on with.
"""

import contextlib
import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from harvest.audits.audit import Audit, load_audit
from harvest.cli.interruption import Interrupted
from harvest.cli.playing import NOTHING_YET
from harvest.studies.watch.baseline import BaselineFile, read_baseline
from harvest.studies.watch.dated_runs import unjudged_runs
from harvest.studies.watch.harness import Harness
from harvest.studies.watch.history import History, WatchRules, open_history, own_look
from harvest.studies.watch.watch import Watched, watch
from harvest.systems.timing import REAL_CLOCK
from harvest.terminal import printable
from recordings.files.errors import StoreError, in_words
from recordings.files.lock import Lock, Locked
from recordings.log.run_folder import Run, begun_files, is_run
from recordings.log.store import read_header
from topics.errors import HarvestError, InputError, Place

# By the name of a rule, the option that gives it.
OPTIONS = {"matters": "--matters", "looks": "--looks", "apart": "--confirm-after", "enforce": "--enforce"}
# Runs that are read to be named: somebody who moved a history has hundreds without a look.
_MOST = 5


@dataclass(frozen=True)
class Reaudit:
    """A re-audit as it was called. audit: as named. base: the baseline's file, and blessed, what it held. log: the
    history's file. further: options that every command about it needs. rules: by which to judge; given: names of those
    that somebody gave."""

    audit: str
    base: Path
    blessed: BaselineFile
    log: Path
    further: Sequence[str]
    rules: WatchRules
    given: Collection[str]

    def command(self, option: str, run: Path) -> str:
        """The command that judges a run, or resumes it."""
        return shlex.join(["harvest", "reaudit", self.audit, option, str(run), *self.further])

    def name_unjudged(self, runs: Path, past: History, *, placebo: bool, but: Path | None = None) -> None:
        """Name the runs that earlier commands left without a look. placebo: the audit has one, so that a run needs more
        than to be judged. but: the run that is gone on with now."""
        every = unjudged_runs(runs, past.lines, self.blessed)
        others = [one for one in every if but is None or one.path.resolve() != but.resolve()]
        for one in others[:_MOST]:
            left = one.left()
            told = f"{one.path}: {left.sentence}"
            if left.readable:
                option = "--run" if left.whole and not placebo else "--resume"
                told += f"; go on with it by: {self.command(option, one.path)}"
            _note(told)
        if others[_MOST:]:
            _note(f"nor were these judged: {', '.join(str(one.path) for one in others[_MOST:])}")

    @contextlib.contextmanager
    def playing(self, folder: Path) -> Iterator[None]:
        """While a dated run is played: whoever stops it hears how to go on with it."""
        try:
            yield
        except Interrupted:
            if not begun_files(folder):
                raise Interrupted(NOTHING_YET) from None
            command = self.command("--resume", folder)
            raise Interrupted(f"interrupted; every finished turn is saved, and this resumes it: {command}") from None
        finally:
            with contextlib.suppress(OSError):
                folder.rmdir()  # which it can be only where nothing at all was begun in it

    def tell_replaced(self, run: Path) -> None:
        """Say so where another baseline was blessed meanwhile."""
        with contextlib.suppress(InputError):
            if read_baseline(self.base).identity != self.blessed.identity:
                _note(
                    f"{self.base} was replaced meanwhile, and this is held against the one before; to hold it "
                    f"against the new one: {self.command('--run', run)}"
                )


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Until a run is judged: no other command that begins takes it for one that was left behind."""
    lock = None
    with contextlib.suppress(HarvestError):  # somebody else goes on with it already
        lock = Lock(folder)
    try:
        yield
    finally:
        if lock is not None:
            lock.release()


def as_begun(audit: Audit, folder: Path, *, keys_in_clear: bool) -> Audit:
    """The audit with as many trials as the run in `folder` was to have: more may have been added than its file says."""
    if not is_run(folder):
        return audit
    begun = read_header(folder).audit
    trials = begun.get("trials") if isinstance(begun, dict) and not begun.get("trials_of") else None
    if not isinstance(trials, int) or (trials == audit.trials and not audit.trials_of):
        return audit
    return load_audit(audit.document.path, trials=trials, keys_in_clear=keys_in_clear)


def judge(run: Run, this: Reaudit, harness: Harness | None) -> tuple[Watched, Harness | None]:
    """Hold a run against the baseline, and add a look at it to the history. Nobody else adds to it meanwhile: what a
    look says rests on those before it.

    Returns what was found, and the faults of the harness, with those of the time when the run was judged before.
    """
    try:
        with open_history(this.log) as file:
            # A run that is judged again, with more trials or other options, is the same look: its evidence counts once.
            past = file.history.until(REAL_CLOCK.now().timestamp()).looks
            before = own_look(file.history.looks, this.blessed.identity, run.header.created_at)
            rules = this.rules
            if before is not None and before.rules is not None:
                rules = before.rules.model_copy(update={name: getattr(rules, name) for name in this.given})
            found = watch(run, this.blessed, past, rules=rules, name=run.path.resolve().name)
            noted = found.noted
            if before is not None and before.harness:
                harness = replace(harness or Harness(), noted=before.harness)
            if harness is not None and not harness.sound:  # what a faulty harness read is no evidence of the system
                silent = {name: one.model_copy(update={"figures": {}}) for name, one in noted.systems.items()}
                noted = noted.model_copy(update={"systems": silent, "harness": tuple(harness.sentences())})
            if this.blessed.holds(run.header):
                _note("this run is in the baseline, so it is no evidence, and the history gets no look at it")
                return found, harness
            if rules != this.rules:
                options = shlex.join(_as_options(rules))
                _note(f"judged as before, with {options}; options that are given count instead")
            added = file.add(noted)
            if before is not None and added is not before:
                _note(f"judged again; what was told before stays in the history, too: {before.told}")
    except (StoreError, Locked) as fault:
        raise InputError(
            f"this look was not written: {in_words(fault.fault)[0] if isinstance(fault, StoreError) else fault.what}",
            place=Place(str(this.log)),
            advice="make room for it, then judge the recorded run, with the same other options: "
            + this.command("--run", run.path),
        ) from fault
    return found, harness


def _note(text: str) -> None:
    """Say it on one line of standard error, also on a narrow terminal: a command in it is to be copied."""
    click.echo(printable(f"note: {text}", line=True), err=True)


def _as_options(rules: WatchRules) -> Iterator[str]:
    for name, option in OPTIONS.items():
        value = getattr(rules, name)
        if isinstance(value, bool):
            yield from [option] * value
        else:
            yield from (option, f"{value:g}")
