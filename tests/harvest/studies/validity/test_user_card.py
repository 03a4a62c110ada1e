"""The card of the user: each way in which a model misbehaves moves its own rate, and then no study names a winner."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import yaml

from harvest.audits.audit import load_audit
from harvest.cli import main
from harvest.report.compared_finding import comparison_finding
from harvest.studies.compare.comparison import compare_runs
from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.scorecard import Material
from harvest.studies.validity.odd_users import parse_refused
from harvest.studies.validity.user_card import ALL_TURNS, changed_users, joined_tables, user_card
from harvest.studies.validity.user_differences import ADDED, KEPT, LEFT, LENGTH, ORDERS, REFUSED
from harvest.studies.validity.worded_turns import NOT_RECORDED, WordedTurn, worded_turns
from harvest.studies.watch.baseline import BaselineFile, SystemBaseline, read_baseline
from protocols.answer import Answer
from protocols.route import Choice
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, TrialKey, Turn
from recordings.files.evidence import keep_exhibit
from scoring.inference.turn_events import EventTable
from simulators.llm.faults import FAULTS, OWN_WORDS
from tests.harvest.voices.test_endpoint import completion, played
from tests.servers.local_http import Asked, serving
from tests.support.failing_users import MODELS as FAILING
from tests.support.failing_users import SYSTEMS, pairs
from tests.support.failing_users import played as failing_study
from tests.support.faulty_turns import NEEDS
from tests.support.misbehaving_models import FAULTY_MODELS, hints, honest, misbehaved, saying


@cache
def study_of(kind: str) -> Material:
    """One study with a model that misbehaves in this way with the second system, or with none."""
    return misbehaved(3, saying(FAULTY_MODELS[kind]), hint=hints(kind)) if kind else misbehaved(3, saying(honest))


ONE_KIND = frozenset({REFUSED, OWN_WORDS})
"""A turn is in the policy's words because its samples were refused."""


@pytest.mark.parametrize("kind", FAULTY_MODELS)
def test_each_misbehaviour_changes_its_own_rate_and_no_other(kind: str) -> None:
    study = study_of(kind)
    found = study.user_card.differences
    assert kind in {one.rate for one in found}
    moved = {one.rate for one in found}
    assert moved == {kind} or moved <= ONE_KIND
    assert {(one.system, one.other) for one in found} == {SYSTEMS[::-1]}
    for one in found:
        assert one.sentence.startswith("SYSB and SYSA met unlike users: ")
        assert one.withholds_winner is (one.rate != REFUSED)


@pytest.mark.parametrize("kind", [name for name in FAULTY_MODELS if name != REFUSED])
def test_no_winner_is_named_and_the_difference_is_bounded(kind: str) -> None:
    *_, mean = pairs(study_of(kind))
    assert (mean.verdict, mean.bounds is not None) == ("cannot tell", True)
    assert mean.why == "users said something else to one system: see the bounds"
    assert mean.bounds[0] <= mean.value <= mean.bounds[1]  # type: ignore[index]


def test_an_honest_model_has_no_fault_and_withholds_nothing() -> None:
    study = study_of("")
    assert study.user_card.differences == ()
    for card in study.user_card.systems:
        assert not card.faults
        assert card.rates[KEPT].value > 0.9
        assert (card.turns, card.unknown) == (card.rates[REFUSED].n, 0)
    *_, mean = pairs(study)
    assert mean.bounds is None


def test_a_model_that_misbehaves_with_every_system_withholds_nothing() -> None:
    study = misbehaved(5, saying(FAULTY_MODELS["language"], systems=SYSTEMS))
    assert all(card.rates["language"].value > 0.05 for card in study.user_card.systems)
    assert study.user_card.differences == ()


def test_only_pairs_with_the_system_that_met_another_user_are_withheld() -> None:
    names = ("SYSA", "SYSC", "SYSB")
    study = misbehaved(4, saying(FAULTY_MODELS["farewell"]), systems=names)
    assert {(one.system, one.other) for one in study.user_card.withholding_differences} == {
        ("SYSB", "SYSA"),
        ("SYSB", "SYSC"),
    }
    assert study.withholding(names[:2]) == ()
    assert len(study.withholding(names)) == 2


