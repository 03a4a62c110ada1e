"""A report as one HTML page that opens by a double click: no request, no library, nothing that a system wrote as code.

All text is escaped here, or lies in the page as JSON that a script shows as text. A content security policy names the
hashes of the page's own style and script, so that a browser runs nothing else, whatever a name or an answer may hold.
"""

import base64
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harvest.report.document import Report
from harvest.report.markup import bar_markup, blocks_markup, escaped
from harvest.tables.drawing.svg import STYLE as CHART_STYLE

# Bytes of conversations that still lie in the page itself.
INSIDE = 8_000_000

_TITLED = " – Harvest report</title>"

_VERDICTS = {
    "better": "different",
    "changed": "changed",
    "alarm": "alarm, not confirmed yet",
    "fell": "fell, no alarm yet",
    "rose": "rose, no alarm yet",
    "perhaps back": "perhaps back",
    "back": "back",
    "same": "the same",
    "cannot tell": "cannot tell",
    "measured": "measured",
    "nothing": "nothing measured",
}


_DRIVES = {"measured": "Where it is weak.", "nothing": "Why."}


@dataclass(frozen=True, slots=True)
class Page:
    """html: of the page. files: what has to stand beside it, by path from the page's folder; {} where it is whole."""

    html: str
    files: Mapping[str, str]


def is_report(data: bytes) -> bool:
    """Whether a file is a page of this kind, also of an earlier version."""
    return _TITLED.encode() in data


