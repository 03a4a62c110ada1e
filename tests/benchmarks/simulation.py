"""What fitted users are worth: the tables of docs/simulators/validation.md, and its plots.

    python -m tests.benchmarks.simulation                 all tables, one to two minutes
    python -m tests.benchmarks.simulation --svg docs/simulators     and the plots

Every figure is of IARD (336 dialogues of 156 people, `tests/data/iard`) or Sim4IA (35 search sessions,
`tests/data/sim4ia`), with the seeds that stand here.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from harvest.studies.users.fitted_users import fit_user
from recordings.acts.dialogue import Dialogue
from recordings.acts.reading import read_queries
from scoring.divergences import jsd
from scoring.simulation.act_model import (
    ActModel,
    Decision,
    Fit,
    Smoothing,
    UniformModel,
    acts_in,
    fit_acts,
    held_out_bits,
)
from scoring.simulation.halves import Spread, random_halves
from scoring.simulation.lengths import survival
from scoring.simulation.realism import distances, matrix_divergence
from simulators import markov
from tests.support.checkout import DOCS
from tests.support.simulated_dialogues import SIM4IA, dialogues_with, fitted_markov, iard, quickly_drawn, six_acts
from topics.identity import derived_seed

SEED = 20200714
SPLITS = 30
SIZES = (300, 3_000, 30_000)
SEEDS = {300: 20, 3_000: 10, 30_000: 5}

Rows = list[Sequence[str]]


def recovery(sizes: Sequence[int] = SIZES) -> Rows:
    """Fit to IARD, simulate, and compare what was simulated with the matrix it was simulated from."""
    rows: Rows = [("acts", *(f"{size:,} transitions" for size in sizes))]
    for name, dialogues in (("six", six_acts(iard())), ("all eight", iard())):
        known = fit_acts(dialogues)
        user = fitted_markov(dialogues)
        cells = []
        for size in sizes:
            rng = np.random.default_rng([SEED, size])
            found = [matrix_divergence(known, _decisions(user, size, rng)) for _ in range(SEEDS[size])]
            cells.append(f"{np.mean(found):.5f} [{min(found):.5f}, {max(found):.5f}]")
        rows.append((name, *cells))
    return rows


def estimators(sizes: Sequence[int] = SIZES) -> Rows:
    """The same for all eight acts, where what was seen is not taken as it is but smoothed: mean divergence in bits."""
    known = fit_acts(iard())
    user = fitted_markov(iard())
    names = {"as seen": None, "Witten-Bell": Smoothing(), "additive (0.5)": Smoothing("additive", 0.5)}
    found: dict[str, list[list[float]]] = {name: [] for name in (*names, "held-out weight")}
    for size in sizes:
        rng = np.random.default_rng([SEED, size])
        drawn = [_decisions(user, size, rng) for _ in range(SEEDS[size])]
        for name, smoothing in names.items():
            found[name].append([_refitted(known, one, smoothing) for one in drawn])
        found["held-out weight"].append([_refitted(known, one, None, held_out_weight=True) for one in drawn])
    rows: Rows = [("estimator", *(f"{size:,} transitions" for size in sizes))]
    return [*rows, *((name, *(f"{np.mean(values):.5f}" for values in cells)) for name, cells in found.items())]


def _refitted(
    known: ActModel, dialogues: Sequence[Dialogue], smoothing: Smoothing | None, *, held_out_weight: bool = False
) -> float:
    """Mean over rows of the divergence between the known matrix and the one fitted to the dialogues, each row weighing
    as often as it was seen. smoothing: None for shares as they were seen, or (held_out_weight) mixed with the row of
    any decision by the weight that foresees each single decision best from all the others."""
    raw = fit_acts(dialogues, acts=known.acts)
    fitted = fit_acts(dialogues, acts=known.acts, smoothing=smoothing or Smoothing())
    total = value = 0.0
    for act in ("start", *known.acts):
        decision = Decision(("start",) if act == "start" else ("start", act), None, "")
        counts = raw.counts.get((decision.before[-1:], None))
        if counts is None:
            continue
        shares = fitted.probabilities(decision)
        if smoothing is None:
            floor = UniformModel(known.acts).probabilities(decision)
            wider = floor if act == "start" else _shares(raw.counts[(), None])
            shares = _mixed(counts, wider) if held_out_weight else _shares(counts)
        value += counts.sum() * float(jsd(shares, known.probabilities(decision)))
        total += counts.sum()
    return value / total


def _shares(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    return np.asarray(counts / counts.sum(), dtype=np.float64)


def _mixed(counts: npt.NDArray[np.int64], wider: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """λ·wider + (1 - λ)·shares, with the λ of 0.01 … 1 of the largest leave-one-out likelihood."""
    seen, n = counts > 0, counts.sum()
    weights = np.arange(1, 101) / 100
    left = np.maximum(counts[seen] - 1, 0) / max(n - 1, 1)
    likelihood = np.log(np.outer(weights, wider[seen]) + np.outer(1 - weights, left)) @ counts[seen]
    best = weights[int(np.argmax(likelihood))]
    return np.asarray(best * wider + (1 - best) * _shares(counts), dtype=np.float64)


def _decisions(user: markov.MarkovUser, size: int, rng: np.random.Generator) -> list[Dialogue]:
    found: list[Dialogue] = []
    count = 0
    while count < size:
        found += quickly_drawn(user, 1, rng)
        count += found[-1].length + 1
    return found


def floors(sizes: Sequence[int] = (25, 50, 100, 150)) -> Rows:
    """How far apart two groups of people are, by how many dialogues there are in each."""
    rows: Rows = [("dialogues in a group", *distances())]
    rng = np.random.default_rng([SEED, 1])
    for size in sizes:
        values: dict[str, list[float]] = {name: [] for name in distances()}
        for _ in range(100):
            first, second = random_halves(iard(), rng, size=size)
            for name, distance in distances().items():
                values[name].append(distance(first, second))
        rows.append((str(size), *(_spread(Spread.from_values(found)) for found in values.values())))
    return rows


def _spread(spread: Spread) -> str:
    return f"{spread.median:.3f} [{spread.least:.3f}, {spread.most:.3f}]"


@dataclass(frozen=True)
class Contender:
    """A way to make a user of dialogues."""

    name: str
    order: int = 1
    stop: str = "table"
    times: int = 1  # dialogues for each of the people it was fitted to


CONTENDERS = (
    Contender("order 1"),
    Contender("order 1, ten times as many", times=10),
    Contender("order 2", order=2),
    Contender("order 1, geometric", stop="geometric"),
    Contender("order 1, hazard", stop="hazard"),
    Contender("order 2, hazard", order=2, stop="hazard"),
    Contender("order 1, turn and act", stop="turn-and-act"),
    Contender("order 1, turn and act, ten times as many", stop="turn-and-act", times=10),
)


@lru_cache(maxsize=1)
def unseen(splits: int) -> dict[str, dict[str, list[float]]]:
    """Fitted on one half of the people, held against the other half: by user and measure, a value for each split."""
    rng = np.random.default_rng([SEED, 2])
    names = ["other half", *(one.name for one in CONTENDERS), "random"]
    found: dict[str, dict[str, list[float]]] = {name: {measure: [] for measure in distances()} for name in names}
    acts = acts_in(iard())
    for _ in range(splits):
        first, second = random_halves(iard(), rng)
        groups: dict[str, list[Dialogue]] = {"other half": first}
        for one in CONTENDERS:
            user = fitted_markov(first, order=one.order, stop=one.stop)
            groups[one.name] = quickly_drawn(user, one.times * len(first), rng)
        groups["random"] = quickly_drawn(_random(acts), len(first), rng)
        for name, group in groups.items():
            for measure, distance in distances().items():
                found[name][measure].append(distance(second, group))
    return found


def _random(acts: Sequence[str]) -> markov.MarkovUser:
    """Every act and leaving alike."""
    leaving = {"stop": 1 / (len(acts) + 1)}
    rows = [{"after": ("start",), "answer": "*", "next": {act: 1 / len(acts) for act in acts}}]
    rows += [
        {"after": (act,), "answer": "*", "next": {**leaving, **{other: 1 / (len(acts) + 1) for other in acts}}}
        for act in acts
    ]
    options = markov.Options.model_validate({"rows": tuple(rows), "words": {act: (act,) for act in acts}})
    return markov.build(options)


def realism(splits: int = SPLITS) -> Rows:
    """The median over splits, and whether it is within the middle 95% of what the other half of the people gives."""
    rows: Rows = [("user", *distances())]
    found = unseen(splits)
    bars = {measure: Spread.from_values(values) for measure, values in found["other half"].items()}
    rows.append(
        ("people: the other half", *(f"{bar.median:.3f} [{bar.low:.3f}, {bar.high:.3f}]" for bar in bars.values()))
    )
    for name, measures in found.items():
        if name != "other half":
            cells = []
            for measure, values in measures.items():
                median = float(np.median(values))
                cells.append(f"{median:.3f} {'within' if median <= bars[measure].high else '**beyond**'}")
            rows.append((name, *cells))
    return rows


def foresight() -> Rows:
    """Bits a decision on people the model was not fitted on, ten folds."""
    acts = acts_in(iard())

    def fitted(order: int, given: bool = False, smoothing: Smoothing | None = None) -> Fit:
        return lambda training: fit_acts(training, acts=acts, order=order, given=given, smoothing=smoothing)

    models: dict[str, Fit] = {
        "uniform: the random floor": lambda _: UniformModel(acts),
        "acts alone": fitted(0),
        "order 1": fitted(1),
        "order 1, additive (0.5)": fitted(1, smoothing=Smoothing("additive", 0.5)),
        "order 2": fitted(2),
        "order 2, additive (0.5)": fitted(2, smoothing=Smoothing("additive", 0.5)),
        "order 1, whether answered": lambda training: WhetherAnswered(
            fit_acts(_unnamed(training), acts=acts, given=True)
        ),
        "order 1, last answer": fitted(1, given=True),
        "order 2, last answer": fitted(2, given=True),
    }
    return _held_out(iard(), models)


@dataclass(frozen=True)
class WhetherAnswered:
    """Looks only at whether there was an answer: what that alone gives away of a log is not the answers' doing."""

    model: ActModel

    @property
    def outcomes(self) -> tuple[str, ...]:
        return self.model.outcomes

    def probabilities(self, decision: Decision) -> npt.NDArray[np.float64]:
        return self.model.probabilities(replace(decision, answer="any" if decision.answer else None))


