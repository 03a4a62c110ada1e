"""What a report says first: what was found, what drives it, and what to do next."""

import math
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harvest.report.grid import address
from harvest.studies.compare.comparison import Comparison
from harvest.studies.scores.lost_attempts import loss_words, many_lost
from harvest.studies.scores.scorecard import Material
from harvest.studies.variance.variance import SystemVariance
from harvest.tables.comparison_words import p_text, signed
from harvest.tables.figures import ordered_rows, shown_with_interval
from harvest.terminal import printable
from scoring.comparison.pairs import SEE_BOUNDS
from scoring.comparison.result import Driver, MeasureComparison, Pair
from scoring.inference.paired import ESTIMANDS
from scoring.library import declared, good_end
from scoring.measures.usefulness import MEAN_USEFUL, useful_share
from scoring.notation import parse
from scoring.table import ScoreRow, ScoreTable, is_percentage
from topics.counting import pluralize
from topics.decimals import decimal, roughly

_MOST = 3  # topics named in a finding
_SAME = 1e-12  # rounding: what is equal but for the order of sums must rank as equal on every machine
_TIMES = 4  # as many trials or topics, of which it is said what they would bring
_BEYOND = 100_000  # nobody plays so many
# Systems that are named and drawn at the top of a report.
MOST_SYSTEMS = 8


@dataclass(frozen=True, slots=True)
class Finding:
    """verdict: `better`, `changed`, `alarm` (not confirmed yet), `same`, `cannot tell`, `measured` or `nothing`. found:
    one sentence. scope: of what it is, and over what. drives: what it comes from. next: a sentence; command: for a
    shell, "" for none; link: to what to read first, within the report, "" for none."""

    verdict: str
    found: str
    scope: str = ""
    drives: str = ""
    next: str = ""
    command: str = ""
    link: str = ""


def counted(material: Material) -> str:
    """`450 valid trials of 45 topics, none invalid`, and how many of them a failure of the user cut short."""
    valid, lost = len(material.finished), len(material.invalid)
    topics = len({one.key.topic for one in material.finished})
    said = f"{pluralize(valid, 'valid trial')} of {pluralize(topics, 'topic')}, {lost or 'none'} invalid"
    cut = sum(one.total() for one in material.cut_short.values())
    return f"{said}, {cut} cut short by a failure of the user" if cut else said


def main_measure(rows: Sequence[ScoreRow]) -> str:
    """The name of the figure that is said first: ave%useful where answers have labels, else the first that is shown."""
    known = [row.measure for row in ordered_rows(rows) if row.value == row.value and row.turn is None]
    return MEAN_USEFUL.name if MEAN_USEFUL.name in known else known[0] if known else MEAN_USEFUL.name


def single(
    system: str, material: Material, scores: ScoreTable, spread: SystemVariance | None, folder: Path, own: str
) -> Finding:
    """Of one system in one run. spread: how its trials vary in the main measure. own: its name in the run."""
    measure = main_measure(scores.joint)
    of = [row for row in ordered_rows(scores.joint) if (row.system, row.measure, row.turn) == (system, measure, None)]
    if not of or math.isnan(of[0].value):
        return Finding("measured", f"{plain(system)} was played, and no measure has a value.", f"{counted(material)}.")
    row = of[0]
    likes = scores.settings.estimand == "like-these" and row.resampled not in ("trials", "nothing", None)
    of_what = "topics like these" if likes else "these topics"
    interval = f"{100 * row.level:g}% interval for {of_what}" if row.level is not None and row.low == row.low else ""
    said = _did(measure, row.label, [shown_with_interval(row)], material, [system])
    weak = _weakest(system, measure, scores.single("topic"))
    worst = weak[0].topic or "" if weak else ""
    shown = f"harvest show {shlex.quote(str(folder))} --system {shlex.quote(own)} --topic {shlex.quote(worst)}"
    return Finding(
        "measured",
        f"{plain(system)} {said}.",
        _scope(interval or "No interval: " + (row.note or "unknown"), measure, material),
        f"The weakest topics are {listed([f'{plain(one.topic)} ({one.shown(one.value)})' for one in weak])}."
        if weak
        else "",
        _single_next(worst, spread, loss_words(system, material) if many_lost(system, material) else ""),
        shown if weak else "",
        address(system=system, topic=worst) if weak else "",
    )


