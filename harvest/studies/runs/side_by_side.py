"""Find the differences between runs that are scored together, such as two audits of one assistant.

Figures are compared only over topics that every run tried in the same wording; all other topics are omitted. One
set of scoring settings applies to all runs. Further differences are reported but change no figure.
"""

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from harvest.studies.runs import readings
from harvest.studies.runs.readings import Contrast
from recordings.conversations.conversation import Conversation
from recordings.conversations.outlines import kinds
from recordings.files.json_text import Json
from recordings.judged.gold_layers import gold_table
from recordings.judged.judgments import Layer, read_layers
from recordings.log.header import as_plain_json, topic_value
from recordings.log.run_folder import Run
from scoring.settings import SETTINGS, Settings
from topics.counting import pluralize
from topics.errors import InputError, Place
from topics.topic import TopicSet

_MOST_NAMES = 5  # in a sentence; the others are counted


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The differences between runs. `left_out` has the topics that no figure includes, because not every run tried
    them in the same wording. `contrasts` has all differences between and within the runs."""

    left_out: frozenset[str] = frozenset()
    contrasts: tuple[Contrast, ...] = ()


def run_names(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return a name for each run: the name of its folder, or its path if several folders have the same name."""
    folders = Counter(run.path.resolve().name for run in runs)
    return tuple(name if folders[name := run.path.resolve().name] == 1 else str(run.path) for run in runs)


def refuse_repeated_runs(runs: Sequence[Run]) -> None:
    """Raise InputError if a run is given twice, even as a copy in another folder."""
    for path, count in Counter(run.path.resolve() for run in runs).items():
        if count > 1:
            raise InputError("the same run is given twice", place=Place(str(path)))
    for (one, own), (other, others) in combinations([(run, _dated_attempts(run)) for run in runs], 2):
        fewer, more = sorted((own, others), key=len)
        if fewer and all(more.get(key) == attempt for key, attempt in fewer.items()):
            copy, kept = (one, other) if len(own) < len(others) else (other, one)
            raise InputError(
                f"the same run is given twice: every attempt in it is in {kept.path}, too",
                place=Place(str(copy.path)),
                advice="give only one of them",
            )


def _dated_attempts(run: Run) -> dict[tuple[str, int, str], Conversation]:
    """Return the attempts that have a recorded start. Two plays of one audit have different start times even if all
    texts are equal."""
    return {(one.trial_id, one.attempt, one.started_at): one for one in run.conversations if one.started_at}


def find_contrasts(
    runs: Sequence[Run],
    changes: Mapping[str, Any] | None = None,
    *,
    judged: bool = False,
    layers_of: Callable[[Run], Sequence[Layer]] = lambda run: read_layers(run.path),
    separate: bool = False,
) -> SideBySide:
    """Find the differences between `runs`. `changes` override the audits' scoring settings. `judged` means that a
    gold table is given, so that the gold of the runs is not compared. `layers_of` returns the judgments of a
    run. Raises InputError if the runs have no topic in common, unless they are `separate` topic sets, and if their
    audits score in different ways."""
    named = dict(zip(run_names(runs), runs, strict=True))
    if len(runs) < 2:
        return SideBySide(contrasts=tuple(readings.reading_contrasts(named)))
    _refuse_settings(named, changes or {})
    sets = {name: run.header.topic_set() for name, run in named.items()}
    known = {name: topics for name, topics in sets.items() if topics is not None}
    changed = _changed_topics(known)
    tried = {name: dict.fromkeys(one.key.topic for one in run.conversations) for name, run in named.items()}
    everywhere = set.intersection(*map(set, tried.values())) - changed.keys()
    if not everywhere and not separate:
        raise _nothing_in_common(named, tried, changed)
    partly = {name: [topic for topic in topics if topic not in everywhere] for name, topics in tried.items()}
    if separate:
        partly = {}
    left_out = frozenset(changed).union(*partly.values())
    contrasts = (
        *_silent_contrasts(named),
        *_left_out_topics(partly, changed, len(everywhere)),
        *_attribute_contrasts(known),
        *_protocol_contrasts(named),
        *_user_contrasts(named),
        *_group_contrasts(named),
        *_trial_contrasts(named),
        *_system_contrasts(named),
        *_model_contrasts(named),
        *readings.reading_contrasts(named),
        *(() if judged else _gold_contrasts(named, known, everywhere, layers_of)),
        *_judgment_contrasts(named, layers_of),
    )
    return SideBySide(left_out, contrasts)


