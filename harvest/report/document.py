"""The content of a report as a plain value, computed from recorded runs by the studies of the commands."""

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from harvest.report import sections
from harvest.report.bars import Bar
from harvest.report.blessed import add_blessed
from harvest.report.blocks import Block, arrange, as_blocks, details, refusal_block, table, text
from harvest.report.branches import Branches, branches
from harvest.report.compared import MOST_PARTED, compared_blocks, parted_paths
from harvest.report.compared_finding import comparison_finding
from harvest.report.designed import design_finding, level_measures, run_levels
from harvest.report.finding import Finding, main_measure, shown_path, single_finding
from harvest.report.grid import grid_blocks
from harvest.report.judged import add_labels, judged_blocks, judged_sentence, leading_measure, with_judged
from harvest.report.opening import bars_of_comparison, bars_of_scores, bars_of_watch, drawing_order, undrawn_note
from harvest.report.source_finding import (
    bars_of_sources,
    leading_sources,
    level_sources,
    source_finding,
    undrawn_sources,
)
from harvest.report.sources import shown_sources, source_blocks
from harvest.report.transcripts import transcripts
from harvest.report.watch_finding import most_serious, unmeasured_finding, watch_finding
from harvest.report.watched import history_blocks, watched_blocks
from harvest.studies.compare.comparison import Comparison, compare_runs
from harvest.studies.robustness.levels import level_tables
from harvest.studies.runs.readings import recorded_audit
from harvest.studies.scores.assessed import Assessed, Leading, score_assessed
from harvest.studies.scores.gathered import Gathered, gather_runs
from harvest.studies.scores.scorecard import Material, score_material
from harvest.studies.scores.selection import Selection, selection
from harvest.studies.validity.user_card_figures import card_tables
from harvest.studies.variance.variance import VarianceStudy, study_variance
from harvest.studies.watch.baseline import read_baseline
from harvest.studies.watch.history import MATTERS, Look, looks_before, read_history, rules_of
from harvest.studies.watch.watch import watch
from harvest.studies.watch.watched import Watched
from recordings.checking.chain_check import recording_hash
from recordings.files.json_text import Json
from recordings.log.header import software
from recordings.log.run_folder import Run, read
from scoring.library import unasked_plug_ins
from scoring.measures.usefulness import MEAN_USEFUL
from scoring.swan.precedence import Precedence
from scoring.swan.schema import load_schema
from scoring.table import ScoreTable
from topics.counting import pluralize
from topics.errors import InputError
from topics.source_file import load_sources

FORMAT = "harvest-report/1"


@dataclass(frozen=True, slots=True)
class Report:
    """The content of a report. `document` is a JSON value of plain texts and of pictures drawn by Harvest. Each of
    the `chunks` is the JSON text of a list of conversations, in the order of `document["index"]["chunks"]`."""

    document: Mapping[str, Any]
    chunks: tuple[str, ...]