def _weakest(system: str, measure: str, rows: Iterable[ScoreRow]) -> list[ScoreRow]:
    """The topics with the worst values, of a measure that has a good end, where topics differ."""
    good = good_end(parse(measure)) if declared(measure) else "neither"
    of = [row for row in rows if (row.system, row.measure, row.turn) == (system, measure, None)]
    of = [row for row in of if row.value == row.value]
    if good == "neither" or len({row.value for row in of}) < 2:
        return []
    return sorted(of, key=lambda row: row.value if good == "high" else -row.value)[:_MOST]


def _did(
    measure: str,
    label: str,
    values: Sequence[str],
    material: Material,
    systems: Collection[str],
    between: str = " and ",
) -> str:
    """What systems did, as one says it: `answered usefully in 88.4% and 56.0% of turns`. systems: those it is of."""
    each = between.join(values)
    if measure != MEAN_USEFUL.name:
        return f"had {label} {each}"
    return f"answered usefully in {each} of {turns_words(material, systems)}"


def turns_words(material: Material, systems: Collection[str]) -> str:
    """What ave%useful of the systems is a share of, in words."""
    return "turns" if of_turns(material, systems) else "a conversation's turns on average"


def of_turns(material: Material, systems: Collection[str]) -> bool:
    """Whether ave%useful, which is a mean of conversations and of topics, is also the share of turns: every
    conversation of the systems counts as many turns, and every topic as many conversations."""
    lengths, counts = set[int](), Counter[tuple[str, str]]()
    for key, row in material.labels.items():
        turns = useful_share(row)[1]
        if key.system in systems and turns:
            lengths.add(turns)
            counts[key.system, key.topic] += 1
    return len(lengths) <= 1 and all(
        len({count for (system, _), count in counts.items() if system == one}) <= 1 for one in systems
    )


def _single_next(worst: str, spread: SystemVariance | None, lost: str) -> str:
    """lost: how much was, where that is so much that more topics would lose as much."""
    read = f"Read the conversations on {plain(worst)}, where it did worst." if worst else ""
    return " ".join(filter(None, (_cure_of_losses([lost]) if lost else "", read, "" if lost else _narrower(spread))))


def _cure_of_losses(lost: Sequence[str]) -> str:
    """lost: how much of each system."""
    return f"{listed(lost)}, and what would have followed is not known: remove the cause and make a new run."


def _narrower(spread: SystemVariance | None) -> str:
    if spread is None:
        return ""
    like, these = spread.split.narrowing(_TIMES)
    if math.isnan(like):
        return (
            "Trials of a topic agree here, so ask more topics to narrow this interval." if spread.split.topics else ""
        )
    half = "half" if math.isclose(these, 0.5) else f"{100 * these:.0f}%"
    least, most = spread.split.narrowing_ends(_TIMES)
    by = f"{100 * like:.0f}% [{100 * least:.0f}, {100 * most:.0f}]" if most == most else "what cannot be told yet"
    return (
        f"To narrow the interval by half, play {_TIMES} times the topics; {_TIMES} times the trials would narrow it by "
        f"{by} for topics like these, and by {half} for these topics."
    )


def compared(found: Comparison, material: Material, matters: float, runs: Sequence[Path]) -> Finding:
    """Of two systems, one system in two runs, or several. matters: differences of shares below it are taken as none."""
    first = compared_measure(found)
    if first is None or not first.pairs:
        return Finding("cannot tell", "No measure can be compared.", f"{counted(material)}.")
    if len(found.systems) == 2:
        return _pair(found, first, first.pairs[0], material, matters, runs)
    return _several(found, first, material, runs)


def compared_measure(found: Comparison) -> MeasureComparison | None:
    """That of which a report says first what came out."""
    whole = [one for one in found.measures if one.topic_type is None and one.turn is None]
    known = [one for one in whole if any(pair.verdict != "no value" for pair in one.pairs)]
    named = [one for one in known if one.measure == MEAN_USEFUL.name]
    return (named or known or whole or [None])[0]  # type: ignore[list-item]


