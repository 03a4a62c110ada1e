"""Compare the levels of a design's factors with each other within each system, and the systems within each level.

A level's figure is the mean over all cells with that level, over the trials that both sides have in all of their cells.
All differences of a run, of all systems, factors and measures, are one family.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from rich.console import RenderableType
from rich.text import Text

from harvest.studies.scores.arms import ArmedSystem, GatheredArms
from harvest.studies.scores.lost_attempts import lost_attempts
from harvest.studies.scores.trial_values import Key, key_name
from harvest.tables.comparison_words import bounds_words, difference_words, found_word, p_text
from harvest.tables.figure_table import figure_table
from harvest.tables.long_rows import LongRow, difference_cells, unit_of
from harvest.terminal import printable
from scoring.inference.losses import Gain, SideWithLosses
from scoring.inference.matched import Difference, compare_family, contrast
from scoring.measure import Measure
from scoring.measures.usefulness import RECOVERY
from scoring.table import is_percentage
from topics.counting import pluralize
from topics.decimals import decimal
from topics.identity import generator

MOST_ABSENT = 5
"""Differences with missing trials that are named one by one."""


@dataclass(frozen=True, slots=True)
class LevelDifference:
    """One side minus another: a level of a factor minus an earlier one, within `system`; or `system` minus `other`
    within a level (`against` is then the same level)."""

    key: Key
    system: str
    other: str
    factor: str
    level: str
    against: str
    found: Difference

    @property
    def name(self) -> str:
        if self.other:
            return f"{self.factor} {self.level}: {self.system} − {self.other}"
        return f"{self.system}: {self.level} − {self.against}"

    @property
    def sides(self) -> tuple[str, str]:
        return (self.system, self.other) if self.other else (self.level, self.against)


@dataclass(frozen=True, slots=True)
class LevelStudy:
    """All differences between levels and, within levels, between systems. `family` is the number of differences in the
    correction of p; `left_out` lists the levels without a figure, with reasons."""

    differences: tuple[LevelDifference, ...]
    family: int
    level: float
    left_out: tuple[str, ...]


def level_study(armed: GatheredArms, *, seed: int = 0) -> LevelStudy | None:
    """Compare the levels of a design. Returns None if the run has none."""
    if not armed.designed:
        return None
    found: list[LevelDifference] = []
    left_out: list[str] = []
    for one, other in (*((system, None) for system in armed.systems), *combinations(armed.systems, 2)):
        if other is not None and (one.group != other.group or one.names.keys() != other.names.keys()):
            continue
        pair = (one, other) if other is not None else (one,)
        names = [system.names[arm] for system in pair for arm in system.names]
        if withheld := armed.material.withholding(names):
            left_out.append(f"{' − '.join(system.name for system in pair)}: {withheld[0].sentence}")
            continue
        for key, measure in armed.wanted.items():
            if measure.declaration is not RECOVERY:  # a ratio of sums over conversations is no mean over trials
                found.extend(_differences(armed, key, measure, pair, seed))
    tests = [one.found for one in found]
    corrected = compare_family(tests, [math.nan] * len(tests), level=armed.settings.level)
    return LevelStudy(
        tuple(replace(one, found=own) for one, own in zip(found, corrected, strict=True)),
        sum(not math.isnan(one.p) for one in tests),
        armed.settings.level,
        tuple(left_out),
    )


def _differences(
    armed: GatheredArms, key: Key, measure: Measure, pair: Sequence[ArmedSystem], seed: int
) -> Iterator[LevelDifference]:
    topics = [topic.id for topic in armed.material.topics.topics]
    lost = Counter(gone.system for gone in armed.material.invalid)

    def cells(system: ArmedSystem, factor: str, level: str) -> tuple[list[Gain], int]:
        names = [name for arm, name in system.names.items() if system.levels.get(arm, {}).get(factor) == level]
        gone = (lost_attempts(key, measure, name, armed.values, armed.material, topics) for name in names)
        own = [SideWithLosses(armed.values[name].get(key, {}), each) for name, each in zip(names, gone, strict=True)]
        return [Gain(one) for one in own], sum(lost[name] for name in names)

    first, second = pair[0], pair[-1]
    for factor, levels in armed.factors.items():
        several = [(b, a) for a, b in combinations(levels, 2)] if len(pair) == 1 else [(one, one) for one in levels]
        for level, against in several:
            above, gone = cells(first, factor, level)
            below, missing = cells(second, factor, against)
            if not above or not below:
                continue
            other = second.name if len(pair) > 1 else ""
            difference = contrast(
                topics,
                below,
                above,
                generator(seed, "levels", first.name, other, factor, level, against, *map(str, key)),
                level=armed.settings.level,
                reach=measure.declaration.reach,
                continued=any(system.continued for system in pair),
                clusters=armed.material.topics.clusters,
                invalid=gone + missing,
            )
            yield LevelDifference(key, first.name, other, factor, level, against, difference)


def level_tables(study: LevelStudy | None) -> Iterator[RenderableType]:
    """Yield a table of levels within each system for every factor and measure, and of systems within its levels."""
    if study is None:
        return
    groups: dict[tuple[Key, str, bool], list[LevelDifference]] = {}
    for one in study.differences:
        groups.setdefault((one.key, one.factor, bool(one.other)), []).append(one)
    for (key, factor, within), rows in groups.items():
        share = is_percentage(key[0])
        title = f"systems within each {factor}" if within else f"{factor}, within each system"
        yield Text(printable(f"{key_name(key)}: {title}", line=True), style="bold")
        found = [one.name for one in rows if one.found.beyond]
        yield Text(printable(f"found to differ: {'; '.join(found)}" if found else _none_words(rows), line=True))
        table = figure_table("difference", ("both", "[low, high]\ntopics like these", "trials", "p", "found"))
        for one in rows:
            sides = (one.found.other, one.found.base)
            both = ", ".join(
                "n/a" if math.isnan(value) else f"{decimal(100 * value, 1)}%" if share else decimal(value, 4)
                for value in sides
            )
            own = (str(one.found.n), p_text(one.found.adjusted), found_word(one.found))
            table.add_row(printable(one.name, line=True), both, difference_words(one.found, share=share), *own)
        yield table
        for one in rows:
            if said := bounds_words(one.found, share=share):
                yield Text(printable(f"{one.name}: {said}", line=True), style="yellow")
        yield from map(Text, _absent_lines(rows))
    for why in study.left_out:
        yield Text(printable(f"no levels compared of {why}", line=True), style="yellow")
    yield Text(
        "by level: both: the mean over all cells with the level (or of each system there), over the trials that all "
        f"these cells have; [low, high]: {100 * study.level:g}%, each by itself; p corrected over all {study.family} "
        "differences between levels and between systems within levels (Holm); found: p at most "
        f"{1 - study.level:.4g}, and the interval, corrected like p, tells it from 0",
        style="dim",
    )


def _absent_lines(rows: Sequence[LevelDifference]) -> list[str]:
    """Say of how many trials a side has no value: of every difference, or of all together where most have one."""
    absent = {one.name: gone for one in rows if (gone := one.found.invalid + one.found.undefined)}
    if len(absent) <= MOST_ABSENT:
        return [
            printable(f"{name}: {pluralize(gone, 'trial')} without a value on a side", line=True)
            for name, gone in absent.items()
        ]
    low, high = min(absent.values()), max(absent.values())
    each = pluralize(high, "trial") if low == high else f"{low} to {pluralize(high, 'trial')}"
    return [f"{each} without a value on a side in {len(absent)} of {pluralize(len(rows), 'difference')}"]


def _none_words(rows: Sequence[LevelDifference]) -> str:
    if all(math.isnan(one.found.p) for one in rows):
        return "nothing can be said of any difference"
    return f"cannot tell whether any of these {len(rows)} differ"


def level_rows(study: LevelStudy | None, common: Mapping[str, object]) -> Iterator[LongRow]:
    """Yield a long-form row for each difference."""
    for one in study.differences if study is not None else ():
        name, turn = one.key
        factor = f"{one.factor} {one.level}"
        yield LongRow(
            **common,  # type: ignore[arg-type]
            measure=name,
            turn=turn,
            figure=f"systems within {factor}" if one.other else f"{factor} minus {one.against}",
            unit=unit_of(is_percentage(name)),
            system=one.system,
            other=one.other,
            **difference_cells(one.found, study.level if study is not None else math.nan),
        )
