"""What a simulated user chose among stands in the turn that it took, and in how it left."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest

from protocols.library import load_protocol
from protocols.route import Choice, Say, Stop
from simulators.promises import BrokenPromise, next_action
from simulators.registry import build_user
from simulators.scripted import ScriptedUser, add_choice
from simulators.user import Chance, EnumerableUser, Observation, Scenario, State, Streams, User
from tests.support.enumerable_users import ANSWERS, MOVIES, told_as_promised
from topics.document import Document

AGENDA: dict[str, Any] = {"simulator": "agenda", "constraints": {"year": "After 2000, please."}, "cooperativeness": 0.6}
TYPOS = {"simulator": "paraphrasing", "typos": 0.5}
FACTS = {"date": {"ask": ("When?", "Which year?"), "right": ("2004",), "wrong": ("1999",)}}
USERS: dict[str, dict[str, Any]] = {
    "agenda": AGENDA,
    "clarification": {"simulator": "clarification", "facet": "low-budget independent productions"},
    "markov": {"simulator": "markov"},
    "random": {"simulator": "random"},
    "subtopic": {"simulator": "subtopic", "subtopics": ("comedies", "dramas")},
    "probe": {"simulator": "probe", "facts": FACTS, "steps": ({"ask": "date"}, {"distract": 2})},
    "paraphrasing": {**TYPOS, "over": AGENDA},
    "persona": {"simulator": "persona", "groups": {"a": {"cue": "I teach."}}, "group": "a", "over": AGENDA},
    "reformulating": {"simulator": "reformulating", "over": {"simulator": "markov"}},
    "nested": {**TYPOS, "over": {"simulator": "reformulating", "over": AGENDA}},
}


def built(described: dict[str, Any]) -> User:
    return build_user(Document("x", described, {}, {}))


def conversed(user: User, trial: int) -> list[tuple[Say | Stop, tuple[Chance, ...]]]:
    """What the user did in one conversation, each with the ways in which that turn could go."""
    rng, found = Streams(5, ("choices", trial)), []
    state, seen = user.start(Scenario(MOVIES), rng.at(0)), None
    for turn in range(1, 8):
        assert isinstance(user, EnumerableUser)
        chances = user.distribution(state, seen)
        action, after = user.respond(state, seen, rng.at(turn))
        found.append((add_choice(user, state, seen, action), chances))
        state = after
        if isinstance(action, Stop):
            break
        seen = ANSWERS[(trial + turn) % len(ANSWERS)]
    return found


@pytest.mark.parametrize("kind", USERS)
def test_every_act_and_every_end_has_its_probability_and_the_hazard(kind: str) -> None:
    ends: Counter[str] = Counter()
    for trial in range(40):
        for action, chances in conversed(built(USERS[kind]), trial):
            assert action.choice is not None, kind
            assert action.choice.probability, kind
            told_as_promised(action, chances)
            if isinstance(action, Stop):
                assert action.choice.leaving[action.reason] == action.choice.probability
                ends[action.reason] += 1
    assert ends


@pytest.mark.parametrize(
    ("observation", "took"),
    [
        (ANSWERS[0], "useful"),
        (ANSWERS[1], "not-useful"),
        (ANSWERS[2], "answered"),
        (ANSWERS[3], "question"),
        (ANSWERS[4], "question"),
        (ANSWERS[5], "empty"),
        (ANSWERS[6], "refusal"),
        (None, ""),
    ],
)
def test_the_interpretation_of_an_answer_is_recorded(observation: Observation | None, took: str) -> None:
    user = built({**AGENDA, "stop": None})
    rng = Streams(1, ("took",))
    action, state = user.respond(user.start(Scenario(MOVIES), rng.at(0)), None, rng.at(1))
    if observation is not None:
        action, _ = user.respond(state, observation, rng.at(2))
    assert action.choice is not None
    assert action.choice.took == took


def test_noise_is_the_change_made_in_this_turn() -> None:
    plain, noisy = built(AGENDA), built(USERS["paraphrasing"])
    changed = 0
    for trial in range(20):
        rng = Streams(trial, ("noise",))
        said, _ = plain.respond(plain.start(Scenario(MOVIES), rng.at(0)), None, rng.at(1))
        typed, _ = noisy.respond(noisy.start(Scenario(MOVIES), rng.at(0)), None, rng.at(1))
        assert isinstance(said, Say)
        assert isinstance(typed, Say)
        assert said.choice
        assert typed.choice
        could, did = typed.choice.noise["typos"]
        assert 0 <= did <= could
        assert (typed.text != said.text) == (did > 0)
        assert (typed.choice.probability, said.choice.noise) == (said.choice.probability, {})
        changed += did
    assert changed


@dataclass(frozen=True)
class Coin:
    """A plug-in that lists its chances and says nothing more."""

    choice: Any = None
    broken: bool = False
    name: str = "coin"

    def start(self, scenario: Scenario, rng: Streams) -> State:
        return {"turn": 0}

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        if observation is not None and float(rng("stop").random()) < 0.75:
            return Stop("user-stopped", "left"), state
        return Say("Films?", "ask", state["turn"] + 1, choice=self.choice), {"turn": state["turn"] + 1}

    def distribution(self, state: State, observation: Observation | None) -> tuple[Chance, ...]:
        if self.broken:
            raise RuntimeError("not today")
        after = {"turn": state["turn"] + 1}
        said = Say("Films?", "ask", after["turn"])
        if observation is None:
            return (Chance(1.0, said, after),)
        return Chance(0.75, Stop("user-stopped", "left"), state), Chance(0.25, said, after)


def scripted(user: User) -> ScriptedUser:
    return ScriptedUser(load_protocol("open-ended"), {"visitor": user})


def talked(user: User, trial: int) -> list[Say | Stop]:
    """What the user of a protocol did, as the protocol's."""
    rng, playing, found = Streams(trial, ("talked",)), scripted(user), []
    state, seen = playing.start(Scenario(MOVIES), rng.at(0)), None
    for turn in range(1, 4):
        action, state = next_action(playing, state, seen, rng.at(turn))
        found.append(action)
        if isinstance(action, Stop):
            break
        seen = Observation(ANSWERS[turn].answer)
    return found


