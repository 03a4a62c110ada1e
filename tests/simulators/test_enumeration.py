"""Exact expectations over enumerated users against many trials of the same: they agree within 3 standard errors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest

from harvest.parrot.parrot import Catalogue, Parrot, compose, entry_line, interpret_turn, load_catalogue
from harvest.parrot.profiles import PROFILES, Behaviour, Profile
from protocols.answer import Answer, Exchange
from protocols.library import load_protocol
from protocols.route import Say
from scoring.divergences import jsd
from scoring.measures.relevance import hard_normaliser
from scoring.nuggets import position_weight
from scoring.stochastic.expectation import fairness, mean, ratio
from scoring.stochastic.paths import enumerate_paths
from simulators.enumeration import Response, Responses, expand
from simulators.random import Options, build
from simulators.registry import build_users
from simulators.scripted import ScriptedUser
from simulators.user import Observation, Scenario, Streams
from tests.support.rehearsal import rehearse
from topics.library import load_topics
from topics.links import links_in

TOPICS = load_topics("fairweb-45").only(("M002",))
TOPIC = TOPICS["M002"]
SCENARIO = Scenario(TOPIC)
LENGTH, PATIENCE = 3, 1250
VISITORS = {
    "random": "{simulator: random, acts: {ask: 1, more: 2, insist: 1}, leave: 0.3, words: {ask: [WORDS_ASK],"
    " insist: ['Adhere to the format, please.'], more: ['Can you name a few more?', 'Any other ones?']}}",
    "markov": "{simulator: markov, rows: [{after: [start], next: {ask: 1}},"
    " {after: [ask], answer: o, next: {more: 0.6, insist: 0.1, stop: 0.3}},"
    " {after: [ask], next: {insist: 0.7, stop: 0.3}}, {after: [more], next: {more: 0.5, stop: 0.5}},"
    " {after: [insist], answer: x, next: {insist: 0.2, stop: 0.8}}, {after: [insist], next: {more: 0.6, stop: 0.4}}],"
    " words: {ask: [WORDS_ASK], more: ['Can you name a few more?'], insist: ['Adhere to the format, please.']}}",
}
PROTOCOL = """\
format: harvest-protocol/1
name: wander
version: 1
turn_limit: 3
rules: {useful: {urls: {kind: asked}}}
users: {visitor: VISITOR}
start: open
states:
  open: {STATE, edges: [{if: useful, label: o, go: wander}, {otherwise: true, label: x, go: wander}]}
  wander: {user: visitor, edges: [{if: useful, label: o, go: wander}, {otherwise: true, label: x, go: wander}]}
"""
ASK = "'{{ topic.request }} Format: {{ topic.asks_for }}'"


def played_by(visitor: str, tmp_path: Path) -> ScriptedUser:
    state = f"say: {ASK}" if visitor == "random" else "user: visitor"
    words = VISITORS[visitor].replace("ask: 1, ", "").replace("ask: [WORDS_ASK],", "") if visitor == "random" else ""
    text = PROTOCOL.replace("VISITOR", words or VISITORS[visitor].replace("WORDS_ASK", ASK)).replace("STATE", state)
    path = tmp_path / "wander.yaml"
    path.write_text(text)
    protocol = load_protocol(path)
    return ScriptedUser(protocol, build_users(protocol))


def of_parrot(profile: Profile, catalogue: Catalogue) -> Responses:
    """The parrot's answers with their probabilities; each behaviour in one variant, as all have the same length."""
    shelf = catalogue.shelves[TOPIC.id]
    done: dict[str, Behaviour] = {}

    def responses(exchanges: tuple[Exchange, ...], said: str) -> Sequence[Response]:
        before = [done[exchange.answer.text] for exchange in exchanges]
        heard, found = interpret_turn(said, catalogue, shelf if exchanges else None)
        assert found is shelf, said
        start = profile.entities * before.count("list")
        assert start + profile.entities <= len(shelf.entries)
        made = []
        for behaviour, probability in profile.row(before[-1] if before else None, heard).items():
            if probability > 0:
                entries = shelf.entries[start : start + profile.entities]
                lines = [entry_line(one.title, one.url) if behaviour == "list" else one.title for one in entries]
                text = compose(behaviour, heard, lines, lambda n: 0)
                assert done.setdefault(text, behaviour) == behaviour
                made.append(Response(probability, Answer(text, links_in(text))))
        return made

    return responses


