"""A plan of a comparison, as a picture: how often a difference is found, by topics and trials."""

from harvest.studies.plan.figures import answer, measure_size
from harvest.studies.plan.planning import WANTED, Study
from harvest.tables.drawing.curve_chart import Curve, CurvePanel, curve_key, curve_panels
from harvest.tables.drawing.svg import MARGIN, page, paragraphs
from scoring.inference.paired import ESTIMANDS, Estimand
from topics.counting import pluralize

_WIDTH = 800.0  # in pixels


def plan_chart(study: Study) -> str:
    """An SVG file: a panel for either estimand, with a curve for each number of trials."""
    inside, title = _WIDTH - 2 * MARGIN, f"Power to find {measure_size(study)}: {study.audit}"
    elements, down = paragraphs([title], inside, MARGIN - 4, size=16, ink="ink", bold=True)
    more, down = paragraphs([answer(study)], inside, down + 2)
    elements += more
    panels = [_panel(study, estimand) for estimand in ESTIMANDS]
    drawn, down = curve_panels(panels, inside, down + 12)
    elements += drawn
    key, down = curve_key([curve.name for curve in panels[0].curves], inside, down + 6, "4 studies of 5")
    elements += key
    level = f"{100 * study.settings.level:g}%"
    said = f"Simulated with the test of harvest compare, at {level}; a curve for each number of trials of a topic."
    more, down = paragraphs([said, *(f"Note: {note}" for note in study.notes)], inside, down + 2)
    each = (
        f"{panel.title}: "
        + ", ".join(f"{x:g} topics {curve.name} {y:.0f}%" for curve in panel.curves for x, y in curve.points)
        for panel in panels
    )
    return page(title, f"{answer(study)} {'; '.join(each)}", [*elements, *more], _WIDTH, down + MARGIN)


def _panel(study: Study, estimand: Estimand) -> CurvePanel:
    trials = dict.fromkeys(one.trials for one in study.designs)
    curves = [
        Curve(
            f"× {pluralize(count, 'trial')}",
            [(float(one.topics), 100 * one.power[estimand].found) for one in study.designs if one.trials == count],
        )
        for count in trials
    ]
    words = ESTIMANDS[estimand]
    title = words[0].upper() + words[1:]
    return CurvePanel(title, "topics", "studies that find it, in percent", curves, (0.0, 100.0), 100 * WANTED)
