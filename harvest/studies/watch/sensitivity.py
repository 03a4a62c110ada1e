"""Sentences on the smallest fall that audits can confirm against a baseline, and on ways to make it smaller."""

import math
from collections.abc import Iterator

import numpy as np

from harvest.studies.watch.baseline import BaselineFile, SystemBaseline
from harvest.studies.watch.history import LOOKS, MATTERS
from harvest.studies.watch.watch import SHADOW
from scoring.inference.drift import Baseline
from scoring.inference.smallest_fall import WANTED, SmallestFall, more_runs, more_trials, same_chance, trials_for_same
from scoring.inference.watched_audit import JudgingRules
from scoring.settings import Settings
from scoring.table import is_percentage
from topics.arrays import Floats
from topics.counting import pluralize
from topics.identity import generator

_MOST = 4  # systems: each takes seconds


def sensitivity_sentences(found: BaselineFile) -> Iterator[str]:
    """Yield a sentence for each system on the smallest fall of its first gated figure that audits of the blessed runs'
    size find in four cases of five, by the default rules of the watch."""
    if len(found.runs) < SHADOW:
        yield (
            f"fewer than {SHADOW} blessed runs do not show how much audits differ by themselves: until there are "
            f"{SHADOW}, verdicts change no exit code, and how small a fall can be confirmed is not known"
        )
        return
    level = Settings.of(found.scoring, {}).level
    rules = JudgingRules(MATTERS, level=level, looks=LOOKS, share=1 / len(found.gated))
    for name, system in list(found.systems.items())[:_MOST]:
        yield f"{name}: {_sentence(system, found.gated[0], len(found.runs), rules)}"
    if (more := len(found.systems) - _MOST) > 0:
        yield f"not computed for {pluralize(more, 'more system')}"


def _sentence(system: SystemBaseline, figure: str, runs: int, rules: JudgingRules) -> str:
    topics = system.figures[figure].topics
    known = system.figures[figure].select_topics(list(topics))
    trials = np.maximum(1.0, np.round(known.counts / runs))
    now = _fall(known, trials, rules)
    each = f"{trials.mean():.3g}"
    unequal = (known.counts % runs).any() or trials.min() < trials.max()
    whose = "the runs' mean" if unequal else "this"
    size = (
        f"{now.audits} audits of {whose} size ({pluralize(len(topics), 'topic')} × {each} trial{'s' * (each != '1')})"
    )
    if math.isnan(now.confirmed):
        said = f"no fall of {figure} is likely to be confirmed within {size}."
    else:
        said = f"within {size}, a fall of {figure} by {_points(now.confirmed, figure)} is confirmed in 4 cases of 5."
    others = {
        "twice the trials": _fall(more_trials(known, 2), 2 * trials, rules).confirmed,
        f"{2 * runs} blessed runs": _fall(more_runs(known, 2), trials, rules).confirmed,
    }
    smaller = [
        f"{_points(value, figure)} with {what}"
        for what, value in others.items()
        if value == value and not value >= now.confirmed
    ]
    said += f" Smaller falls: {', '.join(smaller)}." if smaller else ""
    if not (math.isnan(now.confirmed) or math.isnan(now.alarm)):
        said += f" For the first audit to raise an alarm, it takes {_points(now.alarm, figure)}."
    return f"{said} {_same_sentence(known, float(trials.mean()), rules.matters, figure)}".rstrip()


def _same_sentence(known: Baseline, trials: float, matters: float, figure: str) -> str:
    """Say what it takes to call an unchanged system the same, or return "" if the audits are likely to."""
    if same_chance(known, trials, matters) >= WANTED:
        return ""
    within = f"that nothing changed by more than {_points(matters, figure)}"
    if most := trials_for_same(known, matters):
        more = pluralize(most, "trial")
        return f"To say of an audit {within} takes about {more} of each topic, else most end with cannot tell."
    return (
        f"No number of trials is likely to show {within}, so most audits end with cannot tell: bless more runs, or let "
        "a larger difference matter (--matters)."
    )


def _fall(known: Baseline, trials: Floats, rules: JudgingRules) -> SmallestFall:
    return SmallestFall(known, trials, rules, make=lambda: generator(0, "smallest fall"))


def _points(value: float, figure: str) -> str:
    return pluralize(round(100 * value), "point") if is_percentage(figure.partition(" ")[0]) else f"{value:.2f}"