def have_separate_topics(runs: Sequence[Run]) -> bool:
    """Return True if there are several runs, each with trials of topics that no other run tried."""
    tried = [{one.key.topic for one in run.conversations} for run in runs]
    return len(runs) > 1 and all(tried) and sum(map(len, tried)) == len(set().union(*tried))


def _refuse_settings(named: Mapping[str, Run], changes: Mapping[str, Any]) -> None:
    each: dict[str, Json] = {
        name: Settings.of(readings.recorded_scoring(run), changes).as_json() for name, run in named.items()
    }
    found = [(path, by_run) for path, by_run in readings.changes_between(each)]
    if found:
        differing = [SETTINGS[name] for name in dict.fromkeys(path.partition(".")[0] for path, _ in found)]
        wanted = " ".join(f"{one.option} {one.metavar or 'VALUE'}" for one in differing)
        raise InputError(
            f"the audits of these runs score in different ways: {readings.describe_changes(found)}",
            advice=f"give one value for all of them ({wanted}), or score the runs one by one",
        )


def _nothing_in_common(
    named: Mapping[str, Run], tried: Mapping[str, Mapping[str, None]], changed: Mapping[str, Contrast]
) -> InputError:
    for name, topics in tried.items():
        if not topics:
            return InputError(
                "no trial is recorded in this run, so there is nothing to compare", place=Place(str(named[name].path))
            )
    said = "; ".join(f"{name} has {_shorten_names(list(topics))}" for name, topics in tried.items())
    if changed:
        said += f"; {next(iter(changed.values())).said}"
    return InputError(
        f"these runs have no topic in common: {said}",
        advice="score the runs one by one; `harvest data merge` unites parts of one run, and `harvest compare` with "
        "--standardise compares runs of the same systems over different topics",
    )


def _changed_topics(known: Mapping[str, TopicSet]) -> dict[str, Contrast]:
    values: dict[str, dict[str, Json]] = {}
    for name, topics in known.items():
        for topic in topics.topics:
            values.setdefault(topic.id, {})[name] = topic_value(topic)
    found = {topic: (by_run, list(readings.changes_between(by_run))) for topic, by_run in values.items()}
    return {
        topic: Contrast("topic", f"topic {topic}: {readings.describe_changes(changes)}", by_run)
        for topic, (by_run, changes) in found.items()
        if changes
    }


def _left_out_topics(
    partly: Mapping[str, Sequence[str]], changed: Mapping[str, Contrast], common: int
) -> Iterator[Contrast]:
    if not any(partly.values()):
        return
    lost = "; ".join(f"of {name} {_shorten_names(topics)}" for name, topics in partly.items() if topics)
    every = "both runs" if len(partly) == 2 else f"all {len(partly)} runs"
    same = " in the same words" if changed else ""
    said = f"figures are over the {pluralize(common, 'topic')} that {every} tried{same}; left out: {lost}"
    yield Contrast("topics", said, {name: list(topics) for name, topics in partly.items()})
    yield from changed.values()


def _silent_contrasts(named: Mapping[str, Run]) -> Iterator[Contrast]:
    """Yield a contrast for each run with systems that have no valid trial, because no figure shows such systems."""
    for name, run in named.items():
        silent = silent_systems((one.key.system for one in run.conversations), run.finished)
        if silent:
            said = f"{no_valid_trials_clause(silent, name)}, so no figure holds any: {failures_clause(str(run.path))}"
            yield Contrast("invalid", said, {each: len(named[each].finished) for each in named})