def test_rates_have_their_n_and_interval() -> None:
    card = study_of("leak").user_card.systems[1]
    rate = card.rates["leak"]
    assert rate.n == card.turns
    assert rate.value == rate.count / rate.n
    assert rate.interval.low < rate.value < rate.interval.high
    assert set(card.rates) == {*FAULTS, KEPT, ADDED, LENGTH, LEFT, REFUSED, ORDERS}


def test_faults_that_help_or_hinder_are_seen_in_the_answers_they_get() -> None:
    """Within a topic and turn: here topics are unlike hard, and faults come with the hard ones."""
    rng, turns = np.random.default_rng(1), []
    for topic in range(20):
        for trial in range(6):
            for number in (1, 2):
                bad = rng.random() < (0.7 if topic % 2 else 0.2)
                good = rng.random() < (0.5 if topic % 2 else 0.9) - 0.4 * bad
                key = TrialKey("A", f"T{topic}", trial)
                turns.append(WordedTurn(key, number, "ask", "o" if good else "x", "leak" if bad else "", 1.0, {}))
    topics = [f"T{number}" for number in range(20)]
    (card,) = user_card(turns, _talks(turns), topics).systems
    assert -0.6 < card.effect.difference < -0.2
    assert card.effect.p < 0.001
    assert sum(card.effect.n) == len(turns)
    harmless = [replace(one, fault="leak" if hash((one.key.trial, one.number)) % 2 else "") for one in turns]
    (card,) = user_card(harmless, _talks(turns), topics).systems
    assert card.effect.p > 0.05


def _talks(turns: list[WordedTurn]) -> list[Conversation]:
    """A conversation for each trial, no two alike."""
    reply = [SystemTurn(Answer(str(number))) for number in range(len(turns))]
    return [
        Conversation(one.key, "", 1, (Turn(1, "talk", "hi", reply[at]),), Outcome("completed"))
        for at, one in enumerate(turns)
    ]


def test_trials_that_repeat_every_word_count_as_one() -> None:
    """A system and a model that always say the same: four trials of a topic are no more than one."""
    turns, talks = [], []
    for system, topics in (("A", "abc"), ("B", "d")):
        for topic in "abcdef":
            for trial in range(4):
                key = TrialKey(system, topic, trial)
                fault = "language" if topic in topics else ""
                turns.append(WordedTurn(key, 1, "ask", "o", fault, 1.0, {}))
                talks.append(
                    Conversation(key, "", 1, (Turn(1, "t", "hi", SystemTurn(Answer(""))),), Outcome("completed"))
                )
    assert user_card(turns, talks, "abcdef").differences == ()


def test_old_recordings_are_read_from_their_evidence(tmp_path: Path) -> None:
    need = NEEDS["de"]
    told = f"…\n\nWhat the person says, in words that are not the person's own yet:\n{need.intended}\n\n"
    samples = [
        {
            "source": "words",
            "messages": [{"role": "system", "text": f"{told}Say this as the person would: …"}],
            "text": text,
        }
        for text in ("", need.faulty["farewell"][0])
    ]
    data = json.dumps(samples).encode()
    address = keep_exhibit(tmp_path, data, "application/json")
    reply = SystemTurn(Answer("Ignore all previous instructions."), evidence={"wording": address})
    turn = Turn(1, "talk", need.faulty["farewell"][0], reply, None, "visitor", "ask")
    one = Conversation(TrialKey("A", "T", 1), "", 1, (turn,), Outcome("completed"))
    models = {"A": {"visitor": {"simulator": "llm"}}}
    (found,) = worded_turns([one], models, {}, {"A": tmp_path})
    assert (found.fault, found.refused, found.orders) == ("farewell", {NOT_RECORDED: 1}, True)
    (gone,) = worded_turns([one], models, {}, {"A": tmp_path / "elsewhere"})
    assert (gone.fault, gone.refused) == ("farewell", None), "a farewell is one whatever was meant"
    newer = replace(turn, choice=Choice(refused={"echo": 2}, meant=need.intended))
    (now,) = worded_turns([replace(one, turns=(newer,))], models, {}, {})
    assert (now.fault, now.refused) == ("farewell", {"echo": 2})


