"""A list of records of which some are not JSON: the others are read, where they are, and each bad one is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recordings.formats.message_shapes import is_conversation
from recordings.formats.messages import Messages, read_messages
from topics.errors import InputError
from topics.mended_json import mend_records

COUNT = 6


def record(number: int, **more: object) -> dict[str, Any]:
    messages = [{"role": "user", "content": f"q{number}, [x] {{y}}"}, {"role": "assistant", "content": "a\\"}]
    return {**more, "messages": messages}


STYLES: dict[str, Callable[[list[Any]], str]] = {
    "a record a line": lambda rows: "[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n",
    "commas first": lambda rows: "[" + "\n,".join(map(json.dumps, rows)) + "]",
    "one line": json.dumps,
    "no blanks": lambda rows: json.dumps(rows, separators=(",", ":")),
    "indented": lambda rows: json.dumps(rows, indent=1),
    "indented by tabs": lambda rows: json.dumps(rows, indent="\t"),
    "not indented": lambda rows: json.dumps(rows, indent=0),
    "in an object": lambda rows: json.dumps({"version": 2, "data": {"rows": rows, "by": "m"}}, indent=2),
    "in an object on one line": lambda rows: json.dumps({"conversations": rows}),
    "CRLF": lambda rows: json.dumps(rows, indent=2).replace("\n", "\r\n"),
}
DAMAGE: dict[str, Callable[[str], str]] = {  # of the text of one record, in which @ is in a text of the user
    "a quotation mark": lambda text: text.replace("@", 'un"quoted'),
    "two quotation marks": lambda text: text.replace("@", 'he said "no" to me'),
    "a backslash": lambda text: text.replace("@", "C:\\data"),
    "a line end in a text": lambda text: text.replace("@", "two\nlines"),
    "NaN": lambda text: text.replace('"@"', "NaN"),
    "no value": lambda text: text.replace('"@"', ""),
    "a bare word": lambda text: text.replace('"@"', "None"),
    "a key twice": lambda text: text.replace('"@"', '"x", "role": "user"'),
    "a bracket too many": lambda text: text.replace('"@"', '"x"}'),
    "a bracket too few": lambda text: text.replace('"@"', '"x", "more": ['),
    "a comma missing": lambda text: text.replace('"@"', '"x" "more": 1'),
}


def read(folder: Path, text: str, **options: Any) -> Messages:
    (folder / "x.json").write_bytes(text.encode())
    return read_messages(folder / "x.json", topic="t", strict=False, **options)


def asked(found: Messages) -> list[str]:
    return [one.turns[0].said for one in found.conversations]


def damaged(style: str, how: str, bad: tuple[int, ...], **more: object) -> str:
    rows = [record(number, **more) for number in range(COUNT)]
    for number in bad:
        rows[number]["messages"][0]["content"] = "@"
    pieces = STYLES[style](rows).split('"@"')
    return "".join(piece + DAMAGE[how]('"@"') * (i < len(pieces) - 1) for i, piece in enumerate(pieces))


@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.parametrize("style", STYLES)
def test_bad_records_of_a_list_are_left_out_and_all_others_read(tmp_path: Path, style: str, how: str) -> None:
    whole = [one["messages"][0]["content"] for one in map(record, range(COUNT))]
    for bad in [(0,), (3,), (COUNT - 1,), (0, 2), (1, 4)]:
        text = damaged(style, how, bad)
        found = read(tmp_path, text)
        assert asked(found) == [words for number, words in enumerate(whole) if number not in bad], (bad, text)
        assert len(found.left_out) == len(bad)
        for fault, number in zip(found.left_out, bad, strict=True):
            assert fault.place
            line = STYLES[style]([record(n) for n in range(number)] + [{"@": 1}]).split("@")[0].count("\n") + 1
            assert line <= fault.place.line + 4
            assert fault.place.column
            assert fault.advice


@pytest.mark.parametrize("how", ["a quotation mark", "NaN", "a bracket too few"])
@pytest.mark.parametrize("style", ["a record a line", "indented", "CRLF", "commas first"])
def test_several_bad_records_in_a_row_are_counted_each(tmp_path: Path, style: str, how: str) -> None:
    for bad in combinations(range(COUNT), 3):
        found = read(tmp_path, damaged(style, how, bad, id="r"))
        assert (len(found.conversations), len(found.left_out)) == (COUNT - 3, 3), bad


ROWS = [json.dumps(record(number)) for number in range(4)]


@pytest.mark.parametrize(
    ("text", "bad"),
    [
        ("[\n" + ",\n".join(ROWS) + ",\n]", 0),
        ("[\n" + "\n".join(ROWS) + "\n]", 0),
        (f"[{ROWS[0]} {ROWS[1]}, {ROWS[2]}{ROWS[3]}]", 0),
        (",\n".join(ROWS), 0),
        (",\r\n".join(ROWS) + ",\r\n", 0),
        ("[\n" + ",\n".join([ROWS[0], "oops", *ROWS[1:]]) + "\n]", 1),
        ("[\n// first\n" + ",\n".join(ROWS) + "\n]", 1),
        (f"[{ROWS[0]}, oops, {ROWS[1]}, 'x', {ROWS[2]}, {ROWS[3]}]", 2),
    ],
)
def test_complete_records_are_read_whatever_is_between_them(tmp_path: Path, text: str, bad: int) -> None:
    found = read(tmp_path, text)
    assert (len(found.conversations), len(found.left_out)) == (4, bad)


@pytest.mark.parametrize("style", STYLES)
def test_a_truncated_list_gives_its_complete_records_and_names_the_cut(tmp_path: Path, style: str) -> None:
    text = STYLES[style]([record(number) for number in range(COUNT)])
    last = text.rindex("]", 0, text.rindex("]"))  # of the messages of the last record
    for at in range(text.index("q2,"), last, 7):
        found = read(tmp_path, text[:at])
        whole = sum(f"q{number}," in text[:at] for number in range(COUNT))
        assert len(found.conversations) in (whole - 1, whole), text[:at][-40:]
        (fault,) = found.left_out
        assert "is truncated" in str(fault) or "correct" in str(fault)
        with pytest.raises(InputError):
            read_messages(tmp_path / "x.json", topic="t")


@pytest.mark.parametrize(
    "text",
    [
        '{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": NaN}]}',
        '[\n{"role": "user", "content": "a"},\n{"role": "assistant", "content": "x"y"},\n{"from": "human"}]',
        json.dumps(record(1), indent=1).replace("q1", 'q"1'),
        json.dumps(record(1), indent=1)[:-20],
    ],
)
def test_no_conversation_loses_a_message(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="not valid JSON"):
        read(tmp_path, text)


def test_a_line_that_is_a_list_loses_only_its_bad_records(tmp_path: Path) -> None:
    lines = [damaged("one line", "NaN", (2,)), STYLES["one line"]([record(9)]), damaged("no blanks", "NaN", (0, 5))]
    found = read(tmp_path, "\n".join(lines))
    assert (len(found.conversations), [str(fault).split(":")[1] for fault in found.left_out]) == (
        2 * COUNT - 2,
        ["1", "3", "3"],
    )


def test_a_nan_in_one_value_over_several_lines_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"x\.json:6:13: not valid JSON: NaN is not a JSON number"):
        read(
            tmp_path,
            json.dumps({"messages": [{"role": "user", "content": 7}]}, indent=2)
            .replace("7", "NaN")
            .replace('"content": NaN', '"x": 1,\n "content": NaN'),
        )


@settings(max_examples=1000, deadline=None)
@given(st.sampled_from(sorted(STYLES)), st.sampled_from(["", '"', "\\", "]", "}", "[", "{", ",", "\n", "x"]), st.data())
def test_no_damage_of_one_character_changes_another_record(style: str, put: str, data: st.DataObject) -> None:
    records = [record(one) for one in range(COUNT)]
    text = STYLES[style](records)
    at = data.draw(st.integers(0, len(text) - 1))
    found = mend_records(text[:at] + put + text[at + 1 :], "x.json", 1, is_conversation)
    if found is not None:
        value: Any = json.loads(found[0])
        while isinstance(value, dict):
            value = value.get("data") or value.get("rows") or value.get("conversations")
        kept = [one for one in value if is_conversation(one)]
        assert len(kept) <= COUNT
        assert sum(one not in records for one in kept) <= 1  # the one that was changed, if it is still JSON


def test_many_bad_records_of_a_large_list_take_no_time(tmp_path: Path) -> None:
    rows = [json.dumps(record(number)) for number in range(20_000)]
    rows[::4] = [row.replace('"user"', 'u"ser') for row in rows[::4]]
    began = perf_counter()
    found = mend_records("[\n" + ",\n".join(rows) + "\n]", "x.json", 1, is_conversation)
    assert found
    assert len(found[1]) == 5_000
    assert perf_counter() - began < 20


@pytest.mark.parametrize("text", ['{"rows":' * 30_000, '[{"a":' * 20_000, '{"a":1,"b":[' * 20_000 + "{}]"])
def test_values_nested_at_the_limit_of_python_are_not_repaired(tmp_path: Path, text: str) -> None:
    assert mend_records(text, "file.json", 1, is_conversation) is None
    with pytest.raises(InputError, match=r"x\.json:1: .* nested too deeply"):
        read(tmp_path, text)


BOM = "\ufeff"


@pytest.mark.parametrize(
    "text",
    [
        f"{BOM}{{0}}\n{BOM}{{1}}\n{{2}}\n",
        f"{{0}}\n{BOM}{{1}}{BOM}{{2}}",
        f"{{0}}{BOM}{{1}}\n{BOM}\n{{2}}",
        f"[{{0}},{{1}}]\n{BOM}[{{2}}]",
    ],
)
def test_concatenated_files_may_each_begin_with_a_byte_order_mark(tmp_path: Path, text: str) -> None:
    for number in range(3):
        text = text.replace(f"{{{number}}}", json.dumps(record(number)))
    found = read(tmp_path, text)
    assert (len(found.conversations), found.left_out) == (3, ())


def test_a_byte_order_mark_in_a_text_is_kept(tmp_path: Path) -> None:
    row = json.dumps(
        {"messages": [{"role": "user", "content": f"}}{BOM}{{"}, {"role": "assistant", "content": BOM}]},
        ensure_ascii=False,
    )
    found = read(tmp_path, f"{row}\n{BOM}{row}\n")
    assert asked(found) == [f"}}{BOM}{{"] * 2
