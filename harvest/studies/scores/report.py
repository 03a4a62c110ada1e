"""The printed output of `harvest run` and `harvest score`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from textwrap import wrap

from rich.console import Console, RenderableType
from rich.markup import escape
from rich.text import Text

from harvest.studies.runs.readings import Contrast
from harvest.studies.scores.criteria_table import criteria_tables
from harvest.studies.scores.grid import grids, last_turn_asked, legend
from harvest.studies.scores.scorecard import Material
from harvest.studies.scores.selection import Selection
from harvest.studies.validity.user_card import UserCard
from harvest.studies.validity.user_card_figures import card_lines, card_tables, card_warnings
from harvest.tables.figure_table import Item, figure_table
from harvest.tables.figures import figures, printed_rows
from harvest.terminal import printable
from recordings.conversations.conversation import INVALID
from recordings.conversations.outlines import Outlines, kinds
from scoring.swan.schema import Schema
from scoring.table import ScoreRow, ScoreTable, is_percentage
from topics.counting import pluralize
from topics.decimals import percent

_MOST_CONTRASTS = 12  # differences between runs that are printed


def print_scores(
    console: Console,
    material: Material,
    table: ScoreTable,
    paths: Iterable[Path] = (),
    *,
    every: bool = False,
    asked: Sequence[str] = (),
    contrasts: Sequence[Contrast] = (),
    selection: Selection | None = None,
    criteria: Schema | None = None,
) -> None:
    """Print the grid, figures, notes, damage and written files, or one sentence if there is nothing to score. With
    `every`, variants of the figures are printed, too. `asked` restricts the figures to these names, in this
    order. `contrasts` (differences between the runs) are printed before the figures, and `selection` (the effect
    of lost attempts) after. With `criteria`, the figures are a table of these criteria."""
    if not material.finished:
        console.print(f"[red]{escape(_nothing_to_score(material))}[/]")
    else:
        rows = table.joint if selection is None else selection.withhold_intervals(table.joint)
        if not asked:
            shown_grids = grids(material, table.single("trial"), table.joint, width=console.width, each=every)
            for grid in shown_grids.tables:
                console.print(grid, soft_wrap=True)
            # Broken between marks, never between a mark and its meaning.
            marks = "   ".join(part.replace(" ", "\xa0") for part in legend(material, shown_grids).split("   "))
            for line in wrap(marks, console.width, break_long_words=False, break_on_hyphens=False):
                console.print(Text(line.replace("\xa0", " "), style="dim"), soft_wrap=True)
        _print_contrasts(console, contrasts)
        for sentence in table.coverage:
            console.print(escape(sentence))
        shown = (
            criteria_tables(rows, criteria, material.systems, width=console.width)
            if criteria is not None
            else figures(
                rows,
                material.systems,
                width=console.width,
                every=every,
                asked=asked,
                last=last_turn_asked(material),
                bounded={one.system for one in selection.bounds} if selection is not None else (),
            )
        )
        for figure in shown:
            console.print(figure)
        if selection is not None:
            for bounds in selection_figures(selection, printed_rows(table.joint, every=every or bool(asked))):
                console.print(bounds)
        console.print()
        for note in (note for note in table.notes if note not in table.coverage):
            console.print(f"note: {escape(note)}")
        _print_users(console, material.user_card, every=every)
    for sentence in material.damage:
        console.print(f"[yellow]damage:[/] {escape(sentence)}")
    _print_invalid(console, material)
    for one in selection.concentrations if selection is not None else ():
        console.print(f"[bold red]warning:[/] {escape(printable(one.sentence, line=True))}")
    for path in paths:
        console.print(f"wrote {escape(str(path))}", soft_wrap=True)


def _print_users(console: Console, card: UserCard, *, every: bool) -> None:
    if every:
        for part in card_tables(card):
            console.print(part)
        return
    for line in card_lines(card):
        console.print(f"note: {escape(printable(line, line=True))}")
    for line in card_warnings(card):
        console.print(f"[bold red]warning:[/] {escape(printable(line, line=True))}")


def _print_contrasts(console: Console, contrasts: Sequence[Contrast]) -> None:
    if contrasts:
        differ = "the runs differ" if any(len(one.by_run) > 1 for one in contrasts) else "the run differs within itself"
        console.print(f"[yellow]{differ}; keep this in mind when you compare their figures:[/]")
    for one in contrasts[:_MOST_CONTRASTS]:
        console.print(Item(printable(one.said, line=True)))
    if len(contrasts) > _MOST_CONTRASTS:
        more = pluralize(len(contrasts) - _MOST_CONTRASTS, "more difference")
        console.print(f"  and {more}: score --json lists them all under differences")


def _nothing_to_score(material: Material) -> str:
    if material.capped and not material.conversations:
        return f"There is nothing to score: {'; '.join(material.capped)}."
    if not material.conversations:
        return "No trial has been played yet, so there is nothing to score."
    reasons: Counter[str] = Counter()
    for one, count, _ in kinds(material.conversations):
        reasons["interrupted" if one.outcome is None else one.outcome.why] += count
    counted = ", ".join(f"{printable(reason, line=True)} x {count}" for reason, count in reasons.most_common())
    tried = len(material.invalid)
    trials = "The one trial that was played has" if tried == 1 else f"None of the {tried} trials that were played has"
    valid = "no valid attempt" if tried == 1 else "a valid attempt"
    return f"{trials} {valid}, so there is nothing to score; attempts ended with: {counted}."


def _print_invalid(console: Console, material: Material) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    details: dict[tuple[str, str], str] = {}
    interrupted = 0
    whole = material.conversations
    for conversation in whole.invalid if isinstance(whole, Outlines) else whole:
        if conversation.outcome is None:
            interrupted += 1
        elif conversation.outcome.kind == INVALID:
            kind = (conversation.key.system, conversation.outcome.why)
            counts[kind] += 1
            details[kind] = conversation.outcome.detail
    for (system, reason), count in sorted(counts.items()):
        detail = details[system, reason][:200]
        told = f"{system}: {reason} x {count}" + (f" ({detail})" if detail else "")
        console.print(f"[yellow]invalid attempts:[/] {escape(printable(told, line=True))}")
    if interrupted:
        console.print(f"[yellow]interrupted attempts:[/] {interrupted}")


def selection_figures(selection: Selection, printed: Sequence[ScoreRow]) -> Iterator[RenderableType]:
    """Yield a table of bounds and an explanation for each system that lost attempts after an answer. `printed` are
    the printed rows; the explanation names the printed rows without bounds."""
    for system, lost in selection.lost.items():
        bounds = [one for one in selection.bounds if one.system == system]
        if bounds:
            headings = ("as scored", "lost: useless", "lost: useful")
            table = figure_table(Text(f"bounds of {printable(system, line=True)}"), headings)
            for one in bounds:
                name = f"{one.measure} S{one.turn}" if one.turn else one.measure
                values = (one.value, one.useless, one.useful)
                table.add_row(Text(name), *(_value_text(one.measure, value) for value in values))
            yield table
        tried = pluralize(selection.trials[system], "trial")
        cut = selection.cut.get(system)
        said = [
            f"{printable(system, line=True)}: {lost} of {tried} were {cut}."
            if cut
            else f"{printable(system, line=True)}: in {lost} of {tried} the first attempt that got an answer failed "
            "later, or was cut short."
        ]
        if any(is_percentage(one.measure) for one in bounds):
            said.append(
                f"The bounds count {'their' if cut else 'that attempt, not a retry, with its'} missing turns once as "
                "useless and once as useful."
            )
        rates = [one.measure for one in bounds if not is_percentage(one.measure)]
        if rates:
            said.append(f"For {_list_names(rates)} the bounds count these trials once as cases and once not.")
        known = {one.measure for one in bounds}
        without = dict.fromkeys(
            row.label for row in printed if row.system == system and row.measure not in known and row.value == row.value
        )
        if without:
            verb = "rest" if len(without) > 1 else "rests"
            have = "have" if len(without) > 1 else "has"
            said.append(
                f"{_list_names(list(without))} {verb} on the retries in the same way and {have} no bounds here."
            )
        yield Text(" ".join(said), style="yellow")


def _list_names(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _value_text(measure: str, value: float) -> str:
    if value != value:
        return "n/a"
    return percent(value, 1) if is_percentage(measure) else f"{value:.4f}"
