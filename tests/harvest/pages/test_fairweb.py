"""FairWeb's protocol through three chat interfaces, with no site file, beside the same back end asked over HTTP.

Turn by turn the recorded text, links and labels must be the same. What may differ has a name and a reason in
`same_words`; anything else fails.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from harvest.pages.chats.reread import read_again
from recordings.conversations.conversation import Conversation
from recordings.log.run_folder import Run, read
from tests.harvest.pages.conftest import SharedInterface
from tests.support.command_line import harvest
from tests.support.interfaces import NAMES, QUICK, BackEnd, Interface, back_end_server, interface_to
from tests.support.same_words import allowed_between, uncut

DIRECT = "direct"
TOPICS = ("M001", "M002", "M006", "M012", "R015")
"""Chosen so that every format of the back end's listings occurs, a refusal, talk, both labels and all states."""
FEW_TOPICS = ("M002", "M006")
"""Played on the second interface under the marker `soak`, where all topics are played on all."""
PLAYED = [QUICK[0], *(pytest.param(name, marks=pytest.mark.soak) for name in QUICK[1:])]

FORMATS = {
    "numbered, with dashes": r"^1\. [^\[\]]+ - https://",
    "numbered links": r"^1\. \[[^\]]+\]\(https://",
    "bullets": r"^- [^|]+, <?https://",
    "table": r"^\| --- \| --- \|$",
    "paragraphs": r"^\*\*[^*]+\*\*, https://",
    "names alone": r"^1\. \w+ \w+$",
    "refusal": r"I'm sorry|unable to|cannot browse",
    "talk": r"wide field|Several come to mind|Ask a librarian",
}
TALK = """\
format: harvest-protocol/1
name: small-talk
version: 1
turn_limit: 6
rules:
  known: {contains: {phrases: ["Paris", "Four", "HAL is"]}}
start: s1
states:
"""
SAID = (
    "What is the capital of France?",
    "What is 2+2?",
    "Do you know HAL?",
    "I live in Paris",
    "Where do I live?",
    "Tell me a joke, please",
)


def _play(folder: Path, back_end: BackEnd, pages: Sequence[Interface], **audit: Any) -> Run:
    """`harvest run` on an audit with a system for each interface, and DIRECT."""
    systems: list[dict[str, Any]] = [
        {"name": page.name, "driver": "browser", "options": {"url": page.url}, "delay": 0, "concurrency": 2}
        for page in pages
    ]
    systems.append({"name": DIRECT, "driver": "http", "options": back_end.http_options, "concurrency": 4})
    whole = {"format": "harvest-audit/1", "name": "live", "topics": "fairweb-45", **audit, "systems": systems}
    (folder / "audit.yaml").write_text(yaml.safe_dump(whole))
    done = harvest("run", "audit.yaml", "--out", "run", cwd=folder)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    run = read(folder / "run")
    assert run.failures == ()
    return run


def _of(run: Run, system: str) -> dict[tuple[str, int], Conversation]:
    return {(one.key.topic, one.key.trial): one for one in run.finished if one.key.system == system}


def _compared(run: Run, system: str) -> Counter[str]:
    """Hold every turn to the same turn over HTTP; how many turns needed which allowed difference."""
    direct, page = _of(run, DIRECT), _of(run, system)
    assert page.keys() == direct.keys()
    differences: Counter[str] = Counter()
    for key, expected in direct.items():
        found = page[key]
        assert [(turn.state, turn.said) for turn in found.turns] == [(turn.state, turn.said) for turn in expected.turns]
        assert [turn.label for turn in found.turns] == [turn.label for turn in expected.turns], key
        assert found.outcome == expected.outcome
        for theirs, ours in zip(expected.turns, found.turns, strict=True):
            assert theirs.reply is not None
            assert ours.reply is not None
            allowed = allowed_between(theirs.reply.answer.text, ours.reply.answer.text)
            differences.update(allowed)
            each = [[link.href for link in reply.answer.links] for reply in (theirs.reply, ours.reply)]
            if "cut link" in allowed:
                each = [[uncut(href) for href in hrefs] for hrefs in each]
            else:
                assert ours.reply.answer.links == theirs.reply.answer.links, (key, ours.number)
            assert each[0] == each[1], (key, ours.number)
    return differences


def _formats(run: Run) -> set[str]:
    texts = [turn.reply.answer.text for one in _of(run, DIRECT).values() for turn in one.turns if turn.reply]
    return {name for name, pattern in FORMATS.items() if any(re.search(pattern, text, re.M) for text in texts)}


Plays = Callable[[str], Run]


