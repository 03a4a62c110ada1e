"""A damaged line costs the attempts it may have belonged to, and nothing else."""

from __future__ import annotations

import json
import re
import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.cli import main
from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.scorecard import score_material
from protocols.answer import Answer
from protocols.route import Route
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, TrialKey
from recordings.events.event_lines import FORMAT, encode
from recordings.events.events import Answered, Asked, Event, Routed, TrialEnded, TrialStarted
from recordings.files.errors import RunError
from recordings.files.json_text import encode_document
from recordings.files.json_text import encode_line as line_of
from recordings.log.run_folder import Run, read
from recordings.log.store import RunWriter
from recordings.merging.merge import merge
from tests.recordings.log.test_store import header
from topics.identity import content_hash

Name = tuple[str, int]
TRIALS = 5


def identity(trial: int) -> str:
    """As `trial_identity` makes it of the content that the header has hashes of."""
    return content_hash("trial", {"protocol": "p", "topic": "m", "system": "b", "trial": trial})


def events(trial: int, turns: int, *, ended: bool) -> list[Event]:
    name = (identity(trial), 1)
    found: list[Event] = [TrialStarted(name[0], TrialKey("B", "M001", trial), 1, at="2024-01-01")]
    for turn in range(1, turns + 1):
        found.append(Asked(*name, turn, "ask", f"Question {turn} \U0001f600"))
        found.append(Answered(*name, turn, SystemTurn(Answer("Sure.\u2028Two: half \ud83d"))))
        found.append(
            Routed(*name, Route(turn, "ask", "o", "rule", "1", (), "ask" if turn < turns else "stop:completed"))
        )
    return [*found, TrialEnded(*name, Outcome("completed"))] if ended else found


def record(run: Path, order: Sequence[int]) -> list[Name | None]:
    """Trials whose lines stand in one file in `order`; whose each line is."""
    left = {trial: events(trial, 1 + trial % 2, ended=trial != TRIALS) for trial in range(1, TRIALS + 1)}
    written = [left[trial].pop(0) for trial in order if left[trial]]
    written += [event for rest in left.values() for event in rest]

    run.mkdir(parents=True)
    opening: dict[str, object] = {"event": "opened", "format": FORMAT, "worker": "000001"}
    rows = [opening, *map(encode, written)]
    (run / "trials-000001.jsonl").write_bytes(b"".join(map(line_of, rows)))
    (run / "run.json").write_bytes(encode_document(header(protocol={"name": "p"}).as_json()))
    return [None, *((event.trial_id, event.attempt) for event in written)]


def touched(owners: Sequence[Name | None], hit: Sequence[int]) -> set[Name]:
    """Whose lines were hit, and what was under way there."""
    found: set[Name] = set()
    for name in {name for name in owners if name}:
        lines = [i for i, owner in enumerate(owners) if owner == name]
        if any(lines[0] <= i <= lines[-1] or (i > lines[-1] and name == (identity(TRIALS), 1)) for i in hit):
            found.add(name)
    return found


def by_name(run: Run) -> dict[Name, Conversation]:
    return {(one.trial_id, one.attempt): one for one in run.conversations}


GARBAGE = st.one_of(
    st.binary(max_size=30), st.sampled_from([b"", b"\0" * 50, b"[]", b"{}", b"\xff", b'{"event":"turn"}'])
)


