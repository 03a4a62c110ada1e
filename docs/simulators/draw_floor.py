"""Draws what the parameters of the random, replay and recorded users do. Run: python docs/simulators/draw_floor.py

Nothing is drawn at random: probabilities go forward turn by turn from `distribution`, so the plots are exact.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from plot import Line, Plot, drawn  # stands in the folder above, which is no package

from protocols.answer import Answer
from protocols.route import Say
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, TrialKey, Turn
from recordings.trees.builder import TreeBuilder
from simulators.enumeration import Response, expand
from simulators.random import Options, build
from simulators.recorded import RecordedUser
from simulators.replay import ReplayUser
from simulators.user import EnumerableUser, Scenario
from topics.topic import Topic, TopicType

SCENARIO = Scenario(Topic("T1", TopicType("film"), "Which films feature time travel?"))
TURNS = 6


def conversation(trial: int, turns: int, last: str) -> Conversation:
    said = [
        Turn(n, "ask", f"turn {n}" + (last if n == turns else ""), SystemTurn(Answer("a"))) for n in range(1, turns + 1)
    ]
    return Conversation(TrialKey("S", "T1", trial), f"{trial}", 1, tuple(said), Outcome("completed"))


RECORDED = [
    conversation(trial, turns, last) for trial, (turns, last) in enumerate([(2, ""), (4, ""), (4, "!"), (6, "")], 1)
]


def survival(user: EnumerableUser, same: float = 1.0) -> list[tuple[float, float]]:
    """Probability of taking each user turn, with a system that gives the recorded answer with probability `same`."""
    answers = [Response(p, Answer(text)) for p, text in ((same, "a"), (1 - same, "b")) if p > 0]
    tree = expand(user, SCENARIO, lambda exchanges, said: answers, most_turns=TURNS, most_nodes=500_000)
    return [
        (turn, sum(path.probability for path in tree.paths if len(path.turns) >= turn)) for turn in range(1, TURNS + 1)
    ]


def in_place(mode: str, same: float) -> list[tuple[float, float]]:
    """Probability that a user turn is said, and said to the recorded answer."""
    user = ReplayUser({"T1": RECORDED[3:]}, mode)  # type: ignore[arg-type]
    answers = [Response(p, Answer(text)) for p, text in ((same, "a"), (1 - same, "b")) if p > 0]
    tree = expand(user, SCENARIO, lambda exchanges, said: answers)
    return [
        (turn, sum(path.probability for path in tree.paths if _held(path.turns, turn))) for turn in range(1, TURNS + 1)
    ]


def _held(turns: Sequence[Say], turn: int) -> bool:
    return len(turns) >= turn and turns[turn - 1].state == "recorded"


def random_figure() -> str:
    words = {"ask": ("And?",)}
    lines = [
        Line(f"leave {leave}", survival(build(Options(leave=leave, acts={"ask": 1}, words=words))), steps=True)
        for leave in (0.1, 0.25, 0.5)
    ]
    cut = Line(
        "leave 0.1, most 4", survival(build(Options(leave=0.1, most=4, acts={"ask": 1}, words=words))), steps=True
    )
    return drawn(Plot("how long it stays", "user turn", "P(it is taken)", [*lines, cut], y=(0.0, 1.0)))


def recorded_figure() -> str:
    builder = TreeBuilder()
    for one in RECORDED:
        builder.add(one)
    tree = RecordedUser({"T1": builder.tree()})
    shares = (1.0, 0.8, 0.5)
    walk = [Line(f"{share:.0%} of answers as recorded", survival(tree, share), steps=True) for share in shares]
    kept = [Line(f"tolerant, {share:.0%} as recorded", in_place("tolerant", share), steps=True) for share in shares]
    return drawn(
        Plot("tree walk of four recordings", "user turn", "P(it is taken)", walk, y=(0.0, 1.0)),
        Plot("replay of the longest of them", "user turn", "P(taken, to the recorded answer)", kept, y=(0.0, 1.0)),
    )


FIGURES: dict[str, Callable[[], str]] = {"random.svg": random_figure, "recorded.svg": recorded_figure}

if __name__ == "__main__":
    for file, figure in FIGURES.items():
        (Path(__file__).parent / file).write_text(figure(), encoding="utf-8")
