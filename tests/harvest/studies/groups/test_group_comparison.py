"""Groups of users beside each other: paired differences, what chance does, and how an unfair parrot is found out."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harvest.cli.main import main
from harvest.parrot.parrot import Catalogue, Parrot, load_catalogue
from harvest.parrot.profiles import PROFILES, Behaviour, Profile, Row
from harvest.studies.groups.group_comparison import Comparison, compare_groups, grouped_systems
from harvest.systems.driver import Opening, Unanswered
from protocols.library import load_protocol
from recordings.log.run_folder import read
from scoring.inference.aligned import Cell, Trial
from scoring.inference.interval import no_interval
from scoring.inference.matched import Difference, compare_family, difference
from scoring.measures.usefulness import labels
from scoring.notation import parse_all
from scoring.statistics.exchange import exchange_p, holm_correction, smallest_p
from simulators.registry import build_users
from simulators.scripted import ScriptedUser
from simulators.user import Scenario, State, Streams
from tests.harvest.audits.test_groups import ANSWER, audit, audit_file, played
from tests.harvest.playing.test_policies import Scripted
from tests.support.rehearsal import rehearse
from tests.support.study_rows import figures
from topics.errors import InputError
from topics.library import load_topics

TOPICS = load_topics("fairweb-45")


# Exchanging, and Holm


def test_the_exact_p_of_exchanges_is_counted_by_hand_for_few_topics() -> None:
    rng = np.random.default_rng(1)
    assert exchange_p([0.3, 0.2, 0.1], rng) == 2 / 8, "all one way, or all the other"
    assert exchange_p([0.3, -0.2, -0.1], rng) == 1.0, "the mean is 0"
    assert exchange_p([0.3, 0.2, -0.1], rng) == 4 / 8
    assert exchange_p([0.3, 0.0, 0.0], rng) == 1.0, "one topic that differs says nothing"
    assert exchange_p([0.0, 0.0], rng) == 1.0
    assert math.isnan(exchange_p([0.4], rng))
    assert math.isnan(exchange_p([], rng))
    assert [smallest_p(n) for n in (2, 6)] == [0.5, 2 / 64]
    assert math.isnan(smallest_p(1))


@given(st.lists(st.integers(-4, 4), min_size=2, max_size=7))
@settings(max_examples=60)
def test_the_p_of_exchanges_follows_its_definition(values: list[int]) -> None:
    seen = abs(sum(values))
    signed = [abs(sum(s * v for s, v in zip(signs, values))) for signs in product((1, -1), repeat=len(values))]
    wanted = sum(one >= seen for one in signed) / len(signed)
    assert exchange_p(np.array(values) / 3, np.random.default_rng(1)) == pytest.approx(wanted)
    assert exchange_p(-np.array(values) / 3, np.random.default_rng(1)) == pytest.approx(wanted)
    assert wanted >= smallest_p(len(values))


def test_for_many_topics_exchanges_are_drawn_and_approximate_all_of_them() -> None:
    values = np.random.default_rng(3).normal(0.25, 1, 13)
    whole = exchange_p(values, np.random.default_rng(1))
    drawn = exchange_p(np.append(values, 1e-9), np.random.default_rng(1))
    assert drawn == pytest.approx(whole, abs=3 * math.sqrt(whole * (1 - whole) / 9999))
    assert exchange_p(np.full(40, 0.1), np.random.default_rng(1)) == 1 / 10000


def test_holms_correction_is_that_of_the_paper() -> None:
    # R 4.3, p.adjust(c(.01, .04, .03, .005), "holm")
    assert holm_correction([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm_correction([0.6, 0.7]) == [1.0, 1.0]
    assert holm_correction([]) == []
    with_nan = holm_correction([0.01, math.nan, 0.04])
    assert with_nan[::2] == pytest.approx([0.02, 0.04]), "what is undefined is no comparison"
    assert math.isnan(with_nan[1])


# One difference


def test_a_difference_is_over_pairs_and_every_topic_has_the_same_weight() -> None:
    base: dict[Trial, Cell] = {("a", 1): (0.0, 1), ("a", 2): (1.0, 1), ("b", 1): (0.0, 1), ("c", 1): (1.0, 1)}
    other: dict[Trial, Cell] = {("a", 1): (1.0, 1), ("a", 2): (1.0, 1), ("b", 1): (1.0, 1), ("b", 2): (0.0, 1)}
    found = difference(["a", "b", "c"], base, other, np.random.default_rng(1), level=0.95, invalid=2, unplayed=3)
    assert (found.value, found.n, found.topics) == (0.75, 3, 2), "(1/2 + 1) / 2"
    assert (found.invalid, found.unplayed, found.undefined) == (2, 3, 0)
    assert found.p == 0.5


def test_a_pair_with_an_undefined_side_is_left_out_and_counted() -> None:
    base: dict[Trial, Cell] = {("a", 1): (math.nan, 1), ("a", 2): (0.5, 1), ("b", 1): (0.0, 0)}
    other: dict[Trial, Cell] = {("a", 1): (0.5, 1), ("a", 2): (0.25, 1), ("b", 1): (1.0, 2)}
    found = difference(["a", "b"], base, other, np.random.default_rng(1), level=0.95)
    assert (found.value, found.n, found.undefined) == (-0.25, 1, 2)
    assert math.isnan(found.p), "one topic"
    assert math.isnan(found.interval.low)
    nothing = difference(["a"], {}, other, np.random.default_rng(1), level=0.95)
    assert math.isnan(nothing.value)
    assert (nothing.n, nothing.topics) == (0, 0)


def test_a_share_is_of_the_answers_of_a_topic() -> None:
    base: dict[Trial, Cell] = {("a", 1): (1.0, 1), ("a", 2): (0.0, 3)}
    other: dict[Trial, Cell] = {("a", 1): (1.0, 2), ("a", 2): (2.0, 2)}
    found = difference(["a"], base, other, np.random.default_rng(1), level=0.95)
    assert found.value == pytest.approx(3 / 4 - 1 / 4)


def test_a_difference_beyond_needs_p_and_a_distance_above_the_null_pairs() -> None:
    def one(value: float, p: float, topics: int = 20) -> Difference:
        least = smallest_p(topics)
        return Difference(value, topics, topics, 0, 0, 0, no_interval(), p, outside=p, least=least)

    def said(differences: list[Difference], nulls: list[float]) -> list[bool | None]:
        return [found.beyond for found in compare_family(differences, nulls, level=0.95)]

    assert said([one(0.3, 0.01)], [0.1]) == [True]
    assert said([one(-0.3, 0.01)], [0.1]) == [True]
    assert said([one(0.3, 0.01)], [0.3]) == [False], "as far apart as users who say the same"
    assert said([one(0.3, 0.01)], [math.nan]) == [True], "without a null pair p alone speaks"
    assert said([one(0.3, 0.06)], [0.1]) == [False]
    assert said([one(0.3, 0.01)] * 6, [0.1] * 6) == [False] * 6, "six comparisons"
    assert said([one(0.3, 0.0625, 5)], [0.1]) == [None], "five topics can never say so"
    assert said([one(math.nan, math.nan, 0)], [0.1]) == [None]


# Chance


def test_groups_that_are_treated_alike_differ_no_more_often_than_the_level_says() -> None:
    """4000 audits of 12 topics, 3 trials: topics differ in how good answers are, groups do not."""
    rng = np.random.default_rng(7)
    audits, topics, trials = 4000, 12, 3
    good = rng.uniform(0.2, 0.9, (audits, topics, 1, 1))
    useful = (rng.random((audits, topics, trials, 4)) < good).mean(axis=2)
    single = [exchange_p(one[:, 1] - one[:, 0], rng) for one in useful]
    rate = float(np.mean(np.array(single) <= 0.05))
    spread = math.sqrt(0.05 * 0.95 / audits)
    assert 0.01 < rate <= 0.05 + 3 * spread, "values are coarse, so at most"
    smooth = useful + rng.normal(0, 0.3, useful.shape)
    single = [exchange_p(one[:, 1] - one[:, 0], rng) for one in smooth]
    assert abs(float(np.mean(np.array(single) <= 0.05)) - 0.05) <= 3 * spread
    family = [
        min(holm_correction([exchange_p(one[:, group] - one[:, 0], rng) for group in (1, 2, 3)])) for one in smooth
    ]
    assert float(np.mean(np.array(family) <= 0.05)) <= 0.05 + 3 * spread, "of any of three groups"


def _sessions(rng: np.random.Generator, topics: int = 12, trials: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """(topics, trials) of two groups that are treated alike, in sessions that go on: one is good or bad as a whole."""
    good = rng.normal(0.5, 1, (topics, 1, 1)) + rng.normal(0, 1.5, (1, trials, 2))
    useful = rng.random((topics, trials, 2)) < 1 / (1 + np.exp(-good))
    return useful[:, :, 0].astype(float), useful[:, :, 1].astype(float)


def _cells(values: np.ndarray) -> dict[Trial, Cell]:
    return {(f"t{topic}", trial): (float(value), 1.0) for (topic, trial), value in np.ndenumerate(values)}


_NAMES = [f"t{topic}" for topic in range(12)]


@pytest.mark.parametrize("audits", [300, pytest.param(10_000, marks=pytest.mark.soak)])
def test_continued_sessions_differ_no_more_often_than_the_level_says(audits: int) -> None:
    """Audits of 12 topics in 8 sessions of each group. To exchange topics would find every third of them unfair."""
    rng = np.random.default_rng(11)
    worlds = [_sessions(rng) for _ in range(audits)]
    found = [difference(_NAMES, _cells(base), _cells(other), rng, level=0.95, continued=True) for base, other in worlds]
    by_session = float(np.mean([one.p <= 0.05 and one.outside <= 0.05 for one in found]))
    spread = math.sqrt(0.05 * 0.95 / audits)
    print(f"false alarms: {by_session:.4f} ± {spread:.4f} (sessions taken whole)")
    assert by_session <= 0.05 + 3 * spread
    by_topic = [exchange_p((other - base).mean(axis=1), rng) <= 0.05 for base, other in worlds[:400]]
    print(f"              {np.mean(by_topic):.4f} (exchanging topics)")
    assert float(np.mean(by_topic)) > 0.2, "what the exchange of topics takes for independent is not"


def test_a_difference_between_sessions_is_found_and_its_value_is_that_of_topics() -> None:
    rng = np.random.default_rng(3)
    base, other = map(_cells, _sessions(rng, trials=12))
    worse: dict[Trial, Cell] = dict.fromkeys(other, (0.0, 1.0))
    del worse["t3", 5]
    found = difference(_NAMES, base, worse, rng, level=0.95, continued=True, invalid=1)
    plain = difference(_NAMES, base, worse, rng, level=0.95, invalid=1)
    assert (found.value, found.n, found.invalid) == (plain.value, 143, 1)
    assert (found.topics, found.sessions) == (12, 12)
    assert found.interval.low < plain.interval.low < found.value < found.interval.high < 0
    assert compare_family([found], [math.nan], level=0.95)[0].beyond is True
    first = {trial: cell for trial, cell in base.items() if trial[1] < 3}
    few = difference(_NAMES, first, worse, rng, level=0.95, continued=True)
    assert few.interval.note == "3 sessions: too few to compare"
    assert compare_family([few], [math.nan], level=0.95)[0].beyond is None, "three sessions can never say so"


ONE_TURN = """
format: harvest-protocol/1
name: one-turn
version: 1
turn_limit: 1
rules: {unanswered: {empty: {}}}
users:
  visitor:
    simulator: persona
    groups:
      older: {cue: I am seventy-eight years old.}
      older-again: {same_as: older}
      younger: {cue: I am eighteen years old.}
    over: {simulator: markov}
