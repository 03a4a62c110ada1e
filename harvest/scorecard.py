"""From run folders to scores: puts together what `scoring` needs, from the run alone.

A run holds its topics, its protocol, its gold and its scoring settings, so it can be scored anywhere, again and again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from protocols.library import decode_protocol
from recordings.conversation import Conversation, TrialKey
from recordings.evidence import write_safely
from recordings.json_text import document
from recordings.judgments import read_gold_layers
from recordings.run_folder import Run
from scoring.scores import score
from scoring.settings import Settings
from scoring.table import ScoreTable
from topics.errors import InputError, Place
from topics.gold import GoldTable
from topics.identity import generator
from topics.topic import TopicSet

__all__ = ["most_turns", "score_run", "scoring_settings", "united_topics", "write_scores"]


def scoring_settings(run: Run, changes: Mapping[str, Any] | None = None) -> Settings:
    """The settings of the run's audit, with `changes` over them."""
    audit = run.header.audit
    values: dict[str, Any] = dict(audit.get("scoring") or {}) if isinstance(audit, dict) else {}
    values.update({key: value for key, value in (changes or {}).items() if value is not None})
    if "gains" in values:
        values["gains"] = {int(str(grade).removeprefix("L")): gain for grade, gain in values["gains"].items()}
    return Settings(**values)


def most_turns(run: Run, topics: TopicSet) -> dict[str, int]:
    """Turns the protocol can take at most, by topic; without a protocol (an import), the longest conversation's."""
    if run.header.protocol is not None:
        protocol = decode_protocol(run.header.protocol)
        return {topic.id: protocol.most_turns(topic) for topic in topics.topics}
    most = max((len(conversation.turns) for conversation in run.finished), default=1)
    return dict.fromkeys((topic.id for topic in topics.topics), most)


def _turns(runs: Sequence[Run], topics: TopicSet) -> dict[str, int]:
    turns: dict[str, int] = {}
    for run in runs:
        for topic, most in most_turns(run, run.header.topic_set() or topics).items():
            turns[topic] = max(most, turns.get(topic, 0))
    return turns


def _planned(run: Run) -> Iterator[TrialKey]:
    """The trials that the run's audit asks for; none for an import, which was not planned."""
    audit = run.header.audit
    trials = audit.get("trials", 0) if isinstance(audit, dict) else 0
    topics = run.header.topic_set()
    for system in run.header.systems:
        for topic in topics.topics if topics else ():
            for trial in range(1, trials + 1):
                yield TrialKey(system, topic.id, trial)


def _judged(runs: Sequence[Run], topics: TopicSet) -> GoldTable | None:
    table = read_gold_layers([run.path for run in runs], topics)
    return table if len(table) else None


def score_run(
    runs: Sequence[Run], *, settings: Mapping[str, Any] | None = None, gold: GoldTable | None = None, seed: int = 0
) -> ScoreTable:
    """Score the finished conversations of runs that share a topic set; systems of later runs stand beside the first's.

    gold: instead of the runs' own layers. Raises InputError where two runs hold the same trial of the same system,
    or different topics under one name.
    """
    topics = united_topics(runs)
    finished: list[Conversation] = []
    missing: set[TrialKey] = set()
    for run in runs:
        finished += run.finished
        done = {conversation.key for conversation in run.finished}
        missing |= {conversation.key for conversation in run.conversations} - done
    _refuse_twice(runs)
    return score(
        finished,
        topics,
        _judged(runs, topics) if gold is None else gold,
        scoring_settings(runs[0], settings),
        generator(seed, "scores"),
        turns=_turns(runs, topics),
        invalid=missing,
        planned=[key for run in runs for key in _planned(run)],
    )


def united_topics(runs: Sequence[Run]) -> TopicSet:
    """The topics of all runs. Raises InputError where one name means two topics, or a run knows none."""
    sets = []
    for run in runs:
        topics = run.header.topic_set()
        if topics is None:
            raise InputError(
                "this run does not know its topics", place=Place(str(run.path)), advice="import it again with --topics"
            )
        sets.append(topics)
    known = {topic.id: topic for topic in sets[0].topics}
    for run, topics in zip(runs, sets, strict=True):
        for topic in topics.topics:
            if known.setdefault(topic.id, topic) != topic:
                raise InputError(
                    f"topic {topic.id} is not the same as in {runs[0].path}",
                    place=Place(str(run.path)),
                    advice="score the two runs apart",
                )
    attributes = {name: item for topics in reversed(sets) for name, item in topics.attributes.items()}
    return replace(sets[0], topics=tuple(known.values()), attributes=attributes)


def _refuse_twice(runs: Sequence[Run]) -> None:
    seen: dict[TrialKey, Path] = {}
    for run in runs:
        for conversation in run.finished:
            if seen.setdefault(conversation.key, run.path) != run.path:
                key = conversation.key
                raise InputError(
                    f"{key.system}, topic {key.topic}, trial {key.trial} is also in {seen[key]}",
                    place=Place(str(run.path)),
                    advice="merge the runs, or score them apart",
                )


def write_scores(folder: Path, table: ScoreTable) -> Path:
    """Write `scores.json` beside the recording: derived, and made anew each time."""
    path = folder / "scores.json"
    write_safely(path, document(table.as_json()))
    return path
