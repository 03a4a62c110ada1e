"""A breakdown detector that adds weighted features, words and word pairs, so that a person can read the reasons.

    p(O, T, X) = 1/3 + level + weight · (linear part + trees), each bounded below by .01, then normalised to sum to 1

The linear part has two terms: the sum of feature values times their weights, and the sum of the weights of all known
words and pairs, divided by the square root of their number. Each tree adds the value of one leaf. Because all parts
are added, the reasons for a breakdown can be listed with their contributions.

The added level is closer to the uniform prediction the further the dialogue is from the training data. The level is the
mean of the levels of the training systems, by how much the dialogue sounds like each, and a level counts only as far as
a second annotation repeated it. The weight is smaller for unfamiliar dialogues. The label is not cautious: it is the
likeliest with levels in full, because a label has no degrees.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from protocols.breakdown.familiarity import UNIFORM, Familiarity, Systems
from protocols.breakdown.features import FEATURES, Utterance
from protocols.breakdown.moments import COLUMNS, Moment, collect_moments, values_of
from protocols.breakdown.trees import DEPTH, Trees
from topics.arrays import Floats
from topics.errors import InputError, Place
from topics.regular_file import read_bytes

FORMAT = "harvest-breakdown/2"
_OLD_FORMAT = "harvest-breakdown/1"  # no systems, and a base that is a probability
_SHIPPED = "english-dbdc3.json"
_PARTS = ("about", "base", "features", "words", "trees", "systems", "familiarity", "dialogues")
_LEAST_PROBABILITY = 0.01  # no class is ever impossible
_LEAST_WEIGHT, _MOST_WEIGHT = 0.25, 0.75  # of both predictors at familiarity 0 and 1: their mean at 1/2
_ADVICE = "train one: harvest metrics breakdown train FILE… --out DETECTOR.json"


@dataclass(frozen=True, slots=True)
class Contribution:
    """The contribution of one feature or phrase to the probability of a breakdown (X), before clipping. `name` is one
    of `COLUMNS`, or quoted words of the system or the user. `value` is the feature's value, or 1 for a phrase."""

    name: str
    value: float
    added: float


@dataclass(frozen=True, slots=True)
class Detection:
    """The prediction for one turn: the probabilities of O (no breakdown), T (possible breakdown) and X (breakdown).

    `contributions` are sorted by size, the largest first. The sum of the contributions and `base`, the value for an
    average turn of a dialogue like this one, is the probability of X before clipping. `familiarity` is 0 for a dialogue
    that is unlike all training dialogues, and at most 1.
    """

    probabilities: tuple[float, float, float]
    base: float
    familiarity: float
    contributions: tuple[Contribution, ...]


