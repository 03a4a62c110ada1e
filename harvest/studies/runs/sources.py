"""Descriptions of the runs behind a study's figures, so that readers can find the runs again."""

from collections.abc import Sequence

from harvest.studies.runs.readings import reading_of
from harvest.studies.runs.side_by_side import run_names
from recordings.files.json_text import Json
from recordings.log.header import DISTRIBUTION
from recordings.log.run_folder import Run
from topics.identity import content_hash


def sources(runs: Sequence[Run]) -> list[dict[str, Json]]:
    """Return a JSON object for each run. The object has the run's name, start, audit and commit; the versions of
    Harvest that began, recorded or reread the run; and content hashes of the protocol, of all topics together,
    and of each system."""
    found: list[dict[str, Json]] = []
    for name, run in zip(run_names(runs), runs, strict=True):
        header = run.header
        found.append(
            {
                "run": name,
                "created_at": header.created_at,
                "audit": header.audit.get("name") if isinstance(header.audit, dict) else None,
                "audit_commit": header.audit_commit,
                "recorded_with": header.software.get(DISTRIBUTION, ""),
                "reading": reading_of(run).as_json(),
                "protocol": header.hashes.get("protocol"),
                "topics": content_hash("topics-of-run", dict(header.hashes.get("topics") or {})),
                "systems": dict(header.hashes.get("systems") or {}),
            }
        )
    return found
