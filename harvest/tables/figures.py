"""Tables of scored runs, with a column of values, intervals and n for each system."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harvest.tables.figure_table import name_lines
from harvest.terminal import printable
from scoring.library import declared, good_end, measures, range_of
from scoring.measures.group_fairness import FAIRNESS
from scoring.measures.usefulness import MEAN_USEFUL, USEFUL
from scoring.notation import parse
from scoring.table import ScoreRow, is_percentage
from topics.counting import pluralize
from topics.decimals import decimal

_NAME_WIDTH, _CELL_WIDTH, _VALUE_WIDTH = 22, 28, 22


def figures(
    rows: Sequence[ScoreRow],
    systems: Sequence[str],
    *,
    width: int,
    every: bool = False,
    asked: Sequence[str] = (),
    last: int | None = None,
    bounded: Collection[str] = (),
) -> Iterator[RenderableType]:
    """Yield tables of the overall rows, each with as many systems as fit `width`, and notes on the rows.

    Rows of a single topic, type, trial or entity are left out. With `every`, variants of measures are included: GF by
    the other divergence and GF of cumulative distributions. `asked` are the names of requested rows; they are all
    shown in this order, with explanations. `last` is the last turn in which any user spoke, or None if unknown. If
    `last` is known, turns without figures are mentioned. `bounded` are the systems with bounds below the table, which
    already count invalid trials.
    """
    overall = ordered_rows(rows, every=every, asked=asked)
    variants = dict.fromkeys(row.measure for row in printed_rows(rows, every=True))
    for row in overall:
        variants.pop(row.measure, None)
    scored = {row.system for row in overall}
    silent = [] if asked or last is None else sorted({row.turn for row in overall if row.turn and row.turn > last})
    overall = [row for row in overall if row.turn not in silent]
    systems = [system for system in systems if system in scored]
    # Whole names can be copied and asked for again, so tables with long names have fewer systems.
    labels: dict[tuple[str, int | None], dict[str, None]] = {}
    for row in overall:
        labels.setdefault((row.measure, row.turn), {})[row.label] = None
    names = {of: " | ".join(each) for of, each in labels.items()}
    longest = max([_NAME_WIDTH, *(len(name) + 2 for name in names.values())])
    widest = max([_VALUE_WIDTH, *(len(shown_with_interval(row)) for row in overall)])  # of tokens, say
    cell = widest + _CELL_WIDTH - _VALUE_WIDTH
    a_table = max(1, (width - longest) // cell)
    for start in range(0, len(systems), a_table):
        yield _score_table(overall, names, systems[start : start + a_table], widest, whole=longest + cell <= width)
    yield Text(_legend(overall), style="dim")
    if silent:
        named = f"S{silent[0]}" if len(silent) == 1 else f"S{silent[0]} to S{silent[-1]}"
        yield Text(f"{named}: no conversation had this many turns", style="dim")
    if last is not None:
        yield from _unlabelled_notes(overall)
    yield from interval_notes(overall)
    if not asked:
        yield from _no_interval_notes(overall)
    yield from _invalid_notes(overall, bounded, every=bool(asked))
    for row in overall:
        # Entities of unknown group count as evenly spread over the groups, which can look fair.
        if row.unknown and row.measure == FAIRNESS.name:
            yield Text(
                f"{printable(row.system, line=True)}: unknown group: {pluralize(row.unknown, 'relevant entity')}; "
                f"{FAIRNESS.name} would be {row.shown(row.worst)} with the least favourable groups, "
                f"{row.shown(row.best)} with the best",
                style="yellow",
            )
    if asked:
        for row in overall:
            said = "; ".join(part for part in row.note.split("; ") if not part.startswith("effective n"))
            if said == "no value" and (found := declared(row.measure)) is not None:
                said = f"no value: {found.undefined}"
            if said:
                yield Text(f"{row.label}, {printable(row.system, line=True)}: {said}", style="dim")
    if variants:
        bare = {name.partition("(")[0] for name in variants}
        aside = dict.fromkeys(one.aside_words or one.name for one in measures() if one.name in bare)
        hidden = pluralize(len(variants), "variant")
        yield Text(f"not shown: {hidden} ({', '.join(aside)}); score --all, or --json", style="dim")


def printed_rows(rows: Sequence[ScoreRow], *, every: bool) -> list[ScoreRow]:
    """Return the overall rows. With `every`, variants of measures are included."""
    overall = [row for row in rows if row.topic is None and row.trial is None and row.topic_type is None]
    if every:
        return overall
    found = ((row, declared(row.measure)) for row in overall)
    return [row for row, measure in found if measure is None or not measure.stands_aside(parse(row.measure))]


def ordered_rows(rows: Sequence[ScoreRow], *, every: bool = False, asked: Sequence[str] = ()) -> list[ScoreRow]:
    """Return the overall rows in the order of the requested names, or of all measures if none is requested."""
    overall = printed_rows(rows, every=every or bool(asked))
    if asked:
        place = {name: i for i, name in enumerate(asked)}
        return sorted(overall, key=lambda row: min(place.get(name, len(place)) for name in (row.measure, row.label)))
    order = [one.name for one in measures() if one.shown == "always"]

    def rank(row: ScoreRow) -> tuple[int, bool]:
        name, one = row.measure.partition("(")[0], declared(row.measure)
        first = name in order and not parse(row.measure).arguments
        return (order.index(name) if first else len(order), one is not None and one.shown == "all")

    return sorted(overall, key=rank)


def _unlabelled_notes(rows: Sequence[ScoreRow]) -> Iterator[Text]:
    """Explain why no system has a share in a turn in which users spoke. Turns of an import may have no labels."""
    turns = {row.turn for row in rows if row.measure == USEFUL.name and row.turn}
    labelled = {row.turn for row in rows if row.measure == USEFUL.name and row.turn and row.n}
    bare = sorted(turns - labelled)
    if bare:
        stretches = [[bare[0], bare[0]]]
        for turn in bare[1:]:
            if turn == stretches[-1][1] + 1:
                stretches[-1][1] = turn
            else:
                stretches.append([turn, turn])
        named = ", ".join(f"S{first}" if first == end else f"S{first} to S{end}" for first, end in stretches)
        yield Text(f"{named}: no reply has a label", style="dim")


def _legend(rows: Sequence[ScoreRow]) -> str:
    found = {name: one for name in dict.fromkeys(row.measure for row in rows) if (one := declared(name)) is not None}
    there = [one for one in measures() if one in found.values()]
    said = [f"{one.name}: {one.legend}" for one in there if one.legend and one.good != "neither"]
    if any(row.turn for row in rows):
        said.insert(0, "S1, S2: system turns")
    good = {name: good_end(parse(name)) for name in found}
    unbounded = [name for name in found if good[name] == "high" and range_of(name) != (0.0, 1.0)]
    failures = sorted(name for name in found if good[name] == "low")
    neutral = [name for name, one in found.items() if good[name] == "neither" and not one.legend]
    usual = list(dict.fromkeys(row.measure for row in rows if good.get(row.measure, "high") == "high"))
    usual = [name for name in usual if name not in unbounded]
    shares = [name for name in usual if is_percentage(name)]
    if shares:
        said.append("percentages: 100% is good")
    if len(usual) > len(shares):
        # Named, if there are others without a note.
        short = dict.fromkeys(name.partition("(")[0] for name in usual if name not in shares)
        which = f": {', '.join(short)}" if neutral or unbounded or shares else ""
        said.append("from 0 to 1, 1 is good" + (which or (", except for failures" if failures else "")))
    if unbounded:
        said.append(f"from 0 upwards, high is good: {', '.join(unbounded)}")
    if failures:
        said.append(f"0 is good: {', '.join(failures)}")
    said += [f"{one.name}: {one.legend}" for one in there if one.legend and one.good == "neither"]
    return "; ".join(said)


def _score_table(
    rows: Sequence[ScoreRow],
    named: Mapping[tuple[str, int | None], str],
    systems: Sequence[str],
    widest: int,
    *,
    whole: bool,
) -> Table:
    """Return a table of values. `widest` is the width of the longest value with its interval, which is never cut.
    With `whole`, the longest name fits; otherwise names are wrapped so that all figures stay on the screen."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("measure", overflow="fold", no_wrap=whole, min_width=_NAME_WIDTH - 4)
    of = estimand_of(row.resampled for row in rows if row.low == row.low)
    below = f"\n[{of}]" if of else ""
    for system in systems:
        heading = Text(name_lines(system, _VALUE_WIDTH) + below, no_wrap=False, overflow="fold")
        table.add_column(heading, no_wrap=True, justify="right", max_width=widest)
        table.add_column("n", no_wrap=True, justify="right", style="dim")
    cells = {(row.measure, row.turn, row.system): row for row in rows}
    for (measure, turn), name in named.items():
        line = [Text(name)]
        for system in systems:
            row = cells.get((measure, turn, system))
            line += [Text(shown_with_interval(row) if row else ""), Text(str(row.n) if row else "")]
        table.add_row(*line)
    return table


