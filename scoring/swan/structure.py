"""The structure of an answer: an overview, titled sections, and a list of documents (experimental).

Search engines place such answers above their results. T. Sakai et al., "Plans for Evaluating Structured Generative
Search Summaries" (arXiv 2605.26400), propose to evaluate them by line. How a line is recognised is our choice:

    heading     a Markdown heading, or a line in bold that is not a sentence; it begins a section
    title       a heading before all text, if no later heading has its level or a higher one; it begins no section
    overview    the text before the first section, also below a title such as `Overview`
    document    a line below a heading such as `Sources`, a line such as `Sources: https://…`, and a Markdown
                definition of a link (`[1]: https://…`)
    unit        any other line with a letter or digit, without its list marker; also a line of a block of code
"""

from dataclasses import dataclass
from typing import Literal

from topics.late_pattern import lazy_pattern

LineKind = Literal["unit", "heading", "document"]

_LINE = lazy_pattern(r"[^\n\r\u2028\u2029]+")
_FENCE = lazy_pattern(r"[ \t>]{0,12}(`{3,}|~{3,})")
_HEADING = lazy_pattern(r"[ \t]{0,3}(#{1,6})[ \t]")
_BOLD = lazy_pattern(r"[ \t]{0,3}(\*\*|__)(?![\s*_])[^*_\n]{1,200}(?<![\s.!?。！？])\1[ \t]{0,9}[:：]?[ \t]{0,99}")
_MARKER = lazy_pattern(r"[ \t>]{0,99}(?:[-*+•‣▪●○–][ \t]{1,99}|\(?[0-9]{1,3}[.):][ \t]{1,99})?")
_DEFINITION = lazy_pattern(r"[ \t]{0,3}\[\^?[\w-]{1,20}\]:[ \t]*\S")
_BOLD_LEVEL = 7  # below the six levels of Markdown
_OVERVIEW_TITLES = frozenset(
    {
        *("overview", "summary", "in short", "in brief", "tl;dr", "short answer", "概要", "要約", "まとめ"),
        *("überblick", "zusammenfassung", "kurzfassung", "resumen", "résumé", "aperçu", "sintesi", "riepilogo"),
    }
)
_DOCUMENT_TITLES = frozenset(
    {
        *("source", "sources", "reference", "references", "citations", "works cited", "bibliography"),
        *("参考文献", "参考資料", "出典", "情報源", "引用元", "quellen", "quellenangaben", "literatur", "fuentes"),
        *("referencias", "références", "bibliographie", "fonti", "riferimenti"),
    }
)
_BARE = " \t#*_:：>"
_EMPHASIS = lazy_pattern(r"[*`]{1,3}|(?<!\w)_{1,3}|_{1,3}(?!\w)")
_CITATION = lazy_pattern(r"[ \t]?\[\^?[0-9]{1,3}(?:[ \t]{0,3}[,;–-][ \t]{0,3}\^?[0-9]{1,3}){0,20}\](?!\()")
_LINK = lazy_pattern(r"!?\[([^\[\]\n]{0,999})\]\([^()\s]{0,999}\)")


@dataclass(frozen=True, slots=True)
class Line:
    """Characters [start, end) of an answer, in one line and without white space around them. `number` counts the lines
    with a letter or digit, from 1. `section` is 0 for the overview and the title, and counts the sections from 1."""

    number: int
    start: int
    end: int
    section: int
    kind: LineKind


@dataclass(frozen=True, slots=True)
class StructuredAnswer:
    """The lines of an answer in order, without fences of code and lines without a word, and its section titles."""

    lines: tuple[Line, ...]
    titles: tuple[str, ...]

    @property
    def units(self) -> tuple[Line, ...]:
        """The lines to be judged, in order."""
        return tuple(one for one in self.lines if one.kind == "unit")

    @property
    def documents(self) -> int:
        """The number of lines in the answer's own list of documents."""
        return sum(one.kind == "document" for one in self.lines)


def read_structure(text: str) -> StructuredAnswer:
    """Return the structure of an answer's text, which is plain text or Markdown. Time is linear in its length."""
    rows: list[tuple[int, int, int, str]] = []  # start, end, level of a heading or 0, its title
    fence = ""
    for found in _LINE.finditer(text):
        start, end = found.span()
        mark = _FENCE.match(text, start, end)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
            continue
        line = text[start:end]
        if any(map(str.isalnum, line)):
            level = 0 if fence else _heading_level(line)
            rows.append((start, end, level, line.strip(_BARE)))
    levels = [level for _, _, level, title in rows if level and title.casefold() not in _DOCUMENT_TITLES]
    has_title = bool(rows and rows[0][2] and len(levels) > 1 and rows[0][2] < min(levels[1:])) or len(levels) == 1
    lines: list[Line] = []
    titles: list[str] = []
    in_documents = has_text = False
    for number, (start, end, level, title) in enumerate(rows, 1):
        kind: LineKind = "unit"
        if level:
            kind, in_documents = "heading", title.casefold() in _DOCUMENT_TITLES
            is_title = number == 1 and has_title
            is_overview = not (titles or has_text) and title.casefold() in _OVERVIEW_TITLES
            if not (in_documents or is_title or is_overview):
                titles.append(title)
        elif in_documents or _DEFINITION.match(text, start, end) or _names_documents(text[start:end]):
            kind = "document"
        else:
            has_text = True
            marker = _MARKER.match(text, start, end)
            if marker and any(map(str.isalnum, text[marker.end() : end])):
                start = marker.end()
        while text[start].isspace():
            start += 1
        while text[end - 1].isspace():
            end -= 1
        lines.append(Line(number, start, end, 0 if in_documents else len(titles), kind))
    return StructuredAnswer(tuple(lines), tuple(titles))


def _heading_level(line: str) -> int:
    """Return the level of a heading from 1 to 7, or 0 for any other line."""
    mark = _HEADING.match(line)
    if mark:
        return len(mark[1])
    is_label = line.strip(_BARE).casefold() in _DOCUMENT_TITLES
    return _BOLD_LEVEL if is_label or _BOLD.fullmatch(line) else 0


def _names_documents(line: str) -> bool:
    label, _, rest = line.replace("：", ":").partition(":")
    return label.strip(_BARE).casefold() in _DOCUMENT_TITLES and ("://" in rest or "www." in rest)


def same_words_key(text: str) -> str:
    """Return the text of a unit without emphasis, marks of citations, targets of links, capitals, and a full stop at
    its end. Units with equal keys say the same in the same words."""
    plain = _CITATION.sub("", _LINK.sub(r"\1", text))
    return " ".join(_EMPHASIS.sub("", plain).split()).casefold().rstrip(" .。")
