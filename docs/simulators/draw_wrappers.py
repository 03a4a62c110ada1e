"""Draws what the parameters of the probe and of the wrappers do. Run: python docs/simulators/draw_wrappers.py

Paraphrases and reformulations are simulated with fixed seeds; the other three plots are computed.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from plot import Line, Plot, drawn  # stands in the folder above, which is no package

from protocols.answer import Answer
from protocols.route import Stop
from scoring.measures.signal_detection import signal_detection
from scoring.statistics.beta import normal_quantile
from simulators import markov
from simulators.user import Observation, Scenario, Streams
from simulators.wrappers import reformulating
from simulators.wrappers.paraphrasing import paraphrase
from simulators.wrappers.reformulating import REFORMULATIONS
from topics.library import load_topics

RATES = (0.0, 0.25, 0.5, 0.75, 1.0)


def probe() -> str:
    """d' and c of a system that was challenged 40 times wrongly and 40 times rightly."""
    sensitivity, leaning = [], []
    for alarms in (4, 12, 20, 36):
        found = [(hits / 40, signal_detection(hits, 40, alarms, 40)) for hits in range(41)]
        name = f"wrong answers kept: {alarms / 40:g}"
        sensitivity.append(Line(name, [(kept, one.d_prime) for kept, one in found]))
        leaning.append(Line(name, [(kept, one.criterion) for kept, one in found]))
    return drawn(
        Plot("tells right from wrong", "right answers kept", "d'", sensitivity, x=(0.0, 1.0)),
        Plot("leans to giving way (above 0)", "right answers kept", "c", leaning, x=(0.0, 1.0)),
    )


def paraphrasing(trials: int = 4, kinds: Sequence[str] = ("typos", "synonyms", "case", "keywords")) -> str:
    """What is left of the words of the requests of `fairweb-45`, by kind and rate."""
    requests = [topic.request for topic in load_topics("fairweb-45").topics]
    lines = []
    for kind in kinds:
        points = []
        for rate in RATES:
            left = words = 0
            for number, request in enumerate(requests):
                for trial in range(trials):
                    said = set(paraphrase(request, {kind: rate}, Streams(1, (number, trial)))[0].split())
                    left += sum(word in said for word in request.split())
                    words += len(request.split())
            points.append((rate, left / words))
        lines.append(Line(kind, points))
    return drawn(Plot("requests of fairweb-45", "rate", "words left as they were", lines, (0.0, 1.0), (0.0, 1.0)))


def persona() -> str:
    """Below what the differences within a null pair lie in 95 of 100 cases (normal approximation)."""
    reach = normal_quantile(0.975)
    lines = [
        Line(f"useful: {p:g}", [(n, reach * math.sqrt(2 * p * (1 - p) / n)) for n in range(10, 201, 5)])
        for p in (0.5, 0.8, 0.95)
    ]
    return drawn(Plot("noise of a null pair", "trials of each group", "difference of two shares", lines, y=(0.0, 0.5)))


def pressing(most: int = 10) -> str:
    """How many buttons a user presses whose wrapped user leaves after some of the answers to its words."""
    lines = []
    for leave in (0.1, 0.3, 1.0):
        points = []
        for step in range(21):
            share = step / 20
            again = share / (share + (1 - share) * leave)
            points.append((share, sum(again**press for press in range(1, most + 1))))
        lines.append(Line(f"leave: {leave:g}", points))
    return drawn(Plot("something is always offered", "share", "expected presses", lines, (0.0, 1.0), (0.0, 10.0)))


def reworded(conversations: int = 400, limits: Sequence[int] = (1, 3, 10), rates: Sequence[float] = RATES) -> str:
    """The share of answers after which the user reformulated, by how often the system is useful and how many
    reformulations may stand in a row."""
    scenario = Scenario(load_topics("fairweb-45").topics[0])
    lines = []
    for most in limits:
        user = reformulating.build(reformulating.Options(most=most), markov.build(markov.Options()))
        points = []
        for useful in rates:
            count = answers = 0
            for trial in range(conversations):
                streams = Streams(2, (trial,))
                state, seen = user.start(scenario, streams.at(0)), None
                for turn in range(1, 40):
                    action, state = user.respond(state, seen, streams.at(turn))
                    if isinstance(action, Stop):
                        answers += seen is not None
                        break
                    count += action.state in REFORMULATIONS
                    answers += seen is not None
                    hit = float(streams.at("system", turn)("label").random()) < useful
                    seen = Observation(Answer("Primer"), "o" if hit else "x")
            points.append((useful, count / answers))
        lines.append(Line(f"most {most}", points))
    return drawn(
        Plot(
            "illustrative table over a Markov user",
            "share of useful answers",
            "reformulations per answer",
            lines,
            (0.0, 1.0),
            (0.0, 0.4),
        )
    )


FIGURES: dict[str, Callable[[], str]] = {
    "probe.svg": probe,
    "paraphrasing.svg": paraphrasing,
    "persona.svg": persona,
    "pressing.svg": pressing,
    "reformulating.svg": reworded,
}

if __name__ == "__main__":
    for file, figure in FIGURES.items():
        (Path(__file__).parent / file).write_text(figure(), encoding="utf-8")
