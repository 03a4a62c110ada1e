"""The audit in a run's `run.json`, validated like an audit file."""

from collections.abc import Mapping
from typing import Any, TypeVar

from harvest.audits.audit_file import Scoring
from harvest.audits.threshold import Threshold
from recordings.log.header_faults import placed_part
from recordings.log.run_folder import Run
from topics.document import Document, StrictModel
from topics.errors import InputError
from topics.yaml_values import Loc

_Model = TypeVar("_Model", bound=StrictModel)


def recorded_audit(run: Run) -> Mapping[str, Any]:
    """Return the resolved audit, or {} if the run has none."""
    return run.header.audit if isinstance(run.header.audit, dict) else {}


def recorded_scoring(run: Run) -> dict[str, Any]:
    """Return the audit's scoring settings. Raises InputError, with the place in `run.json`, for invalid ones."""
    found = recorded_audit(run).get("scoring") or {}
    return _validate(run, ("scoring",), found, Scoring).model_dump(exclude_none=True)


def recorded_thresholds(run: Run) -> tuple[Threshold, ...]:
    """Return the audit's thresholds. Raises InputError, with the place in `run.json`, for invalid ones."""
    found = recorded_audit(run).get("thresholds") or ()
    return tuple(_validate(run, ("thresholds", i), bound, Threshold) for i, bound in enumerate(found))


def _validate(run: Run, loc: Loc, value: object, model: type[_Model]) -> _Model:
    path = str(run.path / "run.json")
    try:
        return Document(path, value, {}, {}).validated(model)
    except InputError:
        audit = placed_part(path, "audit")
        if audit is None:
            raise
        return audit.part(loc).validated(model)  # raises the same error, with its place
