"""Print bounds on the shares of systems that lost attempts after an answer."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from harvest.studies.scores.selection import Selection
from harvest.tables.figure_table import figure_table
from harvest.terminal import printable
from scoring.table import ScoreRow, is_percentage
from topics.counting import pluralize


def selection_figures(selection: Selection, printed: Sequence[ScoreRow]) -> Iterator[RenderableType]:
    """Yield a table of bounds and an explanation for each system that lost attempts after an answer.

    `printed` are the rows printed above, to name those without bounds.
    """
    for system, lost in selection.lost.items():
        bounds = [one for one in selection.bounds if one.system == system]
        if bounds:
            headings = ("as scored", "lost: useless", "lost: useful")
            table = figure_table(Text(f"bounds of {printable(system, line=True)}"), headings)
            for one in bounds:
                name = f"{one.measure} S{one.turn}" if one.turn else one.measure
                values = (one.value, one.useless, one.useful)
                table.add_row(Text(name), *(_shown(one.measure, value) for value in values))
            yield table
        tried = pluralize(selection.trials[system], "trial")
        said = [
            f"{printable(system, line=True)}: in {lost} of {tried} the first attempt that got an answer failed later."
        ]
        if any(is_percentage(one.measure) for one in bounds):
            said.append(
                "The bounds count that attempt, not the retry, with its missing turns once as useless and "
                "once as useful."
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


def _shown(measure: str, value: float) -> str:
    if value != value:
        return "n/a"
    return f"{100 * value:.1f}%" if is_percentage(measure) else f"{value:.4f}"
