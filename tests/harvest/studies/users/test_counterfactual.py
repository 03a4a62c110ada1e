"""Figures with another user: weights are exact over whole trees, what was never played is named, and studies hold."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from harvest.studies.users.counterfactual import counterfactual, follow_path
from protocols.answer import Answer, Exchange
from protocols.protocol import Protocol
from protocols.reading import read_protocol
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, TrialKey, Turn
from recordings.log.run_folder import read
from scoring.inference.foretold import PredictedMean, predict_mean
from scoring.notation import parse
from simulators.enumeration import ExactPath, ExactTree, Response, expand
from simulators.registry import build_users
from simulators.scripted import ScriptedUser
from simulators.user import Scenario, Streams
from tests.support.command_line import harvest
from tests.support.rehearsal import converse
from topics.document import parse_document
from topics.errors import InputError
from topics.library import load_topics

TOPICS = load_topics("fairweb-45")
TOPIC = TOPICS["M002"]
SEED = 5
PROTOCOL = """\
format: harvest-protocol/1
name: talking
version: 1
start: talk
turn_limit: 3
rules: {unanswered: {contains: {phrases: [No idea]}}}
users: {visitor: USER}
states:
  talk: {user: visitor, edges: [{if: unanswered, label: x, go: talk}, {otherwise: true, label: o, go: talk}]}
