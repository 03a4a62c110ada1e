"""The same conversation counts once and another one counts too, in whichever file and command it comes."""

from __future__ import annotations

import json
import string
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recordings.files.errors import RunError
from recordings.formats import import_growth
from recordings.formats.importers import Request, find_importer
from recordings.formats.imports import import_header, record
from recordings.formats.messages import read_messages
from recordings.log.run_folder import is_run, read
from topics.errors import InputError
from topics.identity import content_hash


def row(answer: str, said: str = "When?", **told: Any) -> dict[str, object]:
    messages = [{"role": "user", "content": said}, {"role": "assistant", "content": answer}]
    outside: dict[str, Any] = {
        key: told.pop(key) for key in ("id", "conversation_id", "create_time", "timestamp") if key in told
    }
    return {"messages": messages, **outside, "metadata": {"system": "desk", "topic": "hours", **told}}


def write(file: Path, *rows: dict[str, object]) -> Path:
    file.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return file


def imported(run: Path, *files: Path) -> list[tuple[int, str]]:
    """The trials and the answers in a run after a command."""
    recorded = read(run).conversations if is_run(run) else ()
    found = find_importer("messages").read(Request(files, recorded=recorded))
    record(run, found.conversations, import_header(found.conversations, found.topics))
    told = [(one.key.trial, turn.reply.answer.text) for one in read(run).finished for turn in one.turns if turn.reply]
    return sorted(told)


def test_numbers_continue_over_the_files_of_a_command_and_over_commands(tmp_path: Path) -> None:
    first = write(tmp_path / "1.jsonl", row("At 7."), row("At 8."))
    second = write(tmp_path / "2.jsonl", row("At 7."))
    third = write(tmp_path / "3.jsonl", row("At 9."), row("At 10."))
    assert imported(tmp_path / "a", first, second) == [(1, "At 7."), (2, "At 8."), (3, "At 7.")]
    assert imported(tmp_path / "a", third)[3:] == [(4, "At 9."), (5, "At 10.")]
    assert len(imported(tmp_path / "a", third, first, second)) == 5  # the same files hold the same conversations


@given(
    st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=4), min_size=1, max_size=4, unique_by=tuple),
    st.data(),
)
@settings(max_examples=10, deadline=None)
def test_files_in_one_command_or_one_after_the_other_give_each_conversation_once(
    tmp_path_factory: pytest.TempPathFactory, days: list[list[int]], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("days")
    files = [write(folder / f"{day}.jsonl", *(row(f"At {one}.") for one in told)) for day, told in enumerate(days)]
    cut = data.draw(st.integers(1, len(files)))
    for batch in (files[:cut], files[cut:], files):
        if batch:
            found = imported(folder / "run", *batch)
    assert sorted(answer for _, answer in found) == sorted(f"At {one}." for day in days for one in day)
    assert [trial for trial, _ in found] == list(range(1, len(found) + 1))


@pytest.mark.parametrize("key", ["id", "conversation_id", "create_time"])
def test_a_conversation_exported_twice_counts_once(tmp_path: Path, key: str) -> None:
    told: dict[str, Any] = {key: 1_700_000_000}
    rows = [row(f"At {hour}.", **{**told, key: 1_700_000_000 + hour}) for hour in range(3)]
    file = write(tmp_path / "x.jsonl", *rows, *rows[:2])
    found = read_messages(file)
    assert len(found.conversations) == 3
    (said,) = found.warnings
    assert said.startswith("2 have the ")
    assert said.endswith("once each")
    again = write(tmp_path / "y.jsonl", rows[2], row("At 9.", **{**told, key: 5}))
    imported(tmp_path / "run", file)
    assert [answer for _, answer in imported(tmp_path / "run", again)] == ["At 0.", "At 1.", "At 2.", "At 9."]


def test_the_same_words_without_an_id_are_different_trials(tmp_path: Path) -> None:
    found = read_messages(write(tmp_path / "x.jsonl", row("At 7."), row("At 7."), row("At 7.", metadata_of="x")))
    assert [one.key.trial for one in found.conversations] == [1, 2, 3]
    assert len({one.trial_id for one in found.conversations}) == 3


def test_an_id_with_different_words_is_reported_and_both_count(tmp_path: Path) -> None:
    found = read_messages(write(tmp_path / "x.jsonl", row("At 7.", id="q1"), row("At 8.", id="q1")))
    assert [one.key.trial for one in found.conversations] == [1, 2]
    assert any("1 has the id of another conversation but other words" in told for told in found.warnings)


def test_an_id_of_several_systems_is_one_of_each(tmp_path: Path) -> None:
    found = read_messages(write(tmp_path / "x.jsonl", row("At 7.", id="q1"), row("At 7.", id="q1", system="bot")))
    assert [(one.key.system, one.key.trial) for one in found.conversations] == [("desk", 1), ("bot", 1)]


def test_given_numbers_are_kept_and_the_others_use_free_ones(tmp_path: Path) -> None:
    rows = [row("a"), row("b", trial=1), row("c"), row("d", trial=3), row("e")]
    found = read_messages(write(tmp_path / "x.jsonl", *rows))
    assert [one.key.trial for one in found.conversations] == [2, 1, 4, 3, 5]


def test_trials_and_names_counted_from_0_elsewhere_are_accepted(tmp_path: Path) -> None:
    rows = [row(str(epoch), trial=epoch, topic=31) for epoch in range(3)]
    found = read_messages(write(tmp_path / "x.jsonl", *rows))
    assert [(one.key.topic, one.key.trial) for one in found.conversations] == [("31", 1), ("31", 2), ("31", 3)]
    assert any("trials are counted from 0 here, so 1 is added to each" in told for told in found.warnings)


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ([row("a", trial=1), row("b", trial=1)], "desk, hours, trial 1 is repeated (first in line 1)"),
        ([row("a", trial=1, id="c"), row("a", trial=2)], ""),
        (
            [{**row("a"), "metadata": {"system": "desk", "topic": "hours", "id": "c", "trial": n}} for n in (1, 2)],
            "the id 'c' is that of another conversation (in line 1)",
        ),
        (
            [row("a", id="c", labels=[label]) for label in "ox"],
            "the same conversation as in line 1, with other labels or metadata",
        ),
    ],
)
def test_two_records_that_contradict_each_other_are_named(
    tmp_path: Path, rows: list[dict[str, object]], what: str
) -> None:
    file = write(tmp_path / "x.jsonl", *rows)
    if not what:
        assert len(read_messages(file).conversations) == 2
        return
    with pytest.raises(InputError) as refused:
        read_messages(file)
    assert f"x.jsonl:2: {what}" in str(refused.value)
    found = read_messages(file, strict=False)
    assert (len(found.conversations), len(found.left_out)) == (1, 1)


