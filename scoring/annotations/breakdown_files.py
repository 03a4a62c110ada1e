"""Files of breakdown annotations and of predictions, recognised by their content.

annotations
    dialogues: [{id, turns: [{i, c: [O, T, X], cr}]}]       compact: counts of the workshop (c) and revised counts (cr)
    dialogue-id, turns: [{turn-index, annotations: […]}]    DBDC's *.log.json: one object per annotator
    {dialogue, turn, system, counts: [O, T, X]}             our own: JSONL, one turn per line

predictions
    dialogue-id, turns: [{turn-index, labels: […]}]         DBDC's *.labels.json: one file per dialogue
    {dialogue, turn, probabilities: [O, T, X], label}       our own; a line may have probabilities and a label

For a folder, all `*.json` and `*.jsonl` files in it and in its subfolders are read, in the order of their paths.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from scoring.measures.breakdown import LABELS, likeliest_labels
from topics.counting import pluralize
from topics.errors import InputError, Place
from topics.json_file import read_json
from topics.json_value import JsonValue

Counts = Literal["workshop", "revised"]
Key = tuple[str, int]

_FILE_KINDS = (
    '{"dialogues": […]}, {"dialogue-id": …, "turns": […]} with "annotations" or "labels", '
    'or lines {"dialogue": …, "turn": …} with "counts" or "probabilities"'
)
_OUR_KEYS = ("dialogue", "turn", "system", "counts", "probabilities", "label")
_TOLERANCE = 1e-6 * (1 + 1e-6)  # as in `scoring.divergences`


@dataclass(frozen=True, slots=True)
class AnnotatedTurn:
    """A turn with the numbers of annotators who chose O, T and X, at least one in all. `system` is "" if unknown."""

    dialogue: str
    turn: int
    system: str
    counts: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Prediction:
    """Predicted probabilities of O, T and X, which sum to 1, and an index into `LABELS`, by default their argmax."""

    probabilities: tuple[float, float, float]
    label: int


@dataclass(frozen=True, slots=True)
class Submission:
    """Predictions from the file or folder `name` for all annotated turns, and possibly for more turns."""

    name: str
    turns: dict[Key, Prediction]


@dataclass(frozen=True, slots=True)
class BreakdownMaterial:
    """The annotated turns in the order of the files, the submissions, and notes on what was left out."""

    gold: tuple[AnnotatedTurn, ...]
    submissions: tuple[Submission, ...]
    notes: tuple[str, ...] = ()


@dataclass
class _FileContents:
    counts: Counts
    gold: dict[Key, AnnotatedTurn] = field(default_factory=dict)
    systems: dict[str, str] = field(default_factory=dict)  # dialogue -> its system, where it is known
    submissions: dict[str, dict[Key, Prediction]] = field(default_factory=dict)

    def add_value(self, value: JsonValue, file: Path, name: str) -> None:
        if value.has_key("dialogues"):
            self._add_compact(value, file)
        elif value.has_key("dialogue-id"):
            self._add_official(value, file, name)
        elif value.has_key("dialogue") and (value.has_key("counts") or value.has_key("probabilities")):
            value.refuse_misspelt_keys(_OUR_KEYS)
            dialogue, turn = value["dialogue"].text(), value["turn"].index()
            if value.has_key("counts"):
                system = value["system"].text() if value.has_key("system") else ""
                self.add_annotation(value, dialogue, turn, system, _three_counts(value["counts"]))
            label = value["label"].text(LABELS) if value.has_key("label") else None
            if value.has_key("probabilities"):
                at = value["probabilities"]
                weights = [entry.weight() for entry in _three_entries(at)]
                self.add_prediction(value, name, dialogue, turn, _read_prediction(at, weights, label))
        else:
            raise value.error("the file has neither annotations nor predictions of breakdown", allowed=_FILE_KINDS)

    def _add_compact(self, value: JsonValue, file: Path) -> None:
        system = value["subset"].text() if value.has_key("subset") else file.stem
        key = "c" if self.counts == "workshop" else "cr"
        for dialogue in value["dialogues"].elements():
            name = dialogue["id"].text()
            for turn in dialogue["turns"].elements():
                if turn.has_key("c") or turn.has_key("cr"):
                    at = turn[key]
                    self.add_annotation(at, name, turn["i"].index(), system, _three_counts(at))

    def _add_official(self, value: JsonValue, file: Path, name: str) -> None:
        dialogue = value["dialogue-id"].text()
        for turn in value["turns"].elements():
            index = turn["turn-index"].index()
            if turn.has_key("annotations"):
                said = [entry["breakdown"].text(LABELS) for entry in turn["annotations"].elements()]
                if said:  # user turns have an empty list
                    counts = tuple(said.count(label) for label in LABELS)
                    self.add_annotation(turn, dialogue, index, file.resolve().parent.name, counts)
            if turn.has_key("labels"):
                entries = turn["labels"].elements()
                if len(entries) != 1:
                    raise turn["labels"].error(f"the turn has {len(entries)} labels", allowed="exactly one label")
                (entry,) = entries
                weights = [entry[f"prob-{label}"].weight() for label in LABELS]
                said_label = entry["breakdown"].text(LABELS)
                self.add_prediction(turn, name, dialogue, index, _read_prediction(entry, weights, said_label))

    def add_annotation(self, at: JsonValue, dialogue: str, turn: int, system: str, counts: tuple[int, ...]) -> None:
        if sum(counts) == 0:
            raise at.error("nobody annotated this turn", advice="leave its counts out")
        if (dialogue, turn) in self.gold:
            raise at.error(f"turn {turn} of dialogue {dialogue!r} is annotated twice", advice="give each file once")
        known = self.systems.setdefault(dialogue, system) if system else system
        if known != system:
            raise at.error(
                f"dialogue {dialogue[:40]!r} is of the system {system[:40]!r} here, and of {known[:40]!r} before",
                advice="give each dialogue a name of its own",
            )
        o, t, x = counts
        self.gold[dialogue, turn] = AnnotatedTurn(dialogue, turn, system, (o, t, x))

    def add_prediction(self, at: JsonValue, name: str, dialogue: str, turn: int, predicted: Prediction) -> None:
        turns = self.submissions.setdefault(name, {})
        if (dialogue, turn) in turns:
            raise at.error(
                f"turn {turn} of dialogue {dialogue!r} is predicted twice in {name!r}",
                advice="put each submission into a separate folder",
            )
        turns[dialogue, turn] = predicted


def read_breakdown_files(paths: Sequence[Path], *, counts: Counts = "workshop") -> BreakdownMaterial:
    """Read all files and check that they are consistent.

    `counts` selects the annotations of the compact form that are the gold. A submission is a JSONL file or a folder;
    label files given separately form one submission. Every submission must predict every annotated turn; predictions
    for other turns are counted and left out. Raises InputError, with file:line:column if a single value is at fault.
    """
    collected = _FileContents(counts)
    for path in paths:
        for file, name in _list_files(path):
            for value in read_json(file):
                for one in value.parts(_FILE_KINDS):
                    collected.add_value(one, file, name)
    if not collected.gold:
        raise InputError(
            "there is no annotated turn in " + ", ".join(str(path) for path in paths),
            allowed=_FILE_KINDS,
            advice="add the files of annotations, because predictions alone cannot be evaluated",
        )
    notes: list[str] = []
    for name, turns in collected.submissions.items():
        missing = [key for key in collected.gold if key not in turns]
        if missing:
            dialogue, turn = missing[0]
            raise InputError(
                f"submission {name!r} predicts {len(collected.gold) - len(missing)} of {len(collected.gold)} annotated"
                f" turns; the first missing prediction is for turn {turn} of dialogue {dialogue!r}",
                advice="predict every annotated turn, or give fewer files of annotations",
            )
        extra = len(turns) - len(collected.gold)
        if extra:
            notes.append(f"{name!r}: {extra} predictions of turns that nobody annotated are left out")
    submissions = tuple(Submission(name, turns) for name, turns in collected.submissions.items())
    return BreakdownMaterial(tuple(collected.gold.values()), submissions, tuple(notes))


def _list_files(path: Path) -> Iterator[tuple[Path, str]]:
    if path.is_dir():
        found = sorted(file for file in path.rglob("*") if file.suffix in (".json", ".jsonl") and not file.is_dir())
        if not found:
            raise InputError("the folder contains no *.json or *.jsonl files", place=Place.of(path))
        for file in found:
            yield file, path.resolve().name
    else:
        yield path, path.stem if path.suffix == ".jsonl" else "submission"


def _three_entries(at: JsonValue) -> list[JsonValue]:
    entries = at.elements()
    if len(entries) != len(LABELS):
        raise at.error(f"the list has {pluralize(len(entries), 'number')} instead of three", allowed="[O, T, X]")
    return entries


def _three_counts(at: JsonValue) -> tuple[int, ...]:
    return tuple(entry.index() for entry in _three_entries(at))


def _read_prediction(at: JsonValue, weights: Iterable[float], label: str | None) -> Prediction:
    o, t, x = weights
    if not abs(o + t + x - 1) <= _TOLERANCE:
        raise at.error(
            f"the probabilities of O, T and X sum to {o + t + x:.9g}, not to 1",
            allowed="a sum of 1 (within 0.000001)",
            advice="write more digits, or divide by the sum",
        )
    return Prediction((o, t, x), int(likeliest_labels((o, t, x))) if label is None else LABELS.index(label))
