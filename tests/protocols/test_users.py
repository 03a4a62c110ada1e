"""Protocols in which a simulated user speaks: read, played, kept as JSON, forked, recorded and replayed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from harvest.audits.audit import load_audit
from harvest.cli import main
from harvest.parrot.parrot import Parrot, load_catalogue
from harvest.parrot.profiles import PROFILES
from harvest.studies.relabel.rerouting import reroute
from protocols.answer import Answer, Exchange
from protocols.interpreter import advance, begin, retrace
from protocols.library import decode_protocol, encode_protocol, load_protocol, protocol_hash
from protocols.protocol import Protocol
from protocols.route import Ask, Say, Stop
from recordings.log.run_folder import read
from simulators.conformance import assert_conforms
from simulators.memory import decode_memory, encode_memory
from simulators.reasons import LEFT, RECORDED_END
from simulators.registry import build_users
from simulators.scripted import ScriptedMemory, ScriptedUser
from simulators.user import Observation, Scenario, Streams
from tests.support.parrot_truth import paths
from tests.support.rehearsal import rehearse
from topics.errors import InputError
from topics.library import load_topics

TOPICS = load_topics("fairweb-45")
M002 = TOPICS["M002"]
TEXT = """\
format: harvest-protocol/1
name: wander
version: 1
turn_limit: 6
rules:
  useful: {urls: {kind: asked}}
users:
  visitor:
    simulator: random
    acts: {more: 2, insist: 1}
    leave: 0.3
    words: {insist: ["I still miss the links."], more: ["Can you name a few more?"]}
start: ask
states:
  ask:
    say: |
      {{ topic.request }}
      Format: {{ topic.asks_for }}
    edges:
      - {if: useful, label: o, go: wander}
      - {otherwise: true, label: x, go: wander}
  wander:
    user: visitor
    edges:
      - {if: useful, label: o, go: wander}
      - {otherwise: true, label: x, go: wander}
