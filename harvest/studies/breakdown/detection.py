"""Train the breakdown detector on annotated dialogues, cross-validate it, and measure its reliability.

Cross-validation holds out whole dialogues or whole systems, so that no predicted turn was seen in training.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from protocols.breakdown.detector import Detector
from protocols.breakdown.features import Utterance
from protocols.breakdown.training import Annotated, Examples, examples_of, train
from recordings.formats.dbdc import Counts, SpokenDialogue, spoken_dialogues
from scoring.annotations.breakdown_files import Predicted, Submission
from scoring.annotations.held_out import splits
from scoring.measures.breakdown import labels_of, shares
from topics.errors import InputError, Place
from topics.identity import generator

Floats = npt.NDArray[np.float64]
FOLDS = 10  # by convention


@dataclass(frozen=True, slots=True)
class Bin:
    """Turns with a predicted breakdown probability in [low, low + 0.1), and means over them."""

    low: float
    n: int
    predicted: float
    observed: float


def dialogue_files(paths: Sequence[Path]) -> list[Path]:
    """Return all JSON files at these paths and below folders. Raises InputError for a folder without any."""
    found: list[Path] = []
    for path in paths:
        inside = sorted(file for file in path.rglob("*.json") if file.is_file()) if path.is_dir() else [path]
        if not inside:
            raise InputError("a folder without *.json files", place=Place.of(path))
        found += inside
    return found


def annotated(paths: Sequence[Path], counts: Counts = "workshop") -> list[SpokenDialogue]:
    """Return the dialogues with annotated turns; empty if the files have counts without words. Empty answers are
    annotated, too, so a single dialogue may have no words in a file that has them."""
    files = dialogue_files(paths)
    found = [one for one in spoken_dialogues(files, counts=counts) if any(turn.counts for turn in one.turns)]
    sides = {turn.speaker for dialogue in found for turn in dialogue.turns if turn.text}
    return found if sides == {"S", "U"} else []


def utterances(dialogue: SpokenDialogue) -> tuple[Utterance, ...]:
    """Return the turns of a dialogue in the form that the detector reads."""
    return tuple(Utterance("S" if turn.speaker == "S" else "U", turn.text) for turn in dialogue.turns)


def training_examples(dialogues: Sequence[SpokenDialogue]) -> Examples:
    """Return features and label shares of the annotated turns."""
    return examples_of(
        [
            Annotated(
                dialogue.name,
                dialogue.system,
                utterances(dialogue),
                {at: _label_shares(turn.counts) for at, turn in enumerate(dialogue.turns) if turn.counts is not None},
            )
            for dialogue in dialogues
        ]
    )


def submission(detector: Detector, dialogues: Sequence[SpokenDialogue], name: str = "detector") -> Submission:
    """Return the detector's predictions for every annotated turn; the label is the most probable one."""
    turns = {}
    for dialogue in dialogues:
        at = [place for place, turn in enumerate(dialogue.turns) if turn.counts]
        for place, row in zip(at, detector.predict(utterances(dialogue), at), strict=True):
            o, t, x = row.tolist()
            turns[dialogue.name, dialogue.turns[place].number] = Predicted((o, t, x), int(labels_of(row)))
    return Submission(name, turns)


def held_out_submission(
    dialogues: Sequence[SpokenDialogue], by: Literal["dialogue", "system"], seed: int = 0
) -> Submission:
    """Return predictions by detectors that were trained without the dialogue (ten folds), or without its system."""
    examples = training_examples(dialogues)
    named = {dialogue.name: dialogue for dialogue in dialogues}
    if by == "system":
        parts = splits(examples.systems)
    else:
        parts = splits(examples.dialogues, folds=FOLDS, rng=generator(seed, "breakdown", "folds"))
    turns: dict[tuple[str, int], Predicted] = {}
    for training, test in parts:
        detector = train(examples.where(training), seed=seed)
        here = sorted({examples.dialogues[row] for row in np.flatnonzero(test)})
        turns |= submission(detector, [named[name] for name in here]).turns
    return Submission(f"detector, held out by {by}", turns)


def reliability(predicted: Floats, observed: Floats) -> tuple[Bin, ...]:
    """Return ten bins of `predicted` and `observed` probabilities, (n,) in [0, 1]. Empty bins have NaN."""
    place = np.minimum((predicted * 10).astype(np.int64), 9)
    found = []
    for number in range(10):
        inside = place == number
        n = int(inside.sum())
        means = (float(predicted[inside].mean()), float(observed[inside].mean())) if n else (np.nan, np.nan)
        found.append(Bin(number / 10, n, *means))
    return tuple(found)


def _label_shares(counts: tuple[int, ...]) -> tuple[float, float, float]:
    o, t, x = shares([counts])[0].tolist()
    return o, t, x
