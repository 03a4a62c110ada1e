"""Memories of users: immutable values, which are converted to JSON only when they are saved.

    @memory_kind("coin")
    @dataclass(frozen=True, slots=True)
    class CoinMemory: …

    text = json.dumps(encode_memory(memory))                 at any node of a conversation tree
    user.respond(decode_memory(json.loads(text)), …)         in another process, as often as you like

Nothing is converted or copied from turn to turn, and unchanged parts are shared. A plug-in may use a mapping of plain
JSON values as a memory. The mapping is saved unchanged, and its values may be memories of a kind. Copies and pickles
of a memory are made by encoding and decoding.
"""

import json
import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from simulators.user import Observation, State
from topics.topic import Topic

M = TypeVar("M")

# The key in JSON that names the kind of a memory. No field of a dataclass can be called that.
_KIND = "harvest-memory"

_KINDS: dict[str, type] = {}
_NAMES: dict[type, str] = {}
_PLAIN = (str, int, float, bool, NoneType)


def memory_kind(name: str) -> Callable[[type[M]], type[M]]:
    """Register a frozen dataclass as a kind of memory. `name` identifies the kind in JSON and must be unique.

    A field is a str, int, float, bool, None or Literal, a tuple or a Mapping from str of these, a frozen dataclass,
    or `State`, the memory of another user. Raises TypeError for any other type, because its values might be mutable
    or impossible to save.
    """

    def register(kind: type[M]) -> type[M]:
        other = _KINDS.get(name)
        if other and (other.__module__, other.__qualname__) != (kind.__module__, kind.__qualname__):
            raise TypeError(f"the memory kind {name!r} is already registered")
        _check_type(kind, frozenset())
        _KINDS[name], _NAMES[kind] = kind, name
        kind.__reduce__ = lambda self: (decode_memory, (encode_memory(self),))  # type: ignore[method-assign]
        return kind

    return register


def is_memory_type(value: object) -> bool:
    """Return whether users may have a memory of this type. The content of a mapping is not checked."""
    return type(value) in _NAMES or isinstance(value, Mapping)


def recall(state: State, kind: type[M]) -> M:
    """Return the memory if its kind is the user's kind, and raise ValueError otherwise."""
    if isinstance(state, kind):
        return state
    name = _NAMES[kind]
    raise ValueError(f"the value is not a memory of {'an' if name[0] in 'aeiou' else 'a'} {name} user")


def check_order(observation: Observation | None, *, opened: bool, over: bool) -> None:
    """Raise ValueError for a missing or unexpected answer, and for a call after the user has left."""
    if over:
        raise ValueError("the conversation is over")
    if (observation is None) == opened:
        raise ValueError("an answer is needed to continue" if opened else "the conversation has not begun")


def topic_for_user(topic: Topic) -> Topic:
    """Return the immutable topic for a memory. The groups of entities are left out, because only scoring needs them."""
    if not topic.type.attributes and isinstance(topic.fields, MappingProxyType):
        return topic
    return replace(topic, type=replace(topic.type, attributes=()), fields=MappingProxyType(dict(topic.fields)))


def encode_memory(memory: State) -> dict[str, object]:
    """Return the memory as JSON values. Raises TypeError, which names the part that is mutable or cannot be saved."""
    name = _NAMES.get(type(memory))
    if name is not None:
        return {_KIND: name, **_encode_record(type(memory), memory, name)}
    if not isinstance(memory, Mapping):
        raise TypeError(f"{type(memory).__name__} is not a memory: a memory must be of a memory_kind, or a mapping")
    found: dict[str, object] = json.loads(json_text(memory))
    return found


def decode_memory(value: object) -> State:
    """Return the memory from a result of `encode_memory`. Raises ValueError for any other value."""
    if not isinstance(value, dict):
        raise ValueError("the value is not a saved memory")
    return _decoded_plain(value)


def json_text(memory: Mapping[str, object]) -> str:
    """Return a mapping as JSON. Raises TypeError or ValueError for parts that are neither JSON values nor memories."""
    return json.dumps(memory, allow_nan=False, default=_encode_nested)


def _encode_nested(value: object) -> dict[str, object]:
    if type(value) in _NAMES:
        return encode_memory(value)
    raise TypeError(f"{type(value).__name__} is neither a JSON value nor of a memory_kind")


def _decoded_plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_decoded_plain(one) for one in value]
    if not isinstance(value, dict):
        return value
    name = value.get(_KIND)
    if name is None:
        return {key: _decoded_plain(one) for key, one in value.items()}
    if not isinstance(name, str) or name not in _KINDS:
        raise ValueError(f"no loaded user has memories of the kind {name!r}; build the user first")
    return _decode(_form(_KINDS[name]), {key: one for key, one in value.items() if key != _KIND}, name)