def _scope(first: str, measure: str, material: Material) -> str:
    """Of what a figure is, over what, and what it is in words."""
    one = declared(measure)
    words = f"; {measure}: {one.sentence[0].lower()}{one.sentence[1:].rstrip('.')}" if one is not None else ""
    return f"{first}; {counted(material)}{words}."


def _compared_scope(found: Comparison, one: MeasureComparison, material: Material) -> str:
    interval = f"{100 * found.settings.level:g}% interval for {ESTIMANDS[found.estimand]}"
    return _scope(f"{interval}, over {pluralize(len(one.topics), 'common topic')}", one.measure, material)


def _pair(
    found: Comparison, one: MeasureComparison, pair: Pair, material: Material, matters: float, runs: Sequence[Path]
) -> Finding:
    again = _same_system(found)
    within = (
        is_percentage(one.measure)
        and max(abs(pair.interval.low), abs(pair.interval.high)) <= matters  # NaN: not within
    )
    first, second = plain(pair.first), plain(pair.second)
    figures = _figure(one, found.systems, pair.first), _figure(one, found.systems, pair.second)
    turned = is_turned(found, pair)
    small = f"{100 * matters:g} points"
    if pair.found and again:
        verdict, said = "changed", f"{plain(again)} changed from {first} to {second}"
    elif pair.found:
        better, other = (second, first) if turned else (first, second)
        word = "better" if pair.verdict in ("better", "worse") else "higher"
        verdict, said = "better", f"{better} is {word} than {other}"
    elif within:
        verdict, said = "same", f"{first} and {second} are the same within {small}"
    elif pair.verdict == "too few":
        verdict, said = "cannot tell", f"There are too few topics to tell {first} from {second}"
    else:
        which = f"{plain(again)} changed from {first} to {second}" if again else f"{first} or {second} is better"
        verdict, said = "cannot tell", f"Whether {which} cannot be told"
    said += f", by less than {small}" if within and pair.found else ""
    shown = _did(
        one.measure,
        one.label,
        figures[::-1] if turned and not again else figures,
        material,
        found.systems,
        ", then " if again else " and ",
    )
    if one.left_out and one.topics:  # the bars below and `harvest score` are over all topics of each system
        shown += f" over the {pluralize(len(one.topics), 'topic')} in common"
    interval = difference_words(one, pair, turned=turned)
    if not pair.found and (pair.interval.low > 0 or pair.interval.high < 0):
        why = pair.why.removesuffix(SEE_BOUNDS) or f"the test does not settle it (p {p_text(pair.corrected)})"
        interval += f"; the interval leaves out 0, but {why}"
    return Finding(
        verdict,
        f"{said}: {'it' if again else 'they'} {shown}, a difference of {interval}.",
        _compared_scope(found, one, material),
        _drivers(one, pair, -1 if turned else 1),
        _pair_next(found, one, pair, verdict, material),
        _beside(found, pair, runs),
        address(topic=pair.drivers[0].topic) if pair.drivers else "",
    )


def is_turned(found: Comparison, pair: Pair) -> bool:
    """Whether a difference is said of the second less the first: the better less the other, the later less the
    earlier."""
    return bool(_same_system(found)) or (pair.found and pair.verdict in ("worse", "lower"))


def difference_words(one: MeasureComparison, pair: Pair, *, turned: bool) -> str:
    """With its interval, and its unit. turned: of the second less the first."""
    sign = -1 if turned else 1
    found = f"{signed(one, sign * pair.value)}{' points' if is_percentage(one.measure) else ''}"
    if math.isnan(pair.interval.low):
        return found
    low, high = sorted((sign * pair.interval.low, sign * pair.interval.high))
    return f"{found} [{signed(one, low)}, {signed(one, high)}]"


def _figure(one: MeasureComparison, systems: Sequence[str], name: str) -> str:
    value = one.figures[name]
    if math.isnan(value):
        return "n/a"
    return f"{decimal(100 * value, 1)}%" if is_percentage(one.measure) else decimal(value, 4)


