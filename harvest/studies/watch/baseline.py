"""The blessed baseline with which later audits are compared: one small file without any text of a conversation.

The file has, for each system, the figures by topic and by run, how often each path through the protocol was taken
(by label), the numbers of trials, and hashes that identify the protocol, topics, scoring and systems. The file can
therefore be committed, and a machine that starts from scratch each night needs no other file.
"""

import json
import re
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from harvest.studies.runs.readings import recorded_audit, recorded_scoring
from harvest.studies.runs.side_by_side import failures_clause, no_valid_trials_clause, silent_systems
from harvest.studies.runs.sources import sources
from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.lost_attempts import loss_words
from harvest.studies.scores.scorecard import Material
from harvest.studies.scores.trial_figures import Figure, figure_values, figures_of
from harvest.studies.validity.concentrations import loss_table
from harvest.studies.validity.user_card import joined_tables
from harvest.studies.watch.dependence import BLESSED_P, dependence_in_time
from harvest.studies.watch.ways import Turn, Ways, ways
from recordings.conversations.conversation import Conversation
from recordings.conversations.endings import CUT_ENDS
from recordings.files.json_text import Json
from recordings.log.header import Header
from recordings.log.run_folder import Run
from scoring.inference.drift import Baseline
from scoring.inference.turn_events import join_events
from scoring.notation import Term
from scoring.settings import Settings
from topics.document import StrictModel, read_json_document
from topics.errors import InputError, Place
from topics.identity import content_hash

# Figures that may raise an alarm: more would each need more evidence.
GATED = 3

_Unit = Annotated[float, Field(ge=0, le=1)]
# Most trials: more are a typing error, and too many for the arithmetic of the tests.
_MOST_TRIALS = 999_999_999
# The share of valid trials that failing users may cut short.
_MOST_CUT = 0.05

_Count = Annotated[int, Field(ge=1, le=_MOST_TRIALS)]

# As `scoring.inference.turn_events.EventTable`.
_Events = dict[str, dict[str, tuple[Annotated[int, Field(ge=0)], _Count]]]


class FigureBaseline(StrictModel):
    """A figure in the baseline. `topics` has, for each topic, the number of trials, their mean, and their variance or
    null. `runs` has the value in each run. `inflation` is that of `scoring.inference.drift.Baseline`."""

    topics: dict[str, tuple[_Count, _Unit, Annotated[float, Field(ge=0, le=1)] | None]]
    runs: tuple[_Unit, ...]
    inflation: Annotated[float, Field(ge=1, allow_inf_nan=False)] = 1.0

    def select_topics(self, topics: Sequence[str]) -> Baseline:
        """Return the baseline over these topics."""
        cells = [self.topics[topic] for topic in topics]
        return Baseline(
            np.array([mean for _, mean, _ in cells]),
            np.array([np.nan if variance is None else variance for _, _, variance in cells]),
            np.array([count for count, _, _ in cells], dtype=np.float64),
            np.array(self.runs),
            self.inflation,
        )


class SystemBaseline(StrictModel):
    """A system in the baseline.

    `identity` is the content hash of the system's definition. `planned` and `valid` are numbers of trials. `models`
    are the models that answered, as named by the system. `ways` has, by topic, each path through the protocol and
    the number of trials that took this path. `users` counts trials by the first fault of a user played by a model
    (see `harvest.studies.validity.user_card`). `lost` counts the attempts lost after an answer (see
    `harvest.studies.validity.concentrations`). Both are {} in older files. `in_time` says how trials near each other
    in time are alike, or is "" (see `harvest.studies.watch.dependence`).
    """

    identity: str
    planned: Annotated[int, Field(ge=0, le=_MOST_TRIALS)]
    valid: _Count
    figures: dict[str, FigureBaseline]
    ways: dict[str, tuple[tuple[tuple[Turn, ...], _Count], ...]]
    models: tuple[str, ...] = ()
    users: dict[str, _Events] = Field(default_factory=dict)
    lost: _Events = Field(default_factory=dict)
    in_time: str = ""

    @property
    def cut_short(self) -> int:
        """The number of valid trials that a failure of the user cut short."""
        return sum(
            count
            for taken in self.ways.values()
            for way, count in taken
            if way and way[-1][0] == "end" and way[-1][1] in CUT_ENDS
        )

    def counted(self) -> Ways:
        return {topic: dict(taken) for topic, taken in self.ways.items()}


