"""The pytest plug-in: the fixture `harvest_audit` plays an audit in a test, which then looks at its figures.

pytest imports this module in every project that has Harvest installed, so it imports the rest only when a test asks
for the fixture.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    from harvest.audits.audit import Audit
    from harvest.audits.scoring_section import Threshold
    from harvest.studies.scores.bounds import CheckedBound
    from recordings.log.run_folder import Run
    from scoring.settings import Estimand
    from scoring.table import ScoreRow

    Playing: TypeAlias = Callable[..., "AuditedRun"]


@pytest.fixture(scope="session")
def _harvest_shared() -> dict[Path, AuditedRun]:
    """The audits that were played once for all tests of the session, by file."""
    return {}


@pytest.fixture
def harvest_audit(
    tmp_path: Path,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    _harvest_shared: dict[Path, AuditedRun],
) -> Playing:
    """Play an audit in a temporary folder, or read a recorded run, and return an `AuditedRun`.

    The argument of the fixture is an audit, its file, the name of a shipped audit, or a run folder, which is scored as
    it is. Relative paths start at the folder of the test's file, or else at the working directory. With `once=True`, an
    audit's file is played once for all tests of the session that say so.
    """

    def audited(what: Audit | str | PathLike[str], *, once: bool = False) -> AuditedRun:
        from harvest.audits.audit import Audit
        from harvest.playing.play import play
        from recordings.log.run_folder import is_run, read

        if isinstance(what, Audit):
            return AuditedRun(play(what, tmp_path / "run"))
        beside = request.path.parent / what
        place = beside if beside.exists() else Path(what)
        if is_run(place):
            return AuditedRun(read(place))
        if not once:
            return AuditedRun(play(str(place), tmp_path / f"run-{place.stem}"))
        if (file := place.absolute()) not in _harvest_shared:
            folder = tmp_path_factory.mktemp("harvest") / f"run-{place.stem}"
            _harvest_shared[file] = AuditedRun(play(str(place), folder))
        return _harvest_shared[file]

    return audited


@dataclass(frozen=True)
class AuditedRun:
    """A run with the figures that a test asks about.

    Figures are of these topics unless `estimand` is `like-these`, because a test asks whether the system still answers
    them, not whether it would answer others.
    """

    run: Run

    def figure(
        self,
        measure: str,
        *,
        system: str | None = None,
        turn: int | None = None,
        topic_type: str | None = None,
        estimand: Estimand = "these",
    ) -> ScoreRow:
        """Return a figure with its `value`, `n`, and interval from `low` to `high`. They are NaN if undefined, so that
        every bound on them fails. Raises InputError if the run has no such figure, or several systems and none is
        named."""
        __tracebackhide__ = True
        found = self._checked(
            [_threshold(measure, system=system, turn=turn, topic_type=topic_type, at_least=0, estimand=estimand)]
        )
        rows = [one.row for one in found if one.row is not None]
        if len(rows) == 1:
            return rows[0]
        from topics.errors import InputError, Place

        place = Place(str(self.run.path))
        if not rows:
            raise InputError(f"{found[0].name}: {found[0].why}", place=place)
        systems = ", ".join(row.system for row in rows)
        raise InputError(
            f"{found[0].name} has a figure for each system", place=place, allowed=f"system= one of {systems}"
        )

    def check(
        self,
        measure: str,
        *,
        at_least: float | None = None,
        at_most: float | None = None,
        system: str | None = None,
        turn: int | None = None,
        topic_type: str | None = None,
        estimand: Estimand = "these",
        judge: str = "interval",
        strict: bool = False,
    ) -> None:
        """Raise AssertionError if a figure misses a bound, or was not measured. The arguments are those of a threshold
        of an audit. If the bound lies inside the interval, the figure passes unless `strict` is true."""
        __tracebackhide__ = True
        self._require(
            [
                _threshold(
                    measure,
                    at_least=at_least,
                    at_most=at_most,
                    system=system,
                    turn=turn,
                    topic_type=topic_type,
                    estimand=estimand,
                    judge=judge,
                )
            ],
            strict=strict,
        )

    def check_thresholds(self, *, strict: bool = False) -> None:
        """Raise AssertionError if a threshold of the audit is missed or was not measured. Raises InputError if the
        audit has no thresholds."""
        __tracebackhide__ = True
        from harvest.studies.runs.readings import recorded_thresholds
        from topics.errors import InputError, Place

        thresholds = recorded_thresholds(self.run)
        if not thresholds:
            raise InputError(
                "the audit of this run has no thresholds",
                place=Place(str(self.run.path)),
                advice="add thresholds to the audit, or check a figure with check(MEASURE, at_least=…)",
            )
        self._require(thresholds, strict=strict)

    def _require(self, thresholds: Sequence[Threshold], *, strict: bool) -> None:
        __tracebackhide__ = True
        import click

        from harvest.studies.scores.bound_lines import bound_lines, noticed_words

        failing = {"missed", "not measured", *(["cannot tell"] if strict else [])}
        checked = self._checked(thresholds)
        for sentence in filter(None, map(noticed_words, checked)):
            click.echo(sentence)  # pytest shows it with -rP, and of a test that fails
        failed = [one for one in checked if one.verdict in failing]
        if failed:
            raise AssertionError("\n".join(line.plain for line in bound_lines(failed)))

    def _checked(self, thresholds: Sequence[Threshold]) -> tuple[CheckedBound, ...]:
        from harvest.studies.scores.gathered import gather_runs
        from harvest.studies.scores.score_request import ScoreRequest

        material = replace(gather_runs(self.run).material, thresholds=tuple(thresholds))
        return ScoreRequest().scored(material).bounds


def _threshold(measure: str, **given: Any) -> Threshold:
    from harvest.audits.scoring_section import Threshold

    return Threshold(measure=measure, **given)