def _attribute_contrasts(known: Mapping[str, TopicSet]) -> Iterator[Contrast]:
    first = next(iter(known), "")
    for attribute in dict.fromkeys(name for topics in known.values() for name in topics.attributes):
        values = {
            name: as_plain_json({part: getattr(topics.attributes[attribute], part) for part in _ATTRIBUTE_PARTS})
            for name, topics in known.items()
            if attribute in topics.attributes
        }
        changes = list(readings.changes_between(values))
        if changes:
            words = readings.describe_changes(changes)
            said = f"attribute set {attribute}: {words}; the definition of {first} is used for all"
            yield Contrast("attributes", said, values)


_ATTRIBUTE_PARTS = ("scale", "groups", "gold", "bounds", "mapping")


def _protocol_contrasts(named: Mapping[str, Run]) -> Iterator[Contrast]:
    protocols = {name: run.header.protocol for name, run in named.items()}
    texts = {
        name: {**one, "about": ""} if isinstance(one, dict) else {"name": "none known"}
        for name, one in protocols.items()
    }
    changes = list(readings.changes_between(texts))
    if not changes:
        return
    called = {name: one.get("name", "") for name, one in texts.items()}
    how = (
        f"protocol: {readings.group_by_value(called)}"
        if len(set(called.values())) > 1
        else f"protocol: {readings.describe_changes(changes)}"
    )
    short = {name: {"name": one.get("name"), "version": one.get("version")} for name, one in texts.items()}
    yield Contrast("protocol", f"{how}: turns, labels and ends may have different meanings", short)


def _user_contrasts(named: Mapping[str, Run]) -> Iterator[Contrast]:
    parts: dict[str, dict[str, Json]] = {
        name: {
            key: readings.recorded_audit(run)[key]
            for key in ("endpoints", "user_files")
            if key in readings.recorded_audit(run)
        }
        for name, run in named.items()
    }
    for name, run in named.items():
        parts[name]["population"] = next((one.get("population") for one in _definitions(run).values()), None)
    changes = list(readings.changes_between(parts))
    if changes:
        yield Contrast("users", f"simulated users: {readings.describe_changes(changes)}", parts)


def _group_contrasts(named: Mapping[str, Run]) -> Iterator[Contrast]:
    groups = {name: list(readings.recorded_audit(run).get("groups") or ()) for name, run in named.items()}
    if len({tuple(map(str, each)) for each in groups.values()}) > 1:
        said = readings.group_by_value({name: ", ".join(map(str, each)) or "none" for name, each in groups.items()})
        yield Contrast("groups", f"groups of users: {said}", groups)


def _trial_contrasts(named: Mapping[str, Run]) -> Iterator[Contrast]:
    audits = {name: readings.recorded_audit(run) for name, run in named.items()}
    trials = {
        name: audits[name].get("trials") or max((one.key.trial for one in run.conversations), default=0)
        for name, run in named.items()
    }
    own = {name: audit.get("trials_of") or {} for name, audit in audits.items()}
    if not any(own.values()):
        if len(set(trials.values())) > 1:
            yield Contrast("trials", f"trials of each topic: {readings.group_by_value(trials)}", trials)
        return
    sets = [run.header.topic_set() for run in named.values()]
    topics = dict.fromkeys(one.id for topics in sets if topics is not None for one in topics.topics)
    of_topic = {topic: {name: own[name].get(topic, trials[name]) for name in named} for topic in topics}
    changes = [(topic, by_run) for topic, by_run in of_topic.items() if len(set(by_run.values())) > 1]
    if changes:
        words = readings.describe_changes(changes)
        said = f"trials of single topics: {words}; in means over topics each topic still counts alike"
        yield Contrast("trials", said, {name: {"trials": trials[name], "trials_of": {**own[name]}} for name in named})


