"""What playing lost trials again may have chosen is said, named by its state, and bounded."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from scipy.stats import hypergeom

from harvest.studies.scores.scorecard import Material
from harvest.studies.validity.concentrations import concentrations, first_lost, lost_state
from recordings.conversations.conversation import Conversation, Outcome, TrialKey
from recordings.log.run_folder import read
from scoring.statistics.stratified import fisher_exact
from tests.benchmarks import selection as worlds
from tests.support.command_line import harvest

BOT = """\
import random
draws = random.Random(7)
def answer(text):
    if text.startswith("Adhere"):
        raise ValueError("these words cannot be typed")
    useful = text.startswith("Can you") or draws.random() < 0.57
    return "Here: https://www.imdb.com/title/tt9000000001/" if useful else "No idea."
"""
AUDIT = """\
format: harvest-audit/1
name: one state cannot be said
topics: fairweb-45
only: [M001, M002, M003, M004, M005]
protocol: fairweb-two-round
trials: 4
systems:
  - name: mine
    driver: python
    retries: 0
    attempts: 12
    give_up_after: 100
    options: {function: "bot.py:answer"}
"""


def test_an_unspeakable_state_is_named_and_the_table_shows_the_bounds(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(BOT)
    (tmp_path / "audit.yaml").write_text(AUDIT)
    done = harvest("run", "audit.yaml", "--out", "run", cwd=tmp_path)
    told = " ".join(done.stdout.split())
    assert done.returncode == 0, done.stderr
    assert "warning: mine: " in told
    assert "reached the state 'insist' of the protocol were lost there (exception x " in told
    draws = random.Random(7)
    first = [draws.random() < 0.57 for _ in range(20)]
    useful = 100 * sum(first) / 20
    assert 0 < sum(first) < 20
    assert "%useful S1 100.0% [" in told, "what was valid in the end was chosen"
    assert f"%useful S1 100.0% {useful:.1f}% {useful:.1f}%" in told, "the first answers are known"
    assert f"%useful S2 100.0% {useful:.1f}% 100.0%" in told
    assert "%recovery n/a 0.0% 100.0%" in told
    lost = sum(not one for one in first)
    assert (
        f"mine: in {lost} of 20 trials the first attempt that got an answer failed later, or was cut short. The bounds "
        "count that attempt, not a retry, with its missing turns once as useless and once as useful." in told
    )

    scored = json.loads(harvest("score", "run", "--json", cwd=tmp_path).stdout)["selection"]
    (one,) = scored["concentrations"]
    assert (one["system"], one["state"], one["after"], one["lost_elsewhere"]) == ("mine", "insist", {"x": lost}, 0)
    (bound,) = [row for row in scored["bounds"] if row["turn"] == 1]
    assert (bound["value"], bound["useless"], bound["useful"]) == (1.0, useful / 100, useful / 100)
    kept = json.loads((tmp_path / "run" / "scores.json").read_text())
    assert kept["selection"] == scored
    assert len(first_lost(read(tmp_path / "run").conversations)) == lost

    def asked(measures: str) -> str:
        return " ".join(harvest("score", "run", "-m", measures, cwd=tmp_path).stdout.split())

    short = f"mine: in {lost} of 20 trials the first attempt that got an answer failed later, or was cut short."
    told = asked("WAN(Sufficiency), transition(start, o)")
    assert "bounds of" not in told, "nobody asked for a share"
    assert (
        f"{short} WAN(Sufficiency, rules) and transition(start, o) rest on the retries in the same way and have no "
        "bounds here." in told
    )
    told = asked("%useful S1, P(breakdown), P(WAN(Sufficiency), below=0.5), SWAN")
    assert f"%useful S1 100.0% {useful:.1f}% {useful:.1f}%" in told
    assert "%recovery" not in told
    assert "%useful S2" not in told
    for rate in ("P(breakdown)", "P(WAN(Sufficiency), below=0.5)"):
        assert f"{rate} 0.0000 {lost / 20:.4f} 0.0000" in told
    assert (
        "For P(breakdown) and P(WAN(Sufficiency), below=0.5) the bounds count these trials once as cases and once "
        "not. SWAN(rules) rests on the retries in the same way and has no bounds here." in told
    )


def test_the_lost_trials_are_found_once_for_any_number_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is made of all conversations: asked for each of them, it took minutes for 20,000."""
    found: list[int] = []

    def counted(material: Material) -> frozenset[TrialKey]:
        found.append(len(material.conversations))
        return frozenset(one.key for one in material.conversations) - frozenset(one.key for one in material.finished)

    monkeypatch.setattr(Material, "invalid", property(counted))
    (tmp_path / "bot.py").write_text(BOT)
    times = []
    for trials in (8, 16):
        (tmp_path / "audit.yaml").write_text(AUDIT.replace("trials: 4", f"trials: {trials}"))
        assert "warning: mine: " in harvest("run", "audit.yaml", "--out", f"run-{trials}", cwd=tmp_path).stdout
        times.append(len(found))
        found.clear()
    assert times[0] == times[1]