def test_a_number_that_the_run_assigned_to_another_conversation_is_refused(tmp_path: Path) -> None:
    imported(tmp_path / "run", write(tmp_path / "x.jsonl", row("At 7.")))
    with pytest.raises(
        RunError, match="a different conversation is already recorded as desk, hours, trial 1, attempt 1"
    ):
        imported(tmp_path / "run", write(tmp_path / "y.jsonl", row("At 8.", trial=1)))


def test_already_recorded_words_of_a_new_file_are_reported(tmp_path: Path) -> None:
    imported(tmp_path / "run", write(tmp_path / "x.jsonl", row("At 7."), row("At 8.")))
    file = write(tmp_path / "y.jsonl", row("At 8."), row("At 9."))
    found = read_messages(file, recorded=read(tmp_path / "run").conversations)
    assert any(
        told.startswith("1 conversation of new files with the same words as recorded ones") for told in found.warnings
    )
    assert [one.key.trial for one in found.conversations] == [3, 4]


def test_secrets_are_not_part_of_an_identity(tmp_path: Path) -> None:
    keys = ["ghp_" + "".join(rng.choices(string.ascii_letters + string.digits, k=36)) for rng in map(Random, (1, 2))]
    (one, other) = (
        read_messages(write(tmp_path / f"{i}.jsonl", row("At 7.", said=f"I am {key}", id="c"))).conversations[0]
        for i, key in enumerate(keys)
    )
    assert one.trial_id == other.trial_id


def talk(*answers: str | None, **told: Any) -> dict[str, object]:
    """A conversation of a question for each answer; None for an answer that had not come yet."""
    one = row("")
    one["messages"] = [
        {"role": role, "content": text}
        for at, answer in enumerate(answers)
        for role, text in (("user", f"q{at}"), ("assistant", answer))
        if text is not None
    ]
    metadata: dict[str, Any] = {key: told.pop(key) for key in ("outcome", "reason") if key in told}
    return {**one, **told, "metadata": {"system": "desk", "topic": "hours", **metadata}}


@pytest.mark.parametrize("key", ["id", "created_at"])
@pytest.mark.parametrize("files", [1, 2])
def test_of_a_conversation_exported_as_it_grew_the_longest_version_counts(tmp_path: Path, files: int, key: str) -> None:
    told = {key: "2026-01-01T10:00:00Z"}
    rows = [talk("a", **told), talk("a", "b", "c", **told), talk("a", None, **told), talk("a", "x", **told)]
    given = [write(tmp_path / f"{at}.jsonl", *rows[at::files]) for at in range(files)]
    found = read_messages(*given)
    assert sorted(len(one.turns) for one in found.conversations) == [2, 3]
    assert any("2 are beginnings of others of the same id or time" in warning for warning in found.warnings)
    assert any("the id of another conversation but other words" in one for one in found.warnings) == (key == "id")


def test_unanswered_questions_with_one_id_are_kept(tmp_path: Path) -> None:
    found = read_messages(write(tmp_path / "x.jsonl", talk(None, id="q"), talk("a", id="q"), talk("b", id="q")))
    assert [one.valid for one in found.conversations] == [False, True, True]


