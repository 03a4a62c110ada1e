"""The part of docs/calibration.md that tells of intervals and verdicts in the worlds of the torture suite.

`python -m tests.support.torture.page cells.jsonl` prints it of cells that `--save` and earlier counts kept; with
`--write` it goes into the page, in the place of the part that is there, and the cells to those of earlier counts."""

import argparse
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tests.support.checkout import DOCS
from tests.support.torture import catalogue, classical, saved
from tests.support.torture.cells import COVERAGE, ERROR, Cell
from tests.support.torture.table import figure
from tests.support.torture.world import WORLDS
from topics.counting import pluralize

assert catalogue.MODULES, "worlds are registered by importing it"
PAGE = DOCS / "calibration.md"
HEAD, NEXT, END = "## Hostile worlds", "## Sources of answers", "## All cells"
"""The part goes from the one heading to before the other."""
MOST = 6
"""Reasons that are listed of an engine."""


FAMILIES = ", families"
"""What the name of an engine of many systems ends in, whose cells are told with those of pairs."""


def shown(cell: Cell) -> str:
    """The size, in the words of what is counted."""
    topics, trials, systems = cell.size
    if cell.engine.startswith("reaudit"):
        return f"{topics}×{trials}, {pluralize(systems - 1, 'run')}"
    if cell.engine == "alpha":
        return f"{topics} units, {systems} judges"
    return f"{topics}×{trials}" + (f", {systems} systems" if systems > 2 else "")


def part(cells: Sequence[Cell]) -> str:
    """All of it."""
    seen = [cell for cell in cells if not cell.hidden]
    studies = sorted(cell.studies for cell in cells if cell.studies)
    least = f"{studies[0]} to {studies[-1]}" if studies else "no"
    worlds, kinds = len({cell.world for cell in cells}), len({cell.group for cell in cells})
    lines = [
        HEAD,
        "",
        *paragraph(
            f"Here intervals and verdicts are tried where they should fail: {len(cells)} cells of {worlds} of"
            f" {len(WORLDS)} worlds, {kinds} kinds, with {least} simulated studies each; one that is far from being"
            " flagged after 60 or 150"
            " studies is counted no further. Each interval should cover at least"
            f" {figure(COVERAGE, 2)}, and of studies in which systems are alike at most {ERROR:.0%} may name a winner,"
            " with one chance of error for all pairs of a study together. *Flagged* is what misses this by more than"
            " two Monte-Carlo errors (.036 and .034 with 200 studies). The worlds are in `tests/support/torture`, where"
            " one function adds one, and the cells in `cells.jsonl.xz` beside them, each with the day on which it was"
            f" counted{_days(cells)}."
        ),
        "",
        *_kinds(cells),
        "",
        *paragraph(
            "In the tables below a cell is the least coverage over the worlds of its kind; in brackets, where it is not"
            " all, the share of figures that have an interval; `none` where there is no interval. *Wrong* is the"
            " largest share of studies with a wrong verdict: a winner where systems are alike, or the other one; *the"
            " same* of a re-audit whose difference matters. *Width* is the median over worlds at the sizes in the order"
            " of the columns, in units of a t interval over topics; a price it is only where t covers."
        ),
    ]
    for engine in dict.fromkeys(cell.engine.removesuffix(FAMILIES) for cell in seen):
        own = [cell for cell in seen if cell.engine.removesuffix(FAMILIES) == engine]
        lines += ["", f"### {engine[0].upper()}{engine[1:]}", "", *_table(own), "", *_flagged(own), "", *_withheld(own)]
        if engine == "compare, topics like these":
            lines += ["", *_price(own)]
    lines += ["", "### Worlds that cannot be told from the data", "", *_hidden([one for one in cells if one.hidden])]
    return "\n".join(lines).rstrip() + "\n"


def _days(cells: Sequence[Cell]) -> str:
    """When they were counted."""
    days = sorted({cell.day for cell in cells if cell.day})
    return f" ({days[0]} to {days[-1]})" if days and days[0] != days[-1] else f" ({days[0]})" if days else ""