def test_a_plug_in_that_lists_its_choices_need_not_do_more() -> None:
    ends = 0
    for trial in range(20):
        opening, *further = talked(Coin(), trial)
        assert opening.choice == Choice(1.0)
        for action in further:
            assert action.choice == Choice(0.75 if isinstance(action, Stop) else 0.25, {"left": 0.75})
            ends += isinstance(action, Stop)
    assert ends


def test_choices_that_cannot_be_listed_cost_no_trial() -> None:
    assert all(action.choice is None for action in talked(Coin(broken=True), 1))
    told = Choice(took="question")
    assert talked(Coin(told, broken=True), 1)[0].choice == told


def test_turns_of_the_protocol_itself_have_no_choice() -> None:
    playing = ScriptedUser(load_protocol("fairweb-two-round"))
    action, _ = playing.respond(playing.start(Scenario(MOVIES), Streams(0)), None, Streams(0))
    assert action.choice is None


BROKEN: list[Any] = [
    "sure",
    {"probability": 1.5},
    {"took": 3},
    {"leaving": {"left": 2.0}},
    {"refused": {"assistant": 0.5}},
    {"noise": {"typos": 1}},
    {"noise": {"typos": (1, 2, 3)}},
]


@pytest.mark.parametrize("told", BROKEN)
def test_an_unrecordable_choice_is_a_broken_promise(told: Any) -> None:
    with pytest.raises(BrokenPromise, match=r"Say\.choice"):
        talked(Coin(Choice(**told) if isinstance(told, dict) else told), 1)
