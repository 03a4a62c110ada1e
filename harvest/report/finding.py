"""The first sentences of a report: the finding, its causes, and the next step."""

import math
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harvest.report.grid import address
from harvest.studies.scores.assessed import Leading
from harvest.studies.scores.lost_attempts import loss_reasons, loss_words, many_lost
from harvest.studies.scores.scorecard import Material
from harvest.studies.scores.selection import Ranges
from harvest.studies.variance.variance import SystemVariance
from harvest.tables.figures import ordered_rows, shown_with_interval
from harvest.terminal import printable
from protocols.labels import MEANINGS
from recordings.conversations.endings import cut_words, loss_remedy
from scoring.library import declared, good_end
from scoring.measures.usefulness import MEAN_USEFUL, useful_share
from scoring.notation import parse
from scoring.table import ScoreRow, ScoreTable, shown_range
from topics.counting import pluralize
from topics.decimals import decimal, percent

_ANSWER = "S "  # before the label of a system's turn in a tree
MOST_NAMED = 3  # topics named in a finding
_FACTOR = 4  # the factor for trials or topics in advice on narrower intervals
# The number of systems named and drawn at the top of a report.
MOST_SYSTEMS = 8


@dataclass(frozen=True, slots=True)
class Finding:
    """The first sentences of a report.

    `verdict` is `better`, `changed`, `alarm` (not confirmed yet), `fell`, `rose`, `back`, `perhaps back`, `same`,
    `cannot tell`, `measured`, `shown` (of sources) or `nothing`. `found` is the finding in one sentence, `scope`
    describes its interval and trials, and `drives` its topics or reasons. `next` is the next step in one sentence,
    `command` a shell command for that step, and `link` leads to the conversations to read first. `next`, `command` and
    `link` may be "".
    """

    verdict: str
    found: str
    scope: str = ""
    drives: str = ""
    next: str = ""
    command: str = ""
    link: str = ""


def trial_count(material: Material) -> str:
    """Return the number of trials in words, such as `450 valid trials of 45 topics, none invalid`. The text also
    mentions trials that were cut short."""
    valid, lost = len(material.finished), len(material.invalid)
    topics = len({one.key.topic for one in material.finished})
    said = f"{pluralize(valid, 'valid trial')} of {pluralize(topics, 'topic')}, {lost or 'none'} invalid"
    cut = sum(material.cut_short.values(), Counter())
    return f"{said}, {cut.total()} {cut_words(cut)}" if cut else said


def main_measure(rows: Sequence[ScoreRow], leading: Leading) -> str:
    """Return the name of the main measure: the leading one if it has a value, else the first measure that is shown."""
    known = [row.measure for row in ordered_rows(rows) if row.value == row.value and row.turn is None]
    return leading.measure if leading.measure in known else known[0] if known else leading.measure


def single_finding(
    system: str,
    material: Material,
    scores: ScoreTable,
    ranges: Ranges,
    leading: Leading,
    spread: SystemVariance | None,
    folder: Path,
    own: str,
) -> Finding:
    """Return the finding about one system in one run. Of figures in `ranges` only these
    are known. `spread` is the variance of the main measure over its trials.
    `own` is the system's name in the run, and `system` its name in the report."""
    measure = main_measure(scores.joint, leading)
    of = [row for row in ordered_rows(scores.joint) if (row.system, row.measure, row.turn) == (system, measure, None)]
    if not of or math.isnan(of[0].value):
        return Finding(
            "measured", f"{safe_name(system)} was played, and no measure has a value.", f"{trial_count(material)}."
        )
    row = of[0]
    likes = scores.settings.estimand == "like-these" and row.resampled not in ("trials", "nothing", None)
    of_what = "topics like these" if likes else "these topics"
    interval = f"{100 * row.level:g}% interval for {of_what}" if row.level is not None and row.low == row.low else ""
    ends = ranges.get((system, measure, None))
    value = shown_range(measure, ends) if ends else shown_with_interval(row)
    said = answer_words(measure, row.label, [value], material, [system], leading)
    if ends:
        said += ", since whether trials were lost depended on what it had answered"
        interval = "What the lost trials leave possible"
    weak = [row for row in scores.single("topic") if (row.system, row.measure, row.turn) == (system, measure, None)]
    weak = [row for row in weak if row.value == row.value]
    good = good_end(parse(measure)) if declared(measure) else "neither"
    if ends or good == "neither" or len({row.value for row in weak}) < 2:
        weak = []
    weak = sorted(weak, key=lambda row: row.value if good == "high" else -row.value)[:MOST_NAMED]
    worst = weak[0].topic or "" if weak else ""
    if ends or many_lost(system, material):  # more topics would lose as much
        following = [loss_advice([loss_words(system, material)], loss_reasons([system], material))]
    else:
        following = ["", _narrowing_advice(spread)]
    following.insert(1, f"Read the conversations on {safe_name(worst)}, where it did worst." if worst else "")
    shown = f"harvest show {shlex.quote(shown_path(folder))} --system {shlex.quote(own)} --topic {shlex.quote(worst)}"
    return Finding(
        "measured",
        f"{safe_name(system)} {said}.",
        scope_words(interval or "No interval: " + (row.note or "unknown"), measure, material),
        f"The weakest topics are {join_names([f'{safe_name(one.topic)} ({one.shown(one.value)})' for one in weak])}."
        if weak
        else "",
        " ".join(filter(None, following)),
        shown if weak else "",
        address(system=system, topic=worst) if weak else "",
    )


