"""The fields of one line of a recording, checked as they are taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recordings.files.errors import RunError
from recordings.files.json_text import Json
from topics.errors import Place

# The default of a field that a line must have.
MISSING = object()

_MOST_SECONDS = 1e12  # 30,000 years: more is another unit, or damage


class LineFields:
    """The fields of one line. Every method raises RunError, with the place, for a value of another kind."""

    def __init__(self, values: Mapping[str, Json], place: Place) -> None:
        self.values, self.place = values, place

    def _take(self, key: str, kinds: tuple[type, ...], called: str, default: Any) -> Any:
        value = self.values.get(key, default)
        if value is MISSING:
            raise RunError(f"the event has no {key!r}", place=self.place)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise RunError(f"{key!r} is not {called}", place=self.place)
        return value

    def text(self, key: str, default: Any = "") -> str:
        return str(self._take(key, (str,), "text", default))

    def count(self, key: str, default: Any = 0, *, least: int = 0) -> int:
        value = int(self._take(key, (int,), "a whole number", default))
        if value < least:
            raise RunError(f"{key!r} is {value}, less than {least}", place=self.place)
        return value

    def absent(self, key: str) -> bool:
        return self.values.get(key) is None

    def flag(self, key: str) -> bool:
        return bool(self._take(key, (bool,), "true or false", False))

    def seconds(self, key: str) -> float | None:
        value = self._take(key, (int, float, type(None)), "a number or null", None)
        return None if value is None else self.finite(value, key)

    def finite(self, value: int | float, key: str) -> float:
        if not -_MOST_SECONDS < value < _MOST_SECONDS:  # JSON can write numbers that no float can hold
            raise RunError(f"{key!r} is not a number of seconds that can have passed", place=self.place)
        return float(value)

    def rows(self, key: str) -> list[Any]:
        return list(self._take(key, (list,), "a list", []))

    def objects(self, key: str) -> list[LineFields]:
        return [LineFields(object_of(value, self.place), self.place) for value in self.rows(key)]

    def sentences(self, key: str) -> tuple[str, ...]:
        value = self.rows(key)
        if not all(isinstance(item, str) for item in value):
            raise RunError(f"{key!r} holds something that is not text", place=self.place)
        return tuple(value)

    def texts(self, key: str) -> Mapping[str, str]:
        value: dict[str, str] = self._take(key, (dict,), "an object", {})
        if not all(isinstance(item, str) for item in value.values()):
            raise RunError(f"{key!r} holds something that is not text", place=self.place)
        return value

    def share(self, key: str) -> float | None:
        value = self._take(key, (int, float, type(None)), "a number or null", None)
        if value is not None and not 0 <= value <= 1:
            raise RunError(f"{key!r} is {value}, and not a probability", place=self.place, allowed="0 to 1")
        return None if value is None else float(value)

    def inner(self, key: str) -> LineFields:
        return LineFields(self._take(key, (dict,), "an object", {}), self.place)

    def counts(self, key: str) -> Mapping[str, int]:
        value: dict[str, int] = self._take(key, (dict,), "an object", {})
        if not all(isinstance(item, int) and not isinstance(item, bool) for item in value.values()):
            raise RunError(f"{key!r} holds something that is not a whole number", place=self.place)
        return value


def object_of(value: Json, place: Place) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise RunError("a list holds something that is not an object", place=place)
    return value
