"""Draws what the parameters of stop models and users do. Run: python docs/simulators/draw_policies.py

Nothing is drawn at random: probabilities go forward turn by turn from `distribution`, and states that are alike are
added up. So the plots are exact, and the same on every machine.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

sys.path.insert(0, str(Path(__file__).parent.parent))

from plot import Line, Plot, drawn  # stands in the folder above, which is no package

from protocols.answer import Answer
from protocols.route import Say
from simulators import agenda, clarification, markov, subtopic
from simulators.act_table import ActSequence, fit
from simulators.memory import encode_memory
from simulators.stopping.hazard import Geometric, Hazard, TwoAlpha
from simulators.stopping.library import Frustration, RateOfGain
from simulators.stopping.model import StopModel, initial_experience, update_experience
from simulators.user import Chance, Observation, Scenario, State, Streams
from topics.topic import Topic, TopicType

TOPIC = Topic("T1", TopicType("film"), "Which films feature time travel?")
USEFUL, USELESS = Observation(Answer("Primer"), "o"), Observation(Answer("Bananas"), "x")
RNG = Streams(1)
ENDLESS = 1000
System = Sequence[tuple[float, Observation]]


def survival(model: StopModel, labels: str, coverage: Sequence[float], words: int = 60) -> list[tuple[float, float]]:
    """Probability of being still there after each answer."""
    memory, here, found = initial_experience(), 1.0, [(0.0, 1.0)]
    for turn, (label, share) in enumerate(zip(labels, coverage), 1):
        observation = Observation(Answer("w " * words), label)
        memory = update_experience(memory, observation, share)
        here *= 1 - model.hazard(memory, observation)
        found.append((float(turn), here))
    return found


def forward(
    user: object, scenario: Scenario, system: System, turns: int, forget: Mapping[str, object] | None = None
) -> list[dict[str, float]]:
    """Probability of each act or reason at each user turn, for a system that answers independently each time.

    What stop models remember is forgotten, so that alike states add up: for users without one. forget: what else of the
    state makes no difference, and what it is set to.
    """
    where: dict[str, tuple[float, State]] = {"": (1.0, user.start(scenario, RNG))}  # type: ignore[attr-defined]
    rows: list[dict[str, float]] = []
    for turn in range(turns):
        row: dict[str, float] = {}
        onward: dict[str, tuple[float, State]] = {}
        for weight, state in where.values():
            for share, observation in system if turn else ((1.0, None),):
                chances: tuple[Chance, ...] = user.distribution(state, observation)  # type: ignore[attr-defined]
                for chance in chances:
                    p, action = weight * share * chance.probability, chance.action
                    name = action.state if isinstance(action, Say) else action.reason
                    row[name] = row.get(name, 0.0) + p
                    if isinstance(action, Say):
                        bare = replace(
                            chance.state, **{"experience": initial_experience(), "turn": 1, **(forget or {})}
                        )
                        key = json.dumps(encode_memory(bare))
                        onward[key] = (onward.get(key, (0.0, bare))[0] + p, bare)
        rows.append(row)
        where = {key: (weight, state) for key, (weight, state) in onward.items() if weight > 1e-7}
    return rows


def summed(rows: Sequence[dict[str, float]], *names: str) -> float:
    return sum(row.get(name, 0.0) for row in rows for name in names)


def turns_taken(rows: Sequence[dict[str, float]]) -> float:
    """Expected user turns, up to where the rows end."""
    leaving = ("left", "goal-reached", "frustrated", "patience", "satisfied")
    return sum(p for row in rows for name, p in row.items() if name not in leaving)


def stopping() -> str:
    t = 12
    grown = {f"hazard, {share:g} of the need a turn": share for share in (0, 0.1, 0.3)}
    first = [
        Line(name, survival(Hazard(), "o" * t, [min(1.0, share * n) for n in range(1, t + 1)]), steps=True)
        for name, share in grown.items()
    ]
    first.append(Line("geometric, p = .25", survival(Geometric(p=0.25), "o" * t, [0.0] * t), steps=True))
    labels = "oxxoxxoxxoxx"
    models = {
        "two-alpha, useful .85, useless .6": TwoAlpha(),
        "two-alpha, useful .95, useless .95": TwoAlpha(useful=0.95, useless=0.95),
        "frustration, after 3, width 0": Frustration(after=3),
        "frustration, after 3, width 1": Frustration(after=3, width=1),
        "frustration, 3 in a row, width 1": Frustration(after=3, width=1, in_a_row=True),
    }
    second = [Line(name, survival(model, labels, [0.0] * t), steps=True) for name, model in models.items()]
    gains = [1 - 0.6**n for n in range(1, t + 1)]
    third = [
        Line(name, survival(RateOfGain(elsewhere=rate, width=width), "o" * t, gains), steps=True)
        for name, rate, width in (
            ("elsewhere .05, width 0", 0.05, 0.0),
            ("elsewhere .2, width 0", 0.2, 0.0),
            ("elsewhere .2, width .05", 0.2, 0.05),
            ("elsewhere .2, width .2", 0.2, 0.2),
        )
    ]
    axes = {"x": (0.0, 12.0), "y": (0.0, 1.0)}
    return drawn(
        Plot("useful answers", "answers", "still there", first, **axes),
        Plot("useful, useless, useless, …", "answers", "still there", second, **axes),
        Plot("rate of gain: coverage 1 - .6^t", "answers", "still there", third, **axes),
    )


def markov_figure() -> str:
    lengths = []
    for share in (0.0, 0.5, 1.0):
        rows = forward(markov.build(markov.Options()), Scenario(TOPIC), ((share, USEFUL), (1 - share, USELESS)), 9)
        there = 1.0
        points = []
        for turn, row in enumerate(rows):
            there -= row.get("left", 0.0)
            points.append((float(turn), there))
        lengths.append(Line(f"{share:.0%} of answers useful", points, steps=True))
    smoothed = []
    # All 20 users who had a useless answer left; none of the n who had a useful one did.
    for name, options in {
        "Witten–Bell": {"smoothing": "witten-bell"},
        "additive, w = .5": {"smoothing": "additive", "weight": 0.5},
        "additive, w = .5, least 5": {"smoothing": "additive", "weight": 0.5, "least": 5},
        "relative frequency": {"smoothing": "additive", "weight": 0.0},
    }.items():
        points = []
        for n in range(1, 21):
            stayed = [ActSequence(("ask", "more"), ("o",), ended=False)] * n
            left = [ActSequence(("ask",), ("x",))] * 20
            points.append((float(n), fit([*stayed, *left], **options).row(["ask"], "o")["stop"]))  # type: ignore[arg-type]
        smoothed.append(Line(name, points))
    return drawn(
        Plot("the illustrative table", "answers", "still there", lengths, x=(0.0, 8.0), y=(0.0, 1.0)),
        Plot("stop after ask and a useful answer", "times seen, nobody left", "P(stop)", smoothed),
    )


def subtopic_figure() -> str:
    topics, words = [f"subtopic {n}" for n in range(4)], dict.fromkeys(subtopic.ACTS, ("{{ item }}",))
    scenario = Scenario(TOPIC, {"subtopics": topics})
    visited, again = [], []
    for name, requery, answer in (
        ("12% (useful answers)", subtopic.Requery(), USEFUL),
        ("34% (useless answers)", subtopic.Requery(), USELESS),
        ("70%", subtopic.Requery(useful=0.7, useless=0.7), USEFUL),
    ):
        user = subtopic.build(subtopic.Options(requery=requery, stop=None, words=words))
        rows = forward(user, scenario, ((1.0, answer),), 6)
        known, points = 0.0, []
        for turn, row in enumerate(rows, 1):
            known += row.get("ask", 0.0) + row.get("move", 0.0)
            points.append((float(turn), known))
        visited.append(Line(f"asks again with {name}", points))
    for unjudged in (0.0, 0.5, 1.0):
        points = []
        for share in range(11):
            user = subtopic.build(subtopic.Options(unjudged=unjudged, stop=None, words=words))
            system = ((share / 10, Observation(USEFUL.answer)), (1 - share / 10, USELESS))
            points.append((share / 10, forward(user, scenario, system, 2)[1].get("requery", 0.0)))
        again.append(Line(f"unjudged = {unjudged:g}", points))
    return drawn(
        Plot("subtopics asked about, of 4", "user turns", "expected number", visited, x=(1.0, 6.0), y=(0.0, 4.0)),
        Plot("asking again", "share of answers nobody judged (others useless)", "P(requery)", again, y=(0.0, 0.4)),
    )


def agenda_figure() -> str:
    goal = {"requests": ["Which films?", "Who directed the oldest?"], "constraints": {"year": "2004", "kind": "comedy"}}
    scenario = Scenario(TOPIC, {"goal": goal})
    bare = ("no-preference", "unsure")
    words = {act: ("{{ item }}",) for act in agenda.ACTS if act not in bare} | dict.fromkeys(bare, ("Any.",))
    asking = Observation(Answer("Which year?"))

    def play(system: System, patience: int, **options: object) -> list[dict[str, float]]:
        chosen = {"stop": None, "words": words, "patience": patience, **options}
        # Where patience has no end, how often it was tried makes no difference.
        forget = {"passed_over": 0} | ({"without": 0} if patience == ENDLESS else {})
        return forward(agenda.build(agenda.Options.model_validate(chosen)), scenario, system, 30, forget)

    shares = [0, 0.2, 0.4, 0.6, 0.8, 1]
    reached = [
        Line(
            f"patience {patience}",
            [(u, summed(play(((u, USEFUL), (1 - u, USELESS)), patience=patience), "goal-reached")) for u in shares],
        )
        for patience in (0, 1, 3, 6)
    ]
    taken = [
        Line(
            f"{name}",
            [(i, turns_taken(play(system, initiative=i, patience=ENDLESS))) for i in shares],
        )
        for name, system in {
            "every answer useful": ((1.0, USEFUL),),
            "half useful": ((0.5, USEFUL), (0.5, USELESS)),
            "half useful, half a question": ((0.5, USEFUL), (0.5, asking)),
        }.items()
    ]
    informed = []
    for name, initiative in {"initiative 0": 0.0, "initiative .5": 0.5}.items():
        points = []
        for c in shares:
            rows = play(((0.5, USEFUL), (0.5, asking)), initiative=initiative, cooperativeness=c, patience=3)
            points.append((c, summed(rows, "inform")))
        informed.append(Line(name, points))
    return drawn(
        Plot("goal reached", "probability that an answer is useful", "P(goal reached)", reached, y=(0.0, 1.0)),
        Plot("length (patience without end)", "initiative", "expected user turns", taken),
        Plot("a system that asks half the time", "cooperativeness", "expected answers to questions", informed),
    )


def clarification_figure() -> str:
    scenario = Scenario(TOPIC, {"facet": "low-budget independent productions"})
    words = {act: (f"{act}",) for act in clarification.ACTS}
    asking = Observation(Answer("What kind of films do you mean?"))
    wrong = Observation(Answer("Do you mean comedies?"))
    met = Observation(Answer("Primer is an independent low budget production."))
    beside = Observation(Answer("Tenet."))
    told = ("tell", "correct", "confirm", "redirect")

    def play(system: System, turns: int = 30, **options: object) -> list[dict[str, float]]:
        user = clarification.build(clarification.Options.model_validate({"stop": None, "words": words, **options}))
        return forward(user, scenario, system, turns)

    shares = [n / 10 for n in range(11)]
    telling = [
        Line(f"{name}", [(c, summed(play(((1.0, seen),), 2, cooperativeness=c), *told)) for c in shares])
        for name, seen in {
            "after a question": asking,
            "after an answer beside the facet": beside,
        }.items()
    ]
    pleased = [
        Line(
            f"patience {patience}",
            [
                (q, summed(play(((q / 2, asking), (q / 2, wrong), (1 - q, met)), patience=patience), "satisfied"))
                for q in shares
            ],
        )
        for patience in (0, 1, 3, 6)
    ]
    tries = [
        Line(
            f"tries {tries}",
            [(u, summed(play(((u, met), (1 - u, beside)), tries=tries), "satisfied")) for u in shares],
        )
        for tries in (0, 2, 5)
    ]
    return drawn(
        Plot("tells the facet at once (initiative .5)", "cooperativeness", "P(tells)", telling, y=(0.0, 1.0)),
        Plot("a system that asks", "share of answers that are questions", "P(satisfied)", pleased, y=(0.0, 1.0)),
        Plot("a system that misses", "share of answers that meet the facet", "P(satisfied)", tries, y=(0.0, 1.0)),
    )


def parameters(options: type[BaseModel]) -> str:
    """The options as a Markdown table: name, default, range, what it is."""
    rows = ["| option | default | range | |", "|---|---|---|---|"]
    for name, field in options.model_fields.items():
        if name != "model":
            rows.append(f"| `{name}` | {_default(field)} | {_range(field)} | {field.description} |")
    return "\n".join(rows) + "\n"


def _default(field: FieldInfo) -> str:
    value = field.default
    if field.is_required():
        return "needed"
    if isinstance(value, BaseModel):
        name = f"model: {value.model}" if isinstance(value, Hazard) else ", ".join(f"{k}: {v}" for k, v in value)
        return f"`{{{name}}}`"
    if value is None or value in ((), {}):
        return "none"
    return ", ".join(f"`{one}`" for one in value) if isinstance(value, tuple) else f"`{value}`"


def _range(field: FieldInfo) -> str:
    signs = {"ge": "≥ {}", "gt": "> {}", "le": "≤ {}", "lt": "< {}"}
    held = [
        words.format(f"{getattr(part, sign):,g}")
        for part in field.metadata
        for sign, words in signs.items()
        if getattr(part, sign, None) is not None
    ]
    if get_origin(field.annotation) is Literal:
        held = [", ".join(f"`{one}`" for one in get_args(field.annotation))]
    return ", ".join(held)


FIGURES: dict[str, Callable[[], str]] = {
    "stopping.svg": stopping,
    "markov.svg": markov_figure,
    "subtopic.svg": subtopic_figure,
    "agenda.svg": agenda_figure,
    "clarification.svg": clarification_figure,
}

if __name__ == "__main__":
    for file, figure in FIGURES.items():
        (Path(__file__).parent / file).write_text(figure(), encoding="utf-8")
