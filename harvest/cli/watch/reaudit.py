"""`harvest watch run`: play an audit again, and compare it with its baseline."""

import contextlib
import sys
from pathlib import Path
from typing import TextIO, cast

import click
from click.core import ParameterSource
from rich.console import Console
from rich.text import Text

from harvest.audits.audit import Audit, load_audit
from harvest.audits.audit_file import read_audit
from harvest.audits.placebo import check_placebo, placebo_audit
from harvest.cli.exposures import keys_in_clear_option
from harvest.cli.notifying import Channels, notice_options
from harvest.cli.parameters import NumberRange, PathArgument, ShortHelp, WholeNumberRange, check_output_file
from harvest.cli.playing import describe_audit, play_to_folder, tracing_of
from harvest.cli.study_output import Output, form_options
from harvest.cli.watch.conclusion import Conclusion
from harvest.cli.watch.looking import OPTIONS, Reaudit, add_begun_trials, judge, lock_run
from harvest.notices.verdicts import watch_bulletin
from harvest.parrot.placebo import placebo_server
from harvest.studies.runs.readings import recorded_audit
from harvest.studies.watch.baseline import read_baseline, refuse_other_audit
from harvest.studies.watch.dated_runs import free_name, new_dated_run
from harvest.studies.watch.document import watch_form
from harvest.studies.watch.harness import Harness, compare_with_placebo
from harvest.studies.watch.history import APART, LOOKS, MATTERS, WatchRules, alarm_waits, open_history, whole_history
from harvest.studies.watch.watch import confirmable_from
from harvest.studies.watch.words import later_audit
from harvest.systems.timing import REAL_CLOCK
from harvest.terminal import LastingStream, live_console, print_message, printable
from recordings.log.caps import standings, stop_sentences
from recordings.log.run_folder import enclosing_run, is_run, read
from topics.errors import InputError, Place


