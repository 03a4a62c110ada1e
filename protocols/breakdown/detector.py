"""A breakdown detector that adds weighted features, words and word pairs, so that a person can read the reasons.

    p(O, T, X) = base + linear part + trees, each bounded below by .01, then normalised to sum to 1

The linear part has two terms: the sum of feature values times their weights, and the sum of the weights of all known
words and pairs, divided by the square root of their number. Each tree adds the value of one leaf. Because all parts
are added, the reasons for a breakdown can be listed with their contributions.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from protocols.breakdown.features import FEATURES, Utterance, feature_values, word_grams
from protocols.breakdown.trees import DEPTH, Trees
from topics.arrays import Floats
from topics.errors import InputError, Place
from topics.regular_file import read_bytes

FORMAT = "harvest-breakdown/1"
_SHIPPED = "english-dbdc3.json"
_PARTS = ("about", "base", "features", "words", "trees", "dialogues")
_LEAST_PROBABILITY = 0.01  # no class is ever impossible
_ADVICE = "train one: harvest breakdown train FILE… --out DETECTOR.json"


@dataclass(frozen=True, slots=True)
class Contribution:
    """The contribution of one feature or phrase to the probability of a breakdown (X), before clipping. `name` is one
    of `FEATURES`, or quoted words of the system or the user. `value` is the feature's value, or 1 for a phrase."""

    name: str
    value: float
    added: float


@dataclass(frozen=True, slots=True)
class Detection:
    """The prediction for one turn: the probabilities of O (no breakdown), T (possible breakdown) and X (breakdown).
    `contributions` are sorted by size, the largest first. The sum of the contributions and `base`, the value for an
    average turn, is the probability of X before clipping."""

    probabilities: tuple[float, float, float]
    base: float
    contributions: tuple[Contribution, ...]


@dataclass(frozen=True, eq=False)
class Detector:
    """A trained detector.

    `base` (3,) has the values for an average turn. `features` (features, 3) has the weights per unit of each feature,
    and `means` (features,) the features' means in the training data. `words` has the weights for O, T and X of each
    known word or pair. `about` describes the training data and its licence. `dialogues` are the names of the training
    dialogues.
    """

    base: Floats
    means: Floats
    features: Floats
    words: Mapping[str, tuple[float, float, float]]
    trees: Trees
    about: Mapping[str, Any]
    dialogues: tuple[str, ...]

    def predict(self, turns: Sequence[Utterance], at: Sequence[int]) -> Floats:
        """Return the probabilities of O, T and X as an array (len(at), 3) for the system turns at indices `at`."""
        if not at:
            return np.empty((0, 3))
        rows = np.array([feature_values(turns, k) for k in at])
        return self._sum_probabilities(rows, [self._known_grams(turns, k) for k in at])

    def _known_grams(self, turns: Sequence[Utterance], at: int) -> list[str]:
        return [gram for gram in sorted(word_grams(turns, at)) if gram in self.words]

    def _sum_probabilities(self, rows: Floats, known: Sequence[Sequence[str]]) -> Floats:
        found = self.base + (rows - self.means) @ self.features + self.trees.predict(rows)
        for place, words in enumerate(known):
            if words:
                found[place] += np.sum([self.words[gram] for gram in words], axis=0) / np.sqrt(len(words))
        # As probabilities: at least .01 each, divided by their sum.
        bounded = np.maximum(found, _LEAST_PROBABILITY)
        return np.asarray(bounded / bounded.sum(axis=1, keepdims=True))

    def explain(self, turns: Sequence[Utterance], at: int, *, passed: int = 0) -> Detection:
        """Return the prediction for `turns[at]` with the contribution of each feature and each known phrase. `passed`
        is the number of earlier turns that were left out of `turns` because they are too old to matter."""
        row = np.array(feature_values(turns, at, passed=passed))
        added = (row - self.means) * self.features[:, 2]
        base = float(self.base[2])
        leaf = self.trees.leaf_of(row[None])[0]
        for questions, values, number in zip(self.trees.features, self.trees.leaves[:, :, 2], leaf, strict=True):
            before = values.mean()
            base += float(before)
            for depth, feature in enumerate(questions, 1):  # each question moves the mean of the leaves still possible
                size = 2 ** (DEPTH - depth)
                first = number // size * size
                after = values[first : first + size].mean()
                added[feature] += after - before
                before = after
        known = self._known_grams(turns, at)
        parts = [Contribution(name, float(v), float(a)) for name, v, a in zip(FEATURES, row, added, strict=True)]
        for gram in known:
            side, words = gram.split(":", 1)
            words = re.sub(r"\^ ", "(start) ", re.sub(r" \$$", " (end)", words))
            name = f"{'system' if side == 's' else 'user'} says “{words}”"
            parts.append(Contribution(name, 1.0, self.words[gram][2] / len(known) ** 0.5))
        parts.sort(key=lambda part: (-abs(part.added), part.name))
        o, t, x = self._sum_probabilities(row[None], [known])[0].tolist()
        return Detection((o, t, x), base, tuple(parts))

    def to_json(self) -> str:
        """Return the detector as JSON text with one feature, tree or phrase per line."""
        lines = [
            f'"format": {json.dumps(FORMAT)}',
            f'"about": {json.dumps(dict(self.about), ensure_ascii=False)}',
            f'"base": {_read_row(self.base)}',
            '"features": {\n'
            + ",\n".join(
                f"{json.dumps(name)}: {_read_row([mean, *weights])}"
                for name, mean, weights in zip(FEATURES, self.means, self.features, strict=True)
            )
            + "\n}",
            '"words": {\n'
            + ",\n".join(f"{json.dumps(gram, ensure_ascii=False)}: {_read_row(w)}" for gram, w in self.words.items())
            + "\n}",
            '"trees": [\n'
            + ",\n".join(
                f"[{_read_row(asked)}, {_read_row(bounds)}, {_read_row(leaves.ravel())}]"
                for asked, bounds, leaves in zip(self.trees.features, self.trees.bounds, self.trees.leaves, strict=True)
            )
            + "\n]",
            f'"dialogues": {json.dumps(list(self.dialogues), ensure_ascii=False)}',
        ]
        return "{\n" + ",\n".join(lines) + "\n}\n"


