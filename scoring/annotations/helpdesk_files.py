"""Files of annotated helpdesk dialogues (STC-3, DialEval) and of predictions, recognised by their content.

    {customer_types, helpdesk_types, quality_scale, dialogues: [{id, turns: [{sender, n}], quality: {A: […]}}]}
        annotations, compact: how many annotators gave each type and each level, in the order of the head; the scale is
        a list of levels, or an object with a list for each question: {TS: ["1", "0", "-1"], CS: ["2", …, "-2"]}
    [{id, turns: [{sender}], annotations: [{nugget: [type, …], quality: {A: level}}]}]
        annotations, official: the answers of each annotator, with the types of STC-3, and its levels from 2 to -2; the
        questions TS, TA, HA and CA of DCH-1 have the levels 1, 0 and -1 ([STC3] §2.4)
    [{id, nugget: [{type: p}], quality: {A: {level: p}}}]
        a submission, official; either part may be missing, and whole numbers of annotators may replace the p

A `*.jsonl` file has one such object per line. A turn of these files is a block: everything that one side says in a row.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scoring.annotations.helpdesk_blocks import SIDES, Block, read_blocks
from scoring.measures.nugget_detection import CUSTOMER_TYPES, HELPDESK_TYPES
from topics.counting import pluralize
from topics.errors import InputError
from topics.json_file import read_json
from topics.json_value import JsonValue

Row = tuple[float, ...]
LEVELS = ("2", "1", "0", "-1", "-2")
_THREE_LEVELS = dict.fromkeys(("TS", "TA", "HA", "CA"), ("1", "0", "-1"))  # of DCH-1, whose CS has five

_FILE_KINDS = (
    '{"dialogues": […]}, objects with "id", "turns" and "annotations", or objects with "id" and "nugget" or "quality"'
)
_TOLERANCE = 1e-6 * (1 + 1e-6)  # as in `scoring.divergences`


@dataclass(frozen=True, slots=True)
class AnnotatedDialogue:
    """A dialogue with the annotators' distributions; all rows sum to 1. `sides` (blocks,) has the side of each block.
    `nuggets` has one row for each block, over the `types` of the block's side. `quality` has a row for each question
    that anybody answered, over the `levels` of the question. `blocks` (blocks,) has the lengths, and texts if there
    are any; None if the file has no lengths."""

    name: str
    sides: tuple[str, ...]
    nuggets: tuple[Row, ...]
    quality: Mapping[str, Row]
    types: Mapping[str, tuple[str, ...]]
    levels: Mapping[str, tuple[str, ...]]
    blocks: tuple[Block, ...] | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """A submission's prediction for one dialogue, as in `AnnotatedDialogue`; None for a subtask that is left out."""

    nuggets: tuple[Row, ...] | None
    quality: Mapping[str, Row] | None


@dataclass(frozen=True, slots=True)
class HelpdeskSubmission:
    """A submission, named after its file. `nuggets` and `quality` are True if all dialogues are predicted there."""

    name: str
    estimates: Mapping[str, Estimate]
    nuggets: bool
    quality: bool


@dataclass(frozen=True, slots=True)
class HelpdeskMaterial:
    """The annotated dialogues in the order of the files, the submissions, and notes on what was left out."""

    gold: tuple[AnnotatedDialogue, ...]
    submissions: tuple[HelpdeskSubmission, ...]
    notes: tuple[str, ...] = ()


@dataclass
class _FileContents:
    gold: dict[str, AnnotatedDialogue] = field(default_factory=dict)
    claims: dict[str, list[JsonValue]] = field(default_factory=dict)

    def add_value(self, value: JsonValue, path: Path) -> None:
        if value.has_key("dialogues"):
            types = {side: _read_names(value[f"{side}_types"]) for side in SIDES}
            levels = _read_scales(value["quality_scale"])
            for dialogue in value["dialogues"].elements():
                self.add_annotation(dialogue, _read_compact(dialogue, types, levels))
        elif value.has_key("id") and value.has_key("annotations"):
            self.add_annotation(value, _read_official(value))
        elif value.has_key("id") and (value.has_key("nugget") or value.has_key("quality")):
            value.refuse_misspelt_keys(("id", "nugget", "quality"))
            if any(claim.path != value.path for claim in self.claims.get(path.stem, ())):
                raise value.error(f"two submissions are called {path.stem!r}", advice="rename one of the files")
            self.claims.setdefault(path.stem, []).append(value)
        else:
            raise value.error(
                "the file has neither annotations nor predictions of helpdesk dialogues", allowed=_FILE_KINDS
            )

    def add_annotation(self, at: JsonValue, dialogue: AnnotatedDialogue) -> None:
        if dialogue.name in self.gold:
            raise at.error(f"dialogue {dialogue.name!r} is annotated twice", advice="give each file once")
        self.gold[dialogue.name] = dialogue


