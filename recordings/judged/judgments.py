"""Layers of judgments in a run's `judgments/` folder: opinions of people, rules or models on a nugget or a turn.

A layer is one file: a header line with the kind (gold, human, rule, model), the author and its version, followed by one
judgment in each line. Layers are never changed or overwritten; a new opinion is a new layer. The file's name ends in
the hash of its content, so that a merge of runs keeps every layer once. Decisions that people make one at a time
(`recordings.judged.decisions`) are read as layers too.
"""

import hashlib
import os
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from recordings.events.event_lines import check_format
from recordings.files.errors import RunError, StoreError
from recordings.files.evidence import inner_folder, remove_leftovers, write_safely
from recordings.files.json_text import Json, encode_line, read_lines
from recordings.files.times import unix_seconds
from recordings.judged.decisions import FOLDER as DECISIONS
from recordings.judged.decisions import Decision, is_target, read_decisions
from recordings.log.inventory import add_file
from recordings.secrets.redaction import Redactor
from topics.errors import Place
from topics.names import ascii_name
from topics.regular_file import list_entries, read_inside

FORMAT = "harvest-judgments/1"
_FOLDER = "judgments"
# The source of a layer of decisions.
DECISION_SOURCE = "harvest annotate --serve"
_NAME_FORM = re.compile(r".*-([0-9a-f]{16})\.jsonl")
KINDS = ("gold", "human", "rule", "model")

# The value of a judgment by someone who cannot decide. It is not a score, and does not mean that the criterion
# does not apply, which is null.
UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class Judgment:
    """One judgment. `about` names the judged thing: `topic` and `entity` for a nugget, wherever it appears; `trial`
    (the identity), `attempt` and `turn` for a turn. `value` is a JSON value. `note` is in the judge's own words.
    `samples` are the model's replies if the model was asked several times. `decision` is the identity of the decision
    that a person made about this and other things at once, or ""."""

    about: Mapping[str, str | int]
    criterion: str
    value: Json
    note: str = ""
    samples: tuple[Json, ...] = ()
    decision: str = field(default="", compare=False)

    @property
    def unjudged(self) -> str:
        """The reason why a model gave no judgment; "" if there is a judgment."""
        match self.value:
            case {"unjudged": str(why)}:
                return why
        return ""


@dataclass(frozen=True, slots=True)
class Target:
    """The part of a recorded conversation that a judgment is about: a turn of one speaker, a span of its text, or the
    whole conversation. `trial` is the identity of the trial. `attempt` and `turn` start at 1; turn 0 is the whole
    conversation. `speaker` is `system` or `user`. `start` and `end` are character positions in the speaker's text, with
    `end` exclusive; `start` and `end` are -1 for the whole turn."""

    trial: str
    attempt: int
    turn: int
    speaker: str = "system"
    start: int = -1
    end: int = -1

    def about(self) -> dict[str, str | int]:
        """Return the target as the `about` of a judgment. The speaker is left out if the speaker is the system."""
        if not self.turn:
            return {"trial": self.trial, "attempt": self.attempt}
        found: dict[str, str | int] = {"trial": self.trial, "attempt": self.attempt, "turn": self.turn}
        if self.speaker != "system":
            found["speaker"] = self.speaker
        return found if self.start < 0 else {**found, "start": self.start, "end": self.end}

    @staticmethod
    def from_judgment(judgment: Judgment) -> "Target | None":
        """Return the target of a judgment about a turn or a span, or None for any other judgment."""
        match judgment.about:
            case {"trial": str(trial), "attempt": int(attempt), "turn": int(turn), **rest}:
                speaker, start, end = rest.get("speaker", "system"), rest.get("start", -1), rest.get("end", -1)
                if speaker in ("system", "user") and isinstance(start, int) and isinstance(end, int):
                    return Target(trial, attempt, turn, str(speaker), start, end)
        return None

    @staticmethod
    def from_dialogue_judgment(judgment: Judgment) -> "Target | None":
        """Return the target of a judgment about a whole conversation, or None for any other judgment."""
        match judgment.about:
            case {"trial": str(trial), "attempt": int(attempt), **rest} if not rest:
                return Target(trial, attempt, 0)
        return None


@dataclass(frozen=True, slots=True)
class Layer:
    """Judgments of one author.

    `kind` is one of `KINDS`. `version` is the version of the rule, model or guideline. `source` is the origin of the
    judgments (a file, the hash of a prompt, a publication). `made_at` is the time in UTC, ISO 8601; "" if unknown.
    `adjudicates` is True if the author saw other people's judgments of the same things and decided between them. `path`
    is the file that the layer was read from, if any; the judgment with index i is in line i + 2.
    """

    kind: str
    author: str
    version: str = ""
    source: str = ""
    made_at: str = ""
    judgments: tuple[Judgment, ...] = ()
    adjudicates: bool = False
    path: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"{self.kind!r} is not a kind of layer: {', '.join(KINDS)}")