def load_detector(path: Path | None = None) -> Detector:
    """Load the detector in a file, or the shipped detector. Raises InputError for a file without a detector."""
    return _shipped_detector() if path is None else _decode_detector(read_bytes(path, "a detector"), Place.of(path))


@cache
def _shipped_detector() -> Detector:
    file = resources.files("protocols.breakdown") / _SHIPPED
    return _decode_detector(file.read_bytes(), Place(str(file), 1, 1))


def _decode_detector(data: bytes, place: Place) -> Detector:
    found = _check_object(data, place)
    try:
        table = np.array(list(found["features"].values()), dtype=np.float64).reshape(len(FEATURES), 4)
        trees = found["trees"]
        detector = Detector(
            np.array(found["base"], dtype=np.float64).reshape(3),
            table[:, 0],
            table[:, 1:],
            {gram: (float(o), float(t), float(x)) for gram, (o, t, x) in found["words"].items()},
            Trees(
                np.array([asked for asked, _, _ in trees], dtype=np.int64).reshape(-1, DEPTH),
                np.array([bounds for _, bounds, _ in trees], dtype=np.float64).reshape(-1, DEPTH),
                np.array([leaves for _, _, leaves in trees], dtype=np.float64).reshape(-1, 2**DEPTH, 3),
            ),
            dict(found["about"]),
            tuple(map(str, found["dialogues"])),
        )
        asked = detector.trees.features
        if asked.size and not 0 <= asked.min() <= asked.max() < len(FEATURES):
            raise _detector_error("a tree uses a feature that does not exist", place)
        numbers = (detector.base, table, detector.trees.bounds, detector.trees.leaves, list(detector.words.values()))
        if not all(np.isfinite(np.asarray(part, dtype=np.float64)).all() for part in numbers):
            raise _detector_error("a weight is not a finite number", place)
    except (ValueError, KeyError, TypeError, AttributeError) as error:  # numpy's message does not mention the file
        raise _detector_error("the shape of its weights does not fit this version", place) from error
    return detector


def _check_object(data: bytes, place: Place) -> dict[str, Any]:
    try:
        found = json.loads(data.decode())
    except UnicodeDecodeError:
        raise _detector_error("it is not UTF-8 text", place) from None
    except json.JSONDecodeError as error:
        at = Place(place.path, error.lineno, error.colno)
        raise _detector_error("it is not JSON from here on" if error.pos else "it is not JSON", at) from None
    except RecursionError:
        raise _detector_error("it is not usable JSON, because it is nested too deeply", place) from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise _detector_error("its 'format' is different", place)
    missing = [key for key in _PARTS if key not in found]
    if missing:
        raise _detector_error(f"its entry {missing[0]!r} is missing", place)
    if not isinstance(found["features"], dict) or tuple(found["features"]) != FEATURES:
        raise _detector_error("its features are those of another version", place)
    return found


def _detector_error(why: str, place: Place) -> InputError:
    return InputError(
        f"the file is not a breakdown detector: {why}",
        place=place,
        allowed=f"a file in the format {FORMAT}",
        advice=_ADVICE,
    )


def _read_row(numbers: Floats | npt.NDArray[np.int64] | Sequence[float]) -> str:
    return json.dumps([int(number) if number == int(number) else float(number) for number in numbers])