def make_report(
    runs: Sequence[Run],
    *,
    beside: Path,
    baseline: Path | None = None,
    history: Path | None = None,
    before: Path | None = None,
    matters: float | None = None,
    seed: int = 0,
    schema: str | None = None,
    judges: str | None = None,
    folding: str | None = None,
    sources: Path | None = None,
    made: str = "",
    command: Sequence[str] = (),
) -> Report:
    """Make a report on `runs`, to be stored in the folder `beside`.

    `baseline` and `history` are the files of a watched audit, which is judged by the rules recorded in the history.
    `before` is a blessed run, whose conversations are shown beside those of a system that changed or may have.
    `matters` is the smallest difference of shares that matters; by default, the recorded rules determine it. `seed` is
    used for resampling and permutations. `schema`, `judges` and `folding` choose judgments, as the options of a command
    do, and `sources` is a table of sources that replaces those of the runs. `made` is the time of the report, and
    `command` the command that makes the report again. Raises InputError for runs that cannot be compared, and for files
    that are not a baseline or a history.
    """
    gathered = gather_runs(runs, sources=load_sources(sources) if sources is not None else None)
    material = gathered.material
    command = [shown_path(path) if (path := Path(word)).is_absolute() else word for word in command]
    scores, judged = score_assessed(
        material,
        seed=seed,
        schema=load_schema(schema) if schema else None,
        judges=Precedence.from_options(judges, None, folding) if judges or folding else None,
    )
    lost = selection(material, scores, lambda of, terms: score_material(of, seed=seed, measures=terms, only=True))
    # If an option requests judgments, the report begins with them.
    asked = bool(schema or judges or folding)
    leading = leading_measure(judged if asked else None, scores.joint, scores.coverage)
    found = _compare_runs(gathered, scores, seed)
    if isinstance(found, Comparison) and isinstance(judged, Assessed):
        found = with_judged(found, gathered, judged, leading)
    study: VarianceStudy | str
    try:
        study = study_variance(gathered, seed=seed)
    except InputError as refused:
        study = refused.what
    watched, looks = _watch_runs(gathered, baseline, history, matters)
    matters = (watched.smallest_effect if watched is not None else MATTERS) if matters is None else matters
    assessed = judged if isinstance(judged, Assessed) else None
    answered = {one.key.system for one in material.finished}
    played = [name for name in material.systems if name in answered]
    drawn = drawing_order(found, played, leading)
    cited = shown_sources(gathered, played, seed)
    first = leading_sources(gathered, cited, leading) if watched is None else None
    asked_of = level_sources(first) if first is not None else level_measures(assessed, leading)
    levels = run_levels(gathered, seed, assessed, asked_of) if watched is None and len(played) > 2 else None
    if first is not None:
        said = source_finding(first, gathered, levels)
    elif levels is not None:
        said = design_finding(levels, gathered, schema, assessed, leading)
    else:
        said = _choose_finding(gathered, scores, lost, found, leading, study, watched, matters, baseline)
    by_judges = judged_sentence(judged, scores.joint, scores.coverage, leading, asked=asked)
    said = replace(said, drives=" ".join(filter(None, (said.drives, by_judges))))
    earlier = read(before) if before is not None else None
    blessed = add_blessed(gathered, watched, earlier if watched is not None else None)
    if watched is not None and watched.systems and (link := blessed.first_link(most_serious(watched)[0], said.verdict)):
        said = replace(said, link=link)
    kept = transcripts(blessed.material, scores, blessed.recorded, beside, assessed)
    level = scores.settings.level
    marked = parted_paths(found) if isinstance(found, Comparison) else ()
    trees = branches(gathered, kept.places, level, marked) if material.finished else Branches((), ())
    key = (MEAN_USEFUL.name, None)
    useful = {name: [cell[0] for cell in gathered.shares(name).get(key, {}).values()] for name in material.systems}
    parts = [
        ("watched", "Since the baseline", watched_blocks(watched, blessed) if watched else ()),
        ("history", "History", history_blocks(looks)),
        (
            "levels",
            "Levels of the design",
            as_blocks(level_tables(levels), "Differences between levels") if levels else (),
        ),
        (
            "figures",
            "Figures",
            sections.figure_blocks(material, scores, drawn, gathered.beside.contrasts, lost, leading),
        ),
        (
            "compared",
            "Comparison",
            compared_blocks(found, matters, leading) if isinstance(found, Comparison) else refusal_block(found),
        ),
        ("users", "Users worded by a model", as_blocks(card_tables(material.user_card), "Rates of the users' turns")),
        ("grid", "Topics and turns", grid_blocks(material, scores.joint)),
        ("trees", "Conversation trees", trees.blocks),
        ("sources", "Sources", source_blocks(gathered, cited, earlier, seed)),
        ("fairness", "R and GF", sections.fairness_blocks(material, scores)),
        ("judged", "Judged by criteria", judged_blocks(judged, material, scores)),
        ("spread", "Distributions", sections.distribution_blocks(scores, useful, leading)),
        (
            "variance",
            "Variance",
            sections.variance_blocks(study) if isinstance(study, VarianceStudy) else refusal_block(study),
        ),
        ("invalid", "Invalid trials", sections.invalid_blocks(material)),
        ("made", "How this was made", _origin_blocks(gathered, scores, seed, made, command)),
    ]
    if first is not None:
        parts.sort(key=lambda part: part[0] != "sources")
    if asked and judged is not None:
        parts.sort(key=lambda part: part[0] not in ("watched", "history", "levels", "judged"))
    if not material.finished:
        parts = [part for part in parts if part[0] in ("invalid", "made")]
    shown = [
        {"id": name, "title": title, "blocks": arrange(add_labels(name, blocks, judged))}
        for name, title, blocks in parts
    ]
    made_from = {
        "runs": [_run_origin(beside, run.path) for run in runs],
        "baseline": _relative_path(beside, baseline) if baseline else None,
        "history": _relative_path(beside, history) if history else None,
        **({"before": _run_origin(beside, before)} if before else {}),
        "matters": matters,
        "seed": seed,
        "schema": _relative_path(beside, Path(schema)) if schema and Path(schema).is_file() else schema,
        "judges": judges,
        **({"judgments": folding} if folding else {}),
        **({"sources": _relative_path(beside, sources)} if sources is not None else {}),
        "made": made,
        "command": command,
        "software": software(),
        **({"measures": others} if (others := unasked_plug_ins()) else {}),
    }
    # By system, the beginning of the command that prints one of its conversations.
    commands = [
        f"harvest show {shlex.quote(shown_path(folder))} --system {shlex.quote(own)}"
        for folder, own in (blessed.recorded[name] for name in blessed.material.systems)
    ]
    names = list(dict.fromkeys(run.path.resolve().name for run in runs))
    # An import has no audit of its own.
    known = [recorded_audit(run).get("name") for run in runs if not run.header.source]
    audits = [str(name) for name in known if name and name not in names]
    days = sorted({run.header.created_at[:10] for run in runs if run.header.created_at})
    listed = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    if first is not None:
        bars, undrawn = bars_of_sources(first), undrawn_sources(first)
    else:
        bars = _top_bars(material, scores, lost, found, leading, watched, drawn, matters)
        undrawn = (
            ""
            if watched is not None
            else undrawn_note(found, len(played), leading, judged=asked or assessed is not None)
        )
    document = {
        "format": FORMAT,
        "from": made_from,
        "title": " · ".join([*dict.fromkeys(audits), listed]),
        "when": " to ".join(dict.fromkeys((days[0], days[-1]))) if days else "",
        "finding": asdict(said),
        "bars": [bar.as_block() for bar in bars],
        "undrawn": undrawn,
        "sections": [one for one in shown if one["blocks"]],
        "index": {**kept.index, "trees": list(trees.index), "shown": commands},
    }
    return Report(document, kept.chunks)


