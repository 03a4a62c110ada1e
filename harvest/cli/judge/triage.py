"""`harvest judge triage`: list the turns that should be reviewed first."""

from pathlib import Path

import click

from harvest.cli.judge.options import read_reporting_damage
from harvest.cli.parameters import PathArgument
from harvest.judging.rule_layers import other_languages, spans_to_review
from harvest.terminal import print_message
from topics.counting import pluralize


@click.command()
@click.argument("run", type=PathArgument())
def command(run: Path) -> None:
    """List the turns that should be reviewed first.

    Rules for Harmlessness and Fluency choose the turns, which are listed without their words.
    """
    recorded = read_reporting_damage(run)
    places = list(spans_to_review(recorded.finished))
    for place in places:
        click.echo(str(place))
    what = f"{pluralize(len(places), 'place')} to look at first"
    whole = pluralize(len(recorded.finished), "conversation")
    print_message(f"{what}, in {whole}. This is not a score, and other places may be as bad.")
    elsewhere = other_languages(recorded.finished)
    if elsewhere:
        listed = ", ".join(f"{language} {count}" for language, count in sorted(elsewhere.items()))
        print_message(
            f"{pluralize(elsewhere.total(), 'answer')} not in English ({listed}): harm is looked for by English "
            "words, except for a few insults in German, French and Spanish"
        )
