"""A report as one HTML page that opens by a double click: no request, no library, nothing that a system wrote as code.

All text is escaped here, or lies in the page as JSON that a script shows as text. A content security policy names the
hashes of the page's own style and script, so that a browser runs nothing else, whatever a name or an answer may hold.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harvest.report.blocks import Block
from harvest.report.document import Report
from harvest.report.grid import address
from harvest.report.pictures import embedded
from harvest.report.transcripts import bounded
from harvest.tables.drawing.svg import STYLE as CHART_STYLE
from harvest.tables.grid import MARKS
from protocols.labels import LABELS, MISSING

__all__ = ["INSIDE", "Page", "chunk_file", "page"]

INSIDE = 8_000_000
"""Bytes of conversations that still lie in the page itself."""

_MARKS: Mapping[str, str] = {
    **dict(zip(LABELS, LABELS, strict=True)),
    MISSING: "none",
    "·": "none",
    "?": "open",
    "!": "lost",
}
_VERDICTS = {
    "better": "different",
    "changed": "changed",
    "same": "the same",
    "cannot tell": "cannot tell",
    "measured": "measured",
    "nothing": "nothing measured",
}


@dataclass(frozen=True, slots=True)
class Page:
    """html: of the page. files: what has to stand beside it, by path from the page's folder; {} where it is whole."""

    html: str
    files: Mapping[str, str]


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
    policy = (
        f"default-src 'none'; script-src {sources}; style-src '{_hash(style)}'; base-uri 'none'; form-action 'none'"
    )
    title = _text(document["title"])
    sections = document["sections"]
    data = "" if files else "\n".join(_data(f"chunk-{n}", chunk) for n, chunk in enumerate(report.chunks))
    links = [("conversations", "Conversations")]
    nav = "".join(
        f'<a href="#{name}">{_text(heading)}</a>'
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
        f'<p class="warn">The conversations lie in the folder {_text(name)}-files: keep it beside this page.</p>'
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
<title>{title} – Harvest report</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#figures">Skip to the figures</a>
<header>
{note}<p class="run">Harvest report · {title}</p>
{_finding(document["finding"])}
</header>
<nav aria-label="Sections">{nav}</nav>
<main>
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


def _text(words: str) -> str:
    """As content or as the value of an attribute."""
    return html.escape(bounded(words, 4000)[0])


def _finding(said: Mapping[str, str]) -> str:
    verdict = said["verdict"]
    parts = [
        f'<p class="verdict {verdict.replace(" ", "-")}">{_text(_VERDICTS.get(verdict, verdict))}</p>',
        f'<h1 class="found">{_text(said["found"])}</h1>',
    ]
    if said["scope"]:
        parts.append(f'<p class="dim">{_text(said["scope"])}</p>')
    if said["drives"]:
        parts.append(f"<p><b>What drives it.</b> {_text(said['drives'])}</p>")
    following = _text(said["next"])
    if said["link"]:
        following += f' <a href="{_text(said["link"])}">Read those conversations here</a>'
    if following:
        parts.append(f"<p><b>What to do next.</b> {following}</p>")
    if said["command"]:
        parts.append(f'<pre class="command">{_text(said["command"])}</pre>')
    return "\n".join(parts)


def _section(one: Mapping[str, Any]) -> str:
    name = one["id"]
    head = f'<h2 id="{name}-title">{_text(one["title"])}</h2>'
    blocks = "\n".join(_blocks(one["blocks"]))
    return f'<section id="{name}" aria-labelledby="{name}-title">\n{head}\n{blocks}\n</section>'


def _blocks(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        if "text" in block:
            tone = block["tone"]
            yield f'<p class="{tone}">{_text(block["text"])}</p>' if tone else f"<p>{_text(block['text'])}</p>"
        elif "table" in block:
            yield _table(block["table"])
        elif "picture" in block:
            yield f'<div class="wide" tabindex="0" role="group" aria-label="Picture">{embedded(block["picture"])}</div>'
        elif "details" in block:
            inner = "\n".join(_blocks(block["blocks"]))
            yield f"<details><summary>{_text(block['details'])}</summary>\n{inner}\n</details>"
        elif "command" in block:
            yield f'<pre class="command">{_text(block["command"])}</pre>'
        elif "grid" in block:
            yield _grid(block["grid"])
        elif "tree" in block:
            yield _tree(block["tree"])


def _scrolled(inner: str, label: str) -> str:
    return f'<div class="wide" tabindex="0" role="group" aria-label="{_text(label)}">{inner}</div>'


def _table(one: Mapping[str, Any]) -> str:
    right = one["right"]
    head = "".join(
        f'<th scope="col"{_right(flag)}>{_text(cell)}</th>' for cell, flag in zip(one["head"], right, strict=True)
    )
    rows = []
    for row in one["rows"]:
        first, *rest = (_cell(cell) for cell in row)
        if rest and not any(rest):  # a heading among the rows
            rows.append(f'<tr><th scope="rowgroup" colspan="{len(row)}"><b>{first}</b></th></tr>')
            continue
        cells = "".join(f"<td{_right(flag)}>{cell}</td>" for cell, flag in zip(rest, right[1:], strict=True))
        rows.append(f'<tr><th scope="row">{first}</th>{cells}</tr>')
    top = f"<thead><tr>{head}</tr></thead>" if any(one["head"]) else ""
    caption = one["caption"] or "Table"
    return _scrolled(f"<table>{top}<tbody>{''.join(rows)}</tbody></table>", caption)


def _right(flag: bool) -> str:
    return ' class="number"' if flag else ""


def _cell(cell: str | Mapping[str, str]) -> str:
    if isinstance(cell, str):
        return _text(cell)
    return f'<a href="{_text(cell["href"])}">{_text(cell["text"])}</a>'


def _grid(one: Mapping[str, Any]) -> str:
    systems, turns = one["systems"], one["turns"]
    groups = "".join(f'<th scope="colgroup" colspan="{len(turns)}">{_text(name)}</th>' for name in systems)
    numbers = "".join(f'<th scope="col">S{turn}</th>' for _ in systems for turn in turns)
    rows = "".join(
        f'<tr><th scope="row"><a href="{_text(address(topic=row["topic"]))}">{_text(row["topic"])}</a></th>'
        f"{''.join(_marks(row['topic'], cell) for cell in row['cells'])}</tr>"
        for row in one["rows"]
    )
    foot = "".join(
        f'<tr><th scope="row">{_text(line["name"])}</th>'
        + "".join(f'<td class="number" colspan="{line["span"]}">{_text(value)}</td>' for value in line["cells"])
        + "</tr>"
        for line in one["foot"]
    )
    inner = (
        f'<table class="grid"><thead><tr><th scope="col" rowspan="2">{_text(one["name"])}</th>{groups}</tr>'
        f"<tr>{numbers}</tr></thead><tbody>{rows}</tbody><tfoot>{foot}</tfoot></table>"
    )
    return _scrolled(inner, f"Answers by topic, {one['name']}")


def _marks(topic: str, cell: Mapping[str, Any]) -> str:
    counts: Mapping[str, int] = cell["counts"]
    if not counts:
        return "<td></td>"
    said = ", ".join(f"{count} {MARKS.get(mark, mark)}" for mark, count in counts.items())
    label = f"{topic}, {cell['system']}, S{cell['turn']}: {said}"
    inner = (
        "".join(_mark(mark) for mark in cell["marks"])
        if cell["marks"]
        else " ".join(f"{_mark(mark)}{count}" for mark, count in sorted(counts.items(), key=_order))
    )
    href = address(topic=topic, system=cell["system"], turn=cell["turn"])
    return f'<td><a href="{_text(href)}" aria-label="{_text(label)}">{inner}</a></td>'


def _order(item: tuple[str, int]) -> int:
    return list(_MARKS).index(item[0]) if item[0] in _MARKS else len(_MARKS)


def _mark(mark: str) -> str:
    shown = " " if mark == " " else _text(mark)
    return f'<span class="mark {_MARKS.get(mark, "open")}">{shown}</span>'


def _tree(one: Mapping[str, Any]) -> str:
    segments = "".join(_segment(segment, 1) for segment in one["segments"])
    below = "".join(f'<p class="dim">{_text(sentence)}</p>' for sentence in one["below"])
    title = _text(one["title"])
    return (
        f'<h3>{title}</h3><div class="wide" tabindex="0" role="group" aria-label="Tree: {title}">'
        f'<ul class="tree">{segments}</ul></div>{below}'
    )


def _segment(one: Mapping[str, Any], depth: int) -> str:
    first, *others = one["turns"]
    lines = "".join(f'<div class="turn">{_turn(turn)}</div>' for turn in others)
    ends = "".join(f'<div class="end">{_end(end)}</div>' for end in one["ends"])
    inner = "".join(_segment(branch, depth + 1) for branch in one["branches"])
    branches = f"<ul>{inner}</ul>" if inner else ""
    deeper = f'<p class="warn">{_text(one["deeper"])}</p>' if one["deeper"] else ""
    opened = " open" if depth <= 4 else ""
    return f"<li><details{opened}><summary>{_turn(first)}</summary>{lines}{ends}{branches}{deeper}</details></li>"


def _turn(one: Mapping[str, Any]) -> str:
    side = one["speaker"][:1].upper()
    mark = _mark(one["label"]) if one["label"] else ""
    note = f' <span class="dim">{_text(one["note"])}</span>' if one["note"] else ""
    figures = f'<b>{_text(one["share"])}</b> {_text(one["interval"])} <span class="dim">{_text(one["counts"])}</span>'
    read = f'<a href="{_text(one["href"])}">read {one["n"]:,}</a>'
    bar = (
        '<svg class="bar" width="60" height="8" viewBox="0 0 60 8" aria-hidden="true"><rect class="ground" width="60" '
        f'height="8"/><rect class="part" width="{60 * min(1.0, one["portion"]):.1f}" height="8"/></svg>'
        if one["portion"] == one["portion"]
        else ""
    )
    return (
        f'<span class="side {_text(one["speaker"])}">{side}</span> {mark} '
        f'<span class="words">{_text(one["words"])}</span>{note} <span class="share">{bar} {figures} {read}</span>'
    )


def _end(one: Mapping[str, str]) -> str:
    return f'<a href="{_text(one["href"])}">{_text(one["text"])}</a>' if one["href"] else _text(one["text"])
