"""The JSON document, long-form rows and chart of a robustness study, and the tables of its factors."""

import math
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from harvest.studies.robustness.factors import FactorEffects, FactorStudy
from harvest.studies.robustness.figures import robustness_legend, robustness_tables
from harvest.studies.robustness.levels import LevelStudy, level_rows, level_tables
from harvest.studies.robustness.ranking_by_user import RankedPair
from harvest.studies.robustness.ranking_figures import ranking_entries, ranking_legend, ranking_rows, ranking_tables
from harvest.studies.robustness.robustness import MeasureOverArms, Robustness
from harvest.tables.comparison_words import bounds_words, difference_words, found_word, interval_words, p_text
from harvest.tables.drawing.interval_chart import IntervalPanel, IntervalRow, interval_panel, panel_width
from harvest.tables.drawing.svg import MARGIN, page, paragraphs
from harvest.tables.figure_table import figure_table
from harvest.tables.long_rows import LongRow, difference_cells, interval_cells, unit_of
from harvest.tables.study_form import StudyForm
from harvest.terminal import printable
from scoring.inference.matched import Difference
from scoring.table import is_percentage
from topics.decimals import decimal, format_change

FORMAT = "harvest-robustness/2"


def robustness_form(
    found: Sequence[Robustness],
    ranked: Sequence[RankedPair],
    factors: FactorStudy | None,
    seed: int,
    unranked: Sequence[str] = (),
    levels: LevelStudy | None = None,
) -> StudyForm:
    """Return the printable form of one run's systems and pairs. `unranked` explains pairs without a ranking, and
    `levels` compares the levels of a design."""
    notes = list(dict.fromkeys(note for one in found for note in one.notes))
    return StudyForm(
        head={
            "format": FORMAT,
            "settings": found[0].settings.as_json(),
            "notes": notes,
            "comparisons": found[0].family,
            "systems": [_system_head(one) for one in found],
            "rankings": list(ranking_entries(ranked)),
            "unranked": list(unranked),
            "factors": {name: list(levels) for name, levels in factors.levels.items()} if factors is not None else None,
            "seed": seed,
        },
        rows=lambda: chain(
            robustness_rows(found, ranked, factors),
            level_rows(levels, _common_cells(found[0])),
        ),
        tables=lambda _: chain(level_tables(levels), _tables(found, ranked, factors, unranked, notes)),
        sources=found[0].sources,
        chart=lambda: robustness_chart(found),
    )


def _system_head(found: Robustness) -> dict[str, Any]:
    return {
        "system": found.system.name,
        "control": found.system.control,
        "worst": [{"measure": one.key[0], "turn": one.key[1], "arm": one.worst or None} for one in found.measures],
        "turned_round": {arm: list(flips.names) for arm, flips in found.flips.items()},
        "invalid": dict(found.invalid),
        "left_out": [
            {"measure": one.key[0], "turn": one.key[1], "arm": arm, "invalid": own.invalid, "undefined": own.undefined}
            for one in found.measures
            for arm, own in one.differences.items()
        ],
    }


def _tables(
    found: Sequence[Robustness],
    ranked: Sequence[RankedPair],
    factors: FactorStudy | None,
    unranked: Sequence[str],
    notes: Sequence[str],
) -> Iterator[RenderableType]:
    for one in found:
        yield from robustness_tables(one)
    yield from ranking_tables(ranked, found, unranked)
    # The effects of a single factor are the differences of its arms from the control, which are there already.
    factors = factors if factors is not None and len(factors.levels) > 1 else None
    yield from factor_tables(factors)
    yield from robustness_legend(found)
    yield from ranking_legend(ranked)
    yield from factor_legend(factors)
    yield from (Text(f"note: {note}") for note in notes)


def robustness_rows(
    found: Sequence[Robustness], ranked: Sequence[RankedPair], factors: FactorStudy | None = None
) -> Iterator[LongRow]:
    """Yield each arm's figure, its difference from the control, the spread over arms, and what each arm changed.
    `system` has the form `system, arm`. `other` names the control or, in the last rows, the second system."""
    for one in found:
        for measure in one.measures:
            yield from _measure_rows(one, measure)
        yield from _arm_rows(one)
    yield from ranking_rows(ranked, str(found[0].sources[0]["run"]), found[0].trials)
    yield from factor_rows(factors, str(found[0].sources[0]["run"]), found[0].trials)


def _arm_name(found: Robustness, arm: str) -> str:
    return f"{found.system.name}, {arm}"


def _common_cells(found: Robustness) -> dict[str, Any]:
    return {"study": "robustness", "run": str(found.sources[0]["run"]), "trials": found.trials}


