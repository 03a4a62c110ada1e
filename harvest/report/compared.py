"""The section of a comparison: differences, what each topic adds to them, and where conversations part."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from harvest.report.blocks import WIDE, Block, as_blocks, details, table, text
from harvest.report.compared_finding import compared_measure, is_reversed
from harvest.report.finding import answer_place, safe_name
from harvest.report.forest import difference_forest
from harvest.report.grid import address
from harvest.report.sections import NOT_JUDGED
from harvest.studies.compare.comparison import MOST_PAIRS, Comparison
from harvest.studies.compare.figures import comparison_tables
from harvest.studies.scores.assessed import Leading
from harvest.studies.trees.parted_systems import PartedSystems
from harvest.studies.trees.parting_figures import (
    divergence_words,
    listed_turns,
    parting_notes,
    share_words,
    side_words,
)
from harvest.tables.comparison_words import is_known, measure_name, p_text, signed
from scoring.comparison.pairs import MeasureComparison
from scoring.table import is_percentage
from topics.counting import pluralize
from topics.decimals import decimal

_MOST_TOPICS = 60  # bars; the topics between the largest and the smallest share one line
_MOST_SENTENCES = 3  # of pairs, that are shown at once
MOST_PARTED = 6  # pairs of systems, whose turns are listed


def compared_blocks(found: Comparison, matters: float, leading: Leading) -> Iterator[Block]:
    """Yield the figures of `harvest compare`. Differences of shares smaller than `matters` count as no difference."""
    found = replace(found, contrasts=(), matters=matters)  # “Figures” has contrasts
    printed = comparison_tables(found, width=WIDE, parting=False)
    parts = as_blocks(printed, "Systems compared")
    first = next((place for place, part in enumerate(parts) if "table" in part), len(parts))
    sentences = [part for part in parts[:first] if "text" in part and part["tone"] in ("", "strong")]
    rest = [part for part in parts if part not in sentences]
    pairs = math.comb(len(found.systems), 2)
    if pairs > MOST_PAIRS and found.measures:
        best = safe_name(found.best_system)
        yield text(
            f"Of {pairs:,} pairs, the {len(found.systems) - 1} of {best}, which is best in "
            f"{measure_name(found.measures[0])}, are in words and in the table."
        )
    said = [text(part["text"]) for part in sentences] if len(sentences) <= _MOST_SENTENCES else []
    main = compared_measure(found, leading)
    # The first sentence of the report chose which system is subtracted from which, and everything drawn follows it.
    turned = main is not None and len(found.systems) == 2 and is_reversed(found, main.pairs[0])
    if leading.scorers and main is not None:
        unjudged = tuple(one for one in found.measures if one is not main)
        by = f"By the judgments of {leading.scorers}"
        for caption, measures, words in ((by, (main,), []), (NOT_JUDGED, unjudged, said)):
            yield text(caption, "heading")
            yield from words
            yield from difference_forest(replace(found, measures=measures), matters, turned=turned, caption=caption)
    else:
        yield from said
        yield from difference_forest(found, matters, turned=turned)
    if main is not None and len(found.systems) == 2:
        yield from _topic_blocks(found, main, turned=turned)
    for parted in found.parted:
        yield from _parted_blocks(parted, found.settings.level, alone=len(found.parted) == 1)
    if found.parted and (others := math.comb(len(found.systems), 2) - len(found.parted)):
        yield text(f"Where {others:,} other pairs part: harvest compare with two of the systems in --systems.", "dim")
    yield from (part for part in rest if "table" not in part)
    if len(sentences) > _MOST_SENTENCES:
        yield details(f"{len(sentences)} pairs in words", sentences)
    yield details("As a table", [part for part in rest if "table" in part])


def _topic_blocks(found: Comparison, main: MeasureComparison, *, turned: bool) -> Iterator[Block]:
    """Yield what each topic adds to the difference of two systems in the main measure, and closed, in the others."""
    whole = [one for one in (main, *found.measures) if one.topic_type is None and one.pairs and one.pairs[0].drivers]
    shown = [one for one in whole if is_known(one.pairs[0])]
    drawn = {measure_name(one): _topic_bars(one, turned=turned) for one in shown}
    first = drawn.pop(measure_name(main), None)
    if first is not None:
        yield text("What each topic adds", "heading")
        yield first
    if drawn:
        yield details("What each topic adds to the other measures", drawn.values())


def _topic_bars(one: MeasureComparison, *, turned: bool) -> Block:
    pair = one.pairs[0]
    sign, order = (-1, (pair.second, pair.first)) if turned else (1, (pair.first, pair.second))
    share = is_percentage(one.measure)
    parts = sorted(((sign * driver.share * pair.value, driver.topic) for driver in pair.drivers), reverse=True)
    half = _MOST_TOPICS // 2
    between = parts[half:-half] if len(parts) > _MOST_TOPICS else []
    most = max(abs(value) for value, _ in parts) or 1.0
    unit = " points" if share else ""
    whole = f"{signed(one, sign * pair.value)}{unit}"
    rows = [
        {
            "topic": topic,
            "said": _part_text(value, share=share),
            "place": round(value / most, 4),
            "href": address(topic=topic, system=order[0], beside=order[1]),
        }
        for value, topic in ([*parts[:half], *parts[-half:]] if between else parts)
    ]
    together = _part_text(math.fsum(value for value, _ in between), share=share)
    return {
        "topics": {
            "title": f"{measure_name(one)}, {safe_name(order[0])} − {safe_name(order[1])}: together {whole}",
            "rows": rows,
            "signed": any(value < 0 for value, _ in parts),
            "more": f"{pluralize(len(between), 'topic')} between: {together} together" if between else "",
        }
    }


def _part_text(value: float, *, share: bool) -> str:
    return decimal(100 * value if share else value, 1 if share else 4, signed=True)


def parted_paths(found: Comparison) -> frozenset[tuple[str, ...]]:
    """Return the paths of turns at which two systems differ significantly. Returns none for several pairs."""
    alpha = 1 - found.settings.level + 1e-12
    turns = found.parted[0].turns if len(found.parted) == 1 else ()
    return frozenset((*turn.turns, turn.branch) for turn in turns if turn.p <= alpha)


def _parted_blocks(found: PartedSystems, level: float, *, alone: bool) -> Iterator[Block]:
    first, second = safe_name(found.first), safe_name(found.second)
    blocks: list[Block] = []
    rows: list[Sequence[object]] = []
    for turn in listed_turns(found, level):
        sides = [side_words(turn, side) for side in (0, 1)]
        link: object = ""
        for pair in turn.pairs[:1]:
            of = {"topic": pair.topic, "system": found.first, "trial": pair.first}
            link = {"text": "read both", "href": address(**of, beside=found.second, other=pair.second)}
        rows.append(
            [
                answer_place(turn.turns, turn.branch).removesuffix(":"),
                *sides,
                share_words(turn.share),
                p_text(turn.p),
                link,
            ]
        )
    if rows:
        head = ["turn", first, second, "of the difference", "p", "conversations"]
        right = [False, True, True, True, True, False]
        blocks.append(table(head, rows, right, f"Where the conversations of {first} and {second} part"))
    blocks.append(text(f"{divergence_words(found)[0].upper()}{divergence_words(found)[1:]}.", "dim"))
    blocks += [text(note, "dim") for note in parting_notes(found)]
    if alone:
        yield text("Where the conversations part", "heading")
        yield from blocks
    else:
        yield details(f"Where the conversations of {first} and {second} part", blocks)