def _same_system(found: Comparison) -> str:
    """The name of the one system that several runs recorded; "" where systems differ."""
    own = {name for _, name in (found.recorded[system] for system in found.systems if system in found.recorded)}
    return own.pop() if len(own) == 1 and len(found.systems) > 1 else ""


def _drivers(one: MeasureComparison, pair: Pair, sign: int) -> str:
    """sign: -1 where the difference is said of the second less the first."""
    if not pair.drivers:
        return ""
    unit = " points" if is_percentage(one.measure) else ""
    top = pair.drivers[:_MOST]
    if not pair.found:
        return _pull_words(pair)
    shares = listed([f"{plain(driver.topic)} ({100 * driver.share:.0f}%)" for driver in top])
    without = f"without {plain(top[0].topic)} it would be {signed(one, sign * top[0].without)}{unit}"
    if sum(driver.share for driver in top) > 0.5:
        return f"Most of the difference comes from {shares}; {without}."
    return f"Many topics: the largest parts of the difference come from {shares}; {without}."


def _pull_words(pair: Pair) -> str:
    """Which topics favour which side, most of all first; those on which both did the same favour neither."""
    sides: dict[str, list[Driver]] = {pair.first: [], pair.second: []}
    for driver in sorted(pair.drivers, key=lambda one: -abs(one.share)):
        pull = driver.share * pair.value
        if abs(pull) > _SAME:
            sides[pair.first if pull > 0 else pair.second].append(driver)
    if not any(sides.values()):
        return ""
    said = {
        name: listed([plain(one.topic) for one in found[:_MOST]]) if found else "no topic"
        for name, found in sides.items()
    }
    ways = "both ways" if all(sides.values()) else "one way"
    return f"Topics pull {ways}: " + ", ".join(f"{topics} towards {plain(name)}" for name, topics in said.items()) + "."


def _pair_next(found: Comparison, one: MeasureComparison, pair: Pair, verdict: str, material: Material) -> str:
    lost = sum(found.invalid.values()) + sum(found.unplayed.values())
    missing = (
        f" {pluralize(lost, 'planned trial')} without a valid attempt: play what is missing first." if lost else ""
    )
    if named := _dependent(found, pair):
        return _cure(found, named)
    if verdict in ("better", "changed"):
        return f"Read the conversations where they part, the topics above first.{missing}"
    if verdict == "same":
        return f"Nothing more is needed to answer this question.{missing}"
    if lost_words := _lost_of(pair, material):
        return _cure_of_losses(lost_words)
    return _settles(found, one, pair) + missing


def _lost_of(pair: Pair, material: Material) -> list[str]:
    """How much was lost of the two, where that is in the way of a verdict: more topics would lose as much."""
    if pair.bounds is None:
        return []
    said = [(plain(name), loss_words(name, material)) for name in (pair.first, pair.second)]
    return [f"{name}: {words}" for name, words in said if words]


def _dependent(found: Comparison, pair: Pair) -> list[str]:
    return [name for name in (pair.first, pair.second) if name in found.dependent]


def _cure(found: Comparison, names: Sequence[str]) -> str:
    selected, unlike = ([plain(one) for one in names if one in those] for those in (found.selected, found.unlike))
    reasons = []
    if selected:
        reasons.append(f"Whether trials of {listed(selected)} were lost depended on what had been answered")
    if unlike:
        first = "the" if reasons else "The"
        reasons.append(f"{first} users of {listed(unlike)} said something else than those of another system")
    cause = " (the model that words them, or its options)" if unlike else ""
    again = " To play what is missing again would choose among the answers." if selected else ""
    return f"{', and '.join(reasons)}: remove the cause{cause} and make a new run.{again}"


def _settles(found: Comparison, one: MeasureComparison, pair: Pair) -> str:
    """How many more topics or trials would settle it; of topics like these, more topics do, else more trials."""
    like = found.estimand == "like-these"
    wanted, there = (pair.needed.topics, len(one.topics)) if like else (pair.needed.trials, one.trials[1])
    what = "topics like these" if like else "trials of each topic"
    if math.isnan(wanted):
        return f"Play more {what}."
    if wanted > _BEYOND:
        return f"No number of {what} that could be played would tell a difference as small as the one seen."
    more = max(1, math.ceil(wanted) - there)
    return (
        f"Roughly {roughly(more)} more {what} (now {there:,}) would settle it in four studies of five, if the "
        "difference is as large as it was seen."
    )


