"""Compare how runs got their answers from systems: which versions of Harvest, site files and settings they used.

Two runs of one assistant can differ because the assistant changed, or because its answers were read differently.
Recordings have the versions of Harvest that read pages, whether pages were read again later, hashes of the files
that a system names (a site file, a program), the settings that an audit left to its driver, and the versions of the
rules that gave labels. Equal versions do not prove that pages were read alike. Different versions do not prove that
pages were read differently; for stored pages, `harvest pages read-again` shows any differences.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from harvest.audits.scoring_section import Scoring, Threshold
from recordings.conversations.outlines import kinds
from recordings.files.json_text import Json
from recordings.log.header import DISTRIBUTION
from recordings.log.header_faults import placed_part
from recordings.log.run_folder import Run, harvest_versions
from topics.counting import pluralize
from topics.document import Document, StrictModel
from topics.errors import InputError
from topics.yaml_values import Loc


@dataclass(frozen=True, slots=True)
class Contrast:
    """A difference between runs, or within one run. `what` is `invalid`, `topics`, `topic`, `attributes`,
    `protocol`, `users`, `groups`, `trials`, `system`, `model`, `reading`, `rules`, `gold` or `judgments`. `said`
    is a printed sentence. `by_run` has the value in each run, by the run's name; for a difference within one
    run, there is a single entry."""

    what: str
    said: str
    by_run: Mapping[str, Json]

    def as_json(self) -> dict[str, Json]:
        return {"what": self.what, "said": self.said, "runs": dict(self.by_run)}


_PAGE_DRIVER = "browser"  # the driver that reads answers from pages; the others pass on the system's text
_UNKNOWN = "an unknown version"
_RULE_PATTERN = re.compile(
    r"(?<![^\s()/])(?P<kind>[^\s()/]+)/[^\s()]+"
)  # `urls/1`, also within `any(empty/1 refusal/1)`


@dataclass(frozen=True, slots=True)
class Reading:
    """How the answers of a run were read. `versions` are the versions of Harvest that recorded the run. `again` is
    the version that read the stored pages again, or "". `only` is the system whose pages were read again; ""
    means all."""

    versions: tuple[str, ...]
    again: str = ""
    only: str = ""

    def as_json(self) -> dict[str, Json]:
        return {
            "recorded_with": list(self.versions),
            "read_again_with": self.again or None,
            "read_again": self.only or None,
        }

    def is_mixed(self, system: str) -> bool:
        """Return true if several versions read the pages of `system`."""
        return len(self.versions) > 1 and not self._was_reread(system)

    def _was_reread(self, system: str) -> bool:
        return bool(self.again) and self.only in ("", system)

    def describe_versions(self, system: str) -> str:
        """Name the versions that read the pages of `system`."""
        if self._was_reread(system):
            return f"again by Harvest {self.again}"
        return f"by Harvest {' and '.join(self.versions)}" if self.versions else f"by {_UNKNOWN}"


def reading_of(run: Run) -> Reading:
    """Return how the answers of `run` were read, as far as it is recorded."""
    source = run.header.source
    if not isinstance(source, dict) or source.get("format") != "reread":
        return Reading(harvest_versions(run))
    software, only = source.get("software"), source.get("system")
    again = software.get(DISTRIBUTION, "") if isinstance(software, dict) else ""
    return Reading(harvest_versions(run), str(again) or _UNKNOWN, only if isinstance(only, str) else "")


def reread_sentence(run: Run) -> str:
    """Say which parts of the answers in `run` changed when pages were read again. Returns "" if nothing changed."""
    source = run.header.source
    if not isinstance(source, dict) or source.get("format") != "reread" or not source.get("changed"):
        return ""
    parts = source.get("parts")
    named = [f"{name} in {count}" for name, count in parts.items()] if isinstance(parts, dict) else []
    what = f" ({', '.join(named)})" if named else ""
    options = source.get("options")
    given = "; ".join(f"{name}: {', '.join(own)}" for name, own in options.items()) if isinstance(options, dict) else ""
    return (
        f"{run.path.name}: {source['changed']} of {source.get('read')} answers are others{what} since Harvest "
        f"{reading_of(run).again} read again what was kept of them{f' with other options ({given})' if given else ''}, "
        "so figures can differ from those of the run as it was recorded."
    )


def reading_contrasts(named: Mapping[str, Run]) -> Iterator[Contrast]:
    """Yield differences in how answers were read and labelled, between the runs or within a single run."""
    readings = {name: reading_of(run) for name, run in named.items()}
    for system, runs in _systems_read(named).items():
        said: dict[str, Json] = {name: readings[name].describe_versions(system) for name in runs}
        if len(set(said.values())) > 1 or any(readings[name].is_mixed(system) for name in runs):
            yield Contrast(
                "reading",
                f"pages of {system} were read {group_by_value(said)}: one page may give another answer; "
                "`harvest pages read-again` shows what today's reading changes",
                {name: readings[name].as_json() for name in runs},
            )
    if len(named) > 1:
        yield from _system_changes(named)
    yield from _rule_contrasts(named)


def _systems_read(named: Mapping[str, Run]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, run in named.items():
        for system, definition in run.header.systems.items():
            if isinstance(definition, dict) and definition.get("driver") == _PAGE_DRIVER:
                found.setdefault(system, []).append(name)
    return found


def _system_changes(named: Mapping[str, Run]) -> Iterator[Contrast]:
    """Yield changed contents of files that systems name, and changed driver defaults that audits did not set."""
    for key in ("system_files", "system_defaults"):
        found: dict[str, dict[str, Json]] = {}  # by system and run
        for name, run in named.items():
            part = recorded_audit(run).get(key)
            for system, value in part.items() if isinstance(part, dict) else ():
                if isinstance(value, dict):
                    found.setdefault(system, {})[name] = value
        for system, values in found.items():
            changes = list(_shared_changes(values)) if len(values) > 1 else []
            if changes:
                said = (
                    f"system {system}: not the same content of {', '.join(path for path, _ in changes)}"
                    if key == "system_files"
                    else f"system {system}, not set by the audit: {describe_changes(changes)}"
                )
                yield Contrast("reading" if system in _systems_read(named) else "system", said, values)


def _shared_changes(values: Mapping[str, Json]) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """Yield changes of the keys that all values have. A missing key may simply not have been recorded."""
    every = [one for one in values.values() if isinstance(one, dict)]
    for key in every[0]:
        if all(key in one for one in every):
            yield from changes_between({name: one[key] for name, one in values.items() if isinstance(one, dict)}, key)


def _rule_contrasts(named: Mapping[str, Run]) -> Iterator[Contrast]:
    """Yield kinds of rules with different versions. A new version could label some answer differently."""
    versions: dict[str, dict[str, list[str]]] = {}
    for name, run in named.items():
        own: dict[str, set[str]] = {}
        for said in {
            turn.route.version for one, _, _ in kinds(run.finished) for turn in one.turns if turn.route is not None
        }:
            # The version names every rule that was tried, and the parts of composed ones.
            for rule in _RULE_PATTERN.finditer(said):
                own.setdefault(rule["kind"], set()).add(rule[0])
        for kind, found in own.items():
            versions.setdefault(kind, {})[name] = sorted(found)
    for by_run in versions.values():
        if len({one for each in by_run.values() for one in each}) > 1:
            said = group_by_value({name: " and ".join(each) for name, each in by_run.items()})
            yield Contrast(
                "rules",
                f"answers were labelled by rules of other versions, {said}: one answer may have another label; "
                "`harvest relabel` shows today's",
                {**by_run},
            )


_Model = TypeVar("_Model", bound=StrictModel)


def recorded_audit(run: Run) -> Mapping[str, Any]:
    """Return the resolved audit of a run, or {} if the run was recorded without an audit."""
    return run.header.audit if isinstance(run.header.audit, dict) else {}


def recorded_scoring(run: Run) -> dict[str, Any]:
    """Return the audit's scoring settings. Raises InputError, with a place in `run.json`, for invalid settings."""
    found = recorded_audit(run).get("scoring") or {}
    return _validate(run, ("scoring",), found, Scoring).model_dump(exclude_none=True)