def _unnamed(dialogues: Sequence[Dialogue]) -> list[Dialogue]:
    """All answers alike."""
    return [
        replace(one, turns=tuple(replace(turn, answer="any" if turn.answer else None) for turn in one.turns))
        for one in dialogues
    ]


def _held_out(dialogues: Sequence[Dialogue], models: dict[str, Fit]) -> Rows:
    """With the folds that `harvest users fit` deals with its own seed, 0."""
    rng = np.random.default_rng(derived_seed(0, "fit", "folds"))
    rows: Rows = [("model", "bits", "perplexity", "gain over the floor", "log-likelihood, bits")]
    for name, one in held_out_bits(dialogues, models, rng).items():
        gain = f"{one.gain:.3f} [{one.low:.3f}, {one.high:.3f}]" if one.gain else "0"
        rows.append((name, f"{one.bits:.3f}", f"{one.perplexity:.2f}", gain, f"{one.log_likelihood:.0f}"))
    return rows


def stopping() -> Rows:
    """Stop models on IARD by maximum likelihood."""
    rows: Rows = [("model", "parameters (standard error)", "AIC", "chances")]
    for one in fit_user(iard(), name="iard").stopping:
        parameters = ", ".join(f"{name} {cell.value:.3f} ({cell.error:.3f})" for name, cell in one.parameters.items())
        rows.append((one.model, parameters, f"{one.aic:.1f}", str(one.chances)))
    return rows