@pytest.fixture(scope="module")
def short(
    tmp_path_factory: pytest.TempPathFactory, shared_back_end: BackEnd, shared_interface: SharedInterface
) -> Plays:
    """The run that an interface of this name is part of: the first alone, the others together."""

    @cache
    def played(first: bool) -> Run:
        names, topics = (QUICK[:1], TOPICS) if first else (QUICK[1:], FEW_TOPICS)
        folder, pages = tmp_path_factory.mktemp("fairweb"), [shared_interface(name) for name in names]
        return _play(folder, shared_back_end, pages, only=list(topics), protocol="fairweb-two-round", trials=1)

    return lambda name: played(name == NAMES[0])


def test_the_topics_produce_every_format_both_labels_and_all_states(short: Plays) -> None:
    run = short(NAMES[0])
    turns = [turn for one in _of(run, DIRECT).values() for turn in one.turns]
    assert _formats(run) == set(FORMATS)
    assert {turn.label for turn in turns} == {"o", "x"}
    assert {turn.state for turn in turns} == {"ask", "more", "insist"}
    assert {one.outcome.kind for one in _of(run, DIRECT).values() if one.outcome} == {"completed", "breakdown"}


@pytest.mark.parametrize("name", PLAYED)
def test_text_links_and_labels_are_those_of_the_back_end_itself(short: Plays, name: str) -> None:
    assert _compared(short(name), name).keys() <= {"autolink"}


@pytest.mark.parametrize("name", PLAYED)
def test_every_turn_on_a_page_has_its_evidence(short: Plays, name: str) -> None:
    has_its_evidence(short(name), name)


def has_its_evidence(run: Run, name: str) -> None:
    for one in _of(run, name).values():
        for turn in one.turns:
            assert turn.reply is not None
            assert turn.reply.evidence.keys() == {"screenshot", "reply", "page", "watch", "wire"}
            assert turn.reply.finish == "signs", "without a sign of its own each turn waits 4 s"


@pytest.mark.parametrize("names", [QUICK[:1], pytest.param(QUICK[1:], marks=pytest.mark.soak)])
def test_every_stored_answer_is_read_the_same(short: Plays, names: Sequence[str]) -> None:
    is_read_the_same(short(names[0]), names)


def is_read_the_same(run: Run, names: Sequence[str]) -> None:
    answers, found = read_again(run)
    kept = [one for one in answers if one.source]
    assert {one.conversation.key.system for one in kept} == set(names)
    assert [(one.turn.said, one.was.text, one.now, one.trouble) for one in kept if one.now != one.was] == []
    assert [one.refused for one in kept if one.refused] == []
    assert found == []


@pytest.mark.parametrize("name", [NAMES[0], *(pytest.param(name, marks=pytest.mark.soak) for name in NAMES[1:])])
def test_alice_says_the_same_on_a_page(tmp_path: Path, name: str) -> None:
    with back_end_server("alice") as back_end, interface_to(name, back_end) as page:
        run = _play(tmp_path, back_end, [page], only=["M002"], protocol=_small_talk(tmp_path), trials=1)
    (first,) = _of(run, DIRECT).values()
    assert [turn.said for turn in first.turns] == list(SAID)
    assert [turn.label for turn in first.turns][:5] == ["o", "o", "o", "o", "o"]
    assert _compared(run, name) == {}


def _small_talk(folder: Path) -> str:
    """A protocol that says SAID, whatever comes back; label o for what ALICE is known to know."""
    states = {
        f"s{number}": {
            "say": text,
            "edges": [
                {"if": "known", "label": "o", **_after(number)},
                {"otherwise": True, "label": "x", **_after(number)},
            ],
        }
        for number, text in enumerate(SAID, 1)
    }
    protocol = yaml.safe_load(TALK) | {"states": states}
    (folder / "talk.yaml").write_text(yaml.safe_dump(protocol, sort_keys=False))
    return "talk.yaml"


def _after(number: int) -> dict[str, str]:
    return {"go": f"s{number + 1}"} if number < len(SAID) else {"stop": "completed"}


@pytest.mark.soak
@pytest.mark.parametrize("name", NAMES)
def test_all_topics_twice(tmp_path: Path, name: str) -> None:
    with back_end_server("scenario") as back_end, interface_to(name, back_end) as page:
        run = _play(tmp_path, back_end, [page], protocol="fairweb-two-round", trials=2)
    assert len(_of(run, name)) == 90
    differences = _compared(run, name)
    print(name, dict(differences))
    assert differences.keys() <= ({"autolink"} if name == "deep-chat" else {"autolink", "cut link"})
    has_its_evidence(run, name)
    is_read_the_same(run, [name])
