"""docs/python.md in a notebook: every example is a cell, run by a Jupyter kernel, and shows what the page shows."""

from __future__ import annotations

import doctest
import json
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests.support.checkout import DOCS

pytestmark = [pytest.mark.usefixtures("quiet_kernels"), pytest.mark.filterwarnings("default")]  # of Jupyter

TABLES = """\
import harvest, recordings
run = harvest.play(harvest.load_audit("demo", only=("M001", "M002", "R001"), trials=2), "shown")
---
run
---
harvest.score_runs(run)
---
harvest.compare_runs([run])
---
again = await harvest.aplay(harvest.load_audit("demo", only=("M001", "M002"), trials=2), "again", progress=False)
len(again.finished)
"""


def executed(cells: list[str], folder: Path) -> list[list[Any]]:
    """The outputs of each cell, after a kernel ran all of them in `folder`."""
    code: list[dict[str, Any]] = [
        {"cell_type": "code", "source": one, "metadata": {}, "outputs": [], "execution_count": None} for one in cells
    ]
    written = json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": code})
    notebook = nbformat.reads(written, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    ).execute()
    return [cell.outputs for cell in notebook.cells]


def plain(outputs: list[Any]) -> str:
    texts = [
        one.text if one.output_type == "stream" else one.data["text/plain"] + "\n"
        for one in outputs
        if one.output_type == "execute_result" or (one.output_type == "stream" and one.name == "stdout")
    ]
    return "".join(texts)


def test_the_page_shows_what_a_notebook_shows(tmp_path: Path) -> None:
    page = doctest.DocTestParser().get_examples((DOCS / "python.md").read_text(encoding="utf-8"))
    cells = [re.sub(r"asyncio\.run\((\w+\(\))\)", r"(await \1)", one.source) for one in page]
    shown = executed(cells, tmp_path)
    assert len(page) > 30
    for example, outputs in zip(page, shown, strict=True):
        # A notebook breaks a long list over lines.
        assert "".join(plain(outputs).split()) == "".join(example.want.split()), example.source


def test_runs_tables_and_comparisons_are_tables_in_a_notebook_and_play_reports_progress(tmp_path: Path) -> None:
    played, run, scores, comparison, awaited = executed(TABLES.split("---\n"), tmp_path)
    (progress,) = [one for one in played if one.output_type == "display_data"]
    assert progress.data["text/plain"].startswith("12 of 12 trials (A: o "), "one line, in the place of those before it"
    assert not [one for one in played if one.output_type == "stream"]
    for (one,), heading in ((run, "finished trials"), (scores, "low"), (comparison, "p, corrected")):
        assert len(one.data["text/plain"]) < 120
        assert f">{heading}</th>" in one.data["text/html"]
    assert plain(awaited) == "8\n"
    assert [one.output_type for one in awaited] == ["execute_result"]