def _measure_rows(found: Robustness, measure: MeasureOverArms) -> Iterator[LongRow]:
    name, turn = measure.key
    common = {**_common_cells(found), "measure": name, "turn": turn}
    unit = unit_of(is_percentage(name))
    for arm, value in measure.figures.items():
        worst = "worst arm" if arm == measure.worst else ""
        system = _arm_name(found, arm)
        topics = measure.topics[arm]
        cells = interval_cells(measure.intervals[arm], found.settings.level)
        said = {**cells, "note": "; ".join(filter(None, (worst, cells["note"])))}
        yield LongRow(**common, figure="arm", unit=unit, system=system, estimate=value, topics=topics, **said)
    for arm, one in measure.differences.items():
        if measure.differs_from_printed(arm):
            named, control = _arm_name(found, arm), _arm_name(found, found.system.control)
            within = {**common, "unit": unit, "topics": one.topics}
            yield LongRow(**within, figure="arm, in common", system=named, other=control, estimate=one.other)
            yield LongRow(**within, figure="control, in common", system=control, other=named, estimate=one.base)
        yield LongRow(
            **common,
            figure="difference from control",
            unit=unit,
            system=_arm_name(found, arm),
            other=_arm_name(found, found.system.control),
            **difference_cells(one, found.settings.level),
        )
    spread = measure.spread
    yield LongRow(
        **common,
        figure="variance between arms",
        unit="variance",
        system=found.system.name,
        estimand="like-these",
        estimate=spread.value,
        topics=max(measure.topics.values(), default=0),
        **interval_cells(spread.interval, found.settings.level),
    )
    if measure.worst in measure.differences:
        yield LongRow(
            **common,
            figure="worst arm, difference from control",
            unit=unit,
            system=_arm_name(found, measure.worst),
            other=_arm_name(found, found.system.control),
            estimand="like-these",
            estimate=measure.apart,
            topics=measure.differences[measure.worst].topics,
            **interval_cells(measure.interval, found.settings.level),
        )


def _arm_rows(found: Robustness) -> Iterator[LongRow]:
    for arm, changed in found.changed.items():
        flips = found.flips[arm]
        common = {
            **_common_cells(found),
            "system": _arm_name(found, arm),
            "other": _arm_name(found, found.system.control),
        }
        share = changed.other / changed.openings if changed.openings else math.nan
        yield LongRow(**common, figure="openings changed", unit="share", estimate=share, pairs=changed.openings)
        yield LongRow(**common, figure="words changed", unit="share", estimate=changed.words, pairs=changed.openings)
        by_chance = "" if math.isnan(flips.by_chance) else f"by chance: {flips.by_chance:.1f}"
        yield LongRow(
            **common,
            figure="topics turned round",
            unit="count",
            estimand="these",
            estimate=float(len(flips.names)),
            topics=flips.topics,
            note=by_chance,
        )
        expected = {**common, "estimand": "these", "topics": flips.topics}
        yield LongRow(**expected, figure="topics turned round by chance", unit="count", estimate=flips.by_chance)
    for arm, one in found.behaviour.items():
        common = {**_common_cells(found), "system": _arm_name(found, arm), "pairs": one.conversations}
        yield LongRow(**common, figure="user turns", unit="count", estimate=one.turns)
        for figure, shares in (("act", one.acts), ("end", one.ends)):
            for name, share in shares.items():
                yield LongRow(**common, figure=figure, unit="share", estimate=share, note=name)


_MOST_EFFECTS = 4  # effects in a sentence
Effect = tuple[tuple[str, str], ...]


def effect_name(effect: Effect) -> str:
    """Return the name of an effect, such as `patience hasty` or `patience hasty x skill unskilled`."""
    return " x ".join(f"{factor} {level}" for factor, level in effect)


def factor_sentence(one: FactorEffects, study: FactorStudy) -> str:
    """Name the factors and interactions found to affect a system or the difference between two systems."""
    share = is_percentage(one.key[0])
    found = [(effect, own) for effect, own in one.effects.items() if own.beyond]
    if all(math.isnan(own.p) for own in one.effects.values()):
        return "nothing can be said of any factor"
    if not found:
        *names, last = study.levels
        either = f"{', '.join(names)} or {last}" if names else last
        return f"cannot tell whether {either} matters"
    told = [
        f"{effect_name(effect)}: {format_change(own.value, share=share)} {interval_words(own.interval, share=share)}"
        f"{' more than their effects add up to' if len(effect) > 1 else f' beside {study.levels[effect[0][0]][0]}'}"
        for effect, own in found[:_MOST_EFFECTS]
    ]
    more = f"; and {len(found) - _MOST_EFFECTS} more" if len(found) > _MOST_EFFECTS else ""
    what = "how far apart they are depends on" if one.other else "found to matter:"
    return f"{what} {'; '.join(told)}{more}"


