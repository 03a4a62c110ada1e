"""How conversations flow from the first turn on: a column for each turn, and a block for each branch of a tree.

The height of a block is the share of conversations that took this way, and its colour is the label of the answer. The
flows of several systems are drawn below one another on one scale.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from harvest.report.grid import address
from harvest.studies.trees.figures import TreeFigures
from harvest.studies.trees.parted_systems import END, end_title, turn_name
from harvest.tables.drawing.layout import ShownTree
from harvest.tables.drawing.svg import MARGIN, escape_text, fit_text, page, quote_attribute, rectangle, text
from protocols.labels import MEANINGS, NOT_USEFUL, USEFUL
from topics.counting import pluralize

_WIDTH = 1180.0  # in pixels: the column of the report
_HIGH, _WIDEST, _NARROWEST = 150.0, 258.0, 46.0
_END = 110.0  # of the column of ends
_MOST_TURNS = 22  # columns
_READABLE = 10.5  # the least height of a block with words
_FILLS = {USEFUL: ("green", 0.22), NOT_USEFUL: ("orange", 0.22), "user": ("blue", 0.13)}


@dataclass(frozen=True, slots=True)
class Flow:
    """The tree of one system, as it is drawn. `title` names the system, and `number` is the number of the tree in the
    index of the page. `marked` are the paths of turns, and of ends, at which it differs from another system."""

    title: str
    figures: TreeFigures
    chosen: ShownTree
    number: int
    marked: Collection[tuple[str, ...]] = ()


def flow_chart(flows: Sequence[Flow]) -> str:
    """Return an SVG picture. Each block has its figures and its interval as a title, and in `data-go` the link to its
    conversations, for a script. The list of the same turns has the same links for everybody."""
    deepest = max(max(map(len, map(one.figures.tree.path, one.chosen.nodes))) for one in flows)
    columns = max(1, min(deepest, _MOST_TURNS))
    wide = min(_WIDEST, max(_NARROWEST, (_WIDTH - 2 * MARGIN - _END) / columns))
    elements: list[str] = []
    down = 4.0
    for one in flows:
        elements.append(text(MARGIN, down + 13, one.title, 13.0, bold=True))
        elements += _blocks(one, wide, down + 20)
        down += 20 + _HIGH + 14
    marked = any(one.marked for one in flows)
    legend = [("green", "useful answer"), ("orange", "not useful"), ("blue", "the user"), ("ink", "the end")]
    across = MARGIN
    for ink, words in legend:
        elements.append(_block(across, down, 12, 12, ink, 1.0 if ink == "ink" else 0.3))
        elements.append(text(across + 17, down + 10, words, 11.0, "dim"))
        across += 30 + 6.2 * len(words)
    height = "height: share of all conversations; percent: of those that came there"
    height += "; framed: where the systems differ" if marked else ""
    elements.append(text(across, down + 10, height, 11.0, "dim"))
    if deepest > _MOST_TURNS:
        elements.append(text(MARGIN, down + 28, f"Later turns than {_MOST_TURNS} are in the list.", 11.0, "dim"))
    said = "; ".join(f"{one.title}: {pluralize(one.figures.tree.n, 'conversation')}" for one in flows)
    width = max(2 * MARGIN + wide * columns + _END, across + 6 * len(height))
    return page("How conversations go on, turn by turn", said, elements, width, down + 36)


def _blocks(one: Flow, wide: float, top: float) -> Iterator[str]:
    tree, found, words = one.figures.tree, one.figures.found, one.figures.words()
    tops = {0: top}
    high = {0: _HIGH}
    for node in one.chosen.nodes:
        path = tree.path(node)
        if len(path) > _MOST_TURNS:
            continue
        across = MARGIN + wide * (len(path) - 1)
        names = tuple(turn_name(tree, turn) for turn in path)
        if node:
            symbol = tree.symbol_at(node)
            share, counts, interval = words[node]
            ink, strength = _FILLS.get("user" if symbol.speaker == "user" else symbol.key, ("grey", 0.16))
            said = f"{' → '.join(names)}: {share} {interval} {counts}"
            shown = MEANINGS.get(symbol.key, symbol.key) if symbol.speaker == "system" else names[-1][2:]
            yield from _labelled(
                (across, tops[node], wide - 3, high[node]),
                shown if share == "100%" else f"{shown} {share}",
                (ink, strength),
                said,
                address(tree=one.number, node=node),
                framed=names in one.marked,
            )
        # Branches from the top: useful answers first, then those that were not labelled, then useless ones; ends last.
        order = {USEFUL: 0, NOT_USEFUL: 2}
        branches = sorted(one.chosen.branches[node], key=lambda at: (order.get(tree.symbol_at(at).key, 1), at))
        below = tops[node]
        for branch in branches:
            tops[branch], high[branch] = below, high[node] * float(found.probability[branch])
            below += high[branch]
        yield from _ends(one, node, names, (across + (wide if node else 0), below, max(wide, _END) - 3), high[node])


def _ends(
    one: Flow, node: int, names: tuple[str, ...], place: tuple[float, float, float], whole: float
) -> Iterator[str]:
    figures = one.figures
    if not figures.tree.stops[node]:
        return
    across, below, wide = place
    ended = figures.ends().get(node) or [("", figures.stop_words()[node])]
    stopped = float(figures.found.stop[node]) * whole
    total = sum(int(counts.partition("/")[0]) for _, (_, counts, _) in ended)
    for name, (share, counts, interval) in ended:
        high = stopped * int(counts.partition("/")[0]) / total
        title = end_title(name)
        said = f"{' → '.join((*names, title))}: {share} {interval} {counts}"
        only = {"outcome": name} if len(ended) > 1 else {}
        yield _block(across, below, 5, high, "ink", 1.0, said, address(tree=one.number, node=node, end=1, **only))
        if high >= _READABLE:
            shown = f"{title if title == END else title[2:]}{'' if share == '100%' else f' {share}'}"
            yield text(across + 9, below + high / 2 + 4, fit_text(shown, wide - 9, 11.0), 11.0, "dim")
        if (*names, title) in one.marked:
            yield rectangle(across - 2, below, 1.5, high, "ink")
        below += high


def _labelled(
    place: tuple[float, float, float, float],
    words: str,
    fill: tuple[str, float],
    said: str,
    link: str,
    *,
    framed: bool,
) -> Iterator[str]:
    across, below, wide, high = place
    yield _block(across, below, wide, max(high - 1, 0.6), *fill, said, link, framed=framed)
    if high >= _READABLE:
        yield text(across + 5, below + min(high / 2 + 4, 15), fit_text(words, wide - 8, 11.0), 11.0, bold=framed)


def _block(
    x: float,
    y: float,
    wide: float,
    high: float,
    ink: str,
    strength: float,
    said: str = "",
    link: str = "",
    *,
    framed: bool = False,
) -> str:
    drawn = rectangle(x, y, wide, high, ink)
    frame = ' stroke-width="2" stroke-opacity="1"' if framed else ""
    more = f' fill-opacity="{strength:g}"{frame}' + (f" data-go={quote_attribute(link)}" if link else "")
    title = f"<title>{escape_text(said)}</title>" if said else ""
    drawn = drawn.removesuffix("/>").replace('class="', 'class="s-ink ' if framed else 'class="', 1)
    return f"{drawn}{more}>{title}</rect>"
