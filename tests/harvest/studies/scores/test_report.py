"""What `check`, `run` and `score` tell a person: where systems are, and what to do where nothing came of a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command_line import harvest

AUDIT = """\
format: harvest-audit/1
name: two ways
topics: fairweb-45
only: [M001, M002]
protocol: fairweb-two-round
trials: 1
systems:
"""
DEAD = """\
  - {name: dead, driver: openai, retries: 0, options: {base_url: "http://127.0.0.1:9/v1", model: m}}
"""
HALF = """\
  - {name: half, driver: python, retries: 0, attempts: 1, options: {function: "half.py:answer"}}
"""
SYSTEMS = """\
  - {name: page, driver: browser, options: {url: "https://chat.example/"}}
  - {name: desk, driver: browser, options: {site: desk.yaml}}
  - {name: program, driver: command, options: {argv: [cat, "-u"]}}
  - {name: bird, driver: parrot}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "desk.yaml").write_text("format: harvest-site/1\nname: desk\nurl: https://desk.example/\n")
    (tmp_path / "half.py").write_text(
        "from pathlib import Path\n"
        "def answer(text):\n"
        "    if not Path('asked').exists():\n"
        "        Path('asked').touch()\n"
        "        raise ValueError('nothing')\n"
        "    return 'no'\n"
    )
    return tmp_path


def test_check_says_where_each_system_is(folder: Path) -> None:
    (folder / "audit.yaml").write_text(AUDIT + DEAD + HALF + SYSTEMS)
    done = harvest("check", "audit.yaml", cwd=folder, width=200)
    assert done.returncode == 0, done.stderr
    for told in (
        "dead: openai (http://127.0.0.1:9/v1), fresh",
        "half: python (half.py:answer), ",
        "page: browser (https://chat.example/), ",
        "desk: browser (https://desk.example/), ",
        "program: command (cat -u), ",
        "bird: parrot, ",
    ):
        assert f"  {told}" in done.stdout
    narrow = harvest("check", "audit.yaml", cwd=folder, width=60).stdout.splitlines()
    assert max(map(len, narrow)) <= 60
    assert "    cat -u" in narrow
    plan = json.loads(harvest("check", "audit.yaml", "--json", cwd=folder).stdout)
    assert [one["address"] for one in plan["systems"]][-2:] == ["cat -u", None]


def test_a_run_without_valid_trials_is_reported_in_a_sentence_and_not_in_empty_figures(folder: Path) -> None:
    (folder / "audit.yaml").write_text(AUDIT + DEAD)
    done = harvest("run", "audit.yaml", "--out", "run", cwd=folder)
    assert done.returncode == 3, done.stderr
    told = " ".join(done.stdout.split())
    assert "None of the 2 trials that were played has a valid attempt, so there is nothing to score" in told
    assert "attempts ended with: connect x 4." in told
    assert "%useful" not in told
    assert "A1: trial 1" not in told
    assert "the same command tries them again, once the cause is removed" in told
    again = harvest("score", "run", cwd=folder)
    assert again.returncode == 0, again.stderr
    assert "there is nothing to score" in " ".join(again.stdout.split())
    assert "%useful" not in again.stdout
    rows = json.loads(harvest("score", "run", "--json", cwd=folder).stdout)["rows"]
    assert "%useful" in {row["measure"] for row in rows}, "what programs read stays the same"


def test_with_some_valid_trials_the_figures_are_printed_and_another_try_may_help(folder: Path) -> None:
    (folder / "audit.yaml").write_text(AUDIT + HALF)
    done = harvest("run", "audit.yaml", "--out", "run", cwd=folder)
    assert done.returncode == 3, done.stderr
    told = " ".join(done.stdout.split())
    assert "%useful" in told
    assert "the same command tries them again" in told
    assert "once the cause is removed" not in told
    again = harvest("run", "audit.yaml", "--out", "run", cwd=folder)
    assert again.returncode == 0, again.stderr
    assert "no valid attempt;" not in again.stdout


def test_check_shows_invisible_characters_and_the_host_that_is_contacted(folder: Path) -> None:
    topics = """format: harvest-topics/1
name: s
types: {shop: {}}
topics:
  - {id: T1, type: shop, request: "Where\\u200bis\\u00a0it?"}
  - {id: T2, type: shop, request: "Plain words"}
  - {id: T3, type: shop, turns: ["One", "Two\\u2060"]}
  - {id: T4, type: shop, request: "Last\\u200b\\0"}
"""
    (folder / "t.yaml").write_text(topics)
    audit = """format: harvest-audit/1
name: case
topics: t.yaml
protocol: seed-turns
trials: 1
systems:
  - {name: a, driver: openai, options: {base_url: "https://\u0430pi.openai.com/v1", model: m}}
  - {name: b, driver: openai, options: {base_url: "https://api.example/v1", model: m}}
"""
    (folder / "audit.yaml").write_text(audit)
    done = harvest("check", "audit.yaml", cwd=folder, width=300)
    assert done.returncode == 0, done.stderr
    assert (
        "contacts: https://\u0430pi.openai.com (not ASCII: xn--pi-6kc.openai.com) (a); https://api.example (b)"
        in done.stdout
    )
    assert "a: openai (https://\u0430pi.openai.com/v1 (not ASCII: xn--pi-6kc.openai.com))" in done.stdout
    assert "on T1 a user first says: Where<U+200B>is<U+00A0>it?" in done.stdout
    assert "T3 has 2 turns: (1) One (2) Two<U+2060>" in done.stdout
    note = "U+200B (zero width space) in T1, T4; U+00A0 (no-break space) in T1; U+2060 (word joiner) in T3"
    note += "; U+0000 (null) in T4"
    assert f"users say invisible characters, which systems read: {note}" in done.stdout
    plan = json.loads(harvest("check", "audit.yaml", "--json", cwd=folder).stdout)
    assert plan["unseen_characters"]["U+200B (zero width space)"] == ["T1", "T4"]


def test_check_shows_each_turn_of_a_topic(folder: Path) -> None:
    """In brackets a comma parts two turns, wherever it was meant to stand in one."""
    topics = """format: harvest-topics/1
name: s
types: {shop: {}}
topics:
  - {id: T1, type: shop, turns: [Yes, please, No]}
  - {id: T2, type: shop, turns: ["One two three four, five six seven", b, c, d, e, f, g, h]}
  - {id: T3, type: shop, turns: ["Only one, please"]}
"""
    (folder / "t.yaml").write_text(topics)
    audit = """format: harvest-audit/1
name: case
topics: t.yaml
protocol: seed-turns
trials: 1
systems: [{name: b, driver: openai, options: {base_url: "https://api.example/v1", model: m}}]
"""
    (folder / "audit.yaml").write_text(audit)
    said = harvest("check", "audit.yaml", cwd=folder, width=300).stdout
    assert "on T1 a user first says: Yes\n  T1 has 3 turns: (1) Yes (2) please (3) No\n" in said
    assert "T2 has 8 turns: (1) One two three … five six seven (2) b (3) c (4) d (5) e (6) f and 2 more\n" in said
    assert "on T3 a user first says: Only one, please\n" in said
    assert "T3 has" not in said