def factor_tables(study: FactorStudy | None) -> Iterator[RenderableType]:
    """Yield a sentence and a table of effects for every system, pair of systems and measure. Without factors,
    yields nothing."""
    if study is None:
        return
    for one in study.effects:
        yield Text(printable(f"{one.name}, {one.label}, by factor", line=True), style="bold")
        yield Text(printable(factor_sentence(one, study), line=True))
        share = is_percentage(one.key[0])
        headings = ("[low, high]\ntopics like these", "trials", "p", "found")
        table = figure_table("effect", headings, min_width=12, max_width=34)
        for effect, own in one.effects.items():
            name, value = printable(effect_name(effect), line=True), difference_words(own, share=share)
            table.add_row(name, value, str(own.n), p_text(own.adjusted), found_word(own))
        yield table
        for effect, own in one.effects.items():
            if said := bounds_words(own, share=share):
                yield Text(printable(f"{effect_name(effect)}: {said}", line=True), style="yellow")
    for why in study.left_out:
        yield Text(printable(f"no effects of factors on {why}", line=True), style="yellow")


def factor_legend(study: FactorStudy | None) -> Iterator[Text]:
    """Yield an explanation of the columns, or nothing if the run has no factors."""
    if study is None or not study.effects:
        return
    first = ", ".join(f"{factor} {own[0]}" for factor, own in study.levels.items())
    yield Text(
        f"by factor: a main effect is how far its level lies above the first one ({first}), on average over the levels "
        "of all other factors; an interaction (x) by how much more that is at the level of the other factor; over "
        f"matched trials that all combinations have; [low, high]: {100 * study.level:g}%, each by itself; p corrected "
        f"over all {study.family} effects shown (Holm)",
        style="dim",
    )


def factor_rows(study: FactorStudy | None, run: str, trials: int) -> Iterator[LongRow]:
    """Yield a long-form row for each effect, or nothing if the run has no factors."""
    if study is None:
        return
    for one in study.effects:
        name, turn = one.key
        for effect, own in one.effects.items():
            yield LongRow(
                study="robustness",
                run=run,
                trials=trials,
                measure=name,
                turn=turn,
                figure=f"{'interaction' if len(effect) > 1 else 'main effect'}: {effect_name(effect)}",
                unit=unit_of(is_percentage(name)),
                system=one.system,
                other=one.other,
                **difference_cells(own, study.level),
            )


_WIDTH = 800.0  # in pixels


def robustness_chart(found: Sequence[Robustness]) -> str:
    """Return an SVG forest plot of arms against their control, with a panel for each system and measure."""
    panels = []
    for one in found:
        for measure in one.measures:
            unit = "points" if is_percentage(measure.key[0]) else measure.label
            rows = list(_rows(one, measure))
            panels.append(IntervalPanel(f"{one.system.name}, {measure.label}", f"difference in {unit}", rows))
    inside = max(_WIDTH - 2 * MARGIN, *map(panel_width, panels))
    title = f"{', '.join(one.system.name for one in found)}: what arms change"
    elements, down = paragraphs([title], inside, MARGIN - 4, size=16, ink="ink", bold=True)
    level = found[0].settings.level
    said = (
        f"Arm minus control over matched trials, with {100 * level:g}% intervals for topics like these; "
        f"{found[0].sources[0]['run']}"
    )
    more, down = paragraphs([said], inside, down + 2)
    elements += more
    for panel in panels:
        drawn, down = interval_panel(panel, inside, down + 14)
        elements += drawn
    key = (
        f"● found: by a p of at most {1 - level:.4g}, corrected over all differences (Holm); ○ not distinguished from "
        "the control"
    )
    more, down = paragraphs([key], inside, down + 4)
    each = (f"{panel.title}, {row.label}: {row.said}" for panel in panels for row in panel.rows)
    description = "A forest plot. " + "; ".join(each)
    return page(title, description, [*elements, *more], inside + 2 * MARGIN, down + MARGIN)


def _rows(found: Robustness, measure: MeasureOverArms) -> Iterator[IntervalRow]:
    scale = 100.0 if is_percentage(measure.key[0]) else 1.0
    for arm, one in measure.differences.items():
        yield IntervalRow(
            f"{arm} − {found.system.control}",
            one.value * scale,
            one.interval.low * scale,
            one.interval.high * scale,
            _figure_words(one, scale),
            filled=bool(one.beyond),
        )


def _figure_words(one: Difference, scale: float) -> str:
    if math.isnan(one.value):
        return "n/a"
    low, high = one.interval.low, one.interval.high
    interval = "" if math.isnan(low) else f" [{_signed_number(low, scale)}, {_signed_number(high, scale)}]"
    return f"{_signed_number(one.value, scale)}{interval}, p {p_text(one.adjusted)}"


def _signed_number(value: float, scale: float) -> str:
    text = decimal(100 * value, 1, signed=True) if scale == 100 else decimal(value, 4, signed=True)
    return text.replace("-", "−")