def answer_words(
    measure: str,
    label: str,
    values: Sequence[str],
    material: Material,
    systems: Collection[str],
    leading: Leading,
    between: str = " and ",
) -> str:
    """Return the results of `systems` in words, such as `answered usefully in 88.4% and 56.0% of turns`."""
    each = between.join(values)
    if measure == leading.measure and leading.scorers:
        return f"had {each} in {measure} by the judgments of {leading.scorers}"
    if measure != MEAN_USEFUL.name:
        return f"had {label} {each}"
    return f"answered usefully in {each} of {turns_words(material, systems)}"


def turns_words(material: Material, systems: Collection[str]) -> str:
    """Return the denominator of ave%useful in words."""
    return "turns" if is_share_of_turns(material, systems) else "a conversation's turns on average"


def is_share_of_turns(material: Material, systems: Collection[str]) -> bool:
    """Return True if ave%useful, a mean over conversations and topics, equals the share of useful turns. The two are
    equal if all conversations of the systems have the same number of turns, and all topics the same number of
    conversations."""
    lengths, counts = set[int](), Counter[tuple[str, str]]()
    for key, row in material.labels.items():
        turns = useful_share(row)[1]
        if key.system in systems and turns:
            lengths.add(turns)
            counts[key.system, key.topic] += 1
    return len(lengths) <= 1 and all(
        len({count for (system, _), count in counts.items() if system == one}) <= 1 for one in systems
    )


def loss_advice(lost: Sequence[str], reasons: Iterable[str]) -> str:
    """Return advice about lost trials. `lost` describes the losses of each system, and `reasons` has their reasons."""
    return f"{join_names(lost)}, and their continuation is unknown: {loss_remedy(reasons)}."


def _narrowing_advice(spread: SystemVariance | None) -> str:
    if spread is None:
        return ""
    like, these = spread.split.narrowing_shares(_FACTOR)
    if math.isnan(like):
        return "Trials of a topic agree here, so add topics to narrow this interval." if spread.split.topics else ""
    half = "half" if math.isclose(these, 0.5) else percent(these)
    least, most = spread.split.narrowing_ends(_FACTOR)
    by = (
        f"{percent(like)} [{decimal(100 * least, 0)}, {decimal(100 * most, 0)}]"
        if most == most
        else "what cannot be told yet"
    )
    return (
        f"To narrow the interval by half, play {_FACTOR} times the topics; {_FACTOR} times the trials would narrow "
        f"it by {by} for topics like these, and by {half} for these topics."
    )


def scope_words(first: str, measure: str, material: Material) -> str:
    """Return the scope of a finding: the phrase `first`, the number of trials, and an explanation of the measure."""
    one = declared(measure)
    words = f"; {measure}: {one.sentence[0].lower()}{one.sentence[1:].rstrip('.')}" if one is not None else ""
    return f"{first}; {trial_count(material)}{words}."


def answer_place(turns: Sequence[str], branch: str) -> str:
    """Return where conversations part, in words: `answer 2, after a useful one: useful`. `turns` is the path to the
    turn, and `branch` the next step. Unless that is an answer with a label, the path is returned as trees print it."""
    said = [turn.removeprefix(_ANSWER) for turn in (*turns, branch) if turn.startswith(_ANSWER)]
    if not branch.startswith(_ANSWER) or any(label not in MEANINGS for label in said):
        return " → ".join(safe_name(one) for one in (*turns, branch)) + ":"
    *before, last = (MEANINGS[label] for label in said)
    after = f", after one that was {before[0]}" if len(before) == 1 else ""
    after = f", after answers that were {', then '.join(before)}" if len(before) > 1 else after
    return f"answer {len(said)}{after}: {last}"


def shown_path(path: Path) -> str:
    """Return a path for a page that is handed on: as it was given if it is relative, else its last part."""
    return path.name if path.is_absolute() else str(path)


def safe_name(text: str | None) -> str:
    """Return a name on one line, with control characters made visible."""
    return printable(text or "", line=True)


def join_names(names: Sequence[str]) -> str:
    """Join names, such as `A, B and C`. Returns `none` if there are no names."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "none"
