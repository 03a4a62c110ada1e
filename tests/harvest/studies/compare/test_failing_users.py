"""Two systems that are exactly alike, and users that fail: no study may say that one of them is better."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest
import yaml

from harvest.audits.audit import load_audit
from harvest.report.compared_finding import comparison_finding
from harvest.report.document import make_report
from harvest.report.finding import single_finding
from harvest.studies.compare.comparison import compare_runs
from harvest.studies.compare.figures import comparison_tables
from harvest.studies.plan.allocation import plan_spending
from harvest.studies.plan.differences import plan_difference
from harvest.studies.scores.assessed import Leading
from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.scorecard import score_material
from harvest.studies.validity.concentrations import concentrations
from harvest.studies.variance.figures import sentences
from harvest.studies.variance.variance import study_variance
from recordings.conversations.conversation import Conversation, Outcome, TrialKey, Turn
from recordings.log.run_folder import Run
from scoring.inference.losses import End, LostTrials, SideWithLosses
from scoring.inference.matched import Difference, difference, within_bounds
from scoring.notation import parse
from tests.benchmarks import selection as worlds
from tests.harvest.voices.test_endpoint import completion, played
from tests.servers.local_http import Asked, serving
from tests.support.failing_users import MODELS, POLICIES, SYSTEMS, pairs
from tests.support.failing_users import played as study
from topics.decimals import percent
from topics.errors import InputError


@pytest.mark.parametrize(
    ("policy", "model"),
    [
        pytest.param(policy, model, marks=[] if policy == "free" or model == one else pytest.mark.soak)
        for policy, one in zip(POLICIES, cycle(MODELS))
        for model in MODELS
    ],
)
def test_similar_systems_are_not_told_apart_whatever_the_model_does(policy: str, model: str) -> None:
    material = study(7, policy, MODELS[model], topics=6, trials=3)
    assert not any(pair.is_distinguished for pair in pairs(material))
    if policy != "free":
        assert all(one.valid and one.attempt == 1 for one in material.conversations), "there are always words to say"
    if model == "obedient":
        assert not any(turn.worded for one in material.conversations for turn in one.turns)


def test_losses_of_a_free_model_after_a_label_are_named_and_bounded() -> None:
    material = study(3, "free", MODELS["no words after x of one system"])
    (found,) = [one for one in material.concentrations if one.label]
    assert (found.system, found.label, found.lost_elsewhere) == (SYSTEMS[1], "x", 0)
    assert found.lost == found.came == sum(found.reasons.values())
    assert f"SYSB: {found.lost} of {found.lost} answers labelled x were the last before the trial was lost" in (
        found.sentence
    )
    first, second, mean = pairs(material)
    assert first.bounds is None, "every first answer is known"
    for pair in (second, mean):
        assert pair.bounds is not None
        assert pair.bounds[0] < 0 < pair.bounds[1]
        assert (pair.verdict, "depended on what the system had answered" in pair.why) == ("cannot tell", True)


def test_losses_after_long_answers_are_named() -> None:
    material = study(3, "free", MODELS["no words after long answers"])
    found = [one for one in material.concentrations if one.length]
    assert {one.system for one in found} == set(SYSTEMS)
    assert all(one.length.startswith("of more than ") and one.lost_elsewhere == 0 for one in found)


def test_losses_in_a_state_that_leads_to_itself_are_placed_after_their_label() -> None:
    """Both systems ask on in one state; one is lost after every useless answer, the other at random."""
    run: list[Conversation] = []
    for system in ("A", "B"):
        for trial in range(60):
            labels = "ox"[trial % 2] + "oxxo"[trial // 2 % 4]
            lost = "x" in labels if system == "B" else trial % 5 == 0
            stop = labels.index("x") + 1 if system == "B" and lost else 2
            turns = tuple(worlds.turn(number, "talk", label, "talk") for number, label in enumerate(labels[:stop], 1))
            outcome = Outcome("invalid", "no-words") if lost else Outcome("user-stopped", "satisfied")
            run.append(Conversation(TrialKey(system, f"T{trial % 15}", trial), "", 1, turns, outcome))
    found = concentrations(run)
    assert {(one.system, one.state, one.label) for one in found} == {("B", "", "x")}


@pytest.mark.parametrize("world", ["10% of turns lost", "lost by topic, 10% on average"])
def test_losses_that_do_not_depend_on_labels_are_not_reported(world: str) -> None:
    """Where topics are unlike hard and lose unlike shares, labels and losses go together, but not within topics."""
    assert worlds.told(worlds.FALSE[world], (15, 5), 60, seed=4) <= 0.05


@pytest.mark.parametrize("steady", [False, True], ids=["drawn answers", "always the same answer"])
def test_hard_topics_with_many_losses_are_not_dependence(steady: bool) -> None:
    """Over all answers, labels and losses then go together in one run of eight at this level."""
    rng, named = np.random.default_rng(11), 0
    for _ in range(60):
        run: list[Conversation] = []
        useful, losing = rng.beta(2, 2, 15), rng.beta(0.3, 2.7, 15)
        for topic, trial in np.ndindex(15, 5):
            turns: list[Turn] = []
            lost = False
            while len(turns) < 8 and not lost:
                good = useful[topic] > 0.5 if steady else rng.random() < useful[topic]
                turns.append(worlds.turn(len(turns) + 1, "talk", "o" if good else "x", "talk"))
                lost = bool(rng.random() < losing[topic])
            outcome = Outcome("invalid", "no-words") if lost else Outcome("turn-limit")
            run.append(Conversation(TrialKey("S", f"T{topic}", trial), "", 1, tuple(turns), outcome))
        named += bool(concentrations(run))
    assert named <= 3


def test_a_difference_is_bounded_by_the_losses_of_both_sides() -> None:
    topics = [f"T{number}" for number in range(12)]
    cells = {
        (topic, trial): (float((number + trial) % 3 > 0), 1.0)
        for number, topic in enumerate(topics)
        for trial in (1, 2)
    }
    worse = dict.fromkeys(cells, (0.0, 1.0))
    gone = [(topic, 1) for topic in topics[:8]]

    def bounded(lost: LostTrials) -> Difference:
        below, above = SideWithLosses(cells, lost), SideWithLosses(worse)

        def between(end: End) -> Difference:
            base, other = below.cells_at(end, against=True), above.cells_at(end)
            return difference(topics, base, other, np.random.default_rng(1), level=0.95)

        return within_bounds(between, (below, above))

    kept = bounded(LostTrials({}, {}))
    assert (kept.p < 0.05, kept.bounds) == (True, None)
    known = bounded(LostTrials(dict.fromkeys(gone, (0.0, 1.0)), dict.fromkeys(gone, (0.0, 1.0)), depends=True))
    assert np.isnan([known.p, known.outside]).all(), "no side is found to be better, however far apart they are"
    assert known.withheld == "whether trials were lost depended on what the system had answered"
    seen = bounded(LostTrials(dict.fromkeys(gone, (0.0, 1.0)), dict.fromkeys(gone, (1.0, 1.0))))
    assert (seen.withheld, kept.p <= seen.p <= 1.0) == ("", True), "many were lost, whatever they depend on"
    lost = bounded(LostTrials(dict.fromkeys(gone, (0.0, 1.0)), dict.fromkeys(gone, (1.0, 1.0)), depends=True))
    assert lost.bounds is not None
    assert lost.value == kept.value
    wide = lost.interval
    assert wide.low < kept.interval.low
    assert wide.high >= kept.interval.high
    assert wide.method.endswith("within the bounds of what was lost")


SYSTEM = """\
import random
draws = random.Random({seed})
def answer(text):
    return "{name} " + ("Here it is." if draws.random() < .5 else "No idea.")