"""
LISTED = Observation(Answer("Primer https://www.imdb.com/title/tt0390384/"))
VAGUE = Observation(Answer("Primer and Looper."))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "wander.yaml"
    found.write_text(TEXT)
    return found


@pytest.fixture
def protocol(path: Path) -> Protocol:
    return load_protocol(path)


@pytest.fixture
def user(protocol: Protocol) -> ScriptedUser:
    return ScriptedUser(protocol, build_users(protocol))


def test_the_protocol_is_unchanged_after_a_run(protocol: Protocol) -> None:
    encoded = encode_protocol(protocol)
    back = decode_protocol(json.loads(json.dumps(encoded)))
    assert encode_protocol(back) == encoded
    assert protocol_hash(back) == protocol_hash(protocol)
    assert back == protocol
    other = encoded | {"users": {"visitor": {"simulator": "random", "leave": 0.4}}}
    assert protocol_hash(decode_protocol(other)) != protocol_hash(protocol)
    assert build_users(back).keys() == {"visitor"}


def test_the_interpreter_asks_for_words_and_accepts_any(protocol: Protocol) -> None:
    action, position = begin(protocol, M002)
    assert isinstance(action, Say)
    exchanges = [Exchange(action.text, VAGUE.answer)]
    asked, position = advance(protocol, M002, position, exchanges)
    assert asked == Ask("visitor", "wander", 2, asked.route)
    assert asked.route is not None
    assert (asked.route.label, asked.route.target) == ("x", "wander")
    for words in ("Hm.", "Something else"):
        following, _ = advance(protocol, M002, position, [*exchanges, Exchange(words, LISTED.answer)])
        assert isinstance(following, Ask)
        assert following.turn == 3
        assert len(retrace(protocol, M002, [*exchanges, Exchange(words, LISTED.answer)])) == 3
    assert len(retrace(protocol, M002, [Exchange("other words", LISTED.answer)])) == 1


def test_the_turn_limit_counts_the_turns_of_users_too(protocol: Protocol) -> None:
    assert protocol.most_turns(M002) == 6
    never = replace(protocol, turn_limit=3)
    exchanges = [Exchange(begin(never, M002)[0].text, VAGUE.answer)]  # type: ignore[union-attr]
    _, position = begin(never, M002)
    for _ in range(2):
        action, position = advance(never, M002, position, exchanges)
        exchanges.append(Exchange("more", VAGUE.answer))
    action, _ = advance(never, M002, position, exchanges)
    assert isinstance(action, Stop)
    assert action.outcome == "turn-limit"


def test_the_simulated_user_speaks_in_its_states_and_its_turns_name_it(user: ScriptedUser) -> None:
    rng = Streams(3, ("scripted", "M002", 1))
    state = user.start(Scenario(M002), rng.at(0))
    action, state = user.respond(state, None, rng.at(1))
    assert isinstance(action, Say)
    assert (action.user, action.act, action.state) == ("", "", "ask")
    action, state = user.respond(decode_memory(json.loads(json.dumps(encode_memory(state)))), VAGUE, rng.at(2))
    assert isinstance(action, Say)
    assert (action.user, action.state, action.turn) == ("visitor", "wander", 2)
    assert action.act in ("more", "insist")
    assert action.route is not None
    assert action.route.label == "x"


def test_the_conversation_stops_when_the_simulated_user_stops(user: ScriptedUser) -> None:
    ends = set()
    for seed in range(30):
        rng = Streams(seed, ("scripted", "M002", 1))
        action, state = user.respond(user.start(Scenario(M002), rng.at(0)), None, rng.at(1))
        turn = 1
        while isinstance(action, Say):
            turn += 1
            action, state = user.respond(state, LISTED, rng.at(turn))
        assert action.route is not None
        assert action.route.label == "o"
        ends.add((action.outcome, action.reason if action.outcome == "user-stopped" else ""))
        with pytest.raises(ValueError, match="over"):
            user.respond(state, LISTED, rng.at(turn + 1))
    assert ends == {("user-stopped", LEFT), ("turn-limit", "")}


class Watchful:
    """Keeps what it was shown in its memory."""

    name = "watchful"

    def start(self, scenario: Scenario, rng: Streams) -> Mapping[str, object]:
        return {"seen": []}

    def respond(
        self, state: Mapping[str, object], observation: Observation | None, rng: Streams
    ) -> tuple[Say | Stop, Mapping[str, object]]:
        seen = state["seen"]
        assert isinstance(seen, list)
        now = [*seen, [observation.answer.text, observation.label] if observation else None]
        if len(now) > 3:
            return Stop("user-stopped", RECORDED_END), {"seen": now}
        return Say("hm", "hum", len(now)), {"seen": now}


def test_a_simulated_user_opens_first_and_then_sees_each_answer_with_the_label_of_its_route(protocol: Protocol) -> None:
    user = ScriptedUser(protocol, {"visitor": Watchful()})
    rng = Streams(1)
    action, state = user.respond(user.start(Scenario(M002), rng), None, rng.at(1))
    for turn, seen in enumerate((VAGUE, LISTED, VAGUE, VAGUE), 2):
        action, state = user.respond(state, seen, rng.at(turn))
    assert isinstance(action, Stop)
    assert isinstance(state, ScriptedMemory)
    assert state.users["visitor"].memory["seen"] == [
        None,
        [LISTED.answer.text, "o"],
        [VAGUE.answer.text, "x"],
        [VAGUE.answer.text, "x"],
    ]


def test_a_protocol_without_its_users_cannot_be_played(protocol: Protocol) -> None:
    with pytest.raises(ValueError, match="needs users that are missing: visitor"):
        ScriptedUser(protocol)


def test_a_protocol_in_which_only_a_simulated_user_speaks_conforms(tmp_path: Path) -> None:
    free = TEXT.replace("start: ask", "start: wander").replace("turn_limit: 6", "turn_limit: 400")
    start = free.index("  ask:\n    say")
    path = tmp_path / "free.yaml"
    path.write_text(free[:start] + free[free.index("  wander:\n    user") :])
    protocol = load_protocol(path)
    assert_conforms(ScriptedUser(protocol, build_users(protocol)), [Scenario(M002)], seeds=5)


@pytest.mark.parametrize(
    ("old", "new", "line", "column", "words"),
    [
        ("simulator: random", "simulator: randm", 9, 16, "there is no simulator 'randm': did you mean 'random'?"),
        ("leave: 0.3", "leaves: 0.3", 11, 5, "unknown key 'leaves': did you mean 'leave'?"),
        ("leave: 0.3", "leave: 1.3", 11, 12, "at most 1"),
        ("leave: 0.3", "over: {simulator: random}", 11, 5, "does not wrap another user"),
        ("more: 2,", "mroe: 2,", 9, 5, "the act 'mroe' of the random user has no words"),
        ("    user: visitor", "    user: visitr", 23, 11, "unknown user 'visitr': did you mean 'visitor'?"),
    ],
)
def test_a_fault_of_a_user_is_refused_at_its_place(
    path: Path, old: str, new: str, line: int, column: int, words: str
) -> None:
    assert TEXT.count(old) == 1
    path.write_text(TEXT.replace(old, new))
    with pytest.raises(InputError) as caught:
        build_users(load_protocol(path))
    assert words in str(caught.value)
    assert caught.value.place is not None
    assert caught.value.place.path.endswith("wander.yaml")
    assert caught.value.place.line == line, str(caught.value)
    if column != 5 or line == 11:
        assert caught.value.place.column == column, str(caught.value)


def test_a_topic_without_a_users_words_is_refused_before_anything_is_sent(path: Path, tmp_path: Path) -> None:
    path.write_text(TEXT.replace("I still miss the links.", "And in {{ topic.fields.place }}?"))
    audit = {
        "format": "harvest-audit/1",
        "name": "a",
        "topics": "fairweb-45",
        "only": ["M002"],
        "protocol": "wander.yaml",
        "trials": 1,
        "systems": [{"name": "A", "driver": "parrot", "options": {"profile": "erratic"}}],
    }
    (tmp_path / "audit.yaml").write_text(json.dumps(audit))
    with pytest.raises(InputError, match=r"user 'visitor' on topic 'M002'.*place"):
        load_audit(str(tmp_path / "audit.yaml"))


def test_a_run_records_the_speaker_of_a_turn_and_its_rules_can_be_applied_again(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audit = {
        "format": "harvest-audit/1",
        "name": "a",
        "topics": "fairweb-45",
        "only": ["M001", "M002"],
        "protocol": "wander.yaml",
        "trials": 5,
        "systems": [{"name": "A", "driver": "parrot", "options": {"profile": "erratic"}, "concurrency": 4}],
    }
    (tmp_path / "audit.yaml").write_text(json.dumps(audit))
    with pytest.raises(SystemExit) as done:
        main(["run", "--no-report", str(tmp_path / "audit.yaml"), "--out", str(tmp_path / "run")])
    assert done.value.code == 0, capsys.readouterr().err
    protocol = load_protocol(path)
    run = read(tmp_path / "run")
    assert len(run.finished) == 10
    for one in run.finished:
        assert [(turn.state, turn.user) for turn in one.turns] == [
            ("ask", ""),
            *[("wander", "visitor")] * (len(one.turns) - 1),
        ]
        assert all(turn.act in ("more", "insist") for turn in one.turns[1:])
        assert one.outcome is not None
        assert one.outcome.kind in ("user-stopped", "turn-limit")
        assert reroute(protocol, TOPICS[one.key.topic], one, {}).parted == 0
    user = ScriptedUser(protocol, build_users(protocol))
    parrot = Parrot(load_catalogue("parrot", TOPICS.only(("M001", "M002"))), PROFILES["erratic"])
    again = rehearse(parrot, user, [TOPICS["M001"], TOPICS["M002"]], trials=5, seed=1, system="A")
    spoken = {one.key: [(turn.said, turn.act) for turn in one.turns] for one in again}
    assert spoken == {one.key: [(turn.said, turn.act) for turn in one.turns] for one in run.finished}
    capsys.readouterr()
    with pytest.raises(SystemExit) as done:
        main(["relabel", str(tmp_path / "run"), "--fail-on-change"])
    assert done.value.code == 0
    assert "0 of 10 conversations would have continued differently." in capsys.readouterr().out


def test_the_truth_of_a_parrot_is_not_invented_if_a_simulated_user_speaks(protocol: Protocol) -> None:
    with pytest.raises(ValueError, match="what the user 'visitor' says has no closed form here"):
        paths(PROFILES["erratic"], protocol, M002, load_catalogue("parrot", TOPICS))
