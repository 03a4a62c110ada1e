"""Layers of judgments: every opinion in a file of its own, none ever changed."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recordings.files.errors import RunError
from recordings.judged.gold_layers import gold_entries, gold_judgments, keep_gold, read_gold_layers
from recordings.judged.judgments import Judgment, Layer, read_layers, write_layer
from recordings.secrets.redaction import Redactor
from topics.gold import GoldEntry, GoldTable
from topics.library import load_topics

LAYER = Layer(
    "human",
    "Annotator 1",
    "guideline 3",
    "annotation session",
    "2024-01-01",
    (
        Judgment({"trial": "abc", "attempt": 1, "turn": 2}, "coherence", 0.75, "wanders \ud83d"),
        Judgment({"topic": "M001", "entity": "https://e.example/"}, "gold", {"grade": 2}),
    ),
)


def entry(entity: str, grade: int) -> GoldEntry:
    return GoldEntry("M001", entity, grade, "A title", {"RATINGS": (0, 0, 0, 1.0)}, {"RATINGS": "1.3M"})


def test_a_layer_is_read_back(tmp_path: Path) -> None:
    path = write_layer(tmp_path, LAYER)
    assert re.fullmatch(r"human-annotator-1-[0-9a-f]{16}\.jsonl", path.name)
    assert read_layers(tmp_path) == (LAYER,)
    opening = json.loads(path.read_bytes().split(b"\n")[0])
    assert opening["format"] == "harvest-judgments/1"
    assert {key: opening[key] for key in ("layer", "author", "version")} == {
        "layer": "human",
        "author": "Annotator 1",
        "version": "guideline 3",
    }


def test_the_same_layer_is_one_file_and_a_different_opinion_is_another(tmp_path: Path) -> None:
    first = write_layer(tmp_path, LAYER)
    before = first.read_bytes()
    assert write_layer(tmp_path, LAYER) == first
    write_layer(tmp_path, Layer("human", "Annotator 1", judgments=LAYER.judgments[:1]))
    assert len(read_layers(tmp_path)) == 2
    assert first.read_bytes() == before


def test_secrets_cannot_enter_through_judgments(tmp_path: Path) -> None:
    layer = Layer("model", "judge", judgments=(Judgment({"topic": "x"}, "y", 1, "key is tok_3f9a8b7c6d5e"),))
    path = write_layer(tmp_path, layer, Redactor(["tok_3f9a8b7c6d5e"]))
    assert b"tok_3f9a" not in path.read_bytes()


def test_only_known_kinds_of_layers() -> None:
    with pytest.raises(ValueError, match="gold, human, rule, model"):
        Layer("guess", "x")


def test_gold_is_read_back(tmp_path: Path) -> None:
    entries = (entry("https://a.example/", 2), entry("https://b.example/", 0))
    write_layer(tmp_path, Layer("gold", "x", judgments=gold_judgments(entries)))
    found = gold_entries(read_layers(tmp_path))
    assert found == entries
    assert found[0].raw == {"RATINGS": "1.3M"}


def test_gold_is_kept_if_it_is_new_and_the_newest_counts(tmp_path: Path) -> None:
    days = iter(range(1, 9))

    def clock() -> datetime:
        return datetime(2024, 1, next(days), tzinfo=UTC)

    old, new = (GoldTable([entry("https://a.example/", grade)]) for grade in (1, 2))
    for table, files in ((old, 1), (old, 1), (new, 2), (old, 3), (old, 3), (new, 4)):
        keep_gold(tmp_path, table, source="gold.csv", clock=clock)
        assert len(read_layers(tmp_path)) == files
    assert read_gold_layers([tmp_path]) == new
    keep_gold(tmp_path, GoldTable(), source="empty.csv", clock=clock)
    assert len(read_layers(tmp_path)) == 4


def test_gold_of_several_runs_and_only_for_the_requested_topics(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    keep_gold(
        one, GoldTable([entry("https://a.example/", 1)]), source="a", clock=lambda: datetime(2024, 1, 2, tzinfo=UTC)
    )
    elsewhere = GoldEntry("Z999", "https://z.example/", 1)
    table = GoldTable([entry("https://a.example/", 2), elsewhere])
    keep_gold(two, table, source="b", clock=lambda: datetime(2024, 1, 1, tzinfo=UTC))
    found = read_gold_layers([two, one], load_topics("fairweb-45"))
    assert [(one.topic, one.grade) for one in found] == [("M001", 1)]
    assert len(read_gold_layers([one, two])) == 2


HEAD = b'{"format": "harvest-judgments/1", "layer": "human", "author": "anna"}\n'


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (b"", 1, "the file is empty"),
        (b'{"format": "harvest-judgments/2"}\n', 1, "cannot read format version '2'"),
        (b'{"format": "harvest-judgments/1", "layer": "guess"}\n', 1, "'guess' is not a kind of layer"),
        (b'{"format": "harvest-judgments/1", "layer": "rule"}\n{"value": 1}\n', 2, "a judgment must have"),
        (
            b'{"format": "harvest-judgments/1", "layer": "rule"}\n{"about": {"x": []}, "criterion": "c", "value": 1}\n',
            2,
            "neither text nor a whole number",
        ),
        (b'{"format": "harvest-judgments/1", "layer": "rule"}\n{"about"', 2, "the last line is torn"),
        (b'{"format": "harvest-judgments/1", "layer": "rule", "author": ["x"]}\n', 1, "'author' is not text"),
        (HEAD + b'{"about": {}, "criterion": "c", "value": 1} x\n', 2, "not valid JSON: Extra data"),
        (HEAD + b'{"about": {}, "criterion": "c", "value": NaN}\n', 2, "NaN is not a JSON number"),
        (HEAD + b'{"about": {"trial": "a"}, "criterion": "", "value": 1}\n', 2, "a judgment must have"),
        (HEAD + b'{"about": {"trial": 7}, "criterion": "c", "value": 1}\n', 2, "'trial' in 'about' is '7'"),
        (HEAD + b'{"about": {"turn": "1"}, "criterion": "c", "value": 1}\n', 2, "'turn' in 'about' is '1'"),
        (HEAD + b'{"about": {"turn": 0}, "criterion": "c", "value": 1}\n', 2, "'turn' in 'about' is '0'"),
        (HEAD + b'{"about": {"speaker": "me"}, "criterion": "c", "value": 1}\n', 2, "'speaker' in 'about' is 'me'"),
        (HEAD + b'{"about": {"start": 3}, "criterion": "c", "value": 1}\n', 2, "a span in 'about' is malformed"),
        (HEAD + b'{"about": {"start": 3, "end": 2}, "criterion": "c", "value": 1}\n', 2, "a span in 'about'"),
        (HEAD + b'{"about": {}, "criterion": "c", "value": 1, "note": 7}\n', 2, "'note' is not text"),
        (
            HEAD + 2 * b'{"about": {"turn": 1}, "criterion": "c", "value": 1}\n',
            3,
            "the same thing is already judged by c in line 2",
        ),
        (
            HEAD
            + b'{"about": {"trial": "t", "attempt": 1, "turn": 1}, "criterion": "c", "value": 1}\n'
            + b'{"about": {"trial": "t", "attempt": 1, "turn": 1, "speaker": "system"}, "criterion": "c"'
            + b', "value": 0}\n',
            3,
            "the same thing is already judged by c in line 2",
        ),
    ],
)
def test_a_damaged_layer_is_named_with_its_line(tmp_path: Path, data: bytes, line: int, message: str) -> None:
    path = tmp_path / "judgments" / "rule-x-0.jsonl"
    path.parent.mkdir()
    path.write_bytes(data)
    with pytest.raises(RunError, match=message) as caught:
        read_layers(tmp_path)
    assert str(caught.value).startswith(f"{path}:{line}")
    assert "\n  do: " in str(caught.value)


@pytest.mark.parametrize("change", ["a line is gone", "a value is another", "a line is added"])
def test_a_layer_changed_by_hand_is_refused_and_one_with_another_name_is_accepted(tmp_path: Path, change: str) -> None:
    path = write_layer(tmp_path, LAYER)
    lines = path.read_bytes().splitlines(keepends=True)
    more = b'{"about":{"topic":"M002","entity":"e"},"criterion":"gold","value":{"grade":1}}\n'
    changed = {
        "a line is gone": lines[:2],
        "a value is another": [lines[0], lines[1].replace(b"0.75", b"0.25"), *lines[2:]],
        "a line is added": [*lines, more],
    }[change]
    assert changed != lines
    path.write_bytes(b"".join(changed))
    with pytest.raises(RunError, match="changed after it was written") as caught:
        read_layers(tmp_path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "restore the file" in str(caught.value)
    path.rename(path.with_name("human-anna-mended.jsonl"))
    assert len(read_layers(tmp_path)) == 1


def test_a_layer_that_links_to_itself_is_reported_and_a_copy_of_a_layer_changes_nothing(tmp_path: Path) -> None:
    path = write_layer(tmp_path, LAYER)
    copy = path.with_name("copy of a layer.jsonl")
    copy.write_bytes(path.read_bytes())
    assert read_layers(tmp_path) == (LAYER, LAYER)
    loop = path.with_name("loop.jsonl")
    loop.symlink_to(loop)
    with pytest.raises(RunError, match="cannot be read"):
        read_layers(tmp_path)
