"""What `harvest pages probe` prints of what was found."""

from __future__ import annotations

import pytest

from harvest.pages.chats.chat import ChatAnswer
from harvest.pages.chats.probe import ProbeResult
from protocols.answer import Answer
from tests.support.command_line import harvest

URL = "http://127.0.0.1:9/"


def test_an_answer_of_several_lines_keeps_its_indent(monkeypatch: pytest.MonkeyPatch) -> None:
    said = ChatAnswer(Answer("word " * 30), "", 0.1, 0.2, "silence", True, ())

    async def found(*_: object) -> ProbeResult:
        return ProbeResult(URL, "Hello", (), "", True, None, said=said)

    monkeypatch.setattr("harvest.cli.pages.probe.probe_page", found)
    lines = harvest("pages", "probe", URL, width=60).stderr.splitlines()
    quoted = [line for line in lines if "word" in line]
    assert len(quoted) > 2
    assert all(line.startswith("  word") and len(line) <= 60 for line in quoted)
