"""Terms that a stranger does not know are explained below the tables that use them, and no others."""

import io
from contextlib import redirect_stdout

import pytest
from rich.text import Text

from harvest.cli.study_output import Output
from harvest.tables.plain_words import plain_words
from harvest.tables.study_form import StudyForm


@pytest.mark.parametrize(
    ("said", "terms"),
    [
        ("p corrected over all 3 differences (Holm)", ["Holm"]),
        ("95% Gaffke-type interval with an unseen topic", ["Gaffke-type"]),
        ("Two trials of a topic are alike by Jaccard .417; RBO .596.", ["Jaccard", "RBO"]),
        ("an arm beside the control; each arm by itself", ["arm"]),
        ("no harm was found in Jaccards", ["Jaccard"]),
        ("the same within 3 points", []),
    ],
)
def test_each_term_that_is_used_is_explained_once(said: str, terms: list[str]) -> None:
    assert [words.partition(":")[0] for words in plain_words([said, said])] == terms


def test_explanations_follow_the_tables_for_people_alone() -> None:
    study = StudyForm(head={"format": "made-up/1"}, rows=list, tables=lambda _: [Text("corrected (Holm)")])
    tables, document = io.StringIO(), io.StringIO()
    with redirect_stdout(tables):
        Output().show(study)
    assert tables.getvalue().startswith("corrected (Holm)\nHolm: of many tests, ")
    with redirect_stdout(document):
        Output("json").show(study)
    assert "of many tests" not in document.getvalue()
