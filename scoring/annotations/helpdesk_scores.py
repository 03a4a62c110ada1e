"""Scores of predictions for the two STC-3 subtasks, compared with predictors that do not look at the dialogue."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from scoring.annotations.held_out import mean_of_others
from scoring.annotations.helpdesk_blocks import SIDES
from scoring.annotations.helpdesk_files import AnnotatedDialogue, Estimate, HelpdeskMaterial
from scoring.inference.bootstrap import Resampler
from scoring.inference.differences import as_interval, guarded_differences
from scoring.measures.dialogue_quality import minus_log2, quality_divergences
from scoring.measures.nugget_detection import NUGGET_DIVERGENCES, block_divergences, dialogue_score, side_mean
from scoring.table import ScoreRow
from topics.arrays import Floats
from topics.errors import InputError
from topics.identity import generator

MICRO = ", average=micro)"  # ends the name of a micro average

BASELINES = ("baseline: uniform", "baseline: prior", "baseline: majority")


def helpdesk_rows(
    material: HelpdeskMaterial,
    *,
    alpha: float = 0.5,
    seed: int = 0,
    level: float = 0.95,
    replications: int = 2000,
) -> tuple[ScoreRow, ...]:
    """Return rows in long form: the measures of each submission and each baseline in the subtasks that it predicts.

    `NMD(A)` is the unweighted mean over dialogues of the divergence for question A, and `RNSS(nugget)` the mean of the
    dialogue score; 0 is good. `-log2 NMD(A)` is the form in official tables; it is infinite, and null in JSON, for a
    perfect predictor. n counts dialogues; intervals resample dialogues.
    `RNSS(nugget, average=micro)` is the mean over all blocks (note 8), a ratio of sums over dialogues; its n counts
    blocks.
    """
    if not 0 <= alpha <= 1:
        raise InputError(f"alpha is {alpha}, which is not a weight", allowed="a number from 0 to 1")
    taken = {submission.name for submission in material.submissions} & set(BASELINES)
    if taken:
        raise InputError(f"a submission cannot be called {min(taken)!r}", advice="rename its file")
    gold, predictors = _predictors(material)
    names = [dialogue.name for dialogue in gold]
    resampler = Resampler(generator(seed, "helpdesk"), replications=replications, level=level)
    rows: list[ScoreRow] = []
    for name, estimates, note in predictors:
        values = _divergences_by_measure(gold, estimates, alpha)
        if values:
            rows += _rows(name, names, values, resampler, level, note)
            rows += _micro_rows(name, gold, estimates, resampler, level, note)
    return tuple(rows)


def helpdesk_differences(
    material: HelpdeskMaterial, *, alpha: float = 0.5, level: float = 0.95
) -> tuple[tuple[ScoreRow, str], ...]:
    """Return a row for each measure, submission and baseline, with the name of the baseline: the mean over dialogues of
    the submission's divergence minus the baseline's, so that a submission that is better has a difference below 0.

    The difference is paired: it is taken over the dialogues in which both have a value. Its interval allows for a kind
    of dialogue that is not among them (`scoring.inference.differences`).
    """
    gold, predictors = _predictors(material)
    columns = {name: _divergences_by_measure(gold, estimates, alpha) for name, estimates, _ in predictors}
    own = [(one.name, other) for one in material.submissions for other in BASELINES if other in columns]
    found: list[tuple[ScoreRow, str]] = []
    for name, other in own:
        for measure, column in columns[name].items():
            each = column - columns[other][measure]
            each = each[~np.isnan(each)]
            count = len(each)
            ends = guarded_differences(each[:, None], np.ones((count, 1)), level=level, reach=1.0)
            interval = as_interval(ends, 0, reach=1.0, units=count, unit="dialogue")
            row = ScoreRow(
                measure=measure,
                system=name,
                topic=None,
                topic_type=None,
                trial=None,
                value=math.fsum(each.tolist()) / count if count else math.nan,
                n=count,
                topics=count,
                low=interval.low,
                high=interval.high,
                level=level if interval.is_defined else None,
                interval=interval.method if interval.is_defined else None,
                resampled="dialogues" if interval.is_defined else None,
                note=interval.note,
            )
            found.append((row, other))
    return tuple(found)


def _predictors(
    material: HelpdeskMaterial,
) -> tuple[list[AnnotatedDialogue], list[tuple[str, Mapping[str, Estimate], str]]]:
    """Return the dialogues by name, and the name, predictions and note of each submission and each baseline."""
    gold = sorted(material.gold, key=lambda dialogue: dialogue.name)  # independent of the order of files
    predictors: list[tuple[str, Mapping[str, Estimate], str]] = [
        (submission.name, submission.estimates, "") for submission in material.submissions
    ]
    predictors.append((BASELINES[0], _predict_uniform(gold), "one share for each level and type"))
    prior = _predict_prior(gold)
    if prior is not None:
        predictors.append((BASELINES[1], prior, "the mean of the other dialogues"))
        majority = {name: _predict_likeliest(estimate) for name, estimate in prior.items()}
        predictors.append((BASELINES[2], majority, "all on what is most frequent in the other dialogues"))
    return gold, predictors


def _predict_likeliest(prior: Estimate) -> Estimate:
    def all_on_one(row: Sequence[float]) -> tuple[float, ...]:
        most = row.index(max(row))
        return tuple(float(place == most) for place in range(len(row)))

    return Estimate(
        tuple(map(all_on_one, prior.nuggets or ())),
        {key: all_on_one(row) for key, row in (prior.quality or {}).items()},
    )


def _predict_uniform(gold: Sequence[AnnotatedDialogue]) -> dict[str, Estimate]:
    def equal_shares(row: Sequence[float]) -> tuple[float, ...]:
        return (1 / len(row),) * len(row)

    return {
        dialogue.name: Estimate(
            tuple(equal_shares(row) for row in dialogue.nuggets),
            {key: equal_shares(row) for key, row in dialogue.quality.items()},
        )
        for dialogue in gold
    }


def baseline_notes(gold: Sequence[AnnotatedDialogue]) -> list[str]:
    """Say why there are no `baseline: prior` and `baseline: majority`, if types or levels differ between dialogues."""
    scales = {scale for dialogue in gold for scale in dialogue.levels.items()}
    known = dict(scales)
    differ = [f"the levels of {question}" for question in sorted({one for one, its in scales if known[one] != its})]
    if len({tuple(dialogue.types.values()) for dialogue in gold}) > 1:
        differ.append("the nugget types")
    if not differ:
        return []
    return [
        f"{BASELINES[1]} and {BASELINES[2]} are left out, because dialogues differ in {', '.join(differ)}",
    ]


def _predict_prior(gold: Sequence[AnnotatedDialogue]) -> dict[str, Estimate] | None:
    """Predict the mean of all other dialogues by side and question. Returns None if there are no other dialogues, or if
    types or levels differ between dialogues."""
    if baseline_notes(gold):
        return None
    blocks: dict[str, dict[str, tuple[float, ...]]] = {}
    for side in SIDES:
        rows = [
            (dialogue.name, row)
            for dialogue in gold
            for its, row in zip(dialogue.sides, dialogue.nuggets, strict=True)
            if its == side
        ]
        blocks[side] = _means_of_others(rows)
    questions = dict.fromkeys(key for dialogue in gold for key in dialogue.quality)
    levels = {
        key: _means_of_others([(dialogue.name, dialogue.quality[key]) for dialogue in gold if key in dialogue.quality])
        for key in questions
    }
    if any(math.isnan(row[0]) for learnt in (*blocks.values(), *levels.values()) for row in learnt.values()):
        return None
    return {
        dialogue.name: Estimate(
            tuple(blocks[side][dialogue.name] for side in dialogue.sides),
            {key: levels[key][dialogue.name] for key in dialogue.quality},
        )
        for dialogue in gold
    }


def _means_of_others(rows: Sequence[tuple[str, tuple[float, ...]]]) -> dict[str, tuple[float, ...]]:
    if not rows:
        return {}
    names = [name for name, _ in rows]
    learnt = mean_of_others([row for _, row in rows], names)
    return {name: tuple(row.tolist()) for name, row in zip(names, learnt, strict=True)}


def _divergences_by_measure(
    gold: Sequence[AnnotatedDialogue], estimates: Mapping[str, Estimate], alpha: float
) -> dict[str, Floats]:
    """Return (dialogues,) values by measure, first quality and then nuggets; NaN for a dialogue without data."""
    asked: dict[str, dict[int, list[int]]] = {}  # question -> number of levels -> dialogues, to group rows of one shape
    found: dict[str, Floats] = {}
    for number, dialogue in enumerate(gold):
        estimate = estimates[dialogue.name]
        for key, row in dialogue.quality.items() if estimate.quality is not None else ():
            asked.setdefault(key, {}).setdefault(len(row), []).append(number)
    for key, sizes in asked.items():
        for numbers in sizes.values():
            predicted = [(estimates[gold[number].name].quality or {})[key] for number in numbers]
            true = [gold[number].quality[key] for number in numbers]
            for measure, column in quality_divergences(predicted, true).items():
                found.setdefault(f"{measure}({key})", np.full(len(gold), np.nan))[numbers] = column
    for measure, each in _block_divergences(gold, estimates).items():
        name = f"{measure}(nugget)" if alpha == 0.5 else f"{measure}(nugget, alpha={alpha:g})"
        for number, by_side in each.items():
            customer, helpdesk = (side_mean(by_side[side]) for side in SIDES)
            found.setdefault(name, np.full(len(gold), np.nan))[number] = dialogue_score(customer, helpdesk, alpha)
    return found


def _block_divergences(
    gold: Sequence[AnnotatedDialogue], estimates: Mapping[str, Estimate]
) -> dict[str, dict[int, dict[str, list[float]]]]:
    """Return the divergences of each side's blocks by measure and number of the dialogue. A dialogue whose nuggets are
    not predicted is left out."""
    predicted = {number: rows for number, one in enumerate(gold) if (rows := estimates[one.name].nuggets) is not None}
    found: dict[str, dict[int, dict[str, list[float]]]] = {
        name: {number: {side: [] for side in SIDES} for number in predicted} for name in NUGGET_DIVERGENCES
    }
    # All blocks with equally many types at a time: one call for each block took most of the time of an evaluation.
    alike: dict[int, list[tuple[tuple[float, ...], tuple[float, ...], int, str]]] = {}
    for number, rows in predicted.items():
        for row, true, side in zip(rows, gold[number].nuggets, gold[number].sides, strict=True):
            alike.setdefault(len(true), []).append((row, true, number, side))
    for blocks in alike.values():
        rows, true, numbers, sides = zip(*blocks, strict=True)
        for name, divergence in NUGGET_DIVERGENCES.items():
            for number, side, value in zip(numbers, sides, block_divergences(rows, true, divergence), strict=True):
                found[name][number][side].append(value)
    return found


def _rows(
    name: str, names: Sequence[str], values: Mapping[str, Floats], resampler: Resampler, level: float, note: str
) -> Iterator[ScoreRow]:
    # The top is 1, the greatest divergence, though most are far below: with the worst dialogue seen as the top,
    # intervals of 8 dialogues cover .76 if one in ten is predicted quite wrongly.
    intervals = resampler.means(names, np.stack(list(values.values()), axis=-1)[:, None, :], top=1.0)
    extras: list[ScoreRow] = []
    for (measure, column), interval in zip(values.items(), intervals, strict=True):
        present = column[~np.isnan(column)].tolist()
        mean = math.fsum(present) / len(present) if present else math.nan
        known = not math.isnan(interval.low)
        row = ScoreRow(
            measure=measure,
            system=name,
            topic=None,
            topic_type=None,
            trial=None,
            value=mean,
            n=len(present),
            topics=len(present),
            low=interval.low,
            high=interval.high,
            level=level if known else None,
            interval=interval.method if known else None,
            resampled="dialogues" if known else None,
            note="; ".join(part for part in (note, interval.note.replace("topic", "dialogue")) if part),
        )
        yield row
        extras.append(
            replace(
                row,
                measure=f"-log2 {measure}",
                value=minus_log2(mean),
                low=minus_log2(min(interval.high, 1.0)) if known else math.nan,
                high=minus_log2(max(interval.low, 0.0)) if known else math.nan,
                note="; ".join(part for part in (row.note, "as official tables print the mean") if part),
            )
        )
    yield from extras


def _micro_rows(
    name: str,
    gold: Sequence[AnnotatedDialogue],
    estimates: Mapping[str, Estimate],
    resampler: Resampler,
    level: float,
    note: str,
) -> Iterator[ScoreRow]:
    """Yield the micro average of each divergence of nugget types: the mean over all blocks of all dialogues."""
    sums = np.zeros((len(gold), 1, len(NUGGET_DIVERGENCES)))
    blocks = np.zeros_like(sums)
    for column, each in enumerate(_block_divergences(gold, estimates).values()):
        if len(each) < len(gold):
            return
        for number, by_side in each.items():
            values = [value for side in SIDES for value in by_side[side]]
            sums[number, 0, column], blocks[number, 0, column] = math.fsum(values), len(values)
    intervals = resampler.ratios([dialogue.name for dialogue in gold], sums, blocks)
    for column, (measure, interval) in enumerate(zip(NUGGET_DIVERGENCES, intervals, strict=True)):
        count = int(blocks[:, 0, column].sum())
        known = not math.isnan(interval.low)
        yield ScoreRow(
            measure=f"{measure}(nugget{MICRO}",
            system=name,
            topic=None,
            topic_type=None,
            trial=None,
            value=math.fsum(sums[:, 0, column].tolist()) / count if count else math.nan,
            n=count,
            topics=int((blocks[:, 0, column] > 0).sum()),
            low=interval.low,
            high=interval.high,
            level=level if known else None,
            interval=interval.method if known else None,
            resampled="dialogues" if known else None,
            note="; ".join(part for part in (note, interval.note.replace("topic", "dialogue")) if part),
        )