def page(report: Report, name: str, *, inside: int = INSIDE) -> Page:
    """The page, and the files beside it where conversations take more than `inside` bytes. name: of the page's file,
    without its ending."""
    document = report.document
    size = sum(len(chunk.encode()) for chunk in report.chunks)
    files = {chunk_file(name, place): _call(place, chunk) for place, chunk in enumerate(report.chunks)}
    files = files if size > inside else {}
    index = {**document["index"], "files": list(files)}
    style, script = _own("style.css") + CHART_STYLE, _own("script.js")
    sources = f"'{_hash(script)}'" + (" 'self' file:" if files else "")
    pictures = " img-src 'self' file:;" if document["index"]["pictures"] else ""
    policy = (
        f"default-src 'none'; script-src {sources}; style-src '{_hash(style)}';{pictures} base-uri 'none'; "
        "form-action 'none'"
    )
    title = escaped(document["title"])
    sections = document["sections"]
    data = "" if files else "\n".join(_data(f"chunk-{n}", chunk) for n, chunk in enumerate(report.chunks))
    links = [("conversations", "Conversations")]
    nav = "".join(
        f'<a href="#{name}">{escaped(heading)}</a>'
        for name, heading in [
            *((one["id"], one["title"]) for one in sections[:-1]),
            *links,
            ("made", "How it was made"),
        ]
    )
    made = [one for one in sections if one["id"] == "made"]
    body = "\n".join(_section(one) for one in sections if one["id"] != "made")
    kept = len(document["index"]["system"])
    note = (
        f'<p class="warn">The conversations lie in the folder {escaped(name)}-files: keep it beside this page.</p>'
        if files
        else ""
    )
    shell = _SHELL.replace("{count}", f"{kept:,}")
    return Page(
        f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{title}{_TITLED}
<style>{style}</style>
</head>
<body>
<header>
<a class="skip" href="#main">Skip what was found</a>
{note}<p class="run">Harvest report · {title}</p>
{_finding(document["finding"], document["bars"], document["undrawn"])}
</header>
<nav aria-label="Sections">{nav}</nav>
<main id="main" tabindex="-1">
{body}
{shell}
{"".join(_section(one) for one in made)}
</main>
{_READER}
{_data("from", json.dumps(document["from"], ensure_ascii=False, separators=(",", ":")))}
{_data("index", json.dumps(index, ensure_ascii=False, separators=(",", ":")))}
{data}
<script>{script}</script>
</body>
</html>
""",
        files,
    )


_SHELL = """<section id="conversations" aria-labelledby="conversations-title">
<h2 id="conversations-title">Conversations</h2>
<form id="filters" aria-label="Which conversations">
<label>System <select name="system"><option value="">all</option></select></label>
<label>Topic <select name="topic"><option value="">all</option></select></label>
<label>Answers <select name="labels"><option value="">all</option></select></label>
<label>End <select name="end"><option value="">all</option></select></label>
<label>Words in a text <input type="search" name="words" maxlength="200"></label>
<button type="reset">Show all</button>
</form>
<p id="shown" role="status">{count} attempts; they are listed here by a script.</p>
<ol id="list"></ol>
<button type="button" id="more" hidden>Show 100 more</button>
<p class="dim">Keys: Tab and Enter open a conversation, ← and → go on to the one before or after it, Esc closes it.</p>
</section>"""

_READER = """<aside id="reader" aria-labelledby="reader-title" hidden>
<div class="bar"><h2 id="reader-title" tabindex="-1">Conversation</h2>
<button type="button" id="before" aria-label="The conversation before">←</button>
<button type="button" id="after" aria-label="The conversation after">→</button>
<button type="button" id="close" aria-label="Close the conversation">Close</button></div>
<div id="text"></div>
</aside>"""


def chunk_file(name: str, place: int) -> str:
    """Where a chunk lies beside a page called `name`."""
    return f"{name}-files/{place:04}.js"


def _own(file: str) -> str:
    return (Path(__file__).parent / file).read_text(encoding="utf-8").strip()


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _inert(text: str) -> str:
    """JSON in which nothing can end the element around it."""
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _data(name: str, text: str) -> str:
    return f'<script type="application/json" id="{name}">{_inert(text)}</script>'


def _call(place: int, chunk: str) -> str:
    """A file that hands its conversations over as one text: nothing in it is run but the call."""
    return f"harvestChunk({place},{_inert(json.dumps(chunk, ensure_ascii=False))});\n"


def _finding(said: Mapping[str, str], bars: Sequence[Mapping[str, Any]], undrawn: str) -> str:
    verdict = said["verdict"]
    parts = [
        f'<p class="verdict {verdict.replace(" ", "-")}">{escaped(_VERDICTS.get(verdict, verdict))}</p>',
        f'<h1 class="found">{escaped(said["found"])}</h1>',
    ]
    if said["scope"]:
        parts.append(f'<p class="dim">{escaped(said["scope"])}</p>')
    if bars:
        rows = "".join(map(bar_markup, bars))
        parts.append(f'<table class="bars"><caption>The same as a picture</caption>{rows}</table>')
        if undrawn:
            parts.append(f'<p class="dim">{escaped(undrawn)}</p>')
        if any(bar["band"] is not None for bar in bars):
            parts.append('<p class="dim">Lines: intervals. Shaded: differences too small to matter.</p>')
    if said["drives"]:
        parts.append(f"<p><b>{_DRIVES.get(verdict, 'What drives it.')}</b> {escaped(said['drives'])}</p>")
    following = escaped(said["next"])
    if said["link"]:
        words = "Read the reasons here" if said["link"] == "#invalid" else "Read those conversations here"
        following += f' <a href="{escaped(said["link"])}">{words}</a>'
    if following:
        parts.append(f"<p><b>What to do next.</b> {following}</p>")
    if said["command"]:
        parts.append(f'<pre class="command">{escaped(said["command"])}</pre>')
    return "\n".join(parts)


def _section(one: Mapping[str, Any]) -> str:
    name = one["id"]
    head = f'<h2 id="{name}-title">{escaped(one["title"])}</h2>'
    blocks = "\n".join(blocks_markup(one["blocks"]))
    return f'<section id="{name}" aria-labelledby="{name}-title">\n{head}\n{blocks}\n</section>'
