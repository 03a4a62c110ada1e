"""The colours of a picture of trees, for light paper and dark screens.

Text has a contrast of at least 4.5:1 with its background. Green (useful) and orange (not useful) differ even for
people with red-green colour blindness, and the marks o and x repeat the distinction without colour.
"""

# name: (fill, stroke) on a light background, on a dark background
PAINTS: dict[str, tuple[tuple[str, str], tuple[str, str]]] = {
    "paper": (("#ffffff", ""), ("#0d1117", "")),
    "ink": (("#1f2328", ""), ("#e6edf3", "")),
    "dim": (("#59636e", ""), ("#9da7b1", "")),
    "hair": (("none", "#d5dbe1"), ("none", "#30363d")),
    "edge": (("none", "#b9c4cf"), ("none", "#465160")),
    "unseen": (("none", "#7b8691"), ("none", "#8b949e")),
    "user": (("#eaf2fe", "#3b6fb5"), ("#10233f", "#6ea8fe")),
    "system": (("#f5f5f3", "#6b7078"), ("#1c2128", "#8b949e")),
    "useful": (("#e4f4ea", "#1a7f4b"), ("#0d2a1b", "#4ac27d")),
    "useless": (("#fdece2", "#b5471b"), ("#33190f", "#f0883e")),
    "useful-mark": (("none", "#1a7f4b"), ("none", "#4ac27d")),
    "useless-mark": (("none", "#b5471b"), ("none", "#f0883e")),
    "end": (("#1f2328", ""), ("#e6edf3", "")),
}
# Single colours of charts, on a light background and on a dark one.
THEMES: dict[str, tuple[str, str]] = {
    name: (PAINTS[paint][0][side], PAINTS[paint][1][side])
    for name, paint, side in (
        ("paper", "paper", 0),
        ("ink", "ink", 0),
        ("dim", "dim", 0),
        ("hair", "hair", 1),
        ("blue", "user", 1),
        ("green", "useful", 1),
        ("orange", "useless", 1),
        ("grey", "system", 1),
    )
}

_WIDTHS = {"hair": 1.0, "unseen": 1.5, "useful-mark": 2.0, "useless-mark": 2.0}


def paint_attributes(name: str, width: float | None = None) -> str:
    """Return the class of an element, and its colours as attributes for viewers without style sheets. `width` is the
    width of its stroke in pixels."""
    fill, stroke = PAINTS[name][0]
    found = f'class="{name}" fill="{fill}"'
    if stroke:
        found += f' stroke="{stroke}" stroke-width="{width if width is not None else _WIDTHS.get(name, 1.2):.3g}"'
    return found + (' stroke-dasharray="3 3"' if name == "unseen" else "")


def _style_rule(name: str) -> str:
    fill, stroke = PAINTS[name][1]
    return f".harvest-tree .{name}{{fill:{fill}" + (f";stroke:{stroke}" if stroke else "") + "}"


def _background(theme: int) -> str:
    return f"background:{PAINTS['paper'][theme][0]}"


# Where the picture is the whole page, the ground around it and the bars that scroll it follow the theme as well.
# The ground of a picture, and the rules for dark screens; all of them hold within a picture only.
STYLE = (
    f".harvest-tree{{color-scheme:light dark;{_background(0)}}}@media screen and "
    f"(prefers-color-scheme:dark){{.harvest-tree{{{_background(1)}}}{''.join(map(_style_rule, PAINTS))}}}"
)