def _system_contrasts(named: Mapping[str, Run]) -> Iterator[Contrast]:
    for system in dict.fromkeys(name for run in named.values() for name in run.header.systems):
        values = {
            name: {**_definitions(run)[system], "population": None}  # reported as a difference of users
            for name, run in named.items()
            if system in _definitions(run)
        }
        changes = list(readings.changes_between(values))
        if changes:
            yield Contrast("system", f"system {system}: {readings.describe_changes(changes)}", values)


def _definitions(run: Run) -> dict[str, dict[str, Json]]:
    return {name: one for name, one in run.header.systems.items() if isinstance(one, dict)}


def _model_contrasts(named: Mapping[str, Run]) -> Iterator[Contrast]:
    """Yield differences between the models that a system says it used, for systems with one name in several runs."""
    found: dict[str, dict[str, dict[str, None]]] = {}
    for name, run in named.items():
        for one in run.finished:
            for model in one.models:
                found.setdefault(one.key.system, {}).setdefault(name, {})[model] = None
    for system, by_run in found.items():
        several = {name: sorted(models) for name, models in by_run.items()}
        if len({*map(tuple, several.values())}) > 1:
            said = readings.group_by_value({name: " and ".join(models) for name, models in several.items()})
            yield Contrast("model", f"{system} says that it answered with another model: {said}", {**several})


def _gold_contrasts(
    named: Mapping[str, Run],
    known: Mapping[str, TopicSet],
    topics: set[str],
    layers_of: Callable[[Run], Sequence[Layer]],
) -> Iterator[Contrast]:
    """Yield differences in gold. All runs share one table with the entries of every run, where newer judgments win."""
    tables = {name: gold_table(layers_of(run), known.get(name)) for name, run in named.items()}
    entries = {name: {(e.topic, e.entity): e for e in table if e.topic in topics} for name, table in tables.items()}
    counts: dict[str, Json] = {name: len(own) for name, own in entries.items()}
    if not any(counts.values()):
        return
    without = [name for name, own in entries.items() if not own]
    every = [key for own in entries.values() for key in own]
    differing = sum(
        len({repr((own[key].grade, own[key].groups)) for own in entries.values() if key in own}) > 1
        for key in dict.fromkeys(every)
    )
    if without:
        said = f"gold: {', '.join(without)} has none of its own and uses that of the other"
        yield Contrast("gold", f"{said}: entities that only this run names are unjudged", counts)
    if differing:
        said = f"gold: {pluralize(differing, 'entity')} judged differently; the newest judgment is used for all"
        yield Contrast("gold", said, counts)


def _judgment_contrasts(named: Mapping[str, Run], layers_of: Callable[[Run], Sequence[Layer]]) -> Iterator[Contrast]:
    """Yield differences in who judged, without rules, because rules are applied again to all runs."""
    authors = {
        name: sorted({f"{one.kind}:{one.author}" for one in layers_of(run) if one.kind in ("human", "model")})
        for name, run in named.items()
    }
    if len(set(map(tuple, authors.values()))) > 1:
        said = readings.group_by_value({name: ", ".join(each) or "none" for name, each in authors.items()})
        yield Contrast("judgments", f"judgments: {said}: SWAN and WAN may be over different criteria", {**authors})


def _shorten_names(topics: Sequence[str]) -> str:
    more = len(topics) - _MOST_NAMES
    return ", ".join(topics[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def silent_systems(tried: Iterable[str], conversations: Iterable[Conversation]) -> list[str]:
    """Return the systems in `tried` that have no conversation in `conversations`, without duplicates."""
    answered = {one.key.system for one, _, _ in kinds(conversations)}
    return [name for name in dict.fromkeys(tried) if name not in answered]


def no_valid_trials_clause(systems: Sequence[str], run: str = "") -> str:
    """Return a clause that says that the systems have no valid trial (in `run`, if given)."""
    return f"no trial of {' and '.join(systems)}{f' in {run}' if run else ''} is valid"


def failures_clause(run: str = "RUN") -> str:
    """Return a clause with the command that lists what went wrong."""
    return f"`harvest show {shlex.quote(run)} --all` lists what went wrong"
