"""The places from which a system is asked, as an audit declares them. Nothing is looked up, and nothing is guessed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from topics.document import StrictModel
from topics.yaml_values import Loc


class PlaceEntry(StrictModel):
    """A place as written in the design. `country`, `region` and `network` are labels. `options` change the driver's
    options of every system there, and `systems` those of single systems, by name."""

    country: str = ""
    region: str = ""
    network: str = ""
    options: dict[str, Any] = Field(default_factory=dict)
    systems: dict[str, dict[str, Any]] = Field(default_factory=dict)

    def vantage(self, name: str) -> "Vantage":
        about = {key: text for key in ("country", "region", "network") if (text := getattr(self, key).strip())}
        return Vantage(name, about, self.options, self.systems)


@dataclass(frozen=True, slots=True)
class Vantage:
    """A place: its name, the audit's description of it (`about`), and the options of drivers that it changes."""

    name: str
    about: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    systems: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def options_of(self, system: str, own: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options with which a system is asked from this place; `own` has the options without a place."""
        return merge_options(merge_options(own, self.options), self.systems.get(system, {}))

    @property
    def loc(self) -> Loc:
        """The position of the place in the audit file."""
        return ("design", "places", self.name)

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, **self.about}


def merge_options(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with `changes` applied. In nested mappings, only the named keys are replaced."""
    found = dict(base)
    for key, value in changes.items():
        before = found.get(key)
        inside = isinstance(value, Mapping) and isinstance(before, Mapping)
        found[key] = merge_options(before, value) if inside and before is not None else value
    return found
