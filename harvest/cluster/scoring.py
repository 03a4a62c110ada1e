"""Scoring of many runs on the workers of a Dask cluster, one task for each."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from harvest.cluster.client import connected, gone, threads, wait
from harvest.cluster.scoring_task import KeptScores, score_run, scoring_task
from harvest.studies.runs.side_by_side import refuse_twice
from harvest.studies.scores.score_request import ScoreRequest
from recordings.log.run_folder import Run
from recordings.log.store import read_header


def score_on_cluster(runs: Sequence[Path], request: ScoreRequest, address: str) -> Iterator[tuple[Path, KeptScores]]:
    """Score each run separately and keep its scores in its folder, as `harvest score RUN --keep` does.

    Yields each run with its result, in order. Raises RunError for a folder that is not a run, and InputError for a run
    given twice, or if the cluster cannot be reached or is gone.
    """
    refuse_twice([Run(run, read_header(run), (), ()) for run in runs])
    tasks = [scoring_task(run, request) for run in runs]
    with connected(address) as client:
        threads(client, address)
        futures = client.map(score_run, tasks, pure=False)
        for run, future in zip(runs, futures, strict=True):
            while not future.done():
                wait(client, [future])
            if future.status == "error":
                yield run, KeptScores(fault=str(future.exception()))
            elif future.status == "finished":
                yield run, future.result()
            else:
                raise gone()