def read_helpdesk_files(paths: Sequence[Path]) -> HelpdeskMaterial:
    """Read all files and check that they are consistent. Each file of predictions is a submission named after it.

    Raises InputError, with file:line:column if a single value is at fault: a distribution that does not sum to 1, a
    type or level that is missing or unknown, a wrong number of blocks, or a dialogue that a submission leaves out.
    """
    collected = _FileContents()
    for path in paths:
        for value in read_json(path):
            for one in value.parts(_FILE_KINDS):
                collected.add_value(one, path)
    if not collected.gold:
        raise InputError(
            "there is no annotated dialogue in " + ", ".join(str(path) for path in paths),
            allowed=_FILE_KINDS,
            advice="add the files of annotations, because predictions alone cannot be evaluated",
        )
    submissions, notes = [], []
    for name, claims in collected.claims.items():
        submission, extra = _read_submission(name, claims, collected.gold)
        submissions.append(submission)
        answered = {question for dialogue in collected.gold.values() for question in dialogue.quality}
        asked = [key for claim in claims if submission.quality for key in claim["quality"].keys()]  # noqa: SIM118
        for question in dict.fromkeys(key for key in asked if key not in answered):
            notes.append(f"{name!r}: predictions for the question {question!r}, which nobody answered, are left out")
        if extra:
            notes.append(f"{name!r}: {extra} dialogues that nobody annotated are left out")
    return HelpdeskMaterial(tuple(collected.gold.values()), tuple(submissions), tuple(notes))


def _read_names(value: JsonValue) -> tuple[str, ...]:
    names = tuple(element.text() for element in value.elements())
    if len(names) < 2 or len(set(names)) != len(names):
        raise value.error("the list needs at least two names, all of them different")
    return names


def _read_levels(value: JsonValue) -> tuple[str, ...]:
    levels = _read_names(value)
    try:
        numbers = [float(level) for level in levels]
    except ValueError:
        return levels  # words, whose order is only known from the list
    if numbers not in (sorted(numbers), sorted(numbers, reverse=True)):
        raise value.error("the levels are not in order", allowed="for example 2, 1, 0, -1, -2")
    return levels


def _read_scales(value: JsonValue) -> Callable[[JsonValue, str], tuple[str, ...]]:
    """Return a function that takes a dialogue's `quality` and a question in it, and returns the question's levels."""
    if isinstance(value.value, list):
        levels = _read_levels(value)
        return lambda _, question: levels
    if not isinstance(value.value, dict):
        raise value.error("this is not a scale", allowed='["1", "0", "-1"], or {"TS": ["1", "0", "-1"], …} by question')
    scales = {question: _read_levels(value[question]) for question in value.keys()}  # noqa: SIM118

    def levels_of(asked: JsonValue, question: str) -> tuple[str, ...]:
        if question not in scales:
            said = f"quality_scale has no levels of the question {question!r}"
            raise asked[question].error(said, allowed=", ".join(scales))
        return scales[question]

    return levels_of


def _read_compact(
    value: JsonValue,
    types: Mapping[str, tuple[str, ...]],
    levels_of: Callable[[JsonValue, str], tuple[str, ...]],
) -> AnnotatedDialogue:
    value.refuse_misspelt_keys(("id", "turns", "quality"))
    turns = value["turns"].elements()
    for turn in turns:
        turn.refuse_misspelt_keys(("sender", "n", "words", "utterances"))
    sides = tuple(turn["sender"].text(SIDES) for turn in turns)
    nuggets = tuple(_count_grades(turn["n"], types[side]) for turn, side in zip(turns, sides, strict=True))
    quality: dict[str, Row] = {}
    levels: dict[str, tuple[str, ...]] = {}
    if value.has_key("quality"):
        asked = value["quality"]
        levels = {_check_question(asked, key): levels_of(asked, key) for key in asked.keys()}  # noqa: SIM118
        quality = {key: _count_grades(asked[key], own) for key, own in levels.items()}
    return AnnotatedDialogue(value["id"].text(), sides, nuggets, quality, types, levels, read_blocks(value))


def _check_question(value: JsonValue, name: str) -> str:
    if not name or not name.isprintable() or re.search(r"[(),=\s]", name) or name == "nugget":
        raise value.error(
            f"{name[:40]!r} cannot be the name of a question",
            allowed="a word without ( ) , = or white space, and not 'nugget'",
        )
    return name


