"""A report as one HTML page that opens by a double click and loads nothing from the network.

The templates escape all text. Conversations are JSON, which a script shows as text. A content security policy lists
the hashes of the page's own style and script. A browser therefore runs nothing else, whatever a name or an answer
contains.
"""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from harvest.report.document import Report
from harvest.report.grid import MARK_CLASSES
from harvest.report.sections import remove_style
from harvest.report.transcripts import limit_text
from harvest.tables.drawing.svg import STYLE as CHART_STYLE

# The script of a page: one conversation, then the list and the address.
SCRIPTS = ("reading.js", "script.js")

# The most bytes of conversations in the page itself.
MOST_INLINE = 8_000_000

_LONGEST = 4000  # characters of one text outside the conversations


def _embeddable_json(text: str) -> Markup:
    """Escape JSON so that no text in the JSON can end the script element around it."""
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


_TEMPLATES = Environment(
    loader=PackageLoader("harvest.report"),
    autoescape=True,
    finalize=lambda value: limit_text(value, _LONGEST)[0] if type(value) is str else value,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=StrictUndefined,
)
# An interval, a p and a date are never broken, and a minus sign is one: `-2.0 points [-7.2, +3.2]`.
_UNBROKEN = re.compile(
    r"\[[^\[\]<>]{1,60}\]|\bp (?:&lt;|≤ |= )?\.\d+|\b\d{4}-\d\d-\d\d(?:[T ]\d\d[:-]\d\d(?:[:-]\d\d)?)?\b"
)
_HYPHEN = re.compile(r"(?<![\w.,-])-(?=\.?\d)")


def minus_signs(text: str) -> str:
    """Return text in which the hyphens before figures are minus signs."""
    return _HYPHEN.sub("−", text)


def _typeset(text: str) -> Markup:
    return _unbroken(minus_signs(limit_text(text, _LONGEST)[0]))


def _unbroken(text: str) -> Markup:
    safe = str(escape(limit_text(text, _LONGEST)[0]))
    return Markup(_UNBROKEN.sub(r'<span class="whole">\g<0></span>', safe))


_TEMPLATES.filters |= {
    "figures": _typeset,
    "unbroken": _unbroken,
    "inert": _embeddable_json,
    "embedded": lambda svg: Markup(remove_style(svg)),
}
_TEMPLATES.globals |= {"mark_classes": MARK_CLASSES}


@dataclass(frozen=True, slots=True)
class Page:
    """A page and its files. `files` maps paths, relative to the folder of the page, to texts; it may be empty."""

    html: str
    files: Mapping[str, str]


def is_report(data: bytes) -> bool:
    """Return True if `data` is a report made by this or an earlier version."""
    return " – Harvest report</title>".encode() in data


def page(report: Report, name: str, *, inside: int = MOST_INLINE) -> Page:
    """Return the page. Conversations of more than `inside` bytes in total are returned as separate files. `name` is
    the name of the page's file without its suffix."""
    document = report.document
    files = {}
    if sum(len(chunk.encode()) for chunk in report.chunks) > inside:
        # Each file passes its conversations on as one text, so only this call runs.
        files = {
            chunk_file(
                name, place
            ): f"harvestChunk({place},{_embeddable_json(json.dumps(chunk, ensure_ascii=False))});\n"
            for place, chunk in enumerate(report.chunks)
        }
    folder = Path(__file__).parent
    style = (folder / "style.css").read_text(encoding="utf-8").strip() + CHART_STYLE
    script = "\n".join((folder / name).read_text(encoding="utf-8").strip() for name in SCRIPTS)
    sources = f"'{_policy_hash(script)}'" + (" 'self' file:" if files else "")
    pictures = " img-src 'self' file:;" if document["index"]["pictures"] else ""
    index = {**document["index"], "files": list(files)}
    data = [("from", _compact_json(document["from"])), ("index", _compact_json(index))]
    data += [] if files else [(f"chunk-{place}", chunk) for place, chunk in enumerate(report.chunks)]
    html = _TEMPLATES.get_template("page.html").render(
        document,
        name=name,
        files=files,
        data=data,
        style=style,
        script=script,
        policy=f"default-src 'none'; script-src {sources}; style-src '{_policy_hash(style)}';{pictures} "
        "base-uri 'none'; form-action 'none'",
    )
    return Page(html, files)


def chunk_file(name: str, place: int) -> str:
    """Return the path of a file of conversations, relative to the page's folder. `name` is the page's name."""
    return f"{name}-files/{place:04}.js"


def _policy_hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _compact_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
