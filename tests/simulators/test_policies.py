"""The random, replay and recorded users: what they do, where they end, and whether forks keep their promise."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from scipy import stats

from harvest.cli import main
from harvest.parrot.parrot import Parrot, load_catalogue
from harvest.parrot.profiles import PROFILES
from protocols.answer import Answer
from protocols.route import Say, Stop
from recordings.conversations.conversation import Conversation
from recordings.trees.tree import ConversationTree
from simulators.conformance import assert_conforms
from simulators.memory import decode_memory
from simulators.random import Options, RandomUser, build
from simulators.reasons import BUDGET, LEFT, NO_BRANCH, RECORDED_END
from simulators.recorded import RecordedUser
from simulators.registry import build_user
from simulators.replay import ReplayUser, first_differing_turn
from simulators.user import Observation, Scenario, State, Streams
from tests.support.rehearsal import rehearse
from tests.support.talking import through_json, written
from tests.support.tree_examples import conversation, tree_of
from topics.document import Document
from topics.errors import InputError
from topics.library import load_topics

TOPICS = load_topics("fairweb-45")
TOPIC = TOPICS["M002"]
SCENARIO = Scenario(TOPIC)
ANSWER = Observation(Answer("Primer and Looper."))
USER = build(Options(leave=0.3, acts={"more": 2, "insist": 1}))


def talk(user: RandomUser | ReplayUser, answers: list[str], seed: int) -> tuple[list[Say], Stop, State]:
    rng = Streams(seed, (user.name, "M002", 1))
    action, state = user.respond(user.start(SCENARIO, rng.at(0)), None, rng.at(1))
    said: list[Say] = []
    while isinstance(action, Say):
        said.append(action)
        seen = Observation(Answer(answers[min(len(said), len(answers)) - 1]))
        action, state = user.respond(through_json(state), seen, rng.at(len(said) + 1))
    return said, action, state


@pytest.mark.parametrize("number", [400, pytest.param(1500, marks=pytest.mark.soak)])
def test_the_random_user_is_a_uniform_or_a_given_floor(number: int) -> None:
    conversations = [talk(USER, ["so"], seed) for seed in range(number)]
    acts = Counter(turn.state for said, _, _ in conversations for turn in said)
    # Of about 3.3 acts each 2/3 are `more`: binomial, two-sided p above 0.001.
    assert stats.binomtest(acts["more"], acts.total(), 2 / 3).pvalue > 0.001
    lengths = [len(said) for said, _, _ in conversations]
    goings_on = sum(lengths) - len(lengths)
    assert stats.binomtest(len(lengths), goings_on + len(lengths), 0.3).pvalue > 0.001
    assert {stop for _, stop, _ in conversations} == {Stop("user-stopped", LEFT)}
    assert set(build(Options()).weights.values()) == {1.0}


def test_the_random_user_ends_even_if_it_would_not_leave() -> None:
    said, stop, _ = talk(build(Options(leave=0, most=7)), ["so"], 1)
    assert (len(said), stop.reason) == (7, BUDGET)
    assert len(talk(build(Options(leave=1)), ["so"], 1)[0]) == 1


def test_a_random_user_without_words_or_weights_is_refused() -> None:
    with pytest.raises(InputError, match=r"the act 'sing' of the random user has no words"):
        build(Options(acts={"sing": 1}))
    with pytest.raises(InputError, match=r"the act 'more' has words but no weight"):
        build(Options(acts={"ask": 1}, words={"more": ("And?",)}))
    with pytest.raises(InputError, match="no act has a weight above 0"):
        build_user(Document("u", {"simulator": "random", "acts": {"ask": 0.0}}, {}, {}))


RECORDED = [
    conversation([("list", "one"), ("more", "two"), ("thanks", "bye")], 1),
    conversation([("list", "one"), ("again", "three")], 2),
]


def test_the_shipped_policies_conform() -> None:
    assert_conforms(USER, [SCENARIO])
    assert_conforms(RecordedUser({"M002": tree_of(RECORDED)}), [SCENARIO])
    for mode in ("strict", "tolerant"):
        assert_conforms(ReplayUser({"M002": RECORDED}, mode), [SCENARIO])


def test_a_strict_replay_says_the_recorded_words_and_leaves_if_the_answer_differs() -> None:
    user = ReplayUser({"M002": RECORDED[:1]})
    said, stop, state = talk(user, ["one", "two", "bye"], 1)
    assert [turn.text for turn in said] == ["list", "more", "thanks"]
    assert {turn.state for turn in said} == {"recorded"}
    assert (stop.reason, first_differing_turn(state)) == (RECORDED_END, None)
    said, stop, _ = talk(user, ["one", "else"], 1)
    assert ([turn.text for turn in said], stop.reason) == (["list", "more"], NO_BRANCH)


def test_a_tolerant_replay_continues_by_turn_number_and_says_from_where_it_no_longer_fits() -> None:
    user = ReplayUser({"M002": RECORDED[:1]}, "tolerant")
    said, stop, state = talk(user, ["one", "else", "bye"], 1)
    assert [(turn.text, turn.state) for turn in said] == [
        ("list", "recorded"),
        ("more", "recorded"),
        ("thanks", "out-of-place"),
    ]
    assert (stop.reason, first_differing_turn(state)) == (RECORDED_END, 3)
    assert first_differing_turn(talk(user, ["else", "two", "bye"], 1)[2]) == 2


def test_each_trial_draws_one_of_the_recorded_conversations() -> None:
    user = ReplayUser({"M002": RECORDED}, "tolerant")
    counted = Counter(talk(user, ["one"], seed)[0][1].text for seed in range(400))
    assert set(counted) == {"more", "again"}
    assert stats.binomtest(counted["more"], 400, 0.5).pvalue > 0.001


def test_recorded_runs_are_played_by_name_from_the_folder_of_the_protocol(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    audit = {
        "format": "harvest-audit/1",
        "name": "first",
        "topics": "fairweb-45",
        "only": ["M002"],
        "protocol": "fairweb-two-round",
        "trials": 3,
        "systems": [{"name": "A", "driver": "parrot", "options": {"profile": "erratic"}}],
    }
    (tmp_path / "first.yaml").write_text(json.dumps(audit))
    with pytest.raises(SystemExit) as done:
        main(["run", "--no-report", str(tmp_path / "first.yaml"), "--out", str(tmp_path / "recorded")])
    assert done.value.code == 0, capsys.readouterr().err
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    def described(**options: object) -> Document:
        return Document(str(tmp_path / "p.yaml"), {"run": "recorded", **options}, {}, {})

    for one in ({"simulator": "recorded"}, {"simulator": "replay"}, {"simulator": "replay", "mode": "tolerant"}):
        assert_conforms(build_user(described(**one)), [SCENARIO], seeds=3)
    with pytest.raises(InputError, match="no finished conversation with system 'B'"):
        build_user(described(simulator="replay", system="B"))
    with pytest.raises(InputError, match="M003"):
        build_user(described(simulator="recorded")).start(Scenario(TOPICS["M003"]), Streams(1))


def decisions(user: RecordedUser, tree: ConversationTree) -> Iterator[tuple[int, State, Observation | None]]:
    """Every node at which the user is to decide, with the memory and the observation that lead to it."""
    rng = Streams(0)
    start = user.start(SCENARIO, rng)
    yield 0, start, None
    for node in range(1, len(tree)):
        if tree.speaker(node) == "system":
            above = int(tree.parent[node])
            depth = sum(tree.speaker(at) == "user" for at in tree.path(node))
            state = replace(start, node=above, turn=depth)
            yield node, through_json(state), Observation(Answer(tree.symbol_at(node).text))


def recorded_tree() -> ConversationTree:
    """Three hundred conversations of a random user with a parrot, by what the answers begin with."""
    catalogue = load_catalogue("parrot", TOPICS.only(("M002",)))
    played: list[Conversation] = list(
        rehearse(Parrot(catalogue, PROFILES["erratic"]), USER, [TOPIC], trials=300, seed=2)
    )
    return tree_of(played)


def test_forking_at_every_node_of_a_recorded_tree_gives_the_promised_distribution() -> None:
    tree = recorded_tree()
    user = RecordedUser({"M002": tree})
    found: list[float] = []
    draws = 300
    for node, state, seen in decisions(user, tree):
        promised = {(chance.action, str(chance.state)): chance.probability for chance in user.distribution(state, seen)}
        assert sum(promised.values()) == pytest.approx(1)
        if len(promised) == 1:
            forks = [user.respond(state, seen, Streams(4).at("fork", node, fork)) for fork in range(3)]
            assert {(action, str(after)) for action, after in forks} == set(promised)
            continue
        forks = [user.respond(state, seen, Streams(4).at("fork", node, fork)) for fork in range(draws)]
        counted = Counter((action, str(after)) for action, after in forks)
        assert set(counted) <= set(promised)
        expected = [draws * p for p in promised.values()]
        # Cells that are expected less than five times are one.
        rare = [i for i, n in enumerate(expected) if n < 5]
        cells = [[counted[key], expected[i]] for i, key in enumerate(promised) if i not in rare]
        if rare:
            keys = list(promised)
            cells.append([sum(counted[keys[i]] for i in rare), sum(expected[i] for i in rare)])
        if len(cells) > 1:
            found.append(float(stats.chisquare([n for n, _ in cells], [e for _, e in cells]).pvalue))
    assert len(found) >= 10, "there are rows to look at"
    # Holm's correction: no row of so many is out of line at 1 in 1,000.
    assert min(found) > 0.001 / len(found)
    # And together they are as even as p-values are.
    assert stats.kstest(found, "uniform").pvalue > 0.001


def test_a_fork_continues_by_itself_and_does_not_change_the_node() -> None:
    rng = Streams(5, ("random", "M002", 1))
    _, state = USER.respond(USER.start(SCENARIO, rng), None, rng.at(1))
    before = written(state)
    forks = [USER.respond(state, ANSWER, rng.at(2).at("fork", number)) for number in range(200)]
    assert written(state) == before
    assert len({str(fork) for fork in forks}) > 2
    assert forks[7] == USER.respond(decode_memory(json.loads(before)), ANSWER, rng.at(2).at("fork", 7))
