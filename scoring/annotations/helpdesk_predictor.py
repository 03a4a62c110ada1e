"""A predictor of how people annotate helpdesk dialogues: weighted sums of counted features, small enough to be read.

    p(level | dialogue) = base + Σ (feature - mean)·weight + Σ weight of each known word that was said

There is one such sum for each quality question, over its levels, and one for each side's nugget types, by block. A
feature outside the range of the training data counts as the nearest end of this range. Each share is then bounded below
by .005 and the shares are divided by their sum, so that they sum to 1.

The predictor knows no facts and no meaning. It predicts what people said about dialogues of similar lengths.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from scoring.annotations.helpdesk_blocks import (
    BLOCK_FEATURES,
    DIALOGUE_FEATURES,
    SIDES,
    Block,
    block_values,
    dialogue_values,
    words_said,
)
from scoring.annotations.helpdesk_files import AnnotatedDialogue, Estimate, HelpdeskSubmission
from topics.arrays import Floats
from topics.errors import InputError
from topics.json_file import read_json_text, read_json_value
from topics.json_value import JsonValue

FORMAT = "harvest-helpdesk/1"
SHIPPED = "helpdesk-stc3.json"
NAME = "predictor"  # of its predictions among other submissions

_LEAST_SHARE = 0.005  # a tenth of one of 19 annotators: nothing is impossible
_DIGITS = 9  # of predictions in JSON
_LARGEST = 1e9  # number in a file: sums of larger ones could be infinite, and shares of infinity are no numbers


@dataclass(frozen=True, eq=False)
class LinearShares:
    """Weights for the shares of C names: the levels of a question, or the nugget types of a side.

    base: (C,) shares if every feature has its mean and no known word was said.
    features: (F, 3) mean, lowest and highest value of each feature in the training data.
    weights: (F, C) weights per unit of each feature.
    words: the (C,) weights of each known word.
    """

    names: tuple[str, ...]
    base: Floats
    features: Floats
    weights: Floats
    words: Mapping[str, tuple[float, ...]]

    def predict(self, values: Sequence[Sequence[float]], said: Iterable[frozenset[str]]) -> Floats:
        """Return (n, C) shares, whose rows sum to 1, from (n, F) values of features and n sets of words."""
        means, lowest, highest = self.features.T
        rows = np.asarray(values, dtype=np.float64).reshape(-1, len(means))
        found = self.base + (np.clip(rows, lowest, highest) - means) @ self.weights
        for row, words in zip(found, said, strict=True):
            for word in sorted(words & self.words.keys()):
                row += self.words[word]
        bounded = np.maximum(found, _LEAST_SHARE)
        return np.asarray(bounded / bounded.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Predictor:
    """A trained predictor.

    quality: the weights for each question.
    nuggets: the weights for each side.
    about: a description of the training data and its licence.
    dialogues: the names of the training dialogues.
    """

    quality: Mapping[str, LinearShares]
    nuggets: Mapping[str, LinearShares]
    about: Mapping[str, Any]
    dialogues: tuple[str, ...]

    def estimate(self, blocks: Sequence[Block]) -> Estimate:
        """Predict one dialogue: a row for each block over the types of its side, and a row for each question."""
        values, said = [dialogue_values(blocks)], [words_said(blocks)]
        nuggets = (
            self.nuggets[block.side].predict([block_values(blocks, at)], [words_said([block])])[0]
            for at, block in enumerate(blocks)
        )
        quality = {question: of.predict(values, said)[0] for question, of in self.quality.items()}
        return Estimate(
            tuple(tuple(row.tolist()) for row in nuggets), {key: tuple(row.tolist()) for key, row in quality.items()}
        )

    def predict(self, dialogues: Sequence[AnnotatedDialogue], name: str = NAME) -> HelpdeskSubmission:
        """Predict annotated dialogues. Raises InputError if one of them does not fit, see `find_misfit`."""
        misfit = self.find_misfit(dialogues)
        if misfit:
            raise InputError(f"the predictor does not fit these dialogues: {misfit}", advice=_ADVICE)
        estimates = {one.name: self.estimate(one.blocks or ()) for one in dialogues}
        return HelpdeskSubmission(name, estimates, nuggets=True, quality=True)

    def find_misfit(self, dialogues: Sequence[AnnotatedDialogue]) -> str:
        """Return why the predictor cannot predict these dialogues, or "" if it can."""
        types = {side: of.names for side, of in self.nuggets.items()}
        for one in dialogues:
            if one.blocks is None:
                return f"the turns of dialogue {one.name!r} have neither 'utterances' nor 'words'"
            for side in SIDES:
                if one.types[side] != types[side]:
                    return f"it predicts the types {', '.join(types[side])}, not {', '.join(one.types[side])}"
            for question, levels in one.levels.items():
                known = self.quality.get(question)
                if known is None:
                    return f"it was not trained on the question {question!r}"
                if known.names != levels:
                    return f"it predicts {question} at {', '.join(known.names)}, not at {', '.join(levels)}"
        return ""

    def to_json(self) -> str:
        """Return the predictor as JSON text with one feature or word per line."""
        parts = [
            f'"format": {json.dumps(FORMAT)}',
            f'"about": {json.dumps(dict(self.about), ensure_ascii=False)}',
            f'"quality": {_object(self.quality, DIALOGUE_FEATURES)}',
            f'"nuggets": {_object(self.nuggets, BLOCK_FEATURES)}',
            f'"dialogues": {json.dumps(list(self.dialogues), ensure_ascii=False)}',
        ]
        return "{\n" + ",\n".join(parts) + "\n}\n"

    def line(self, dialogue: str, blocks: Sequence[Block]) -> str:
        """Return the prediction for a dialogue as one JSON line of a submission in the official form."""
        found = self.estimate(blocks)
        quality = {key: _labelled(self.quality[key].names, row) for key, row in (found.quality or {}).items()}
        rows = zip(blocks, found.nuggets or (), strict=True)
        nuggets = [_labelled(self.nuggets[block.side].names, row) for block, row in rows]
        return json.dumps({"id": dialogue, "quality": quality, "nugget": nuggets}, ensure_ascii=False)


def load_predictor(path: Path | None = None) -> Predictor:
    """Load the predictor in a file, or the one that comes with Harvest. Raises InputError, with file:line:column, for a
    file without a predictor."""
    return _shipped_predictor() if path is None else _decode(read_json_value(path))


@cache
def _shipped_predictor() -> Predictor:
    file = resources.files("scoring.annotations") / SHIPPED
    return _decode(next(iter(read_json_text(file.read_text(encoding="utf-8"), str(file)))))


_ADVICE = "train one on such dialogues: harvest metrics helpdesk train FILE… --out PREDICTOR.json"


def _decode(value: JsonValue) -> Predictor:
    if not value.has_key("format") or value["format"].value != FORMAT:
        raise value.error("this is not a helpdesk predictor", allowed=f"a file in the format {FORMAT}", advice=_ADVICE)
    quality, nuggets, about = value["quality"], value["nuggets"], value["about"]
    return Predictor(
        {key: _decode_shares(quality[key], DIALOGUE_FEATURES) for key in quality.keys()},  # noqa: SIM118
        {side: _decode_shares(nuggets[side], BLOCK_FEATURES) for side in SIDES},
        {key: about[key].value for key in about.keys()},  # noqa: SIM118
        tuple(name.text() for name in value["dialogues"].elements()),
    )


def _decode_shares(value: JsonValue, features: tuple[str, ...]) -> LinearShares:
    names = tuple(name.text() for name in value["names"].elements())
    if not names or len(set(names)) < len(names):
        raise value["names"].error("these are not names of levels or types", allowed="different names")
    rows, words = value["features"], value["words"]
    if rows.keys() != features:
        raise rows.error("the features are those of another version of Harvest", advice=_ADVICE)
    table = np.array([_numbers(rows[name], 3 + len(names)) for name in features])
    return LinearShares(
        names,
        np.array(_numbers(value["base"], len(names))),
        table[:, :3],
        table[:, 3:],
        {word: tuple(_numbers(words[word], len(names))) for word in words.keys()},  # noqa: SIM118
    )


def _numbers(value: JsonValue, count: int) -> list[float]:
    found = [part.value for part in value.elements()]
    if len(found) != count or not all(
        isinstance(one, int | float) and not isinstance(one, bool) and abs(one) <= _LARGEST for one in found
    ):
        raise value.error(f"these are not {count} numbers", allowed=f"numbers from {-_LARGEST:g} to {_LARGEST:g}")
    return [float(one) for one in found if isinstance(one, int | float)]


def _object(table: Mapping[str, LinearShares], features: Sequence[str]) -> str:
    parts = []
    for name, of in table.items():
        rows = zip(features, np.hstack([of.features, of.weights]).tolist(), strict=True)
        lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(row)}" for key, row in rows)
        words = ",\n".join(f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(row)}" for key, row in of.words.items())
        parts.append(
            f'{json.dumps(name, ensure_ascii=False)}: {{"names": {json.dumps(of.names, ensure_ascii=False)},\n'
            f'"base": {json.dumps(of.base.tolist())},\n"features": {{\n{lines}}},\n"words": {{{words}}}}}'
        )
    return "{\n" + ",\n".join(parts) + "}"


def _labelled(names: Sequence[str], row: Sequence[float]) -> dict[str, float]:
    """Return the shares by name, rounded, with the largest such that they sum to 1."""
    found = {name: round(share, _DIGITS) for name, share in zip(names, row, strict=True)}
    most = max(found, key=lambda name: found[name])
    found[most] = round(1 - math.fsum(share for name, share in found.items() if name != most), _DIGITS)
    return found
