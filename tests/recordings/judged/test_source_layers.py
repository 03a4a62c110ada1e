"""What is known about sources, kept with a run: it comes back equal, and the newest counts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recordings.files.errors import RunError
from recordings.judged.gold_layers import read_gold_layers
from recordings.judged.judgments import Judgment, Layer, read_layers, write_layer
from recordings.judged.source_layers import AUTHOR, keep_sources, source_table
from topics.source_file import load_sources
from topics.source_table import SourceTable, parse_source_table

THEN = datetime(2026, 1, 1, tzinfo=UTC)


def full(folder: Path) -> SourceTable:
    (folder / "s.csv").write_text("domain,kind,owner\nbbc.co.uk,broadcaster,BBC\ngov.uk/a,authority,\n")
    (folder / "r.csv").write_text("name,host,path,way,of\nmobile,m.bbc.co.uk,,as,www.bbc.co.uk\n")
    (folder / "s.yaml").write_text(
        "format: harvest-sources/1\ntable: s.csv\nredirects: r.csv\nattributes:\n"
        "  kind: {scale: nominal, groups: [broadcaster, authority], gold: {broadcaster: 3, authority: 1}}\n"
    )
    return load_sources(folder / "s.yaml")


def test_a_table_is_read_back(tmp_path: Path) -> None:
    table = full(tmp_path)
    (tmp_path / "run").mkdir()
    keep_sources(tmp_path / "run", table, clock=lambda: THEN)
    keep_sources(tmp_path / "run", table, clock=lambda: THEN + timedelta(1))
    layers = read_layers(tmp_path / "run")
    assert source_table(layers) == table
    assert [(one.kind, one.author) for one in layers] == [("gold", AUTHOR)]  # the second was equal
    assert not read_gold_layers([tmp_path / "run"])  # and it is no gold about entities


def test_the_newest_table_counts(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    changed = parse_source_table("domain,kind\nbbc.co.uk,news\n", "s.csv")
    keep_sources(tmp_path / "run", full(tmp_path), clock=lambda: THEN)
    keep_sources(tmp_path / "run", changed, clock=lambda: THEN + timedelta(1))
    assert source_table(read_layers(tmp_path / "run")) == changed
    assert source_table(()) == SourceTable()


def test_a_damaged_layer_is_named(tmp_path: Path) -> None:
    damaged = (
        Judgment({"domain": "x.org"}, "source", "news"),
        Judgment({"column": "kind"}, "source-groups", {"scale": "nominal", "groups": ["a"], "gold": [1]}),
        Judgment({"column": "kind"}, "source-groups", {"groups": 3}),
        Judgment({"redirect": 1}, "source-redirect", {"name": "x", "host": "y", "path": "", "way": "z", "of": ""}),
    )
    for number, one in enumerate(damaged):
        run = tmp_path / str(number)
        run.mkdir()
        path = write_layer(run, Layer("gold", AUTHOR, judgments=(one,)))
        with pytest.raises(RunError) as caught:
            source_table(read_layers(run))
        assert str(caught.value).startswith(f"{path}:2: ")