def searchers() -> Rows:
    """Sim4IA: how each query differs from the one before."""
    counted = Counter(turn.act for one in read_queries(SIM4IA) for turn in one.turns)
    total = counted.total() - counted["query"]
    rows: Rows = [("act", "queries", "share of reformulations")]
    for act, count in counted.most_common():
        rows.append((act, str(count), "" if act == "query" else f"{count / total:.3f}"))
    return rows


def search_foresight() -> Rows:
    sessions = read_queries(SIM4IA)
    acts = acts_in(sessions)
    models: dict[str, Fit] = {
        "uniform: the random floor": lambda _: UniformModel(acts),
        "acts alone": lambda training: fit_acts(training, acts=acts, order=0),
        "order 1": lambda training: fit_acts(training, acts=acts, order=1),
    }
    return _held_out(sessions, models)


TABLES: dict[str, Callable[[], Rows]] = {
    "recovery": recovery,
    "estimators": estimators,
    "floors": floors,
    "realism": realism,
    "foresight": foresight,
    "stopping": stopping,
    "searchers": searchers,
    "search foresight": search_foresight,
}


def written(rows: Rows) -> str:
    lines = ["| " + " | ".join(cells) + " |" for cells in rows]
    return "\n".join([lines[0], "|---" * len(rows[0]) + "|", *lines[1:]])


def survivals() -> dict[str, list[float]]:
    """Share still there after 0 to 12 turns: people, and users fitted to all of them."""
    rng = np.random.default_rng([SEED, 5])
    groups = {"people": list(iard())}
    for name, stop in (("table", "table"), ("geometric", "geometric"), ("hazard", "hazard")):
        groups[name] = quickly_drawn(fitted_markov(iard(), stop=stop), 2000, rng)
    return {name: [float(share) for share in survival(group).share[:13]] for name, group in groups.items()}


def through_the_user() -> float:
    """The 30,000 transitions of the first row of `recovery`, played turn by turn by the user itself."""
    dialogues = six_acts(iard())
    return matrix_divergence(fit_acts(dialogues), dialogues_with(fitted_markov(dialogues), 30_000, seed=SEED))


def picture() -> str:
    """How long people stay, and users fitted to them."""
    sys.path.insert(0, str(DOCS))  # a folder that is no package
    plot = importlib.import_module("plot")
    sys.path.remove(str(DOCS))
    lines = tuple(plot.Line(name, tuple(enumerate(shares)), steps=True) for name, shares in survivals().items())
    text: str = plot.drawn(plot.Plot("IARD: how long users stay", "user turns", "still there", lines, y=(0, 1)))
    return text


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--svg", type=Path, metavar="FOLDER")
    asked = options.parse_args()
    if asked.svg:
        (asked.svg / "validation.svg").write_text(picture(), encoding="utf-8")
    for name, table in TABLES.items():
        print(f"{name}\n\n{written(table())}\n")
    print(f"30,000 transitions played by the user itself: {through_the_user():.5f}")


if __name__ == "__main__":
    main()
