"""Shards: the trials of an audit divided among several machines, each of which records a separate run.

A trial of a topic is in the same shard for all systems, groups and arms, so that one machine plays everything that is
compared. If a system's sessions continue through all topics, a shard gets whole sessions. The division depends only on
the audit's seed, so added topics and trials do not move the trials that were already played.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from os import PathLike
from typing import Any

from recordings.conversations.conversation import Conversation, TrialKey
from recordings.files.json_text import Json
from recordings.log.header import Header
from topics.counting import pluralize
from topics.errors import InputError, Place
from topics.identity import canonical_json, derived_seed
from topics.shown_names import shorten

MOST_SHARDS = 1000  # more machines than anybody has, so a typo is refused
_SHARD_FORM = re.compile(r"\s*([0-9]{1,4})\s*/\s*([0-9]{1,4})\s*")
_PLANNING_KEYS = ("trials", "trials_of", "order", "groups", "arms")


@dataclass(frozen=True, slots=True)
class Shard:
    """Shard number `index`, from 1, in a division into `of` shards."""

    index: int
    of: int

    def __str__(self) -> str:
        return f"shard {self.index} of {self.of}"

    @classmethod
    def read(cls, text: str) -> "Shard":
        """Parse a shard such as `2/3`. Raises InputError."""
        found = _SHARD_FORM.fullmatch(text)
        shard = cls(int(found[1]), int(found[2])) if found else cls(0, 0)
        if not 1 <= shard.index <= shard.of <= MOST_SHARDS:
            raise InputError(
                f"{text!r} is not a shard",
                allowed=f"I/N, with N of at most {MOST_SHARDS}, such as 2/3",
            )
        return shard

    def includes(self, topic: str, trial: int, seed: int, *, session: str) -> bool:
        """Return True if a trial is in this shard. The trials of a topic are dealt to the shards in turn, and the seed
        selects the shard of the first trial."""
        return (_first_shard(topic if session == "fresh" else "", seed, self.of) + trial) % self.of == self.index - 1

    def as_json(self) -> dict[str, int]:
        return {"index": self.index, "of": self.of}


@cache
def _first_shard(topic: str, seed: int, of: int) -> int:
    return derived_seed(seed, "shard", topic) % of


def shard_of(audit: Json) -> Shard | None:
    """Return the shard in which a recorded audit was played, or None for the whole audit."""
    found = audit.get("shard") if isinstance(audit, dict) else None
    return Shard(int(found["index"]), int(found["of"])) if isinstance(found, dict) else None


def shard_note(header: Header) -> str:
    """Return a sentence on a run that is only a shard, or "" for any other run, including shard 1 of 1."""
    shard = shard_of(header.audit)
    if shard is None or shard.of == 1:
        return ""
    return f"this is {shard} of an audit, with only some of its trials; harvest data merge unites the shards"


def refuse_shard(header: Header, path: PathLike[str]) -> None:
    """Raise InputError for a run that is only a shard, because its figures would be mistaken for those of the audit."""
    if shard_note(header):
        shard = shard_of(header.audit)
        raise InputError(
            f"this is only {shard}: its figures would be mistaken for those of the audit",
            place=Place(str(path)),
            advice="merge all shards and use the resulting run: harvest data merge SHARD SHARD … --out RUN",
        )


def planned_trials(header: Header) -> Iterator[TrialKey]:
    """Yield the trials that the audit of a run planned. An import has no planned trials."""
    audit: dict[str, Any] = header.audit if isinstance(header.audit, dict) else {}
    topics, shard = header.topic_set(), shard_of(audit)
    each: int = audit.get("trials") or 0
    own: dict[str, int] = audit.get("trials_of") or {}
    for system, definition in header.systems.items():
        session = definition.get("session", "fresh") if isinstance(definition, dict) else "fresh"
        for topic in topics.topics if topics else ():
            for trial in range(1, own.get(topic.id, each) + 1):
                if shard is None or shard.includes(topic.id, trial, header.seed, session=str(session)):
                    yield TrialKey(system, topic.id, trial)


def missing_of_shards(
    parts: Sequence[Any], united: Header, recorded: Iterable[Conversation], prevented: Collection[TrialKey] = ()
) -> list[str]:
    """Return sentences on trials that are missing in a run merged from the shards `parts`, the entries of a merged
    header. The list is empty if no trial is missing or no part is a shard. Trials that a cap `prevented` are not
    missing. Raises InputError if audits differ."""
    audits = [part["audit"] for part in parts if isinstance(part, dict)]
    shards = [shard for audit in audits if (shard := shard_of(audit)) is not None]
    if not shards:
        return []
    _refuse_others(audits, shards)
    finished = {one.key for one in recorded if one.valid}
    planned = list(planned_trials(united))
    open_ = [key for key in planned if key not in finished and key not in prevented]
    if not open_:
        return []
    found, of = [], shards[0].of
    whole = len(shards) < len(audits)  # someone continued with the whole audit
    absent = sorted(set(range(1, of + 1)) - {shard.index for shard in shards})
    if absent and not whole and shard_of(united.audit) is None:
        found.append(f"{pluralize(len(absent), 'shard')} of {of} not merged: {', '.join(map(str, absent))}")
    named = "; ".join(f"{key.system}, {key.topic}, trial {key.trial}" for key in open_[:3])
    more = f"; and {len(open_) - 3} more" if len(open_) > 3 else ""
    found.append(f"{len(open_)} of {pluralize(len(planned), 'trial')} without a valid attempt: {named}{more}")
    return found


def _refuse_others(audits: Sequence[Any], shards: Sequence[Shard]) -> None:
    cuts = sorted({shard.of for shard in shards})
    if len(cuts) > 1:
        raise InputError(
            f"the runs are shards of different divisions: into {cuts[0]} shards and into {cuts[1]} shards",
            advice="merge the shards of one division",
        )
    first, *others = audits
    for other in others:
        for said in audit_differences((first, other), ("name", *_PLANNING_KEYS, *SCORING_KEYS)):
            one, two = (shard_of(audit) or "the whole audit" for audit in (first, other))
            raise different_audits_error(f"{said}, between {one} and {two}")


def different_audits_error(differing: str) -> InputError:
    """Return the error for shards of different audits. `differing` describes the difference."""
    return InputError(
        f"these are shards of different audits: {differing}",
        advice="merge the shards of one audit; if it was changed meanwhile, give all machines the same files, and run "
        "the command of each shard again",
    )


# Keys of an audit that figures depend on besides what was played; they also depend on its gold: see `gold_difference`.
SCORING_KEYS = ("scoring", "thresholds")
_MOST_CHARACTERS = 60  # characters of a value in a sentence


def audit_differences(audits: Iterable[Any], keys: Sequence[str]) -> list[str]:
    """Return the differences between recorded audits, such as `scoring.patience differs (50 and not given)`."""
    distinct = {canonical_json(audit): audit for audit in audits if isinstance(audit, dict)}
    found: dict[str, str] = {}
    for one, two in combinations([distinct[text] for text in sorted(distinct)], 2):
        for key in keys:
            # Empty means not given: earlier versions did not write every key.
            for path, *values in value_differences(key, one.get(key) or None, two.get(key) or None):
                found.setdefault(path, f"{path} differs ({join_values(*values)})")
    return list(found.values())


def value_differences(path: str, one: Json, two: Json) -> Iterator[tuple[str, Json, Json]]:
    """Yield each difference between two values, with its path. Objects are compared key by key, at every depth."""
    if all(value is None or isinstance(value, dict) for value in (one, two)):
        first, second = (value if isinstance(value, dict) else {} for value in (one, two))
        for key in sorted({*first, *second}):
            yield from value_differences(f"{path}.{key}", first.get(key), second.get(key))
    elif one != two:
        yield path, one, two


def join_values(one: Json, two: Json) -> str:
    """Join two different values in an order that does not depend on the order of the runs."""
    texts = ("not given" if value is None else repr(value) for value in (one, two))
    return " and ".join(sorted(shorten(text, _MOST_CHARACTERS) for text in texts))