def test_one_figure_has_one_pair_of_bounds_if_trials_were_lost_and_never_valid(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(BOT)
    (tmp_path / "audit.yaml").write_text(AUDIT.replace("attempts: 12", "attempts: 2"))
    told = " ".join(harvest("run", "audit.yaml", "--out", "run", cwd=tmp_path).stdout.split())
    assert "bounds of mine" in told
    assert re.search(r"mine: invalid trials, not in any figure: \d+; the bounds below include them", told)
    assert "had all of them been useless" not in told
    told = " ".join(harvest("score", "run", "-m", "ave%useful", cwd=tmp_path).stdout.split())
    assert "; the bounds below include them" in told
    told = " ".join(harvest("score", "run", "-m", "SWAN", cwd=tmp_path).stdout.split())
    assert "the bounds below" not in told


def test_a_breakdown_is_bounded_even_if_the_first_attempt_of_every_trial_was_lost(tmp_path: Path) -> None:
    useful = "'Here: https://www.imdb.com/title/tt9000000001/'"
    (tmp_path / "bot.py").write_text(
        "asked = []\n"
        "def answer(text):\n"
        "    asked.append(text)\n"
        "    if len(asked) == 2:\n"
        "        raise ValueError('these words cannot be typed')\n"
        f"    return 'No idea.' if len(asked) == 1 else {useful}\n"
    )
    (tmp_path / "audit.yaml").write_text(
        AUDIT.replace("[M001, M002, M003, M004, M005]", "[M001]").replace("trials: 4", "trials: 1")
    )
    harvest("run", "audit.yaml", "--out", "run", cwd=tmp_path)
    told = " ".join(harvest("score", "run", "-m", "breakdown, P(breakdown)", cwd=tmp_path).stdout.split())
    assert "mine: in 1 of 1 trial the first attempt that got an answer failed later, or was cut short." in told
    assert "breakdown 0.0000 1.0000 0.0000 P(breakdown) 0.0000 1.0000 0.0000" in told
    assert "no bounds here" not in told


def test_without_losses_after_an_answer_nothing_is_reported(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(
        BOT.replace('text.startswith("Adhere")', "draws.random() < 0.1 and 'list' in text")
    )
    (tmp_path / "audit.yaml").write_text(AUDIT)
    done = harvest("run", "audit.yaml", "--out", "run", cwd=tmp_path)
    assert "invalid attempts: mine: exception" in done.stdout
    assert "warning:" not in done.stdout
    assert "bounds of" not in done.stdout
    assert "selection" not in json.loads(harvest("score", "run", "--json", cwd=tmp_path).stdout)


def test_a_state_to_which_every_answer_leads_selects_nothing() -> None:
    conversations = []
    for trial in range(1, 21):
        for attempt, lost in ((1, True), (2, False)):
            turns = (worlds.turn(1, "ask", "o"), worlds.turn(2, "next", None if lost else "x"))
            outcome = Outcome("invalid", "not-typed") if lost else Outcome("completed")
            key = TrialKey("S", f"T{trial % 4}", trial)
            conversations.append(Conversation(key, "", attempt, turns, outcome))
    assert concentrations(conversations) == ()
    elsewhere = Conversation(TrialKey("S", "T0", 99), "", 1, (worlds.turn(1, "ask", "x"),), Outcome("breakdown"))
    (one,) = concentrations([*conversations, elsewhere])
    assert (one.state, one.lost, one.came, dict(one.after)) == ("next", 20, 20, {"o": 20})


def test_losses_of_only_one_topic_are_not_attributed_to_the_state() -> None:
    run = worlds.played(np.random.default_rng(1), lambda rng, topics: lambda topic, state: topic == 2, 8, 10)
    assert any(not one.valid for one in run)
    assert concentrations(run) == ()


def test_an_attempt_is_lost_in_the_state_that_was_to_speak() -> None:
    key = TrialKey("S", "T", 1)
    invalid = Outcome("invalid", "endpoint-failed")
    asked = worlds.turn(2, "insist", None)
    answered = worlds.turn(1, "ask", "x")
    assert lost_state(Conversation(key, "", 1, (answered, asked), invalid)) == "insist"
    assert lost_state(Conversation(key, "", 1, (answered,), invalid)) == "ask"
    assert lost_state(Conversation(key, "", 1, (), invalid)) == ""


def test_a_loss_with_its_last_answer_counts_in_the_state_of_that_answer() -> None:
    run = []
    for trial in range(1, 13):
        key, label = TrialKey("S", f"T{trial % 3}", trial), "x" if trial % 2 else "o"
        asked = worlds.turn(1, "ask", label), worlds.turn(2, "insist" if label == "x" else "more", "o")
        run.append(
            Conversation(key, "", 1, asked, Outcome("invalid", "went-on") if label == "x" else Outcome("completed"))
        )
    assert [(one.state, one.lost) for one in concentrations(run)] == [("insist", 6)]


@pytest.mark.parametrize("world", ["10% of turns lost", "lost by topic, 10% on average"])
def test_false_alarms_are_rare(world: str) -> None:
    assert worlds.told(worlds.FALSE[world], (15, 5), 120) <= 0.05


def test_a_state_that_is_always_lost_is_named_in_every_run() -> None:
    assert worlds.told(worlds.TRUE["`insist` always lost"], (15, 5), 20, "insist") == 1.0


@pytest.mark.soak
@pytest.mark.parametrize("world", worlds.FALSE)
@pytest.mark.parametrize("size", worlds.SIZES)
def test_false_alarms_are_rare_in_every_world(world: str, size: tuple[int, int]) -> None:
    # 1% is promised; of 1,000 runs at most 21 in 999 of 1,000 repetitions.
    assert worlds.told(worlds.FALSE[world], size, 1000) <= 0.021


@given(*[some.integers(0, 40)] * 4)
def test_fishers_test_is_the_tail_of_the_hypergeometric_distribution(a: int, b: int, c: int, d: int) -> None:
    expected = hypergeom(a + b + c + d, a + b, a + c).sf(a - 1) if a + b + c + d else 1.0
    assert fisher_exact(a, b, c, d) == pytest.approx(expected, rel=1e-8, abs=1e-12)
