"""Dialogues of simulated users with a system that answers the same each time, for tests of fits and validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from harvest.studies.users.fitted_users import Answers, fitted_options
from protocols.answer import Answer
from protocols.route import Say
from recordings.acts.dialogue import ActTurn, Dialogue
from recordings.acts.reading import read_act_lines
from simulators import markov
from simulators.stopping import model as experience
from simulators.stopping.library import StopOption
from simulators.user import Observation, Scenario, Streams
from tests.support.checkout import DATA
from topics.topic import Topic, TopicType

IARD = DATA / "iard" / "acts.jsonl"
SIM4IA = DATA / "sim4ia" / "evaluation_sessions_Task_B.json"

_SCENARIO = Scenario(Topic("T1", TopicType("any"), "a request"))


@lru_cache(maxsize=1)
def iard() -> tuple[Dialogue, ...]:
    return read_act_lines(IARD)


def fitted_markov(
    dialogues: Sequence[Dialogue], *, order: int = 1, stop: str = "table", answers: Answers = "nothing"
) -> markov.MarkovUser:
    """The user that `harvest users fit` makes of the dialogues, with its acts for words."""
    options = fitted_options(dialogues, order=2 if order == 2 else 1, stop=stop, answers=answers)
    return markov.build(options.model_copy(update={"words": {act: (act,) for act in options.acts}}))


def played(
    user: markov.MarkovUser,
    trial: int,
    *,
    seed: int = 1,
    label: Callable[[int], str | None] = lambda turn: None,
    longest: int = 10_000,
) -> Dialogue:
    """One dialogue; `label` is what every answer is judged as, by turn. Cut off after `longest` turns."""
    streams = Streams(seed, (user.name, "T1", trial))
    state = user.start(_SCENARIO, streams.at("start"))
    seen: Observation | None = None
    turns: list[ActTurn] = []
    while len(turns) < longest:
        action, state = user.respond(state, seen, streams.at(len(turns) + 1))
        if not isinstance(action, Say):
            return Dialogue(str(trial), tuple(turns), True, system="parrot")
        seen = Observation(Answer("an answer", ()), label(len(turns) + 1))
        turns.append(ActTurn(action.state, seen.label))
    return Dialogue(str(trial), tuple(turns), False, system="parrot")


def dialogues_with(user: markov.MarkovUser, decisions: int, *, seed: int = 1) -> list[Dialogue]:
    """As many dialogues as it takes to have that many decisions, acts and leavings together."""
    found: list[Dialogue] = []
    count = 0
    while count < decisions:
        found.append(played(user, len(found) + 1, seed=seed))
        count += found[-1].length + 1
    return found


def quickly_drawn(user: markov.MarkovUser, number: int, rng: np.random.Generator) -> list[Dialogue]:
    """Dialogues of the user's table and stop model where nothing judges an answer: without words and memories, so that
    hundreds of thousands take seconds. A test holds the probabilities to those of the user itself."""
    rows: dict[tuple[object, ...], tuple[list[str], npt.NDArray[np.float64], float]] = {}
    hazards: list[float] = []
    found = []
    for trial in range(number):
        acts: list[str] = []
        while True:
            context = tuple(["start", *acts][-user.table.order :])
            key = (*context, len(acts) if user.turns else None)
            if key not in rows:
                before = [act for act in context if act != "start"]
                row = user.table.row(before)
                if user.turns is not None and acts:
                    row = user.turns.row(before, "-", len(acts), row)
                leaving = row.pop("stop", 0.0)
                rows[key] = (list(row), np.cumsum(list(row.values())) / sum(row.values()), leaving)
            names, sums, leaving = rows[key]
            if acts and user.stop is not None:
                while len(hazards) < len(acts):
                    hazards.append(hazard_after(user.stop, len(hazards) + 1))
                leaving = hazards[len(acts) - 1]
            if acts and rng.random() < leaving:
                break
            acts.append(names[min(int(np.searchsorted(sums, rng.random(), side="right")), len(names) - 1)])
        found.append(Dialogue(str(trial), tuple(ActTurn(act) for act in acts), True, system="parrot"))
    return found


def hazard_after(stop: StopOption, turn: int) -> float:
    """The probability of leaving after that many answers that nobody judged."""
    seen = Observation(Answer("an answer", ()))
    memory = experience.initial_experience()
    for _ in range(turn):
        memory = experience.update_experience(memory, seen, 0.0)
    return stop.hazard(memory, seen)


def six_acts(dialogues: Sequence[Dialogue]) -> tuple[Dialogue, ...]:
    """IARD with its two rare acts, 8 and 6 times in 2261 turns, put to the nearest common ones."""
    common = {
        "AddDetails+AskForRec": "AskForRec",
        "AddDetails+AskForRec+GiveFeedback": "AskForRec+GiveFeedback",
    }
    return tuple(
        replace(one, turns=tuple(ActTurn(common.get(turn.act, turn.act), turn.answer) for turn in one.turns))
        for one in dialogues
    )
