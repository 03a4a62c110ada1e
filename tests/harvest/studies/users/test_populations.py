"""The figure of a population is the sum over its members of share times exact expectation, whatever was lost."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from harvest.audits.audit_file import Member, MemberEntry, draw_member, read_population
from harvest.studies.scores.scorecard import Material
from harvest.studies.scores.trial_values import share_values
from harvest.studies.users.populations import Figure, population_figures, system_figures
from protocols.answer import Answer, Exchange
from protocols.reading import read_protocol
from recordings.conversations.conversation import INVALID, Conversation, Outcome, TrialKey
from recordings.log.run_folder import read
from scoring.inference.bootstrap import Resampler
from scoring.library import read_term
from scoring.measures.usefulness import MEAN_USEFUL
from scoring.notation import parse
from scoring.scores import SHIPPED
from scoring.settings import Settings
from scoring.swan.schema import load_schema
from simulators.enumeration import Response, expand
from simulators.user import EnumerableUser, Scenario
from tests.support.command_line import harvest
from tests.support.rehearsal import converse
from topics.document import parse_document
from topics.errors import InputError
from topics.identity import generator
from topics.library import load_topics

TOPICS = load_topics("fairweb-45")
PROTOCOL = read_protocol(
    parse_document(
        """\
format: harvest-protocol/1
name: talking
version: 1
start: talk
turn_limit: 5
rules: {unanswered: {contains: {phrases: [No idea]}}}
users: {visitor: {simulator: markov}}
states:
  talk: {user: visitor, edges: [{if: unanswered, label: x, go: talk}, {otherwise: true, label: o, go: talk}]}
