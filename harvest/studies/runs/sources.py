"""What figures were made from: the runs by name, date and content, so that somebody else can find them again."""

from collections.abc import Sequence

from harvest.studies.runs.readings import reading_of
from harvest.studies.runs.side_by_side import run_names
from recordings.files.json_text import Json
from recordings.log.provenance import DISTRIBUTION
from recordings.log.run_folder import Run
from topics.identity import content_hash


def sources(runs: Sequence[Run]) -> list[dict[str, Json]]:
    """For each run a JSON value: its name, when it was begun, the audit and its commit, the version of Harvest that
    began it, all that recorded it or read its pages again, and content hashes of its protocol, of all its topics
    together, and of each system.
    """
    return [_source(name, run) for name, run in zip(run_names(runs), runs, strict=True)]


def _source(name: str, run: Run) -> dict[str, Json]:
    header = run.header
    audit = header.audit.get("name") if isinstance(header.audit, dict) else None
    topics, systems = header.hashes.get("topics") or {}, header.hashes.get("systems") or {}
    return {
        "run": name,
        "created_at": header.created_at,
        "audit": audit,
        "audit_commit": header.audit_commit,
        "recorded_with": header.software.get(DISTRIBUTION, ""),
        "reading": reading_of(run).as_json(),
        "protocol": header.hashes.get("protocol"),
        "topics": content_hash("topics-of-run", dict(topics)),
        "systems": dict(systems),
    }
