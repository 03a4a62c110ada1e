"""The JSON document, long-form rows and printed tables of a plan under any model."""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from rich import box
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harvest.studies.plan.grid import WANTED, Design, Grid, Plan, PowerModel, Simulated
from harvest.studies.plan.words import Words, hours_after, simulated
from harvest.tables.long_rows import LongRow
from harvest.tables.study_form import StudyForm
from topics.counting import pluralize

FORMAT = "harvest-plan/1"

_LANDMARKS = ("present", "more_topics", "more_trials")


class PlannedModel(PowerModel[Simulated], Protocol[Simulated]):
    """The parts of a power model that documents and tables use."""

    @property
    def subject(self) -> Mapping[str, Any]:
        """Long-form columns that name the subject (a measure and turn, or a node) and the size to detect."""

    @property
    def notes(self) -> Sequence[str]: ...

    @property
    def details(self) -> Collection[str]:
        """Names of the figures that tables for papers omit."""

    def figures(self, design: Design[Simulated]) -> Iterator[Mapping[str, Any]]:
        """Yield, for each figure of a design, the long-form columns that are specific to it."""
        ...

    def answer(self, grid: Grid[Simulated]) -> str:
        """Return a sentence on what the audit's own design would find."""
        ...

    def head(self, grid: Grid[Simulated]) -> dict[str, Any]:
        """Return the entries of the JSON document that are specific to this model."""
        ...

    def words(self, grid: Grid[Simulated]) -> Words[Simulated]: ...


PlanOf = Plan[PlannedModel[Any]]


def plan_form(plan: PlanOf, chart: Callable[[], str] | None = None) -> StudyForm:
    """Return the printable form of a plan, with a `harvest-plan/1` document. The head of the document has the
    figures of the audit's own design, of twice its topics, and of twice its trials, even if a design is outside
    the grid. Undefined and infinite values are null."""
    model, grid = plan.model, plan.grid
    landmarks = {
        name: {
            "topics": one.topics,
            "trials": sum(one.mix),  # of each system, over all topics
            "fewest": min(one.mix),
            "most": max(one.mix),
            "turns": one.turns,
            "hours": simulated(one.hours),
            "figures": [row.as_json() for row in _design_rows(plan, one)],
        }
        for name, one in zip(_LANDMARKS, grid.landmarks, strict=False)
    }
    head = {
        "format": FORMAT,
        "audit": grid.audit,
        "systems": grid.systems,
        "wanted": WANTED,
        "answer": model.answer(grid),
        **model.head(grid),
        **landmarks,
        "turns_at_most": grid.turns_at_most,
        "settings": model.basis.settings.as_json(),
        "seed": model.basis.seed,
        "notes": list(model.notes),
    }
    return StudyForm(
        head=head,
        rows=lambda: plan_rows(plan),
        tables=lambda _: plan_tables(plan),
        sources=model.basis.pilots,
        chart=chart,
        details=model.details,
    )


def plan_rows(plan: PlanOf) -> Iterator[LongRow]:
    """Yield the power, the number of user turns and the hours of each design. `run` is the pilot."""
    for design in plan.grid.designs:
        yield from _design_rows(plan, design)


def _design_rows(plan: PlanOf, design: Design[Any]) -> Iterator[LongRow]:
    common: dict[str, Any] = {
        "study": "plan",
        "run": ", ".join(str(one["run"]) for one in plan.model.basis.pilots),
        "topics": design.topics,
        "trials": design.trials,
        **plan.model.subject,
    }
    for figure in plan.model.figures(design):
        yield LongRow(**common, **figure)
    at_most = "at most" if plan.grid.turns_at_most else ""
    yield LongRow(**common, figure="user turns", unit="count", estimate=float(design.turns), note=at_most)
    yield LongRow(**common, figure="hours", unit="hours", estimate=design.hours, note=at_most)


def plan_tables(plan: PlanOf) -> Iterator[RenderableType]:
    """Yield the answer in a sentence, its assumptions, and tables of power and cost by design."""
    grid, words = plan.grid, plan.model.words(plan.grid)
    yield Text(plan.model.answer(grid), style="bold")
    for line in words.advice:
        yield Padding(Text(line), (0, 0, 0, 2))
    yield Text()
    yield from (Text(line) for line in words.grounds)
    for title, cell in words.tables:
        yield _design_table(title, ((one, cell(one)) for one in grid.designs))
    costs = ((one, Text(f"{one.turns:,}{hours_after(one.hours)}")) for one in grid.designs)
    yield _design_table("user turns" + (" at most" if grid.turns_at_most else ""), costs)
    yield from (Text(line, style="dim") for line in words.legend)
    if any(math.isnan(one.hours) for one in grid.designs):
        unknown = "hours: unknown, since the audit sets no rate and no pilot shows how long a conversation takes"
        yield Text(unknown, style="dim")
    yield from (Text(f"note: {note}") for note in plan.model.notes)


def _design_table(title: str, cells: Iterable[tuple[Design[Any], Text]]) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        title=Text(title, no_wrap=True, overflow="ignore"),  # it may be wider than the table
        title_justify="left",
        title_style="bold",
    )
    table.add_column("topics", justify="right")
    rows: dict[int, list[Text]] = {}
    for design, cell in cells:
        if rows.keys() <= {design.topics}:
            table.add_column(f"× {pluralize(design.trials, 'trial')}", justify="right", no_wrap=True)
        rows.setdefault(design.topics, []).append(cell)
    for topics, own in rows.items():
        table.add_row(str(topics), *own)
    return table