def _run_origin(beside: Path, run: Path) -> dict[str, str]:
    return {"path": _relative_path(beside, run), "named": shown_path(run), "recording": recording_hash(run)}


def _relative_path(beside: Path, path: Path) -> str:
    """Return a path relative to the report's folder, so that the report can be moved together with the file."""
    return Path(os.path.relpath(path.resolve(), beside.resolve())).as_posix()


def _compare_runs(gathered: Gathered, scores: ScoreTable, seed: int) -> Comparison | str:
    """Return the result of `harvest compare`, or the reason why there is none. For one system in several runs, the
    estimand is these topics, because a run is played again to see whether the system changed. For several systems,
    the estimand is topics like these."""
    played = {one.key.system for one in gathered.material.finished}
    if len(played) < 2:
        return ""
    again = len({gathered.recorded[name][1] for name in played}) == 1
    try:
        return compare_runs(
            gathered,
            estimand="these" if again else "like-these",
            seed=seed,
            scored=scores,
            most_parted=MOST_PARTED,
        )
    except InputError as refused:
        return refused.what


def _watch_runs(
    gathered: Gathered, baseline: Path | None, history: Path | None, matters: float | None
) -> tuple[Watched | None, Sequence[Look]]:
    past = read_history(history) if history is not None else ()
    if baseline is None:
        return None, past
    runs = gathered.runs
    if len(runs) != 1:
        raise InputError("--baseline can only be used with one run", advice="write a report for each run")
    blessed, at = read_baseline(baseline), runs[0].header.created_at
    rules = rules_of(past, blessed.identity, at)
    if matters is not None:
        rules = rules.model_copy(update={"matters": matters})
    found = watch(gathered, blessed, past, rules=rules, name=runs[0].path.resolve().name)
    return found, (*looks_before(past, blessed.identity, at), found.noted)