@pytest.mark.parametrize("key", ["id", "created_at"])
def test_a_continuation_of_a_recorded_conversation_does_not_count_in_addition(tmp_path: Path, key: str) -> None:
    told = {key: "2026-01-01T10:00:00Z"}
    first = write(tmp_path / "1.jsonl", talk("a", **told))
    second = write(tmp_path / "2.jsonl", talk("a", "b", **told), talk("z", id="other"))
    assert imported(tmp_path / "run", first) == [(1, "a")]
    found = read_messages(second, recorded=read(tmp_path / "run").conversations, strict=False)
    assert [len(one.turns) for one in found.conversations] == [1]
    (left_out,) = found.left_out
    assert str(left_out).startswith(
        f"{second}:1: it continues a conversation that is already recorded (desk, hours, trial 1)"
    )


def test_only_beginnings_as_long_as_a_recorded_conversation_are_hashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[int] = []

    def counting(kind: str, value: dict[str, Any]) -> str:
        hashed.append(len(value["words"]))
        return content_hash(kind, value)

    monkeypatch.setattr(import_growth, "content_hash", counting)
    answers = [str(number) for number in range(30)]
    imported(tmp_path / "run", write(tmp_path / "a", talk(*answers[:20], None, id="x", outcome="interrupted")))
    assert set(hashed) == {21}
    hashed.clear()
    imported(tmp_path / "run", write(tmp_path / "b", talk(*answers, id="x")))
    assert set(hashed) == {30, 21}


def test_a_shorter_export_that_comes_later_adds_nothing(tmp_path: Path) -> None:
    longer = write(tmp_path / "1.jsonl", talk("a", "b", id="c"))
    shorter = write(tmp_path / "2.jsonl", talk("a", id="c"))
    assert imported(tmp_path / "run", longer) == [(1, "a"), (1, "b")]
    assert imported(tmp_path / "run", shorter) == [(1, "a"), (1, "b")]
    found = read_messages(shorter, recorded=read(tmp_path / "run").conversations)
    assert list(found.warnings) == [
        "1 is the beginning of a recorded one of the same id or time: the recorded ones count"
    ]


def test_a_continuation_of_an_interrupted_conversation_is_a_further_attempt(tmp_path: Path) -> None:
    first = write(tmp_path / "1.jsonl", talk("a", id="c", outcome="interrupted"))
    second = write(tmp_path / "2.jsonl", talk("a", "b", id="c"))
    assert imported(tmp_path / "run", first) == []
    for _ in range(2):  # importing it again adds nothing
        assert imported(tmp_path / "run", second) == [(1, "a"), (1, "b")]
        assert [one.attempt for one in read(tmp_path / "run").conversations] == [1, 2]


def test_the_id_of_a_recorded_conversation_with_different_words_is_reported(tmp_path: Path) -> None:
    imported(tmp_path / "run", write(tmp_path / "1.jsonl", talk("a", id="c")))
    recorded = read(tmp_path / "run").conversations
    found = read_messages(write(tmp_path / "2.jsonl", talk("x", id="c"), talk("y", id="d")), recorded=recorded)
    assert len(found.conversations) == 2
    assert list(found.warnings) == [
        "1 has the id of a recorded conversation but other words: each counts as a separate trial"
    ]


SAME_TIMES = ["2026-01-01T10:00:00Z", "2026-01-01T11:00:00.000+01:00", "2026-01-01 10:00", 1_767_261_600]


@pytest.mark.parametrize("key", ["created_at", "started_at"])
def test_the_same_time_in_another_notation_is_the_same(tmp_path: Path, key: str) -> None:
    rows = [{**talk("a"), key: time} for time in SAME_TIMES]
    if key == "started_at":
        rows = rows[:3]
    assert len(read_messages(write(tmp_path / "x.jsonl", *rows)).conversations) == 1
    for at, one in enumerate(rows):
        found = imported(tmp_path / "run", write(tmp_path / f"{at}.jsonl", one))
        assert found == [(1, "a")]


def test_a_time_used_as_identity_by_an_earlier_version_still_works(tmp_path: Path) -> None:
    from recordings.formats.import_growth import identity_of, spoken_words

    found = read_messages(write(tmp_path / "x.jsonl", talk("a", created_at=SAME_TIMES[1])))
    (one,) = found.conversations
    old = identity_of("desk", "hours", "time", str(SAME_TIMES[1]), words=spoken_words(one))
    earlier = replace(one, trial_id=old)
    again = read_messages(write(tmp_path / "y.jsonl", talk("a", created_at=SAME_TIMES[0])), recorded=[earlier])
    assert list(again.conversations) == [earlier]


def test_files_that_number_trials_of_one_system_are_counted_from_0_together(tmp_path: Path) -> None:
    first = write(tmp_path / "1.jsonl", *(row(str(at), trial=at) for at in range(3)))
    second = write(tmp_path / "2.jsonl", *(row(str(at), trial=at) for at in range(3, 5)))
    other = write(tmp_path / "3.jsonl", row("o", trial=1, system="bot"))
    found = read_messages(second, first, other)
    assert [(one.key.system, one.key.trial) for one in found.conversations] == [
        *(("desk", trial) for trial in (4, 5, 1, 2, 3)),
        ("bot", 1),
    ]
    assert any(f"{second}: trials are counted from 0, as in {first}" in warning for warning in found.warnings)