@dataclass(frozen=True, eq=False)
class Detector:
    """A trained detector.

    base: array (3,) of the linear part if all features have their means and no word is known.
    means: array (features,) of the features' means in the training data.
    features: array (features, 3) of weights per unit of each feature.
    words: the weights for O, T and X of each known word or pair.
    trees: the trees, whose features are numbers of `COLUMNS`.
    familiarity: what is known about the training systems.
    about: a description of the training data and its licence.
    dialogues: the names of the training dialogues.
    """

    base: Floats
    means: Floats
    features: Floats
    words: Mapping[str, tuple[float, float, float]]
    trees: Trees
    familiarity: Familiarity
    about: Mapping[str, Any]
    dialogues: tuple[str, ...]

    def predict(self, turns: Sequence[Utterance], at: Sequence[int]) -> Floats:
        """Return the probabilities of O, T and X as an array (len(at), 3) for the system turns at indices `at`. An
        empty turn is predicted like any other."""
        return self.predict_labels(turns, at)[0]

    def predict_labels(self, turns: Sequence[Utterance], at: Sequence[int]) -> tuple[Floats, npt.NDArray[np.int64]]:
        """Return the same probabilities, and the labels as an array (len(at),): 0 for O, 1 for T, 2 for X."""
        moments = collect_moments(turns, at)
        if not moments:
            return np.empty((0, 3)), np.empty(0, dtype=np.int64)
        likeness, familiar = self.familiarity.measure(moments)
        added = self._sum_parts(moments)
        levels, belief = self.familiarity.levels, self.familiarity.belief
        found = UNIFORM + likeness @ (levels * belief[:, None]) + _weigh(familiar)[:, None] * added
        labels = (likeness @ levels + _MOST_WEIGHT * added).argmax(axis=1)
        # As probabilities: at least .01 each, divided by their sum.
        bounded = np.maximum(found, _LEAST_PROBABILITY)
        return np.asarray(bounded / bounded.sum(axis=1, keepdims=True)), labels

    def _known_grams(self, moment: Moment) -> list[str]:
        return [gram for gram in sorted(moment.grams[-1]) if gram in self.words]

    def _sum_parts(self, moments: Sequence[Moment]) -> Floats:
        """Return the linear part plus the trees as an array (n, 3)."""
        values = values_of(moments)
        found = self.base + (values[:, : len(FEATURES)] - self.means) @ self.features + self.trees.predict(values)
        for place, moment in enumerate(moments):
            words = self._known_grams(moment)
            if words:
                found[place] += np.sum([self.words[gram] for gram in words], axis=0) / np.sqrt(len(words))
        return found

    def explain(self, turns: Sequence[Utterance], at: int, *, passed: int = 0) -> Detection:
        """Return the prediction for `turns[at]` with the contribution of each feature and each known phrase. `passed`
        is the number of earlier turns that were left out of `turns` because they are too old to matter: all but the
        last `CONTEXT` turns."""
        (moment,) = moments = collect_moments(turns, [at], passed=passed)
        likeness, familiar = self.familiarity.measure(moments)
        weight = float(_weigh(familiar)[0])
        level = likeness @ (self.familiarity.levels * self.familiarity.belief[:, None])
        (row,) = values = values_of(moments)
        added = np.zeros(len(COLUMNS))
        added[: len(FEATURES)] = (row[: len(FEATURES)] - self.means) * self.features[:, 2]
        base = float(self.base[2])
        leaf = self.trees.leaf_of(values)[0]
        for questions, leaves, number in zip(self.trees.features, self.trees.leaves[:, :, 2], leaf, strict=True):
            before = leaves.mean()
            base += float(before)
            for depth, feature in enumerate(questions, 1):  # each question moves the mean of the leaves still possible
                size = 2 ** (DEPTH - depth)
                first = number // size * size
                after = leaves[first : first + size].mean()
                added[feature] += after - before
                before = after
        known = self._known_grams(moment)
        parts = [
            Contribution(name, float(v), weight * float(a)) for name, v, a in zip(COLUMNS, row, added, strict=True)
        ]
        for gram in known:
            side, words = gram.split(":", 1)
            words = re.sub(r"\^ ", "(start) ", re.sub(r" \$$", " (end)", words))
            name = f"{'system' if side == 's' else 'user'} says “{words}”"
            parts.append(Contribution(name, 1.0, weight * self.words[gram][2] / len(known) ** 0.5))
        parts.sort(key=lambda part: (-abs(part.added), part.name))
        found = np.maximum(UNIFORM + level + weight * self._sum_parts(moments), _LEAST_PROBABILITY)[0]
        o, t, x = (found / found.sum()).tolist()
        return Detection((o, t, x), UNIFORM + float(level[0, 2]) + weight * base, float(familiar[0]), tuple(parts))

    def to_json(self) -> str:
        """Return the detector as JSON text with one feature, tree or phrase per line."""
        systems = self.familiarity.systems
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
            + ",\n".join(
                f"{json.dumps(gram, ensure_ascii=False)}: {_read_row([*w, *systems.counts[gram]])}"
                for gram, w in self.words.items()
            )
            + "\n}",
            '"trees": [\n'
            + ",\n".join(
                f"[{_read_row(asked)}, {_read_row(bounds)}, {_read_row(leaves.ravel())}]"
                for asked, bounds, leaves in zip(self.trees.features, self.trees.bounds, self.trees.leaves, strict=True)
            )
            + "\n]",
            '"systems": {\n'
            + ",\n".join(
                f"{json.dumps(name, ensure_ascii=False)}: "
                f"[{_read_row([count])[1:-1]}, {_read_row(level)}, {_read_row([belief])[1:-1]}, {_read_row(centre)}]"
                for name, count, level, belief, centre in zip(
                    systems.names,
                    systems.dialogues,
                    self.familiarity.levels,
                    self.familiarity.belief,
                    systems.centres,
                    strict=True,
                )
            )
            + "\n}",
            f'"familiarity": [{_read_row(self.familiarity.weights)}, {_read_row(systems.spread)}]',
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
        words = {gram: (float(o), float(t), float(x)) for gram, (o, t, x, *_) in found["words"].items()}
        detector = Detector(
            np.array(found["base"], dtype=np.float64).reshape(3),
            table[:, 0],
            table[:, 1:],
            words,
            Trees(
                np.array([asked for asked, _, _ in trees], dtype=np.int64).reshape(-1, DEPTH),
                np.array([bounds for _, bounds, _ in trees], dtype=np.float64).reshape(-1, DEPTH),
                np.array([leaves for _, _, leaves in trees], dtype=np.float64).reshape(-1, 2**DEPTH, 3),
            ),
            _decode_familiarity(found),
            dict(found["about"]),
            tuple(map(str, found["dialogues"])),
        )
        if found["format"] == _OLD_FORMAT:
            detector = _double(replace(detector, base=detector.base - UNIFORM))
        asked = detector.trees.features
        if asked.size and not 0 <= asked.min() <= asked.max() < len(COLUMNS):
            raise _detector_error("a tree uses a feature that does not exist", place)
        known = detector.familiarity
        numbers = (
            detector.base,
            table,
            detector.trees.bounds,
            detector.trees.leaves,
            list(words.values()),
            known.weights,
            known.levels,
            known.belief,
            known.systems.centres,
            known.systems.spread,
        )
        if not all(np.isfinite(np.asarray(part, dtype=np.float64)).all() for part in numbers):
            raise _detector_error("a weight is not a finite number", place)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:  # numpy does not name the file
        raise _detector_error("the shape of its weights does not fit this version", place) from error
    return detector