def _choose_finding(
    gathered: Gathered,
    scores: ScoreTable,
    lost: Selection,
    found: Comparison | str,
    leading: Leading,
    study: VarianceStudy | str,
    watched: Watched | None,
    matters: float,
    baseline: Path | None,
) -> Finding:
    material, paths = gathered.material, [run.path for run in gathered.runs]
    if not material.finished:
        return unmeasured_finding(material, paths, baseline=watched is not None)
    if watched is not None:
        base = "BASELINE" if baseline is None else baseline.name
        return watch_finding(watched, material, paths[0], _audit_words(baseline), base)
    if isinstance(found, Comparison):
        return comparison_finding(found, material, matters, paths, leading)
    system = material.finished[0].key.system
    folder, own = gathered.recorded[system]
    measure = main_measure(scores.joint, leading)
    each = study.each.get((measure, None), ()) if isinstance(study, VarianceStudy) else ()
    spread = next((one for one in each if one.system == system), None)
    return single_finding(system, material, scores, lost.ranges, leading, spread, folder, own)


def _audit_words(baseline: Path | None) -> Sequence[str]:
    """Return the audit beside a baseline of the default name, as a command takes it, or else a placeholder."""
    if baseline is None:
        return ("AUDIT",)
    for suffix in (".yaml", ".yml"):
        audit = baseline.with_name(baseline.name.removesuffix(".baseline.json") + suffix)
        if audit.is_file():
            return (shown_path(audit),)
    return ("AUDIT", "--baseline", shown_path(baseline))


def _top_bars(
    material: Material,
    scores: ScoreTable,
    lost: Selection,
    found: Comparison | str,
    leading: Leading,
    watched: Watched | None,
    drawn: Sequence[str],
    matters: float,
) -> Iterator[Bar]:
    if not material.finished:
        return
    if watched is not None:
        yield from bars_of_watch(watched)
        return
    yield from bars_of_scores(scores.joint, main_measure(scores.joint, leading), drawn, lost.ranges)
    if isinstance(found, Comparison):
        yield from bars_of_comparison(found, matters, leading)


def _origin_blocks(
    gathered: Gathered, scores: ScoreTable, seed: int, made: str, command: Sequence[str]
) -> Iterator[Block]:
    if command:
        yield text("To make this report again:")
        yield {"command": shlex.join(command)}
    for run, source in zip(gathered.runs, gathered.sources, strict=True):
        rows = [[name, _plain_value(value)] for name, value in _run_facts(run, source) if value]
        yield text(str(source["run"]), "strong")
        yield table(["", ""], rows, caption=f"What {source['run']} is made from")
    own = [["seed", str(seed)], ["made at", made]]
    own += [[name, version] for name, version in software().items()]
    yield details("Software", [table(["", ""], own, caption="Software that made this report")])
    settings = [[name, _plain_value(value)] for name, value in scores.settings.as_json().items()]
    yield details("Scoring settings", [table(["setting", "value"], settings)])


def _run_facts(run: Run, source: Mapping[str, Json]) -> Iterator[tuple[str, Any]]:
    header, audit = run.header, recorded_audit(run)
    protocol = header.protocol if isinstance(header.protocol, dict) else {}
    topics = header.topic_set()
    times = sorted(one.started_at for one in run.conversations if one.started_at)
    ended = sorted(one.ended_at for one in run.conversations if one.ended_at)
    yield "folder", shown_path(run.path)
    yield "audit", source["audit"]
    yield "about", audit.get("about")
    yield "commit of the audit", source["audit_commit"]
    yield "begun", source["created_at"]
    yield "first trial", times[0] if times else ""
    yield "last trial ended", ended[-1] if ended else ""
    yield "attempts", pluralize(len(run.conversations), "attempt")
    yield "trials of each topic", audit.get("trials")
    yield "seed", header.seed
    yield "protocol", f"{protocol.get('name', '')} {source['protocol'] or ''}".strip()
    yield "topics", f"{pluralize(len(topics.topics), 'topic')} {source['topics']}" if topics else ""
    systems = source["systems"]
    for name, hashed in systems.items() if isinstance(systems, dict) else ():
        definition = header.systems.get(name)
        driver = definition.get("driver") if isinstance(definition, dict) else ""
        yield f"system {name}", " ".join(filter(None, (str(driver or ""), str(hashed))))
    yield "recorded with", f"Harvest {source['recorded_with']}" if source["recorded_with"] else ""
    yield "imported from", header.source


def _plain_value(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_plain_value(item)}" for name, item in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain_value, value)) or "none"
    return str(value)
