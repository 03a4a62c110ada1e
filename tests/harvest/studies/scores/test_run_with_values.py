"""Studies of values print the same of a run that is held whole, that is read in one pass, and of its columns."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from harvest.cli.main import main
from harvest.studies.compare.comparison import compare_runs
from harvest.studies.compare.document import comparison_form
from harvest.studies.runs.outlined_run import OutlinedRun
from harvest.studies.runs.readings import recorded_thresholds
from harvest.studies.scores import kept_columns
from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.kept_columns import keep_columns
from harvest.studies.scores.one_pass import run_or_columns, run_with_values
from harvest.studies.scores.score_request import ScoreRequest
from harvest.studies.variance.rows import variance_form
from harvest.studies.variance.variance import study_variance
from harvest.tables.study_form import FORMS
from recordings.conversations.conversation import Conversation
from recordings.conversations.endings import is_cut_short
from recordings.formats.imports import record
from recordings.judged.gold_layers import keep_gold
from recordings.log.header import make_header
from recordings.log.run_folder import Run, read
from scoring.notation import parse
from tests.harvest.studies.scores.test_one_pass import world
from tests.support.scoring_examples import CHAT, MOVIE, RESEARCHER, movie, topic_set
from topics.gold import GoldEntry, GoldTable
from topics.topic import Topic, TopicType

# The second of films is in no gold table; conversations on the others have other measures, or none.
TYPES = (MOVIE, MOVIE, CHAT, RESEARCHER)
ASKED = (
    (),
    ("R", "ave%useful"),
    ("%useful S2", "GFR", "GFR(alpha=0.3)", "D(RATINGS, 2)"),
    ("refusal_rate", "%sourced", "T-measure"),
)


@pytest.fixture(autouse=True)
def small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_columns, "FEWEST", 1)


def mixed(seed: int) -> list[Conversation]:
    """A world of fresh sessions, on topics of all types, in any order."""
    found = [replace(one, place=1) for one in world(seed)]
    more = [replace(one, key=replace(one.key, topic="M4")) for one in found if one.key.topic == "M1"]
    both = [*found, *(replace(one, trial_id=f"{one.trial_id}-4") for one in more)]
    random.Random(seed).shuffle(both)
    return both


def recorded(folder: Path, conversations: list[Conversation], *, gold: bool, types: tuple[TopicType, ...]) -> Path:
    header = make_header(
        audit={"name": "t", "trials": 9, "scoring": {"replications": 100}},
        protocol=None,
        topics=topic_set(*(Topic(f"M{number}", of, "say") for number, of in enumerate(types, 1))),
        systems={name: {"name": name, "driver": "python"} for name in ("A", "B", "C")},
    )
    record(folder, conversations, header)
    if gold:
        entries = [GoldEntry("M1", movie(at), at % 3, "", {"RATINGS": (1.0, 0.0, 0.0, 0.0)}) for at in range(1, 7)]
        keep_gold(folder, GoldTable(entries), source="t")
    return folder


def documents(run: Run, measures: tuple[str, ...], level: float) -> str:
    """What `compare` and `variance` say of a run, to the last bit."""
    terms = tuple(map(parse, measures))
    compared = comparison_form(
        compare_runs(gather_runs([run], {"level": level}), measures=terms), details=True, every=True
    )
    single = tuple(one for one in terms if one.name != "%recovery")
    varied = study_variance(gather_runs([run], {"level": level}), measures=single)
    return FORMS["json"].write(compared) + FORMS["json"].write(variance_form(varied, [run], 0))


def all_roads(folder: Path, measures: tuple[str, ...]) -> None:
    """Read a run whole, in one pass, and from its columns."""
    whole = documents(read(folder), measures, 0.9)
    request = ScoreRequest(measures, settings={"level": 0.9})
    passed, again = (run_with_values(folder, request, least=0) for _ in range(2))
    assert isinstance(passed, OutlinedRun)
    assert isinstance(again, OutlinedRun)
    assert (passed.is_kept, again.is_kept) == (False, True)
    assert documents(passed, measures, 0.9) == whole
    assert documents(again, measures, 0.9) == whole


@pytest.mark.parametrize("measures", ASKED, ids=" ".join)
@pytest.mark.parametrize("seed", range(2))
def test_studies_of_values_say_the_same_by_all_roads(seed: int, measures: tuple[str, ...], tmp_path: Path) -> None:
    gold = seed == 1
    all_roads(recorded(tmp_path / "run", mixed(seed), gold=gold, types=TYPES if gold else TYPES[::-1]), measures)


@pytest.mark.parametrize(
    "protocol",
    [
        "fairweb-two-round",
        *(pytest.param(name, marks=pytest.mark.soak) for name in ("helpdesk", "robustness", "recovery")),
    ],
)
def test_of_a_played_run_too(protocol: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text(
        f"format: harvest-audit/1\nname: a\ntopics: fairweb-45\nprotocol: {protocol}\ngold: parrot\n"
        "trials: 2\nseed: 3\nscoring: {replications: 100}\nsystems:\n"
        "  - {name: A, driver: parrot, options: {profile: steady}}\n"
        "  - {name: B, driver: parrot, options: {profile: erratic}}\n"
    )
    with pytest.raises(SystemExit, match="0"):
        main(["run", "a.yaml", "--out", "run", "--no-report"])
    all_roads(Path("run"), ())


def bounded(folder: Path, *thresholds: dict[str, object]) -> None:
    header = json.loads((folder / "run.json").read_bytes())
    header["audit"]["thresholds"] = [*thresholds]
    (folder / "run.json").write_text(json.dumps(header))
    assert len(recorded_thresholds(read(folder))) == len(thresholds)


def test_thresholds_are_for_score_alone(tmp_path: Path) -> None:
    folder = recorded(tmp_path / "run", mixed(1), gold=True, types=TYPES)
    bounded(folder, {"measure": "SWAN", "at_least": 0.5})
    all_roads(folder, ())


def told(run: Run, request: ScoreRequest) -> list[str]:
    """All that `score` prints and does not print of a request, to the last bit."""
    gathered = request.gathered([run])
    scored = request.scored(gathered.material)
    rows = [repr(row) + repr([getattr(row, name).hex() for name in ("value", "low")]) for row in scored.table.joint]
    trials = [repr(row) for row in scored.table.single("trial")]
    return [*rows, *trials, *scored.table.notes, *scored.table.coverage, repr(scored.selection), repr(scored.bounds)]


def as_whole(folder: Path, request: ScoreRequest) -> OutlinedRun:
    """Return the run as `score` takes it, whose columns are then kept: all that is said of it is as of the whole."""
    run, basis = run_or_columns(folder, request)
    assert run is not None
    assert told(run, request) == told(read(folder), request)
    if basis is not None:
        table = request.scored(request.gathered([run]).material).table
        keep_columns(run, basis, None if request.measures else table)
    return run


def lossless(seed: int) -> list[Conversation]:
    found = {one.key: one for one in mixed(seed) if one.valid and not is_cut_short(one.outcome)}
    return [*found.values()]


FEW = {"replications": 100}


@pytest.mark.parametrize("gold", [False, True], ids=["without gold", "gold"])
def test_measures_that_are_asked_for_come_from_columns(*, gold: bool, tmp_path: Path) -> None:
    folder = recorded(tmp_path / "run", mixed(int(gold)), gold=gold, types=TYPES if gold else TYPES[::-1])
    usual = ScoreRequest(settings=FEW)
    assert not as_whole(folder, usual).is_kept
    asked = [ScoreRequest(measures, settings=FEW) for measures in ASKED[1:]]
    for request in asked:
        as_whole(folder, request)
        assert as_whole(folder, request).is_kept
    for request in (usual, ScoreRequest(("R",) if gold else ("%useful S1",), settings=FEW)):
        again = as_whole(folder, request)
        assert again.is_kept
        assert (again.kept is not None) == (gold or request is usual)
    assert as_whole(folder, asked[-1]).is_kept
    assert not as_whole(folder, asked[-2]).is_kept  # only those that were asked for last are kept


@pytest.mark.parametrize(
    "thresholds",
    [
        [{"measure": "ave%useful", "system": "A", "at_least": 0.5}, {"measure": "R", "at_most": 0.5}],
        [
            {"measure": "%useful", "turn": 1, "at_least": 0.5, "estimand": "these"},
            {"measure": "T-measure", "at_most": 1},
        ],
    ],
    ids=["of what every run has", "of another measure, of these topics"],
)
def test_thresholds_are_checked_on_columns(thresholds: list[dict[str, object]], tmp_path: Path) -> None:
    folder = recorded(tmp_path / "run", lossless(1), gold=True, types=TYPES)
    bounded(folder, *thresholds)
    for request in (ScoreRequest(settings=FEW), ScoreRequest(("GFR",), settings=FEW)):
        as_whole(folder, request)
        assert as_whole(folder, request).is_kept


def test_thresholds_of_figures_that_losses_can_move_are_checked_on_the_whole_run(tmp_path: Path) -> None:
    folder = recorded(tmp_path / "run", mixed(1), gold=True, types=TYPES)
    bounded(folder, {"measure": "ave%useful", "system": "A", "at_least": 0.5})
    for _ in range(2):
        assert run_or_columns(folder, ScoreRequest(settings=FEW)) == (None, None)


def test_runs_whose_words_are_needed_are_read_whole(tmp_path: Path) -> None:
    fresh = mixed(1)
    folder = recorded(tmp_path / "run", fresh, gold=True, types=TYPES)
    assert not isinstance(run_with_values(folder, ScoreRequest()), OutlinedRun)  # as it is small
    assert not isinstance(run_with_values(folder, ScoreRequest(("SWAN",)), least=0), OutlinedRun)
    continued = recorded(tmp_path / "continued", [replace(one, place=2) for one in fresh], gold=True, types=TYPES)
    for _ in range(2):
        assert not isinstance(run_with_values(continued, ScoreRequest(), least=0), OutlinedRun)