start: talk
states:
  talk: {user: visitor, edges: [{if: unanswered, label: x, go: talk}, {otherwise: true, label: o, go: talk}]}
"""
_FEW = TOPICS.topics[:12]


class Remembering(ScriptedUser):
    """Begins a conversation as it did before: what is drawn at the start is nothing."""

    def start(self, scenario: Scenario, rng: Streams) -> State:
        key = (id(self), scenario.id, str(scenario.traits))
        if key not in _STARTED:
            _STARTED[key] = super().start(scenario, rng)
        return _STARTED[key]


_STARTED: dict[tuple[int, str, str], State] = {}


@lru_cache(maxsize=1)
def _visitor(folder: Path) -> ScriptedUser:
    (folder / "one-turn.yaml").write_text(ONE_TURN)
    protocol = load_protocol(folder / "one-turn.yaml")
    return Remembering(protocol, build_users(protocol))


@lru_cache(maxsize=1)
def _catalogue() -> Catalogue:
    return load_catalogue("parrot", TOPICS)


def _profile(good: float, younger: float | None) -> Profile:
    then: dict[Behaviour, Row] = {"list": {"list": 1.0}, "silent": {"silent": 1.0}}
    unfair: Row = {} if younger is None else {"list": younger, "silent": 1 - younger}
    first: Row = {"list": good, "silent": 1 - good}
    return replace(PROFILES["perfect"], first=first, then=then, cued={"eighteen years": unfair} if unfair else {})


def _useful(profile: Profile, user: ScriptedUser, group: str, seed: int, trials: int) -> dict[Trial, Cell]:
    parrot = Parrot(_catalogue(), profile)
    conversations = rehearse(
        parrot, user, _FEW, trials=trials, seed=seed, system=f"A [{group}]", traits={"group": group}
    )
    return {(one.key.topic, one.key.trial): (float(labels(one, 1)[0] == "o"), 1.0) for one in conversations}


def _audits(folder: Path, profile: Profile, audits: int) -> list[tuple[Difference, Difference]]:
    """Of each audit the null pair's difference, and that of the younger users with what is said of it."""
    user, found = _visitor(folder), []
    for seed in range(audits):
        values = {group: _useful(profile, user, group, seed, trials=2) for group in ("older", "older-again", "younger")}
        rng = np.random.default_rng(seed)
        names = [topic.id for topic in _FEW]
        null, one = (
            difference(names, values["older"], values[group], rng, level=0.95) for group in ("older-again", "younger")
        )
        found.append((null, compare_family([one], [abs(null.value)], level=0.95)[0]))
    return found


