"""Draws the plots of the scripted, the human and the fitted user. Run: python docs/simulators/draw_played.py

Nothing is drawn at random: conversations are enumerated, tables multiplied, intervals reckoned. So the plots are exact,
and the same on every machine. The fitted user is fitted to IARD (`tests/data/iard`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

sys.path.insert(0, str(Path(__file__).parent.parent))

from plot import Line, Plot, drawn  # stands in the folder above, which is no package

from harvest.studies.users.fitted_users import fitted_options
from protocols.answer import Answer
from protocols.library import load_protocol
from protocols.route import Say
from recordings.acts.reading import read_act_lines
from scoring.inference.proportions import wilson_ends
from scoring.simulation.lengths import survival
from simulators import markov
from simulators.act_table import STOP
from simulators.enumeration import Response, expand
from simulators.scripted import ScriptedUser
from simulators.stopping import model as experience
from simulators.user import Observation, Scenario
from topics.library import load_topics

IARD = Path(__file__).parent.parent.parent / "tests" / "data" / "iard" / "acts.jsonl"
TURNS = 14

GOOD = "Primer: https://www.imdb.com/title/tt0390384/"
FORMLESS = "Primer is a film of the year 2004 about two engineers, and many people like it."
REFUSED = "I'm sorry, but I can't help you with that."


def scripted_figure() -> str:
    """What the two-round protocol says in turn 2, by how the first answer falls out."""
    user, topic = ScriptedUser(load_protocol("fairweb-two-round"), {}), load_topics("fairweb-45")["M002"]
    shares = [n / 20 for n in range(21)]

    def second(useful: float, refused: float) -> dict[str, float]:
        answers = ((useful, GOOD), ((1 - useful) * (1 - refused), FORMLESS), ((1 - useful) * refused, REFUSED))
        possible = [Response(p, Answer.of(text)) for p, text in answers if p > 0]
        found: dict[str, float] = {}
        for path in expand(user, Scenario(topic), lambda exchanges, said: possible, most_turns=2).paths:
            said = [turn for turn in path.turns if isinstance(turn, Say)]
            name = said[1].state if len(said) > 1 else "nothing"
            found[name] = found.get(name, 0.0) + path.probability
        return found

    named = {"more": "a few more?", "insist": "adhere to the format", "nothing": "nothing: a breakdown"}
    panels = []
    for refused in (0.2, 0.8):
        lines = [
            Line(text, [(share, second(share, refused).get(state, 0.0)) for share in shares])
            for state, text in named.items()
        ]
        title = f"refusals: {refused:.0%} of what is not useful"
        panels.append(Plot(title, "P(the first answer is useful)", "P(said in turn 2)", lines, x=(0, 1), y=(0, 1)))
    return drawn(*panels)


def human_figure() -> str:
    """How sure a person's conversations make of a share, by how many they type."""
    numbers = range(5, 105, 5)

    def half_width(n: int, share: float) -> float:
        low, high = wilson_ends(share * n, n, 0.95)
        return float(high - low) / 2

    typed = "conversations typed"
    widths = [
        Line(f"a share of {share:.0%}", [(n, half_width(n, share)) for n in numbers]) for share in (0.5, 0.8, 0.95)
    ]
    bounds = [Line("95% confidence", [(n, 1 - 0.05 ** (1 / n)) for n in numbers])]
    return drawn(
        Plot("how well a share is known", typed, "half of the 95% interval", widths, x=(0, 100), y=(0, 0.4)),
        Plot("no failure among them", typed, "failures there may be", bounds, x=(0, 100), y=(0, 0.6)),
    )


def _stays(user: markov.MarkovUser) -> list[float]:
    """Probability of still being there after 0, 1, … TURNS turns, where nobody judges an answer."""
    memory, seen = experience.initial_experience(), Observation(Answer("an answer"))
    here: dict[tuple[str, ...], float] = {(): 1.0}
    found = [1.0]
    for _ in range(TURNS):
        onward: dict[tuple[str, ...], float] = {}
        for before, weight in here.items():
            row = user.table.row(before)
            acting = sum(p for act, p in row.items() if act != STOP)
            for act, p in row.items():
                if act != STOP:
                    after = (*before, act)[-2:]
                    onward[after] = onward.get(after, 0.0) + weight * p / acting
        memory = experience.update_experience(memory, seen, 0.0)
        here = {}
        for before, weight in onward.items():
            leaving = user.stop.hazard(memory, seen) if user.stop else user.table.row(before).get(STOP, 0.0)
            here[before] = weight * (1 - leaving)
        found.append(sum(here.values()))
    return found


def fitted_figure() -> str:
    """How long users fitted to IARD stay, and how likely they are to leave after each turn, beside people."""
    dialogues = read_act_lines(IARD)
    users: dict[str, tuple[Literal[1, 2], str]] = {
        "order 1": (1, "table"),
        "order 2": (2, "table"),
        "order 1, --stop geometric": (1, "geometric"),
        "order 1, --stop hazard": (1, "hazard"),
    }
    curves = {"people": [float(share) for share in survival(dialogues).share[: TURNS + 1]]}
    for name, (order, stop) in users.items():
        options = fitted_options(dialogues, order=order, stop=stop)
        words: dict[str, tuple[str, ...]] = {act: (act,) for act in options.acts}
        curves[name] = _stays(markov.build(options.model_copy(update={"words": words})))
    stay = [Line(name, list(enumerate(shares)), steps=True) for name, shares in curves.items()]
    leave = [
        Line(name, [(t, 1 - shares[t] / shares[t - 1]) for t in range(1, TURNS + 1) if shares[t - 1] > 0.01])
        for name, shares in curves.items()
    ]
    return drawn(
        Plot("how long it stays", "user turns", "P(still there)", stay, y=(0.0, 1.0)),
        Plot("whether it leaves after a turn", "user turns", "P(leaves)", leave, y=(0.0, 1.0)),
    )


FIGURES: dict[str, Callable[[], str]] = {
    "scripted.svg": scripted_figure,
    "human.svg": human_figure,
    "fitted.svg": fitted_figure,
}

if __name__ == "__main__":
    for file, figure in FIGURES.items():
        (Path(__file__).parent / file).write_text(figure(), encoding="utf-8")
