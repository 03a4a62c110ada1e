"""YAML files are read strictly: nothing is guessed, and every fault says where it stands."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Annotated, Literal

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

import topics.document
import topics.yaml_values
from tests.support.checkout import ROOT
from topics.document import StrictModel, parse_document, read_document
from topics.errors import InputError, Place
from topics.text_file import decode


def value_of(text: str) -> object:
    return parse_document(text, "x.yaml").value


def fault(text: str) -> InputError:
    with pytest.raises(InputError) as caught:
        parse_document(text, "x.yaml")
    return caught.value


@pytest.mark.parametrize(
    "written",
    [
        *("no", "No", "NO", "yes", "on", "off", "y", "n", "True", "TRUE", "False", "Null", "NULL"),
        *("12:30", "1:30:15", "2023-09-02", "2023-09-02T10:00:00Z", "2023-09-02 10:00:00"),
        *("0x1F", "0o17", "017", "00", "1_000", "0b11", "1e", ".5", "1.", ".inf", "-.inf", ".nan", "nan"),
        *("1,234", "10K", "1.3M", "=", "1e999", "12345678901234567890"),
    ],
)
def test_text_that_yaml_1_1_would_convert_remains_text(written: str) -> None:
    assert value_of(f"key: {written}") == {"key": written}
    assert value_of(f"- {written}") == (written,)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        *(("true", True), ("false", False), ("null", None), ("~", None), ("", None)),
        *(("0", 0), ("7", 7), ("-3", -3), ("+3", 3), ("100", 100), ("1.5", 1.5), ("-0.25", -0.25), ("1e3", 1000.0)),
        *(("'7'", "7"), ('"true"', "true"), ("'no'", "no"), ("'~'", "~"), ('"2023-09-02"', "2023-09-02")),
    ],
)
def test_only_plain_words_and_decimal_numbers_are_anything_but_text(written: str, meant: object) -> None:
    found = value_of(f"key: {written}")
    assert found == {"key": meant}
    assert isinstance(found, dict)
    assert type(found["key"]) is type(meant)


def test_block_text_keeps_its_lines_and_is_always_text() -> None:
    assert value_of("a: |\n  7\n") == {"a": "7\n"}
    assert value_of("a: >-\n  one\n  two\n") == {"a": "one two"}


def test_keys_are_text_whatever_they_look_like() -> None:
    assert value_of("no: 1\n12: 2\ntrue: 3\n2023-01-01: 4\n") == {"no": 1, "12": 2, "true": 3, "2023-01-01": 4}


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("a: 1\n\tb: 2\n", "indent with spaces"),
        ("a: [1, 2\nb: 3\n", "look for an unclosed bracket or quotation mark"),
        ('a: "\\+44"\n', "put the text in single quotation marks, in which a backslash is a backslash"),
        ("a: 'open\n", "look for an unclosed bracket or quotation mark"),
        ("a: b: c\n", "in quotation marks"),
        ("a: 1\nb: @x\n", "in quotation marks"),
    ],
)
def test_invalid_yaml_gets_advice(text: str, advice: str) -> None:
    assert advice in str(fault(text).advice)


class _Judge(StrictModel):
    format: Literal["harvest-judge/1"]
    criteria: tuple[str, ...]


def test_a_file_of_another_kind_is_named() -> None:
    with pytest.raises(InputError) as refused:
        parse_document("name: mine\nformat: harvest-topics/1\n", "x.yaml").validate_as(_Judge)
    assert str(refused.value) == "x.yaml:2:9: this is a topic set (harvest-topics/1), not a judge (harvest-judge/1)"
    for text, said in (
        ("format: harvest-judge/2\n", "missing key 'criteria'"),
        ("format: x\nname: 1\n", "unknown key"),
    ):
        with pytest.raises(InputError, match=said):
            parse_document(text, "x.yaml").validate_as(_Judge)


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("a: 1\nb: 2\na: 3\n", "x.yaml:3:1", "duplicate key 'a': already defined at line 1, column 1"),
        ("a:\n  - b: 1\n    c: 2\n    b: 3\n", "x.yaml:4:5", "duplicate key 'b'"),
        ("a: {b: 1, b: 2}\n", "x.yaml:1:11", "duplicate key 'b'"),
        ("'12': 1\n12: 2\n", "x.yaml:2:1", "duplicate key '12'"),
        ("a: &x 1\nb: 2\n", "x.yaml:1:4", "anchor &x is not allowed"),
        ("a: 1\nb: *x\n", "x.yaml:2:4", "alias *x is not allowed"),
        ("a: &x [1]\nb: *x\n", "x.yaml:1:4", "anchor &x is not allowed"),
        ("a:\n  <<: {b: 1}\n", "x.yaml:2:3", "the merge key << is not allowed"),
        ("a: !!int '3'\n", "x.yaml:1:4", "tag tag:yaml.org,2002:int is not allowed"),
        ("a: !secret x\n", "x.yaml:1:4", "tag !secret is not allowed"),
        ("a: !!python/object/apply:os.system [ls]\n", "x.yaml:1:4", "is not allowed"),
        ("? [1, 2]\n: 3\n", "x.yaml:1:3", "a key that is a list or mapping is not allowed"),
        ("a: 1\n---\nb: 2\n", "x.yaml:2:1", "a second document is not allowed"),
        ("a: 1\n\tb: 2\n", "x.yaml:2:1", "not valid YAML"),
        ("a: [1, 2\nb: 3\n", "x.yaml:2:2", "not valid YAML"),
        ("a: 'open\n", "x.yaml:2:1", "not valid YAML"),
        ("a: b: c\n", "x.yaml:1:5", "not valid YAML"),
        ("a: 1\nb: @x\n", "x.yaml:2:4", "not valid YAML"),
        ("", "x.yaml:1:1", "the file is empty"),
        ("# nothing\n", "x.yaml:1:1", "the file is empty"),
        ("a: 1\nb: x\x07y\n", "x.yaml:2:5", "character U+0007 is not allowed"),
    ],
)
def test_every_refusal_has_a_place(text: str, place: str, says: str) -> None:
    found = fault(text)
    assert str(found.place) == place
    assert says in found.what


def test_a_small_file_cannot_grow_into_a_large_one() -> None:
    bomb = "a: &a [x, x]\n" + "".join(f"{c}: &{c} [*{p}, *{p}]\n" for p, c in zip("abcdefgh", "bcdefghi"))
    assert "anchor &a" in fault(bomb).what


@pytest.mark.parametrize("text", ["[" * 100_000, "a: " + "{a: " * 50_000, "- " * 20_000 + "x"])
def test_deep_nesting_is_refused_at_once(text: str) -> None:
    begun = time.process_time()
    assert "nested deeper than 60 levels" in fault(text).what
    assert time.process_time() - begun < 5


def test_sixty_levels_are_fine() -> None:
    assert value_of("[" * 60 + "]" * 60) is not None


@pytest.mark.parametrize(
    ("data", "place", "says"),
    [
        (b"a: 1\nb: caf\xe9\n", ":2:7", "byte 0xe9 is not UTF-8"),
        (b"\xef\xbb\xbfa: \xff\n", ":1:4", "byte 0xff is not UTF-8"),
        ("a: ü\nb: ".encode() + b"\xc3", ":2:4", "byte 0xc3 is not UTF-8"),
        ("a: ß\n".encode("utf-16"), ":1:", "a NUL byte"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", ":3:1", "a NUL byte"),
        (b"a: 1\n" + b"x" * 9000 + b"\0", ":2:9001", "a NUL byte"),
    ],
)
def test_bytes_that_are_not_text_are_named_with_their_place(tmp_path: Path, data: bytes, place: str, says: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"not UTF-8|binary") as caught:
        read_document(path)
    assert says in caught.value.what
    assert str(caught.value.place).removeprefix(str(path)).startswith(place)


def test_a_byte_order_mark_and_windows_line_ends_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\r\nb: two\r\n")
    document = read_document(path)
    assert document.value == {"a": 1, "b": "two"}
    assert str(document.place(("b",))) == f"{path}:2:4"


def test_a_file_that_cannot_be_read_is_one_clear_message(tmp_path: Path) -> None:
    for path, says in ((tmp_path / "none.yaml", "no such file"), (tmp_path, "a folder"), (Path("a\0b"), "not a path")):
        with pytest.raises(InputError, match=says):
            read_document(path)
    with pytest.raises(InputError, match="this is a device, not a file"):
        read_document("/dev/zero")
    with (tmp_path / "large.yaml").open("wb") as file:
        file.truncate(17 * 2**20)
    with pytest.raises(InputError, match="larger than 16 MiB"):
        read_document(tmp_path / "large.yaml")
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(InputError, match="this is a pipe, not a file"):
        read_document(tmp_path / "pipe.yaml")


def test_a_missing_file_says_where_relative_paths_start() -> None:
    with pytest.raises(InputError, match=f"relative paths start at {re.escape(str(Path.cwd()))}"):
        read_document("none/here.yaml")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('a: 1\nb: "\\U00110000"', "t.yaml:2:"),
        ('b: "\\UFFFFFFFF"', "t.yaml:1:"),
        ('b: "\\ud800"', "t.yaml:1:4"),
        ('a: 1\n"\\ud800": 2', "t.yaml:2:1"),
    ],
)
def test_an_escape_that_is_not_a_character_is_refused_at_its_place(text: str, place: str) -> None:
    with pytest.raises(InputError, match=re.escape(place)):
        parse_document(text, "t.yaml")


class Leaf(StrictModel):
    id: str
    count: int = 0
    share: float = 0.5
    kind: Literal["ordinal", "nominal"] = "ordinal"


class Tree(StrictModel):
    name: str
    either: str | Leaf | None = None
    on: bool = False
    leaves: tuple[Leaf, ...] = ()
    words: dict[str, str] = {}  # noqa: RUF012 pydantic copies it


def tree_fault(text: str) -> InputError:
    with pytest.raises(InputError) as caught:
        parse_document(text, "x.yaml").validate_as(Tree)
    return caught.value


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ("name: a\nleafs: []\n", "x.yaml:2:1", "unknown key 'leafs': did you mean 'leaves'?"),
        ("name: a\nleaves:\n  - id: x\n    cuont: 3\n", "x.yaml:4:5", "unknown key 'cuont': did you mean 'count'?"),
        ("on: true\n", "x.yaml:1:1", "missing key 'name'"),
        ("name: a\nleaves:\n  - count: 1\n", "x.yaml:3:5", "missing key 'id' in leaves.0"),
        ("name: 12\n", "x.yaml:1:7", "name: must be text (here: 12)"),
        ("name: true\n", "x.yaml:1:7", "name: must be text (here: true)"),
        ("name:\n", "x.yaml:1:6", "name: must be text (here: nothing)"),
        ("name: a\non: yes\n", "x.yaml:2:5", "on: must be true or false (here: 'yes')"),
        ("name: a\non: 1\n", "x.yaml:2:5", "on: must be true or false (here: 1)"),
        ("name: a\nleaves: {id: x}\n", "x.yaml:2:9", "leaves: must be a list"),
        ("name: a\nleaves: [x]\n", "x.yaml:2:10", "leaves: must be a mapping (key: value) (here: 'x')"),
        ("name: a\nleaves: [{id: x, count: 1.5}]\n", "x.yaml:2:25", "count: must be a whole number (here: 1.5)"),
        ("name: a\nleaves: [{id: x, count: '1'}]\n", "x.yaml:2:25", "count: must be a whole number (here: '1')"),
        ("name: a\nleaves: [{id: x, share: half}]\n", "x.yaml:2:25", "share: must be a number (here: 'half')"),
        ("name: a\nwords: {b: 3}\n", "x.yaml:2:12", "b: must be text (here: 3)"),
        ("name: a\neither: 3\n", "x.yaml:2:9", "either: must be text or a mapping (key: value) (here: 3)"),
        ("name: a\neither: {id: 3}\n", "x.yaml:2:14", "id: must be text (here: 3)"),
        ("name: a\neither: {count: 3}\n", "x.yaml:2:9", "missing key 'id' in either"),
        ("- a\n", "x.yaml:1:1", "must be a mapping (key: value)"),
        ("just words\n", "x.yaml:1:1", "must be a mapping (key: value) (here: 'just words')"),
    ],
)
def test_a_value_of_the_wrong_kind_is_pointed_at(text: str, place: str, what: str) -> None:
    found = tree_fault(text)
    assert (str(found.place), found.what) == (place, what)


@pytest.mark.parametrize(
    ("written", "advice"),
    [
        (".5", "write 0.5"),
        ("-.5", "write -0.5"),
        ("2.", "write 2"),
        ("'0.5'", "write it without quotation marks: 0.5"),
        (".nan", "write digits: infinity and not-a-number are not allowed here"),
        ("-.inf", "write digits: infinity and not-a-number are not allowed here"),
        ("half", None),
    ],
)
def test_a_number_that_is_not_read_as_one_is_refused_with_the_right_notation(written: str, advice: str | None) -> None:
    found = tree_fault(f"name: a\nleaves: [{{id: x, share: {written}}}]\n")
    assert found.what.startswith("share: must be a number")
    assert found.advice == advice


def test_an_unknown_word_lists_the_known_ones() -> None:
    found = tree_fault("name: a\nleaves:\n  - {id: x, kind: cardinal}\n")
    assert str(found).splitlines() == [
        "x.yaml:3:19: kind: is not one of the words allowed here (here: 'cardinal'): did you mean 'ordinal'?",
        "  allowed: 'ordinal' or 'nominal'",
    ]


def test_a_number_where_text_belongs_gets_advice_about_quotation_marks() -> None:
    assert tree_fault("name: 12\n").advice == 'put it in quotation marks, as it should read: "12"'


def test_the_first_fault_in_the_file_is_reported_first() -> None:
    assert str(tree_fault("on: 1\nleaves:\n  - id: 3\nname: 4\n").place) == "x.yaml:1:5"
    assert str(tree_fault("leaves:\n  - id: 3\nname: 4\non: 1\n").place) == "x.yaml:2:9"


def test_a_misspelt_key_is_reported_before_its_consequences() -> None:
    found = tree_fault("leaves:\n  - id: 3\nnaem: b\n")
    assert (str(found.place), found.what) == ("x.yaml:3:1", "unknown key 'naem': did you mean 'name'?")


def test_very_long_values_are_cut_in_messages() -> None:
    assert len(str(tree_fault(f"name: a\non: {'x' * 5000}\n"))) < 200


def test_a_part_of_a_document_still_knows_its_place() -> None:
    part = parse_document("a: 1\nb:\n  c: x\n", "x.yaml").part(("b",))
    assert part.value == {"c": "x"}
    assert str(part.place(("c",))) == "x.yaml:3:6"


def place_of_fault(data: bytes) -> Place | None:
    """Where the fault in a file of these bytes is said to stand; None where there is no fault."""
    try:
        parse_document(decode(data, "x.yaml", "YAML text"), "x.yaml")
    except InputError as found:
        return found.place or Place("nowhere", -1)
    return None


@given(st.text(max_size=60))
def test_any_text_gives_a_value_or_one_input_error(text: str) -> None:
    place = place_of_fault(text.encode("utf-8", "surrogatepass"))
    assert place is None or place.line >= 1


@given(st.binary(max_size=80))
def test_any_bytes_give_a_value_or_one_input_error(data: bytes) -> None:
    place = place_of_fault(data)
    assert place is None or place.line >= 1


class _Bounded(StrictModel):
    share: Annotated[float, Field(ge=0, le=1)] = 0.5
    weight: Annotated[float, Field(gt=0, lt=2.5, allow_inf_nan=False)] = 1.0
    name: Annotated[str, Field(min_length=1, max_length=4)] = "a"
    long: Annotated[str, Field(min_length=3)] = "abc"
    parts: Annotated[tuple[str, ...], Field(min_length=1, max_length=2)] = ("a",)
    facts: Annotated[dict[str, str], Field(min_length=1)] = Field(default_factory=lambda: {"a": "b"})
    shares: Annotated[tuple[Annotated[float, Field(le=1)], ...], Field(min_length=1)] = (0.5,)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("share: 2", "x.yaml:1:8: share: must be at most 1 (here: 2)"),
        ("share: -0.5", "x.yaml:1:8: share: must be at least 0 (here: -0.5)"),
        ("weight: 0", "x.yaml:1:9: weight: must be above 0 (here: 0)"),
        ("weight: 3", "x.yaml:1:9: weight: must be below 2.5 (here: 3)"),
        ("name: ''", "x.yaml:1:7: name: must not be empty (here: '')"),
        ("name: abcde", "x.yaml:1:7: name: takes at most 4 characters (here: 'abcde')"),
        ("long: a", "x.yaml:1:7: long: needs at least 3 characters (here: 'a')"),
        ("parts: []", "x.yaml:1:8: parts: needs at least 1 entry, and has 0"),
        ("parts: [a, b, c]", "x.yaml:1:8: parts: takes at most 2 entries, and has 3"),
        ("facts: {}", "x.yaml:1:8: facts: needs at least 1 entry, and has 0"),
        # The entry at fault, and not that pydantic has taken it out of its list.
        ("shares: [3]", "x.yaml:1:10: shares: must be at most 1 (here: 3)"),
    ],
)
def test_limits_are_reported_in_our_words(text: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_document(text, "x.yaml").validate_as(_Bounded)
    assert str(caught.value) == told


def test_no_message_of_pydantic_about_limits_reaches_a_person() -> None:
    for text in ("share: 2", "weight: 0", "name: abcde", "parts: []", "facts: {}"):
        with pytest.raises(InputError) as caught:
            parse_document(text, "x.yaml").validate_as(_Bounded)
        for word in ("input", "should", "validation", "tuple", "dictionary", "greater", "String"):
            assert word not in str(caught.value)


_SHIPPED = sorted(
    file
    for part in ("topics", "protocols", "harvest/audits", "harvest/studies", "scoring/swan")
    for file in (ROOT / part).rglob("*.yaml")
)


@pytest.mark.parametrize("file", _SHIPPED, ids=lambda file: file.stem)
def test_a_file_is_read_equally_with_and_without_libyaml(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = file.read_text(encoding="utf-8")
    quick = parse_document(text, "a.yaml")
    monkeypatch.setattr(yaml, "__with_libyaml__", False)
    assert parse_document(text, "a.yaml") == quick


@pytest.mark.parametrize(
    "text", ["a: [1, 2\nb: 3\n", "a: *b\n", "a: &b 1\n", "a: !x 1\n", "a: 1\n---\nb: 2\n", "a: 1\na: 2\n", 'a: "\\q"\n']
)
def test_a_fault_is_reported_equally_with_and_without_libyaml(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = []
    for quick in (True, False):
        monkeypatch.setattr(yaml, "__with_libyaml__", quick)
        with pytest.raises(InputError) as fault:
            parse_document(text, "a.yaml")
        told.append(str(fault.value))
    assert told[0] == told[1]


@pytest.mark.parametrize("digits", ["9" * 19, "-" + "9" * 30, "1" + "0" * 5000])
def test_a_number_beyond_64_bits_is_refused_with_the_allowed_length(digits: str) -> None:
    with pytest.raises(InputError, match=r"count: must be a whole number") as caught:
        parse_document(f"name: a\nleaves: [{{id: x, count: {digits}}}]\n", "x.yaml").validate_as(Tree)
    assert caught.value.advice == "write a number of at most 18 digits, without quotation marks"
    assert len(str(caught.value)) < 300


def test_a_text_is_read_by_libyaml_and_only_its_faults_by_pyyaml(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyYAML takes ten times as long: minutes for 150,000 topics."""

    def never(*_: object, **__: object) -> None:
        raise AssertionError("the slow reader was asked")

    monkeypatch.setattr(yaml, "SafeLoader", never)
    value = topics.document.parse_document("items:\n" + "- one line of a list\n" * 5_000, "long.yaml").value
    assert value == {"items": ("one line of a list",) * 5_000}
    with pytest.raises(AssertionError, match="slow reader"):
        topics.document.parse_document("items: [one", "short.yaml")


@given(
    st.one_of(
        st.text("ab:-#&*!|>'\"[]{},?\n\t \u00e4\xa0\x85", max_size=60),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=8),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
            max_leaves=8,
        ).map(lambda value: "# made\n\n" + yaml.safe_dump(value, allow_unicode=True)),
    )
)
def test_a_large_text_has_the_values_the_faults_and_the_places_of_a_small_one(text: str) -> None:
    def read(largest: int) -> object:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(topics.yaml_values, "_LARGE", largest)
            try:
                found = parse_document(text, "f")
            except InputError as fault:
                return fault.what, fault.place, fault.advice
            return repr(found.value), dict(found.marks), dict(found.key_marks)

    assert read(0) == read(2**60)


def test_the_places_in_a_large_text_are_computed_only_for_a_fault() -> None:
    text = "a:\n" + "".join(f"  - {{n: {number}, x: yes}}\n" for number in range(8000))
    document = parse_document(text, "f")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(topics.yaml_values, "_read_with_places", None)
        assert len(document.value["a"]) == 8000  # type: ignore[index]
    assert document.place(("a", 7000, "x"), key=True) == Place("f", 7002, 15)
    assert document.place(("a", 9000)) == Place("f", 2, 3)
