"""The words of the judging page from a file: which files are refused, and that no shipped language lacks a word."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harvest.judging.serving.desk import pair_choices, scale_choices, value_choices
from harvest.judging.serving.page_words import ENGLISH, Words, load_words, shipped_words
from scoring.swan.schema import load_schema
from tests.support.checkout import DOCS, ROOT
from topics.errors import InputError

PAGE = ROOT / "harvest" / "judging" / "serving"


# Words that are the same in English.
SAME = {"fr": ["conversation", "note"]}


@pytest.mark.parametrize("language", shipped_words())
def test_a_shipped_language_has_every_word(language: str) -> None:
    found = load_words(language)
    assert found.language == language
    assert found.words.model_fields_set == set(Words.model_fields)
    english = ENGLISH.words.model_dump()
    same = [name for name, text in found.words.model_dump().items() if text == english[name]]
    assert set(same) <= {*SAME.get(language, ()), "no"}


def test_the_page_uses_only_existing_words_and_all_of_them() -> None:
    script, page = ((PAGE / name).read_text(encoding="utf-8") for name in ("page.js", "page.html"))
    used = {*re.findall(r'data-(?:word|label)="(\w+)"', page), *re.findall(r'say\("(\w+)"', script)}
    used |= {word for pair in re.findall(r'say\([^;{]*?\? "(\w+)" : "(\w+)"', script) for word in pair}
    choices = {"no", "partly", "yes", "unsure", "not_applicable", "left", "tie", "right"}
    pairs = {"pair_question", "left_title", "right_title"}
    assert set(Words.model_fields) - choices - pairs <= used
    assert used <= set(Words.model_fields)


def test_choices_are_translated_and_values_are_not() -> None:
    words = load_words("de").words
    assert [(one.key, one.value, one.words) for one in scale_choices((0, 0.5, 1), words)] == [
        ("A", 0.0, "0 – nein"),
        ("B", 0.5, "0.5 – teilweise"),
        ("C", 1.0, "1 – ja"),
        ("-", None, "entfällt – es trifft hier nicht zu"),
        ("U", "unsure", "unsicher – ich kann es nicht sagen"),
    ]
    assert [one.value for one in pair_choices(words)] == ["left", "tie", "right", "unsure"]
    assert [one.value for one in value_choices([("ok", "gut")], words)] == ["ok", None, "unsure"]


def written(folder: Path, text: str) -> str:
    (folder / "words.yaml").write_text(text, encoding="utf-8")
    return str(folder / "words.yaml")


def test_a_file_changes_the_words_it_names_and_translates_criteria(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "language: pt-BR\nwords: {save: Salvar e continuar}\ncriteria:\n  Fluency: {question: O texto é fluente?}\n",
    )
    found = load_words(path, load_schema("sakai-2023"))
    assert (found.words.save, found.words.undo) == ("Salvar e continuar", "Undo")
    schema = load_schema("sakai-2023")
    assert found.question(schema["Fluency"]) == "O texto é fluente?"
    assert found.question(schema["Correctness"]) == schema["Correctness"].question


@pytest.mark.parametrize("language", shipped_words())
def test_the_criteria_for_news_are_translated_into_every_shipped_language(language: str) -> None:
    words = load_words(language)
    for criterion in load_schema("news"):
        asked = [words.question(criterion), *(meaning for _, meaning in words.values(criterion))]
        assert not set(asked) & {criterion.question, *(meaning for _, meaning in criterion.values)}


def test_a_file_of_words_takes_precedence_over_the_schema_and_a_region_uses_its_language(tmp_path: Path) -> None:
    accuracy = load_schema("news")["Accuracy"]
    regional = written(tmp_path, "language: de-AT\n")
    assert load_words(regional).question(accuracy) == load_words("de").question(accuracy)
    own = written(tmp_path, "language: de\ncriteria: {Accuracy: {question: Stimmt alles?}}\n")
    assert load_words(own, load_schema("news")).question(accuracy) == "Stimmt alles?"


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ("words: {svae: x}\n", "words.yaml:1:9", "unknown key 'svae'"),
        ('words:\n  place: "{n} of all"\n', "words.yaml:2:10", "the words must have {n}, {of}, each once"),
        ('words:\n  save: "Save {n}"\n', "words.yaml:2:9", "the words must have no text in braces"),
        ("words: {save: ''}\n", "words.yaml:1:15", "save: must not be empty"),
        ("language: german!\n", "words.yaml:1:11", "a language tag such as de, ja or pt-BR"),
        ("direction: up\n", "words.yaml:1:12", "ltr"),
        ("criteria: {Flunecy: {question: x}}\n", "words.yaml:1", "Flunecy is not a criterion of the schema"),
        (
            "criteria: {Fluency: {question: x, values: {a: b}}}\n",
            "words.yaml:1",
            "a is not a value of Fluency",
        ),
        ("format: harvest-topics/1\n", "words.yaml:1:9", "a topic set"),
        ("- save\n", "words.yaml:1:1", "a mapping"),
    ],
)
def test_a_fault_is_named_with_its_place(tmp_path: Path, text: str, place: str, what: str) -> None:
    with pytest.raises(InputError) as refused:
        load_words(written(tmp_path, text), load_schema("sakai-2023"))
    told = str(refused.value)
    assert place in told
    assert what in told


def test_an_unknown_language_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="Harvest has no page texts in the language 'dee': did you mean 'de'"):
        load_words("dee")
    assert shipped_words() == ("de", "es", "fr", "it", "ja")


def test_the_example_of_the_manual_is_valid(tmp_path: Path) -> None:
    text = (DOCS / "judging.md").read_text(encoding="utf-8")
    block = re.search(r"<!-- words -->\n```yaml\n(.*?)```", text, re.DOTALL)
    assert block is not None
    found = load_words(written(tmp_path, block[1]), load_schema("sakai-2023"))
    assert (found.language, found.direction, len(found.criteria)) == ("ar", "rtl", 1)