def shown_with_interval(row: ScoreRow) -> str:
    """Format a value and its interval in the form of every table: `0.5000 [.4321, .5678]`."""
    value = row.shown(row.value)
    if row.low != row.low:
        return value
    if is_percentage(row.measure):
        return f"{value} [{decimal(100 * row.low, 1)}, {decimal(100 * row.high, 1)}]"
    return f"{value} [{decimal(row.low, 4, bare=True)}, {decimal(row.high, 4, bare=True)}]"


# The estimand of an interval, for the head of its column, by what was resampled.
_ESTIMANDS = {
    "topics": "topics like these",
    "topics+trials": "topics like these",
    "clusters": "topics like these",
    "topics+sessions": "topics like these",
    "clusters+sessions": "topics like these",
    "trials": "this topic",
    "trials of topics": "these topics",
    "sessions": "these topics",
    "dialogues": "dialogues like these",
}


def estimand_of(resampled: Iterable[str | None]) -> str:
    """Return the common estimand of intervals, such as `topics like these`, given which units were resampled. Returns
    "" if the intervals have no estimand or different estimands. A figure computed from such intervals (d') has their
    estimand."""
    found = {_ESTIMANDS.get(one, "") for one in resampled if one and one != "nothing"}
    return found.pop() if len(found) == 1 else ""