"""
ROWS = (
    "rows: [{after: [start], next: {ask: 1}}, {after: [ask, ask], answer: x, next: {ask: STAY, stop: LEAVE}},"
    " {after: [ask], next: {ask: 0.8, stop: 0.2}}], order: 2, words: {ask: ['{{ topic.request }}', 'Films, please.']}"
)
AGENDA = "{simulator: agenda, constraints: {year: 'After 2000.'}, initiative: %g, cooperativeness: %g, patience: %d}"
RANDOM = "{simulator: random, acts: {ask: %d, more: %d}, leave: %g}"
PERSONA = "{simulator: persona, groups: {a: {cue: 'I teach.'}}, group: a, over: %s}"
REFORMULATING = "{simulator: reformulating, most: 1, over: {simulator: random, acts: {ask: 1}, leave: %g}}"
USERS: Mapping[str, str] = {
    "random": RANDOM % (1, 2, 0.3),
    "random, hasty": RANDOM % (2, 1, 0.7),
    "markov": f"{{simulator: markov, {ROWS.replace('STAY', '0.9').replace('LEAVE', '0.1')}}}",
    "markov, hasty": f"{{simulator: markov, {ROWS.replace('STAY', '0.3').replace('LEAVE', '0.7')}}}",
    "agenda": AGENDA % (0.5, 0.8, 2),
    "agenda, meek": AGENDA % (0.2, 0.4, 2),
    "persona": PERSONA % RANDOM % (1, 1, 0.3),
    "persona, hasty": PERSONA % RANDOM % (1, 1, 0.6),
    "typist": f"{{simulator: paraphrasing, typos: 0.5, over: {RANDOM % (1, 1, 0.3)}}}",
    "typist, hasty": f"{{simulator: paraphrasing, typos: 0.5, over: {RANDOM % (3, 1, 0.6)}}}",
    "reformulating": REFORMULATING % 0.3,
    "reformulating, hasty": REFORMULATING % 0.6,
}
PAIRS = [
    ("random", "random, hasty"),
    ("markov", "markov, hasty"),
    ("agenda", "agenda, meek"),
    ("persona", "persona, hasty"),
    ("typist", "typist, hasty"),
    ("reformulating", "reformulating, hasty"),
]
BOTH = [*PAIRS, *((other, one) for one, other in PAIRS)]
# The ways of writing a request with a typing error are many, and those of three requests their product.
LENGTHS = [(*pair, 2 if "typist" in pair else 3) for pair in BOTH]


def built(name: str, turns: int = 3) -> ScriptedUser:
    text = PROTOCOL.replace("USER", USERS[name]).replace("turn_limit: 3", f"turn_limit: {turns}")
    protocol: Protocol = read_protocol(parse_document(text, "talking.yaml"))
    return ScriptedUser(protocol, build_users(protocol))


def responses(before: tuple[Exchange, ...], said: str) -> Sequence[Response]:
    """A system that is good at first, and asks when it hears of years."""
    useful = 0.8 if not before else 0.3
    if "2000" in said:
        return [Response(useful, Answer("Here it is.")), Response(1 - useful, Answer("Which year do you mean?"))]
    return [Response(useful, Answer("Here it is.")), Response(1 - useful, Answer("No idea."))]


def tree(user: ScriptedUser) -> ExactTree:
    return expand(user, Scenario(TOPIC), responses, rng=Streams(SEED, ("scripted", TOPIC.id, 1)), most_turns=5)


def recorded(path: ExactPath) -> Conversation:
    turns = tuple(
        Turn(number, say.state, say.text, SystemTurn(exchange.answer), user=say.user, act=say.act)
        for number, (say, exchange) in enumerate(zip(path.turns, path.exchanges, strict=True), 1)
    )
    return Conversation(TrialKey("A", TOPIC.id, 1), "id", 1, turns, Outcome(path.outcome, path.reason))


def score(path: ExactPath) -> float:
    return path.labels.count("o") / len(path.labels)


def followed(path: ExactPath, played: Sequence[ScriptedUser], shares: Sequence[float], target: ScriptedUser) -> float:
    found = follow_path(recorded(path), TOPIC, played, shares, target, seed=SEED, traits={})
    assert found.unseen is None
    return found.weight


@pytest.mark.parametrize(
    ("played", "other", "turns"),
    [*LENGTHS, *(pytest.param(*pair, 3, marks=pytest.mark.soak) for *pair, turns in LENGTHS if turns < 3)],
    ids=str,
)
def test_weighted_paths_of_one_user_have_exactly_the_expectation_of_the_other(
    played: str, other: str, turns: int
) -> None:
    ours, theirs = built(played, turns), built(other, turns)
    mine, wanted = tree(ours), tree(theirs)
    weights = [followed(path, (ours,), (1.0,), theirs) for path in mine.paths]
    assert math.fsum(path.probability * weight for path, weight in zip(mine.paths, weights)) == pytest.approx(1)
    foretold = math.fsum(path.probability * weight * score(path) for path, weight in zip(mine.paths, weights))
    truth = math.fsum(path.probability * score(path) for path in wanted.paths)
    assert foretold == pytest.approx(truth)
    played_mean = math.fsum(path.probability * score(path) for path in mine.paths)
    assert abs(played_mean - truth) > 0.001, "the users differ"


def test_the_trials_of_a_population_were_drawn_from_all_its_members() -> None:
    members, shares = [built("random"), built("random, hasty")], (0.3, 0.7)
    truth = math.fsum(path.probability * score(path) for path in tree(members[1]).paths)
    foretold = whole = 0.0
    for user, share in zip(members, shares):
        for path in tree(user).paths:
            weight = followed(path, members, shares, members[1])
            assert weight <= 1 / 0.7 + 1e-9, "no weight is above one over the share"
            whole += share * path.probability * weight
            foretold += share * path.probability * weight * score(path)
    assert whole == pytest.approx(1)
    assert foretold == pytest.approx(truth)


def test_an_act_that_the_played_user_never_does_is_named_and_one_that_only_it_does_weighs_nothing() -> None:
    one, other = built("random"), built("markov")
    path = tree(one).paths[0]
    found = follow_path(recorded(path), TOPIC, (one,), (1.0,), other, seed=SEED, traits={})
    assert found.unseen is not None
    assert found.unseen.act == "ask"
    assert found.unseen.probability == pytest.approx(0.5), "one of its two wordings"
    assert found.unseen.where == "M002, trial 1, user turn 1"
    more = next(path for path in tree(one).paths if path.turns[0].act == "more")
    assert follow_path(recorded(more), TOPIC, (one,), (1.0,), other, seed=SEED, traits={}).weight == 0


def test_an_impossible_conversation_of_the_recorded_user_is_refused() -> None:
    one = built("random")
    path = next(path for path in tree(one).paths if len(path.turns) > 1)
    talked = recorded(path)
    strange = Conversation(
        talked.key, "id", 1, (Turn(1, "talk", "Sing to me.", talked.turns[0].reply), *talked.turns[1:]), talked.outcome
    )
    with pytest.raises(InputError, match=r"A, M002, trial 1: at turn 1 the user spoke \(talk\), which no user"):
        follow_path(strange, TOPIC, (one,), (1.0,), one, seed=SEED, traits={})


class Session:
    def __init__(self, rate: float, rng: np.random.Generator) -> None:
        self.rate, self.rng = rate, rng

    def answer(self, text: str) -> Answer:
        useful = self.rng.random() < self.rate
        self.rate = 0.25
        return Answer("Here it is." if useful else "No idea.")


RATES = (0.5, 0.95)


def truth_of(user: ScriptedUser) -> float:
    found = []
    for rate in RATES:

        def answers(before: tuple[Exchange, ...], said: str, rate: float = rate) -> Sequence[Response]:
            useful = 0.25 if before else rate
            return [Response(useful, Answer("Here it is.")), Response(1 - useful, Answer("No idea."))]

        exact = expand(user, Scenario(TOPIC), answers, rng=Streams(SEED, ("scripted", TOPIC.id, 1)), most_turns=5)
        found.append(math.fsum(path.probability * score(path) for path in exact.paths))
    return float(np.mean(found))


def study(seed: int, played: ScriptedUser, other: ScriptedUser, topics: int, trials: int) -> PredictedMean:
    """Conversations that were really held, and followed."""
    rng = np.random.default_rng(seed)
    values, weights = np.full((2, topics, trials), np.nan)
    for row, topic in enumerate(TOPICS.topics[:topics]):
        rate = float(rng.choice(RATES))
        for trial in range(1, trials + 1):
            one = converse(Session(rate, rng), played, topic, TrialKey("A", topic.id, trial), seed)
            labels = [turn.label for turn in one.turns]
            values[row, trial - 1] = labels.count("o") / len(labels)
            path = follow_path(one, topic, (played,), (1.0,), other, seed=seed, traits={})
            assert path.unseen is None
            weights[row, trial - 1] = path.weight
    return predict_mean(values, weights, level=0.95)


@pytest.mark.parametrize("studies", [15, pytest.param(40, marks=pytest.mark.soak)])
@pytest.mark.parametrize(("played", "other"), [("random", "random, hasty"), ("random, hasty", "random")])
def test_studies_of_parrots_are_predicted_in_both_directions(played: str, other: str, studies: int) -> None:
    ours, theirs = built(played), built(other)
    truth, given, held, mean = truth_of(theirs), 0, 0, list[float]()
    assert abs(truth - truth_of(ours)) > 0.05
    for seed in range(studies):
        found = study(seed, ours, theirs, 12, 4)
        given += found.interval.is_defined
        held += found.interval.contains(truth)
        mean.append(found.seen)
    assert held >= 0.93 * given - 2 * math.sqrt(0.065 * given)
    assert given >= 0.5 * studies
    assert abs(np.mean(mean) - 1) < 4 * np.std(mean) / math.sqrt(studies), "weights have the mean 1"


AUDIT = {
    "format": "harvest-audit/1",
    "name": "drawn",
    "topics": "fairweb-45",
    "protocol": "open-ended",
    "trials": 3,
    "seed": 2,
    "systems": [{"name": "A", "driver": "python", "options": {"function": "bot.py:session", "takes": "nothing"}}],
}
HASTY, PATIENT, MIDDLING = ({"visitor": {"simulator": "random", "leave": leave}} for leave in (0.7, 0.2, 0.4))
BOT = """\
from itertools import count
from random import Random

