"""Train the breakdown detector on annotated dialogues, cross-validate it, and measure its calibration.

Cross-validation holds out whole dialogues or whole systems, so that no detector is tested on dialogues or systems
from its training data.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from protocols.breakdown.detector import Detector
from protocols.breakdown.examples import AnnotatedDialogue, Examples, collect_examples
from protocols.breakdown.features import Utterance
from protocols.breakdown.training import train
from recordings.formats.dbdc import Counts, SpokenDialogue, spoken_dialogues
from scoring.annotations.breakdown_files import Prediction, Submission
from scoring.annotations.held_out import split_by_unit
from scoring.measures.breakdown import label_shares
from topics.arrays import Floats
from topics.errors import InputError, Place
from topics.identity import generator

FOLDS = 10  # by convention


@dataclass(frozen=True, slots=True)
class Bin:
    """One bin of a reliability diagram, for `n` turns with a predicted breakdown probability in [low, low + 0.1).
    `predicted` and `observed` are mean probabilities over these turns; both are NaN for an empty bin."""

    low: float
    n: int
    predicted: float
    observed: float


def dialogue_files(paths: Sequence[Path]) -> list[Path]:
    """Return the given files, and all JSON files in the given folders. Raises InputError for a folder without JSON."""
    found: list[Path] = []
    for path in paths:
        inside = sorted(file for file in path.rglob("*.json") if file.is_file()) if path.is_dir() else [path]
        if not inside:
            raise InputError("the folder has no *.json files", place=Place.of(path))
        found += inside
    return found


def annotated_dialogues(paths: Sequence[Path], counts: Counts = "workshop") -> list[SpokenDialogue]:
    """Return the dialogues that have annotated turns. If one speaker has no text in any of the files, the result is
    empty, because the files then store only annotation counts. A single dialogue may have no text, because empty
    answers are annotated, too."""
    files = dialogue_files(paths)
    found = [one for one in spoken_dialogues(files, counts=counts) if any(turn.counts for turn in one.turns)]
    sides = {turn.speaker for dialogue in found for turn in dialogue.turns if turn.text}
    return found if sides == {"S", "U"} else []


def utterances(dialogue: SpokenDialogue) -> tuple[Utterance, ...]:
    """Convert the turns of a dialogue to the detector's input."""
    return tuple(Utterance("S" if turn.speaker == "S" else "U", turn.text) for turn in dialogue.turns)


def training_examples(dialogues: Sequence[SpokenDialogue]) -> Examples:
    """Return the features of every annotated turn with the shares of annotators who chose each label."""
    return collect_examples(
        [
            AnnotatedDialogue(
                dialogue.name,
                dialogue.system,
                utterances(dialogue),
                {at: _label_shares(turn.counts) for at, turn in enumerate(dialogue.turns) if turn.counts is not None},
                {at: _label_shares(turn.again) for at, turn in enumerate(dialogue.turns) if turn.again is not None},
            )
            for dialogue in dialogues
        ]
    )


def predict_turns(detector: Detector, dialogues: Sequence[SpokenDialogue], name: str = "detector") -> Submission:
    """Predict every annotated turn with the detector: probabilities and a label."""
    turns = {}
    for dialogue in dialogues:
        at = [place for place, turn in enumerate(dialogue.turns) if turn.counts]
        rows, labels = detector.predict_labels(utterances(dialogue), at)
        for place, row, label in zip(at, rows, labels.tolist(), strict=True):
            o, t, x = row.tolist()
            turns[dialogue.name, dialogue.turns[place].number] = Prediction((o, t, x), label)
    return Submission(name, turns)


def cross_validate(dialogues: Sequence[SpokenDialogue], by: Literal["dialogue", "system"], seed: int = 0) -> Submission:
    """Predict every annotated turn with a detector that was trained on other data. With `by="dialogue"`, the
    detector never saw the dialogue of the turn (ten folds). With `by="system"`, the detector never saw the
    system of the turn."""
    examples = training_examples(dialogues)
    named = {dialogue.name: dialogue for dialogue in dialogues}
    if by == "system":
        parts = split_by_unit(examples.systems)
    else:
        parts = split_by_unit(examples.dialogues, folds=FOLDS, rng=generator(seed, "breakdown", "folds"))
    turns: dict[tuple[str, int], Prediction] = {}
    for training, test in parts:
        detector = train(examples.select(training), seed=seed)
        here = sorted({examples.dialogues[row] for row in np.flatnonzero(test)})
        turns |= predict_turns(detector, [named[name] for name in here]).turns
    return Submission(f"detector, held out by {by}", turns)


def reliability_bins(predicted: Floats, observed: Floats) -> tuple[Bin, ...]:
    """Group predictions into ten equal bins, and return the mean prediction and the mean observation of each bin.
    `predicted` and `observed` have shape (n,), with probabilities in [0, 1]. Means of empty bins are NaN."""
    place = np.minimum((predicted * 10).astype(np.int64), 9)
    found = []
    for number in range(10):
        inside = place == number
        n = int(inside.sum())
        means = (float(predicted[inside].mean()), float(observed[inside].mean())) if n else (np.nan, np.nan)
        found.append(Bin(number / 10, n, *means))
    return tuple(found)


def _label_shares(counts: tuple[int, ...]) -> tuple[float, float, float]:
    o, t, x = label_shares([counts])[0].tolist()
    return o, t, x