def useful_share(exchanges: Sequence[Exchange], labels: Sequence[str | None]) -> tuple[float, float]:
    """Numerator and denominator of a turn-level criterion of SWAN, weighted by the last word of each turn."""
    words, ends = 0, []
    for exchange in exchanges:
        words += len(exchange.said.split()) + len(exchange.answer.text.split())
        ends.append(words)
    weights = position_weight(ends, PATIENCE)
    return float(sum(w for w, label in zip(weights, labels, strict=True) if label == "o")), float(weights.sum())


def entry_positions(exchanges: Iterable[Exchange], urls: Iterable[str]) -> list[tuple[int, str]]:
    words = " ".join(text for exchange in exchanges for text in (exchange.said, exchange.answer.text)).split()
    known = set(urls)
    return [(place, word) for place, word in enumerate(words, 1) if word in known]


def agrees(values: Sequence[float], exact: float) -> None:
    """Within 3 standard errors of the mean of the trials."""
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    assert error > 0
    assert abs(float(np.mean(values)) - exact) <= 3 * error, (np.mean(values), exact, error)


@pytest.mark.parametrize("trials_played", [300, pytest.param(1500, marks=pytest.mark.soak)])
@pytest.mark.parametrize("visitor", VISITORS)
@pytest.mark.parametrize("profile", ["erratic", pytest.param("format-breaking", marks=pytest.mark.soak)])
def test_exact_expected_scores_on_a_parrot_equal_those_of_many_trials(
    visitor: str, profile: str, trials_played: int, tmp_path: Path
) -> None:
    catalogue, user = load_catalogue("parrot", TOPICS), played_by(visitor, tmp_path)
    habits, shelf = PROFILES[profile], catalogue.shelves[TOPIC.id]
    tree = expand(user, SCENARIO, of_parrot(habits, catalogue))
    assert math.fsum(tree.weights) == pytest.approx(1, abs=1e-12)
    played = list(rehearse(Parrot(catalogue, habits), user, [TOPIC], trials=trials_played, seed=5))

    parts = [useful_share(path.exchanges, path.labels) for path in tree.paths]
    exact = ratio([n for n, _ in parts], [d for _, d in parts], tree.weights)
    trials = [useful_share(one.exchanges, [turn.label for turn in one.turns]) for one in played]
    agrees([n / d for n, d in trials], exact.expected)

    # A place earns the mean gain of the shelf, unless its URL is wrong or it repeats an earlier entry.
    gains = {0: 0.0, 1: 0.5, 2: 1.0}
    by_url = {entry.url: gains[entry.grade] for entry in shelf.entries}
    gain = math.fsum(by_url.values()) / len(by_url)
    kept = 1 - habits.wrong

    def expected(exchanges: Sequence[Exchange]) -> float:
        places = [place for place, _ in entry_positions(exchanges, by_url)]
        earned = [kept * (1 - (habits.repeats if number else 0.0)) * gain for number in range(len(places))]
        return float((position_weight(places, PATIENCE) * earned).sum()) / hard_normaliser(PATIENCE) if places else 0.0

    def realised(exchanges: Sequence[Exchange]) -> float:
        seen: set[str] = set()
        total = 0.0
        for place, url in entry_positions(exchanges, by_url):
            total += 0.0 if url in seen else float(position_weight(place, PATIENCE)) * by_url[url]
            seen.add(url)
        return total / hard_normaliser(PATIENCE)

    exact_relevance = mean([expected(path.exchanges) for path in tree.paths], tree.weights)
    agrees([realised(one.exchanges) for one in played], exact_relevance)


GOLD = (0.5, 0.5)


def of_groups(exchanges: tuple[Exchange, ...], said: str) -> Sequence[Response]:
    """Lists entities of two groups, the second less and less often; sometimes nothing at all."""
    late = len(exchanges)
    return (
        Response(0.4, Answer(f"turn {late}: groupA groupA groupB")),
        Response(0.35, Answer(f"turn {late}: groupA")),
        Response(0.25 / (1 + late), Answer(f"turn {late}: groupB groupB")),
        *((Response(0.25 * late / (1 + late), Answer(f"turn {late}: nothing today")),) if late else ()),
    )