@given(
    order=st.lists(st.integers(1, TRIALS), max_size=40),
    line=st.integers(0, 10**6),
    how=st.sampled_from(["garbage", "half", "twice", "gone", "run on", "moved"]),
    garbage=GARBAGE,
    cut=st.integers(0, 10**6),
)
def test_every_attempt_untouched_by_damage_is_unchanged(
    order: list[int], line: int, how: str, garbage: bytes, cut: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        whole, damaged, saved = (Path(folder) / name for name in ("whole", "damaged", "saved"))
        owners = record(whole, order)
        record(damaged, order)
        before = by_name(read(whole))
        file = damaged / "trials-000001.jsonl"
        lines = file.read_bytes().splitlines(keepends=True)
        # bytes.splitlines cuts at \r too, which no line of ours holds
        assert len(lines) == len(owners)
        i = line % len(lines)
        hit = [i]
        match how:
            case "garbage":
                lines[i] = garbage.replace(b"\n", b" ") + b"\n"
            case "half":
                lines[i] = lines[i][: cut % len(lines[i])] + b"\n"
            case "twice":
                lines.insert(i, lines[i])
            case "gone":
                del lines[i]
            case "run on":
                lines[i] = lines[i][: 1 + cut % (len(lines[i]) - 1)]
                hit.append(i + 1)
            case "moved":
                lines.append(lines.pop(i))
        file.write_bytes(b"".join(lines))
        spared = before.keys() - touched(owners, hit)
        if how == "moved":
            spared.discard((identity(TRIALS), 1))

        done = merge([damaged], saved, salvage=True)
        after = by_name(read(saved))

        assert {name: after.get(name) for name in spared} == {name: before[name] for name in spared}
        changed = [one for name, one in after.items() if one != before.get(name)]
        assert not any(one.valid for one in changed), "no conversation that could be scored is another one"
        if changed and how != "gone":  # the last line of an interrupted attempt is gone without a trace
            assert done.damage
        if done.damage:
            assert [kept.read_bytes() for kept in (saved / "damaged").glob("*.jsonl")] == [file.read_bytes()]
        RunWriter.resume(saved)._lock.release()
        read(saved)


def spoil(file: Path, number: int, data: bytes) -> None:
    lines = file.read_bytes().split(b"\n")
    lines[number - 1] = data
    file.write_bytes(b"\n".join(lines))


def test_the_report_names_each_attempt_and_the_damaged_file_is_kept(tmp_path: Path) -> None:
    record(tmp_path / "run", [1] * 8 + [2] * 3 + [3] + [2] * 2)
    file = tmp_path / "run" / "trials-000001.jsonl"
    spoil(file, 13, b"%%")
    done = merge([tmp_path / "run"], tmp_path / "saved", salvage=True)
    assert done.damage == (
        f"{file}:13:1: not valid JSON: Expecting value",
        f"{file}:13: B, M001, trial 2, attempt 1 is cut here and counts as interrupted, 2 later lines left out",
        f"{file}:16: attempt 1 at trial {identity(3)} is left out: no first line here can be trusted "
        "(7 lines, the last at 22)",
    )
    told = next((tmp_path / "saved" / "damaged").glob("trials-000001-*.txt")).read_text()
    assert told.splitlines() == list(done.damage)
    again = merge([tmp_path / "saved", tmp_path / "saved"], tmp_path / "again")
    assert again.conflicts == ()
    assert {kept.name for kept in (tmp_path / "again" / "damaged").iterdir()} == {
        kept.name for kept in (tmp_path / "saved" / "damaged").iterdir()
    }


@pytest.mark.parametrize("odd", [{"attempt": {}}, {"attempt": [1]}, {"id": []}])
def test_a_line_with_an_unknown_attempt_is_a_damaged_line(tmp_path: Path, odd: dict[str, object]) -> None:
    record(tmp_path / "run", [1] * 8)
    file = tmp_path / "run" / "trials-000001.jsonl"
    row = json.loads(file.read_bytes().split(b"\n")[3])
    spoil(file, 4, json.dumps({**row, **odd}).encode())
    done = merge([tmp_path / "run"], tmp_path / "saved", salvage=True)
    assert f"{file}:4: B, M001, trial 1, attempt 1 is cut here and counts as interrupted, 5 later lines left out" in (
        done.damage
    )
    assert read(tmp_path / "saved").damage == ()


def test_a_run_without_damage_is_salvaged_like_it_is_merged(tmp_path: Path) -> None:
    record(tmp_path / "run", [])
    assert merge([tmp_path / "run"], tmp_path / "saved", salvage=True).damage == ()
    merge([tmp_path / "run"], tmp_path / "merged")
    one, two = ({file.name: file.read_bytes() for file in (tmp_path / name).rglob("*")} for name in ("saved", "merged"))
    assert one == two


def test_a_complete_copy_of_an_attempt_replaces_one_cut_by_damage(tmp_path: Path) -> None:
    record(tmp_path / "copy", [])
    record(tmp_path / "run", [])
    spoil(tmp_path / "run" / "trials-000001.jsonl", 4, b"%%")
    merge([tmp_path / "run", tmp_path / "copy"], tmp_path / "saved", salvage=True)
    assert by_name(read(tmp_path / "saved")) == by_name(read(tmp_path / "copy"))


def test_a_file_of_a_later_version_is_not_damage(tmp_path: Path) -> None:
    record(tmp_path / "run", [])
    spoil(tmp_path / "run" / "trials-000001.jsonl", 1, b'{"event":"opened","format":"harvest-events/2"}')
    with pytest.raises(RunError, match="cannot read format version '2'") as caught:
        merge([tmp_path / "run"], tmp_path / "saved", salvage=True)
    assert "salvage" not in str(caught.value)
    assert not (tmp_path / "saved").exists()


AUDIT = """\
format: harvest-audit/1
name: damaged
topics: fairweb-45
only: [M002, R001, Y001]
protocol: fairweb-two-round
gold: parrot
trials: 2
systems:
  - {name: mine, driver: parrot}
"""


def harvest(*arguments: str) -> int:
    with pytest.raises(SystemExit) as done:
        main(list(arguments))
    return int(done.value.code or 0)


def test_the_advice_is_a_command_that_saves_the_rest_and_the_run_continues(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("audit.yaml").write_text(AUDIT)
    assert harvest("run", "--no-report", "audit.yaml", "--out", "a run") == 0
    whole = read("a run")
    file = next(Path("a run").glob("trials-*.jsonl"))
    lines = file.read_bytes().split(b"\n")
    number = next(i for i, line in enumerate(lines, 1) if json.loads(line).get("topic") == "M002") + 2
    spoil(file, number, lines[number - 1][:40])

    capsys.readouterr()
    for command in (["score", "a run"], ["show", "a run"], ["run", "audit.yaml", "--out", "a run"]):
        assert harvest(*command) == 2
        said = capsys.readouterr().err
        assert re.search(rf"{re.escape(str(file))}:{number}(:\d+)?: not valid JSON", said.replace("\n", " "))
        advice = re.findall(r"do: (harvest data merge .*)", said)
        assert len(advice) == 1, said
    assert harvest(*shlex.split(advice[0])[1:]) == 0

    saved = read("a run-salvaged")
    lost = {one.key for one in whole.finished} - {one.key for one in saved.finished}
    assert [key.topic for key in lost] == ["M002"]
    figures = [
        {
            (row.system, row.topic, row.turn, str(row.measure)): row.value
            for row in score_material(gather_runs(run).material).rows
            if row.topic not in (None, "M002") and row.trial is None
        }
        for run in (whole, saved)
    ]
    assert figures[0]
    assert repr(figures[0]) == repr(figures[1])
    assert harvest("score", "a run-salvaged") == 0
    assert harvest("run", "--no-report", "audit.yaml", "--out", "a run-salvaged") == 0
    assert {one.key for one in read("a run-salvaged").finished} == {one.key for one in whole.finished}


@pytest.mark.parametrize("name", [".", "..", "inner/.."])
def test_the_advice_never_points_into_the_damaged_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    record(tmp_path / "run", [])
    (tmp_path / "run" / "inner").mkdir()
    spoil(tmp_path / "run" / "trials-000001.jsonl", 3, b"%%")
    monkeypatch.chdir(tmp_path / "run" / ("inner" if name == ".." else "."))
    with pytest.raises(RunError) as caught:
        read(name)
    out = shlex.split(str(caught.value).partition("do: ")[2].splitlines()[0])[-1]
    assert Path(out).resolve() == tmp_path.resolve() / "run-salvaged"