@pytest.mark.parametrize("audits", [30, pytest.param(100, marks=pytest.mark.soak)])
def test_a_fair_parrot_is_called_unfair_no_more_often_than_the_level_says(tmp_path: Path, audits: int) -> None:
    found = _audits(tmp_path, _profile(0.6, None), audits)
    bound = 0.05 + 3 * math.sqrt(0.05 * 0.95 / len(found))
    assert np.mean([null.p <= 0.05 for null, _ in found]) <= bound
    assert np.mean([one.p <= 0.05 for _, one in found]) <= bound
    assert np.mean([bool(one.beyond) for _, one in found]) <= bound
    inside = np.mean([one.interval.low <= 0 <= one.interval.high for _, one in found])
    assert 1 - inside <= bound
    differences = [one.value for _, one in found]
    assert abs(np.mean(differences)) <= 3 * np.std(differences) / math.sqrt(len(found))


def test_an_unfair_parrot_is_found_and_its_figure_is_the_true_one(tmp_path: Path) -> None:
    found = _audits(tmp_path, _profile(0.9, 0.3), 30)
    values = [one.value for _, one in found]
    assert abs(np.mean(values) - (0.3 - 0.9)) <= 3 * np.std(values) / math.sqrt(len(found))
    assert np.mean([bool(one.beyond) for _, one in found]) > 0.85
    assert np.mean([null.p <= 0.05 for null, _ in found]) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / len(found))
    covered = np.mean([one.interval.low <= -0.6 <= one.interval.high for _, one in found])
    assert covered >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / len(found))