def write_layer(run: str | PathLike[str], layer: Layer, redactor: Redactor | None = None) -> Path:
    """Write `layer` into the run folder and return its file. Equal layers share one file. Raises StoreError."""
    cleaner = redactor or Redactor()
    opening: dict[str, Json] = {
        "format": FORMAT,
        "layer": layer.kind,
        "author": layer.author,
        "version": layer.version,
        "source": layer.source,
        "made_at": layer.made_at,
    }
    if layer.adjudicates:
        opening["adjudicates"] = True
    rows: list[Json] = [opening]
    for judgment in layer.judgments:
        row = {"about": dict(judgment.about), "criterion": judgment.criterion, "value": judgment.value}
        if judgment.note:
            row["note"] = judgment.note
        rows.append({**row, "samples": list(judgment.samples)} if judgment.samples else row)
    return put_layer(Path(run), b"".join(encode_line(cleaner.value(row)) for row in rows), layer.kind, layer.author)


def put_layer(run: Path, data: bytes, kind: str, author: str) -> Path:
    """Write the bytes of a layer to a file named after their hash, and list the file in the inventory of the run."""
    slug = ascii_name(author.lower(), "[^a-z0-9]+", 40) or "unknown"
    path = inner_folder(run, _FOLDER, _FOLDER) / f"{kind}-{slug}-{_digest(data)}.jsonl"
    if not path.exists():
        try:
            path.parent.mkdir(exist_ok=True)
            remove_leftovers(path.parent)
            write_safely(path, data)
        except OSError as fault:
            raise StoreError(path, fault) from fault
    add_file(run, path, changes=False)
    return path


def keep_layer(run: str | PathLike[str], layer: Layer) -> Path | None:
    """Write `layer` and return its file. Nothing is written and None is returned if the layer is empty, or if it equals
    the newest layer of the same kind, author, version, source and adjudication. Raises StoreError."""

    def name(one: Layer) -> tuple[str, str, str, str, bool]:
        return (one.kind, one.author, one.version, one.source, one.adjudicates)

    same = [one for one in read_layers(run) if name(one) == name(layer)]
    if not layer.judgments or (same and same[-1].judgments == layer.judgments):
        return None
    return write_layer(run, layer)


def read_layers(run: str | PathLike[str]) -> tuple[Layer, ...]:
    """Read every layer of a run, with the oldest first. Decisions that people made one at a time are included. Raises
    RunError with file and line."""
    inner_folder(Path(run), _FOLDER, _FOLDER)
    try:
        files = [read_layer(file) for file in list_entries(run, _FOLDER, "*.jsonl")]
        some = os.path.lexists(Path(run, DECISIONS))
        decided = decided_layers(read_decisions(run).standing, files) if some else ()
    except RunError as fault:
        advice = fault.advice or "restore the file from a copy, or move it away: its judgments are then lost"
        raise RunError(fault.what, place=fault.place, allowed=fault.allowed, advice=advice) from None
    return tuple(sorted((*files, *decided), key=lambda layer: layer.made_at))


def decided_layers(decisions: Iterable[Decision], files: Iterable[Layer]) -> Iterator[Layer]:
    """Yield decisions as layers, one for each person and version, with adjudications separate. `files` are the layers
    that are files. Two decisions with a file of the same person between them become two layers: a layer has only one
    time, and the earlier decision must not seem newer than the file."""
    times: dict[str, list[float]] = {}
    for layer in files:
        if layer.kind == "human":
            times.setdefault(layer.author, []).append(unix_seconds(layer.made_at))
    parts: dict[tuple[str, str, bool, int], dict[object, tuple[Judgment, str]]] = {}
    for one in decisions:
        part = bisect_left(sorted(times.get(one.by, ())), unix_seconds(one.at))
        found = parts.setdefault((one.by, one.version, one.adjudicates, part), {})
        for about in one.about:
            judgment = Judgment(about, one.criterion, one.value, one.note, decision=one.id)
            key = (one.criterion, Target.from_judgment(judgment) or frozenset(about.items()))
            found.pop(key, None)  # the newest last
            found[key] = (judgment, one.at)
    for (author, version, adjudicates, _), kept in parts.items():
        judgments, stamps = zip(*kept.values(), strict=True)
        yield Layer("human", author, version, DECISION_SOURCE, max(stamps), tuple(judgments), adjudicates)


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8, person=b"harvest-layer").hexdigest()