"""
PROTOCOL = {
    "format": "harvest-protocol/1",
    "name": "alike",
    "version": 1,
    "start": "talk",
    "turn_limit": 2,
    "rules": {"unanswered": {"contains": {"phrases": ["No idea"]}}},
    "users": {"visitor": {"simulator": "llm", "samples": 1, "mode": "free"}},
    "states": {
        "talk": {
            "user": "visitor",
            "edges": [
                {"if": "unanswered", "label": "x", "go": "talk"},
                {"otherwise": True, "label": "o", "go": "talk"},
            ],
        }
    },
}


async def _played(tmp_path: Path, fails: Callable[[str], bool], systems: Sequence[str] = SYSTEMS) -> Run:
    """A run of systems that are alike, of which the user's model has no words after some answers."""

    async def words(asked: Asked, writer: asyncio.StreamWriter) -> None:
        last = asked.json["messages"][-1]["content"]
        writer.write(completion("" if fails(last) else f"and number {len(asked.json['messages'])}?"))
        await writer.drain()

    for name, seed in zip(SYSTEMS, (1, 2), strict=True):
        (tmp_path / f"{name}.py").write_text(SYSTEM.format(name=name, seed=seed))
    (tmp_path / "alike.yaml").write_text(json.dumps(PROTOCOL))
    async with serving(words) as server:
        audit = {
            "format": "harvest-audit/1",
            "name": "alike",
            "topics": "fairweb-45",
            "only": [f"M{number:03}" for number in range(1, 11)],
            "protocol": "alike.yaml",
            "trials": 4,
            "systems": [
                {"name": name, "driver": "python", "options": {"function": f"{name}.py:answer"}} for name in systems
            ],
            "endpoints": {"words": {"base_url": server.url, "model": "m", "retries": 0}},
        }
        (tmp_path / "audit.yaml").write_text(yaml.safe_dump(audit))
        run, _ = await played(load_audit(str(tmp_path / "audit.yaml")), tmp_path / "run")
    assert all(one.valid and one.attempt == 1 for one in run.conversations)
    return run


