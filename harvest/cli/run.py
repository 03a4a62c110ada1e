"""`harvest run`: play or resume an audit, then score the run."""

import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import TextIO, cast

import click
from rich.console import Console
from rich.markup import escape

from harvest.audits.audit import Audit, load_audit
from harvest.cli.caps import cap_options
from harvest.cli.exposures import keys_in_clear_option
from harvest.cli.interruption import Interrupted
from harvest.cli.next_steps import print_next_steps, report_step, write_run_report
from harvest.cli.notifying import Channels, notice_options
from harvest.cli.parameters import PathArgument, ShortHelp, WholeNumberRange
from harvest.cli.playing import NOTHING_RECORDED, describe_audit, play_to_folder, tracing_of
from harvest.cluster.shard_task import Assignment
from harvest.playing.plan import Plan, make_plan
from harvest.stores.store import open_store
from harvest.stores.stored_run import StoredRun, refuse_other_division
from harvest.systems.driver import UNRECORDED
from harvest.systems.timing import REAL_CLOCK
from harvest.terminal import LastingStream, live_console, people_console, printable
from protocols.labels import NOT_USEFUL
from recordings.conversations.endings import cut_words, is_cut_short
from recordings.log.caps import prevented_trials, standings, stop_sentences
from recordings.log.run_folder import Run, read
from recordings.log.shard import Shard
from scoring.settings import scoring_settings
from topics.counting import pluralize
from topics.errors import InputError

# The shipped audit for a first look at Harvest.
DEMO = "demo"


