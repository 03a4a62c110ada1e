"""The facets in which systems of several runs differ by design.

A facet (Brennan, Generalizability Theory, 2001) is the system, the arm (the wording, if arms reword), the kind of
session, or the run. Systems that agree in all facets but one form a group.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, fields, replace

from harvest.studies.runs.side_by_side import run_names
from harvest.studies.scores.gathered import Gathered
from recordings.files.json_text import Json


@dataclass(frozen=True, slots=True)
class Facets:
    """The facets of one system in a study. `system` is its name in the audit, without arm or kind of session. `arm`
    is "" if there are no arms, and `group` is "" if there are no groups of users. `session` is `fresh`, `continued`, or
    `continued up to N turns` if sessions are renewed. `run` is "" if each system was recorded in one run only."""

    system: str
    arm: str
    group: str
    session: str
    run: str


@dataclass(frozen=True, slots=True)
class Group:
    """Two or more systems that differ only in `facet`. `held` has the values of the remaining facets, as far as
    other groups of the same facet have other values, or is ""."""

    facet: str
    names: tuple[str, ...]
    held: str

    @property
    def several(self) -> str:
        """The name of the facet in the plural."""
        return "kinds of session" if self.facet == "session" else f"{self.facet}s"

    @property
    def title(self) -> str:
        """The printed title of the group."""
        together = f"{len(self.names)} {self.several} together"
        return f"{together}, {self.held}" if self.held else together


def system_facets(gathered: Gathered) -> dict[str, Facets]:
    """Return the facets of each system in the study, by the system's name."""
    found: dict[str, Facets] = {}
    runs = gathered.runs
    for run, names, place in zip(runs, gathered.names, run_names(runs), strict=True):
        definitions = {system: run.header.systems.get(system) for system in names}
        first: dict[str, str] = {}
        for system, definition in definitions.items():
            own = _text_at(definition, "system", system)
            one = Facets(
                system=first.setdefault(_identity(definition) or system, own),
                arm=_text_at(definition, "arm", ""),
                group=_text_at(definition, "group", ""),
                session=_session(definition),
                run=place,
            )
            # One definition under two names is two systems: the audit's author wants them apart.
            found[names[system]] = one if one not in found.values() else replace(one, system=own)
    if len({replace(one, run="") for one in found.values()}) == len(found):
        found = {name: replace(one, run="") for name, one in found.items()}
    return {name: found[name] for name in gathered.material.systems if name in found}


def facet_groups(facets: Mapping[str, Facets]) -> Iterator[Group]:
    """Yield the groups of systems that differ in one facet, facet by facet."""
    for position, facet in enumerate(field.name for field in fields(Facets)):
        alike: dict[tuple[str, ...], list[str]] = {}
        for name, one in facets.items():
            values = astuple(one)
            alike.setdefault((*values[:position], *values[position + 1 :]), []).append(name)
        several = {rest: names for rest, names in alike.items() if len(names) > 1}
        varying = [at for at, values in enumerate(zip(*several, strict=True)) if len(set(values)) > 1]
        for rest, names in several.items():
            yield Group(facet, tuple(names), ", ".join(rest[at] for at in varying))


def _identity(definition: Json) -> str:
    if not isinstance(definition, dict):
        return ""
    own = {key: value for key, value in definition.items() if key not in _NAMING_KEYS}
    return json.dumps(own, sort_keys=True)


_NAMING_KEYS = ("name", "system", "session", "session_turns", "arm", "changes", "group", "levels")


def _session(definition: Json) -> str:
    if _text_at(definition, "session", "") != "continued":
        return "fresh"
    turns = _text_at(definition, "session_turns", "")
    return f"continued up to {turns} turns" if turns else "continued"


def _text_at(definition: Json, key: str, default: str) -> str:
    return str(definition.get(key, default)) if isinstance(definition, dict) else default