async def test_compare_and_report_name_no_winner_and_do_not_advise_another_play(tmp_path: Path) -> None:
    run = await _played(tmp_path, lambda last: last.startswith("SYSB No idea"))
    found = compare_runs([run])
    mean = next(one for one in found.measures if one.measure == "ave%useful")
    assert [pair.verdict for pair in mean.pairs] == ["cannot tell"]
    assert found.dependent == {"SYSB"}
    told = " ".join(str(part) for part in comparison_tables(found, width=200))
    assert "trials were lost by what had been answered; with all of them" in told
    assert any("answers labelled x were the last before the trial was lost" in note for note in found.notes)
    headline = comparison_finding(found, gather_runs(run).material, 0.05, [tmp_path / "run"])
    assert headline.verdict == "cannot tell"
    assert "remove the cause and make a new run" in headline.next
    assert "play the missing trials first" not in headline.next
    (pair,) = mean.pairs
    assert pair.bounds is not None
    low, high = (f"{100 * end:+.1f}" for end in sorted(pair.bounds))
    between = " to ".join(percent(end, 1) for end in mean.ranges["SYSB"])
    assert f"{between} of " in headline.found, "what is left of the trials is a selection, so it does not lead"
    assert f"a difference of {low} to {high} points" in headline.found
    assert f"[{100 * mean.figures['SYSB']:.1f}" not in headline.found
    report = make_report([run], beside=tmp_path)
    _, drawn, difference = report.document["bars"]
    assert (drawn["said"], drawn["value"]) == (between, None)
    assert difference["value"] is None
    assert difference["low"] < difference["zero"] < difference["high"]


async def test_a_report_names_the_losses_of_failing_users_and_does_not_ask_for_more_trials(tmp_path: Path) -> None:
    draws = np.random.default_rng(5)
    run = await _played(tmp_path, lambda last: last.startswith("SYSA") and draws.random() < 0.6)
    found, material = compare_runs([run]), gather_runs(run).material
    assert found.dependent == frozenset()
    headline = comparison_finding(found, material, 0.05, [tmp_path / "run"])
    cut = (
        f"of 40 conversations were cut short by a failure of the user (no-words x {material.cut_short['SYSA'].total()})"
    )
    assert headline.verdict == "cannot tell"
    assert cut in headline.next
    assert "remove the cause and make a new run" in headline.next
    assert "topics like these" not in headline.next
    assert "cut short by a failure of the user" in headline.scope


