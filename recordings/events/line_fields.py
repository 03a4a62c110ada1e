"""Event lines read field by field, as declared in `recordings.events.typed_lines`.

This handles lines that the fast readers reject: it finds which field is wrong, and accepts what they cannot read, such
as lone surrogates.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

from msgspec import Struct, inspect

from protocols.answer import PARTS, Answer
from protocols.choice import Choice
from recordings.events.typed_lines import ChoiceLine, TurnLine
from recordings.files.errors import RunError
from recordings.files.json_text import Json
from topics.errors import Place
from topics.links import Link

_Row = TypeVar("_Row", bound=Struct)

# By the type of a field: what JSON may have there, and what that is called.
_KINDS: Mapping[type[inspect.Type], tuple[Any, str]] = {
    inspect.StrType: ((str,), "text"),
    inspect.BoolType: ((bool,), "true or false"),
    inspect.IntType: ((int,), "a whole number"),
    inspect.FloatType: ((int, float), "a number or null"),
    inspect.DictType: ((dict,), "an object"),
    inspect.StructType: ((dict,), "an object"),
    inspect.DataclassType: ((dict,), "an object"),
    inspect.VarTupleType: ((list,), "a list"),
}
_PAIRS = {"pieces": "[seconds, characters]", "noise": "[units, units changed]"}


def read_as(form: type[_Row], values: Mapping[str, Json], place: Place) -> _Row:
    """Return the JSON object `values` as a struct of the type `form`; undeclared keys are ignored. Raises RunError,
    with the place, for a field that is missing or of another type."""
    found = {}
    for field in _fields(form):
        if field.name in values:
            found[field.name] = _check_value(values[field.name], field.type, field.name, place)
        elif field.required:
            raise RunError(f"the event has no {field.name!r}", place=place)
    return form(**found)


@cache
def _fields(form: type[Struct]) -> tuple[inspect.Field, ...]:
    declared = inspect.type_info(form)
    assert isinstance(declared, inspect.StructType)
    return declared.fields


def _check_value(value: Any, kind: inspect.Type, key: str, place: Place, verb: str = "is") -> Any:
    """verb: "is" for the value of `key`, or "holds something that is" for an item in it."""
    if isinstance(kind, inspect.UnionType):  # with null, each of them
        if value is None:
            return None
        kind = next(one for one in kind.types if not isinstance(one, inspect.NoneType))
    if isinstance(kind, inspect.TupleType):
        kinds = kind.item_types
        whole = isinstance(value, list) and len(value) == len(kinds)
        if not whole or not all(isinstance(one, _KINDS[type(of)][0]) for one, of in zip(value, kinds)):
            raise RunError(f"{key!r} holds something that is not {_PAIRS[key]}", place=place)
        return tuple(_check_value(one, of, key, place) for one, of in zip(value, kinds))
    allowed, called = _KINDS[type(kind)]
    if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
        raise RunError(f"{key!r} {verb} not {called}", place=place)
    match kind:
        case inspect.IntType(ge=least) if least is not None and value < least:
            raise RunError(f"{key!r} is {value}, less than {least}", place=place)
        case inspect.FloatType(gt=low, lt=high) if low is not None and high is not None:
            if not low < value < high:  # JSON can write numbers that no float can hold
                raise RunError(f"{key!r} is not a valid number of seconds", place=place)
            return float(value)
        case inspect.FloatType():
            if not 0 <= value <= 1:
                raise RunError(f"{key!r} is {value}, not a probability", place=place, allowed="0 to 1")
            return float(value)
        case inspect.DictType(value_type=inspect.FloatType() as of):
            # Probabilities, by what they are of; null has always been read as 0.
            return {name: 0.0 if item is None else _check_value(item, of, name, place) for name, item in value.items()}
        case inspect.DictType(value_type=of):
            return {name: _check_value(item, of, key, place, "holds something that is") for name, item in value.items()}
        case inspect.VarTupleType(item_type=of):
            return tuple(_check_value(item, of, key, place, "holds something that is") for item in value)
        case inspect.StructType(cls=form):
            return read_as(form, value, place)
        case inspect.DataclassType():  # the only one is a link
            if "href" not in value:
                raise RunError("the event has no 'href'", place=place)
            return Link(
                *(_check_value(value.get(name, ""), inspect.StrType(), name, place) for name in ("text", "href"))
            )
    return value


def choice_from(row: Mapping[str, Json], place: Place) -> Choice:
    """Return the choice that `choice_row` wrote. Raises RunError with the place."""
    return read_as(ChoiceLine, row, place).choice()


def with_parts(answer: Answer, row: Mapping[str, Json], place: Place) -> Answer:
    """Return `answer` with the parts that `parts_row` wrote. Raises RunError with the place."""
    parts = {key: row[key] for key in PARTS if key in row}
    turn = read_as(TurnLine, {"id": "", "attempt": 1, "turn": 1, "text": answer.text, **parts}, place)
    return replace(turn.answer(), links=answer.links, links_left_out=answer.links_left_out)
