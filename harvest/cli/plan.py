"""`harvest plan`: plan how many topics and trials a comparison needs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from harvest.audits.audit import Audit, load_audit
from harvest.cli.parameters import NumberRange, PathArgument, ShortHelp, WholeNumberRange
from harvest.cli.setting_options import guard_option, setting_options
from harvest.cli.study_output import Output, output_options
from harvest.studies.plan.allocation import plan_spending
from harvest.studies.plan.chart import plan_chart
from harvest.studies.plan.differences import plan_difference
from harvest.studies.plan.figures import plan_form
from harvest.studies.plan.nodes import plan_node
from harvest.studies.plan.spending import spending_form
from harvest.studies.plan.tails import is_tail, plan_tail
from recordings.log.run_folder import read
from scoring.notation import parse
from scoring.settings import Guard
from topics.errors import InputError


@click.command(cls=ShortHelp, rare="--mean --between --interaction --within --failing --total --figure", paragraphs=2)
@click.argument("audit", type=PathArgument(str))
@click.option(
    "--detect",
    type=NumberRange(0, min_open=True),
    metavar="SIZE",
    help="The true difference to detect: in points for percentages, otherwise in the measure's units.",
)
@click.option(
    "--allocate", is_flag=True, help="Instead, propose trials of each topic for the next run, from the pilot."
)
@click.option(
    "--total", type=WholeNumberRange(1), metavar="N", help="With --allocate: trials of each system [the audit's]."
)
@click.option(
    "--node",
    metavar="PATH",
    help='Plan for one turn instead, with --from: its path as compare names it, "U ask → S o" (or ->).',
)
@click.option("--measure", "-m", "wanted", metavar="MEASURE", help="Plan for this measure [ave%useful].")
@click.option("--from", "pilot", metavar="RUN", type=PathArgument(), help="Use the means and variances of this run.")
@click.option("--mean", type=float, metavar="VALUE", help="The mean of both systems, in percent for percentages.")
@click.option(
    "--between",
    type=NumberRange(0),
    metavar="SPREAD",
    help="Standard deviation between topics of one system, in points for percentages.",
)
@click.option("--interaction", type=NumberRange(0), metavar="SPREAD", help="The part of it due to systems × topics.")
@click.option("--within", type=NumberRange(0), metavar="SPREAD", help="Standard deviation between trials of a topic.")
@click.option(
    "--failing",
    type=NumberRange(0, 100, min_open=True),
    metavar="PERCENT",
    help="Of %recovery without --from: the share of conversations that need it.",
)
@click.option("--topics", metavar="N,...", help="Numbers of topics to try [½, 1, 2 and 4 times the audit's].")
@click.option("--trials", metavar="N,...", help="Numbers of trials to try [½, 1, 2 and 4 times the audit's].")
@setting_options("level", level="Confidence level of the intervals; a p of at most 1 - level is significant")
@guard_option
@click.option("--seed", type=WholeNumberRange(0), default=0, show_default=True, help="Seed of the simulation.")
@output_options
def command(
    audit: str,
    detect: float | None,
    allocate: bool,
    total: int | None,
    node: str | None,
    wanted: str | None,
    pilot: Path | None,
    mean: float | None,
    between: float | None,
    interaction: float | None,
    within: float | None,
    failing: float | None,
    topics: str | None,
    trials: str | None,
    guard: Guard,
    seed: int,
    output: Output,
    **changes: Any,
) -> None:
    """Plan how many topics and trials a comparison needs.

    The command simulates the test of `harvest compare` over a grid of topics × trials, both for other topics of the
    same kind and for exactly these topics. Nothing is sent. AUDIT is a file, or a shipped name such as `demo`.

    With --node, the command simulates the test of one turn of the conversation tree. For the mean of a tail, such as
    CVaR(R), the command simulates the interval of `harvest score`. With --allocate, it instead lists the topics that
    need more trials.
    """
    stated = {"mean": mean, "between": between, "interaction": interaction, "within": within, "failing": failing}
    spreads = {f"--{name}": value for name, value in stated.items()}

    def read_audit() -> Audit:
        # The audit is not played: none of its code is imported, and nothing is sent.
        return load_audit(audit, imports=False, keys_in_clear=True)

    if allocate:
        grid = {"--detect": detect, "--node": node, "--topics": topics, "--trials": trials}
        _refuse_without_effect("--allocate", {**grid, **spreads, "--figure": output.figures or None})
        if pilot is None:
            raise InputError(
                "--allocate needs a pilot, which shows how much trials of a topic vary", advice="give --from RUN"
            )
        spending = plan_spending(
            read_audit(),
            read(pilot),
            measure=parse(wanted) if wanted is not None else None,
            total=total,
            changes=changes,
            seed=seed,
        )
        output.show(spending_form(spending))
        return
    if detect is None:
        raise InputError(
            "the difference to detect is missing",
            advice="give --detect SIZE, or --allocate with --from RUN",
        )
    _refuse_without_effect("a plan without --allocate", {"--total": total})
    if node is not None:
        _refuse_without_effect("--node", {"--measure": wanted, **spreads, "--figure": output.figures or None})
        if pilot is None:
            raise InputError("--node needs a pilot, which shows how often a turn is reached", advice="give --from RUN")
        turn = plan_node(
            read_audit(),
            read(pilot),
            node,
            detect=detect,
            topics=_read_counts("--topics", topics, 1),
            trials=_read_counts("--trials", trials, 1),
            changes=changes,
            seed=seed,
        )
        output.show(plan_form(turn))
        return
    asked = parse(wanted) if wanted is not None else None
    tail = asked is not None and is_tail(asked)
    if tail:
        _refuse_without_effect(
            "a tail", {"--interaction": interaction, "--failing": failing, "--figure": output.figures or None}
        )
    given: dict[str, Any] = {
        "detect": detect,
        "run": read(pilot) if pilot is not None else None,
        "stated": {name: value for name, value in stated.items() if value is not None},
        "topics": _read_counts("--topics", topics, 4),
        "trials": _read_counts("--trials", trials, 1),
        "changes": changes,
        "seed": seed,
    }
    if asked is not None and tail:
        output.show(plan_form(plan_tail(read_audit(), asked, **given)))
        return
    study = plan_difference(read_audit(), measure=asked, guard=guard, **given)
    output.show(plan_form(study, lambda: plan_chart(study)))


def _refuse_without_effect(what: str, options: Mapping[str, object]) -> None:
    given = [option for option, value in options.items() if value is not None]
    if given:
        raise InputError(
            f"{', '.join(given)} {'has' if len(given) == 1 else 'have'} no effect on {what}", advice="leave it out"
        )


def _read_counts(option: str, text: str | None, least: int) -> tuple[int, ...]:
    if text is None:
        return ()
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 7 and int(part) >= least for part in parts):
        raise InputError(
            f"{option}: {text!r} is not a list of numbers",
            allowed=f"whole numbers from {least} to 999999, separated by commas, for example {option} 15,45,90",
        )
    return tuple(map(int, parts))
