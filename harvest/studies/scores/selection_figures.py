"""The shares of systems that lost attempts after an answer, between what was lost taken for useless and for useful."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harvest.studies.scores.selection import Bound, Selection
from harvest.terminal import printable
from scoring.table import ScoreRow, is_percentage
from topics.counting import pluralize


def selection_figures(selection: Selection, printed: Sequence[ScoreRow]) -> Iterator[RenderableType]:
    """For each such system a table of the bounds there are, and what it says; nothing where nothing was lost after an
    answer. printed: the rows whose figures stand above, for those that have no bounds.
    """
    for system, lost in selection.lost.items():
        bounds = [one for one in selection.bounds if one.system == system]
        if bounds:
            yield _table(system, bounds)
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


def _table(system: str, bounds: Sequence[Bound]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(Text(f"bounds of {printable(system, line=True)}"), overflow="fold")
    for heading in ("as scored", "lost: useless", "lost: useful"):
        table.add_column(heading, no_wrap=True, justify="right")
    for one in bounds:
        name = f"{one.measure} S{one.turn}" if one.turn else one.measure
        table.add_row(Text(name), *(_shown(one.measure, value) for value in (one.value, one.useless, one.useful)))
    return table


def _list_names(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _shown(measure: str, value: float) -> str:
    if value != value:
        return "n/a"
    return f"{100 * value:.1f}%" if is_percentage(measure) else f"{value:.4f}"
