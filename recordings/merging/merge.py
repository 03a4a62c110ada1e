"""Merging of the runs of several machines in a new folder.

The result depends only on the set of attempts. The order and the grouping of runs do not matter, and merging the same
run twice gives the same files, byte for byte. Nothing is lost. If two runs recorded the same attempt of a trial with
different content, both versions stay: the later version gets the next free number, and its old number is recorded. If
one attempt is the beginning of another, because a run was copied while being written, only the longer attempt is kept.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from os import PathLike
from pathlib import Path
from typing import Any

from recordings.checking.chain_check import check_written
from recordings.checking.salvage import DamagedFile, salvage_run
from recordings.events.attempts import AttemptId
from recordings.events.event_lines import FORMAT
from recordings.files.errors import RunError
from recordings.files.json_text import Json
from recordings.judged.gold_layers import TABLE
from recordings.judged.judgments import read_layers
from recordings.log import caps, continuation, header_faults
from recordings.log.header import Header
from recordings.log.noted import NotedFinding, add_findings, findings_in_header
from recordings.log.run_folder import Run, read
from recordings.log.shard import (
    SCORING_KEYS,
    Shard,
    audit_differences,
    different_audits_error,
    join_values,
    missing_of_shards,
    shard_of,
    value_differences,
)
from recordings.merging import folder_copy
from topics.counting import pluralize
from topics.errors import InputError, Place
from topics.identity import canonical_json

_MOST_NAMED = 3  # of what was changed in one run
_FIRST_KEYS = ("event", "id", "system", "topic", "trial", "attempt", "turn", "state", "label", "text")
# The lines of an attempt under its first number and worker: its identity across runs.
_Content = tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class MergeResult:
    """The result of a merge.

    `interrupted` is the number of attempts without an end. `conflicts` are sentences on attempts that were recorded
    differently, with their new numbers. `damage` describes damage in the merged runs, including exhibits that are
    missing or do not match their name. `unproven` is True if some damage prevents the new run from being verified.
    `missing` has one sentence for each kind of missing content, such as shards of an audit. `names` is a sentence if
    the audits have several names, else "". `settings` has one sentence for each difference between the audits on which
    figures depend. `shard` is the shard that was salvaged; it is None if the new run is a whole audit.
    """

    path: Path
    trials: int
    attempts: int
    conflicts: tuple[str, ...]
    damage: tuple[str, ...]
    missing: tuple[str, ...] = ()
    names: str = ""
    settings: tuple[str, ...] = ()
    interrupted: int = 0
    shard: Shard | None = None
    unproven: bool = False


def merge(
    paths: Sequence[str | PathLike[str]],
    out: str | PathLike[str],
    *,
    salvage: bool = False,
    named: Callable[[str], str] = str,
) -> MergeResult:
    """Merge the runs at `paths` in the new folder `out`, which appears completely or not at all.

    With `salvage`, the undamaged parts of a damaged run are used (see `recordings.checking.salvage`), the damaged files
    are kept unchanged under `damaged/`, and `damage` reports each affected attempt. `named` replaces the folders in a
    sentence with names that people know, if the folders are copies. Raises RunError if the runs differ in protocol,
    seed, topics or systems (with a diff), if a run is damaged and `salvage` is False, or if `out` exists; InputError if
    the runs are shards of different audits; and StoreError if the folder cannot be written.
    """
    if not paths:
        raise InputError("there is nothing to merge", allowed="one or more run folders")
    target = Path(out)
    if target.exists():
        raise RunError("this folder already exists", place=Place(str(target)), advice="merge into a new folder")
    runs: list[Run] = []
    damaged: list[DamagedFile] = []
    for path in paths:
        run, files = salvage_run(path) if salvage else (read(path, keep_rows=True), ())
        runs.append(run)
        damaged += files
    header = _unite_headers([run.header for run in runs], [run.path for run in runs], saved=salvage)
    prevented = caps.prevented_trials(one for run in runs for one in caps.standings(run.header, run.attempts))
    finished = chain.from_iterable(run.finished for run in runs)
    missing = missing_of_shards(header.parts, header, finished, prevented)
    gold = gold_difference(runs)
    if gold and any(isinstance(part, dict) and shard_of(part["audit"]) for part in header.parts):
        raise different_audits_error(gold)
    contents = [_attempt_contents(run) for run in runs]
    rows, conflicts, numbers = _number_attempts(_united_contents(contents))
    with folder_copy.atomic_folder(target) as building:
        damage: list[str] = []
        noted = {one for run in runs for one in findings_in_header(run.header)}
        for run, own in zip(runs, contents, strict=True):
            left_out = folder_copy.copy_contents(run, building, _numbers_of(own, numbers))
            changed, found = _find_changes(run, damaged, left_out)
            damage += (*run.damage, *changed, *left_out)
            noted.update(found)
        header = add_findings(header, noted)
        for file in damaged:
            folder_copy.keep_damaged(building, file.path, map(named, file.told))
        opening = {"event": "opened", "format": FORMAT, "worker": "000001", "merged": True}
        folder_copy.write_run(building, header, [opening, *(row for attempt in rows for row in attempt)])
        lost = folder_copy.describe_missing_exhibits(building, chain.from_iterable(rows))
    told = tuple(dict.fromkeys(map(named, damage)))
    interrupted = sum(all(row.get("event") != "trial-ended" for row in attempt) for attempt in rows)
    return MergeResult(
        target,
        len(numbers),
        len(rows),
        tuple(conflicts),
        told,
        (*missing, lost) if lost else tuple(missing),
        *_describe_audits(header, gold),
        interrupted,
        shard_of(header.audit),
        any(one.open for one in noted),
    )


def _find_changes(
    run: Run, damaged: Sequence[DamagedFile], left_out: Sequence[str]
) -> tuple[list[str], list[NotedFinding]]:
    """Return sentences on changes and gaps that do not prevent reading, and findings for the header of the new run.
    Files in `damaged` were already reported. `left_out` has sentences on exhibits and files that were not copied."""
    known = {file.path.with_suffix(""): file.told for file in damaged}
    found = check_written(run.path)
    faults = [one for one in (*found.faults, *found.gaps) if (run.path / one.file).with_suffix("") not in known]
    told = [f"{run.path}/{fault}" for fault in faults[:_MOST_NAMED]]
    if len(faults) > _MOST_NAMED:
        told.append(f"{run.path}: its chains show {pluralize(len(faults) - _MOST_NAMED, 'more fault')}")
    saved = [sentence for path, said in known.items() if path.parent == run.path for sentence in said]
    rest = [sentence for sentence in run.damage if sentence not in saved]
    return told, list(found.new_header_findings(run.path, [*saved, *left_out], rest))


def _describe_audits(united: Header, gold: str) -> tuple[str, tuple[str, ...]]:
    audits = [part["audit"] for part in united.parts if isinstance(part, dict)]
    names = dict.fromkeys(map(_audit_name, audits))
    sentence = ""
    if len(names) > 1:
        sentence = f"runs of {len(names)} audits are merged: {', '.join(names)}"
        sentence += f"; the new run has the name of the one that began first, {_audit_name(united.audit)}"
    apart = [
        f"{said}; the new run has that of the audit that began first"
        for said in audit_differences(audits, SCORING_KEYS)
    ]
    if gold:
        apart.append(f"{gold}; if both judge an entity, the newer table counts")
    return sentence, tuple(apart)


def _audit_name(audit: Json) -> str:
    return repr(audit.get("name", "")) if isinstance(audit, dict) else "one without a name"


def _attempt_contents(run: Run) -> dict[AttemptId, set[_Content]]:
    """Return the contents of each attempt: two if two machines recorded the attempt in one folder of a salvaged run."""
    found: dict[AttemptId, set[_Content]] = defaultdict(set)
    for attempt in run.attempts:
        started = attempt.started
        rows = [{**row, "attempt": started.original_attempt or started.attempt} for row in attempt.rows]
        rows[0]["worker"] = started.worker or attempt.worker
        rows[0].pop("original_attempt", None)
        if "original_goes_on_from" in rows[0]:
            rows[0]["goes_on_from"] = rows[0].pop("original_goes_on_from")
        content = tuple(canonical_json(row).encode("utf-8", "surrogatepass") for row in rows)
        found[started.trial_id, started.attempt].add(content)
    return found


def _united_contents(runs: Iterable[Mapping[AttemptId, set[_Content]]]) -> dict[str, set[_Content]]:
    found: dict[str, set[_Content]] = defaultdict(set)
    for contents in runs:
        for (trial_id, _), several in contents.items():
            found[trial_id] |= several
    for trial_id, several in found.items():
        found[trial_id] = {one for one in several if not any(two != one and _continues(two, one) for two in several)}
    return found


def _continues(longer: _Content, content: _Content) -> bool:
    return longer[: len(content)] == content


def _numbers_of(
    contents: Mapping[AttemptId, set[_Content]], numbers: Mapping[str, Mapping[_Content, int]]
) -> dict[AttemptId, int]:
    found = {}
    for name, several in contents.items():
        given = numbers[name[0]]
        # An attempt that another one continues is replaced by that one.
        new = {
            given.get(one) or min(number for longer, number in given.items() if _continues(longer, one))
            for one in several
        }
        if len(new) == 1:
            (found[name],) = new
    return found


def _number_attempts(
    contents: dict[str, set[_Content]],
) -> tuple[list[list[dict[str, Any]]], list[str], dict[str, dict[_Content, int]]]:
    attempts: list[tuple[tuple[Any, ...], list[dict[str, Any]]]] = []
    conflicts: list[str] = []
    final: dict[str, dict[_Content, int]] = {}
    for trial_id, found in contents.items():
        opened = [([json.loads(row.decode("utf-8", "surrogatepass")) for row in content], content) for content in found]
        opened.sort(key=lambda item: (item[0][0]["attempt"], item[0][0].get("at", ""), item[1]))
        number, final[trial_id] = 0, {}
        numbers: dict[int, list[int]] = defaultdict(list)
        for rows, content in opened:
            original = rows[0]["attempt"]
            number = max(number + 1, original)
            numbers[original].append(number)
            final[trial_id][content] = number
            first = rows[0]
            if number != original:
                first["original_attempt"] = original
            if first.get("goes_on_from"):
                earlier = {final[trial_id][other]: before for before, other in opened if other in final[trial_id]}
                del earlier[number]
                begun = _continued_attempt(rows, earlier)
                if begun != first["goes_on_from"]:
                    first["original_goes_on_from"], first["goes_on_from"] = first["goes_on_from"], begun
            rank = (first["system"], first["topic"], first["trial"], number, trial_id)
            numbered = [{**row, "attempt": number} for row in rows]
            # Keys in the order in which people read them.
            orders = [(*_FIRST_KEYS, *sorted(row)) for row in numbered]
            attempts.append(
                (rank, [{key: row[key] for key in order if key in row} for row, order in zip(numbered, orders)])
            )
        for original, given in numbers.items():
            if len(given) > 1:
                conflicts.append(
                    f"{first['system']}, {first['topic']}, trial {first['trial']}: attempt {original} was recorded "
                    f"in {len(given)} different ways, kept as attempts {', '.join(map(str, given))}"
                )
    attempts.sort(key=lambda item: item[0])
    return [rows for _, rows in attempts], sorted(conflicts), final


def _continued_attempt(rows: Sequence[dict[str, Any]], earlier: Mapping[int, Sequence[dict[str, Any]]]) -> int:
    """Return the number of the attempt whose answered turns `rows` begin with. The recorded number may now belong to
    another attempt, so the turns decide. If no turn was copied, the recorded number is returned. `earlier` has the
    earlier attempts of the trial by their new numbers."""
    recorded = int(rows[0]["goes_on_from"])
    own = _answered_rows(rows)

    def likeness(number: int) -> tuple[int, bool, bool]:
        alike = 0
        for one, two in zip(own, _answered_rows(earlier[number])):
            if one != two:
                break
            alike += 1
        return alike, earlier[number][0]["attempt"] == recorded, number == recorded

    best = max(earlier, key=likeness, default=recorded)
    return best if best in earlier and any(likeness(best)) else recorded


def _answered_rows(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "attempt": 0} for row in rows if row["event"] == "turn"]


def _unite_headers(headers: Sequence[Header], paths: Sequence[Path], *, saved: bool) -> Header:
    """Unite the headers of the runs, or raise RunError with their differences. `saved` is True if the runs were
    salvaged; a single salvaged shard remains a shard and can be continued."""
    for (one, first), (two, second) in combinations(zip(headers, paths), 2):
        changed = continuation.differences(one, two)
        if changed:
            raise RunError(
                f"{first} and {second} were recorded with different settings:\n"
                + "\n".join(f"  {row}" for row in changed),
                place=Place(str(second)),
                advice="merge only runs of the same protocol, seed, topics and systems",
            )
    parts: dict[str, dict[str, Any]] = {}
    for header in headers:
        # A merged run whose audit was changed later counts as one run: its parts had the earlier audit.
        if header.parts and not header.changes:
            own = [part for part in header.parts if isinstance(part, dict)]
        else:
            value = header.as_json()
            own = [{key: value[key] for key in header_faults.PART}]
        parts |= {canonical_json(part): part for part in own}
    ordered = [parts[text] for text in sorted(parts, key=lambda text: (str(parts[text]["created_at"]), text))]
    united = headers[0]
    for header in headers[1:]:
        united = replace(
            united,
            topics=continuation.united_topics(united, header, keep_order=False),
            systems=_unite_mappings(united.systems, header.systems),
            hashes={
                "protocol": united.hashes.get("protocol", ""),
                "topics": _unite_mappings(united.hashes.get("topics", {}), header.hashes.get("topics", {})),
                "systems": _unite_mappings(united.hashes.get("systems", {}), header.hashes.get("systems", {})),
            },
            extra=_unite_mappings(united.extra, header.extra),  # except for findings, which are united separately
        )
    first_part = ordered[0]
    shards = {shard_of(header.audit) for header in headers}
    audit: Json = first_part["audit"]
    if isinstance(audit, dict) and not (saved and len(shards) == 1 and None not in shards):
        audit = {key: value for key, value in audit.items() if key != "shard"}  # united shards are the whole audit
    return replace(
        united,
        audit=audit,
        created_at=str(first_part["created_at"]),
        software=first_part["software"],
        audit_commit=str(first_part["audit_commit"]),
        source=first_part["source"],
        redaction=first_part["redaction"],
        changes=(),
        parts=tuple(ordered),
    )


def _unite_mappings(one: Any, two: Any) -> dict[str, Json]:
    """Unite the mappings independently of the order of runs: in their common order, or else sorted."""
    if list(one) == list(two):
        return {key: min(one[key], two[key], key=canonical_json) for key in one}
    united = {**one, **{key: item for key, item in two.items() if key not in one}}
    return {
        key: min(one.get(key, united[key]), two.get(key, united[key]), key=canonical_json) for key in sorted(united)
    }


_Gold = Mapping[tuple[str, str], Mapping[str, Json]]


def gold_difference(runs: Iterable[Run]) -> str:
    """Return a sentence on a difference between the gold of the runs' audits, with two of the values, or "" if all
    agree. For each pair of runs, the newest tables are compared for the topics that are in both tables."""
    tables = [(set(run.header.hashes.get("topics", {})), *_read_gold(run)) for run in runs]
    for (topics, named, one), (others, also_named, two) in combinations(tables, 2):
        if bool(named) != bool(also_named):
            return f"gold differs ({join_values(named or None, also_named or None)})"
        if not one or not two:
            continue  # a run of a version that kept none, or one in which nothing was played yet
        changed = sorted(name for name in {*one, *two} if name[0] in topics & others and one.get(name) != two.get(name))
        if changed:
            (topic, entity), more = changed[0], len(changed) - 1
            path, *values = next(value_differences("", one.get(changed[0]), two.get(changed[0])))
            others_too = f"; and of {pluralize(more, 'more entity')}" if more else ""
            return f"the gold of {entity} in {topic} differs ({path[1:]}: {join_values(*values)}){others_too}"
    return ""


def _read_gold(run: Run) -> tuple[str, _Gold]:
    audit = run.header.audit
    name = audit.get("gold") if isinstance(audit, dict) else None
    tables = [one for one in read_layers(run.path) if (one.kind, one.author, one.source) == ("gold", TABLE, name)]
    judgments = tables[-1].judgments if name and tables else ()
    return str(name or ""), {
        (str(one.about.get("topic")), str(one.about.get("entity"))): one.value
        for one in judgments
        if isinstance(one.value, dict)
    }
