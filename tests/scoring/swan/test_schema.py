"""Schema files: the one that comes with Harvest, and what is said of a wrong one."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.notation import Term, parse
from scoring.swan.rules.registry import RULES, parse_rule
from scoring.swan.schema import SAMPLINGS, load_schema, read_schema, shipped_schemas, write_name
from scoring.swan.wan import Wan, swan
from scoring.swan.weighting import Linear, Uniform
from topics.document import parse_document
from topics.errors import InputError

TABLE_1 = [  # [SWAN] Table 1, in its order
    "Fluency", "Coherence", "Sensibleness", "Correctness", "Groundedness", "Explainability", "Sincerity", "Sufficiency",
    "Conciseness", "Modesty", "Engagingness", "Recoverability", "Originality", "Fair exposure", "Fair treatment",
    "Harmlessness", "Consistency", "Retentiveness", "Robustness to input variations", "Customisability", "Adaptability",
]  # fmt: skip

ONE = """format: harvest-schema/1
name: mine
criteria:
  - number: 3
    name: Correctness
    level: nugget
    nuggets: F
    scorers: [human]
"""


VALUES = """format: harvest-schema/1
name: mine
criteria:
  - number: 3
    name: Clear
    level: turn
    speaker: user
    values: {yes: good, no: bad}
    scorers: [human]
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_20_plus_1_criteria_of_table_1_of_swan_come_with_harvest_under_their_numbers() -> None:
    schema = load_schema()
    assert [one.name for one in schema] == TABLE_1
    assert [one.number for one in schema] == list(range(21))
    assert all(one.sampling in SAMPLINGS and one.question and one.judges for one in schema)
    assert all(one.weight == 1 and one.weighting == Uniform() for one in schema)
    shipped = ("beyond-table-1", "dialeval-nuggets", "dialeval-quality", "news", "sakai-2023", "sakai-2023-rules")
    assert shipped_schemas() == (*shipped, "sakai-2023-table-1", "structured-answers", "useful")


def test_the_schema_of_exactly_table_1_has_every_rule_and_additions_are_kept_apart() -> None:
    table, rules, beyond = map(load_schema, ("sakai-2023-table-1", "sakai-2023-rules", "beyond-table-1"))
    assert [(one.number, one.name) for one in table] == [(n, name) for n, name in enumerate(TABLE_1)]
    assert all(one.weight == 1 and one.weighting == Uniform() for one in table)
    for one in rules:
        own = (table if one.number <= 20 else beyond)[one.name]
        assert {*one.rules, *one.set_rules} <= {*own.rules, *own.set_rules}, one.name
    assert [one.name for one in beyond] == ["Language", "Consistency over trials", "Harmlessness of the sequence"]


def test_a_criterion_is_found_by_name_or_number_and_a_near_miss_is_named() -> None:
    schema = load_schema()
    assert schema["fair exposure"] is schema["13"]
    with pytest.raises(InputError, match="did you mean 'Modesty'"):
        schema["Modestly"]


def test_criteria_outside_the_papers_table_have_no_weight_in_a_swan_of_its_name() -> None:
    """[SWAN] Table 1 has the criteria 0 to 20; a WAN of the others there may be."""
    for name in ("sakai-2023", "sakai-2023-rules"):
        schema = load_schema(name)
        assert {one.number: one.weight for one in schema} == {one.number: float(one.number <= 20) for one in schema}
    schema = load_schema("sakai-2023-rules")
    ours = [one.name for one in schema if one.number > 20]
    assert ours == ["Language", "Consistency over trials"]
    found = {one.name: Wan(one.name, 0.0 if one.name in ours else 1.0, 1.0, 1, 1) for one in schema}
    whole = swan(found, schema.weights)
    assert whole.value == 1
    assert not {*ours} & {*whole.covered, *whole.undefined}
    alone = swan({name: found[name] for name in ours}, schema.weights)
    assert math.isnan(alone.value)


def test_a_custom_schema_sets_weights_and_scorers(tmp_path: Path) -> None:
    text = ONE + "    weight: 2.5\n    weighting: linear(L=100)\n"
    (one,) = load_schema(written(tmp_path, text)).criteria
    assert (one.weight, one.weighting, one.judges, one.rules) == (2.5, Linear(100), ("human",), ())
    assert not one.may_score("model")


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_read_back_from_its_text(name: str) -> None:
    rule = parse_rule(name)
    assert parse_rule(str(rule)) == rule
    assert rule.limits


