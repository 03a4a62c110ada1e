"""Playing of an audit into a run folder, which may contain an earlier part of the run."""

import sys
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from harvest.audits.audit import Audit, load_audit
from harvest.playing.attempt import Player
from harvest.playing.meter import make_meter
from harvest.playing.plan import Plan, Work, make_plan, refuse_small_cap
from harvest.playing.runner import Runner, Watcher
from harvest.systems.limits import Gates, local_gate
from harvest.terminal import printable
from recordings.conversations.conversation import Outcome
from recordings.judged.gold_layers import keep_gold
from recordings.judged.source_layers import keep_sources
from recordings.log.continuation import extend_header, refuse_differences
from recordings.log.own_loop import run_to_end
from recordings.log.run_folder import Run, event_file_sizes, is_run, read
from recordings.log.store import RunWriter
from simulators.scripted import ScriptedUser
from topics.counting import pluralize
from topics.errors import HarvestError

# Creates the watcher of a run, from its plan and the damage found so far.
Watching: TypeAlias = Callable[[Plan, tuple[str, ...]], AbstractContextManager[Watcher]]
# Follows what a writer stores until the context ends.
Tracing: TypeAlias = Callable[[RunWriter], AbstractContextManager[object]]


class SilentWatcher:
    """A watcher that does nothing."""

    def turn_asked(self, work: Work) -> None: ...

    def attempt_ended(self, work: Work, outcome: Outcome, labels: tuple[str, ...], *, again: bool) -> None: ...

    def system_left(self, system: str, reason: str, unplayed: int) -> None: ...

    def pace_lowered(self, system: str, why: str) -> None: ...


def play(
    audit: Audit | str | PathLike[str],
    out: str | PathLike[str],
    *,
    progress: bool | None = None,
    spans: bool = False,
) -> Run:
    """Play the rest of an audit into the run folder `out`, and read the run.

    `audit` is an audit, its file, or a shipped name such as `demo`. Finished trials are skipped; invalid and
    interrupted trials are tried again. `progress` is whether to show on standard error how far the run is; by default,
    only notebooks show it. `spans` is whether to send OpenTelemetry's spans while playing, as `harvest run --spans`
    does; a warning counts those that could not be delivered. In a notebook, or wherever else an event loop is running,
    the loop waits until the run has ended; await `aplay` to let it go on. Warns of a system without any valid attempt.
    Raises InputError if the audit cannot be played, and RunError if the run belongs to another audit.
    """
    return _warn_of_silence(run_to_end(_play_and_read(audit, out, progress, spans=spans)))


async def aplay(
    audit: Audit | str | PathLike[str],
    out: str | PathLike[str],
    *,
    progress: bool | None = None,
    spans: bool = False,
) -> Run:
    """Play as `play` does, in the running event loop. If the task is cancelled, the current turns are given up, and
    every earlier turn is in the run."""
    return _warn_of_silence(await _play_and_read(audit, out, progress, spans=spans))


async def _play_and_read(
    audit: Audit | str | PathLike[str], out: str | PathLike[str], progress: bool | None, *, spans: bool
) -> Run:
    tracing: Tracing = untraced
    if spans:
        from harvest.playing.live_spans import tracing_to  # late: few runs send any

        tracing = tracing_to(lambda sentence: warnings.warn(sentence, stacklevel=2))
    shown = _in_notebook() if progress is None else progress
    resolved, folder = audit if isinstance(audit, Audit) else load_audit(str(audit)), _absolute(out)
    try:
        watching = partial(_displayed, resolved) if shown else _silent
        await play_audit(resolved, folder, watching=watching, tracing=tracing)
    except* HarvestError as group:
        raise first_error(group) from None
    return read(out)


def _warn_of_silence(run: Run) -> Run:
    """Warn the caller of `play` or `aplay` of each system that was tried and has no valid attempt, because a program
    does not look at the run's invalid attempts as people look at the output of `harvest run`."""
    heard = {one.key.system for one in run.finished}
    invalid: dict[str, list[Outcome]] = {}
    for one in run.conversations:
        if one.key.system not in heard and one.outcome is not None:
            invalid.setdefault(one.key.system, []).append(one.outcome)
    for system, outcomes in invalid.items():
        tried, last = pluralize(len(outcomes), "invalid attempt"), outcomes[-1]
        why = f"{last.why}: {last.detail}" if last.detail else last.why
        told = f"{run.path}: the system {system!r} has no valid attempt, so no figures; {tried}, the last: {why}"
        warnings.warn(printable(told, line=True), stacklevel=3)
    return run


