"""A plan of a comparison, for people: topics or trials, then the grid."""

import math
from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harvest.studies.plan.pilot import ICC, INTERACTION, MEAN
from harvest.studies.plan.planning import WANTED, Design, Study
from harvest.studies.plan.words import ALIKE, design_table, hours_after, in_percent, points, user_turns
from harvest.studies.scores.trial_values import key_name
from harvest.terminal import printable
from scoring.inference.paired import ESTIMANDS, Estimand
from scoring.inference.power import Power
from scoring.table import is_percentage
from topics.counting import pluralize

_TOO_MANY = 100_000  # nobody plays so many
_ASSUMED = {
    "mean": f"{100 * MEAN:g}% pass, as in tau-bench",
    "between": f"topics have {100 * ICC:g}% of the variance (ICC, as in tau-bench)",
    "interaction": f"{100 * INTERACTION:g}% of what lies between topics is of single systems (no source)",
    "within": "trials have the rest of what the mean leaves room for",
}


def plan_tables(study: Study) -> Iterator[RenderableType]:
    """What a person sees: the answer, what it rests on, then power and width by design, and what designs cost."""
    yield Text(answer(study), style="bold")
    for estimand in ESTIMANDS:
        yield Padding(Text(_recommendation(study, estimand)), (0, 0, 0, 2))
    if is_percentage(study.key[0]) and study.difference < 0.01:
        size = 100 * study.difference
        meant = f"--detect {size:g} is {points(size)}; for {points(100 * size)} give --detect {100 * size:g}."
        yield Padding(Text(meant), (0, 0, 0, 2))
    if study.present.mix:
        yield Padding(Text(_uneven_note(study)), (0, 0, 0, 2))
    if study.cautious is not None:
        yield Padding(
            Text(
                "The pilot's spreads are estimates: were systems × topics to vary by their upper 80% limit, "
                f"{_design(study.present)} would find it in {in_percent(study.cautious.found)} of studies of topics "
                "like these."
            ),
            (0, 0, 0, 2),
        )
    yield Text()
    yield from (Text(line) for line in _assumptions(study))
    for estimand in ESTIMANDS:
        yield _grid(study, estimand)
    yield _costs(study)
    yield from (Text(line, style="dim") for line in _legend(study))
    yield from (Text(f"note: {note}") for note in study.notes)


def answer(study: Study) -> str:
    """Topics or trials, in one sentence."""
    return f"Topics or trials? {_answer_like_these(study)}; {_answer_these(study)}."


def _answer_like_these(study: Study) -> str:
    now, topics, trials = (_power(one, "like-these") for one in (study.present, study.more_topics, study.more_trials))
    if now.found >= WANTED:
        return (
            f"For topics like these, neither: {_design(study.present)} finds {measure_size(study)} in "
            f"{in_percent(now.found)} of studies"
        )
    far = topics.found - trials.found
    error = math.hypot(topics.found_error, trials.found_error)
    which = "either" if abs(far) <= ALIKE * error else "topics" if far > 0 else "trials"
    return (
        f"For topics like these, {which}: twice the topics would find {measure_size(study)} in "
        f"{in_percent(topics.found)} of studies instead of {in_percent(now.found)}, twice the trials in "
        f"{in_percent(trials.found)}"
    )


def _answer_these(study: Study) -> str:
    now, trials = _power(study.present, "these"), _power(study.more_trials, "these")
    if now.found >= WANTED:
        return f"for these topics, neither: {_design(study.present)} finds it in {in_percent(now.found)}"
    was = f" instead of {in_percent(now.found)}" if now.found == now.found else ""
    return f"for these topics, trials: twice as many would find it in {in_percent(trials.found)}{was}"


def _uneven_note(study: Study) -> str:
    """The audit's own design, which the grid of equal trials does not show."""
    one = study.present
    said = "; ".join(f"{ESTIMANDS[estimand]}: {_cell(study, one.power[estimand])}" for estimand in ESTIMANDS)
    return (
        f"The audit as it stands, {_design(one)}: found, ± half the interval, {said}. Its trials were dealt to "
        "simulated topics at random; where topics that vary more have more of them, these topics do better."
    )


def _recommendation(study: Study, estimand: Estimand) -> str:
    smallest = study.smallest(estimand)
    start = ESTIMANDS[estimand][0].upper() + ESTIMANDS[estimand][1:]
    if smallest is not None:
        power = _power(smallest, estimand)
        return (
            f"{start}: {_design(smallest)} is the cheapest design below that finds it in 4 studies of 5 "
            f"({in_percent(power.found)}; {_cost(study, smallest)})."
        )
    if estimand == "these":
        trials = study.beyond["trials_of_these"]
        own = pluralize(study.present.topics, "topic")
        return (
            f"{start}: no design below with {own} finds it in 4 studies of 5; about {trials:,.0f} trials of each would."
        )
    topics, trials = study.beyond["topics"], study.beyond["trials"]
    number = f"about {topics:,.0f}" if topics < _TOO_MANY else f"only more than {_TOO_MANY:,}"
    own = pluralize(study.present.topics, "topic")
    if trials < _TOO_MANY:
        by_trials = f"about {trials:,.0f} trials of {own} would, too"
    else:
        by_trials = f"{'no number of' if math.isinf(trials) else f'only more than {_TOO_MANY:,}'} trials of {own} would"
    return (
        f"{start}: no design below finds it in 4 studies of 5; {number} topics with {_each(study.present)} would; "
        f"{by_trials}."
    )