def paragraph(text: str, first: str = "", rest: str = "") -> list[str]:
    """Its lines."""
    return textwrap.wrap(text, 120, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)


def _kinds(cells: Sequence[Cell]) -> Iterator[str]:
    """One line for every kind, with the sentence of one of its worlds."""
    yield "| kind of worlds | worlds | for example |"
    yield "|---|---|---|"
    for group in dict.fromkeys(cell.group for cell in cells):
        worlds = list(dict.fromkeys(cell.world for cell in cells if cell.group == group))
        yield f"| {group} | {len(worlds)} | {WORLDS[worlds[0]].sentence} |"


def _table(cells: Sequence[Cell]) -> Iterator[str]:
    pairs = [cell for cell in cells if not _family(cell)]
    sizes = {cell.size: shown(cell) for cell in sorted(pairs, key=lambda one: one.size)}
    judged = any(cell.judged for cell in cells)
    families, widths = len(pairs) < len(cells), any(cell.widths for cell in pairs)
    heads = ["kind of worlds", *sizes.values()]
    heads += ["wrong"] * judged + ["wrong, 3 to 8 systems"] * (families and judged) + ["width"] * widths
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for group in dict.fromkeys(cell.group for cell in cells):
        own = [cell for cell in cells if cell.group == group]
        row = [group, *(_coverage([one for one in own if one.size == size]) for size in sizes)]
        if judged:
            row.append(_wrong(one for one in own if not _family(one)))
        if judged and families:
            row.append(_wrong(one for one in own if _family(one)))
        if widths:
            row.append(", ".join(_width([one for one in own if one.size == size]) for size in sizes))
        yield f"| {' | '.join(row)} |"


def _family(cell: Cell) -> bool:
    """Whether the cell is of more systems than two."""
    return cell.engine.startswith("compare") and cell.size[2] > 2


def _price(cells: Sequence[Cell]) -> Iterator[str]:
    """Widths where nothing is hostile."""
    sizes = [size for size in ((15, 5, 2), (45, 5, 2), (200, 1, 2)) if any(cell.size == size for cell in cells)]
    yield from paragraph(
        "The price where nothing is hostile (independent topics, light tails), from the narrowest to the widest world,"
        " in units of the t interval:"
    )
    yield ""
    yield f"| values | {' | '.join(f'{topics}×{trials}' for topics, trials, _ in sizes)} |"
    yield "|" + "---|" * (len(sizes) + 1)
    benign = [cell for cell in cells if cell.group in ("independent", "light tails")]
    for kind in dict.fromkeys(WORLDS[cell.world].kind for cell in benign):
        row = []
        for size in sizes:
            own = sorted(cell.width for cell in benign if cell.size == size and WORLDS[cell.world].kind is kind)
            known = [one for one in own if one == one]
            row.append(f"{known[0]:.2f} to {known[-1]:.2f}" if known else "none" if own else "")
        yield f"| {kind} | {' | '.join(row)} |"


def _coverage(cells: Sequence[Cell]) -> str:
    if not cells:
        return ""
    there = [cell for cell in cells if cell.printed]
    if not there:
        return "none"
    share = sum(cell.printed for cell in cells) / max(1, sum(cell.figures for cell in cells))
    some = "" if share > 0.995 else f" ({max(share, 0.01):.0%})"
    # Of a handful of intervals coverage says nothing.
    counted = [cell for cell in there if cell.printed >= 30] or there
    return figure(min(cell.coverage for cell in counted)) + some


def _wrong(cells: Iterable[Cell]) -> str:
    errors = [cell.error for cell in cells if cell.judged]
    return figure(max(errors)) if errors else ""


