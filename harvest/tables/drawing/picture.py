"""Trees as an SVG picture, with turns from left to right and edges as wide as their share of the trials.

The picture loads no font, script or address. Its colours suit light and dark screens (`prefers-color-scheme`); paper
and viewers without style sheets show the light colours. Its source has no empty line and no id, so that it can be
embedded in Markdown and HTML.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from harvest.tables.drawing.colours import STYLE, paint_attributes
from harvest.tables.drawing.svg import break_lines, escape_text, quote_attribute, text_width
from harvest.tables.drawing.tree_drawing import MARGIN, TreeDrawing, draw_tree, text

_LEAST = 520.0  # in pixels
_SMALLEST = 0.77  # of its size


@dataclass(frozen=True, slots=True)
class _Part:
    elements: tuple[str, ...]
    width: float
    height: float


def picture(plates: Sequence[TreeDrawing], legend: Sequence[str] = (), *, width: float = 960.0) -> str:
    """Return the trees of `plates`, each below the previous one, then a legend of their marks and the sentences of
    `legend`. `width` is the desired width in pixels; a tree whose labels would shrink to a few characters is wider.
    Raises ValueError if there are no trees."""
    if not plates:
        raise ValueError("there are no trees to draw")
    inside = width - 2 * MARGIN
    trees = [_Part(*draw_tree(plate, inside)) for plate in plates]
    wide = max(_LEAST, *(part.width for part in trees))
    elements: list[str] = []
    down = MARGIN
    for place, (plate, part) in enumerate(zip(plates, trees, strict=True)):
        if place:
            line = f'<path d="M{MARGIN:g} {down + 8:.1f}h{wide:.1f}" {paint_attributes("hair")}/>'
            elements.append(line)
            down += 30
        head, down = _paragraphs(
            ((plate.title, 15.0, "ink", True), *((one, 12.0, "dim", False) for one in plate.caption)), wide, down
        )
        elements += head
        elements.append(f'<g transform="translate({MARGIN:g} {down + 14:.1f})">')
        elements += part.elements
        elements.append("</g>")
        down += 14 + part.height + 14
    elements.append(f'<path d="M{MARGIN:g} {down + 2:.1f}h{wide:.1f}" {paint_attributes("hair")}/>')
    marks, down = _marks(plates, wide, down + 24)
    elements += marks
    words, down = _paragraphs([(one, 12.0, "dim", False) for one in legend], wide, down)
    elements += words
    w, h = round(wide + 2 * MARGIN), round(down + MARGIN)
    # On a narrow screen, text below 10 pixels would be unreadable, so the page scrolls instead.
    style = f'style="max-width:100%;min-width:{round(_SMALLEST * w)}px;height:auto"'
    name = "Conversation trees: " + "; ".join(plate.title for plate in plates)
    return (
        "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" class="harvest-tree" viewBox="0 0 {w} {h}" width="{w}" '
                f'height="{h}" role="img" aria-label={quote_attribute(name)} direction="ltr" {style} '
                "font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif\">",
                f"<title>{escape_text(name)}</title>",
                f"<style>{STYLE}</style>",
                f'<rect width="{w}" height="{h}" {paint_attributes("paper")}/>',
                *elements,
                "</svg>",
            ]
        )
        + "\n"
    )


def _paragraphs(said: Sequence[tuple[str, float, str, bool]], wide: float, down: float) -> tuple[list[str], float]:
    found = []
    for what, size, ink, bold in said:
        for line in break_lines(what, wide / (1.12 if bold else 1), size, 12):
            down += size * 1.4
            found.append(text(MARGIN, down - size * 0.35, line, size, ink, bold=bold))
    return found, down


def _marks(plates: Sequence[TreeDrawing], wide: float, down: float) -> tuple[list[str], float]:
    labelled = any(key.name == "label" for plate in plates for key in plate.tree.keys)
    items: list[tuple[str, float, str]] = [
        (f'<rect y="-8" width="26" height="16" rx="8" {paint_attributes("user")}/>', 26, "user turn (U)"),
        (
            f'<rect y="-8" width="26" height="16" rx="1.5" {paint_attributes("system")}/>',
            26,
            "answer of the system (S)",
        ),
    ]
    if labelled:
        for paint, mark, what in (
            ("useful", '<circle cx="13" r="4.5" {}/>', "o, useful"),
            ("useless", '<path d="M9 -4l8 8m0 -8l-8 8" {}/>', "x, not useful"),
        ):
            box = f'<rect y="-8" width="26" height="16" rx="1.5" {paint_attributes(paint)}/>'
            items.append((box + mark.format(paint_attributes(f"{paint}-mark")), 26, what))
    items += [
        (
            f'<path d="M0 0h12" {paint_attributes("edge", 6)}/>'
            f'<rect x="12" y="-5" width="10" height="10" {paint_attributes("end")}/>',
            22,
            "end",
        ),
        (
            f'<path d="M0 0h16" {paint_attributes("edge", 9)}/><path d="M16 0h16" {paint_attributes("edge", 3)}/>',
            32,
            "wider: more of all trials came this way",
        ),
        (f'<path d="M0 0h30" {paint_attributes("unseen")}/>', 30, "unseen branches"),
    ]
    found, across = [], 0.0
    for mark, width, what in items:
        full = width + 7 + text_width(what, 12)
        if across and across + full > wide:
            across, down = 0.0, down + 23
        found.append(f'<g transform="translate({MARGIN + across:.1f} {down:.1f})">{mark}</g>')
        found.append(text(MARGIN + across + width + 7, down + 4, what, 12, "ink"))
        across += full + 20
    return found, down + 16
