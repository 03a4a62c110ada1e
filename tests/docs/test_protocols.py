"""What docs/protocols.md shows is what the program does, and importing the interpreter stays light."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from harvest.playing.play import play
from harvest.studies.pairs.conversation_rows import route_lines
from harvest.studies.relabel.relabelling import relabel
from protocols.answer import Answer, Exchange
from protocols.explanation import explain_route
from protocols.interpreter import advance, begin
from protocols.library import load_protocol
from protocols.route import Say
from protocols.rules.registry import KINDS_OF_RULES
from protocols.wording import FILTERS, TOPIC_WORDS
from tests.support.checkout import DOCS
from topics.errors import InputError
from topics.kinds import KINDS
from topics.library import load_topics
from topics.topic_file import encode_topics

PAGE = (DOCS / "protocols.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_protocol_on_the_page_is_read_and_plays(tmp_path: Path) -> None:
    shown, _ = blocks("yaml")
    path = tmp_path / "ask.yaml"
    path.write_text(shown, encoding="utf-8")
    protocol = load_protocol(path)
    assert protocol.most_turns(load_topics("fairweb-45").topics[0]) == 4


def test_the_message_shown_is_the_one_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown, _ = blocks("text")
    protocol, _ = blocks("yaml")
    monkeypatch.chdir(tmp_path)
    text = protocol.replace("topic.request", "topic.reqest")
    Path("ask.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_protocol("ask.yaml")
    assert str(caught.value) == shown.rstrip()


def test_the_audit_on_the_page_relabels_old_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    protocol, again = blocks("yaml")
    monkeypatch.chdir(tmp_path)
    some = load_topics("fairweb-45").topics[:2]
    written = encode_topics(replace(load_topics("fairweb-45"), topics=some))
    Path("topics.yaml").write_text(json.dumps(written), encoding="utf-8")
    Path("first.yaml").write_text(protocol, encoding="utf-8")
    Path("new.yaml").write_text(
        protocol.replace("{urls: {kind: any, at_least: 2}}", "{words: {at_least: 30}}"), encoding="utf-8"
    )
    Path("again.yaml").write_text(again, encoding="utf-8")
    system = "driver: parrot, options: {profile: erratic}"
    live = re.sub(r"driver: replay, options: \{.*?\}", system, again).replace("new.yaml", "first.yaml")
    Path("audit.yaml").write_text(live, encoding="utf-8")
    old, new = (play(f"{name}.yaml", out) for name, out in (("audit", "run-1"), ("again", "run-1-new")))
    told = relabel(old, load_protocol("new.yaml"))
    assert told.differs
    labels = {one.recorded.key: [turn.label for turn in one.known.turns] for one in told.conversations}
    assert {one.key: [turn.label for turn in one.turns] for one in new.finished} == labels


def test_the_route_shown_is_the_one_taken() -> None:
    (shown,) = blocks("json")
    protocol, topic = load_protocol("fairweb-two-round"), load_topics("fairweb-45")["M002"]
    action, position = begin(protocol, topic)
    assert isinstance(action, Say)
    answer = Answer("Primer (2004): https://m.imdb.com/title/tt0390384/")
    assert f"`{answer.text}`" in PAGE
    action, _ = advance(protocol, topic, position, [Exchange(action.text, answer)])
    assert action.route is not None
    assert json.loads(shown) == json.loads(json.dumps(asdict(action.route)))


def test_the_explanation_shown_is_the_one_printed() -> None:
    _, shown = blocks("text")
    protocol, topic = load_protocol("fairweb-two-round"), load_topics("fairweb-45")["M002"]
    action, position = begin(protocol, topic)
    assert isinstance(action, Say)
    answer = Answer.of("I like Primer (2004).")
    assert f"`{answer.text}`" in PAGE
    exchanges = [Exchange(action.text, answer)]
    route = advance(protocol, topic, position, exchanges)[0].route
    assert route is not None
    assert route_lines(route, explain_route(protocol, topic, exchanges, [], route)) == shown.splitlines()


def test_every_rule_every_kind_of_url_and_every_variable_is_described() -> None:
    for name in (*KINDS_OF_RULES, *KINDS, *(f"topic.{word}" for word in TOPIC_WORDS if word != "fields")):
        assert f"`{name}`" in PAGE, name
    assert all(f"`{name}`" in PAGE for name in ("any", "all", "not", "topic.fields.NAME"))
    assert set(re.findall(r"`(\w+)`, ", PAGE.split("a fixed list of filters")[1].split("…")[0])) <= FILTERS


def test_the_interpreter_imports_neither_jinja_nor_pydantic_nor_numpy() -> None:
    code = (
        "import sys, protocols.interpreter, protocols.protocol\n"
        "print(sorted({'jinja2', 'pydantic', 'numpy', 'httpx', 'yaml'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_the_state_shown_sends_the_words_and_the_files_of_the_topic_shown(tmp_path: Path) -> None:
    section = PAGE.partition("### Sending files\n")[2].partition("\n## ")[0]
    topics, states = (textwrap.dedent(one) for one in re.findall(r"(?:^    .*\n)+", section, re.MULTILINE))
    (tmp_path / "birds").mkdir()
    (tmp_path / "birds" / "p1.jpg").write_bytes(b"x")
    (tmp_path / "t.yaml").write_text(f"format: harvest-topics/1\nname: t\ntypes: {{page: {{}}}}\n{topics}")
    head = "format: harvest-protocol/1\nname: p\nversion: 1\nstart: ask\nstates:\n"
    (tmp_path / "p.yaml").write_text(head + textwrap.indent(states, "  "))
    said, _ = begin(load_protocol(tmp_path / "p.yaml"), load_topics(str(tmp_path / "t.yaml"))["P1"])
    assert isinstance(said, Say)
    assert (said.text, [one.name for one in said.attached]) == ("Which bird is this?", ["p1.jpg"])
