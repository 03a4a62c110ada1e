"""Elements of SVG, and a self-contained page for charts.

Colours are CSS variables for light and dark screens (`prefers-color-scheme`), which a report may redefine. Every
element also has its light colour as an attribute, for paper and viewers without style sheets. Nothing is loaded, and no
element has an id, so that a page can contain several charts. Each chart has a title and a description.
"""

import unicodedata
from collections.abc import Sequence
from xml.sax.saxutils import escape

from harvest.tables.drawing.colours import THEMES
from recordings.trees.node_text import one_line

MARGIN = 18.0  # in pixels

_FONTS = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
_LINES = 12  # of a heading
_SMALLEST = 0.77  # of its size: below that, letters have less than 10 pixels, and the page scrolls instead


def _variables(theme: int) -> str:
    return "".join(f"--harvest-{name}:{both[theme]};" for name, both in THEMES.items())


# The background and the colours of a chart, which apply only within a chart.
STYLE = (
    f".harvest-chart{{color-scheme:light dark;{_variables(0)}background:var(--harvest-paper)}}"
    f"@media screen and (prefers-color-scheme:dark){{.harvest-chart{{{_variables(1)}}}}}"
    + "".join(
        f".harvest-chart .f-{name}{{fill:var(--harvest-{name})}}"
        f".harvest-chart .s-{name}{{stroke:var(--harvest-{name})}}"
        for name in THEMES
    )
)


def _paint_attributes(fill: str, stroke: str = "", width: float = 1.0, dash: str = "") -> str:
    classes = " ".join([*([f"f-{fill}"] if fill else []), *([f"s-{stroke}"] if stroke else [])])
    found = f'class="{classes}" fill="{THEMES[fill][0] if fill else "none"}"'
    if stroke:
        found += f' stroke="{THEMES[stroke][0]}" stroke-width="{width:g}"'
    return found + (f' stroke-dasharray="{dash}"' if dash else "")


def text(
    x: float, y: float, what: str, size: float = 12.0, ink: str = "ink", *, bold: bool = False, anchor: str = ""
) -> str:
    """Return a line of text with its baseline at y. x is the start of the line, or its middle or end if the anchor is
    `middle` or `end`."""
    more = (' font-weight="bold"' if bold else "") + (f' text-anchor="{anchor}"' if anchor else "")
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" {_paint_attributes(ink)}{more} unicode-bidi="isolate">'
        f"{escape_text(what)}</text>"
    )


def line(x1: float, y1: float, x2: float, y2: float, ink: str = "ink", width: float = 1.0, dash: str = "") -> str:
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" {_paint_attributes("", ink, width, dash)}/>'


def path(points: Sequence[tuple[float, float]], ink: str, width: float = 2.0, dash: str = "") -> str:
    """Return a line that connects points."""
    way = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return f'<path d="M{way}" stroke-linejoin="round" {_paint_attributes("", ink, width, dash)}/>'


