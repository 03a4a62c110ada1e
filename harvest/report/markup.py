"""Blocks of a report as markup: every text is escaped here, and only pictures of ours go in as they are."""

import html
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harvest.report.blocks import Block
from harvest.report.grid import address
from harvest.report.pictures import embedded
from harvest.report.transcripts import bounded
from harvest.studies.scores.grid import MARKS
from protocols.labels import LABELS, MISSING

_MARKS: Mapping[str, str] = {
    **dict(zip(LABELS, LABELS, strict=True)),
    MISSING: "none",
    "·": "none",
    "?": "open",
    "!": "lost",
}


def escaped(words: str) -> str:
    """As content or as the value of an attribute."""
    return html.escape(bounded(words, 4000)[0])


def bar_markup(one: Mapping[str, Any]) -> str:
    """A row: what it is, a track, and the figure in words. The track is drawn in percent, so it is as wide as there is
    room."""
    inner = ""
    if one["band"] is not None:
        width = min(100.0, 200 * one["band"])
        inner += f'<rect class="band" x="{50 - width / 2:.2f}%" width="{width:.2f}%" y="0" height="16"/>'
    if one["zero"] is not None:
        inner += f'<line class="zero" x1="{100 * one["zero"]:.2f}%" x2="{100 * one["zero"]:.2f}%" y1="0" y2="16"/>'
    elif one["value"] is not None:
        inner += f'<rect class="part" width="{100 * one["value"]:.2f}%" y="4" height="8"/>'
    if one["low"] is not None:
        ends = f'x1="{100 * one["low"]:.2f}%" x2="{100 * one["high"]:.2f}%"'
        inner += f'<line class="interval" {ends} y1="8" y2="8"/>'
    if one["value"] is not None:
        inner += f'<circle class="value" cx="{100 * one["value"]:.2f}%" cy="8" r="4.5"/>'
    label = "part" if one["level"] else "whole"
    return (
        f'<tr class="{label}"><th scope="row">{escaped(one["label"])}</th><td class="track">'
        '<svg class="track" height="16" width="100%" aria-hidden="true">'
        f'<rect class="ground" width="100%" y="7" height="2"/>{inner}</svg>'
        f"</td><td>{escaped(one['said'])}</td></tr>"
    )


def blocks_markup(blocks: Iterable[Block]) -> Iterator[str]:
    """One text for each block."""
    for block in blocks:
        if "text" in block:
            tone = block["tone"]
            yield f'<p class="{tone}">{escaped(block["text"])}</p>' if tone else f"<p>{escaped(block['text'])}</p>"
        elif "table" in block:
            yield _table(block["table"])
        elif "picture" in block:
            yield f'<div class="wide" tabindex="0" role="group" aria-label="Picture">{embedded(block["picture"])}</div>'
        elif "details" in block:
            inner = "\n".join(blocks_markup(block["blocks"]))
            yield f"<details><summary>{escaped(block['details'])}</summary>\n{inner}\n</details>"
        elif "command" in block:
            yield f'<pre class="command">{escaped(block["command"])}</pre>'
        elif "grid" in block:
            yield _grid(block["grid"])
        elif "heat" in block:
            yield _heat(block["heat"])
        elif "tree" in block:
            yield _tree(block["tree"])


def _scroll_box(inner: str, label: str) -> str:
    return f'<div class="wide" tabindex="0" role="group" aria-label="{escaped(label)}">{inner}</div>'