def recorded_thresholds(run: Run) -> tuple[Threshold, ...]:
    """Return the audit's thresholds. Raises InputError, with a place in `run.json`, for invalid thresholds."""
    found = recorded_audit(run).get("thresholds") or ()
    return tuple(_validate(run, ("thresholds", i), bound, Threshold) for i, bound in enumerate(found))


def _validate(run: Run, loc: Loc, value: object, model: type[_Model]) -> _Model:
    path = str(run.path / "run.json")
    try:
        return Document(path, value, {}, {}).validate_as(model)
    except InputError:
        audit = placed_part(path, "audit")
        if audit is None:
            raise
        return audit.part(loc).validate_as(model)  # raises the same error, with its place


_MOST = 3  # values in a sentence
_LONGEST = 40  # characters of each
_CONTEXT = 10  # characters of a long value shown before the place where it differs

# A path such as `options.model`, and the value there by the run's name; None if a run has no value there.
Change = tuple[str, Mapping[str, Json]]


def changes_between(values: Mapping[str, Json], path: str = "") -> Iterator[Change]:
    """Yield the innermost parts in which JSON values differ, each with its path and its value in each run. The keys
    of `values` are names of runs. Objects, and lists of equal length, are compared item by item. A null value
    counts as a missing key."""
    each = list(values.values())
    if all(one == each[0] for one in each[1:]):
        return
    objects = [one for one in each if isinstance(one, dict)]
    lists = [one for one in each if isinstance(one, list)]
    inner: dict[str, dict[str, Json]] = {}
    if len(objects) == len(each):
        for key in dict.fromkeys(key for one in objects for key in one):
            inner[str(key)] = {name: one.get(key) for name, one in zip(values, objects)}
    elif len(lists) == len(each) and len({len(one) for one in lists}) == 1:
        for place in range(len(lists[0])):
            inner[str(place)] = {name: one[place] for name, one in zip(values, lists)}
    if not inner:
        yield path, values
    for key, below in inner.items():
        yield from changes_between(below, f"{path}.{key}" if path else key)


def describe_changes(changes: Sequence[Change]) -> str:
    """Describe the first few changes, as in `options.model is a in january, b in february; and 2 more differences`."""
    said = [f"{path} is {group_by_value(by_run)}" for path, by_run in changes[:_MOST]]
    more = len(changes) - _MOST
    return "; ".join(said) + (f"; and {pluralize(more, 'more difference')}" if more > 0 else "")


def group_by_value(by_run: Mapping[str, Json]) -> str:
    """Group runs by value, as in `5 in january, 3 in february`. Long values are cut near their first difference."""
    names: dict[str, list[str]] = {}
    for name, value in by_run.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        names.setdefault("not given" if value is None else " ".join(text.split()), []).append(name)
    texts = list(names)
    start = 0
    if max(map(len, texts)) > _LONGEST:
        alike = next((i for i, letters in enumerate(zip(*texts)) if len(set(letters)) > 1), min(map(len, texts)))
        start = max(0, alike - _CONTEXT)
    return ", ".join(f"{_cut_text(text, start)} in {' and '.join(runs)}" for text, runs in names.items())


def _cut_text(text: str, start: int) -> str:
    end = start + _LONGEST
    return ("…" if start else "") + text[start:end] + ("…" if len(text) > end else "")