def _double(old: Detector) -> Detector:
    """Return a detector with doubled weights, because a detector without systems halves them."""
    trees = replace(old.trees, leaves=2 * old.trees.leaves)
    words = {gram: (2 * o, 2 * t, 2 * x) for gram, (o, t, x) in old.words.items()}
    return replace(old, base=2 * old.base, features=2 * old.features, words=words, trees=trees)


def _decode_familiarity(found: dict[str, Any]) -> Familiarity:
    systems = found["systems"]
    weights, spread = found["familiarity"]
    k = len(systems)
    counts = {gram: tuple(map(int, row[3:])) for gram, row in found["words"].items()}
    dialogues = np.array([count for count, _, _, _ in systems.values()], dtype=np.float64)
    if any(len(row) != k or (k and (min(row) < 0 or not any(row))) for row in counts.values()) or (dialogues < 1).any():
        raise ValueError("numbers of dialogues")
    return Familiarity(
        Systems(
            tuple(systems),
            dialogues,
            counts,
            np.array([centre for _, _, _, centre in systems.values()], dtype=np.float64).reshape(k, len(FEATURES)),
            np.array(spread, dtype=np.float64).reshape(len(FEATURES)),
        ),
        np.array([level for _, level, _, _ in systems.values()], dtype=np.float64).reshape(k, 3),
        np.array([belief for _, _, belief, _ in systems.values()], dtype=np.float64).reshape(k),
        np.array(weights, dtype=np.float64).reshape(3),
    )


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
    if not isinstance(found, dict) or found.get("format") not in (FORMAT, _OLD_FORMAT):
        raise _detector_error("its 'format' is different", place)
    if found["format"] == _OLD_FORMAT:
        found |= {"systems": {}, "familiarity": [[0, 0, 0], [0] * len(FEATURES)]}
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
        allowed=f"a file in the format {FORMAT} or {_OLD_FORMAT}",
        advice=_ADVICE,
    )


def _read_row(numbers: Floats | npt.NDArray[np.int64] | Sequence[float]) -> str:
    return json.dumps([int(number) if number == int(number) else float(number) for number in numbers])


def _weigh(familiar: Floats) -> Floats:
    return _LEAST_WEIGHT + (_MOST_WEIGHT - _LEAST_WEIGHT) * familiar