def _table(one: Mapping[str, Any]) -> str:
    right = one["right"]
    head = "".join(
        f'<th scope="col"{_right(flag)}>{escaped(cell)}</th>' for cell, flag in zip(one["head"], right, strict=True)
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
    return _scroll_box(f"<table>{top}<tbody>{''.join(rows)}</tbody></table>", caption)


def _right(flag: bool) -> str:
    return ' class="number"' if flag else ""


def _cell(cell: str | Mapping[str, str]) -> str:
    if isinstance(cell, str):
        return escaped(cell)
    return f'<a href="{escaped(cell["href"])}">{escaped(cell["text"])}</a>'


def _grid(one: Mapping[str, Any]) -> str:
    systems, turns = one["systems"], one["turns"]
    groups = "".join(f'<th scope="colgroup" colspan="{len(turns)}">{escaped(name)}</th>' for name in systems)
    numbers = "".join(f'<th scope="col">S{turn}</th>' for _ in systems for turn in turns)
    rows = "".join(
        f'<tr><th scope="row"><a href="{escaped(address(topic=row["topic"]))}">{escaped(row["topic"])}</a></th>'
        f"{''.join(_marks(row['topic'], cell) for cell in row['cells'])}</tr>"
        for row in one["rows"]
    )
    foot = "".join(
        f'<tr><th scope="row">{escaped(line["name"])}</th>'
        + "".join(f'<td class="number" colspan="{line["span"]}">{escaped(value)}</td>' for value in line["cells"])
        + "</tr>"
        for line in one["foot"]
    )
    inner = (
        f'<table class="grid"><thead><tr><th scope="col" rowspan="2">{escaped(one["name"])}</th>{groups}</tr>'
        f"<tr>{numbers}</tr></thead><tbody>{rows}</tbody><tfoot>{foot}</tfoot></table>"
    )
    return _scroll_box(inner, f"Answers by topic, {one['name']}")


def _heat(one: Mapping[str, Any]) -> str:
    """Topics and criteria: the score in words, its ground by how high it is."""
    head = "".join(f'<th scope="col">{escaped(name)}</th>' for name in one["columns"])
    rows = "".join(
        f'<tr><th scope="row"><a href="{escaped(row["href"])}">{escaped(row["topic"])}</a></th>'
        + "".join(_heat_cell(row, cell, name) for cell, name in zip(row["cells"], one["columns"], strict=True))
        + "</tr>"
        for row in one["rows"]
    )
    label = f"Scores of {one['system']} by topic and criterion"
    head = f'<thead><tr><th scope="col">{escaped(one["system"])}</th>{head}</tr></thead>'
    more = f'<p class="warn">{one["more"]:,} further topics are not in this map.</p>' if one["more"] else ""
    return _scroll_box(f'<table class="grid heat">{head}<tbody>{rows}</tbody></table>', label) + more


def _heat_cell(row: Mapping[str, Any], cell: Mapping[str, Any], name: str) -> str:
    if cell["step"] is None:
        return f'<td class="number">{escaped(cell["shown"])}</td>'
    label = f"{row['topic']}, {name}: {cell['said']}"
    inner = f'<a href="{escaped(row["href"])}" aria-label="{escaped(label)}">{escaped(cell["shown"])}</a>'
    return f'<td class="number h{cell["step"]}">{inner}</td>'


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
    return f'<td><a href="{escaped(href)}" aria-label="{escaped(label)}">{inner}</a></td>'


def _order(item: tuple[str, int]) -> int:
    return list(_MARKS).index(item[0]) if item[0] in _MARKS else len(_MARKS)


def _mark(mark: str) -> str:
    shown = " " if mark == " " else escaped(mark)
    return f'<span class="mark {_MARKS.get(mark, "open")}">{shown}</span>'


def _tree(one: Mapping[str, Any]) -> str:
    segments = "".join(_segment(segment, 1) for segment in one["segments"])
    below = "".join(f'<p class="dim">{escaped(sentence)}</p>' for sentence in one["below"])
    title = escaped(one["title"])
    return (
        f'<h3>{title}</h3><div class="wide" tabindex="0" role="group" aria-label="Tree: {title}">'
        f'<ul class="tree">{segments}</ul></div>{below}'
    )


def _segment(one: Mapping[str, Any], depth: int) -> str:
    first, *others = one["turns"]
    lines = "".join(f'<div class="turn">{_turn(turn)} {_read(turn)}</div>' for turn in others)
    ends = "".join(f'<div class="end">{_end(end)}</div>' for end in one["ends"])
    inner = "".join(_segment(branch, depth + 1) for branch in one["branches"])
    branches = f"<ul>{inner}</ul>" if inner else ""
    deeper = f'<p class="warn">{escaped(one["deeper"])}</p>' if one["deeper"] else ""
    opened = " open" if depth <= 4 else ""
    # The link stands before the summary, not in it: what opens a branch is one control, and what reads it another.
    inner = f"<summary>{_turn(first)}</summary>{lines}{ends}{branches}{deeper}"
    return f"<li>{_read(first)}<details{opened}>{inner}</details></li>"


def _turn(one: Mapping[str, Any]) -> str:
    side = one["speaker"][:1].upper()
    mark = _mark(one["label"]) if one["label"] else ""
    note = f' <span class="dim">{escaped(one["note"])}</span>' if one["note"] else ""
    figures = (
        f'<b>{escaped(one["share"])}</b> {escaped(one["interval"])} <span class="dim">{escaped(one["counts"])}</span>'
    )
    bar = (
        '<svg class="bar" width="60" height="8" viewBox="0 0 60 8" aria-hidden="true"><rect class="ground" width="60" '
        f'height="8"/><rect class="part" width="{60 * min(1.0, one["portion"]):.1f}" height="8"/></svg>'
        if one["portion"] == one["portion"]
        else ""
    )
    return (
        f'<span class="side {escaped(one["speaker"])}">{side}</span> {mark} '
        f'<span class="words">{escaped(one["words"])}</span>{note} <span class="share">{bar} {figures}</span>'
    )


def _read(one: Mapping[str, Any]) -> str:
    return f'<a class="read" href="{escaped(one["href"])}">read {one["n"]:,}</a>'


def _end(one: Mapping[str, str]) -> str:
    return f'<a href="{escaped(one["href"])}">{escaped(one["text"])}</a>' if one["href"] else escaped(one["text"])
