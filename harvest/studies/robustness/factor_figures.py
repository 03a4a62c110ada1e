"""Main effects and interactions of factors, for people and as rows: a part of `harvest robustness`."""

import math
from collections.abc import Iterator
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harvest.studies.robustness.factors import FactorEffects, FactorStudy
from harvest.tables.comparison_words import bounds_words, p_text
from harvest.tables.long_rows import LongRow, unit_of
from harvest.terminal import printable
from scoring.inference.matched import Difference
from scoring.table import is_percentage
from topics.decimals import change

_DIGITS = 12  # fewer than a float has, so that two machines print the same
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
        f"{effect_name(effect)}: {change(own.value, share=share)} {_interval(own, share=share)}"
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
        said = {True: "yes", False: "no", None: "?"}[own.beyond] if own.n else "n/a"
        value = f"{change(own.value, share=share)} {_interval(own, share=share)}".rstrip() if own.n else "n/a"
        table.add_row(printable(effect_name(effect), line=True), value, str(own.n), p_text(own.adjusted), said)
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


def factor_rows(study: FactorStudy | None) -> Iterator[dict[str, Any]]:
    """One row for each effect; undefined numbers are null."""
    for one in study.effects if study is not None else ():
        for effect, own in one.effects.items():
            yield {
                "system": one.system,
                "other": one.other or None,
                "measure": one.key[0],
                "turn": one.key[1],
                "figure": "interaction" if len(effect) > 1 else "main effect",
                "levels": dict(effect),
                "value": _json(own.value),
                "low": _json(own.interval.low),
                "high": _json(own.interval.high),
                "level": study.level if study is not None and own.interval.method else None,
                "interval": own.interval.method or None,
                "of": "topics like these",
                "pairs": own.n,
                "topics": own.topics,
                "p": _json(own.p),
                "p_corrected": _json(own.adjusted),
                "found": own.beyond,
                "note": own.interval.note,
            }


def long_factor_rows(study: FactorStudy | None, run: str, trials: int) -> Iterator[LongRow]:
    """The effects in the long form of all studies."""
    for one in study.effects if study is not None else ():
        name, turn = one.key
        for effect, own in one.effects.items():
            there = not math.isnan(own.interval.low)
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
                estimand="like-these",
                estimate=own.value,
                low=own.interval.low,
                high=own.interval.high,
                level=study.level if study is not None and there else None,
                interval=own.interval.method,
                p=own.p,
                p_corrected=own.adjusted,
                topics=own.topics,
                note=own.interval.note,
            )


def _interval(one: Difference, *, share: bool) -> str:
    if math.isnan(one.interval.low):
        return ""
    return f"[{change(one.interval.low, share=share)}, {change(one.interval.high, share=share)}]"


def _json(value: float) -> float | None:
    return round(value, _DIGITS) + 0.0 if math.isfinite(value) else None
