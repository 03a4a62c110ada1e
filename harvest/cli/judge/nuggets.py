"""`harvest judge nuggets`: exchange nuggets with `nuggetizer`, and compute the recall of nuggets."""

from pathlib import Path
from typing import Literal

import click

from harvest.cli.judge.options import read_reporting_damage
from harvest.cli.judge.serving import check_author
from harvest.cli.parameters import PathArgument, ShortHelp, WholeNumberRange, check_output_file
from harvest.cli.study_output import Output, form_options
from harvest.judging.sheets import wanted_sheet
from harvest.studies.pool.held_nuggets import recall_figures, recall_form
from harvest.terminal import print_message, printable
from recordings.files.times import stamp, utc_now
from recordings.judged.judgments import Layer, read_layers, write_layer
from recordings.judged.wanted import (
    ASSIGNMENTS,
    contained_nuggets,
    read_wanted,
    wanted_nuggets,
    write_assigned,
    write_created,
)
from recordings.log.run_folder import Run
from topics.counting import pluralize
from topics.errors import InputError


@click.command(cls=ShortHelp, rare="--people")
@click.argument("run", type=PathArgument())
@click.option(
    "--import",
    "given",
    type=PathArgument(),
    metavar="FILE",
    help="Import created or assigned nuggets, or a filled-in sheet.",
)
@click.option(
    "--export",
    "out",
    type=PathArgument(),
    metavar="FILE",
    help="Export nuggets for nuggetizer, or a .csv or .tsv sheet to write nuggets on.",
)
@click.option(
    "--form", type=click.Choice(("created", "assigned")), help="With --export: the nuggets to write [created]."
)
@click.option("--author", metavar="NAME", help="With --import: the author. Otherwise: whose assignments count.")
@click.option("--people", is_flag=True, help="With --import: people made it, not a model.")
@click.option("--force", is_flag=True, help="With --export: overwrite an existing file.")
@click.option("--seed", type=WholeNumberRange(0), default=0, show_default=True, help="Seed of the bootstrap.")
@form_options
def command(
    run: Path,
    given: Path | None,
    out: Path | None,
    form: Literal["created", "assigned"] | None,
    author: str | None,
    people: bool,
    force: bool,
    seed: int,
    output: Output,
) -> None:
    """Show how many of the topics' nuggets the answers contain.

    The nuggets of topics, and their assignment to conversations, are read from files in the format of `nuggetizer`.
    Without --import and --export, the command prints the recall of each system: the share of nuggets that its
    conversations support. Recall is strict or partial, and covers all nuggets or only the vital nuggets.

    People write the nuggets of topics on a sheet (.csv or .tsv): export it, fill it in, and import it.
    """
    if given is not None and out is not None:
        raise InputError("--import and --export cannot be used together", advice="give the command once for each")
    if (form or force) and out is None:
        raise InputError("--form and --force can only be used with --export")
    if people and given is None:
        raise InputError("--people can only be used with --import")
    if output.form and (given is not None or out is not None):
        raise InputError(f"--{output.form} can only be used without --import and --export")
    recorded = read_reporting_damage(run)
    if given is not None:
        _import_nuggets(run, recorded, given, check_author(author or ""), "human" if people else "model")
        return
    layers = read_layers(run)
    wanted = wanted_nuggets(layers)
    if out is not None and wanted_sheet.is_wanted_sheet(out):
        check_output_file(out, replace=force, other="choose another name, or --force")
        requests = _requests(recorded)
        if form == "assigned":
            if not wanted:
                raise InputError("this run has no nuggets", advice="import created nuggets with --import FILE")
            asked = pluralize(
                wanted_sheet.write_assigned_sheet(requests, wanted, recorded.finished, out), "conversation"
            )
            print_message(
                f"{asked} written to {out}: fill in 'assignment' ({', '.join(ASSIGNMENTS)}), then --import it"
            )
        else:
            asked = pluralize(wanted_sheet.write_wanted_sheet(requests, wanted, out), "topic")
            print_message(f"{asked} written to {out}: fill in 'nugget' and 'importance', then --import it")
        return
    if not wanted:
        raise InputError("this run has no nuggets", advice="import created nuggets with --import FILE")
    if out is not None:
        check_output_file(out, replace=force, other="choose another name, or --force")
    requests = _requests(recorded)
    if out is not None and form != "assigned":
        write_created(wanted, requests, out)
        click.echo(f"the nuggets of {pluralize(len(wanted), 'topic')} written to {out}", err=True)
        return
    kind, name = _chosen_author(layers, author)
    held = contained_nuggets(layers)[kind, name]
    if out is not None:
        count = write_assigned(wanted, held, recorded.finished, requests, out)
        click.echo(f"{pluralize(count, 'conversation')} written to {out}", err=True)
        return
    figures = recall_figures(wanted, held, recorded.finished, seed=seed)
    output.show(recall_form(recorded, figures, kind, name, seed))
    if output.form:
        return
    for system, count in {one.system: one.unassigned for one in figures if one.unassigned}.items():
        told = f"{printable(system, line=True)}: {pluralize(count, 'conversation')} not assigned, so not in any figure"
        click.echo(told, err=True)
    unchecked = "" if kind == "human" else ", a model: unchecked by people"
    click.echo(f"assigned by {printable(name, line=True)}{unchecked}", err=True)


