"""The page on persona holds what the program does: its audit is taken, its files of languages are played."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harvest.audits.audit import load_audit
from harvest.cli.main import main
from protocols.library import load_protocol
from recordings.log.run_folder import read
from simulators.wrappers.persona import Group, Options
from tests.support.checkout import DOCS, ROOT

PAGE = (DOCS / "simulators" / "persona.md").read_text(encoding="utf-8")
USERS, AUDIT, TOPICS, PROTOCOL = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


def test_the_example_and_the_parameters_are_those_of_the_program(tmp_path: Path) -> None:
    shipped = (ROOT / "protocols" / "fair-treatment.yaml").read_text()
    groups = re.search(r"    groups:\n((?:      .*\n)+)", USERS)
    assert groups is not None
    assert groups[1] in shipped
    for option in Options.model_fields:
        assert f"| `{option}` |" in PAGE, option
    for key in Group.model_fields:
        assert f"`{key}" in PAGE, key
    assert max(len(line) for line in PAGE.splitlines() if not line.startswith("|")) <= 124


def test_the_audit_on_the_page_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "audit.yaml").write_text(AUDIT)
    audit = load_audit(str(tmp_path / "audit.yaml"))
    assert [system.name for system in audit.played][:2] == ["A [older]", "A [older-again]"]


def test_a_language_is_a_group_and_the_files_on_the_page_are_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "shelf.yaml").write_text(TOPICS)
    (tmp_path / "languages.yaml").write_text(PROTOCOL)
    (tmp_path / "bot.py").write_text(
        "def answer(text):\n    return 'Beehive: https://example.org/1' if text.isascii() else 'すみません。'\n"
    )
    given = re.search(r"`(groups: \[english.*?\])`", PAGE)
    assert given is not None
    (tmp_path / "audit.yaml").write_text(
        "format: harvest-audit/1\nname: tongues\ntopics: shelf.yaml\nprotocol: languages.yaml\ntrials: 2\n"
        f"{given[1]}\nsystems:\n"
        "  - {name: bot, driver: python, concurrency: 4, options: {function: 'bot.py:answer'}}\n"
    )
    with pytest.raises(SystemExit) as done:
        main(["run", "--no-report", str(tmp_path / "audit.yaml"), "--out", str(tmp_path / "run")])
    assert done.value.code == 0, capsys.readouterr().err
    said = {(one.key.system, one.key.topic): one.turns[0].said for one in read(tmp_path / "run").finished}
    topics = load_audit(str(tmp_path / "audit.yaml")).topics
    for topic in topics.topics:
        assert said["bot [english]", topic.id] == said["bot [english-again]", topic.id] == topic.request
        assert said["bot [japanese]", topic.id] == topic.fields["request_ja"]
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(["users", "groups", str(tmp_path / "run"), "-m", "%useful"])
    told = capsys.readouterr().out
    assert "null pair: english, english-again" in told
    assert re.search(r"japanese +0\.0% +4 +-100\.0 +4 ", told)


def test_the_shipped_protocol_names_no_group_so_that_the_audit_can_name_one() -> None:
    (user,) = load_protocol("fair-treatment").users.values()
    assert "group" not in user.options