def _count_grades(value: JsonValue, names: tuple[str, ...]) -> Row:
    counts = [element.index() for element in value.elements()]
    if len(counts) != len(names):
        raise value.error(
            f"the list has {pluralize(len(counts), 'count')} instead of {len(names)}", allowed=", ".join(names)
        )
    return _read_shares(value, counts)


def _read_shares(value: JsonValue, counts: Sequence[int]) -> Row:
    if not sum(counts):
        raise value.error("nobody annotated this part", advice="leave it out")
    return tuple(count / sum(counts) for count in counts)


def _read_official(value: JsonValue) -> AnnotatedDialogue:
    types = {"customer": CUSTOMER_TYPES, "helpdesk": HELPDESK_TYPES}
    sides = tuple(turn["sender"].text(SIDES) for turn in value["turns"].elements())
    blocks: list[list[int]] = [[0] * len(types[side]) for side in sides]
    quality: dict[str, list[int]] = {}
    annotations = value["annotations"].elements()
    for annotation in annotations:
        said = annotation["nugget"].elements()
        _check_block_count(annotation["nugget"], len(said), len(sides))
        for block, side, entry in zip(blocks, sides, said, strict=True):
            block[types[side].index(entry.text(types[side]))] += 1
        for question in annotation["quality"].keys():  # noqa: SIM118
            entry = annotation["quality"][question]
            levels = _THREE_LEVELS.get(question, LEVELS)
            level = str(entry.value)
            if isinstance(entry.value, bool) or not isinstance(entry.value, int):
                level = entry.text(levels)
            elif level not in levels:
                raise entry.error(f"{level[:40]} is not a level", allowed=", ".join(levels))
            quality.setdefault(_check_question(entry, question), [0] * len(levels))[levels.index(level)] += 1
    nuggets = tuple(_read_shares(value["annotations"], block) for block in blocks)
    rows = {question: _read_shares(value["annotations"], counts) for question, counts in quality.items()}
    scales = {question: _THREE_LEVELS.get(question, LEVELS) for question in rows}
    return AnnotatedDialogue(value["id"].text(), sides, nuggets, rows, types, scales, read_blocks(value))


def _check_block_count(at: JsonValue, found: int, needed: int) -> None:
    if found != needed:
        raise at.error(
            f"the list has {pluralize(found, 'block')}, but the dialogue has {needed}",
            allowed="one entry for each turn, in order",
        )


def _read_submission(
    name: str, claims: Sequence[JsonValue], gold: Mapping[str, AnnotatedDialogue]
) -> tuple[HelpdeskSubmission, int]:
    nuggets, quality = (any(claim.has_key(part) for claim in claims) for part in ("nugget", "quality"))
    estimates: dict[str, Estimate] = {}
    seen: set[str] = set()
    for claim in claims:
        dialogue = claim["id"].text()
        if dialogue in seen:
            raise claim["id"].error(f"dialogue {dialogue!r} is predicted twice", advice="keep one of them")
        seen.add(dialogue)
        if dialogue in gold:
            known, blocks, ratings = gold[dialogue], None, None
            if nuggets:
                given = claim["nugget"].elements()
                _check_block_count(claim["nugget"], len(given), len(known.sides))
                sides = zip(given, known.sides, strict=True)
                blocks = tuple(_read_distribution(block, known.types[side]) for block, side in sides)
            if quality:
                ratings = {key: _read_distribution(claim["quality"][key], known.levels[key]) for key in known.quality}
            estimates[dialogue] = Estimate(blocks, ratings)
    missing = [dialogue for dialogue in gold if dialogue not in estimates]
    if missing:
        raise InputError(
            f"submission {name!r} predicts {len(estimates)} of {len(gold)} annotated dialogues; the first "
            f"missing dialogue is {missing[0]!r}",
            advice="predict every annotated dialogue, or give fewer annotations",
        )
    return HelpdeskSubmission(name, estimates, nuggets, quality), len(seen) - len(estimates)


def _read_distribution(value: JsonValue, names: tuple[str, ...]) -> Row:
    unknown = [key for key in value.keys() if key not in names]  # noqa: SIM118
    if unknown:
        raise value[unknown[0]].error(f"{unknown[0]!r} is not a known name", allowed=", ".join(names))
    row = tuple(value[name].weight() for name in names)
    if 1 < sum(row) < math.inf and all(share.is_integer() for share in map(float, row)):
        return tuple(count / sum(row) for count in row)
    if not abs(sum(row) - 1) <= _TOLERANCE:
        raise value.error(
            f"the probabilities sum to {sum(row):.9g}, not to 1",
            allowed="a sum of 1 (within 0.000001), or whole numbers of annotators",
            advice="write more digits, or divide by the sum",
        )
    return row
