"""Playing an audit from the command line, with messages before and during play."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from harvest.audits.audit import Audit
from harvest.cli.caps import cap_lines
from harvest.cli.interruption import Interrupted, run_until_stopped
from harvest.playing.plan import Plan
from harvest.playing.play import SilentWatcher, Tracing, first_error, play_audit, untraced
from harvest.playing.progress import Display
from harvest.playing.runner import Watcher
from harvest.playing.stored_play import play_stored
from harvest.stores.stored_run import StoredRun
from harvest.terminal import printable
from recordings.log.run_folder import count_begun_files
from topics.counting import plural, pluralize
from topics.decimals import percent
from topics.errors import HarvestError

NOTHING_RECORDED = "interrupted; nothing was recorded, and the same command starts again"


def describe_audit(console: Console, audit: Audit) -> None:
    """Describe the audit for people who have not read its file."""
    console.print(
        f"[bold]{audit.name}[/]: protocol {audit.protocol.name}, {pluralize(len(audit.topics.topics), 'topic')} of "
        f"{audit.topics.name}, {audit.trials_in_words} {plural('trial') if audit.trial_range[1] > 1 else 'trial'}"
    )
    if audit.shard:
        limits = [one.limits for one in audit.systems]
        pace = f"1/{audit.shard.of} of each system's pace" if any(one.spacing for one in limits) else "no pace is set"
        most = pluralize(max(one.concurrency for one in limits) * audit.shard.of, "session")
        console.print(f"  {audit.shard}: {pace}; together, the machines open up to {most} with a system at a time")
    if audit.about:
        console.print(escape(printable(audit.about.strip())))
    for system in audit.systems:
        options = ", ".join(f"{key} {value}" for key, value in system.options.items() if isinstance(value, str | int))
        place = f", from {system.vantage}" if system.vantage else ""
        told = f"  {system.name}: {system.driver}" + (f" ({options})" if options else "") + place
        console.print(escape(printable(told, line=True)))
    if audit.groups:
        console.print(escape(f"  each meets users of {len(audit.groups)} groups: {', '.join(audit.groups)}"))
    if audit.population:
        each = ", ".join(f"{one.name} {percent(one.share)}" for one in audit.population)
        console.print(escape(f"  the user of each trial is drawn, the same for all systems: {each}"))
    if audit.arms:
        console.print(
            escape(f"  each is played in {len(audit.arms)} arms: {', '.join(arm.name for arm in audit.arms)}")
        )


def tracing_of(console: Console, *, spans: bool) -> Tracing:
    """Return what sends the spans of a run while it is played, if `spans` is True (the option `--spans`). Raises
    InputError if it is not installed."""
    if not spans:
        return untraced
    from harvest.playing.live_spans import tracing_to  # late: few runs send any

    return tracing_to(lambda sentence: console.print(f"[yellow]note:[/] {escape(sentence)}"))


def play_to_folder(
    audit: Audit,
    folder: Path,
    worker: str,
    console: Console,
    stored: StoredRun | None = None,
    *,
    tracing: Tracing = untraced,
) -> tuple[Path | None, set[str]]:
    """Play the remaining trials into `folder`. `stored` is a copy of the run in an object store, which provides the
    trials that other machines played. `tracing` receives every recorded event. Returns the file of events (None if
    nothing was played) and the systems given up."""
    left: set[str] = set()

    @contextmanager
    def watching(plan: Plan, damage: tuple[str, ...]) -> Iterator[Watcher]:
        for sentence in damage:
            console.print(f"[yellow]note:[/] {escape(sentence)}")
        planned = pluralize(plan.planned, "trial")
        if not plan.to_play:
            console.print(f"recorded: {plan.planned} of {planned}; nothing to play")
            yield SilentWatcher()
            return
        for line in cap_lines(audit, plan):
            console.print(escape(f"cap: {line}"), soft_wrap=True)
        if plan.recorded:
            console.print(f"recorded: {plan.recorded} of {planned}; {plan.to_play} to play")
        with Display(console, audit.played, plan) as display:
            yield display
        left.update(display.left)

    try:
        # The current turn is given up; everything before it is on disk.
        if stored is not None:
            return run_until_stopped(
                play_stored(audit, folder, stored, worker=worker, watching=watching, tracing=tracing)
            ), left
        return run_until_stopped(play_audit(audit, folder, worker=worker, watching=watching, tracing=tracing)), left
    except* HarvestError as group:
        raise first_error(group) from None
    except* KeyboardInterrupt:
        saved = "interrupted; every finished turn is saved, and the same command resumes the run"
        raise Interrupted(saved if count_begun_files(folder) else NOTHING_RECORDED) from None
