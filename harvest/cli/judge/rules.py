"""`harvest judge rules`: extract nuggets by rules, and score them by rules."""

from collections import Counter
from pathlib import Path

import click

from harvest.cli.judge.options import read_reporting_damage, schema_option
from harvest.cli.parameters import PathArgument
from harvest.judging.rule_layers import rule_layers
from harvest.judging.sheets.asked_rows import assess_run, sight_function
from harvest.terminal import print_message
from recordings.files.times import stamp, utc_now
from recordings.judged.judgments import Layer, keep_layer
from scoring.swan.judged import NUGGET
from scoring.swan.schema import load_schema
from topics.counting import pluralize


@click.command()
@click.argument("run", type=PathArgument())
@schema_option
def command(run: Path, schema: str) -> None:
    """Extract nuggets by rules, and score them by rules.

    The nuggets of every finished conversation, and all scores that rules can give, are added to RUN as layers of
    judgments. A layer is never changed once it is written, so people's scores stay as they are.
    """
    criteria = load_schema(schema)
    recorded = read_reporting_damage(run)
    assessed = assess_run(run, recorded, criteria, kept=False)
    now = stamp(utc_now())
    layers = rule_layers(assessed, criteria, sight_function(run, recorded), now)
    for layer in layers:
        path = keep_layer(run, layer)
        place = f"written to judgments/{path.name}" if path else "nothing new to write"
        print_message(f"{layer.author}: {_count_judgments(layer)}, {place}")
    unscored = [one.name for one in criteria if not one.may_score("rule")]
    print_message(f"{pluralize(len(assessed), 'conversation')}. No rule scores: {', '.join(unscored) or 'none'}")
    waiting = {one.name: rule.needs for one in criteria for rule in one.rules if rule.needs}
    for name, needs in waiting.items():
        print_message(f"{name}: its rule scores it by the scores of {', '.join(needs)}, when the run is scored")


def _count_judgments(layer: Layer) -> str:
    if layer.judgments and layer.judgments[0].criterion == NUGGET:
        types: Counter[str] = Counter()
        for judgment in layer.judgments:
            if isinstance(judgment.value, dict):
                types[str(judgment.value["type"])] += 1
        return f"{pluralize(len(layer.judgments), 'nugget')} ({types['F']} of type F, {types['O']} of type O)"
    criteria = ", ".join(sorted({judgment.criterion for judgment in layer.judgments}))
    return f"{pluralize(len(layer.judgments), 'score')}{f' for {criteria}' if criteria else ''}"