""",
        "talking.yaml",
    )
)
LEAVES = (
    "rows: [{after: [start], next: {ask: 1}}, {after: [ask], answer: o, next: {ask: %g, stop: %g}},"
    " {after: [ask], next: {ask: %g, stop: %g}}], words: {ask: ['{{ topic.request }} (turn {{ turn }})']}"
)


def member(weight: float, after_o: float, after_x: float) -> str:
    rows = LEAVES % (1 - after_o, after_o, 1 - after_x, after_x)
    return f"{{weight: {weight}, users: {{visitor: {{simulator: markov, {rows}}}}}}}"


AUDIT = parse_document(
    f"population: {{patient: {member(0.7, 0.1, 0.15)}, hasty: {member(0.3, 0.8, 0.6)}}}", "audit.yaml"
)
RATES = (0.2, 0.6, 0.95)  # of first answers that are useful; later ones are so a sixth as often


def population() -> tuple[Member, ...]:
    assert isinstance(AUDIT.value, dict)
    entries = {name: AUDIT.part(("population", name)).validate_as(MemberEntry) for name in AUDIT.value["population"]}
    return read_population(AUDIT, entries, PROTOCOL, TOPICS.topics[:1])


POPULATION = population()
SHARES = {one.name: one.share for one in POPULATION}


def chance(rate: float, answered: int) -> float:
    return rate if not answered else rate / 6


@cache
def exact(name: str) -> float:
    """Expected ave%useful of a member over topics whose rates are equally frequent, from its whole tree."""
    (user,) = (one.arm.user for one in POPULATION if one.name == name)
    assert isinstance(user, EnumerableUser)
    found = []
    for rate in RATES:

        def responses(before: tuple[Exchange, ...], said: str, rate: float = rate) -> Sequence[Response]:
            useful = chance(rate, len(before))
            return [Response(useful, Answer("Here it is.")), Response(1 - useful, Answer("No idea."))]

        tree = expand(user, Scenario(TOPICS.topics[0]), responses, most_turns=5)
        found.append(sum(path.probability * path.labels.count("o") / len(path.labels) for path in tree.paths))
    return float(np.mean(found))


class Session:
    def __init__(self, rate: float, rng: np.random.Generator) -> None:
        self.rate, self.rng, self.answered = rate, rng, 0

    def answer(self, text: str) -> Answer:
        useful = self.rng.random() < chance(self.rate, self.answered)
        self.answered += 1
        return Answer("Here it is." if useful else "No idea.")


def study(seed: int, *, topics: int, trials: int, lost: Mapping[str, float]) -> Material:
    rng, found = np.random.default_rng(seed), list[Conversation]()
    chosen = replace(TOPICS, topics=TOPICS.topics[:topics])
    for topic in chosen.topics:
        rate = RATES[int(rng.integers(len(RATES)))]
        for trial in range(1, trials + 1):
            drawn = draw_member(POPULATION, seed, topic.id, trial)
            one = converse(Session(rate, rng), drawn.arm.user, topic, TrialKey("A", topic.id, trial), seed)
            if rng.random() < lost.get(drawn.name, 0.0):
                one = replace(one, outcome=Outcome(INVALID, "timeout"))
            found.append(replace(one, member=drawn.name))
    turns = {("A", topic.id): 5 for topic in chosen.topics}
    return Material(chosen, ("A",), tuple(found), turns, frozenset(one.key for one in found), None, {}, (), ())


MEASURE = read_term(parse(MEAN_USEFUL.name), Settings(), TOPICS, load_schema(SHIPPED))[0]
KEY = (MEAN_USEFUL.name, None)
UNEQUAL = {"hasty": 0.6, "patient": 0.05}


def figures(material: Material, seed: int, weights: Mapping[str, float] | None = None) -> dict[str, Figure]:
    resampler = Resampler(generator(seed, "test"), replications=1000)
    _, found = system_figures("A", SHARES, material, {KEY: MEASURE}, share_values("A", material), resampler, weights)
    return {one.of: one for one in found}


@pytest.mark.parametrize(
    ("studies", "topics", "trials", "lost"),
    [
        (25, 15, 4, UNEQUAL),
        *(pytest.param(80, *cell, marks=pytest.mark.soak) for cell in ((15, 4, {}), (6, 4, {}), (15, 4, UNEQUAL))),
    ],
)
def test_the_figure_is_the_sum_of_share_times_exact_tree(
    studies: int, topics: int, trials: int, lost: Mapping[str, float]
) -> None:
    turned = {"patient": 0.4, "hasty": 0.6}
    truth = {
        "population": sum(share * exact(name) for name, share in SHARES.items()),
        "re-weighted": sum(share * exact(name) for name, share in turned.items()),
        **{name: exact(name) for name in SHARES},
    }
    assert abs(exact("patient") - exact("hasty")) > 0.05, "who is asked for matters"
    held, off = dict.fromkeys(truth, 0), {name: list[float]() for name in truth}
    given = dict.fromkeys(truth, 0)
    for seed in range(studies):
        for name, one in figures(study(seed, topics=topics, trials=trials, lost=lost), seed, turned).items():
            if one.found.n:
                off[name].append(one.found.value - truth[name])
            given[name] += one.found.interval.is_defined
            held[name] += one.found.interval.contains(truth[name])
    for name in truth:
        assert held[name] >= 0.93 * given[name] - 2 * np.sqrt(0.065 * max(1, given[name])), (name, held, given)
        assert abs(np.mean(off[name])) < 3.5 * np.std(off[name]) / np.sqrt(len(off[name])), (name, np.mean(off[name]))
    assert given["population"] == studies


def test_without_loss_the_figure_is_that_of_score() -> None:
    material = study(3, topics=12, trials=4, lost={})
    found = figures(material, 3)["population"].found
    shares = [
        np.mean([value for (of, _), (value, _) in share_values("A", material)[KEY].items() if of == topic.id])
        for topic in material.topics.topics
    ]
    assert found.value == pytest.approx(np.mean(shares))
    assert found.n == 48
    assert found.effective == pytest.approx(48)


def test_a_member_without_trials_is_reported_and_nothing_replaces_it() -> None:
    found = figures(study(3, topics=12, trials=4, lost={"hasty": 1.0}), 3, {"patient": 1.0, "hasty": 0.0})
    for name in ("population", "hasty"):
        assert np.isnan(found[name].found.value)
        assert found[name].found.interval.note.startswith("all ")
        assert found[name].found.interval.note.endswith(" trials of hasty were lost")
    assert found["patient"].found.value == found["re-weighted"].found.value


RUN = {
    "format": "harvest-audit/1",
    "name": "drawn",
    "topics": "fairweb-45",
    "protocol": "open-ended",
    "trials": 3,
    "systems": [{"name": "A", "driver": "python", "options": {"function": "bot.py:answer"}}],
    "population": {
        "patient": {"weight": 3, "users": {"visitor": {"simulator": "random", "leave": 0.1}}},
        "hasty": {"weight": 1, "users": {"visitor": {"simulator": "random", "leave": 0.7}}},
    },
}
BOT = """\
import hashlib