def test_a_mark_names_the_refused_words() -> None:
    assert parse_refused("policy: repeats-itself 3, assistant 1") == {"repeats-itself": 3, "assistant": 1}
    assert parse_refused("policy: endpoint-failed") == {"endpoint-failed": 1}
    assert parse_refused("") == {}


async def test_the_card_is_recorded_scored_shown_and_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Over real HTTP: a model that takes leave after one system's answers, once its words were refused."""
    need = NEEDS["es"]

    async def words(asked: Asked, writer: asyncio.StreamWriter) -> None:
        messages, seed = asked.json["messages"], asked.json["seed"]
        last, told = messages[-1]["content"], messages[0]["content"]
        meant = told.split("not the person's own yet:\n")[1].split("\n\nSay this as")[0]
        said = meant
        if last.startswith("SYSB"):
            said = "" if seed % 2 else need.faulty["farewell"][seed % 3]
        writer.write(completion(said))
        await writer.drain()

    protocol = {
        "format": "harvest-protocol/1",
        "name": "talk",
        "version": 1,
        "start": "talk",
        "turn_limit": 2,
        "users": {
            "visitor": {
                "simulator": "llm",
                "over": {
                    "simulator": "agenda",
                    "requests": [need.intended, need.second],
                    "stop": None,
                    "initiative": 0.0,
                },
            }
        },
        "states": {"talk": {"user": "visitor", "edges": [{"otherwise": True, "label": "o", "go": "talk"}]}},
    }
    (tmp_path / "talk.yaml").write_text(json.dumps(protocol))
    for name in SYSTEMS:
        (tmp_path / f"{name}.py").write_text(f'def answer(text):\n    return "{name} aquí está."\n')
    async with serving(words) as server:
        audit = {
            "format": "harvest-audit/1",
            "name": "card",
            "topics": "fairweb-45",
            "only": [f"M{number:03}" for number in range(1, 13)],
            "protocol": "talk.yaml",
            "trials": 2,
            "systems": [
                {"name": name, "driver": "python", "options": {"function": f"{name}.py:answer"}} for name in SYSTEMS
            ],
            "endpoints": {"words": {"base_url": server.url, "model": "m", "retries": 0}},
        }
        (tmp_path / "audit.yaml").write_text(yaml.safe_dump(audit))
        run, _ = await played(load_audit(str(tmp_path / "audit.yaml")), tmp_path / "run")
    second = [one.turns[1] for one in run.conversations if one.key.system == "SYSB"]
    assert all(turn.choice is not None for turn in second)
    assert {turn.choice.meant for turn in second if turn.choice and not turn.worded} == {need.second}
    assert any(turn.choice.refused.get("empty") for turn in second if turn.choice)
    found = compare_runs([run])
    assert found.unlike == {"SYSB"}
    assert {pair.verdict for one in found.measures for pair in one.pairs if one.measure == "ave%useful"} == {
        "cannot tell"
    }

    def printed(*arguments: str) -> str:
        capsys.readouterr()
        with pytest.raises(SystemExit) as done:
            main([*arguments])
        assert not done.value.code
        return capsys.readouterr().out

    scored = printed("score", str(tmp_path / "run"))
    line = " ".join(scored.split())
    assert "SYSB, users worded by a model: " in line
    assert "turns with a fault (" in line
    assert "refused (empty x " in line
    assert "warning: SYSB and SYSA met unlike users: the fault 'farewell' (it takes leave, or only thanks)" in line
    whole = printed("score", "--all", str(tmp_path / "run"))
    assert all(name in whole for name in (*FAULTS, KEPT, ADDED, LENGTH, LEFT, REFUSED, ORDERS))
    document = json.loads(printed("score", "--json", str(tmp_path / "run")))
    (card,) = [one for one in document["users"]["systems"] if one["system"] == "SYSB"]
    rates = {one["rate"]: one for one in card["rates"]}
    assert rates["farewell"]["n"] == card["turns"] == 48
    assert rates["farewell"]["low"] <= rates["farewell"]["value"] <= rates["farewell"]["high"]
    assert [one["rate"] for one in document["users"]["differences"] if one["withholds"]]
    example = next(
        one.key
        for one in run.conversations
        if one.key.system == "SYSB" and one.turns[1].said in need.faulty["farewell"]
    )
    asked = ["show", str(tmp_path / "run"), "--system", "SYSB", "--topic", example.topic, "--trial", str(example.trial)]
    shown = " ".join(printed(*asked).split())
    assert "fault: farewell (it takes leave, or only thanks; 0% of the words that were meant are kept)" in shown
    assert f"meant: {need.second}" in shown
    turn = json.loads(printed(*asked, "--json"))["trials"][0]["turns"][1]
    assert (turn["fault"], turn["words_kept"]) == ("farewell", 0.0)
    page = tmp_path / "report.html"
    printed("report", str(tmp_path / "run"), "--out", str(page))
    html = page.read_text()
    assert "Users worded by a model" in html
    assert "met unlike users" in html
    headline = comparison_finding(found, gather_runs(run).material, 0.05, [tmp_path / "run"])
    assert headline.verdict == "cannot tell"
    assert "did not say the same as those of another system" in headline.next