def read_layer(path: Path) -> Layer:
    """Read one layer. A layer is written at once, unlike a file of events, so an incomplete last line is an error.
    Content that does not match the file's name is an error too, because a missing line would go unnoticed."""
    rows, torn = read_lines(path, path.parent)
    if torn:
        raise RunError(torn.partition(": ")[2], place=Place(str(path), len(rows) + 1))
    if not rows:
        raise RunError("the file is empty", place=Place(str(path), 1))
    place, opening = rows[0]
    check_format(opening.get("format"), FORMAT, place)
    if opening.get("layer") not in KINDS:
        raise RunError(f"{opening.get('layer')!r} is not a kind of layer", place=place, allowed=", ".join(KINDS))
    names: dict[str, str] = {}
    for key in ("author", "version", "source", "made_at"):
        said = opening.get(key)
        if not isinstance(said, (str, type(None))):
            raise RunError(f"{key!r} is not text", place=place, allowed="text")
        names[key] = said or ""
    if opening.get("adjudicates", False) not in (True, False):
        raise RunError("'adjudicates' is neither true nor false", place=place)
    judgments = tuple(_judgment(row, at) for at, row in rows[1:])
    # One layer is one opinion: of two values for one thing, one would be lost.
    seen: dict[tuple[object, ...], int] = {}
    for number, judgment in enumerate(judgments, 2):
        about = Target.from_judgment(judgment) or frozenset(judgment.about.items())
        first = seen.setdefault((judgment.criterion, about), number)
        if first != number:
            raise RunError(
                f"the same thing is already judged by {judgment.criterion} in line {first}",
                place=Place(str(path), number),
            )
    fault = layer_fault(path)
    if fault:
        raise RunError(
            fault,
            place=Place(str(path)),
            advice="restore the file; if the change is intended, remove the number at the end of its name",
        )
    adjudicates = bool(opening.get("adjudicates"))
    return Layer(str(opening["layer"]), **names, judgments=judgments, adjudicates=adjudicates, path=str(path))


def _judgment(row: Mapping[str, Any], place: Place) -> Judgment:
    about, criterion, note, samples = (row.get(key) for key in ("about", "criterion", "note", "samples"))
    if not isinstance(about, dict) or not isinstance(criterion, str) or not criterion or "value" not in row:
        raise RunError("a judgment must have 'about' (an object), 'criterion' (text) and 'value'", place=place)
    if not is_target(about):
        raise RunError("'about' contains something that is neither text nor a whole number", place=place)
    if not isinstance(note, (str, type(None))):
        raise RunError("'note' is not text", place=place, allowed="text")
    if not isinstance(samples, (list, type(None))):
        raise RunError("'samples' is not a list", place=place, allowed="a list of values")
    # With a mistake in one of these, a judgment would silently be in no score.
    for key, (allowed, is_right) in _ABOUT_CHECKS.items():
        if key in about and not is_right(about[key]):
            raise RunError(f"{key!r} in 'about' is {str(about[key])[:40]!r}", place=place, allowed=allowed)
    if ("start" in about) != ("end" in about) or ("start" in about and about["start"] > about["end"]):
        raise RunError(
            "a span in 'about' is malformed",
            place=place,
            allowed="'start' and 'end', with the end not before the start",
        )
    return Judgment(about, criterion, row["value"], note or "", tuple(samples or ()))


_ABOUT_CHECKS: Mapping[str, tuple[str, Callable[[object], bool]]] = {
    "trial": ("text: the trial's identity", lambda value: isinstance(value, str)),
    "attempt": ("a whole number from 1", lambda value: isinstance(value, int) and value >= 1),
    "turn": ("a whole number from 1", lambda value: isinstance(value, int) and value >= 1),
    "speaker": ("system or user", lambda value: value in ("system", "user")),
    "start": ("a whole number from 0", lambda value: isinstance(value, int) and value >= 0),
    "end": ("a whole number from 0", lambda value: isinstance(value, int) and value >= 0),
    "system": ("text", lambda value: isinstance(value, str)),
}


def layer_fault(path: Path) -> str:
    """Return the error in a layer's file, or "" if the content matches the hash in the file's name, if any."""
    named = _NAME_FORM.fullmatch(path.name)
    if named and _digest(read_inside(path.parent, path.name)) != named[1]:
        return "this layer was changed after it was written: its content does not match its name"
    return ""
