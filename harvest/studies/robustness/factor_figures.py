"""Print main effects and interactions of factors, a part of `harvest robustness`."""

import math
from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from harvest.studies.robustness.factors import FactorEffects, FactorStudy
from harvest.tables.comparison_words import bounds_words, difference_words, found_word, interval_words, p_text
from harvest.tables.figure_table import figure_table
from harvest.tables.long_rows import LongRow, difference_cells, unit_of
from harvest.terminal import printable
from scoring.table import is_percentage
from topics.decimals import change

_MOST = 4  # effects in a sentence
Effect = tuple[tuple[str, str], ...]


def effect_name(effect: Effect) -> str:
    """Return a name such as `patience hasty` or `patience hasty x skill unskilled`."""
    return " x ".join(f"{factor} {level}" for factor, level in effect)


def factor_sentence(one: FactorEffects, study: FactorStudy) -> str:
    """Name the factors and interactions found to affect a system, or the difference between two."""
    share = is_percentage(one.key[0])
    found = [(effect, own) for effect, own in one.effects.items() if own.beyond]
    if all(math.isnan(own.p) for own in one.effects.values()):
        return "nothing can be said of any factor"
    if not found:
        *names, last = study.levels
        either = f"{', '.join(names)} or {last}" if names else last
        return f"cannot tell whether {either} matters"
    told = [
        f"{effect_name(effect)}: {change(own.value, share=share)} {interval_words(own.interval, share=share)}"
        f"{' more than their effects add up to' if len(effect) > 1 else f' beside {study.levels[effect[0][0]][0]}'}"
        for effect, own in found[:_MOST]
    ]
    more = f"; and {len(found) - _MOST} more" if len(found) > _MOST else ""
    what = "how far apart they are depends on" if one.other else "found to matter:"
    return f"{what} {'; '.join(told)}{more}"


def factor_tables(study: FactorStudy | None) -> Iterator[RenderableType]:
    """Yield a sentence and the effects for every system, every pair and every measure; nothing without factors."""
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
    """Explain the columns; yield nothing without factors."""
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
    """Yield the effects as long-form rows; nothing without factors."""
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