SEEDS = count(1)


def session():
    rng, share = Random(next(SEEDS)), 0.9

    def talk(text):
        nonlocal share
        useful = rng.random() < share
        share = 0.25
        return "Here it is." if useful else ""

    return talk
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("counterfactual")
    (found / "bot.py").write_text(BOT)
    drawn = {"patient": {"weight": 1, "users": PATIENT}, "hasty": {"weight": 1, "users": HASTY}}
    arms = {
        "patient": {"users": PATIENT},
        "hasty": {"users": HASTY},
        "typos": {"users": HASTY, "wording": {"typos": 0.2}},
    }
    few = ["M001", "M002", "M003", "M004", "R001"]
    audits: dict[str, dict[str, object]] = {"drawn": {"population": drawn}, "arms": {"arms": arms, "only": few}}
    for name, changes in audits.items():
        (found / f"{name}.yaml").write_text(json.dumps({**AUDIT, **changes}))
        done = harvest("run", f"{name}.yaml", "--out", name, cwd=found)
        assert done.returncode == 0, done.stderr
    (found / "middling.yaml").write_text(json.dumps(MIDDLING))
    (found / "bowing.yaml").write_text(
        json.dumps({"visitor": {"simulator": "random", "leave": 0.4, "words": {"bow": ["I bow."]}}})
    )
    return found


def rows(folder: Path, run: str, other: str, *more: str) -> dict[str, dict[str, object]]:
    done = harvest("users", "counterfactual", run, "--as", other, "--json", *more, cwd=folder)
    assert done.returncode == 0, done.stderr
    return {row["system"]: row for row in json.loads(done.stdout)["rows"]}


