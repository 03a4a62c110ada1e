"""Sources of recorded runs: figures of old runs do not move, and their sources are there if asked for."""

from __future__ import annotations

from pathlib import Path

from harvest.studies.scores.gathered import gather_runs, score_runs
from harvest.studies.scores.scorecard import score_material
from harvest.studies.scores.trial_values import measure_values
from scoring.library import read_term
from scoring.notation import parse
from scoring.scores import SHIPPED
from scoring.settings import Settings
from scoring.swan.schema import load_schema
from tests.support.checkout import ROOT
from topics.source_table import parse_source_table

SAMPLE = ROOT / "recordings" / "samples" / "run-1"  # recorded before there were measures of sources
TABLE = parse_source_table("domain,kind,owner\nimdb.com,database,Amazon\nexample.org,example,\n", "s.csv")


def test_a_table_of_sources_moves_no_figure_of_an_old_run() -> None:
    before = score_runs(SAMPLE)
    after = score_material(gather_runs((SAMPLE,), sources=TABLE).material)
    assert list(map(repr, after.rows)) == list(map(repr, before.rows))
    assert after.notes == before.notes


def test_the_sources_of_an_old_run_are_read_from_its_recording() -> None:
    material = gather_runs((SAMPLE,), sources=TABLE).material
    table = score_material(material, measures=[parse("%citations(imdb.com)"), parse("%sourced")], only=True)
    whole = [row for row in table.rows if (row.topic, row.topic_type, row.trial) == (None, None, None)]
    assert {row.measure for row in whole} == {"%citations(imdb.com)", "%sourced"}
    assert all(row.n > 0 for row in whole if row.measure == "%sourced")


def test_studies_of_trials_get_both_sides_of_a_ratio() -> None:
    """A cell of a comparison is (citations of the site, citations), and of a share of answers its value."""
    material = gather_runs((SAMPLE,), sources=TABLE).material
    terms = [parse("%citations(imdb.com)"), parse("%sourced")]
    measures = [one for term in terms for one in read_term(term, Settings(), material.topics, load_schema(SHIPPED))]
    found, _ = measure_values(material.systems, material, measures, Settings())
    linked = {(one.key.topic, one.key.trial): one for one in material.finished if one.key.system == material.systems[0]}
    cells = found[material.systems[0]]
    assert cells.keys() == {("%citations(imdb.com)", None), ("%sourced", None)}
    for trial, (above, below) in cells["%citations(imdb.com)", None].items():
        urls = [{link.href for link in turn.reply.answer.links} for turn in linked[trial].turns if turn.reply]
        assert below == sum(map(len, urls))
        assert 0 <= above <= below
    assert {below for _, below in cells["%sourced", None].values()} == {1.0}


def test_a_table_is_kept_with_a_run_only_if_the_audit_names_one() -> None:
    assert not gather_runs((Path(SAMPLE),)).material.topics.sources.entries