def _beside(found: Comparison, pair: Pair, runs: Sequence[Path]) -> str:
    topic = pair.drivers[0].topic if pair.drivers else ""
    paths = " ".join(shlex.quote(str(run)) for run in runs)
    command = f"harvest show {paths} --beside {shlex.quote(f'{pair.first},{pair.second}')}"
    return f"{command} --topic {shlex.quote(topic)}" if topic else command


def _several(found: Comparison, one: MeasureComparison, material: Material, runs: Sequence[Path]) -> Finding:
    """Of three systems or more: which is best, and from which others it cannot be told."""
    wins = dict.fromkeys(found.systems, 0)
    for pair in one.pairs:
        if pair.found:
            wins[pair.first if pair.verdict in ("better", "higher") else pair.second] += 1
    order = highest_first(one)
    best = min(order, key=lambda name: (-wins[name], order.index(name)))
    each = ", ".join(f"{plain(name)} {_figure(one, found.systems, name)}" for name in order[:MOST_SYSTEMS])
    more = len(found.systems) - MOST_SYSTEMS
    each += f" and {pluralize(more, 'more system')}" if more > 0 else ""
    common = f" over the {pluralize(len(one.topics), 'topic')} in common" if one.left_out and one.topics else ""
    scope = _compared_scope(found, one, material)
    if not any(pair.found for pair in one.pairs):
        said, verdict = f"No two of {len(found.systems)} systems can be told apart{_measure_words(one)}", "cannot tell"
    else:
        verdict = "better"
        beaten: list[str] = []
        alike: list[str] = []
        for pair in one.pairs:
            if best in (pair.first, pair.second):
                other = pair.second if pair.first == best else pair.first
                (beaten if pair.found else alike).append(plain(other))
        said = f"Of {len(found.systems)} systems {plain(best)} is best{_measure_words(one)}: "
        said += f"better than {listed(beaten[:6])}"
        said += f" and {len(beaten) - 6} more" if len(beaten) > 6 else ""
        said += f", and cannot be told from {listed(alike[:6])}" if alike else ""
    pairs = [pair for pair in one.pairs if best in (pair.first, pair.second) and pair.value == pair.value]
    turns = one.measure == MEAN_USEFUL.name and of_turns(material, found.systems)
    drives = f"{'Useful turns' if turns else one.label}{common}, {_order(one)} first: {each}."
    if not pairs:
        return Finding(verdict, f"{said}.", scope, drives)
    closest = min(pairs, key=lambda pair: abs(pair.value))
    named = _dependent(found, closest)
    following = (
        _cure(found, named)
        if named
        else _cure_of_losses(lost)
        if (lost := _lost_of(closest, material)) and not closest.found
        else f"To tell {plain(closest.first)} from {plain(closest.second)}: {_settles(found, one, closest)}"
        if not closest.found
        else "Read the conversations where they part."
    )
    link = address(topic=closest.drivers[0].topic) if closest.drivers else ""
    return Finding(verdict, f"{said}.", scope, drives, following, _beside(found, closest, runs), link)


def highest_first(one: MeasureComparison) -> list[str]:
    """Systems from the best figure to the worst; the lowest first where low is good, and those without one last."""
    sign = -1 if good_end(parse(one.measure)) == "low" else 1
    values = {name: sign * value if value == value else -math.inf for name, value in one.figures.items()}
    return sorted(values, key=lambda name: -values[name])


def _order(one: MeasureComparison) -> str:
    return "the lowest" if good_end(parse(one.measure)) == "low" else "the highest"


def _measure_words(one: MeasureComparison) -> str:
    return "" if one.measure == MEAN_USEFUL.name else f" in {one.label}"


def plain(text: str | None) -> str:
    """A name within a sentence: on one line, without what would steer a terminal."""
    return printable(text or "", line=True)


def listed(names: Sequence[str]) -> str:
    """`A, B and C`; `none`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "none"
