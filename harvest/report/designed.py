"""The finding about a run that was played by a design: its levels within systems, not its single cells."""

import shlex
from collections.abc import Sequence

from harvest.report.finding import MOST_NAMED, Finding, join_names, safe_name, shown_path, trial_count
from harvest.studies.robustness.levels import LevelDifference, LevelStudy, level_study
from harvest.studies.scores.arms import gather_arms, is_armed
from harvest.studies.scores.assessed import Assessed
from harvest.studies.scores.gathered import Gathered
from harvest.studies.scores.scorecard import Judges
from harvest.studies.scores.trial_values import key_name
from harvest.tables.comparison_words import difference_words
from scoring.measures.usefulness import MEAN_USEFUL
from scoring.notation import Term
from scoring.swan.precedence import Precedence
from scoring.table import is_percentage
from topics.counting import pluralize


def run_levels(gathered: Gathered, seed: int, judged: Assessed | None) -> LevelStudy | None:
    """Return the study of levels of a single run, by usefulness and by each criterion that was judged, or None if the
    run was not played by a design."""
    if len(gathered.runs) != 1 or not is_armed(gathered.runs[0]):
        return None
    judges = Judges(judged.schema, judged.judges or Precedence()) if judged is not None else None
    found = level_study(gather_arms(gathered.runs[0], measures=level_measures(judged), judges=judges), seed=seed)
    return found if found is not None and found.differences else None


def level_measures(judged: Assessed | None) -> tuple[Term, ...]:
    """Return the measures by which levels are compared. SWAN is none of them: a difference is one of a criterion."""
    criteria = [term for name, term in judged.terms.items() if name] if judged is not None else []
    return Term(MEAN_USEFUL.name), *criteria


def design_finding(study: LevelStudy, gathered: Gathered, schema: str | None, judged: Assessed | None) -> Finding:
    """Return the finding: which levels differ within a system, and then, which systems differ within a level."""
    within, between = ([one for one in study.differences if bool(one.other) == other] for other in (False, True))
    found, names = _found(within), dict.fromkeys(key_name(one.key) for one in study.differences)
    measures = join_names(list(names)) if len(names) <= MOST_NAMED else f"{len(names)} measures"
    verdict, said = (
        "cannot tell",
        f"Of {pluralize(len(within), 'difference')} in {measures} between levels within systems, none is found",
    )
    if found:
        verdict, said = "measured", f"Within systems, {_names(found)}"
    others = _found(between)
    drives = (
        f"Of {pluralize(len(between), 'difference')} in {measures} between systems within levels, "
        f"{len(others) or 'none'} "
        f"{'is' if len(others) < 2 else 'are'} found{': ' + _names(others) if others else ''}."
    )
    return Finding(
        verdict,
        f"{said}.",
        f"{100 * study.level:g}% intervals for topics like these; found: p at most {1 - study.level:.4g}, corrected "
        f"over all {study.family} differences between levels and between systems within levels (Holm). "
        f"{trial_count(gathered.material)}.",
        drives if between else "",
        "Read conversations of the levels that differ; every difference and every cell is printed in a terminal."
        if found or others
        else "More questions would show smaller differences: harvest plan says how many.",
        shlex.join(["harvest", "robustness", shown_path(gathered.runs[0].path), *_judged_options(schema, judged)]),
    )


def _judged_options(schema: str | None, judged: Assessed | None) -> list[str]:
    if judged is None:
        return []
    named = ["--schema", schema] if schema else []
    chosen, usual = judged.judges or Precedence(), Precedence()
    judges = ["--judges", str(chosen)] if chosen.entries != usual.entries else []
    judges += ["--judgments", chosen.folding] if chosen.folding != usual.folding else []
    return [*named, *judges, "-m", ", ".join(map(str, level_measures(judged)))]


def _found(differences: Sequence[LevelDifference]) -> list[LevelDifference]:
    return sorted((one for one in differences if one.found.beyond), key=lambda one: -abs(one.found.value))


def _names(found: Sequence[LevelDifference]) -> str:
    """Name the largest differences, with intervals."""
    several = len({one.key for one in found}) > 1
    named = []
    for one in found[:MOST_NAMED]:
        share = is_percentage(one.key[0])
        unit = " points" if share else ""
        label = f" in {key_name(one.key)}" if several else ""
        value, opened, ends = difference_words(one.found, share=share).partition(" [")
        named.append(f"{safe_name(one.name)} is {value}{unit}{opened}{ends}{label}")
    left = len(found) - MOST_NAMED
    more = f"; {left} more {'is' if left == 1 else 'are'} found" if left > 0 else ""
    return f"{join_names(named)}{more}"
