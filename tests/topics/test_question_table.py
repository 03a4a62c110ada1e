"""Tables of questions become topic sets."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from topics.csv_rows import csv_line
from topics.errors import InputError
from topics.library import load_topics
from topics.topic import TopicSet
from topics.topic_file import decode_topics, encode_topics


def read(folder: Path, text: str, name: str = "questions.csv") -> TopicSet:
    file = folder / name
    file.write_bytes(text.encode())
    return load_topics(file)


def test_a_row_is_a_topic_and_other_columns_are_its_texts(tmp_path: Path) -> None:
    topics = read(tmp_path, "id,question,type,party\nQ1,Who may vote?,rights,\nQ2,What does it want?,party,Greens\n")
    first, second = topics.topics
    assert (topics.name, first.id, first.request, first.type.name) == ("questions", "Q1", "Who may vote?", "rights")
    assert (dict(first.fields), dict(second.fields)) == ({}, {"party": "Greens"})
    assert not first.translations


@pytest.mark.parametrize(
    "table",
    [
        "id,question:en,question:de\nQ1,Who?,Wer?\n",
        "id;language;question\nQ1;en;Who?\nQ1;de;Wer?\n",
        'id\tlang\tprompt\nQ1\ten\tWho?\nQ1\tde\t"Wer?"\n',
    ],
)
def test_translations_are_columns_or_rows(tmp_path: Path, table: str) -> None:
    (topic,) = read(tmp_path, table, "a b.csv").topics
    assert topic.request == "Who?"
    assert {language: dict(texts) for language, texts in topic.translations.items()} == {
        "en": {"question": "Who?"},
        "de": {"question": "Wer?"},
    }


def test_a_set_with_translations_is_kept_in_a_run(tmp_path: Path) -> None:
    topics = read(tmp_path, "id,question,question:de,party,party:de\nQ1,Who?,Wer?,Greens,Die Grünen\n")
    assert decode_topics(encode_topics(topics)) == topics
    assert topics["Q1"].translations["de"]["party"] == "Die Grünen"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("", "1:1: the table has no column 'id'"),
        ("id,text\nQ1,Who?\n", "1:1: the table has no column 'question'"),
        ("id,question\nQ1,\n", "2:4: the question 'Q1' has no words"),
        ("id,question\n,Who?\n", "2:1: the row has no id"),
        ("id,question\nQ1,Who?\nQ1,What?\n", "3:1: the id 'Q1' is already that of line 2"),
        ("id,question\nQ 1,Who?\n", "2:1: id: has characters that are not allowed here"),
        ("id,question,question:deutsch!\nQ1,Who?,Wer?\n", "1:13: the column 'question:deutsch!' has no language"),
        ("id,question,prompt\nQ1,Who?,Wer?\n", "1:13: the columns 'question' and 'prompt' hold the same"),
        ("id,question,question:DE,question:de\nQ1,Who?,Wer?,Wer?\n", "1:25: the columns 'question:DE' and"),
        ("id,question,type\nQ1,Who?,a\nQ2,What?,Type B\n", "3:10: Type B: has characters that are not allowed"),
        ("id,question,type:de\nQ1,Who?,Wer?\n", "1:13: the column 'type' is the same in all languages"),
        ("id,question,party:de\nQ1,Who?,Wer?\n", "1:13: there is no column 'party' that 'party:de'"),
        ("id,language,question\nQ1,en,Who?\nQ1,en,Who\n", "3:7: the question of 'Q1' in 'en' occurs twice"),
        ("id,language,question\nQ1,,Who?\n", "2:4: the row has no language"),
        ("id,question\nQ1,Who?,more\n", "2:9: the row has more cells than the 2 columns"),
        ('id,question\nQ1,"Who?\n', "2:4: a quotation mark is never closed"),
    ],
)
def test_a_fault_has_its_place(tmp_path: Path, table: str, message: str) -> None:
    with pytest.raises(InputError) as fault:
        read(tmp_path, table)
    assert f"questions.csv:{message}" in str(fault.value)


words = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp", "Cf")), min_size=1, max_size=30).filter(
    lambda text: any(map(str.isalnum, text)) and not text.startswith("sep=")
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(words, words), min_size=1, max_size=4), st.sampled_from(",;\t"))
def test_any_words_are_read_as_they_were_written(tmp_path: Path, rows: list[tuple[str, str]], separator: str) -> None:
    lines = [csv_line(("id", "question", "question:de"), separator)]
    lines += [csv_line((f"Q{n}", *row), separator) for n, row in enumerate(rows)]
    topics = read(tmp_path, "".join(lines)).topics
    found = [(topic.request, topic.translations["de"]["question"]) for topic in topics]
    assert found == [(one.strip(), other.strip()) for one, other in rows]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.binary(max_size=60), st.integers(0, 60))
def test_a_damaged_table_is_a_message(tmp_path: Path, noise: bytes, at: int) -> None:
    whole = b'id,question,question:de\nQ1,"Who may, or not?",Wer?\nQ2,What?,Was?\n'
    file = tmp_path / "questions.csv"
    file.write_bytes(whole[:at] + noise + whole[at + len(noise) :])
    with suppress(InputError):
        load_topics(file)
