"""The finding about a run that was played by a design: its levels within systems, not its single cells."""

import shlex
from collections.abc import Callable, Sequence

from harvest.report.finding import MOST_NAMED, Finding, join_names, safe_name, shown_path, trial_count
from harvest.studies.robustness.levels import LevelDifference, LevelStudy, level_study
from harvest.studies.scores.arms import gather_arms, is_armed
from harvest.studies.scores.assessed import Assessed, Leading
from harvest.studies.scores.gathered import Gathered
from harvest.studies.scores.scorecard import Judges
from harvest.studies.scores.trial_values import key_name
from harvest.tables.comparison_words import difference_words
from scoring.measures.usefulness import MEAN_USEFUL
from scoring.notation import Term
from scoring.swan.precedence import Precedence
from scoring.table import is_percentage
from topics.counting import pluralize


def run_levels(gathered: Gathered, seed: int, judged: Assessed | None, measures: Sequence[Term]) -> LevelStudy | None:
    """Return the study of levels of a single run by `measures`, or None if the run was not played by a design."""
    if len(gathered.runs) != 1 or not is_armed(gathered.runs[0]):
        return None
    judges = Judges(judged.schema, judged.judges or Precedence()) if judged is not None else None
    armed = gather_arms(gathered.runs[0], measures=measures, judges=judges, sources=gathered.sources_given)
    found = level_study(armed, seed=seed)
    return found if found is not None and found.differences else None


def level_measures(judged: Assessed | None, leading: Leading) -> tuple[Term, ...]:
    """Return the measures by which levels are compared, without SWAN: differences are of criteria. A report that begins
    with judgments compares levels by these alone, so that labels do not add to the differences corrected together."""
    criteria = [term for name, term in judged.terms.items() if name] if judged is not None else []
    return (*criteria,) if leading.scorers else (Term(MEAN_USEFUL.name), *criteria)


def design_finding(
    study: LevelStudy, gathered: Gathered, schema: str | None, judged: Assessed | None, leading: Leading
) -> Finding:
    """Return the finding: which levels differ within a system, and then, which systems differ within a level."""
    within, between = ([one for one in study.differences if bool(one.other) == other] for other in (False, True))
    found, names = found_levels(within), dict.fromkeys(key_name(one.key) for one in study.differences)
    measures = join_names(list(names)) if len(names) <= MOST_NAMED else f"{len(names)} measures"
    whose = f" by the judgments of {leading.scorers}" if leading.scorers else ""
    verdict, said = (
        "cannot tell",
        f"Of {pluralize(len(within), 'difference')} in {measures}{whose} between {level_words(within)} within systems, "
        "none is found",
    )
    if found:
        verdict, said = "measured", f"Within systems{whose and ',' + whose}, {level_names(found)}"
    others = found_levels(between)
    drives = (
        f"Of {pluralize(len(between), 'difference')} in {measures} between systems within levels, "
        f"{len(others) or 'none'} "
        f"{'is' if len(others) < 2 else 'are'} found{': ' + level_names(others) if others else ''}."
    )
    return Finding(
        verdict,
        f"{said}.",
        f"{100 * study.level:g}% intervals for topics like these; found: p at most {1 - study.level:.4g} and an "
        f"interval that excludes 0, both corrected over all {study.family} differences between levels and between "
        "systems within levels (Holm). "
        f"{trial_count(gathered.material)}.",
        drives if between else "",
        "Read conversations of the levels that differ; every difference and every cell is printed in a terminal."
        if found or others
        else "More questions would show smaller differences: harvest plan says how many.",
        shlex.join(
            ["harvest", "robustness", shown_path(gathered.runs[0].path), *_judged_options(schema, judged, leading)]
        ),
    )


def _judged_options(schema: str | None, judged: Assessed | None, leading: Leading) -> list[str]:
    if judged is None:
        return []
    named = ["--schema", schema] if schema else []
    chosen, usual = judged.judges or Precedence(), Precedence()
    judges = ["--judges", str(chosen)] if chosen.entries != usual.entries else []
    judges += ["--judgments", chosen.folding] if chosen.folding != usual.folding else []
    return [*named, *judges, "-m", ", ".join(map(str, level_measures(judged, leading)))]


def level_words(differences: Sequence[LevelDifference]) -> str:
    """Return what is compared, such as `levels of language and place`."""
    return f"levels of {join_names(list(dict.fromkeys(one.factor for one in differences)))}"


def found_levels(differences: Sequence[LevelDifference]) -> list[LevelDifference]:
    """Return the differences that are found, the largest first."""
    return sorted((one for one in differences if one.found.beyond), key=lambda one: -abs(one.found.value))


def level_names(found: Sequence[LevelDifference], label: Callable[[LevelDifference], str] | None = None) -> str:
    """Name the largest differences, with intervals. `label` says of what each is: the measure, if there are several."""
    several = len({one.key for one in found}) > 1
    named = []
    for one in found[:MOST_NAMED]:
        share = is_percentage(one.key[0])
        unit = " points" if share else ""
        value, opened, ends = difference_words(one.found, share=share).partition(" [")
        of = label(one) if label is not None else f" in {key_name(one.key)}" if several else ""
        named.append(f"{safe_name(one.name)} is {value}{unit}{opened}{ends}{of}")
    left = len(found) - MOST_NAMED
    more = f"; {left} more {'is' if left == 1 else 'are'} found" if left > 0 else ""
    return f"{join_names(named)}{more}"
