"""JSON that a person gave: every fault says where it stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topics.errors import InputError
from topics.json_file import json_lines, read_json, read_json_text, read_json_value
from topics.json_value import JsonValue

plain = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None)
@given(plain, st.sampled_from([None, 0, 2]), st.booleans())
def test_every_value_is_found_at_its_place(value: object, indent: int | None, raw: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=not raw)
    lines = text.split("\n")

    def check(at: JsonValue) -> None:
        place = at.error("x").place
        assert place is not None
        rest = "\n".join([lines[place.line - 1][place.column - 1 :], *lines[place.line :]])
        assert json.JSONDecoder().raw_decode(rest)[0] == at.value
        if isinstance(at.value, dict):
            for key in at.keys():  # noqa: SIM118
                check(at[key])
        elif isinstance(at.value, list):
            for element in at.elements():
                check(element)

    (top,) = read_json_text(text, "a.json")
    check(top)


def test_a_line_of_a_jsonl_file_keeps_its_number_and_a_line_separator_ends_no_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": "x\u2028y"}\n\n  {"a": 5}\n', encoding="utf-8")
    first, second = read_json(path)
    assert first["a"].text() == "x\u2028y"
    with pytest.raises(InputError, match=r"a\.jsonl:3:9: this must be text, not the number 5"):
        second["a"].text()


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("format: harvest-audit/1\n", "does not begin like JSON"),
        ("", "does not begin like JSON"),
        ('{"a": [1, ', "is truncated"),
        ('{"a": "b', "is truncated"),
        ('{"a": }', "correct it, or write"),
    ],
)
def test_invalid_json_gets_advice(tmp_path: Path, text: str, advice: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(InputError) as refused:
        read_json_value(tmp_path / "a.json")
    assert advice in str(refused.value.advice)


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ('{"a": [1, NaN]}', "2:11", "NaN is not a JSON number"),
        ('{"NaN": "NaN", "b": -Infinity} x', "2:21", "-Infinity is not a JSON number"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "2:24", "the key 'c' appears twice in one object"),
        ('{"a": 1} {"a": 2}', "2:10", "not valid JSON: Extra data"),
        ('{"a": }', "2:7", "not valid JSON: Expecting value"),
    ],
)
def test_a_fault_has_its_line_and_column_or_only_its_line_with_one_value_per_line(
    tmp_path: Path, text: str, place: str, what: str
) -> None:
    (tmp_path / "a.json").write_text(f"\n{text}\n")
    with pytest.raises(InputError) as whole:
        read_json_value(tmp_path / "a.json")
    assert str(whole.value).startswith(f"{tmp_path / 'a.json'}:{place}: ")
    assert what in str(whole.value)
    with pytest.raises(InputError) as of_a_line:
        list(json_lines(f"{{}}\n{text}\n", "a.jsonl"))
    assert str(of_a_line.value).startswith(f"a.jsonl:{place}: ")