def _each(one: Design) -> str:
    return "such numbers of trials" if one.mix else f"{pluralize(one.trials, 'trial')} of each"


def _assumptions(study: Study) -> Iterator[str]:
    one = study.components
    parts = {
        "mean": _value(study, one.mean),
        "between": f"spread between topics of one system {_spread_words(study, one.topic + one.both)}",
        "interaction": f"of systems × topics {_spread_words(study, one.both)}",
        "within": f"between trials {_spread_words(study, one.within)}",
    }
    parts["mean"] = f"mean {parts['mean']}"
    for source, words in (("pilot", "from the pilot"), ("stated", "as stated"), ("assumed", "ASSUMED")):
        said = [parts[name] for name, own in study.sources.items() if own == source]
        if said:
            yield f"{words}: {', '.join(said)}"
    assumed = [_ASSUMED[name] for name, own in study.sources.items() if own == "assumed"]
    if assumed:
        yield f"  that is: {'; '.join(assumed)}. Give --from RUN, or state them."
    if not math.isnan(study.coming):
        spread = "" if study.pilots else ", ASSUMED to vary between topics as what passes does"
        yield (
            f"{100 * study.coming:.1f}% of conversations need recovery{spread}; how many do varies between simulated "
            "studies, systems and topics, and topics without any drop out"
        )
    if study.sources["within"] == "follows":
        yield f"  between trials {_spread_words(study, one.within)}, which follows from the mean: they are yes or no"


def _grid(study: Study, estimand: Estimand) -> Table:
    title = f"{ESTIMANDS[estimand]}: found, ± half the interval"
    return design_table(title, ((one.topics, one.trials, _cell(study, one.power[estimand])) for one in study.designs))


def _cell(study: Study, one: Power) -> Text:
    if math.isnan(one.found):
        return Text("no test")
    half = "" if math.isnan(one.width) else f" ±{_bare(study, one.width / 2)}"
    return Text(f"{in_percent(one.found)}{half}", style="bold" if one.found >= WANTED else "")


def _costs(study: Study) -> Table:
    title = "user turns" + (" at most" if study.turns_at_most else "")
    return design_table(
        title, ((one.topics, one.trials, Text(f"{one.turns:,}{hours_after(one.hours)}")) for one in study.designs)
    )


def _legend(study: Study) -> Iterator[str]:
    level = f"{100 * study.settings.level:g}%"
    yield (
        f"found: share of simulated studies in which the test of `harvest compare` finds a true difference of "
        f"{measure_size(study)} (simulation error up to {100 * _worst_error(study):.1f} points); "
        f"bold from {in_percent(WANTED)}; interval: {level}, of the difference"
    )
    if study.pairs > 1:
        yield (
            f"{study.systems} systems: each of {study.pairs} pairs is tested at {(1 - study.settings.level):.3g} / "
            f"{study.pairs}, so that power is at least this"
        )
    if study.systems == 1:
        yield "one system: what is compared are two audits of it; turns are of one of them"
    if any(math.isnan(one.hours) for one in study.designs):
        yield "hours: unknown, since the audit sets no rate and no pilot shows how long a conversation takes"


def _worst_error(study: Study) -> float:
    errors = [own.found_error for one in study.designs for own in one.power.values()]
    return max(error for error in errors if error == error)


def _power(design: Design, estimand: Estimand) -> Power:
    return design.power[estimand]


def _design(one: Design) -> str:
    if one.mix:
        whole = f"{min(one.mix)} to {max(one.mix)} trials ({sum(one.mix):,} of each system)"
        return f"{pluralize(one.topics, 'topic')} × {whole}"
    return f"{pluralize(one.topics, 'topic')} × {pluralize(one.trials, 'trial')}"


def _cost(study: Study, one: Design) -> str:
    return f"{user_turns(one.turns)}{' at most' if study.turns_at_most else ''}{hours_after(one.hours)}"


def measure_size(study: Study) -> str:
    """The difference that is to be found: `5 points of %useful S1`."""
    size = points(100 * study.difference) if is_percentage(study.key[0]) else f"{study.difference:g}"
    return f"{size} of {printable(key_name(study.key), line=True)}"


def _value(study: Study, value: float) -> str:
    return f"{100 * value:.1f}%" if is_percentage(study.key[0]) else f"{value:.4g}"


def _spread_words(study: Study, variance: float) -> str:
    return _bare(study, math.sqrt(variance)) + (" points" if is_percentage(study.key[0]) else "")


def _bare(study: Study, value: float) -> str:
    return f"{100 * value:.1f}" if is_percentage(study.key[0]) else f"{value:.4f}"
