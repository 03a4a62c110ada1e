"""What one scoring setting may be. The section `scoring` of audits and the options of commands are made from it."""

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar, cast

from topics.errors import InputError
from topics.suggestions import did_you_mean

_T = TypeVar("_T")
_DECLARED = "setting"
_GRADE = re.compile(r"L?([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class Choice:
    """One of `words`. earlier: words of older audits and runs, by the word they stand for today."""

    words: tuple[str, ...]
    earlier: Mapping[str, str] = field(default_factory=dict)

    def accept(self, name: str, value: Any) -> str:
        """The word as it is called today. Raises InputError for another one."""
        found = self.earlier.get(value, value) if isinstance(value, str) else value
        if found not in self.words:
            close = did_you_mean(value, self.words) if isinstance(value, str) else ""
            raise _refusal(name, value, ", ".join(self.words), close)
        return str(found)

    def as_json(self, value: Any) -> object:
        return value


@dataclass(frozen=True, slots=True)
class Number:
    """A number from `least` to `most`, both included. of: what it counts, for messages. example: for messages."""

    least: float
    most: float
    whole: bool = False
    of: str = ""
    example: str = ""

    def __str__(self) -> str:
        what = f"a whole number{f' of {self.of}' if self.of else ''}," if self.whole else "a number"
        example = f", for example {self.example}" if self.example else ""
        return f"{what} from {_number(self.least)} to {_number(self.most)}{example}"

    def accept(self, name: str, value: Any) -> Any:
        """The value as it is. Raises InputError for one that is not a number of this kind, NaN included."""
        if not self.holds(value):
            raise _refusal(name, value, str(self))
        return value

    def holds(self, value: object) -> bool:
        kind = int if self.whole else (int, float)
        return isinstance(value, kind) and not isinstance(value, bool) and self.least <= value <= self.most

    def as_json(self, value: Any) -> object:
        return value


@dataclass(frozen=True, slots=True)
class ByName:
    """A number for each name; a name that is not given has the measure's own default. of: what the names are of."""

    number: Number
    of: str

    def accept(self, name: str, value: Mapping[str, Any]) -> Mapping[str, Any]:
        """A copy that nobody can change. Raises InputError for a number that is out of range."""
        for key, number in value.items():
            if not self.number.holds(number):
                raise _refusal(name, f"{key}: {_shown(number)}", f"{self.number} for each {self.of}", quoted=False)
        return MappingProxyType(dict(value))

    def as_json(self, value: Mapping[str, Any]) -> object:
        return {key: value[key] for key in sorted(value)}


@dataclass(frozen=True, slots=True)
class ByGrade:
    """A number for each relevance grade, a whole number from 0 that may be written `L1`; grade 0 has 0."""

    number: Number
    of: str

    def accept(self, name: str, value: Mapping[Any, Any]) -> Mapping[int, float]:
        """By whole numbers, in a mapping that nobody can change. Raises InputError."""
        found: dict[int, float] = {0: 0.0}
        for written, number in value.items():
            read = _GRADE.fullmatch(written) if isinstance(written, str) else None
            grade = int(read[1]) if read else written
            if isinstance(grade, bool) or not isinstance(grade, int) or grade < 0 or not self.number.holds(number):
                bounds = f"{_number(self.number.least)} to {_number(self.number.most)}"
                allowed = f"whole grades from 0, each with a {self.of} from {bounds}"
                raise _refusal(name, f"{_shown(written)}: {_shown(number)}", allowed, quoted=False)
            found[grade] = number
        if found[0] != 0:
            raise _refusal(name, f"0: {found[0]}", f"grade 0 is not relevant, so its {self.of} is 0", quoted=False)
        return MappingProxyType(found)

    def as_json(self, value: Mapping[int, float]) -> object:
        return {str(grade): value[grade] for grade in sorted(value)}


Kind: TypeAlias = Choice | Number | ByName | ByGrade


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. name: in audits and from Python. help: a few words. metavar: what stands for its value; "": the kind
    says it.
    """

    name: str
    default: Any
    kind: Kind
    help: str
    metavar: str = ""

    @property
    def option(self) -> str:
        """How commands call it: `--turn-weight`; in the singular where it is given once for each name."""
        plural = isinstance(self.kind, (ByName, ByGrade))
        return f"--{(self.name.removesuffix('s') if plural else self.name).replace('_', '-')}"


def setting(default: _T, kind: Kind, help: str, *, metavar: str = "") -> _T:  # noqa: A002  # as click calls it
    """A field of a frozen dataclass of settings, with all there is to say of it."""
    about = {_DECLARED: (kind, help, metavar)}
    if isinstance(default, Mapping):
        return cast(_T, field(default_factory=lambda: default, metadata=about))
    return field(default=default, metadata=about)


def declared_settings(settings: type) -> Mapping[str, Setting]:
    """The settings that a dataclass declares, by name, in its order."""
    found = {}
    for one in dataclasses.fields(settings):
        kind, words, metavar = one.metadata[_DECLARED]
        default = one.default if one.default_factory is dataclasses.MISSING else one.default_factory()
        found[one.name] = Setting(one.name, default, kind, words, metavar)
    return MappingProxyType(found)


def _number(value: float) -> str:
    return f"{value:.0f}" if value == int(value) else f"{value:g}"


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) >= 10**20:  # Python refuses to write out the longest ones
        return "a number of more than 20 digits"
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _refusal(name: str, value: object, allowed: str, close: str = "", *, quoted: bool = True) -> InputError:
    shown = repr(value) if quoted and isinstance(value, str) else _shown(value)
    return InputError(f"scoring setting {name}: {shown} is not allowed{close}", allowed=allowed)