def rectangle(x: float, y: float, width: float, height: float, fill: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" {_paint_attributes(fill)}/>'


def circle(x: float, y: float, ink: str = "ink", *, size: float = 4.5, filled: bool = True) -> str:
    """Return a round mark. A hollow mark is filled with the background colour."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:g}" {_paint_attributes(ink if filled else "paper", ink, 1.8)}/>'


def diamond(x: float, y: float, ink: str = "ink", *, size: float = 5.5, filled: bool = True) -> str:
    corners = f"M{x:.1f} {y - size:.1f}l{size:g} {size:g}l{-size:g} {size:g}l{-size:g} {-size:g}z"
    return f'<path d="{corners}" {_paint_attributes(ink if filled else "paper", ink, 1.8)}/>'


def triangle(x: float, y: float, ink: str = "ink", *, size: float = 5.0, filled: bool = True) -> str:
    corners = f"M{x:.1f} {y - size:.1f}l{size:g} {1.8 * size:g}h{-2 * size:g}z"
    return f'<path d="{corners}" {_paint_attributes(ink if filled else "paper", ink, 1.8)}/>'


def paragraphs(
    sentences: Sequence[str], wide: float, top: float, *, size: float = 12.0, ink: str = "dim", bold: bool = False
) -> tuple[list[str], float]:
    """Draw paragraphs from the y coordinate `top`, with lines of at most `wide` pixels. Returns the elements and
    their lower end."""
    found = []
    for what in sentences:
        for words in break_lines(what, wide / (1.12 if bold else 1), size, _LINES):
            top += size * 1.4
            found.append(text(MARGIN, top - size * 0.35, words, size, ink, bold=bold))
    return found, top


def page(title: str, description: str, elements: Sequence[str], width: float, height: float) -> str:
    """Return a chart as the text of an SVG file. The title and description, meant for screen readers, are escaped."""
    w, h = round(width), round(height)
    # On a narrow screen, text below 10 pixels would be unreadable, so the page scrolls instead.
    style = f'style="max-width:100%;min-width:{round(_SMALLEST * w)}px;height:auto"'
    return (
        "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" class="harvest-chart" viewBox="0 0 {w} {h}" width="{w}" '
                f'height="{h}" role="img" aria-label={quote_attribute(title)} direction="ltr" {style} '
                f'font-family="{_FONTS}">',
                f"<title>{escape_text(title)}</title>",
                f"<desc>{escape_text(description)}</desc>",
                f"<style>{STYLE}</style>",
                rectangle(0, 0, w, h, "paper"),
                *elements,
                "</svg>",
            ]
        )
        + "\n"
    )


_WIDTHS = {
    "il|'": 0.35,
    "jft.,:;!/\\ r[]()I": 0.44,
    '"*-sczxvykJLTFE?': 0.62,
    "mMW@%": 1.02,
    "wNOQGHUDAVXCBR&<>+=~#": 0.86,
}
_ASCII = {letter: width for letters, width in _WIDTHS.items() for letter in letters}
_LONGEST = 2000  # characters: no box shows more


def text_width(text: str, size: float) -> float:
    """Return an upper bound on the width of `text` in pixels, at a font size of `size` pixels."""
    return size * sum(map(_width, text))


def _width(character: str) -> float:
    if character.isascii():
        return _ASCII.get(character, 0.66)
    kind = unicodedata.category(character)
    if kind in ("Mn", "Me", "Cf"):
        return 0.0
    return 1.05 if kind in ("So", "Sk") or unicodedata.east_asian_width(character) in "WF" else 0.8


def fit_text(text: str, most: float, size: float) -> str:
    """Cut `text` to a width of `most` pixels. A text that was cut ends with an ellipsis."""
    if text_width(text, size) <= most:
        return text
    return text[: _fitting_length(text, most - size * _width("…"), size)].rstrip() + "…"


def _fitting_length(text: str, most: float, size: float) -> int:
    kept = 0
    for character in text:
        most -= size * _width(character)
        if most < 0:
            break
        kept += 1
    return kept


def break_lines(text: str, most: float, size: float, lines: int) -> tuple[str, ...]:
    """Break `text` into at most `lines` lines of `most` pixels, if possible between words or after a `+` between acts.
    If the text is too long, its last line is cut. Returns one empty line for an empty text."""
    found: list[str] = []
    rest = text
    while rest and len(found) < lines - 1 and text_width(rest, size) > most:
        head = rest[: _line_end(rest, max(_fitting_length(rest, most, size), 1))]
        found.append(head.rstrip())
        rest = rest[len(head) :].lstrip()
    return (*found, fit_text(rest, most, size)) if rest or not found else tuple(found)


def _line_end(rest: str, fits: int) -> int:
    """Return the end of a line of at most `fits` characters: before a space, after `+` or a hyphen, or at `fits`."""
    hyphen = 0
    for end in range(min(fits, len(rest) - 1), 0, -1):
        if rest[end] == " ":
            return end
        if rest[end].isalnum() and rest[: end - 1][-1:].isalnum():
            if rest[end - 1] == "+":
                return end
            hyphen = hyphen or (end if rest[end - 1] == "-" else 0)
    return hyphen or fits


def escape_text(text: str) -> str:
    """Return `text` on one line, escaped as the content of an element."""
    shown = one_line(text[: 4 * _LONGEST])
    more = len(shown) > _LONGEST or len(text) > 4 * _LONGEST
    shown = f"{shown[:_LONGEST]}… ({len(text):,} characters)" if more else shown
    return escape(shown)


def quote_attribute(text: str) -> str:
    """Return `text` as the quoted value of an attribute."""
    return '"' + escape_text(text).replace('"', "&quot;") + '"'