class BaselineFile(StrictModel):
    """A `harvest-baseline/1` file. `gated` has the measures that may raise an alarm; other measures are only shown.
    `runs` describes the blessed runs. `protocol` and `topics` are content hashes, and `scoring` has the scoring
    settings."""

    format: Literal["harvest-baseline/1"]
    audit: str
    blessed_at: str
    blessed_by: str
    gated: Annotated[tuple[str, ...], Field(min_length=1, max_length=GATED)]
    runs: tuple[dict[str, Any], ...]
    protocol: str
    topics: dict[str, str]
    scoring: dict[str, Any]
    systems: dict[str, SystemBaseline]

    @property
    def identity(self) -> str:
        """The content hash by which a history refers to its baseline."""
        return content_hash("baseline", self._plain())

    def contains_run(self, header: Header) -> bool:
        """Return true if the run with this header was blessed."""
        own = (header.created_at, header.hashes.get("protocol"))
        return any(own == (one.get("created_at"), one.get("protocol")) for one in self.runs)

    def _plain(self) -> dict[str, Any]:
        """Return the JSON value without empty fields, so that new fields do not change the identity of older files."""
        return self.model_dump(mode="json", exclude_defaults=True)

    def text(self) -> str:
        """Return the content of the file, with a line for each entry, so that changes are readable in a diff."""
        return json.dumps(self._plain(), ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def is_baseline(data: bytes) -> bool:
    """Return true for a baseline of any version, including versions that can no longer be read."""
    return re.search(rb'"format"\s*:\s*"harvest-baseline/', data) is not None


def make_baseline(runs: Sequence[Run], *, measures: Sequence[Term], by: str, at: str) -> BaselineFile:
    """Return the baseline of `runs`, which must be audits of the same systems over the same topics. `measures` may
    raise an alarm. `by` records who blessed the runs, and `at` records when. Raises InputError if the protocol,
    topics or scoring differ; if a system has no valid trial in a run; for more than `GATED` measures; and for a
    measure that has no values in [0, 1] for single trials, or no value for some system and run."""
    runs = gather_runs(runs).runs
    named = [identities(run) for run in runs]
    for what in ("protocol", "topics", "scoring"):
        if any(one[what] != named[0][what] for one in named):
            raise InputError(
                f"these runs differ in {what}, so they cannot form one baseline",
                advice="bless runs of one audit; `harvest compare` shows how runs differ",
            )
    alone = [gather_runs(run) for run in runs]
    first, settings = alone[0].material, alone[0].settings
    gated = figures_of(measures, settings, first, gated=True)
    if len({one.name for one in gated}) > GATED:
        raise InputError(
            f"{len(gated)} measures would raise an alarm",
            allowed=f"at most {GATED}, because each further measure needs more evidence",
            advice="name the most important with --measure; all other measures are shown anyway",
        )
    each = [one.material for one in alone]
    for run, material in zip(runs, each, strict=True):
        # A system that never answered would be missing from the baseline, and nobody would watch it.
        silent = silent_systems(material.systems, material.finished)
        if silent:
            raise InputError(
                f"{no_valid_trials_clause(silent)}, so later audits could not be compared with it",
                place=Place(str(run.path)),
                advice=f"{failures_clause(str(run.path))}; bless runs in which every system answered",
            )
        _refuse_losses(run, material)
    every = list({one.name: one for one in (*gated, *figures_of((), settings, first, gated=False))}.values())
    systems = {name: _system_baseline(name, runs, each, every, gated, settings) for name in first.systems}
    for name, system in systems.items():
        for figure in gated:
            if figure.name not in system.figures:
                raise InputError(
                    f"{figure.name} of {name} has no value in some of these runs, so it could never raise an alarm",
                    advice="name another measure with --measure, or bless runs of more trials",
                )
    return BaselineFile(
        format="harvest-baseline/1",
        audit=str(recorded_audit(runs[0]).get("name", "")),
        blessed_at=at,
        blessed_by=by,
        gated=tuple(one.name for one in gated),
        runs=tuple(dict(one) for one in sources(runs)),
        protocol=str(named[0]["protocol"]),
        topics=dict(named[0]["topics"]),  # type: ignore[call-overload]
        scoring=settings.as_json(),
        systems=systems,
    )


def _refuse_losses(run: Run, material: Material) -> None:
    if material.concentrations:
        raise InputError(
            material.concentrations[0].sentence,
            place=Place(str(run.path)),
            advice="remove the cause, and bless a new run",
        )
    for system, cut in material.cut_short.items():
        valid = sum(one.key.system == system for one in material.finished)
        if cut.total() > _MOST_CUT * valid:
            raise InputError(
                f"{system}: {loss_words(system, material)}, and their continuation is unknown",
                place=Place(str(run.path)),
                advice="remove the cause, and bless a new run",
            )


def _system_baseline(
    system: str,
    runs: Sequence[Run],
    each: Sequence[Material],
    figures: Sequence[Figure],
    gated: Sequence[Figure],
    settings: Settings,
) -> SystemBaseline:
    tables: dict[str, FigureBaseline] = {}
    in_time, inflation = dependence_in_time(system, each, gated, settings, p=BLESSED_P)
    by_run = [figure_values(system, material, figures, settings) for material in each]
    for figure in figures:
        cells = [found.get(figure.name, {}) for found in by_run]
        topics = [topic for topic in cells[0] if all(topic in one for one in cells)]
        if topics:
            joined = {topic: np.concatenate([np.asarray(one[topic]) for one in cells]) for topic in topics}
            tables[figure.name] = FigureBaseline(
                topics={
                    topic: (len(own), float(own.mean()), float(own.var(ddof=1)) if len(own) > 1 else None)
                    for topic, own in joined.items()
                },
                runs=tuple(float(np.mean([np.mean(one[topic]) for topic in topics])) for one in cells),
                inflation=inflation,
            )
    finished = [one for material in each for one in material.finished if one.key.system == system]
    return SystemBaseline(
        identity=str((runs[0].header.hashes.get("systems") or {}).get(system, "")),
        planned=sum(key.system == system for material in each for key in material.planned),
        valid=len(finished),
        figures=tables,
        ways={topic: tuple(taken.items()) for topic, taken in ways(finished).items()},
        models=models_of(finished),
        users=joined_tables([material.fault_tables(system) for material in each]),
        lost=join_events(
            loss_table(one for one in material.conversations if one.key.system == system) for material in each
        ),
        in_time=in_time,
    )


def models_of(conversations: Sequence[Conversation]) -> tuple[str, ...]:
    """Return the names of the models that answered in these conversations, sorted."""
    return tuple(sorted({model for one in conversations for model in one.models}))


def identities(run: Run) -> Mapping[str, Json]:
    """Return the content hashes and settings that two runs must share to be compared."""
    hashes = run.header.hashes
    return {
        "protocol": hashes.get("protocol"),
        "topics": dict(hashes.get("topics") or {}),
        "scoring": Settings.of(recorded_scoring(run), {}).as_json(),
    }


def refuse_other_audit(header: Header, baseline: BaselineFile, place: Place) -> None:
    """Raise InputError unless the audit has the baseline's name, or the same protocol, topics and systems."""
    audit = header.audit if isinstance(header.audit, dict) else {}
    name = str(audit.get("name", ""))
    if name == baseline.audit:
        return
    topics, systems = (header.hashes.get(part) or {} for part in ("topics", "systems"))
    same = header.hashes.get("protocol") == baseline.protocol
    same = same and all(topics.get(topic) == own for topic, own in baseline.topics.items())
    if not (same and all(systems.get(one) == own.identity for one, own in baseline.systems.items())):
        raise InputError(
            f"this run is of the audit {name!r}, but the baseline is of the audit {baseline.audit!r}",
            place=place,
            allowed=f"{baseline.audit!r}, or an audit of its protocol, topics and systems under another name",
            advice="use the baseline of this audit, or bless a run of it: harvest watch bless RUN… --out FILE",
        )


def read_baseline(path: str | PathLike[str]) -> BaselineFile:
    """Read a baseline. Raises InputError for an invalid file."""
    return read_json_document(path, BaselineFile, "a baseline", "harvest watch bless RUN… --out FILE")
