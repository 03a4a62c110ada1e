"""What measures declare: it holds for every one, `harvest measures` tells it, and the documentation is made of it."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from click.testing import CliRunner, Result

from harvest.cli.measures import command
from harvest.studies.scores.measure_tables import every_measure, markdown_table
from scoring.library import OF_CONVERSATIONS, good_end, range_of, read_term
from scoring.measure import Declaration
from scoring.measures.helpdesk_utility import UCH
from scoring.measures.value_share import SHARE
from scoring.notation import parse
from scoring.settings import Settings
from scoring.swan.schema import load_schema
from tests.support.checkout import DOCS
from topics.errors import InputError
from topics.library import load_topics
from topics.source_table import parse_source_table

PAGE = (DOCS / "measures.md").read_text(encoding="utf-8")
TABLE = parse_source_table("domain,kind\nbbc.co.uk,broadcaster\ngov.uk,authority\n", "sources.csv")
TOPICS = replace(load_topics("fairweb-45"), sources=TABLE)
ASKABLE = [one for one in OF_CONVERSATIONS if one.of in ("conversation", "trials", "measure")]


def asked(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments, env={"COLUMNS": "80"})


def by_name(one: Declaration) -> str:
    return one.name


@pytest.mark.parametrize("one", ASKABLE, ids=by_name)
def test_the_example_of_every_measure_can_be_requested_unchanged(one: Declaration) -> None:
    schema = load_schema("dialeval-nuggets" if one in (SHARE, UCH) else "sakai-2023")
    made = read_term(parse(one.example), Settings(), TOPICS, schema)
    assert one in (made[-1].form, made[-1].declaration)
    assert made[-1].term == parse(one.example)


@pytest.mark.parametrize("one", every_measure(), ids=by_name)
def test_every_measure_describes_itself_in_one_sentence_with_its_source(one: Declaration) -> None:
    assert one.sentence.endswith(".")
    assert "\n" not in one.sentence + one.formula
    assert len(one.sentence) <= 120
    assert all((one.formula, one.source, one.undefined, one.example, one.n))
    assert one.range[0] < one.range[1]
    assert "|" not in one.sentence + one.formula + one.source + one.undefined


@pytest.mark.parametrize("one", [one for one in ASKABLE if one.parameters], ids=by_name)
def test_a_parameter_that_a_measure_does_not_declare_is_refused_with_those_it_does(one: Declaration) -> None:
    inside = parse(one.example)
    text = f"{inside.name}({', '.join([*map(str, inside.arguments), 'colour=1'])})"
    with pytest.raises(InputError, match=f"{inside.name} has no parameter colour") as caught:
        read_term(parse(text), Settings(), TOPICS, load_schema("sakai-2023"))
    assert caught.value.allowed == ", ".join(parameter.name for parameter in one.parameters)


def test_a_measure_of_gold_uses_existing_settings() -> None:
    settings = Settings()
    for one in every_measure():
        for parameter in one.parameters:
            assert not parameter.setting or hasattr(settings, parameter.setting), (one.name, parameter.name)


def test_names_are_distinguished_within_their_level() -> None:
    names = [one.name for one in OF_CONVERSATIONS]
    assert len(names) == len(set(names))


def test_the_list_names_every_measure_and_fits_80_columns() -> None:
    done = asked()
    assert done.exit_code == 0
    assert max(map(len, done.output.splitlines())) <= 80
    assert {line.split(" ")[0] for line in done.output.splitlines()} >= {one.name for one in every_measure()}


def test_a_measure_is_explained_with_its_formula_source_needs_parameters_and_an_example() -> None:
    done = asked("R(L=600)")
    assert max(map(len, done.output.splitlines())) <= 80
    words = " ".join(done.output.split())
    assert "2 measures are called R: of one conversation, of predictors" in words
    assert "R (of one conversation): How much relevant content a conversation gives" in words
    for part in (
        "formula (1/N) Σ pw(n)·g(n)",
        "source [GFRC] Eq. 3, 6, 7",
        "needs a gold table",
        "L= words a user reads at most [1250, or the setting patience]",
        "range from 0 to 1; high is good",
        "undefined nothing is known of the topic's entities",
        "example harvest score RUN --measure 'R(L=600)'",
    ):
        assert part in words, part


def test_measures_of_one_name_are_each_explained() -> None:
    words = " ".join(asked("GF").output.split())
    assert "2 measures are called GF: of one conversation, of ranked lists" in words
    assert words.count("GF (of ranked lists): ") == words.count("GF (of one conversation): ") == 1
    assert "value of one conversation" in words
    assert "value of ranked lists: harvest metrics gfr" in words
    assert "are called" not in asked("SWAN").output


def test_json_holds_every_measure_with_what_it_declares() -> None:
    document = json.loads(asked("--json").output)
    assert document["format"] == "harvest-measures/1"
    assert [one["name"] for one in document["measures"]] == [one.name for one in every_measure()]
    (cvar,) = json.loads(asked("CVaR", "--json").output)["measures"]
    assert cvar["parameters"][0] == {
        "name": "beta",
        "meaning": "share of the worst conversations, above 0",
        "default": "0.25",
        "setting": None,
    }
    assert (cvar["of"], cvar["range"], cvar["good"]) == ("measure", [0.0, 1.0], "depends")


@pytest.mark.parametrize(("given", "meant"), [("Swan", "SWAN"), ("cvar", "CVaR"), ("persistance", "persistence")])
def test_an_unknown_name_is_answered_with_the_likely_one_and_the_known_ones(given: str, meant: str) -> None:
    done = asked(given)
    assert isinstance(done.exception, InputError)
    assert f"{given!r} is not a measure: did you mean {meant}?" in str(done.exception)
    assert "ave%useful" in (done.exception.allowed or "")


def test_the_table_of_the_page_is_what_the_program_prints() -> None:
    assert markdown_table(OF_CONVERSATIONS) in PAGE, "python -m harvest.studies.scores.measure_tables prints it"


@pytest.mark.parametrize(
    ("written", "good", "most"),
    [
        ("Q(R, beta=0.1)", "high", 1.0),
        ("Q(latency, beta=0.9)", "low", math.inf),
        ("P(R, below=0.1)", "low", 1.0),
        ("P(latency, below=5)", "high", 1.0),
        ("P(breakdown)", "low", 1.0),
        ("CVaR(GF, beta=0.1)", "high", 1.0),
        ("CVaR(latency, beta=0.1)", "low", math.inf),
        ("max(cost)", "low", math.inf),
    ],
)
def test_a_form_has_the_good_end_and_range_of_its_inner_measure(written: str, good: str, most: float) -> None:
    assert (good_end(parse(written)), range_of(written)[1]) == (good, most)