async def test_variance_has_no_interval_and_a_plan_no_pilot_if_losses_depend_on_answers(tmp_path: Path) -> None:
    run = await _played(tmp_path, lambda last: last.startswith("SYSB No idea"))
    found = study_variance([run])
    assert any("answers labelled x were the last before the trial was lost" in note for note in found.notes)
    first, mean = found.each.values()
    assert all(one.split.icc.interval.is_defined for one in first), "every first answer is known"
    whole, cut = mean
    why = "whether trials were lost depended on what the system had answered"
    assert whole.split.topic.interval.is_defined
    assert not np.isnan([cut.split.topic.value, cut.disagree.value]).any()
    spreads = [cut.split.topic.interval, cut.split.trial.interval, cut.disagree.interval, cut.pairs.interval]
    assert all((one.is_defined, one.note) == (False, why) for one in spreads)
    assert np.isnan(cut.whole_trials.p)
    ((_, between),) = found.between["ave%useful", None]
    assert (between.system.interval.is_defined, between.system.interval.note) == (False, why)
    assert any(why in sentence for sentence in sentences(cut, 0.95))
    audit = load_audit(str(tmp_path / "audit.yaml"))
    with pytest.raises(InputError, match="labelled x were the last before the trial was lost"):
        plan_difference(audit, run=run, detect=20)
    with pytest.raises(InputError, match="labelled x were the last before the trial was lost"):
        plan_spending(audit, run=run)
    opening = parse("%useful S1")
    assert plan_difference(audit, measure=opening, run=run, detect=20, topics=(8,), trials=(2,)).model.key[1] == 1
    assert plan_spending(audit, measure=opening, run=run).basis.material, "every first answer is known"


async def test_a_pilot_with_few_conversations_cut_short_by_failing_users_says_so(tmp_path: Path) -> None:
    draws = np.random.default_rng(5)
    run = await _played(tmp_path, lambda last: last.startswith("SYSA") and draws.random() < 0.1)
    study = plan_difference(load_audit(str(tmp_path / "audit.yaml")), run=run, detect=20, topics=(8,), trials=(2,))
    assert any("cut short by a failure of the user (no-words x " in note for note in study.model.notes)


async def test_a_report_of_one_system_names_them_too(tmp_path: Path) -> None:
    run = await _played(tmp_path, lambda last: last.endswith("Here it is."), SYSTEMS[:1])
    material = gather_runs(run).material
    headline = single_finding("SYSA", material, score_material(material), {}, Leading(), None, tmp_path / "run", "SYSA")
    assert "of 40 conversations were cut short by a failure of the user (no-words x " in headline.next
    assert "To narrow the interval" not in headline.next
    assert "cut short by a failure of the user" in headline.scope


@pytest.mark.soak
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("policy", POLICIES)
def test_similar_systems_are_rarely_told_apart_in_many_studies(policy: str, model: str) -> None:
    """2,000 studies over all: a wrong winner in at most 5%, and intervals or bounds that hold the truth in 93%."""
    wrong = held = printed = 0
    studies = 80
    for seed in range(studies):
        found = list(pairs(study(seed, policy, MODELS[model])))
        wrong += any(pair.is_distinguished for pair in found)
        told = [pair.interval for pair in found if pair.interval.is_defined]
        printed += len(told)
        held += sum(one.low - 1e-9 <= 0 <= one.high + 1e-9 for one in told)
    assert wrong <= 0.05 * studies + 3 * (0.05 * 0.95 * studies) ** 0.5
    assert held >= 0.93 * printed - 3 * (0.93 * 0.07 * printed) ** 0.5