def interval_notes(rows: Sequence[ScoreRow]) -> Iterator[Text]:
    """Describe the methods of the intervals and the resampled units."""
    made: dict[tuple[str, str, float], list[ScoreRow]] = {}
    for row in rows:
        if row.low == row.low and row.interval and row.level is not None:
            made.setdefault((row.interval, row.resampled or "nothing", row.level), []).append(row)
    # A name under two methods would be ambiguous, so it is written in full, with its system if needed.
    shorts = Counter(name for found in made.values() for name in {_short_name(row) for row in found})
    full = _full_names(made.values())
    for (method, resampled, level), found in made.items():
        what = f", resampled: {resampled}" if resampled != "nothing" else ""
        named = dict.fromkeys(_short_name(row) if shorts[_short_name(row)] == 1 else full(row) for row in found)
        yield Text(f"[low, high]: {100 * level:g}% {method}{what} ({', '.join(named)})", style="dim")


def _no_interval_notes(rows: Sequence[ScoreRow]) -> Iterator[Text]:
    reasons: dict[str, list[ScoreRow]] = {}
    for row in rows:
        if row.value == row.value and row.low != row.low and row.note:
            reasons.setdefault(row.note.split("; ")[-1], []).append(row)
    full = _full_names(reasons.values())
    for reason, found in reasons.items():
        yield Text(f"no interval: {', '.join(dict.fromkeys(map(full, found)))} ({reason})", style="dim")


def _full_names(groups: Collection[Sequence[ScoreRow]]) -> Callable[[ScoreRow], str]:
    labels = Counter(name for found in groups for name in {row.label for row in found})
    return lambda row: row.label + (f" of {printable(row.system, line=True)}" if labels[row.label] > 1 else "")


def _short_name(row: ScoreRow) -> str:
    return row.measure.split("(")[0]


def _invalid_notes(rows: Sequence[ScoreRow], bounded: Collection[str], *, every: bool) -> Iterator[Text]:
    """Describe how much shares could change if all invalid trials had failed or succeeded: every share and rate, or the
    mean share alone. Systems in `bounded` get a shorter note, because their bounds already count invalid trials."""
    for system in dict.fromkeys(row.system for row in rows if row.invalid):
        uncertain = [row for row in rows if row.system == system and row.invalid and not math.isnan(row.worst)]
        shares = [row for row in uncertain if is_percentage(row.measure)]
        if every:
            own = [row for row in uncertain if not row.unknown]
        else:
            own = [row for row in shares if row.measure == MEAN_USEFUL.name] or shares
        if not own:
            continue
        bounds = "the bounds below include them" if system in bounded else "; ".join(map(_possible_values, own))
        yield Text(
            f"{printable(system, line=True)}: invalid trials, not in any figure: {own[0].invalid}; {bounds}",
            style="yellow",
        )


def _possible_values(row: ScoreRow) -> str:
    if is_percentage(row.measure):
        worst, best = row.shown(row.worst), row.shown(row.best)
        return f"{row.label} would be {worst} had all of them been useless, {best} useful"
    low, high = (row.shown(end) for end in sorted((row.worst, row.best)))
    return f"{row.label} would be {low} to {high}, whatever they had been"
