"""New runs made by rereading the answers of another run, which is not changed.

Every row is as it was recorded, except for answers, decisions and outcomes that changed. Changed rows keep the former
values under `before`. Exhibits are copied, so that the new run can be reread as well.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from protocols.answer import PARTS, Answer
from protocols.route import Route
from recordings.checking.chain_check import check_written
from recordings.conversations.conversation import Outcome, SystemTurn
from recordings.events.attempts import Attempt, AttemptId
from recordings.events.event_lines import FORMAT, encode
from recordings.events.events import Answered, Routed, TrialEnded
from recordings.files.errors import RunError
from recordings.files.json_text import Json, encode_line
from recordings.files.stored_lines import read_lines
from recordings.files.times import Now, stamp, utc_now
from recordings.log.header import software
from recordings.log.noted import add_findings
from recordings.log.run_folder import Run, event_files, harvest_versions
from recordings.merging.folder_copy import atomic_folder, copy_contents, write_run
from recordings.secrets.redaction import Redactor, count_marks
from topics.errors import Place

_TURN_KEYS = ("text", "links")
_EMPTY_PARTS: Mapping[str, Json] = {**{key: [] for key in PARTS}, "thoughts": "", "refused": False, "refusal": ""}
_ROUTE_KEYS = ("label", "rule", "version", "evidence", "target")
_END_KEYS = ("outcome", "reason", "detail")


@dataclass(frozen=True, slots=True)
class Revision:
    """The changes to one attempt: answers and routes by turn number, and the outcome, which is None if unchanged."""

    answers: Mapping[int, Answer] = field(default_factory=dict)
    routes: Mapping[int, Route] = field(default_factory=dict)
    outcome: Outcome | None = None

    def revised_values(self, attempt: Attempt, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the revised values of a row by key, or {} if the row is unchanged."""
        trial_id, number, turn = attempt.started.trial_id, attempt.started.attempt, int(row.get("turn") or 0)
        if row.get("event") == "turn" and turn in self.answers:
            value = encode(Answered(trial_id, number, turn, SystemTurn(self.answers[turn])))
            gone = {key: _EMPTY_PARTS[key] for key in PARTS if key in row and key not in value}
            return {key: value[key] for key in (*_TURN_KEYS, *PARTS) if key in value} | gone
        if row.get("event") == "route" and turn in self.routes:
            value = encode(Routed(trial_id, number, self.routes[turn]))
            return {key: value[key] for key in _ROUTE_KEYS}
        if row.get("event") == "trial-ended" and self.outcome is not None:
            value = encode(TrialEnded(trial_id, number, self.outcome))
            return {key: value[key] for key in _END_KEYS}
        return {}

    def rows(self, attempt: Attempt, redactor: Redactor) -> list[dict[str, Any]]:
        marks = 0
        rows: list[dict[str, Any]] = []
        for recorded in attempt.rows:
            row: dict[str, Any] = dict(recorded)
            if not rows:
                row["worker"] = attempt.started.worker or attempt.worker
            now = redactor.value(self.revised_values(attempt, row))
            changed = {key: value for key, value in now.items() if row.get(key) != value}
            if changed:
                # An earlier revision's `before` stays within this one's.
                row |= {**now, "before": {key: row[key] for key in (*now, "before") if key in row}}
                marks += count_marks(encode_line(row).decode()) - count_marks(encode_line(dict(recorded)).decode())
            if row.get("event") == "trial-ended" and marks > 0:
                row["redacted"] = int(row.get("redacted", 0)) + marks
            rows.append(row)
        return rows


def write_revision(
    run: Run,
    out: str | PathLike[str],
    revisions: Mapping[AttemptId, Revision],
    *,
    told: Mapping[str, Json],
    clock: Now = utc_now,
) -> list[str]:
    """Write `run` with its revisions into the new folder `out`, which appears completely or not at all. Returns
    sentences on errors in exhibits and files. `told` has additional values for the header's `source`. Raises RunError
    if `out` exists or is inside the run, and StoreError if it cannot be written."""
    target = Path(out)
    check_target(run, target)
    redactor = Redactor()  # secrets that an older Harvest did not recognise must not spread
    source: dict[str, Json] = {
        "format": "reread",
        "run": run.path.resolve().name,
        "created_at": run.header.created_at,
        "files": {
            file.name: hashlib.blake2b(read_lines(run.path, file.name), digest_size=20).hexdigest()
            for file in event_files(run.path)
        },
        "at": stamp(clock()),
        "software": dict(software()),
        "recorded_with": list(harvest_versions(run)),
        **told,
    }
    if run.header.source is not None:
        source["source"] = run.header.source
    rows: list[dict[str, Any]] = [{"event": "opened", "format": FORMAT, "worker": "000001", "reread": True}]
    for attempt in run.attempts:
        revision = revisions.get((attempt.started.trial_id, attempt.started.attempt), Revision())
        rows += revision.rows(attempt, redactor)
    with atomic_folder(target) as building:
        left_out = copy_contents(run, building)
        found = check_written(run.path)
        header = add_findings(
            replace(run.header, source=source), found.new_header_findings(run.path, left_out, run.damage)
        )
        write_run(building, header, rows)
    return [*run.damage, *(f"{run.path}/{fault}" for fault in (*found.faults, *found.gaps)), *left_out]


def check_target(run: Run, target: Path) -> None:
    """Raise RunError if a revision of `run` cannot be written to `target`."""
    if target.exists():
        raise RunError("this folder already exists", place=Place(str(target)), advice="choose a new folder: --out")
    if run.path.resolve() in target.resolve().parents:
        raise RunError("this is inside the run itself", place=Place(str(target)), advice="choose another folder: --out")
