"""Files that were damaged on the way: cut off, in another encoding, with other types, keys and depths."""

from __future__ import annotations

import json
import random
from typing import Any

_ODD_VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 3.5, 1e308, 10**30, "", "x", "\ud800", "\0", "9" * 500, [], {}, [[]], [None], {"": 1}),
    *([{"role": "user"}], {"role": 7, "content": {"type": "text"}}, "https://example.org/" * 50, "attachment://none"),
)
_BYTES = (b"\xff", b"\x00", b"\xfe\xff", b"{", b"]", b'"', b",", b"\\", b"\n", b"1e999", b"NaN", "é".encode("latin-1"))
_ENCODINGS = ("utf-16", "utf-8-sig", "utf-32", "cp037")


def mutated(data: bytes, seed: int) -> bytes:
    """Return the file damaged in one to three ways, drawn by `seed`."""
    rng = random.Random(seed)
    for _ in range(rng.randint(1, 3)):
        data = _mutate(data, rng)
    return data


def _mutate(data: bytes, rng: random.Random) -> bytes:
    kind = rng.randrange(7)
    at = rng.randrange(len(data) + 1)
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + rng.choice(_BYTES) + data[at:]
    if kind == 2:
        return data[:at] + data[at + rng.randrange(1, 30) :]
    if kind == 3 and rng.random() < 0.3:
        return data.decode("utf-8", "replace").encode(rng.choice(_ENCODINGS), "replace")
    return _mutate_values(data, rng)


def _mutate_values(data: bytes, rng: random.Random) -> bytes:
    """Change a value of the JSON in the file, or in one of its lines."""
    try:
        return json.dumps(_changed(json.loads(data), rng)).encode()
    except (ValueError, RecursionError):
        lines = data.split(b"\n")
        at = rng.randrange(len(lines))
        try:
            lines[at] = json.dumps(_changed(json.loads(lines[at]), rng)).encode()
        except (ValueError, RecursionError):
            lines.insert(rng.randrange(len(lines)), lines[at])
        return b"\n".join(lines)


def _changed(value: Any, rng: random.Random) -> Any:
    if isinstance(value, dict) and value:
        key = rng.choice(list(value))
        roll = rng.random()
        if roll < 0.15:
            return {name: one for name, one in value.items() if name != key}
        if roll < 0.2:
            return {name if name != key else f"{key}s": one for name, one in value.items()}
        return {**value, key: _changed(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.85:
        at = rng.randrange(len(value))
        if rng.random() < 0.1:
            return [*value, value[at]]
        return [*value[:at], _changed(value[at], rng), *value[at + 1 :]]
    if rng.random() < 0.1:
        for _ in range(rng.choice((3, 300))):
            value = [value] if rng.random() < 0.5 else {"content": value}
        return value
    return rng.choice(_ODD_VALUES)
