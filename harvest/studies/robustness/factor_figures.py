"""Main effects and interactions of factors, for people and as rows: a part of `harvest robustness`."""

import math
from collections.abc import Iterator

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harvest.studies.robustness.factors import FactorEffects, FactorStudy
from harvest.tables.comparison_words import bounds_words, difference_words, found_word, interval_words, p_text
from harvest.tables.long_rows import LongRow, difference_cells, unit_of
from harvest.terminal import printable
from scoring.table import is_percentage
from topics.decimals import change

_MOST = 4  # effects in a sentence
Effect = tuple[tuple[str, str], ...]


def effect_name(effect: Effect) -> str:
    """`patience hasty`, or `patience hasty x skill unskilled`."""
    return " x ".join(f"{factor} {level}" for factor, level in effect)


def factor_sentence(one: FactorEffects, study: FactorStudy) -> str:
    """Which factors and interactions are found to matter to a system, or to how far apart two are."""
    share = is_percentage(one.key[0])
    found = [(effect, own) for effect, own in one.effects.items() if own.beyond]
    if all(math.isnan(own.p) for own in one.effects.values()):
        return "nothing can be said of any factor"
    if not found:
        return f"cannot tell whether {_either(list(study.levels))} matters"
    told = [
        f"{effect_name(effect)}: {change(own.value, share=share)} {interval_words(own.interval, share=share)}"
        f"{' more than their effects add up to' if len(effect) > 1 else f' beside {study.levels[effect[0][0]][0]}'}"
        for effect, own in found[:_MOST]
    ]
    more = f"; and {len(found) - _MOST} more" if len(found) > _MOST else ""
    what = "how far apart they are depends on" if one.other else "found to matter:"
    return f"{what} {'; '.join(told)}{more}"


def _either(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def factor_tables(study: FactorStudy | None) -> Iterator[RenderableType]:
    """Of every system and every two of them in every measure a sentence and the effects; nothing without factors."""
    if study is None:
        return
    for one in study.effects:
        yield Text(printable(f"{one.name}, {one.label}, by factor", line=True), style="bold")
        yield Text(printable(factor_sentence(one, study), line=True))
        yield _table(one)
        for effect, own in one.effects.items():
            if said := bounds_words(own, share=is_percentage(one.key[0])):
                yield Text(printable(f"{effect_name(effect)}: {said}", line=True), style="yellow")
    for why in study.left_out:
        yield Text(printable(f"no effects of factors on {why}", line=True), style="yellow")


def _table(one: FactorEffects) -> Table:
    share = is_percentage(one.key[0])
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("effect", overflow="fold", min_width=12, max_width=34)
    for heading in ("[low, high]\ntopics like these", "trials", "p", "found"):
        table.add_column(Text(heading), justify="right", no_wrap=True)
    for effect, own in one.effects.items():
        value = difference_words(own, share=share)
        table.add_row(
            printable(effect_name(effect), line=True), value, str(own.n), p_text(own.adjusted), found_word(own)
        )
    return table


def factor_legend(study: FactorStudy | None) -> Iterator[Text]:
    """What the columns mean; nothing without factors."""
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
    """The effects in the long form of all studies; nothing without factors."""
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
