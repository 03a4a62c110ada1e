"""The common form in which studies are printed, for programs, papers and people.

A study builds its `StudyForm`, and an entry of `FORMS` writes it. A new form of output needs only such an entry;
every command that prints a study then has an option for the new form.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from rich.console import RenderableType

from harvest.tables.long_rows import LATEX_NEEDS, LongRow, csv_rows, long_latex
from recordings.files.json_text import Json
from recordings.log.header import software


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyForm:
    """A study, ready to be printed.

    `head` is the JSON of everything except the figures: first `format`, then settings, notes and verdicts. `rows`
    returns each figure once. `tables` returns the output for people, given the width of their terminal in columns. In
    this output, a string, or a text with `no_wrap`, is printed as one line. `late` returns the rest of the head, which
    takes long to make. `sources` are the runs behind the study,
    as described by `harvest.studies.runs.sources`. `chart` returns an SVG file, and is None if the study has no
    picture. `paper` returns a short table in LaTeX, and is None if the study has none. `details` are the kinds of
    figures that a table of all figures in LaTeX leaves out.
    """

    head: Mapping[str, Any]
    rows: Callable[[], Iterable[LongRow]]
    tables: Callable[[int], Iterable[RenderableType]]
    late: Callable[[], Mapping[str, Any]] = dict
    sources: Sequence[Mapping[str, Json]] = ()
    chart: Callable[[], str] | None = None
    paper: Callable[[], str] | None = None
    details: Collection[str] = ()

    def document(self) -> dict[str, Any]:
        """Return the head, the sources, the software and, under `long`, the figures as rows."""
        return {
            **self.head,
            **self.late(),
            "sources": [dict(one) for one in self.sources],
            "software": software(),
            "long": [one.as_json() for one in self.rows()],
        }


@dataclass(frozen=True, slots=True)
class Form:
    """A form of output, with the help text of its option, the function that writes a study, and the notes printed with
    it for its reader."""

    words: str
    write: Callable[[StudyForm], str]
    needs: str = ""


FORMS: Mapping[str, Form] = MappingProxyType(
    {
        "json": Form(
            "One JSON document on standard output.",
            lambda study: json.dumps(study.document(), ensure_ascii=False) + "\n",
        ),
        "csv": Form("Every figure as a row of CSV on standard output.", lambda study: csv_rows(study.rows())),
        "latex": Form(
            "A table for a paper, in LaTeX, on standard output.",
            lambda study: study.paper() if study.paper is not None else _long_table(study),
            LATEX_NEEDS,
        ),
        "long": Form(
            "A table of all figures in LaTeX on standard output.", lambda study: _long_table(study), LATEX_NEEDS
        ),
    }
)


def _long_table(study: StudyForm) -> str:
    return long_latex([row for row in study.rows() if row.figure not in study.details], study.sources)
