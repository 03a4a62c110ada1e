"""How answers got from a system into a run: what Harvest itself, its site files and settings have a part in.

Two runs of one assistant can differ because the assistant does, or because it was read in another way. Recordings know
the versions of Harvest that read pages, whether pages were read again later, hashes of the files that a system names
(a site file, a program), the settings that an audit left to its driver, and the versions of the rules that gave labels.
A version says no more than its number: that it is the same is no proof that pages were read alike, and that it is
another none that they were not. `harvest reread` shows it, for pages that were kept.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harvest.studies.runs.changed_values import by_value, changes_between, in_words
from harvest.studies.runs.contrast import Contrast
from harvest.studies.runs.recorded_audit import recorded_audit
from recordings.files.json_text import Json
from recordings.log.provenance import DISTRIBUTION
from recordings.log.run_folder import Run, harvest_versions

_PAGES = "browser"  # the driver whose answers are read off pages; the others hand on what a system says
_UNKNOWN = "an unknown version"
_RULE = re.compile(r"(?<![^\s()/])(?P<kind>[^\s()/]+)/[^\s()]+")  # `urls/1`, also within `any(empty/1 refusal/1)`


@dataclass(frozen=True, slots=True)
class Reading:
    """versions: of Harvest, that recorded the run. again: the version that read its pages again, "" for none. only: the
    one system whose pages were, "" for all.
    """

    versions: tuple[str, ...]
    again: str = ""
    only: str = ""

    def as_json(self) -> dict[str, Json]:
        return {
            "recorded_with": list(self.versions),
            "read_again_with": self.again or None,
            "read_again": self.only or None,
        }

    def mixed(self, system: str) -> bool:
        """Whether some pages of `system` were read by one version, and some by another."""
        return len(self.versions) > 1 and not self._again(system)

    def _again(self, system: str) -> bool:
        return bool(self.again) and self.only in ("", system)

    def said(self, system: str) -> str:
        """By what the pages of `system` were read."""
        if self._again(system):
            return f"again by Harvest {self.again}"
        return f"by Harvest {' and '.join(self.versions)}" if self.versions else f"by {_UNKNOWN}"


def reading_of(run: Run) -> Reading:
    """What is known of how the answers of `run` were read."""
    source = run.header.source
    if not isinstance(source, dict) or source.get("format") != "reread":
        return Reading(harvest_versions(run))
    software, only = source.get("software"), source.get("system")
    again = software.get(DISTRIBUTION, "") if isinstance(software, dict) else ""
    return Reading(harvest_versions(run), str(again) or _UNKNOWN, only if isinstance(only, str) else "")


def reread_sentence(run: Run) -> str:
    """That figures of `run` rest on answers which were read again, and on which of their parts; "" where none did."""
    source = run.header.source
    if not isinstance(source, dict) or source.get("format") != "reread" or not source.get("changed"):
        return ""
    parts = source.get("parts")
    named = [f"{name} in {count}" for name, count in parts.items()] if isinstance(parts, dict) else []
    what = f" ({', '.join(named)})" if named else ""
    return (
        f"{run.path.name}: {source['changed']} of {source.get('read')} answers are others{what} since Harvest "
        f"{reading_of(run).again} read again what was kept of them, so figures can differ from those of the run as it "
        "was recorded."
    )


def reading_contrasts(named: Mapping[str, Run]) -> Iterator[Contrast]:
    """In what runs, by name, differ in how their answers were read and labelled; of a single run, where parts of it
    do."""
    readings = {name: reading_of(run) for name, run in named.items()}
    for system, runs in _systems_read(named).items():
        said: dict[str, Json] = {name: readings[name].said(system) for name in runs}
        if len(set(said.values())) > 1 or any(readings[name].mixed(system) for name in runs):
            yield Contrast(
                "reading",
                f"pages of {system} were read {by_value(said)}: one page may give another answer; `harvest reread` "
                "shows what today's reading changes",
                {name: readings[name].as_json() for name in runs},
            )
    if len(named) > 1:
        yield from _files(named)
        yield from _defaults(named)
    yield from _rules(named)


def _systems_read(named: Mapping[str, Run]) -> dict[str, list[str]]:
    """By system whose answers are read off pages, the runs that have it."""
    found: dict[str, list[str]] = {}
    for name, run in named.items():
        for system, definition in run.header.systems.items():
            if isinstance(definition, dict) and definition.get("driver") == _PAGES:
                found.setdefault(system, []).append(name)
    return found


def _files(named: Mapping[str, Run]) -> Iterator[Contrast]:
    """Files of another content under one name: a site file, a program, a certificate."""
    for system, values in _parts(named, "system_files").items():
        differing = [path for path, _ in _shared_changes(values)]
        if differing:
            what = "reading" if system in _systems_read(named) else "system"
            yield Contrast(what, f"system {system}: not the same content of {', '.join(differing)}", values)


def _defaults(named: Mapping[str, Run]) -> Iterator[Contrast]:
    """Settings that audits leave to a driver, where its own value has changed since."""
    for system, values in _parts(named, "system_defaults").items():
        changes = list(_shared_changes(values))
        if changes:
            what = "reading" if system in _systems_read(named) else "system"
            yield Contrast(what, f"system {system}, not set by the audit: {in_words(changes)}", values)


def _parts(named: Mapping[str, Run], key: str) -> dict[str, dict[str, Json]]:
    """By system, and then by run, what the audits of at least two runs say of it under `key`."""
    found: dict[str, dict[str, Json]] = {}
    for name, run in named.items():
        part = recorded_audit(run).get(key)
        for system, value in part.items() if isinstance(part, dict) else ():
            if isinstance(value, dict):
                found.setdefault(system, {})[name] = value
    return {system: values for system, values in found.items() if len(values) > 1}


def _shared_changes(values: Mapping[str, Json]) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """Changes of what all have: what one alone has was only not written down by the others."""
    every = [one for one in values.values() if isinstance(one, dict)]
    for key in every[0]:
        if all(key in one for one in every):
            yield from changes_between({name: one[key] for name, one in values.items() if isinstance(one, dict)}, key)


def _rules(named: Mapping[str, Run]) -> Iterator[Contrast]:
    """Versions of a kind of rule: they are raised whenever one answer could get another label."""
    versions: dict[str, dict[str, list[str]]] = {}
    for name, run in named.items():
        own: dict[str, set[str]] = {}
        for said in {turn.route.version for one in run.finished for turn in one.turns if turn.route is not None}:
            for rule in _RULE.finditer(
                said
            ):  # a decision names every rule that was tried, and the parts of composed ones
                own.setdefault(rule["kind"], set()).add(rule[0])
        for kind, found in own.items():
            versions.setdefault(kind, {})[name] = sorted(found)
    for by_run in versions.values():
        if len({one for each in by_run.values() for one in each}) > 1:
            said = by_value({name: " and ".join(each) for name, each in by_run.items()})
            yield Contrast(
                "rules",
                f"answers were labelled by rules of other versions, {said}: one answer may have another label; "
                "`harvest replay-routes` shows today's",
                {**by_run},
            )
