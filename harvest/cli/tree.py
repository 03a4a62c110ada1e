"""`harvest tree`: fold a run's repeated trials into conversation trees."""

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import wrap

import click
from rich.text import Text

from harvest.cli.garbage import uncollected
from harvest.cli.number import NumberRange, WholeNumberRange
from harvest.cli.path import GivenPath, NameOrFile
from harvest.cli.setting_options import setting_option
from harvest.cli.study_output import check_output, figure_option, write_figures
from harvest.studies.runs.side_by_side import run_names
from harvest.studies.runs.sources import sources
from harvest.studies.scores.gathered import gather_runs, recorded_design
from harvest.studies.trees.figures import TreeFigures, tree_figures
from harvest.studies.trees.folded_trees import fold_trees, folds_spoken
from harvest.studies.trees.rows import tree_rows
from harvest.studies.trees.tree_scores import TrialScores, tree_scores, trial_scores
from harvest.studies.trees.words import legend, plates, sentences
from harvest.tables.drawing.outline import OutlineLine, outline
from harvest.tables.long_rows import long_latex
from harvest.tables.paper_tables import csv_rows
from harvest.terminal import people_console, printable, tell
from protocols.labels import NOT_USEFUL, USEFUL
from recordings.log.run_folder import Run, read
from recordings.log.shard import shard_note
from recordings.trees.document import FORMAT
from recordings.trees.node_text import title
from recordings.trees.tree import ConversationTree
from scoring.catalogue import find
from scoring.notation import Term, parse
from scoring.stochastic.transitions import IntervalName
from scoring.swan.precedence import Precedence
from topics.errors import InputError
from topics.library import load_gold

_LABELS = {USEFUL: "bold green", NOT_USEFUL: "bold yellow", "?": "bold magenta"}
_FORMATS = ("terminal", "text", "json", "csv", "latex", "graphml", "dot", "mermaid", "svg")


@click.command()
@click.argument("run", type=GivenPath())
@click.option("--system", metavar="NAME", help="Only this system.")
@click.option("--topic", metavar="ID", help="Only this topic.")
@click.option("--merge", metavar="KEY", help="exact, label, act, entities, or user=KEY,system=KEY [see below].")
@click.option("--format", "form", type=click.Choice(_FORMATS), default="terminal", show_default=True, help="Of output.")
@click.option(
    "--interval", type=click.Choice(["wilson", "jeffreys"]), default="wilson", show_default=True, help="Kind."
)
@setting_option("level")
@click.option("--score", "measure", metavar="MEASURE", help="Add a score to the tree: R, GF(SET), SWAN, …")
@click.option(
    "--gold",
    type=NameOrFile(),
    metavar="NAME|FILE.csv",
    help="With --score: use this gold table instead of the run's own.",
)
@click.option(
    "--judges", metavar="KINDS", help="With --score SWAN: whose judgments count, in order of precedence [human,rule]."
)
@click.option(
    "--judgments",
    "folding",
    metavar="HOW|NAME",
    help="With --score SWAN: how several judgments of one thing become one: distribution, mean, majority, adjudicated,"
    " or whose alone counts [distribution].",
)
@click.option(
    "--nuggets", metavar="NAME", help="With --score SWAN: whose nuggets to score, by the name of a layer [the rules']."
)
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
    judges: str | None,
    folding: str | None,
    nuggets: str | None,
    width: int | None,
    turns: int | None,
    least: float | None,
    most: int | None,
    figures: tuple[Path, ...],
) -> None:
    """Fold a run's repeated trials into conversation trees.

    One tree for each system and topic. Two turns are one branch where their merge key is the same, never because
    their texts are alike: `exact` (the default for one topic) goes by their words, `act` by what they do, `entities`
    by what they name, `label` by o or x. At `label` (the default for several topics, where replies are labelled) topics
    are pooled.

    With --score each branch shows the mean score of the trials that take it, and below the tree stands which turn
    settles how much of the score's variance.
    """
    check_output(figures)
    if form != "svg" and not figures and (least is not None or most is not None):
        raise InputError("--least and --most are for pictures", allowed="--format svg, --figure FILE")
    if form not in ("terminal", "text") and turns is not None:
        raise InputError("--turns is for trees as text", allowed="--format terminal, --format text")
    term = parse(measure) if measure is not None else None
    if term is None and gold is not None:
        raise InputError("--gold is for a score", advice="ask for one: --score R")
    for option, value in (("--judges", judges), ("--judgments", folding), ("--nuggets", nuggets)):
        if value is not None and (term is None or "judgments" not in find(term.name).needs):
            raise InputError(f"{option} is for SWAN", advice="ask for it: --score SWAN")
    with uncollected():
        recorded = read(run, spoken=term is None and folds_spoken(merge))
        trees, left = fold_trees(recorded, system=system, topic=topic, merge=merge)
    shard = shard_note(recorded.header)
    for sentence in (*recorded.damage, *left, *([shard] if shard else ())):
        tell(f"note: {printable(sentence, line=True)}")
    scored = (
        _score_trials(recorded, term, gold, Precedence.asked(judges, nuggets, folding))
        if term is not None
        else TrialScores({})
    )
    for sentence in scored.notes:
        tell(f"note: {printable(sentence, line=True)}")
    designs = [recorded_design(recorded, tree.scope.systems) for tree in trees]
    laid = [
        tree_scores(tree, term, scored.values, level=level, design=design) if term else None
        for tree, design in zip(trees, designs, strict=True)
    ]
    shown = [
        tree_figures(tree, level=level, interval=interval, scores=scores, design=design)
        for tree, scores, design in zip(trees, laid, designs, strict=True)
    ]

    def drawn() -> str:
        return _picture_text(recorded, shown, 8.0 * (width or 120), least or 0.0, most or 12)

    if form == "terminal":
        _print(shown, width, turns)
    elif form == "text":
        click.echo(_text(shown, width or 80, turns))
    elif form == "json":
        document = {"format": FORMAT, "run": str(run), "trees": [one.as_json() for one in shown]}
        click.echo(json.dumps(document, allow_nan=False))
    elif form == "csv":
        click.echo(csv_rows(tree_rows(run_names([recorded])[0], shown)), nl=False)
    elif form == "latex":
        rows = list(tree_rows(run_names([recorded])[0], shown))
        click.echo(long_latex(rows, sources([recorded])), nl=False)
    elif form == "svg":
        click.echo(drawn(), nl=False)
    else:
        click.echo(_diagram(form, shown), nl=False)
    write_figures(figures, drawn)