# A whole run


@pytest.fixture(scope="module")
def unfair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a parrot that leaves most of the younger without an answer."""
    folder = tmp_path_factory.mktemp("unfair")
    options = {
        "profile": "perfect",
        "first": {"list": 0.9, "silent": 0.1},
        "then": {"list": {"list": 1.0}, "silent": {"silent": 1.0}},
        "cued": {"eighteen years old": {"list": 0.3, "silent": 0.7}},
    }
    value = {
        "systems": [{"name": "A", "driver": "parrot", "options": options, "concurrency": 8}],
        "gold": "parrot",
        "only": [topic.id for topic in TOPICS.topics[:20]],
        "trials": 1,
    }
    with pytest.raises(SystemExit) as done:
        main(["run", "--no-report", audit_file(folder, **value), "--out", str(folder / "run")])
    assert done.value.code == 0
    return folder / "run"


def _command(*arguments: str) -> int:
    with pytest.raises(SystemExit) as done:
        main(["users", "groups", *arguments])
    assert isinstance(done.value.code, int)
    return done.value.code


def test_the_command_names_the_groups_that_are_treated_differently(
    unfair: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    run = unfair
    capsys.readouterr()
    assert _command(str(run), "--json") == 0
    printed = capsys.readouterr().out
    document = json.loads(printed)
    assert (document["format"], document["seed"]) == ("harvest-groups/2", 0)
    rows = {
        (row["measure"], row["turn"], row["system"].removeprefix("A, "), (row["other"] or "").removeprefix("A, ")): row
        for row in document["long"]
    }
    young = rows["%useful", 1, "younger", "older"]
    assert young["verdict"] == "found"
    assert young["estimate"] < -0.3
    assert young["low"] <= young["estimate"] <= young["high"] < 0
    assert (young["pairs"], young["topics"], document["systems"][0]["comparisons"]) == (20, 20, 10)
    assert young["p"] <= young["p_corrected"] <= 0.05
    assert rows["%useful", 1, "unsaid", "older"]["verdict"] == "not found"
    null = rows["%useful", 1, "older-again", "older"]
    assert (null["figure"], null["verdict"], null["p_corrected"]) == ("difference of a null pair", None, None)
    left_out = {
        (one["measure"], one["turn"], one["group"], one["base"]): one for one in document["systems"][0]["left_out"]
    }
    # The figures are those of `harvest score`, and without a pair left out the difference is theirs.
    with pytest.raises(SystemExit):
        main(["score", str(run), "--json", "-m", "%useful", "-m", "ave%useful", "-m", "R", "-m", "GF", "-m", "GFR"])
    scores = {
        (row["measure"], row["turn"], row["system"]): row
        for row in json.loads(capsys.readouterr().out)["rows"]
        if row["topic"] is None and row["topic_type"] is None and row["trial"] is None
    }
    for (measure, turn, group, base), row in rows.items():
        own = scores[measure, turn, f"A [{group}]"]
        if not base:
            assert [row[key] for key in ("estimate", "trials", "low", "high")] == [
                own[key] for key in ("value", "n", "low", "high")
            ]
        elif not left_out[measure, turn, group, base]["undefined"]:
            assert row["estimate"] == pytest.approx(own["value"] - scores[measure, turn, f"A [{base}]"]["value"])
    assert _command(str(run)) == 0
    told = capsys.readouterr().out
    assert max(map(len, told.splitlines())) <= 80
    assert "base: older   null pair: older, older-again   comparisons: 10" in told
    lines = {" ".join(line.split()[:1]): line for line in told.split("ave%useful")[0].splitlines() if line.strip()}
    assert lines["younger"].rstrip().endswith("yes")
    assert lines["unsaid"].rstrip().endswith("no")
    assert lines["older-again"].rstrip().endswith("null pair")
    assert lines["older"].rstrip().endswith("base")
    assert _command(str(run), "--base", "younger", "-m", "%useful") == 0
    lined = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    place = next(
        number for number, line in enumerate(lined) if line.startswith("   older-again") and "null pair" in line
    )
    assert lined[place + 1] == "     to older", "a pair is broken between its groups"
    flat = " ".join(told.split())
    assert "openings differ from those of older in words (unsaid -5.0), and positions in R and GFR count" in flat
    assert _command(str(run), "--json") == 0
    assert capsys.readouterr().out == printed, "the same seed, the same figures"


def test_the_base_group_and_the_measures_can_be_chosen(unfair: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = unfair
    capsys.readouterr()
    assert _command(str(run), "--base", "unsaid", "-m", "%useful", "--level", "0.9", "--json") == 0
    rows = json.loads(capsys.readouterr().out)["long"]
    assert {(row["measure"], row["turn"]) for row in rows} == {("%useful", turn) for turn in (1, 2, 3, 4)}
    first = [row for row in rows if row["turn"] == 1 and row["other"]]
    assert [(row["system"], row["other"], row["figure"]) for row in first] == [
        *((f"A, {group}", "A, unsaid", "difference from base") for group in ("older", "older-again", "younger")),
        ("A, older-again", "A, older", "difference of a null pair"),
    ]
    assert {row["level"] for row in first} <= {0.9, None}
    assert _command(str(run), "--base", "unsaid", "-m", "%useful") == 0
    assert re.search(r"older-again .*null pair\s+to older\s", capsys.readouterr().out)
    assert _command(str(run), "--base", "oder") == 2
    assert "allowed: older, older-again, younger, unsaid" in capsys.readouterr().err
    for measure in ("%recovery", "transition(x, o)", "CVaR(R)", "persistence"):
        assert _command(str(run), "-m", measure) == 2
        assert "is computed over many conversations at once" in capsys.readouterr().err


def test_pairs_with_an_invalid_side_are_left_out_of_the_difference_and_counted(tmp_path: Path) -> None:
    def behave(opening: Opening, n: int, text: str) -> str:
        if (opening.system, opening.topic, opening.trial) == ("A [younger]", "M002", 1):
            raise Unanswered("timeout", "")
        return "" if (opening.topic, opening.trial) == ("M002", 1) else ANSWER

    wanted = audit(tmp_path, system={"attempts": 1})
    run, _ = played(tmp_path / "run", wanted, Scripted(behave))
    found = _compared(tmp_path / "run", "%useful")
    young, unsaid = (found.differences[("%useful", 1), group] for group in ("younger", "unsaid"))
    assert (young.n, young.invalid, young.unplayed) == (5, 1, 0)
    assert young.value == 0.0, "where the older got no answer the younger have no pair"
    assert (unsaid.n, unsaid.invalid) == (6, 0)
    figures = {group: found.figures[("%useful", 1), group] for group in ("older", "younger")}
    assert figures["younger"].value == 1.0 > figures["older"].value
    assert run.finished


def test_unplayed_trials_are_counted_separately(tmp_path: Path) -> None:
    def behave(opening: Opening, n: int, text: str) -> str:
        return ANSWER

    played(tmp_path / "run", audit(tmp_path, groups=["older", "younger"], trials=1), Scripted(behave))
    wanted = audit(tmp_path, groups=["older", "younger", "unsaid"], trials=1)

    def stopping(opening: Opening, n: int, text: str) -> str:
        if opening.topic == "M003":
            raise Unanswered("timeout", "")
        return ANSWER

    played(tmp_path / "run", wanted, Scripted(stopping))
    found = _compared(tmp_path / "run", "%useful")
    assert found.differences[("%useful", 1), "unsaid"].invalid == 1
    # Of the header's trials: as an audit with more trials has them, and nobody has played yet.
    document = json.loads((tmp_path / "run" / "run.json").read_text())
    document["audit"]["trials"] = 2
    (tmp_path / "run" / "run.json").write_text(json.dumps(document))
    found = _compared(tmp_path / "run", "%useful")
    assert found.differences[("%useful", 1), "younger"].unplayed == 3


def test_a_measure_without_values_is_undefined_and_not_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    played(tmp_path / "run", audit(tmp_path), Scripted(lambda opening, n, text: ANSWER))
    assert _command(str(tmp_path / "run"), "-m", "R", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert [row["estimate"] for row in document["long"]] == [None] * 7
    assert [one["undefined"] for one in document["systems"][0]["left_out"]] == [6] * 3
    assert {row["verdict"] for row in document["long"]} == {None}
    assert _command(str(tmp_path / "run"), "-m", "R") == 0
    assert capsys.readouterr().out.count("n/a") >= 7


def test_without_a_null_pair_or_with_few_topics_the_page_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = audit(tmp_path, groups=["older", "younger", "unsaid"], system={"session": "continued"})
    played(tmp_path / "run", wanted, Scripted(lambda opening, n, text: ANSWER))
    assert _command(str(tmp_path / "run")) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "no null pair was played, so only p accounts for chance" in told
    assert "intervals and p take whole sessions (here 2)" in told
    assert "2 sessions of each group cannot give a p: play at least 4 trials" in told
    assert "p: t, clustered by session and topic; corrected" in told
    played(tmp_path / "fresh", audit(tmp_path, groups=["older", "younger", "unsaid"]), Scripted(lambda *_: ANSWER))
    assert _command(str(tmp_path / "fresh")) == 0
    assert "3 topics cannot give a p below 0.25" in " ".join(capsys.readouterr().out.split())


def test_one_bad_session_is_not_a_group_that_is_treated_badly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def behave(opening: Opening, n: int, text: str) -> str:
        return "" if (opening.system, opening.trial) == ("A [younger]", 2) else ANSWER

    topics = {"only": [topic.id for topic in TOPICS.topics[:10]], "groups": ["older", "older-again", "younger"]}
    wanted = audit(tmp_path, system={"session": "continued"}, **topics)
    played(tmp_path / "run", wanted, Scripted(behave))
    assert _command(str(tmp_path / "run"), "-m", "%useful", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    (young,) = figures(document, "difference from base", system="A, younger", other="A, older", turn=1)
    assert document["systems"][0]["exchanged"] == "sessions"
    assert (young["estimate"], young["topics"], young["sessions"]) == (-0.5, 10, 2)
    assert (young["p"], young["verdict"], young["low"]) == (None, None, None)
    assert young["note"] == "2 sessions: too few to compare"


def test_several_runs_are_compared_separately_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("january", "february"):
        played(tmp_path / name, audit(tmp_path), Scripted(lambda opening, n, text: ANSWER))
    assert _command(str(tmp_path / "january"), str(tmp_path / "february"), "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert {one["system"] for one in document["systems"]} == {"A@january", "A@february"}
    assert {row["run"] for row in document["long"]} == {"january", "february"}


def test_a_run_without_groups_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = audit_file(tmp_path, groups=None, protocol="fairweb-two-round", trials=1)
    with pytest.raises(SystemExit):
        main(["run", "--no-report", path, "--out", str(tmp_path / "run")])
    capsys.readouterr()
    assert _command(str(tmp_path / "run")) == 2
    assert "this run has no groups of users" in capsys.readouterr().err
    played(tmp_path / "one", audit(tmp_path, groups=["older"]), Scripted(lambda opening, n, text: ANSWER))
    assert _command(str(tmp_path / "one")) == 2
    assert "was played with only one group" in capsys.readouterr().err


def _compared(run: Path, measure: str) -> Comparison:
    (found,) = compare_groups(grouped_systems([read(run)]), measures=parse_all(measure))
    return found


def test_a_group_that_was_not_met_is_refused_with_its_name(tmp_path: Path) -> None:
    played(tmp_path / "run", audit(tmp_path), Scripted(lambda opening, n, text: ANSWER))
    with pytest.raises(InputError, match="'A' was not played with a group 'elder'"):
        compare_groups(grouped_systems([read(tmp_path / "run")]), base="elder")