def _width(cells: Sequence[Cell]) -> str:
    widths = sorted(cell.width for cell in cells if cell.widths)
    return figure(widths[len(widths) // 2], 2) if widths else "–"


def _flagged(cells: Sequence[Cell]) -> Iterator[str]:
    flagged = [cell for cell in cells if cell.too_low or cell.too_wrong]
    if not flagged:
        printed = sum(bool(cell.printed) for cell in cells)
        yield f"None of the {printed} cells with intervals is flagged."
        return
    yield "Flagged:"
    yield ""
    for cell in flagged:
        said = []
        if cell.too_low:
            said.append(f"covers {figure(cell.coverage)} ± {figure(cell.coverage_error)}")
        if cell.too_wrong:
            said.append(f"wrong in {figure(cell.error)} ± {figure(cell.error_error)}")
        yield from paragraph(f"{cell.world}, {shown(cell)}: {', '.join(said)}", "* ", "  ")


def _withheld(cells: Sequence[Cell]) -> Iterator[str]:
    counts: Counter[str] = Counter()
    where: dict[str, set[str]] = {}
    for cell in cells:
        for reason, times in cell.reasons.items():
            general = re.sub(r"… (topic|cluster|session|trial)\b", r"… \1s", re.sub(r"\d+(\.\d+)?", "…", reason))
            counts[general] += times
            where.setdefault(general, set()).add(shown(cell))
    if not counts:
        yield "Nothing was withheld."
        return
    yield "Withheld, the most frequent reasons first:"
    yield ""
    for reason, _ in counts.most_common(MOST):
        sizes = "; ".join(sorted(where[reason], key=lambda one: int(re.split(r"\D", one)[0])))
        yield from paragraph(f"{reason} (at {sizes})", "* ", "  ")


def _hidden(cells: Sequence[Cell]) -> Iterator[str]:
    if not cells:
        yield "None was counted."
        return
    yield from paragraph(
        "What nobody declared does not show in the values, or hardly: an interval takes topics and trials for"
        " independent, and says that it does. Requests that are nearly the same are named, and so are trials that are"
        " alike near each other in time; nothing else can be. *Refused or warned* is the share of figures without an"
        " interval, or with such a sentence beside it."
    )
    yield ""
    yield "| world | what cannot be seen | figure | coverage | wrong | refused or warned |"
    yield "|---|---|---|---|---|---|"
    rows: dict[tuple[str, str], list[Cell]] = {}
    for cell in sorted(cells, key=lambda one: (one.hidden or "", one.world, one.engine, one.size)):
        rows.setdefault((cell.world, cell.engine), []).append(cell)
    for (world, engine), own in rows.items():
        there = [cell for cell in own if cell.printed]
        if not there:
            continue
        coverage = ", ".join(f"{shown(cell)}: {figure(cell.coverage)}" for cell in there)
        wrong = ", ".join(figure(cell.error) for cell in there if cell.judged)
        silent = ", ".join(f"{1 - cell.share_printed * (1 - cell.warned / cell.printed):.0%}" for cell in there)
        yield f"| {world} | {there[-1].hidden} | {engine} | {coverage} | {wrong} | {silent} |"


def placed(page: str, new: str) -> str:
    """The page with the part in its place."""
    after = NEXT if f"\n{NEXT}\n" in page else END
    before, _, rest = page.partition(f"\n{after}\n")
    start = before.partition(f"\n{HEAD}\n")[0]
    return f"{start}\n{new}\n{after}\n{rest}"


def with_part_of(page: str, other: str) -> str:
    """The other page, with the part that is in the first."""
    _, found, own = page.partition(f"\n{END}\n")[0].partition(f"\n{HEAD}\n")
    return placed(other, f"{HEAD}\n{own}") if found else other


def main(arguments: list[str] | None = None) -> None:
    """Print the part, or write it."""
    parser = argparse.ArgumentParser(prog="tests.support.torture.page", description=__doc__)
    parser.add_argument("cells", type=Path)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args(arguments)
    textbook = {engine.name for engine in classical.ENGINES}
    cells = [cell for cell in saved.kept(given.cells, saved.PACKED) if cell.engine not in textbook]
    new = part(cells)
    if given.write:
        saved.pack(cells, saved.PACKED)
        PAGE.write_text(placed(PAGE.read_text(encoding="utf-8"), new), encoding="utf-8")
    else:
        print(new)


if __name__ == "__main__":
    main()