@pytest.mark.parametrize(
    ("old", "new", "where", "what"),
    [
        ("level: nugget", "level: words", "6:12", "level"),
        ("    nuggets: F\n", "", "6:12", "nuggets: this key is required for the level nugget"),
        (
            "level: nugget\n    nuggets: F\n    scorers: [human]",
            "level: dialogue\n    scorers: [human]\n    weighting: last_turn",
            "8:16",
            "a whole conversation has no position",
        ),
        ("scorers: [human]", "scorers: [humans]", "8:15", "there is no rule 'humans'"),
        ("scorers: [human]", "scorers: [label]", "8:15", "the rule label has the level turn"),
        ("scorers: [human]", "scorers: [brevity(words=none)]", "8:15", "`words` must be a whole number, not"),
        ("scorers: [human]", "scorers: [human]\n    sampling: some", "9:15", "sampling"),
        ("scorers: [human]", "scorers: [human]\n    weighting: best", "9:16", "not a weighting"),
        ("scorers: [human]", "scorers: [human]\n    weigth: 2", "9:5", "did you mean 'weight'"),
        ("scorers: [human]", "scorers: [human]\n    weight: -1", "9:13", "weight"),
        ("scorers: [human]", "scorers: []", "8:14", "scorers: the list is empty"),
        ("scorers: [human]", "scorers: [human]\n    weight: .nan", "9:13", "must be a number"),
        ("scorers: [human]", "scorers: [human]\n    weight: .inf", "9:13", "must be a number"),
        ("scorers: [human]", "scorers: [human]\n    weighting: &a uniform", "9:16", "anchor &a is not allowed"),
        ("scorers: [human]", "scorers: [human]\n    <<: {weight: 2}", "9:5", "merge key"),
        ("scorers: [human]", "scorers: [human, human]", "8:22", "'human' appears twice"),
        (
            "scorers: [human]",
            "scorers: [human]\n    weighting: " + "last_turn*" * 20 + "last_turn",
            "9:16",
            "weighting",
        ),
        ("name: Correctness", 'name: "Corr\\nectness"', "5:11", "cannot be written on one line"),
        ("name: Correctness", 'name: "Corr\\e[31m"', "5:11", "cannot be written on one line"),
        ("name: Correctness", "name: '?!'", "5:11", "cannot be written on one line"),
        ("name: Correctness", "name: '3'", "5:11", "the name is a number"),
        (
            "scorers: [human]",
            "scorers: [human]\n  - {number: 4, name: correctness, level: turn, scorers: [human]}",
            "9:23",
            "name: criterion 1 of the file has the same name, since measures write both as Correctness, in any case",
        ),
        (
            "name: Correctness\n    level: nugget\n    nuggets: F\n    scorers: [human]",
            "name: Safety/Harm\n    level: turn\n    scorers: [human]\n"
            "  - {number: 4, name: 'safety: harm', level: turn, scorers: [human]}\n"
            "  - {number: 5, name: 'safety harm', level: turn, scorers: [human]}",
            "9:23",
            "name: criterion 1 of the file has the same name, since measures write both as Safety_Harm, in any case",
        ),
        ("name: Correctness", "name: Nugget", "5:11", "has another meaning"),
        ("name: Correctness", "name: all", "5:11", "has another meaning"),
        ("number: 3", "number: three", "4:13", "a whole number"),
        ("harvest-schema/1", "harvest-schema/2", "1:9", "format"),
    ],
)
def test_a_fault_of_a_schema_is_reported_with_line_and_column(
    tmp_path: Path, old: str, new: str, where: str, what: str
) -> None:
    path = written(tmp_path, ONE.replace(old, new))
    with pytest.raises(InputError) as raised:
        load_schema(path)
    assert str(raised.value).startswith(f"{path}:{where}: ")
    assert what in str(raised.value)


@pytest.mark.parametrize(
    ("old", "new", "where", "what"),
    [
        ("level: turn", "level: dialogue", "7:14", "user turns must have the level turn"),
        ("[human]", "[human, model]", "9:14", "only people can judge"),
        ("[human]", "[label]", "9:14", "only people can judge"),
        ("{yes: good, no: bad}", "{yes: good}", "8:13", "there are 1"),
        ("{yes: good, no: bad}", "{yes: good, Yes: bad}", "8:13", "must not differ only in capitals"),
        ("{yes: good, no: bad}", "{yes: good, unsure: bad}", "8:33", "cannot be the name of a value"),
        ("{yes: good, no: bad}", "{yes: good, 1: bad}", "8:", "values"),
        ("{yes: good, no: bad}", "{yes: good, 'a b': bad}", "8:32", "cannot be the name of a value"),
        ("[human]", "[human]\n    weight: 2", "10:13", "a criterion with values cannot have this key"),
    ],
)
def test_a_fault_in_the_values_of_a_criterion_is_reported_with_line_and_column(
    tmp_path: Path, old: str, new: str, where: str, what: str
) -> None:
    with pytest.raises(InputError) as raised:
        load_schema(written(tmp_path, VALUES.replace(old, new)))
    assert f"mine.yaml:{where}" in str(raised.value)
    assert what in str(raised.value)


