"""`harvest data import`: what has no effect is refused, and what is refused writes nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from harvest.cli import main
from recordings.formats.importers import IMPORTERS, Found, Importer, Request, find_importer
from recordings.formats.shapes.library import SHAPES
from recordings.judged.judgments import read_layers
from recordings.log.run_folder import read
from tests.support.shape_examples import EXAMPLES
from topics.errors import InputError


def harvest(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0), capsys.readouterr().err


def written(folder: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def line(said: str, **metadata: object) -> str:
    messages = [{"role": "user", "content": said}, {"role": "assistant", "content": "Yes."}]
    return json.dumps({"messages": messages, "metadata": {"system": "B", "topic": "T1", **metadata}}) + "\n"


@pytest.mark.parametrize(
    ("form", "option"), [(form, option) for form, one in IMPORTERS.items() for option in one.unused]
)
def test_an_option_that_would_have_no_effect_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str, option: str
) -> None:
    (tmp_path / "a.jsonl").write_text(line("Hello"))
    out = tmp_path / "run"
    code, said = harvest(
        capsys, "data", "import", "--format", form, tmp_path / "a.jsonl", f"--{option}", "1", "--out", out
    )
    assert code == 2
    assert f"--{option} has no effect on files of the format {form}" in said
    assert f"leave out --{option}" in said
    assert not out.exists()


def test_each_format_declares_what_it_leaves_unused() -> None:
    assert {form: set(one.unused) for form, one in IMPORTERS.items()} == {
        "gfrc": {"topic"},
        "messages": {"trial"},
        "cast2022": {"trial", "topic"},
        "dbdc": {"trial"},
        "dialeval": {"trial", "topic"},
        **{form: {"trial"} for form in SHAPES},
    }


@pytest.mark.parametrize("given", [("--counts", "revised"), ("--breakdown", "PB+B")])
def test_options_about_annotators_are_only_allowed_if_there_are_annotators(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given: tuple[str, str]
) -> None:
    (tmp_path / "a.jsonl").write_text(line("Hello"))
    code, said = harvest(
        capsys, "data", "import", "--format", "messages", tmp_path / "a.jsonl", *given, "--out", tmp_path / "r"
    )
    assert code == 2
    assert f"{given[0]} has no effect on files of the format messages" in said
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--user", "Ann"), "--user has no effect on files of the format messages"),
        (("--map", "prompt=Q"), "--map has no effect on files of the format messages"),
        (("--map", "promt=Q"), "--map 'promt=Q' is not MEANING=COLUMN: did you mean 'prompt'?"),
        (("--map", "prompt=Q", "--map", "prompt=A"), "--map names two columns for prompt"),
    ],
)
def test_options_of_other_formats_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given: tuple[str, ...], said: str
) -> None:
    form = ("--format", "messages") if "no effect" in said else ()
    (tmp_path / "a").write_text(line("Hello") if form else "prompt,answer\nHi,Ho\n")
    code, told = harvest(capsys, "data", "import", *form, tmp_path / "a", *given, "--out", tmp_path / "r")
    assert code == 2
    assert said in told
    assert not (tmp_path / "r").exists()


def test_columns_are_enough_to_recognise_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("Frage,Antwort\nWann?,Um neun.\n")
    named = ("--map", "prompt=Frage", "--map", "answer=Antwort", "--topic", "T")
    code, said = harvest(capsys, "data", "import", tmp_path / "a.csv", *named, "--out", tmp_path / "r")
    assert (code, "read: 1 dialogue, 1 turn, 1 answer" in said) == (0, True), said


def test_a_file_in_no_known_format_is_read_as_messages_and_reported_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.txt").write_text("Dear Ann,\n")
    code, said = harvest(capsys, "data", "import", tmp_path / "a.txt", "--out", tmp_path / "r")
    assert code == 2
    assert "format: messages, because no format is recognised" in said


def test_the_folder_of_a_corpus_is_accepted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "utterances.jsonl").write_bytes(EXAMPLES["convokit"].data)
    (tmp_path / "corpus" / "speakers.json").write_text("{}")
    code, said = harvest(capsys, "data", "import", tmp_path / "corpus", "--out", tmp_path / "r")
    assert code == 0, said
    assert "2 conversations written" in said
    assert "format: convokit" in said


def test_dialogues_of_dbdc_become_a_run_with_the_annotations(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    turns = [{"i": 0, "s": "U", "u": "Hi"}, {"i": 1, "s": "S", "u": "Fish.", "c": [1, 2, 1], "cr": [0, 1, 3]}]
    file, out = tmp_path / "a.json", tmp_path / "run"
    file.write_text(json.dumps({"subset": "B", "dialogues": [{"id": "d1", "turns": turns}]}))
    for _ in range(2):  # the second time, everything is there already
        code, said = harvest(capsys, "data", "import", "--format", "dbdc", file, "--counts", "revised", "--out", out)
        assert code == 0, said
    recorded = read(out)
    assert [(one.key.system, one.turns[0].label) for one in recorded.conversations] == [("B", "x")]
    (layer,) = read_layers(out)
    assert (layer.kind, layer.version, [one.value for one in layer.judgments]) == (
        "human",
        "revised",
        [{"O": 0, "T": 1, "X": 3}],
    )


@pytest.mark.parametrize("more", [("--gold", "nowhere.csv"), ("--gold", "fairweb-45"), ()])
def test_a_refused_import_leaves_the_run_unchanged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...]
) -> None:
    out = tmp_path / "run"
    file = tmp_path / "a.jsonl"
    file.write_text(line("Hello"))
    assert harvest(capsys, "data", "import", "--format", "messages", file, "--out", out)[0] == 0
    before = written(out)
    file.write_text(line("Something new", trial=2) + (line("Another", trial=1) if not more else ""))
    code, said = harvest(capsys, "data", "import", "--format", "messages", file, "--out", out, *more)
    assert code == 2, said
    assert written(out) == before


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("messages", ""),
        ("messages", "[]"),
        ("gfrc", ""),
        ("cast2022", "[]"),
        ("dbdc", "[]"),
        ("dbdc", '{"dialogues": []}'),
        ("dialeval", "[]"),
    ],
)
def test_files_without_a_conversation_make_no_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str, text: str
) -> None:
    (tmp_path / "a.json").write_text(text)
    topic = ("--topic", "T") if form in ("messages", "dbdc") else ()
    code, said = harvest(
        capsys, "data", "import", "--format", form, tmp_path / "a.json", "--out", tmp_path / "run", *topic
    )
    assert (code, "a.json" in said) == (2, True), said
    assert not (tmp_path / "run").exists()


def fails(request: Request) -> Found:
    raise ZeroDivisionError("no way")


def returns_nothing(request: Request) -> None: ...


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("fails", f"failed with ZeroDivisionError: no way (at {__file__}:"),
        (
            "returns_nothing",
            "returned NoneType\n  allowed: a function from a recordings.formats.importers.Request to Found",
        ),
    ],
)
def test_a_failing_plug_in_importer_is_named_and_harvest_is_not_blamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str, said: str
) -> None:
    entry = EntryPoint("pairs", f"{__name__}:{function}", "harvest.importers")
    monkeypatch.setattr("topics.plug_ins.entry_points", lambda group: [entry] if group == entry.group else [])
    with pytest.raises(InputError) as refused:  # the command knows its formats from when it was imported
        find_importer("pairs").read(Request((tmp_path / "a.txt",)))
    assert f"the importer 'pairs' of {__name__}:{function} {said}" in str(refused.value)


def test_no_format_gives_a_system_the_name_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("##### M001\n### U1\nHi\n### S1 o\nHo\n")
    words = ("data", "import", "--format", "gfrc", tmp_path / "a.txt", "--system", "B@run", "--out", tmp_path / "run")
    code, said = harvest(capsys, *words)
    assert (code, "'B@run' cannot be the name of a system" in said) == (2, True)
    assert not (tmp_path / "run").exists()


def test_a_grade_without_a_gain_is_named_with_its_place_on_import_and_when_scored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.txt").write_text("##### M001\n### U1\nHi\n### S1 o\nhttps://www.imdb.com/title/tt1276104/\n#L9\n")
    code, said = harvest(capsys, "data", "import", "--format", "gfrc", tmp_path / "a.txt", "--out", tmp_path / "run")
    assert (code, f"warning: {tmp_path / 'a.txt'}:6: grade L9 has no gain: correct it, or score with" in said) == (
        0,
        True,
    )
    (layer,) = (tmp_path / "run" / "judgments").glob("*.jsonl")
    code, said = harvest(capsys, "score", tmp_path / "run")
    assert (code, f"{layer}:2: relevance grade 9 of the gold table has no gain" in said) == (2, True)
    (tmp_path / "g.csv").write_text("topic,entity,grade\nM001,tt1276104,L5\n")
    code, said = harvest(capsys, "score", tmp_path / "run", "--gold", tmp_path / "g.csv")
    assert (code, f"{tmp_path / 'g.csv'}:2:16: relevance grade 5 of the gold table has no gain" in said) == (2, True)
    assert "(--gain L5=GAIN; in an audit, scoring: gains)" in said


def test_a_gold_table_of_an_unnamed_set_asks_for_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.jsonl").write_text(line("Hi"))
    words = (
        "data",
        "import",
        *("--format", "messages"),
        tmp_path / "a.jsonl",
        "--gold",
        "parrot",
        "--out",
        tmp_path / "run",
    )
    code, said = harvest(capsys, *words)
    assert (code, "name the set with --topics, such as fairweb-45" in said) == (2, True)


def talk(*said: str, **metadata: object) -> str:
    """A line in which the sides take turns; the user begins."""
    roles = ("user", "assistant") * len(said)
    messages = [{"role": role, "content": text} for role, text in zip(roles, said, strict=False)]
    return json.dumps({"messages": messages, "metadata": {"system": "B", "topic": "T1", **metadata}}) + "\n"


@pytest.mark.parametrize(
    ("lines", "told", "counted"),
    [
        (
            [talk("Hi", "Ho", "Bye", labels=["o"])] * 3 + [talk("Hi", "No.", labels=["x"])] * 2,
            "3 end with the user and count as ended by the user (user-stopped); 2 end with an answer (completed)",
            {"user-stopped": 3, "completed": 2},
        ),
        (
            [talk("Hi"), talk("Hi", "Ho", "Bye")],
            "1 has no answer to its last user turn (invalid: in no figure); 1 ends with the user and counts as ended",
            {"invalid": 1, "user-stopped": 1},
        ),
        ([talk("Hi", "Ho", outcome="interrupted")], "1 has no outcome (interrupted: in no figure)", {"": 1}),
        ([talk("Hi", "Ho", "Bye", labels=["o", "-"])], "", {"breakdown": 1}),
        ([talk("Hi", "Ho", outcome="turn-limit"), talk("Hi", outcome="user-stopped")], "", {}),
    ],
)
def test_the_import_reports_the_outcomes_it_assumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: list[str], told: str, counted: dict[str, int]
) -> None:
    (tmp_path / "a.jsonl").write_text("".join(lines))
    code, said = harvest(
        capsys, "data", "import", "--format", "messages", tmp_path / "a.jsonl", "--out", tmp_path / "run"
    )
    assert (code, told in said, "read from their shape" in said) == (0, True, bool(told))
    kinds = [one.outcome.kind if one.outcome else "" for one in read(tmp_path / "run").conversations]
    assert {kind: kinds.count(kind) for kind in counted} == counted


def test_conversations_that_the_user_ended_are_in_the_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [talk("Refund", "Done.", "Thanks!", labels=["o"])] * 6 + [talk("Refund", "I cannot.", labels=["x"])] * 4
    (tmp_path / "a.jsonl").write_text("".join(lines))
    harvest(capsys, "data", "import", "--format", "messages", tmp_path / "a.jsonl", "--out", tmp_path / "run")
    with pytest.raises(SystemExit):
        main(["score", str(tmp_path / "run"), "-m", "%useful", "--json"])
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["value"], row["n"]) for row in rows if row["measure"] == "%useful"][:1] == [(0.6, 10)]


def test_scores_of_an_import_mention_no_protocol(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.jsonl").write_text(
        talk("Hi", "Ho", "And?", "So.", labels=["o", "x"]) + talk("Hi", "Ho", labels=["o"])
    )
    harvest(capsys, "data", "import", "--format", "messages", tmp_path / "a.jsonl", "--out", tmp_path / "run")
    with pytest.raises(SystemExit):
        main(["score", str(tmp_path / "run")])
    said = " ".join(capsys.readouterr().out.split())
    assert ("1 conversation whose end is not recorded" in said, "protocol" in said) == (True, False), said


def test_an_unreadable_line_is_left_out_named_and_affects_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = ['{"turns": []}\n', '{"messages": [{"role": "narrator", "content": "x"}]}\n', "{\n"] * 5
    (tmp_path / "a.jsonl").write_text(talk("Hi", "Ho") + "".join(bad) + talk("Hi", "Ho"))
    words = ("data", "import", "--format", "messages", tmp_path / "a.jsonl", "--out", tmp_path / "run")
    code, said = harvest(capsys, *words, "--strict")
    assert (code, f"{tmp_path / 'a.jsonl'}:2" in said, (tmp_path / "run").exists()) == (2, True, False)
    code, said = harvest(capsys, *words)
    assert (code, len(read(tmp_path / "run").conversations)) == (3, 2)
    assert f"left out: {tmp_path / 'a.jsonl'}:4:2: not valid JSON" in said
    assert "left out: 5 more" in said
    assert "2 conversations written" in said
    assert ", 15 left out; 0 judged entities" in said


def without_outcomes(request: Request) -> Found:
    """Pairs of lines."""
    found = IMPORTERS["messages"].read(request)
    return replace(found, conversations=tuple(replace(one, outcome=None) for one in found.conversations))


def test_a_plug_in_importer_that_gives_no_outcome_is_told_the_consequence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.jsonl").write_text(talk("Hi", "Ho") * 2)
    monkeypatch.setattr(
        "harvest.cli.data.importing.find_importer", lambda name: Importer(without_outcomes, "pairs of lines")
    )
    code, said = harvest(
        capsys, "data", "import", "--format", "messages", tmp_path / "a.jsonl", "--out", tmp_path / "run"
    )
    assert (code, "2 have no outcome (interrupted: in no figure)" in said) == (0, True)


def test_the_help_has_the_sentence_of_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["data", "import", "-hh"])
    printed = " ".join(capsys.readouterr().out.split())
    for name, one in IMPORTERS.items():
        assert f"{name}: {one.sentence}." in printed


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["a\nb"], "contains invisible characters: a<U+000A>b"),
        (["safe\u202egnp"], "contains invisible characters: safe<U+202E>gnp"),
        (["b\u200bot"], "contains invisible characters: b<U+200B>ot"),
        ([" bot"], "begins or ends with white space: ' bot'"),
        (["caf\u00e9", "cafe\u0301"], "names that look the same count as 2 systems: 'cafe\\u0301', 'caf\\xe9'"),
        (["bot", "bot "], "names that look the same count as 2 systems: 'bot', 'bot '"),
        (["bot", "b\u00adot"], "names that look the same count as 2 systems: 'bot', 'b\\xadot'"),
        (["bot", "Bot", "日本語", "می‌خواهم", "naïve bot"], ""),
    ],
)
def test_misleading_names_of_systems_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], names: list[str], told: str
) -> None:
    for i, name in enumerate(names):  # the second time, the first is in the run already
        (tmp_path / f"{i}.jsonl").write_text(line("Hi", system=name))
        code, said = harvest(
            capsys, "data", "import", "--format", "messages", tmp_path / f"{i}.jsonl", "--out", tmp_path / "run"
        )
        assert code == 0, said
    assert (told in said, "the name of a system" in said or "names that look" in said) == (True, bool(told))
