"""`harvest tree`: merge the repeated trials of a run into conversation trees."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap

import click

from harvest.cli.garbage import pause_collection
from harvest.cli.judges_options import judgment_options
from harvest.cli.parameters import NameOrFile, NumberRange, PathArgument, ShortHelp, WholeNumberRange
from harvest.cli.setting_options import setting_option, sources_option
from harvest.cli.study_output import Output, check_output, figure_option, write_figures
from harvest.studies.scores.gathered import gather_runs, recorded_design
from harvest.studies.scores.one_pass import run_with_trees
from harvest.studies.trees.figures import TreeFigures, tree_figures
from harvest.studies.trees.folded_trees import fold_trees, folds_spoken, trees_of_outlines
from harvest.studies.trees.rows import outlined_trees, tree_form, wrap_sentences
from harvest.studies.trees.tree_scores import TrialScores, tree_scores, trial_scores
from harvest.studies.trees.words import legend, sentences, tree_drawings
from harvest.tables.plain_words import plain_words
from harvest.tables.study_form import FORMS
from harvest.terminal import print_message, printable
from recordings.log.caps import Caps
from recordings.log.header import read_header
from recordings.log.run_folder import Run, read
from recordings.log.shard import shard_note
from scoring.library import find_declaration
from scoring.notation import parse
from scoring.stochastic.transitions import IntervalName
from scoring.swan.precedence import Precedence
from scoring.swan.schema import load_schema
from topics.errors import InputError
from topics.library import load_gold
from topics.source_table import SourceTable

_FORMATS = ("terminal", "text", "json", "csv", "latex", "graphml", "dot", "mermaid", "svg")


@click.command(cls=ShortHelp, rare="--interval --gold --width --turns --least --most", paragraphs=2)
@click.argument("run", type=PathArgument())
@click.option("--system", metavar="NAME", help="Only this system.")
@click.option("--topic", metavar="ID", help="Only this topic.")
@click.option("--merge", metavar="KEY", help="exact, label, act, entities, or user=KEY,system=KEY [see below].")
@click.option(
    "--format", "form", type=click.Choice(_FORMATS), default="terminal", show_default=True, help="Form of output."
)
@click.option(
    "--interval",
    type=click.Choice(["wilson", "jeffreys"]),
    default="wilson",
    show_default=True,
    help="Kind of intervals.",
)
@setting_option("level")
@click.option("--score", "measure", metavar="MEASURE", help="Add a score to the tree: R, GF(SET), SWAN, …")
@click.option(
    "--gold",
    type=NameOrFile(),
    metavar="NAME|FILE.csv",
    help="With --score: use this gold table instead of the run's own.",
)
@sources_option
@judgment_options
@click.option(
    "--width", type=WholeNumberRange(40, 1000), help="Columns [the terminal's; text: 80; svg: 120, 8 px each]."
)
@click.option(
    "--turns", type=WholeNumberRange(1), metavar="N", help="terminal, text: show only the first N turns [all]."
)
@click.option(
    "--least", type=NumberRange(0, 1), metavar="P", help="svg, --figure: fold turns of fewer trials than this share."
)
@click.option(
    "--most", type=WholeNumberRange(1, 1000), metavar="N", help="svg, --figure: branches of a turn; fold the rest [12]."
)
@figure_option
def command(
    run: Path,
    system: str | None,
    topic: str | None,
    merge: str | None,
    form: str,
    interval: IntervalName,
    level: float,
    measure: str | None,
    gold: str | None,
    schema: str | None,
    sources: SourceTable | None,
    judges: str | None,
    folding: str | None,
    nuggets: str | None,
    width: int | None,
    turns: int | None,
    least: float | None,
    most: int | None,
    figures: tuple[Path, ...],
) -> None:
    """Merge a run's repeated trials into conversation trees.

    There is a tree for each system and topic. Two turns belong to one branch if their merge keys are equal, never
    because their texts are similar. The key `exact` (the default for one topic) compares texts, `act` compares acts,
    `entities` compares the named entities, and `label` compares o and x. With `label`, which is the default for
    several topics with labelled replies, there is one tree over all topics.

    With --score, each branch shows the mean score of the trials that take it. The tree is followed by the share of
    the score's variance that each turn explains.
    """
    check_output(figures)
    if form != "svg" and not figures and (least is not None or most is not None):
        raise InputError("--least and --most only affect pictures", allowed="--format svg, --figure FILE")
    if form not in ("terminal", "text") and turns is not None:
        raise InputError("--turns only affects trees as text", allowed="--format terminal, --format text")
    term = parse(measure) if measure is not None else None
    for option, given in (("--gold", gold), ("--sources", sources)):
        if term is None and given is not None:
            raise InputError(f"{option} only affects scores", advice="add a score, such as --score R")
    selecting = {"--schema": schema, "--judges": judges, "--judgments": folding, "--nuggets": nuggets}
    for option, value in selecting.items():
        if value is not None and (term is None or "judgments" not in find_declaration(term.name).needs):
            raise InputError(f"{option} only affects SWAN", advice="add --score SWAN")
    with pause_collection():
        spoken = term is None and folds_spoken(merge)
        kept = run_with_trees(run) if spoken and topic is None else None
        recorded: Run | None = kept
        trees, left = [] if kept is None else trees_of_outlines(kept, system=system, merge=merge), list[str]()
        if recorded is None or not trees:
            capped = Caps.of_audit(read_header(run).audit) is not None  # then tokens tell what is in the figures
            recorded = read(run, spoken=spoken and not capped)
            trees, left = fold_trees(recorded, system=system, topic=topic, merge=merge)
    shard = shard_note(recorded.header)
    for sentence in (*recorded.damage, *left, *([shard] if shard else ())):
        print_message(f"note: {printable(sentence, line=True)}")
    scored = TrialScores({})
    if term is not None:
        material, asked = (
            gather_runs(recorded, sources=sources).material,
            Precedence.from_options(judges, nuggets, folding),
        )
        table = load_gold(gold, material.topics) if gold is not None else None
        criteria = load_schema(schema) if schema is not None else None
        scored = trial_scores(material, term, gold=table, schema=criteria, judges=asked)
    for sentence in scored.notes:
        print_message(f"note: {printable(sentence, line=True)}")
    designs = [recorded_design(recorded, tree.scope.systems) for tree in trees]
    laid = [
        tree_scores(tree, term, scored.values, level=level, design=design) if term else None
        for tree, design in zip(trees, designs, strict=True)
    ]
    protocol = recorded.header.protocol
    shown = [
        tree_figures(tree, level=level, interval=interval, scores=scores, design=design, protocol=protocol)
        for tree, scores, design in zip(trees, laid, designs, strict=True)
    ]

    def draw() -> str:
        from harvest.tables.drawing.picture import picture

        name = str(protocol.get("name", "")) if isinstance(protocol, dict) else ""
        drawings, said = tree_drawings(shown, name, least=least or 0.0, most=most or 12)
        return picture(drawings, said, width=8.0 * (width or 120))

    if form in FORMS or form == "terminal":
        columns = width or max(shutil.get_terminal_size().columns, 40)
        Output(form if form in FORMS else "").show(tree_form(recorded, shown, width=columns, turns=turns))
    elif form == "text":
        lines = [line.plain.rstrip() for line in outlined_trees(shown, width or 80, turns)]
        explained = (line for words in plain_words(lines) for line in wrap(words, width or 80))
        click.echo("\n".join((*lines, *explained)))
    elif form == "svg":
        click.echo(draw(), nl=False)
    else:
        click.echo(_diagram(form, shown), nl=False)
    write_figures(figures, draw)


def _diagram(form: str, figures: Sequence[TreeFigures]) -> str:
    from harvest.tables.drawing.diagrams import dot, mermaid
    from recordings.trees.graph import graphml

    trees, said = [one.tree for one in figures], [sentences(one) for one in figures]
    if form == "graphml":
        return graphml(trees, [one.columns() for one in figures], said)
    captions, notes = [one.captions() for one in figures], [one.unseen() for one in figures]
    below = wrap_sentences(legend(figures), 100)
    return (dot if form == "dot" else mermaid)(trees, captions, said=said, notes=notes, legend=below)