def _in_notebook() -> bool:
    """Return whether this is a kernel's process: other programs import ipykernel too, and have no cell to show in."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def _absolute(out: str | PathLike[str]) -> Path:
    return Path(out).absolute()


def _silent(plan: Plan, damage: tuple[str, ...]) -> AbstractContextManager[Watcher]:
    return nullcontext(SilentWatcher())


def untraced(writer: RunWriter) -> AbstractContextManager[None]:
    return nullcontext()


def _displayed(audit: Audit, plan: Plan, damage: tuple[str, ...]) -> AbstractContextManager[Watcher]:
    from rich.console import Console  # late, like the display: most callers want neither

    from harvest.playing.progress import Display

    # A notebook says that it is a terminal, and shows every frame of a bar.
    notebook = _in_notebook()
    console = Console(stderr=True, force_jupyter=False, force_terminal=False if notebook else None)
    return Display(console, audit.played, plan, rewrite=_line_of_notebook() if notebook else None)


def _line_of_notebook() -> Callable[[str], None]:
    """Return what shows a line in place of the one before it. A saved notebook would keep each line that a carriage
    return overwrites as an output of its own."""
    from IPython.display import DisplayHandle  # a kernel has it

    handle: Any = DisplayHandle()  # type: ignore[no-untyped-call]
    show = handle.display

    def rewrite(line: str) -> None:
        nonlocal show
        show({"text/plain": line}, raw=True)
        show = handle.update

    return rewrite


async def play_audit(
    audit: Audit,
    folder: Path,
    *,
    worker: str = "",
    watching: Watching = _silent,
    gates: Gates = local_gate,
    tracing: Tracing = untraced,
) -> Path | None:
    """Play the rest of an audit into `folder`, and return the file of events, or None if nothing was left to play.

    A system in this process must not change the working directory if `folder` is relative. `worker` is this machine's
    name if several machines write runs that will be merged. `gates` set the pace of each system. `tracing` receives
    every recorded event. Errors are raised in an exception group (see `first_error`).
    """
    refuse_small_cap(audit)
    header = audit.header()
    # The ends of finished trials show what is left; their turns are needed if a session continues.
    turns_of = None if audit.caps else frozenset(one.name for one in audit.played if one.session != "fresh")
    seen = event_file_sizes(folder)
    recorded = read(folder, turns_of=turns_of) if is_run(folder) else None
    if recorded is not None:
        refuse_differences(recorded.header, header, folder)
        plan = make_plan(audit, recorded.conversations)
        if not plan.to_play and extend_header(recorded.header, header, "") is recorded.header:
            with watching(plan, ()):
                _keep_gold(audit, folder)
            return None
    async with RunWriter.open(folder, header, secrets=audit.secrets, worker=worker) as writer:
        now = event_file_sizes(folder)
        del now[f"trials-{writer.worker}.jsonl"]
        if recorded is None or now != seen:  # another process wrote until this one had the lock
            recorded = read(folder, turns_of=turns_of)
            plan = make_plan(audit, recorded.conversations)
        damage = recorded.damage
        audit = audit.equipped()
        meter = make_meter(audit, recorded, writer)
        del recorded
        _keep_gold(audit, folder)
        player = Player(
            writer,
            ScriptedUser(audit.protocol, audit.users),
            audit.seed,
            keep_evidence=audit.evidence,
            words=audit.endpoints,
            meter=meter,
        )
        with tracing(writer), watching(plan, damage) as watcher:
            audit.endpoints.report_waits(watcher.pace_lowered)
            async with audit.endpoints:
                await Runner(player, audit.played, audit.drivers, watcher, gates).play(plan)
        return folder / f"trials-{writer.worker}.jsonl"


def first_error(group: BaseExceptionGroup[HarvestError]) -> HarvestError:
    """Return the first error of an exception group. Later errors are its consequences in other sessions."""
    for fault in group.exceptions:
        return first_error(fault) if isinstance(fault, BaseExceptionGroup) else fault
    raise AssertionError("a group is never empty")


def _keep_gold(audit: Audit, folder: Path) -> None:
    if audit.gold is not None:
        keep_gold(folder, audit.gold, source=audit.gold_source)
    if audit.topics.sources.name:
        keep_sources(folder, audit.topics.sources)