def answer(text):
    return "Here it is." if hashlib.blake2b(text.encode()).digest()[0] % 2 else ""
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("population")
    (folder / "audit.yaml").write_text(json.dumps(RUN))
    (folder / "bot.py").write_text(BOT)
    done = harvest("run", "audit.yaml", "--out", "run", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "run"


def test_the_command_prints_each_member_and_other_weights(run: Path) -> None:
    done = harvest("users", "population", "run", "--weights", "patient=1,hasty=3", "--json", cwd=run.parent)
    assert done.returncode == 0, done.stderr
    rows = {row["of"]: row for row in json.loads(done.stdout)["rows"]}
    assert list(rows) == ["population", "patient", "hasty", "re-weighted"]
    assert rows["re-weighted"]["weights"] == {"patient": 0.25, "hasty": 0.75}
    assert rows["patient"]["drawn"] + rows["hasty"]["drawn"] == rows["population"]["drawn"] == 135
    assert rows["re-weighted"]["effective_n"] < rows["re-weighted"]["n"] == 135
    for row in rows.values():
        assert row["low"] < row["value"] < row["high"]
    low, high = sorted((rows["patient"]["value"], rows["hasty"]["value"]))
    assert low <= rows["re-weighted"]["value"] <= high
    said = harvest("users", "population", "run", "-m", "%useful S1", cwd=run.parent).stdout
    assert "%useful S1" in said
    assert "patient" in said


def test_the_legend_says_that_a_ratio_of_sums_is_not_a_mean_over_topics(run: Path) -> None:
    shown = {
        measures: " ".join(harvest("users", "population", run, *measures).stdout.split())
        for measures in ((), ("-m", "%recovery"), ("-m", "%useful S1", "-m", "%recovery"))
    }
    mean, ratio = "each topic counts the same", "of %recovery one ratio of sums over topics and trials"
    assert [(mean in said, ratio in said) for said in shown.values()] == [(True, False), (False, True), (True, True)]


def test_the_rest_of_a_long_name_is_indented_on_the_next_line(run: Path) -> None:
    shown = harvest("users", "population", run, "--weights", "patient=1,hasty=2").stdout.splitlines()
    (place,) = (number for number, line in enumerate(shown) if line.startswith("   re-weighted: "))
    assert shown[place + 1].startswith("     ")


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("patiend=1", "the population has no member 'patiend'"),
        ("patient=0", "no member has a weight above 0"),
        ("patient=-1,hasty=2", "the weight of 'patient' cannot be -1"),
        ("patient", "is not MEMBER=WEIGHT"),
        ("patient=1,patient=2", "repeats a member"),
    ],
)
def test_weights_of_unknown_members_are_refused(run: Path, weights: str, message: str) -> None:
    done = harvest("users", "population", "run", "--weights", weights, cwd=run.parent)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_run_without_a_population_is_refused(tmp_path: Path) -> None:
    (tmp_path / "audit.yaml").write_text(
        json.dumps({**RUN, "population": None, "only": ["M001"], "systems": [{"name": "A", "driver": "parrot"}]})
    )
    assert harvest("run", "audit.yaml", "--out", "run", cwd=tmp_path).returncode == 0
    with pytest.raises(InputError, match="not drawn from a population"):
        population_figures(read(tmp_path / "run"))