@click.command(cls=ShortHelp, rare="--history --looks --confirm-after --enforce --strict --explain --spans")
@click.argument("audit", type=PathArgument(str))
@click.option("--baseline", type=PathArgument(), metavar="FILE", help="[AUDIT.baseline.json beside it]")
@click.option("--history", type=PathArgument(), metavar="FILE", help="[beside the baseline]")
@click.option("--out", type=PathArgument(), metavar="FOLDER", help="The folder of dated runs [runs/NAME].")
@click.option("--run", "recorded", type=PathArgument(), metavar="RUN", help="Judge this run instead of playing one.")
@click.option("--resume", "stopped", type=PathArgument(), metavar="RUN", help="Play the rest of this dated run.")
@click.option("--extend", type=WholeNumberRange(1), metavar="N", help="Play N more trials in the last run.")
@click.option(
    "--matters",
    type=NumberRange(0, 1, min_open=True, max_open=True),
    default=MATTERS,
    show_default=True,
    help="The smallest difference that matters, as a share: 0.05 for 5 points.",
)
@click.option(
    "--looks",
    type=WholeNumberRange(1),
    default=LOOKS,
    show_default=True,
    help="Audits that share a 5% false-alarm probability.",
)
@click.option(
    "--confirm-after",
    type=NumberRange(0),
    default=APART,
    show_default=True,
    help="Seconds before another audit can confirm an alarm.",
)
@click.option("--enforce", is_flag=True, help="Count alarms although the baseline has fewer than 4 runs.")
@click.option("--if-alarm", is_flag=True, help="Play only if an alarm or a fall waits for another audit.")
@click.option("--strict", is_flag=True, help="Exit with 3 also if it is undecided whether anything changed.")
@click.option("--explain", is_flag=True, help="Explain the words and columns, as the first audit does.")
@click.option("--report/--no-report", default=True, help="Whether to write RUN/report.html [default: yes].")
@click.option("--spans", is_flag=True, help="Send OpenTelemetry's spans while playing, by its OTEL_… variables.")
@form_options
@keys_in_clear_option
@notice_options
def command(
    audit: str,
    baseline: Path | None,
    history: Path | None,
    out: Path | None,
    recorded: Path | None,
    stopped: Path | None,
    extend: int | None,
    matters: float,
    looks: int,
    confirm_after: float,
    enforce: bool,
    if_alarm: bool,
    strict: bool,
    explain: bool,
    report: bool,
    spans: bool,
    output: Output,
    keys_in_clear: bool,
    channels: Channels,
) -> int:
    """Play an audit again, and say whether it changed.

    Each call plays a new dated run and compares it with the blessed baseline. Exit codes: 0 no change was shown; 1
    the audit changed; 3 a change could not be measured.
    """
    chosen = [name for name, one in (("--run", recorded), ("--resume", stopped), ("--extend", extend)) if one]
    if len(chosen) > 1:
        raise InputError(
            f"{chosen[0]} and {chosen[1]} cannot be used together",
            advice="use --run to judge a run, --resume to play its rest, or --extend to add trials to the last run",
        )
    if if_alarm and (chosen or output.form):
        raise InputError(
            "--if-alarm cannot be combined with --run, --resume, --extend or --json",
            advice="leave out the further options",
        )
    console = live_console()
    tracing = tracing_of(console, spans=spans)
    base = baseline or baseline_path(audit)
    if recorded is None or not base.exists():
        _, file = read_audit(audit)  # refuse a file that is not an audit before looking for a baseline
    if not base.exists():
        raise InputError(
            "there is no baseline",
            place=Place(str(base)),
            advice=f"play the audit on four days, look at the runs, then: harvest watch bless RUN… --out {base}",
        )
    blessed = read_baseline(base)
    log = history or history_path(base)
    past = whole_history(log)
    check_output_file(log, replace=True, other="give another --history")  # before anything is sent
    with open_history(log):
        pass  # and nothing is sent if the disk cannot lock it
    now = REAL_CLOCK.now().timestamp()
    for sentence in past.damage(log, now):
        print_message(f"note: {sentence}")
    mine = [one for one in past.cut_after(now).looks if one.baseline == blessed.identity]
    from_where = click.get_current_context().get_parameter_source
    this = Reaudit(
        audit=audit,
        base=base,
        blessed=blessed,
        log=log,
        further=[
            str(word)
            for one in (("--baseline", baseline), ("--history", history), ("--out", out))
            if one[1]
            for word in one
        ]
        + ["--spans"] * spans,
        rules=WatchRules(matters=matters, looks=looks, apart=confirm_after, enforce=enforce),
        given={
            rule
            for rule, option in OPTIONS.items()
            if from_where(option.removeprefix("--").replace("-", "_")) is not ParameterSource.DEFAULT
        },
    )
    with contextlib.ExitStack() as stack:
        folder, harness = recorded, None
        if folder is None:
            runs = out or Path("runs") / file.name
            this.print_unjudged(runs, past, placebo=file.placebo, except_run=stopped)
            if if_alarm and not alarm_waits(mine):
                console.print("no alarm and no fall waits to be confirmed, so nothing is played")
                return 0
            begins = confirmable_from(mine, blessed, this.rules)
            if now < begins and not (extend or stopped):
                which = later_audit(begins - confirm_after, confirm_after)
                if if_alarm:
                    console.print(f"too soon: what waits can be confirmed by {which}, so nothing is played")
                    return 0
                print_message(f"note: this audit is too soon to confirm what waits; {which} can")
            resolved = load_audit(audit, keys_in_clear=keys_in_clear)
            if around := enclosing_run(runs):
                raise InputError(
                    "the folder for dated runs must not be inside a run folder",
                    place=Place(str(around)),
                    advice="give a folder outside it: --out FOLDER",
                )
            if extend:
                if not mine or not is_run(runs / mine[-1].run):
                    raise InputError("there is no earlier run to extend", advice="leave out --extend to play one")
                folder = runs / mine[-1].run
                trials = max((one.key.trial for one in read(folder).conversations), default=0) + extend
                resolved = load_audit(audit, trials=trials, keys_in_clear=keys_in_clear)
            elif stopped is not None:
                if not stopped.is_dir():
                    raise InputError("there is no such run", place=Place(str(stopped)), advice="leave out --resume")
                folder, resolved = stopped, add_begun_trials(resolved, stopped, keys_in_clear=keys_in_clear)
            refuse_other_audit(resolved.header(), blessed, Place(audit))
            check_placebo(resolved)
            describe_audit(console, resolved)
            if folder is None:
                folder = new_dated_run(runs, REAL_CLOCK.now())
            with this.explain_resuming(folder):
                play_to_folder(resolved, folder.absolute(), "", console, tracing=tracing)
                console.print(Text(printable(f"recorded in {folder}", line=True)), soft_wrap=True)
                stack.enter_context(lock_run(folder))
                if resolved.placebo and not extend:
                    harness = play_placebo(resolved, folder, console)
        run = read(folder)
        for sentence in stop_sentences(standings(run.header, run.attempts)):
            console.print(Text(sentence, style="yellow"), soft_wrap=True)
        found, harness = judge(run, this, harness)
    this.warn_if_replaced(folder)
    sound = harness is None or harness.is_sound
    conclusion = Conclusion.of(found, run, folder, this) if sound else None
    form = watch_form(
        found,
        run,
        str(folder),
        harness,
        lead=conclusion.sentences if conclusion else (),
        explain=explain or found.look == 1,
    )
    output.show(form, beside=cast(TextIO, LastingStream(sys.stderr)))
    if conclusion and report and not output.form:
        conclusion.print_next_steps(run)
    code = found.exit_code(strict=strict) if sound else 3
    if channels.has_requests:
        own, at = str(recorded_audit(run).get("name") or run.path.name), REAL_CLOCK.now().timestamp()
        channels.send_reports(
            watch_bulletin(found, harness, audit=own, run=str(folder), at=at, code=code, strict=strict)
        )
    return code


def baseline_path(audit: str) -> Path:
    """Return the default path of an audit's baseline."""
    return Path(f"{Path(audit).with_suffix('')}.baseline.json")


def history_path(baseline: Path) -> Path:
    """Return the default path of the history, in the baseline's folder."""
    return baseline.with_name(f"{baseline.name.removesuffix('.json').removesuffix('.baseline')}.history.jsonl")


def play_placebo(audit: Audit, folder: Path, console: Console) -> Harness:
    """Play the audit's placebo into a new run next to the audit's run `folder`. A stopped placebo cannot be resumed,
    because the messages that its page received are lost."""
    with placebo_server() as placebo:
        made = placebo_audit(audit, placebo.url)
        beside = free_name(folder.with_name(f"{folder.name}.placebo"))
        console.print(f"placebo: {len(made.topics.topics)} of the topics, to see whether the harness is sound")
        play_to_folder(made, beside.absolute(), "", console)
        return compare_with_placebo(read(beside), placebo.heard)