@cache
def _fields(kind: Hashable) -> Mapping[str, Any]:
    hints = get_type_hints(kind)
    return {part.name: hints[part.name] for part in fields(kind)}  # type: ignore[arg-type]


def _check_type(kind: Any, within: frozenset[type]) -> None:
    if kind is Any or kind in _PLAIN or kind in within or get_origin(kind) is Literal:
        return
    if isinstance(kind, type) and is_dataclass(kind):
        if not kind.__dataclass_params__.frozen:  # type: ignore[attr-defined]
            raise TypeError(f"{kind.__name__} must be a frozen dataclass")
        for name, part in _fields(kind).items():
            try:
                _check_type(part, within | {kind})
            except TypeError as fault:
                raise TypeError(f"{kind.__name__}.{name}: {fault}") from None
        return
    if get_origin(kind) not in (tuple, Mapping, Union, UnionType):
        raise TypeError(f"{kind} is not a part of a memory")
    for part in get_args(kind):
        if part is not ...:
            _check_type(part, within)


class _Form(NamedTuple):
    """A declared type, analysed once: the kind (without None), and the origin and parts (without `...`) of a generic
    type."""

    kind: Any
    optional: bool
    origin: Any
    parts: "tuple[_Form, ...]"
    any_length: bool
    is_record: bool


@cache
def _form(kind: Hashable) -> _Form:
    optional = get_origin(kind) in (Union, UnionType)
    if optional:
        (kind,) = (part for part in get_args(kind) if part is not NoneType)
    origin = get_origin(kind)
    args = () if origin is Literal else get_args(kind)
    parts = tuple(_form(part) for part in args if part is not ...)
    return _Form(kind, optional, origin, parts, ... in args, isinstance(kind, type) and is_dataclass(kind))


_TEXT = _form(str)


@cache
def _field_forms(kind: Hashable) -> Mapping[str, _Form]:
    return {name: _form(part) for name, part in _fields(kind).items()}


def _encode(form: _Form, value: Any, where: str) -> object:
    if value is None and form.optional:
        return None
    if form.kind is Any:
        return encode_memory(value)
    if form.origin is tuple and type(value) is tuple:
        return [_encode(part, one, where) for part, one in _typed_values(form, value, where)]
    if form.origin is Mapping and isinstance(value, MappingProxyType):
        of = form.parts[1]
        return {_check_plain(_TEXT, key, where): _encode(of, one, f"{where}.{key}") for key, one in value.items()}
    if form.is_record and type(value) is form.kind:
        return _encode_record(form.kind, value, where)
    return _check_plain(form, value, where)


def _encode_record(kind: Any, value: object, where: str) -> dict[str, object]:
    forms = _field_forms(kind).items()
    return {name: _encode(form, getattr(value, name), f"{where}.{name}") for name, form in forms}


def _decode(form: _Form, value: Any, where: str) -> Any:
    if value is None and form.optional:
        return None
    if form.kind is Any:
        return decode_memory(value)
    try:
        if form.origin is tuple and isinstance(value, list):
            return tuple(_decode(part, one, where) for part, one in _typed_values(form, value, where))
        if form.origin is Mapping and isinstance(value, dict):
            of = form.parts[1]
            return MappingProxyType(
                {_check_plain(_TEXT, key, where): _decode(of, one, where) for key, one in value.items()}
            )
        if form.is_record and isinstance(value, dict):
            parts = _field_forms(form.kind)
            if set(value) != set(parts):
                raise TypeError(f"{where} has {', '.join(sorted(value)) or 'nothing'} instead of {', '.join(parts)}")
            return form.kind(**{name: _decode(part, value[name], f"{where}.{name}") for name, part in parts.items()})
        return _check_plain(form, value, where)
    except TypeError as fault:
        raise ValueError(f"the value is not a saved memory: {fault}") from None


def _typed_values(form: _Form, values: tuple[Any, ...] | list[Any], where: str) -> Iterator[tuple[_Form, Any]]:
    if form.any_length:
        return ((form.parts[0], one) for one in values)
    if len(form.parts) != len(values):
        raise TypeError(f"{where} has {len(values)} parts instead of {len(form.parts)}")
    return zip(form.parts, values)


def _check_plain(form: _Form, value: M, where: str) -> M:
    kind = form.kind
    if form.origin is Literal:
        fits = value in get_args(kind)
    elif kind is float:
        fits = type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]
    else:
        fits = kind in _PLAIN and type(value) is kind
    if not fits:
        raise TypeError(f"{where} is {ascii(value)[:80]}, not {getattr(kind, '__name__', kind)}")
    return value