def test_a_population_predicts_its_members_and_a_user_in_between(folder: Path) -> None:
    values = []
    for other in ("hasty", "middling.yaml", "patient"):
        row = rows(folder, "drawn", other)["A"]
        assert row["note"] == ""
        assert isinstance(row["value"], float)
        assert row["low"] < row["value"] < row["high"]  # type: ignore[operator]
        assert row["played_by"] == {"patient": 0.5, "hasty": 0.5}
        values.append(row["value"])
    assert values == sorted(values, reverse=True), "the longer they stay, the less is useful"
    members = json.loads(harvest("users", "population", "drawn", "--json", cwd=folder).stdout)["rows"]
    by_name = {row["of"]: row for row in members}
    assert abs(by_name["hasty"]["value"] - values[0]) < 0.15
    assert abs(by_name["patient"]["value"] - values[2]) < 0.15


def test_each_arm_predicts_the_others_or_says_why_not(folder: Path) -> None:
    found = rows(folder, "arms", "patient")
    assert found["A [patient]"]["value"] == pytest.approx(found["A [patient]"]["played"])
    assert found["A [patient]"]["effective_n"] == pytest.approx(15)
    never = found["A [typos]"]["never_played"]
    assert isinstance(never, dict)
    assert found["A [typos]"]["value"] is None
    assert str(found["A [typos]"]["note"]).startswith(f"patient may do what was never played: {never['act']}, P = ")


def test_an_act_that_was_never_played_is_named(folder: Path) -> None:
    row = rows(folder, "drawn", "bowing.yaml")["A"]
    assert row["value"] is None
    assert str(row["note"]).startswith("bowing may do what was never played: bow, P = 0.167 in ")
    said = harvest("users", "counterfactual", "drawn", "--as", "bowing.yaml", cwd=folder).stdout
    assert "A, ave%useful: not estimated: bowing may do what was never played: bow" in " ".join(said.split())


@pytest.mark.parametrize(
    ("run", "other", "measures", "message"),
    [
        ("drawn", "hastie", (), "this run has no user 'hastie', and there is no such file: did you mean 'hasty'?"),
        ("drawn", "drawn.yaml", (), "has no user 'format'"),
        ("drawn", "hasty", ("-m", "%recovery"), "error: %recovery counts only conversations that reached"),
        ("drawn", "hasty", ("-m", "%useful S2"), "error: %useful S2 counts only conversations that reached"),
        ("drawn", "hasty", ("-m", "%useful"), "allowed: %useful S1, and measures that every conversation has"),
        ("drawn", "hasty", ("-m", "TTFT"), "error: TTFT has no largest value"),
        ("drawn", "hasty", ("-m", "cost"), "allowed: measures with a smallest and a largest value"),
    ],
)
def test_an_impossible_question_is_refused(
    folder: Path, run: str, other: str, measures: tuple[str, ...], message: str
) -> None:
    done = harvest("users", "counterfactual", run, "--as", other, *measures, cwd=folder)
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert message in said
    assert "(name=" not in said, "the value of a class of ours is no message"


@pytest.mark.parametrize("measure", ["GF", "Recall"])
def test_a_measure_that_needs_a_gold_table_asks_for_one(folder: Path, measure: str) -> None:
    assert {row["note"] for row in rows(folder, "arms", "patient", "-m", measure).values()} == {"no gold table"}
    shown = harvest("users", "counterfactual", "arms", "--as", "patient", "-m", measure, cwd=folder).stdout
    flat = " ".join(shown.split())
    assert "not estimated: no gold table" in flat
    assert f"note: {measure}" in flat


def test_first_turns_are_predicted_too(folder: Path) -> None:
    found = counterfactual(read(folder / "drawn"), "hasty", measures=[parse("%useful S1")])
    (one,) = found.figures
    assert one.label == "%useful S1"
    assert one.foretold.interval.contains(0.9)


def test_a_run_whose_protocol_says_every_word_has_no_other_user(tmp_path: Path) -> None:
    (tmp_path / "audit.yaml").write_text(
        json.dumps(
            {**AUDIT, "protocol": "fairweb-two-round", "only": ["M001"], "systems": [{"name": "A", "driver": "parrot"}]}
        )
    )
    (tmp_path / "user.yaml").write_text(json.dumps(MIDDLING))
    assert harvest("run", "audit.yaml", "--out", "run", cwd=tmp_path).returncode == 0
    with pytest.raises(InputError, match="no simulated user of a protocol took part in this run"):
        counterfactual(read(tmp_path / "run"), str(tmp_path / "user.yaml"))