@pytest.mark.parametrize(
    ("name", "written_name"),
    [
        ("User's view", "User_s_view"),
        ("Safety/Harm", "Safety_Harm"),
        ("3D view", "_3D_view"),
        ("Q&A: fit", "Q_A__fit"),
        ("Correct(ness), = *", "Correct_ness______"),
        ("-x", "_-x"),
        ("%useful", "%useful"),
        ("50% rule", "_50%_rule"),
        ("Ge\u0301nie", "Génie"),
        ("सत्यता", "सत_यत_"),
        ("正確さ・明確さ", "正確さ_明確さ"),
        ("U-shape of_it", "U-shape_of_it"),
    ],
)
def test_a_criterion_of_any_name_is_found_by_its_name_and_by_the_name_in_measures(name: str, written_name: str) -> None:
    schema = read_schema(parse_document(ONE.replace("Correctness", f'"{name}"'), "mine.yaml"))
    (criterion,) = schema
    assert criterion.name == name
    assert criterion.written_name == written_name
    assert schema[name] is schema[written_name] is schema[written_name.upper()] is criterion
    assert parse(f"WAN({written_name})") == Term("WAN", (Term(written_name),))


@given(st.text(min_size=1, max_size=20))
def test_every_written_name_is_one_name_of_a_measure_and_writes_itself(name: str) -> None:
    written_name = write_name(name)
    assert parse(f"WAN({written_name})") == Term("WAN", (Term(written_name),))
    assert write_name(written_name) == written_name


def test_a_criterion_with_values_has_them_in_the_order_of_the_file_and_in_any_case(tmp_path: Path) -> None:
    (one,) = load_schema(written(tmp_path, VALUES)).criteria
    assert (one.speaker, one.value_names, one.value_of(" YES "), one.value_of("maybe")) == (
        "user",
        ("yes", "no"),
        "yes",
        None,
    )


def test_a_blank_in_the_name_of_a_criterion_may_be_written_as_an_underscore(tmp_path: Path) -> None:
    named = load_schema(written(tmp_path, ONE.replace("name: Correctness", "name: fact_check")))
    assert named["fact_check"].name == named["Fact check"].name == "fact_check"
    again = ONE[ONE.index("  - number") :].replace("number: 3", "number: 4").replace("Correctness", "fact check")
    with pytest.raises(InputError, match="criterion 1 of the file has the same"):
        load_schema(written(tmp_path, ONE.replace("name: Correctness", "name: fact_check") + again))


def test_two_criteria_with_one_name_are_refused(tmp_path: Path) -> None:
    again = ONE[ONE.index("  - number") :].replace("number: 3", "number: 4").replace("Correctness", "correctness")
    with pytest.raises(InputError, match="criterion 1 of the file has the same"):
        load_schema(written(tmp_path, ONE + again))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "the file is empty"),
        ("- 1\n", "must be a mapping"),
        (ONE[: ONE.index("criteria")], "missing key 'criteria'"),
        (ONE[: ONE.index("criteria")] + "criteria: []\n", "criteria: the list is empty"),
        (ONE[: ONE.index("criteria")] + "criteria:\n", "must be a list"),
        (ONE + "---\n" + ONE, "a second document"),
        (ONE.replace("format: harvest-schema/1\n", ""), "missing key 'format'"),
        ("[" * 5000, "nested deeper"),
    ],
)
def test_an_invalid_schema_file_is_refused(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(InputError, match=what):
        load_schema(written(tmp_path, text))


def test_a_missing_schema_is_distinguished_from_a_missing_file() -> None:
    with pytest.raises(InputError, match="did you mean 'sakai-2023'"):
        load_schema("sakai-2032")
    with pytest.raises(InputError, match="no such file"):
        load_schema("not/there.yaml")


@pytest.mark.parametrize(
    ("translations", "place", "what"),
    [
        ("{german!: {question: Wie}}", "schema.yaml:5:99", "a language tag such as de, ja or pt-BR"),
        ("{de: {}}", "schema.yaml:5", "question"),
        ("{de: {question: Wie, values: {bad: schlecht}}}", "schema.yaml:5", "bad is not a value of Tone"),
    ],
)
def test_translations_are_of_the_existing_values(tmp_path: Path, translations: str, place: str, what: str) -> None:
    file = tmp_path / "schema.yaml"
    criterion = "{number: 0, name: Tone, level: turn, scorers: [human], question: How, translations: "
    file.write_text(f"format: harvest-schema/1\nname: own\nabout: x\ncriteria:\n  - {criterion}{translations}}}\n")
    with pytest.raises(InputError) as refused:
        load_schema(file)
    assert place in str(refused.value)
    assert what in str(refused.value)