def _score_trials(run: Run, term: Term, gold: str | None, judges: Precedence) -> TrialScores:
    material = gather_runs(run).material
    table = load_gold(gold, material.topics) if gold is not None else None
    return trial_scores(material, term, gold=table, judges=judges)


def _outline(one: TreeFigures, width: int, turns: int | None) -> Iterator[OutlineLine]:
    """The lines of the first `turns` turns, None for all; a note stands with the branches that it is about."""
    lines = outline(one.tree, one.branches(), stops=one.stops(), ends=one.end_lines(), notes=one.unseen(), width=width)
    for part in lines:
        if turns is None or len(one.tree.path(part.node)) + (part.kind == "note") <= 2 * turns:
            yield part


def _below(one: TreeFigures, turns: int | None) -> list[str]:
    """What is said below a tree."""
    cut = turns is not None and any(len(one.tree.path(node)) > 2 * turns for node in range(len(one.tree)))
    return [*([f"turns after turn {turns} are not shown"] if cut else []), *sentences(one)]


def _wrap_note(said: Sequence[str], width: int) -> list[str]:
    return [line for sentence in said for line in wrap(sentence, width, subsequent_indent="  ")]


def _text(figures: Sequence[TreeFigures], width: int, turns: int | None) -> str:
    lines: list[str] = []
    for one in figures:
        shown = map(str, _outline(one, width, turns))
        lines += [*wrap(title(one.tree), width), *shown, "", *_wrap_note(_below(one, turns), width)]
        # What holds for all trees stands once, below the last of them.
        lines += [""] if len(figures) > 1 else []
    return "\n".join([*lines, *_wrap_note(legend(figures), width)])


def _print(figures: Sequence[TreeFigures], width: int | None, turns: int | None) -> None:
    console = people_console(soft_wrap=True)
    columns = width or max(shutil.get_terminal_size().columns, 40)
    for one in figures:
        for line in wrap(title(one.tree), columns):
            console.print(Text(line, style="bold"))
        labelled = {key.speaker for key in one.tree.keys if key.name == "label"}
        for part in _outline(one, columns, turns):
            console.print(_style_line(part, one.tree, labelled))
        console.print()
        for line in _wrap_note(_below(one, turns), columns):
            console.print(Text(line, style="dim"))
        if len(figures) > 1:
            console.print()
    for line in _wrap_note(legend(figures), columns):
        console.print(Text(line, style="dim"))


def _style_line(line: OutlineLine, tree: ConversationTree, labelled: set[str]) -> Text:
    """The line with colours that repeat what its letters say."""
    if line.kind != "turn":
        return Text.assemble((line.rails, "dim"), (line.mark + line.words + line.figures, "dim"))
    speaker = tree.speaker(line.node)
    words = _LABELS.get(tree.symbol_at(line.node).key, "") if speaker in labelled else ""
    mark = "cyan" if speaker == "user" else "blue"
    return Text.assemble((line.rails, "dim"), (line.mark, mark), (line.words, words), line.figures)


def _picture_text(run: Run, figures: Sequence[TreeFigures], width: float, least: float, most: int) -> str:
    from harvest.tables.drawing.picture import picture

    protocol = run.header.protocol
    name = str(protocol.get("name", "")) if isinstance(protocol, dict) else ""
    drawn, said = plates(figures, name, least=least, most=most)
    return picture(drawn, said, width=width)


def _diagram(form: str, figures: Sequence[TreeFigures]) -> str:
    from harvest.tables.drawing.diagrams import dot, mermaid
    from recordings.trees.graph import graphml

    trees, said = [one.tree for one in figures], [sentences(one) for one in figures]
    if form == "graphml":
        return graphml(trees, [one.columns() for one in figures], said)
    captions, notes = [one.captions() for one in figures], [one.unseen() for one in figures]
    return (dot if form == "dot" else mermaid)(
        trees, captions, said=said, notes=notes, legend=_wrap_note(legend(figures), 100)
    )
