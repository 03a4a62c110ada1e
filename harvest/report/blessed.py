"""The conversations of a blessed run in the report on a watched run, to be read beside those of now."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from harvest.report.grid import address
from harvest.studies.scores.gathered import Gathered, gather_runs
from harvest.studies.scores.scorecard import Material
from harvest.studies.watch.blessed_run import BeforeAndNow, Pair
from harvest.studies.watch.changes import ChangedTopic, ChangedTurn
from harvest.studies.watch.watched import Watched, WatchedSystem
from recordings.log.run_folder import Run


def blessed_name(system: str) -> str:
    """Return the name under which a report lists the conversations of a system from before."""
    return f"{system} (baseline)"


@dataclass(frozen=True, slots=True)
class Blessed:
    """A watched run together with a blessed run. `material` and `recorded` are those of the watched run, with each
    system of the blessed run added under its `blessed_name`. Without a blessed run, nothing is added and no pair is
    found, only conversations of now."""

    material: Material
    recorded: Mapping[str, tuple[Path, str]]
    sides: Mapping[str, BeforeAndNow] = field(default_factory=dict)

    def first_link(self, system: WatchedSystem, verdict: str) -> str:
        """Return the link to the two conversations to read first or, without a blessed run, to the one of now; or "":
        neither is an example of a system that is as it was."""
        side = None if verdict in ("same", "back", "perhaps back") else self.sides.get(system.name)
        if side is None:
            return ""
        if link := self._link(system.name, side.first_pair(system)):
            return link
        now = side.first_now(system) if system.has_moved else None
        return address(topic=now[0], system=system.name, trial=now[1]) if now else ""

    def topic_link(self, system: str, topic: ChangedTopic) -> str:
        side = self.sides.get(system)
        return self._link(system, side.at_topic(topic) if side else None)

    def turn_link(self, system: str, turn: ChangedTurn, topics: Iterable[ChangedTopic]) -> str:
        side = self.sides.get(system)
        return self._link(system, side.at_turn(turn, topics) if side else None)

    def _link(self, system: str, pair: Pair | None) -> str:
        if pair is None:
            return ""
        of = {"topic": pair.topic, "system": blessed_name(system), "trial": pair.before}
        return address(**of, beside=system, other=pair.now)


def add_blessed(gathered: Gathered, watched: Watched | None, run: Run | None) -> Blessed:
    """Return the material of a watched run with the conversations of the blessed `run`, on the same topics. Nothing is
    added for a system that could not be measured or is the same."""
    material, recorded = gathered.material, gathered.recorded
    if watched is None:
        return Blessed(material, recorded)
    if run is None:
        own = {one.name: [each for each in material.finished if each.key.system == one.name] for one in watched.systems}
        return Blessed(material, recorded, {name: BeforeAndNow(each, ()) for name, each in own.items()})
    old = gather_runs(run)
    topics = {topic.id for topic in material.topics.topics}
    names = {
        one.name: blessed_name(one.name)
        for one in watched.systems
        if one.is_measured and one.verdict != "same" and blessed_name(one.name) not in material.systems
    }
    kept = [one for one in old.material.conversations if one.key.system in names and one.key.topic in topics]
    added = tuple(replace(one, key=replace(one.key, system=names[one.key.system])) for one in kept)
    names = {name: shown for name, shown in names.items() if any(one.key.system == name for one in kept)}
    finished = [one for one in old.material.finished if one.key.topic in topics]
    together = replace(
        material,
        systems=(*material.systems, *names.values()),
        conversations=(*material.conversations, *added),
        turns={
            **material.turns,
            **{(names[own], topic): most for (own, topic), most in old.material.turns.items() if own in names},
        },
        folders={**material.folders, **dict.fromkeys(names.values(), run.path)},
    )
    sides = {
        name: BeforeAndNow(*([one for one in own if one.key.system == name] for own in (material.finished, finished)))
        for name in names
    }
    return Blessed(together, {**recorded, **{shown: (run.path, name) for name, shown in names.items()}}, sides)
