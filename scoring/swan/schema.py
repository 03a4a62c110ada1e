"""Schema files (`harvest-schema/1`), which declare the criteria for judging conversations."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from os import PathLike, fspath
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import Field

from scoring.swan.item import Item
from scoring.swan.rules.registry import parse_rule
from scoring.swan.rules.rule import Rule, SetRule
from scoring.swan.weighting import Uniform, Weighting, parse_weighting
from topics.counting import pluralize
from topics.document import Document, StrictModel, form_validator, parse_document, read_document
from topics.errors import InputError, suggestion
from topics.text_file import decode
from topics.topic import LANGUAGE_TAG
from topics.yaml_values import Loc

# What `scoring.notation` reads as one name, and the characters that it cannot have.
_WRITTEN_NAME = re.compile(r"[^\W\d][\w%-]*|%[\w%-]+")
_UNWRITTEN = re.compile(r"[^\w%-]")
_VALUE = re.compile(r"[^\W\d][\w%-]{0,39}\*?")
Level = Literal["nugget", "turn", "dialogue", "set"]
# Levels without a position in a conversation: each thing weighs 1.
PLACELESS = ("dialogue", "set")
JUDGES = ("human", "model")
_RESERVED_VALUES = ("unsure", "na", "all")
_MOST_VALUES = 9  # each has a key on the annotation page
# `--criterion all`; what judgments that are no scores are called
_RESERVED_NAMES = ("all", "extraction", "gold", "held", "nugget", "wanted")

# The conversations that a criterion needs, by the word in schema files.
SAMPLINGS: Mapping[str, str] = MappingProxyType(
    {
        "any": "any conversations",
        "multi-turn": "conversations of two system turns or more",
        "after-failure": "conversations in which the user was let down and went on",
        "attribute-sets": "topics whose entities have known groups and a target distribution",
        "rephrasings": "the same need asked in different ways, in one turn and in several",
        "user-groups": "the same need of different users and groups of users",
        "dates": "the same need before and after the world changed",
    }
)


_Text = Annotated[str, Field(min_length=1, max_length=400)]
_Language = Annotated[str, form_validator(LANGUAGE_TAG, "a language tag such as de, ja or pt-BR")]


class CriterionWords(StrictModel):
    """The question of a criterion, and the meaning of each of its values, in one language."""

    question: _Text
    values: dict[str, _Text] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Criterion:
    """One criterion, with its number from 0.

    - `level`: the thing scored: each `nugget`, each `turn` of the speaker, each `dialogue` as a whole, or the `set`
      of all conversations of a system on a topic.
    - `types`: the nugget types (`F`, `O`), or () for other levels.
    - `judges`: the kinds that may score the criterion (`human`, `model`), besides `rules` and, for sets, `set_rules`.
    - `weight`, `weighting`: CW and NW. Dialogues and sets have no position and weigh 1.
    - `speaker`: the side whose turns are scored; other levels score the system.
    - `values`: each value with its meaning if the criterion has unordered values instead of scores. Such a criterion
      is in no WAN, and the share of each value is computed.
    - `first_nugget`: True if the score of a system turn is the score of its first nugget in WAN ([SWAN] §3), and
      the turn's other nuggets score 0.
    - `translations`: the question and the meanings of values in other languages, by language tag (`de`, `pt-BR`).
    """

    number: int
    name: str
    question: str
    level: Level
    types: tuple[str, ...]
    sampling: str
    judges: tuple[str, ...]
    rules: tuple[Rule, ...]
    weight: float = 1.0
    weighting: Weighting = Uniform()  # noqa: RUF009  a frozen value without fields
    set_rules: tuple[SetRule, ...] = ()
    speaker: Literal["system", "user"] = "system"
    values: tuple[tuple[str, str], ...] = ()
    first_nugget: bool = False
    translations: tuple[tuple[str, CriterionWords], ...] = field(default=(), hash=False)

    @property
    def written_name(self) -> str:
        """The name as measures such as WAN(Fair_exposure) write it, see `write_name`."""
        return write_name(self.name)

    def applies_to(self, item: Item) -> bool:
        """Return whether the criterion scores items with this speaker and, for the level nugget, this type."""
        return item.speaker == self.speaker and (self.level != "nugget" or item.type in self.types)

    @property
    def value_names(self) -> tuple[str, ...]:
        """The possible values, or () if the criterion has scores."""
        return tuple(name for name, _ in self.values)

    def value_of(self, text: str) -> str | None:
        """Return the value that equals `text` except for case and surrounding white space, or None."""
        return next((name for name in self.value_names if name.casefold() == text.strip().casefold()), None)

    @property
    def reasons_without_score(self) -> tuple[str, ...]:
        """The reasons of the rules for giving no score: `label: the protocol gave the turn no label`."""
        of_items = [f"{rule}: {rule.silence}" for rule in self.rules]
        return (*of_items, *(f"{rule}: {rule.silence}" for rule in self.set_rules))

    def may_score(self, kind: str) -> bool:
        """Return whether a source of that kind may score the criterion."""
        return bool(self.rules or self.set_rules) if kind == "rule" else kind in self.judges


@dataclass(frozen=True, slots=True, repr=False)
class Schema:
    """The criteria by which SWAN judges a conversation, in the order of their file ([SWAN]: see docs/swan.md).
    `schema["Correctness"]` is one criterion; a number as a string works too. `about` is one sentence about the
    schema. `scale` has the scores that people can give unless others are asked for, or is ()."""

    name: str
    criteria: tuple[Criterion, ...]
    about: str = ""
    scale: tuple[float, ...] = ()

    def __getitem__(self, name: str) -> Criterion:
        """Return the criterion of that name, written name or number. Raises InputError with the nearest name."""
        numbered = {str(one.number): one for one in self.criteria}
        if name.strip() in numbered:
            return numbered[name.strip()]
        folded = {_fold_name(one.name): one for one in self.criteria}
        if _fold_name(name) in folded:
            return folded[_fold_name(name)]
        hint = suggestion(name, (one.name for one in self.criteria))
        raise InputError(
            f"the schema {self.name!r} has no criterion called {name!r}{hint}",
            allowed=", ".join(one.name for one in self.criteria),
            advice="a criterion of another schema needs its schema, as in --schema news",
        )

    def __iter__(self) -> Iterator[Criterion]:
        return iter(self.criteria)

    def __repr__(self) -> str:
        return f"<Schema {self.name}: {pluralize(len(self.criteria), 'criterion', 'criteria')}>"

    @property
    def weights(self) -> dict[str, float]:
        """The weight CW of each criterion, by name."""
        return {one.name: one.weight for one in self.criteria}


SCALES = "2 to 9 numbers from 0 to 1 in ascending order, as in 0,0.5,1"


def is_scale(scores: Sequence[float]) -> bool:
    """Return True if people can be asked for these scores."""
    return 2 <= len(scores) <= 9 and list(scores) == sorted(set(scores)) and 0 <= scores[0] < scores[-1] <= 1


def write_name(name: str) -> str:
    """Return a criterion's name as measures write it: `_` replaces every character but letters, digits, `_`, `-` and
    `%`, and comes before a digit or `-` at the beginning. `Safety/Harm` is written Safety_Harm, `3D view` _3D_view."""
    written = _UNWRITTEN.sub("_", unicodedata.normalize("NFC", name.strip()))
    return written if _WRITTEN_NAME.fullmatch(written) else f"_{written}"


def _fold_name(name: str) -> str:
    return write_name(name).casefold()


class _CriterionFile(StrictModel):
    number: int = Field(ge=0, le=9999)
    name: str = Field(min_length=1, max_length=80)
    question: str = ""
    level: Level
    nuggets: Literal["F", "O", "both"] | None = None
    sampling: str = "any"
    scorers: tuple[str, ...]
    weight: float = Field(default=1.0, ge=0, le=1e6)
    weighting: str = Field(default="uniform", max_length=200)
    speaker: Literal["system", "user"] = "system"
    values: dict[str, str] | None = None
    translations: dict[_Language, CriterionWords] = Field(default_factory=dict)


class _SchemaFile(StrictModel):
    format: Literal["harvest-schema/1"]
    name: str = Field(min_length=1, max_length=80)
    about: str = ""
    scale: tuple[float, ...] | None = None
    criteria: tuple[_CriterionFile, ...]


def read_schema(document: Document) -> Schema:
    """Return the schema in `document`. Raises InputError, with line and column, for any fault."""
    file = document.validate_as(_SchemaFile)
    if not file.criteria:
        raise document.error(("criteria",), "criteria: the list is empty")
    if file.scale is not None and not is_scale(file.scale):
        raise document.error(("scale",), "scale: this is not a scale", allowed=SCALES)
    seen: dict[tuple[str, str | int], int] = {}
    for i, one in enumerate(file.criteria):
        for key, value in (("name", _fold_name(one.name)), ("number", one.number)):
            first = seen.setdefault((key, value), i)
            if first != i:
                same = f"criterion {first + 1} of the file has the same {key}"
                if key == "name" and file.criteria[first].name != one.name:
                    same += f", since measures write both as {write_name(file.criteria[first].name)}, in any case"
                raise document.error(("criteria", i, key), f"{key}: {same}")
        loc = ("criteria", i, "name")
        if one.name != one.name.strip() or one.name.isdecimal():
            raise document.error(loc, "name: the name is a number or has white space around it")
        if one.name.casefold() in _RESERVED_NAMES:
            raise document.error(
                loc, f"name: {one.name!r} has another meaning in judgments", advice="choose another name"
            )
        if not one.name.isprintable() or not any(map(str.isalnum, one.name)):
            raise document.error(
                loc,
                "name: the name cannot be written on one line in measures such as WAN(Correctness)",
                allowed="a letter or digit, and any other characters except line ends",
            )
    return Schema(
        file.name,
        tuple(_build_criterion(document, ("criteria", i), one) for i, one in enumerate(file.criteria)),
        file.about,
        file.scale or (),
    )


def _build_criterion(document: Document, loc: Loc, one: _CriterionFile) -> Criterion:
    if (one.level == "nugget") != (one.nuggets is not None):
        where = (*loc, "nuggets") if one.nuggets is not None else (*loc, "level")
        raise document.error(
            where,
            "nuggets: this key is required for the level nugget and not allowed for other levels",
            allowed="nuggets: F, O or both",
        )
    if one.sampling not in SAMPLINGS:
        raise document.error(
            (*loc, "sampling"), f"sampling: {one.sampling!r} is not a known sampling", allowed=", ".join(SAMPLINGS)
        )
    try:
        weighting = parse_weighting(one.weighting)
    except ValueError as fault:
        raise document.error((*loc, "weighting"), str(fault)) from None
    if one.level in PLACELESS and weighting != Uniform():
        what = "a set of conversations" if one.level == "set" else "a whole conversation"
        raise document.error((*loc, "weighting"), f"{what} has no position", allowed="uniform")
    if not one.scorers:
        raise document.error((*loc, "scorers"), "scorers: the list is empty", allowed=f"{', '.join(JUDGES)}, or a rule")
    judges: list[str] = []
    rules: list[Rule] = []
    set_rules: list[SetRule] = []
    for i, scorer in enumerate(one.scorers):
        if scorer in one.scorers[:i]:
            raise document.error((*loc, "scorers", i), f"scorers: {scorer!r} appears twice", advice="keep one of them")
        if scorer in JUDGES:
            judges.append(scorer)
            continue
        try:
            rule = parse_rule(scorer)
        except ValueError as fault:
            raise document.error(
                (*loc, "scorers", i), f"scorers: {fault}", allowed=f"{', '.join(JUDGES)}, or a rule"
            ) from None
        if rule.level != one.level:
            raise document.error(
                (*loc, "scorers", i),
                f"the rule {rule} has the level {rule.level}, but the criterion has the level {one.level}",
            )
        if isinstance(rule, SetRule):
            set_rules.append(rule)
        else:
            rules.append(rule)
    _check_values(document, loc, one)
    _check_translations(document, loc, one)
    types = {"F": ("F",), "O": ("O",), "both": ("F", "O"), None: ()}[one.nuggets]
    return Criterion(
        number=one.number,
        name=one.name,
        question=one.question,
        level=one.level,
        types=types,
        sampling=one.sampling,
        judges=tuple(judges),
        rules=tuple(rules),
        weight=one.weight,
        weighting=weighting,
        set_rules=tuple(set_rules),
        speaker=one.speaker,
        values=tuple((one.values or {}).items()),
        translations=tuple(one.translations.items()),
    )


def _check_values(document: Document, loc: Loc, one: _CriterionFile) -> None:
    """Check criteria with values and criteria of user turns. Only people may judge them, because rules and prompts
    support neither."""
    people_alone = [
        name for name, used in (("values", one.values is not None), ("speaker", one.speaker == "user")) if used
    ]
    if one.speaker == "user" and one.level != "turn":
        raise document.error(
            (*loc, "speaker"), "speaker: a criterion of user turns must have the level turn", allowed="level: turn"
        )
    if people_alone and tuple(one.scorers) != ("human",):
        raise document.error(
            (*loc, "scorers"), f"scorers: only people can judge a criterion with {people_alone[0]}", allowed="[human]"
        )
    if one.values is None:
        return
    if one.level == "set":
        raise document.error(
            (*loc, "values"), "values: a set of conversations can have only a score", allowed="another level"
        )
    for key, usual in (("weight", 1.0), ("weighting", "uniform")):
        if getattr(one, key) != usual:
            raise document.error(
                (*loc, key), f"{key}: a criterion with values cannot have this key", advice="leave it out"
            )
    names = [name.casefold() for name in one.values]
    if not 2 <= len(names) <= _MOST_VALUES:
        raise document.error((*loc, "values"), f"values: there are {len(names)} values", allowed=f"2 to {_MOST_VALUES}")
    if len(set(names)) < len(names):
        raise document.error(
            (*loc, "values"),
            "values: two values must not differ only in capitals",
            advice="give one of them another name",
        )
    for name in one.values:
        if not _VALUE.fullmatch(name) or name.casefold() in _RESERVED_VALUES:
            raise document.error(
                (*loc, "values", name),
                f"values: {name[:40]!r} cannot be the name of a value",
                allowed="a letter, then letters, digits, _, - or %, with an optional * at the end; not unsure, na, all",
            )


def _check_translations(document: Document, loc: Loc, one: _CriterionFile) -> None:
    known = one.values or {}
    for language, words in one.translations.items():
        for value in words.values:
            if value not in known:
                raise document.error(
                    (*loc, "translations", language, "values", value),
                    f"{value} is not a value of {one.name}",
                    allowed=", ".join(known) or "no value: the criterion has scores",
                    key=True,
                )


_EXTENSION = ".yaml"


def shipped_schemas() -> tuple[str, ...]:
    names = (entry.name for entry in resources.files("scoring.swan").iterdir())
    return tuple(sorted(name.removesuffix(_EXTENSION) for name in names if name.endswith(_EXTENSION)))


def load_schema(name_or_path: str | PathLike[str] = "sakai-2023") -> Schema:
    """Load the criteria of SWAN from a schema that comes with Harvest, by name, or from your own file, by its path.
    Raises InputError for an unknown name, and, with file, line and column, for a file that is missing or wrong."""
    name = fspath(name_or_path)
    if name in shipped_schemas():
        return _read_shipped(name)
    if "/" in name or "\\" in name or "." in name or not isinstance(name_or_path, str):
        return read_schema(read_document(name_or_path))
    raise InputError(
        f"no schema called {name!r} comes with Harvest{suggestion(name, shipped_schemas())}",
        allowed=", ".join(shipped_schemas()),
        advice=f"for a file of your own, write its path with its ending: {name}{_EXTENSION}",
    )


@cache
def _read_shipped(name: str) -> Schema:
    place, file = f"scoring/swan/{name}{_EXTENSION}", resources.files("scoring.swan") / f"{name}{_EXTENSION}"
    return read_schema(parse_document(decode(file.read_bytes(), place, "YAML text"), place))