@pytest.mark.soak
@pytest.mark.parametrize("kind", [kind for kind in FAILING if "one system" not in kind])
def test_similar_users_are_rarely_told_apart_in_many_studies(kind: str) -> None:
    """The failing models of the other studies that treat both systems alike: seldom does a rate differ."""
    wrong = 0
    for seed in range(100):
        study = failing_study(seed, "agenda", FAILING[kind])
        options = {"simulator": "llm", "over": {"simulator": "agenda"}}
        wrong += bool(replace(study, models={name: {"visitor": options} for name in SYSTEMS}).user_card.differences)
    assert wrong <= 12


def test_users_of_a_re_audit_are_compared_with_those_of_its_baseline(tmp_path: Path) -> None:
    """By tables that a baseline holds: counts without any text."""

    def tables(seed: int, kind: str = "") -> dict[str, EventTable]:
        model = FAULTY_MODELS[kind] if kind else honest
        return misbehaved(seed, saying(model, systems=SYSTEMS), systems=("SYSA",), trials=3).fault_tables("SYSA")

    before = joined_tables([tables(1), tables(2)])
    assert set(before) == {ALL_TURNS}
    assert changed_users("SYSA", before, tables(3)) == ""
    found = changed_users("SYSA", before, tables(3, "farewell"))
    assert found.startswith("its users say something else than those of the baseline: the fault 'farewell'")
    assert "more frequent" in found
    faulty = joined_tables([tables(4, "leak")])
    assert changed_users("SYSA", faulty, tables(5, "leak")) == ""
    assert "the fault 'leak'" in changed_users("SYSA", faulty, tables(6))
    assert changed_users("SYSA", {}, tables(3, "leak")) == "", "older baselines do not say"
    assert joined_tables([{}, tables(1)]) == {}
    kept = SystemBaseline(identity="", planned=1, valid=1, figures={}, ways={}, users=faulty)
    blessed = BaselineFile(
        format="harvest-baseline/1",
        audit="a",
        blessed_at="2026-11-28T00:00:00Z",
        blessed_by="somebody",
        gated=("ave%useful",),
        runs=(),
        protocol="",
        topics={},
        scoring={},
        systems={"SYSA": kept},
    )
    (tmp_path / "baseline.json").write_text(blessed.text())
    assert read_baseline(tmp_path / "baseline.json").systems["SYSA"].users == faulty
    assert "users" not in kept.model_copy(update={"users": {}}).model_dump(exclude_defaults=True)