def _split_list(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    if value is None:
        return None
    items = tuple(item.strip() for item in value.split(",") if item.strip())
    if not items:
        raise click.BadParameter("the list of topics is empty")
    return items


@click.command(cls=ShortHelp, rare="--worker --workers --dask --store --spans --max-cost --max-tokens --max-turns")
@click.argument("audit", type=PathArgument(str))
@click.option("--out", type=PathArgument(), metavar="RUN", help="The run folder [default: runs/NAME].")
@click.option("--trials", type=WholeNumberRange(1, 1_000_000), help="Trials, instead of the audit's number.")
@click.option("--seed", type=WholeNumberRange(0), help="Seed, instead of the audit's.")
@click.option("--topics", callback=_split_list, metavar="ID,ID,…", help="Only these topics.")
@click.option(
    "--worker", default="", metavar="NAME", help="This machine's name, if runs of several machines will be merged."
)
@click.option(
    "--shard",
    callback=lambda _context, _option, text: None if text is None else Shard.read(text),
    metavar="I/N",
    help="Play only part I of N: one on each of N machines.",
)
@click.option(
    "--dask",
    metavar="ADDRESS",
    help="Play on the workers of the Dask cluster with this scheduler: tls://HOST:PORT. With tcp://, anybody who"
    " reaches it runs code on all of them.",
)
@click.option(
    "--workers", type=WholeNumberRange(1, 1000), metavar="N", help="Play in N processes of this machine, at one pace."
)
@click.option("--store", metavar="URL", help="With --shard or --dask: share the run through this object store.")
@click.option("--spans", is_flag=True, help="Send OpenTelemetry's spans while playing, by its OTEL_… variables.")
@cap_options
@click.option("--strict", is_flag=True, help="Exit with 3 if a threshold is undecided.")
@click.option("--json", "as_json", is_flag=True, help="The scores as one JSON document on standard output.")
@click.option("--report/--no-report", default=True, help="Whether to write RUN/report.html [default: yes].")
@keys_in_clear_option
@notice_options
def command(
    audit: str,
    out: Path | None,
    trials: int | None,
    seed: int | None,
    topics: tuple[str, ...] | None,
    worker: str,
    shard: Shard | None,
    dask: str | None,
    workers: int | None,
    store: str | None,
    spans: bool,
    caps: dict[str, float],
    strict: bool,
    as_json: bool,
    report: bool,
    keys_in_clear: bool,
    channels: Channels,
) -> int:
    """Play an audit (or resume it), then score it.

    AUDIT is a file, or a shipped name such as `demo`.

    The same command continues an interrupted run: finished trials are skipped, and invalid and interrupted trials are
    tried again. A changed protocol, topic or system is rejected.
    """
    if shard is not None and as_json:
        raise InputError("--json cannot be used with --shard, because a shard has no scores", advice="leave out --json")
    if shard is not None and channels.has_requests:
        raise InputError(
            "verdicts cannot be reported for a shard, because a shard has no scores", advice="merge all shards first"
        )
    spread = "--dask" if dask is not None else "--workers" if workers is not None and workers > 1 else ""
    if spread and (shard is not None or worker):
        raise InputError(
            f"--shard and --worker cannot be used with {spread}, which assigns shards and names workers",
            advice="leave out both options",
        )
    if workers is not None and (dask is not None or store is not None):
        raise InputError(
            "--workers plays on this machine alone, and cannot be used with --dask and --store",
            advice="leave out --workers",
        )
    if store is not None and shard is None and dask is None:
        raise InputError(
            "--store is for runs of several machines", advice="add --dask, or --shard 1/1 for a single machine"
        )
    tracing = tracing_of(live_console(), spans=spans)
    shared = open_store(store) if store is not None else None
    try:
        resolved = load_audit(
            audit, trials=trials, seed=seed, only=topics, shard=shard, caps=caps, keys_in_clear=keys_in_clear
        )
        with resolved.document.add_place(("scoring",)):  # refuse a run that cannot be scored before playing it
            scoring_settings(resolved.scoring, resolved.topics, resolved.gold)
        if resolved.thresholds:
            from harvest.studies.scores.bounds import check_bounds  # late: it imports every measure

            check_bounds(resolved)
    except KeyboardInterrupt:
        raise Interrupted(NOTHING_RECORDED) from None
    named = out or Path("runs") / (f"{resolved.name}-{shard.index}-of-{shard.of}" if shard else resolved.name)
    if shared and shard:
        refuse_other_division(shared, shard.of)
    folder = named.absolute()  # a system in this process may change the folder
    console = live_console()
    describe_audit(console, resolved)
    journal, left = None, set[str]()
    if spread and not (spread == "--workers" and folder.exists()):  # what was merged is resumed in one process
        file = str(Path(audit).absolute()) if Path(audit).is_file() else audit
        where = named if shared else folder  # of a single worker, or of all of them
        left = _play_on_workers(
            Assignment(
                file, trials, seed, topics, store=store or "", caps=caps, keys_in_clear=keys_in_clear, spans=spans
            ),
            resolved,
            dask if dask is not None else workers or 1,
            where,
            console,
        )
    else:
        own = f"shard{shard.index}" if shard else ""
        stored = StoredRun(shared, f"{shard.index}-of-{shard.of}") if shared and shard else None
        journal, left = play_to_folder(resolved, folder, worker or own, console, stored, tracing=tracing)

    run = read(folder)
    if shard is not None:
        return _report_shard(resolved, run, left, named, console, store)
    return _score_and_report(
        resolved,
        run,
        journal,
        left,
        named,
        console,
        strict=strict,
        as_json=as_json,
        next_steps=report and not as_json,
        demo=audit == DEMO,
        channels=channels,
    )


def _play_on_workers(
    assignment: Assignment, resolved: Audit, workers: str | int, folder: Path, console: Console
) -> set[str]:
    """Play on the workers of the scheduler at this address, or on as many processes of this machine."""
    from harvest.cluster.spreading import play_in_processes, play_on_workers  # late: no other run needs them

    def print_line(sentence: str) -> None:
        console.print(escape(sentence), soft_wrap=True)

    try:
        if isinstance(workers, str):
            merged, left = play_on_workers(resolved, assignment, workers, folder, print_line)
        else:
            merged, left = play_in_processes(resolved, assignment, workers, folder, print_line)
    except KeyboardInterrupt:
        raise Interrupted("interrupted; every finished turn is saved, and the same command resumes the run") from None
    for system, reason in left.items():
        print_line(f"{system} was given up: {reason}")
    for sentence in (*merged.conflicts, *merged.damage):
        print_line(f"note: {sentence}")
    return set(left)


def _score_and_report(
    resolved: Audit,
    run: Run,
    journal: Path | None,
    left: set[str],
    named: Path,
    console: Console,
    *,
    strict: bool,
    as_json: bool,
    next_steps: bool,
    demo: bool,
    channels: Channels,
) -> int:
    # Late: importing the scorer takes as long as everything else, and the first turn need not wait for it.
    from harvest.notices.verdicts import bounds_bulletin, played_notice
    from harvest.studies.scores.bound_lines import bound_lines
    from harvest.studies.scores.bounds import checked_bounds, exit_code, measures_needed, share_terms
    from harvest.studies.scores.gathered import gather_runs
    from harvest.studies.scores.lost_bounds import lost_bounds
    from harvest.studies.scores.report import print_scores
    from harvest.studies.scores.score_file import scores_document, write_scores
    from harvest.studies.scores.scorecard import score_material
    from harvest.studies.scores.selection import selection
    from harvest.studies.validity.user_card_figures import card_document

    folder = run.path
    material = gather_runs(run).material
    needed = measures_needed(resolved.thresholds)
    table = score_material(material, measures=needed)
    lost = selection(material, table, lambda of, terms: score_material(of, measures=terms, only=True))
    scores = write_scores(folder, table, selection=lost.as_json(), measures=needed)
    written = [folder / "run.json", *([journal] if journal else []), scores]
    people = people_console(file=cast(TextIO, LastingStream(sys.stderr))) if as_json else people_console()
    print_scores(people, material, table, written, selection=lost)
    bounds = checked_bounds(
        resolved.thresholds,
        table,
        material.topics,
        speaking_of=lambda of: score_material(material, {"estimand": of}, measures=needed),
        lost=lost_bounds(
            material,
            lambda filled, of: score_material(filled, {"estimand": of}, measures=share_terms(needed), only=True),
        ),
    )
    if as_json:
        users = card_document(material.user_card)
        for piece in scores_document(table, selection=lost.as_json(), bounds=bounds, users=users):
            click.echo(piece.decode(), nl=False)

    for line in bound_lines(bounds):
        people.print(line, soft_wrap=True)
    if next_steps and run.finished:
        reported = write_run_report(people, named, run)
        _suggest_next_steps(people, named, resolved, run, reported=reported, demo=demo)
    missing = _too_many_open(resolved, run, left, people)
    code = 3 if missing else exit_code(bounds, strict=strict)
    if channels.has_requests:
        planned = make_plan(resolved).planned
        played = played_notice(planned - make_plan(resolved, run.conversations).to_play, planned, enough=not missing)
        now, path = REAL_CLOCK.now().timestamp(), str(named)
        told = bounds_bulletin(bounds, audit=resolved.name, run=path, at=now, code=code, strict=strict, played=played)
        channels.send_reports(told)
    return code


def _too_many_open(resolved: Audit, run: Run, left: set[str], people: Console) -> bool:
    """Report trials that have no valid attempt or were cut short by a failing user. Returns True if the audit does
    not allow that many."""
    plan = make_plan(resolved, run.conversations)
    capped = standings(run.header, run.attempts)
    prevented = prevented_trials(capped)
    plan = plan.without(prevented)
    for sentence in stop_sentences(capped):
        people.print(f"[yellow]{escape(sentence)}[/]", soft_wrap=True)
    if len(capped) == 1 and not capped[0].stopped:
        people.print(escape(capped[0].progress), soft_wrap=True)
    open_trials = {work.key for sittings in plan.sittings.values() for one in sittings for work in one.works}
    reasons = {one.key: one.outcome.reason for one in run.conversations if one.outcome and one.key in open_trials}
    unrecorded = frozenset(key for key, reason in reasons.items() if reason in UNRECORDED)
    if unrecorded:
        people.print(
            f"[red]not in the recording: {len(unrecorded)} of {pluralize(plan.planned, 'trial')}[/]: they would have "
            "continued differently under this protocol, and are in no figure. Trying again changes nothing; harvest "
            "relabel RUN --protocol FILE, of the run that is replayed, bounds what the figures could be",
            soft_wrap=True,
        )
    elsewhere = plan.without(unrecorded)
    if elsewhere.to_play:
        # If a system was given up or never worked, merely trying again would not help.
        working = {one.key.system for one in run.finished}
        stuck = {one.name for one in resolved.played if one.asked in left or one.name not in working}
        helps = any(sittings for name, sittings in elsewhere.sittings.items() if name not in stuck)
        advice = "the same command tries them again" + ("" if helps else ", once the cause is removed")
        where = escape(printable(_open_by_system(elsewhere, run), line=True))
        people.print(
            f"[red]no valid attempt: {elsewhere.to_play} of {pluralize(plan.planned, 'trial')}[/] ({where}); {advice}"
        )
    outcomes = [one.outcome for one in run.finished if one.outcome is not None and one.key not in prevented]
    cut_by = [one.reason for one in outcomes if is_cut_short(one)]
    cut = len(cut_by)
    if cut:
        trials = pluralize(plan.planned, "trial")
        people.print(f"[red]{cut_words(cut_by)}: {cut} of {trials}[/]; earlier answers are in the figures")
    nothing = bool(capped) and not any(one.whole for one in capped)  # then no trial is in the figures
    return nothing or plan.to_play + cut > resolved.max_invalid * plan.planned


def _open_by_system(plan: Plan, run: Run) -> str:
    lost = Counter(one.key.system for one in run.conversations if one.outcome is None or not one.outcome.valid)
    trials = {name: sum(len(one.works) for one in sittings) for name, sittings in plan.sittings.items()}
    return "; ".join(
        f"{name}: {pluralize(count, 'trial')}" + (f", {pluralize(lost[name], 'lost attempt')}" if lost[name] else "")
        for name, count in trials.items()
        if count
    )


def _report_shard(resolved: Audit, run: Run, left: set[str], named: Path, console: Console, store: str | None) -> int:
    """Report on a shard without scores, because people would mistake them for the scores of the whole audit."""
    shard = resolved.shard
    assert shard is not None
    open_ = _too_many_open(resolved, run, left, console)
    name = str(named)
    own = f"-{shard.index}-of-{shard.of}"
    others = [f"{name.removesuffix(own)}-{i}-of-{shard.of}" for i in range(1, shard.of + 1)]
    folders = shlex.join(others) if name.endswith(own) and shard.of <= 4 else "SHARD SHARD …"
    whole = shlex.quote(name.removesuffix(own)) if name.endswith(own) else "RUN"
    if store is not None:
        folders = shlex.quote(store)
    where = (
        f"{escape(name)} and in the store. With all {shard.of} there"
        if store
        else (f"{escape(name)}. With all {shard.of} on one machine")
    )
    console.print(
        f"{shard} is recorded in {where}:\n"
        f"  {escape(f'harvest data merge {folders} --out {whole}')}\n  {escape(f'harvest score {whole}')}",
        soft_wrap=True,
    )
    return 3 if open_ else 0


def _suggest_next_steps(people: Console, named: Path, resolved: Audit, run: Run, *, reported: bool, demo: bool) -> None:
    """Print what to look at next, for this run: its report, a conversation, and what its audit was made for."""
    name = shlex.quote(str(named))
    failed = next((one for one in run.finished if any(turn.label == NOT_USEFUL for turn in one.turns)), None)
    one = (failed or run.finished[0]).key
    chosen = shlex.join(["--system", one.system, "--topic", one.topic, "--trial", str(one.trial)])
    what = "a conversation that went wrong" if failed else "a conversation"
    steps = [(f"{what}, with the reasons for its labels", f"harvest show {name} {chosen}")]
    if reported:
        steps.insert(0, report_step(named, "what was found, and every conversation behind it"))
    if resolved.arms:
        steps.append(("what the arms change", f"harvest robustness {name}"))
    elif len({each.key.system for each in run.finished}) > 1:
        steps.append(("which system is better, and where they part", f"harvest compare {name}"))
    elif resolved.trial_range[1] > 1:
        steps.append(("how much answers vary between topics and trials", f"harvest variance {name}"))
    else:
        steps.append(("the paths of all conversations", f"harvest tree {name}"))
    if demo:
        steps.append(("your own system", "harvest init"))
    print_next_steps(people, steps)
