"""Printed tables and long-form rows of a comparison of user groups."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.console import RenderableType
from rich.text import Text

from harvest.studies.groups.group_comparison import Comparison
from harvest.studies.runs.sources import sources
from harvest.studies.scores.trial_values import Key, key_name
from harvest.tables.comparison_words import bounds_words, difference_words, found_word, p_text
from harvest.tables.figure_table import figure_table
from harvest.tables.long_rows import LongRow, difference_cells, unit_of
from harvest.tables.study_form import StudyForm
from harvest.terminal import printable
from recordings.log.run_folder import Run
from scoring.inference.interval import FEWEST, METHOD
from scoring.inference.matched import Difference
from scoring.library import single_measures
from scoring.measures.relevance import RELEVANCE
from scoring.table import is_percentage
from topics.counting import pluralize
from topics.decimals import decimal

FORMAT = "harvest-groups/2"

_LEAST_WORD_DIFFERENCE = 0.5  # words in an opening; smaller differences are not reported
_ROUNDING = 1e-12  # rounding: sums in another order must compare as equal on every machine
_LEGEND = (
    "figure, n: of each group by itself, as in `harvest score`",
    "difference: from the base group, over matched pairs only (same topic and trial, both sides valid); of "
    "percentages, in points",
    "[low, high]: {level:g}% {interval}, not simultaneous",
    "p: {test}; corrected for the number of comparisons (Holm)",
    "beyond: p at most {alpha:g}, an interval that excludes 0 with the same correction, and a larger difference than "
    "that of the null pair, whose users say the same; ?: too few {units}",
)
# By whether sessions continue from topic to topic.
_INTERVALS = {False: f"{METHOD} topic", True: "t, clustered by session and topic"}
_TESTS = {False: "paired randomisation test over topics", True: "t, clustered by session and topic"}
_UNITS = {False: "topics", True: "sessions"}


def group_tables(comparison: Comparison) -> Iterator[RenderableType]:
    """Yield the heading, the table and the warnings of one system."""
    yield Text(printable(comparison.system.name, line=True), style="bold")
    pairs = "; ".join(f"{one}, {other}" for one, other in comparison.system.nulls) or "none"
    yield Text(printable(f"base: {comparison.base}   null pair: {pairs}   comparisons: {comparison.family}", line=True))
    headings = ("figure", "n", "difference [low, high]\ntopics like these", "pairs", "p", "beyond")
    table = figure_table("group", headings, min_width=14, max_width=26)
    for key in comparison.measures:
        table.add_row(Text(key_name(key), style="bold"))
        for cells in _group_cells(comparison, key):
            table.add_row(*map(Text, cells))
    yield table
    for warning in _warnings(comparison):
        yield Text(warning, style="yellow")


def legend(comparisons: Sequence[Comparison]) -> Iterator[Text]:
    """Yield explanations of the columns."""
    level = comparisons[0].settings.level
    kinds = sorted({one.system.continued for one in comparisons})
    words = {
        "interval": [_INTERVALS[kind] for kind in kinds],
        "test": [_TESTS[kind] for kind in kinds],
        "units": [_UNITS[kind] for kind in kinds],
    }
    said = {name: " or ".join(each) for name, each in words.items()}
    withheld = any(each.withheld for one in comparisons for each in one.differences.values())
    said["lost"] = ", or none because of what was lost" if withheld else ""
    for line in _LEGEND:
        yield Text(line.format(level=100 * level, alpha=round(1 - level, 6), **said), style="dim")


def _group_cells(found: Comparison, key: Key) -> Iterator[tuple[str, ...]]:
    for group in found.system.names:
        row = found.figures.get((key, group))
        figure = (row.shown(row.value), str(row.n)) if row else ("", "")
        head = (f"  {printable(group, line=True)}", *figure)
        null = found.nulls.get((key, found.base, group))
        one = found.differences.get((key, group))
        if group == found.base:
            yield (*head, "base", "", "", "")
        elif null is not None:
            yield (*head, difference_words(null, share=is_percentage(key[0])), str(null.n), "", "null pair")
        elif one is not None:
            words = difference_words(one, share=is_percentage(key[0]))
            yield (*head, words, str(one.n), p_text(one.adjusted), found_word(one))
    for (of, first, second), null in found.nulls.items():
        if of == key and first != found.base:
            # Broken here, before the column breaks it elsewhere.
            name = f"  {printable(second, line=True)}\n    to {printable(first, line=True)}"
            yield (name, "", "", difference_words(null, share=is_percentage(key[0])), str(null.n), "", "null pair")


def _warnings(found: Comparison) -> Iterator[str]:
    alpha = 1 - found.settings.level
    if not found.system.nulls:
        yield (
            "no null pair was played, so only p accounts for chance: give the protocol a group {same_as: …}, and "
            "name it in the audit's groups"
        )
    for (key, first, second), null in found.nulls.items():
        if null.p <= alpha:
            yield (
                f"{key_name(key)}: the null pair {printable(first, line=True)}, "
                f"{printable(second, line=True)} differs (p {p_text(null.p)}, not corrected), although its users say "
                f"the same. By chance, this happens about once in {round(1 / alpha)} measures; otherwise the system "
                "changed during the run, and so may the differences"
            )
    differences = {(*at[:-1], found.base, at[-1]): one for at, one in found.differences.items()}
    for (key, first, second), one in (*differences.items(), *found.nulls.items()):
        if said := bounds_words(one, share=is_percentage(key[0])):
            yield printable(f"{key_name(key)}, {second} to {first}: {said}", line=True)
    yield from _too_few_notes(found)
    names = {key[0].partition("(")[0] for key in found.measures}
    positional = [one.name for one in single_measures() if one.words and one.name in names]
    longer = {
        group: words - found.words[found.base]
        for group, words in found.words.items()
        if abs(words - found.words[found.base]) >= _LEAST_WORD_DIFFERENCE
    }
    if positional and longer:
        said = ", ".join(f"{group} {decimal(more, 1, signed=True)}" for group, more in longer.items())
        yield (
            f"openings differ from those of {found.base} in {found.unit} ({printable(said, line=True)}), and positions "
            f"in {' and '.join(positional)} count them: a {found.unit[:-1]} more costs a fair system up to "
            f"1/{found.settings.limit(found.unit)} of {RELEVANCE.name}"
        )
    every = [*found.differences.values(), *found.nulls.values()]
    for what, counts in (
        ("a side has no valid attempt (failed or interrupted)", (one.invalid for one in every)),
        ("a side is not recorded", (one.unplayed for one in every)),
        ("a side has no value (see pairs)", (one.undefined for one in every)),
    ):
        if count := max(counts, default=0):
            yield f"pairs not in any difference, at most: {count}, because {what}"


def _too_few_notes(found: Comparison) -> Iterator[str]:
    family, every = found.family, list(found.differences.values())
    most, least = max((one.topics for one in every), default=0), max((one.least for one in every), default=math.nan)
    if found.system.continued:
        sessions = max((one.sessions for one in every), default=0)
        yield (
            "sessions go on from topic to topic, so answers within a session depend on each other: intervals and p "
            f"take whole sessions (here {sessions})"
        )
        if sessions < FEWEST:
            yield f"{pluralize(sessions, 'session')} of each group cannot give a p: play at least {FEWEST} trials"
    elif most >= 2 and least * family > 1 - found.settings.level + _ROUNDING:
        yield (
            f"{most} topics cannot give a p below {least:.2g}, which is not small enough for "
            f"{pluralize(family, 'comparison')}: play more topics, or ask for fewer measures (-m)"
        )


def group_form(comparisons: Sequence[Comparison], runs: Sequence[Run], seed: int) -> StudyForm:
    """Return the printable form of comparisons within these runs."""
    notes = list(dict.fromkeys(note for one in comparisons for note in one.notes))
    return StudyForm(
        head={
            "format": FORMAT,
            "settings": {one.system.name: one.settings.as_json() for one in comparisons},
            "notes": notes,
            "systems": [
                {
                    "system": one.system.name,
                    "base": one.base,
                    "groups": list(one.system.names),
                    "null_pairs": [list(pair) for pair in one.system.nulls],
                    "comparisons": one.family,
                    "exchanged": "sessions" if one.system.continued else "topics",
                    "left_out": [
                        {
                            "measure": measure,
                            "turn": turn,
                            "group": group,
                            "base": base,
                            "invalid": difference.invalid,
                            "unplayed": difference.unplayed,
                            "undefined": difference.undefined,
                        }
                        for _, (measure, turn), group, base, difference in _differences(one)
                    ],
                }
                for one in comparisons
            ],
            "seed": seed,
        },
        rows=lambda: _rows(comparisons),
        tables=lambda _: _tables(comparisons, notes),
        sources=sources(runs),
    )


def _tables(found: Sequence[Comparison], notes: Sequence[str]) -> Iterator[RenderableType]:
    for one in found:
        yield from group_tables(one)
        yield Text()
    yield from legend(found)
    yield from (Text(f"note: {note}") for note in notes)


def _differences(found: Comparison) -> Iterator[tuple[str, Key, str, str, Difference]]:
    """Yield the differences from the base group, and then the differences between null pairs, measure by measure.
    Each item has the name of the figure, the measure, the two compared groups, and their difference."""
    for key in found.measures:
        for group in found.system.names:
            if (one := found.differences.get((key, group))) is not None:
                yield "difference from base", key, group, found.base, one
        for (of, first, second), null in found.nulls.items():
            if of == key:
                yield "difference of a null pair", key, second, first, null


def _rows(found: Sequence[Comparison]) -> Iterator[LongRow]:
    """Yield the figures of each group, as in `harvest score`, and then the differences. `system` has the form
    `system, group`. In rows of differences, `other` names the second group in the same form."""
    for one in found:
        base = LongRow(study="groups", run=one.system.run.path.name, figure="group", unit="value")
        for key in one.measures:
            for group in one.system.names:
                row = one.figures.get((key, group))
                if row is not None:
                    yield replace(
                        base,
                        unit=unit_of(is_percentage(key[0])),
                        measure=key[0],
                        turn=key[1],
                        system=f"{one.system.name}, {group}",
                        estimate=row.value,
                        low=row.low,
                        high=row.high,
                        level=row.level,
                        interval=row.interval or "",
                        resampled=row.resampled or "",
                        topics=row.topics,
                        trials=row.n,
                        note=row.note,
                    )
        for figure, key, group, other, difference in _differences(one):
            yield replace(
                base,
                figure=figure,
                unit=unit_of(is_percentage(key[0])),
                measure=key[0],
                turn=key[1],
                system=f"{one.system.name}, {group}",
                other=f"{one.system.name}, {other}",
                **difference_cells(difference, one.settings.level),
            )
