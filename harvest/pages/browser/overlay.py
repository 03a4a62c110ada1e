"""A picture with labelled boxes on it, as a small page of our own; the page in the picture is not touched."""

import base64
from collections.abc import Sequence
from html import escape

from harvest.pages.reading.page import Box

_COLOURS = ("#d4004c", "#0057d9", "#007a33", "#a35200", "#7a00cc")


def overlay(picture: bytes, boxes: Sequence[tuple[str, Box]], width: int, height: int) -> str:
    """The HTML of the page. picture: PNG of `width` x `height` CSS pixels. boxes: labels and places."""
    marks = []
    for number, (label, box) in enumerate(boxes):
        colour = _COLOURS[number % len(_COLOURS)]
        # A label above the upper edge of the window would not be seen.
        top = "-22px" if box.y >= 24 else "2px"
        marks.append(
            f'<div style="left:{box.x:.0f}px;top:{box.y:.0f}px;width:{box.width:.0f}px;height:{box.height:.0f}px;'
            f'outline:3px solid {colour}"><b style="top:{top};background:{colour}">{escape(label)}</b></div>'
        )
    data = base64.b64encode(picture).decode("ascii")
    return (
        "<!doctype html><meta charset=utf-8><style>*{margin:0}body{overflow:hidden;position:relative}"
        "div{position:absolute}b{position:absolute;left:-3px;color:#fff;font:bold 13px/20px sans-serif;padding:0 6px;"
        f'white-space:nowrap}}</style><img width="{width}" height="{height}" src="data:image/png;base64,{data}">'
        + "".join(marks)
    )