def _import_nuggets(run: Path, recorded: Run, given: Path, author: str, kind: str) -> None:
    if not author:
        raise InputError("the author of these nuggets is missing", advice="give --author NAME")
    layers = read_layers(run)
    requests, known = _requests(recorded), wanted_nuggets(layers)
    if wanted_sheet.is_wanted_sheet(given):
        topics = recorded.header.topic_set()
        elsewhere = () if topics is None else (*(one.id for one in topics.topics), *topics.left_out)
        found, kind = wanted_sheet.read_nugget_sheet(given, requests, elsewhere, recorded.finished, known), "human"
    else:
        found = read_wanted(given, requests, recorded.finished, known)
    for what in found.left_out:
        print_message(printable(f"left out: {what}", line=True))
    now = stamp(utc_now())
    fresh = Layer(kind, author, "", given.name, now, found.held)
    told = contained_nuggets(layers).get((kind, author), {})
    same = all(told.get(trial) == said for trial, said in contained_nuggets([fresh]).get((kind, author), {}).items())
    kept = [Layer("gold", author, "", given.name, now, found.wanted), *([] if same else [fresh])]
    for layer in kept:
        if layer.judgments:
            path = write_layer(run, layer)
            told_of = pluralize(len(layer.judgments), "judgment")
            click.echo(f"{told_of} of {author} written to judgments/{path.name}", err=True)
    changed = {str(one.about["topic"]) for one in found.wanted} & known.keys()
    if changed:
        print_message(f"{pluralize(len(changed), 'topic')} had other nuggets before; the run keeps their layers")
    if not any(layer.judgments for layer in kept):
        if found.topics or found.conversations:
            rest = ", except what was left out" if found.left_out else ""
            click.echo(f"nothing new: all this is in the run already{rest}", err=True)
        else:
            click.echo("nothing written: all of the file was left out", err=True)


def _requests(recorded: Run) -> dict[str, str]:
    """Return the request of each topic with a conversation, or its id if the run does not record requests."""
    topics = recorded.header.topic_set()
    played = dict.fromkeys(one.key.topic for one in recorded.finished)
    known = {one.id: one.request for one in topics.topics if one.id in played} if topics else {}
    return known | {topic: topic for topic in played if topic not in known}


def _chosen_author(layers: tuple[Layer, ...], wanted: str | None) -> tuple[str, str]:
    known = sorted(contained_nuggets(layers))
    chosen = [one for one in known if wanted in (None, one[1], ":".join(one))]
    if len(chosen) == 1:
        return chosen[0]
    if not known:
        raise InputError(
            "nobody has assigned nuggets to these conversations", advice="import assignments with --import FILE"
        )
    what = f"nobody called {wanted!r} assigned nuggets" if not chosen else "several assigned nuggets"
    raise InputError(what, allowed=", ".join(":".join(one) for one in known), advice="choose one with --author")
