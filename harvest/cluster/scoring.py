"""Scoring of many runs on the workers of a Dask cluster, with one task for each run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harvest.cluster.client import connect_client, count_threads, scheduler_gone_error, wait_for_any
from harvest.studies.runs.side_by_side import refuse_repeated_runs
from harvest.studies.scores.bounds import CheckedBound
from harvest.studies.scores.score_file import write_scores
from harvest.studies.scores.score_request import ScoreRequest
from recordings.files.digests import content_digest
from recordings.judged import decisions
from recordings.log.header import read_header, software
from recordings.log.run_folder import Run, event_file_sizes, read
from topics.errors import HarvestError, InputError
from topics.regular_file import list_entries


@dataclass(frozen=True, slots=True)
class ScoringTask:
    """A run to score. `run` is its folder, as a path that exists for all workers. `seen` describes the run's files as
    read by the command. `versions` are the versions of the command's software."""

    run: str
    request: ScoreRequest
    seen: Mapping[str, Any]
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class KeptScores:
    """The result of a task. `bounds` are the checked thresholds of the run's audit. `fault` is the reason why no
    scores were kept, or "" if scores were kept."""

    bounds: tuple[CheckedBound, ...] = ()
    fault: str = ""


def scoring_task(run: Path, request: ScoreRequest) -> ScoringTask:
    """Create a task. Files that the request names are resolved on this machine."""
    folder, request = (
        run.absolute(),
        replace(
            request,
            gold=_absolute_if_file(request.gold),
            schema=_absolute_if_file(request.schema),
            sources=_absolute_if_file(request.sources),
        ),
    )
    return ScoringTask(str(folder), request, _read_folder(folder, request), software())


def _absolute_if_file(named: str | None) -> str | None:
    return str(Path(named).absolute()) if named and Path(named).is_file() else named


def score_run(task: ScoringTask) -> KeptScores:
    """Write the `scores.json` that `harvest score RUN --keep` would write on the command's machine."""
    folder = Path(task.run)
    try:
        versions = software()
        differing = [name for name in {**task.versions, **versions} if versions.get(name) != task.versions.get(name)]
        if differing:
            name = differing[0]
            raise InputError(
                f"a worker has {name} {versions.get(name, '(not installed)')}, "
                f"but the command has {task.versions.get(name, '(not installed)')}",
                allowed="workers with the same versions, because figures may depend on them",
            )
        try:
            same = _read_folder(folder, task.request) == task.seen
        except OSError:
            same = False
        if not same:
            raise InputError(
                f"a worker sees files that differ from those of the command, in {task.run} or for its options",
                allowed="runs and files in folders that all workers share by the same paths",
            )
        material = task.request.gathered([read(folder)]).material
        scored = task.request.scored(material)
        write_scores(
            folder,
            scored.table,
            task.request.seed,
            scored.selection.as_json(),
            measures=scored.measures,
            names=scored.names,
        )
    except HarvestError as fault:
        return KeptScores(fault=str(fault))
    return KeptScores(scored.bounds)


def _read_folder(folder: Path, request: ScoreRequest) -> dict[str, Any]:
    given = request.gold, request.schema, request.sources
    named = [Path(name) for name in given if name and Path(name).is_absolute()]
    judged = [file for kind in ("judgments", decisions.FOLDER) for file in list_entries(folder, kind, "*.jsonl")]
    files = [folder / "run.json", *judged, *named]
    return {"events": event_file_sizes(folder), "files": {str(file): content_digest(file) for file in files}}


def score_on_cluster(runs: Sequence[Path], request: ScoreRequest, address: str) -> Iterator[tuple[Path, KeptScores]]:
    """Score each run separately and keep its scores in its folder, as `harvest score RUN --keep` does. Yields each
    run with its result, in order. Raises RunError for a folder that is not a run, and InputError if a run is given
    twice or if the cluster cannot be reached or is gone."""
    refuse_repeated_runs([Run(run, read_header(run), (), ()) for run in runs])
    tasks = [scoring_task(run, request) for run in runs]
    with connect_client(address) as client:
        count_threads(client, address)
        futures = client.map(score_run, tasks, pure=False)
        for run, future in zip(runs, futures, strict=True):
            while not future.done():
                wait_for_any(client, [future])
            if future.status == "error":
                yield run, KeptScores(fault=str(future.exception()))
            elif future.status == "finished":
                yield run, future.result()
            else:
                raise scheduler_gone_error()
