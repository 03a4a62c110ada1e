"""What a CI service reads: no word of a system is a command to it, and data stays data."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from harvest.notices.disarmed import EscapingStream, escape_output, underlying_stream
from tests.support.bulletins import commands
from tests.support.hostile_replies import HOSTILE

AZURE = "done ##vso[task.setvariable variable=a]b ##VSO[task.complete]"


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("piece", [1, 2, 3, 1000])
def test_no_system_text_is_a_command_in_messages_to_people(text: str, piece: int) -> None:
    out = io.StringIO()
    stream = EscapingStream(out)
    for start in range(0, len(text), piece):
        stream.write(text[start : start + piece])
    assert list(commands(out.getvalue())) == []
    assert out.getvalue().replace(" ", "") == text.replace(" ", "")


def test_anything_that_is_not_a_command_passes_unchanged() -> None:
    out = io.StringIO()
    stream = EscapingStream(out)
    pieces = ("## a: b\n", "#", "# c [d] 12:30", ":", "15 http://[:", ":1]/\n", ":", " a:::b ##vso\n", "[d] a::b\n")
    for piece in pieces:
        assert stream.write(piece) == len(piece)
    assert out.getvalue() == "".join(pieces)
    assert not hasattr(stream, "buffer")


@pytest.mark.parametrize("piece", [1, 2, 1000])
def test_no_system_text_is_a_command_to_azure(piece: int) -> None:
    out = io.StringIO()
    stream = EscapingStream(out)
    for start in range(0, len(AZURE), piece):
        stream.write(AZURE[start : start + piece])
    assert out.getvalue() == AZURE.replace("[", " [")


@pytest.mark.parametrize("piece", [1, 2, 1000])
def test_json_stays_the_same_data(piece: int) -> None:
    data = [{"::a::": f"{HOSTILE['workflow command']} {AZURE}"}, "\\##[a]"]
    text = json.dumps(data, indent=0)
    out = io.StringIO()
    stream = EscapingStream(out, as_json=True)
    for start in range(0, len(text), piece):
        stream.write(text[start : start + piece])
    assert json.loads(out.getvalue()) == data
    assert list(commands(out.getvalue())) == []
    assert "vso[" not in out.getvalue().lower()


@pytest.mark.parametrize(("variable", "changed"), [("GITHUB_ACTIONS", True), ("TF_BUILD", True), ("CI", False)])
def test_output_is_escaped_if_a_service_reads_it(
    variable: str, changed: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sys.stdout, sys.stderr
    with escape_output(["show", "run"], {variable: "true"}):
        print("::a::")
        print("::b::", file=sys.stderr)
        print("::meant::", file=underlying_stream(sys.stdout))
    assert (sys.stdout, sys.stderr) == before
    assert capsys.readouterr() == (_said("a", changed) + "::meant::\n", _said("b", changed))


def _said(name: str, changed: bool) -> str:
    return f": :{name}::\n" if changed else f"::{name}::\n"


@pytest.mark.parametrize("words", [["show", "run", "--json"], ["tree", "--format", "json"], ["tree", "--format=json"]])
def test_requested_json_is_printed_as_json(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with escape_output(words, {"GITHUB_ACTIONS": "true"}):
        print(json.dumps("a::b ##[c]"))
    assert json.loads(capsys.readouterr().out) == "a::b ##[c]"


def test_a_file_gets_the_printed_text_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "figures.csv").open("w") as file:
        monkeypatch.setattr(sys, "stdout", file)
        with escape_output(["score", "run", "--csv"], {"TF_BUILD": "True"}):
            print("::a::")
    assert (tmp_path / "figures.csv").read_text() == "::a::\n"
