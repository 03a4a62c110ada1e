"""A chart of power by numbers of topics and trials."""

from harvest.studies.plan.differences import DifferenceModel
from harvest.studies.plan.grid import WANTED, Plan
from harvest.tables.drawing.curve_chart import Curve, CurvePanel, curve_key, curve_panels
from harvest.tables.drawing.svg import MARGIN, page, paragraphs
from scoring.inference.paired import ESTIMANDS
from topics.counting import pluralize

_WIDTH = 800.0  # in pixels


def plan_chart(plan: Plan[DifferenceModel]) -> str:
    """Return an SVG chart with a panel for each estimand and a curve for each number of trials."""
    model, grid = plan.model, plan.grid
    inside, title = _WIDTH - 2 * MARGIN, f"Power to find {model.size}: {grid.audit}"
    answer = model.answer(grid)
    elements, down = paragraphs([title], inside, MARGIN - 4, size=16, ink="ink", bold=True)
    more, down = paragraphs([answer], inside, down + 2)
    elements += more
    panels = []
    for estimand, words in ESTIMANDS.items():
        curves = [
            Curve(
                f"× {pluralize(count, 'trial')}",
                [(float(one.topics), 100 * one.power[estimand].found) for one in grid.designs if one.trials == count],
            )
            for count in dict.fromkeys(one.trials for one in grid.designs)
        ]
        axis, ends = "studies that find it, in percent", (0.0, 100.0)
        panels.append(CurvePanel(words[0].upper() + words[1:], "topics", axis, curves, ends, 100 * WANTED))
    drawn, down = curve_panels(panels, inside, down + 12)
    elements += drawn
    key, down = curve_key([curve.name for curve in panels[0].curves], inside, down + 6, "4 studies of 5")
    elements += key
    level = f"{100 * model.basis.settings.level:g}%"
    said = f"Simulated with the test of harvest compare, at {level}; a curve for each number of trials of a topic."
    more, down = paragraphs([said, *(f"Note: {note}" for note in model.notes)], inside, down + 2)
    each = (
        f"{panel.title}: "
        + ", ".join(f"{x:g} topics {curve.name} {y:.0f}%" for curve in panel.curves for x, y in curve.points)
        for panel in panels
    )
    return page(title, f"{answer} {'; '.join(each)}", [*elements, *more], _WIDTH, down + MARGIN)