def relevance_and_turns(exchanges: Sequence[Exchange]) -> tuple[float, list[tuple[list[float], int]]]:
    """R with gain 1 for each entity, and for each turn that has some their groups and number."""
    places = [place for place, _ in entry_positions(exchanges, ("groupA", "groupB"))]
    held = [[one.answer.text.count("groupA"), one.answer.text.count("groupB")] for one in exchanges]
    turns = [([a / (a + b), b / (a + b)], a + b) for a, b in held if a + b]
    earned = float(position_weight(places, 40).sum()) / hard_normaliser(40) if places else 0.0
    return earned, turns


@pytest.mark.parametrize("trials_played", [500, pytest.param(3000, marks=pytest.mark.soak)])
def test_exact_expected_gfrc_equals_that_of_many_trials(trials_played: int) -> None:
    user = build(Options(leave=0.35, most=3, acts={"more": 2, "insist": 1}))
    tree = expand(user, SCENARIO, of_groups)

    def gf(paths: Sequence[Sequence[Exchange]], weights: Sequence[float] | None = None) -> float:
        rows = [(number, *turn) for number, path in enumerate(paths) for turn in relevance_and_turns(path)[1]]
        return fairness(
            [row[0] for row in rows],
            [row[1] for row in rows],
            [row[2] for row in rows],
            GOLD,
            jsd,
            paths=len(paths),
            weights=weights,
        ).expected

    paths = [path.exchanges for path in tree.paths]
    relevant = mean([relevance_and_turns(path)[0] for path in paths], tree.weights)
    exact = 0.5 * relevant + 0.5 * gf(paths, tree.weights.tolist())

    trials = []
    for trial in range(trials_played):
        rng = Streams(9, ("random", "M002", trial))
        action, state = user.respond(user.start(SCENARIO, rng.at(0)), None, rng.at(1))
        exchanges: tuple[Exchange, ...] = ()
        while isinstance(action, Say):
            answers = of_groups(exchanges, action.text)
            drawn = int(rng.at(action.turn)("system").choice(len(answers), p=[one.probability for one in answers]))
            answer = answers[drawn].answer
            exchanges = (*exchanges, Exchange(action.text, answer))
            action, state = user.respond(state, Observation(answer), rng.at(action.turn + 1))
        trials.append(0.5 * relevance_and_turns(exchanges)[0] + 0.5 * gf([exchanges]))
    agrees(trials, exact)


def test_the_edges_and_the_paths_of_the_tree_agree() -> None:
    tree = expand(build(Options(leave=0.35, most=3)), SCENARIO, of_groups)
    found = enumerate_paths(tree.parent, tree.probability)
    by_end: dict[int, float] = {}
    for end, weight in zip(tree.ends.tolist(), tree.weights.tolist(), strict=True):
        by_end[end] = by_end.get(end, 0.0) + weight
    assert dict(zip(found.ends.tolist(), found.weights.tolist(), strict=True)) == pytest.approx(by_end)
    assert {path.outcome for path in tree.paths} == {"user-stopped"}
    assert {path.reason for path in tree.paths} == {"left", "budget"}


def test_a_path_that_continues_at_the_limit_is_cut_and_says_so() -> None:
    tree = expand(
        build(Options(leave=0.5, acts={"ask": 1})), SCENARIO, lambda _, said: [Response(1, Answer("so"))], most_turns=2
    )
    found = {(len(path.turns), path.outcome): path.probability for path in tree.paths}
    assert found == pytest.approx({(1, "user-stopped"): 0.5, (2, "user-stopped"): 0.25, (2, "turn-limit"): 0.25})


def test_no_part_of_a_tree_is_left_out_silently() -> None:
    user = build(Options())
    with pytest.raises(ValueError, match="more than 100 nodes"):
        expand(user, SCENARIO, of_groups, most_nodes=100)
    with pytest.raises(ValueError, match=r"of the answers to .* sum to 0\.5"):
        expand(user, SCENARIO, lambda _, said: [Response(0.5, Answer(""))])
