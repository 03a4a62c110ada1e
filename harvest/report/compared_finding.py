"""The finding of a report that compares systems, or several runs of one system."""

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harvest.report import finding
from harvest.report.finding import Finding
from harvest.report.grid import address
from harvest.studies.compare.comparison import Comparison
from harvest.studies.scores.assessed import Leading
from harvest.studies.scores.lost_attempts import loss_reasons, loss_words
from harvest.studies.scores.scorecard import Material
from harvest.tables.comparison_words import (
    MOST_PLAYABLE,
    difference_text,
    figure_text,
    is_known,
    is_within,
    p_text,
    same_size_words,
    signed,
)
from recordings.conversations.endings import loss_remedy
from recordings.trees.node_text import format_percent
from scoring.comparison.pairs import SEE_BOUNDS, Driver, MeasureComparison, Pair
from scoring.inference.paired import ESTIMANDS
from scoring.library import good_end
from scoring.measures.usefulness import MEAN_USEFUL
from scoring.notation import parse
from scoring.table import is_percentage
from topics.counting import pluralize
from topics.decimals import percent, round_roughly

_ROUNDING = 1e-12  # values that differ only by the order of summation must compare as equal


def comparison_finding(
    found: Comparison, material: Material, matters: float, runs: Sequence[Path], leading: Leading | None = None
) -> Finding:
    """Return the finding about two systems, several systems, or one system in two runs. Differences of shares smaller
    than `matters` count as no difference. If nothing can be told for topics like these, the finding says what can be
    told on exactly these."""
    leading = leading or Leading()
    first = compared_measure(found, leading)
    if first is None or all(pair.verdict == "no value" for pair in first.pairs):
        return Finding(
            "cannot tell",
            f"These systems cannot be compared by the judgments of {leading.scorers}: no topic has a value of "
            f"{leading.measure} for all of them."
            if leading.scorers
            else "These systems cannot be compared: no measure has a value for all of them.",
            f"{finding.trial_count(material)}.",
        )
    study = _FindingWriter(found, first, material, runs, leading)
    return study.pair_finding(first.pairs[0], matters) if len(found.systems) == 2 else study.ranking()


def compared_measure(found: Comparison, leading: Leading) -> MeasureComparison | None:
    """Return the comparison by the main measure of the report, or None if no measure was compared. Labels of rules are
    never compared in the place of judgments."""
    whole = [one for one in found.measures if one.topic_type is None and one.turn is None]
    if leading.scorers:
        return next((one for one in whole if one.measure == leading.measure), None)
    known = [one for one in whole if any(pair.verdict != "no value" for pair in one.pairs)]
    named = [one for one in known if one.measure == leading.measure]
    return (named or known or whole or [None])[0]  # type: ignore[list-item]


def is_reversed(found: Comparison, pair: Pair) -> bool:
    """Return True if a difference is shown as second minus first. The better system is shown first. If both runs
    recorded the same system, the later run is shown first."""
    return bool(_same_system(found)) or (pair.is_distinguished and pair.verdict in ("worse", "lower"))


def difference_words(one: MeasureComparison, pair: Pair, *, turned: bool) -> str:
    """Format a difference with its unit and interval, as second minus first if `turned`."""
    sign = -1 if turned else 1
    found = f"{difference_text(one, pair, turned=turned)}{' points' if is_percentage(one.measure) else ''}"
    if math.isnan(pair.interval.low):
        return found
    low, high = sorted((sign * pair.interval.low, sign * pair.interval.high))
    return f"{found} [{signed(one, low)}, {signed(one, high)}]"


def highest_first(one: MeasureComparison) -> list[str]:
    """Return the systems from the best figure to the worst, followed by systems without a figure."""
    sign = -1 if good_end(parse(one.measure)) == "low" else 1
    values = {name: sign * value if value == value else -math.inf for name, value in one.figures.items()}
    return sorted(values, key=lambda name: -values[name])


def _beside(pair: Pair) -> str:
    """Return the link to conversations of both systems on the topic that drives their difference, or ""."""
    first = pair.drivers[0].topic if pair.drivers else ""
    return address(topic=first, system=pair.first, beside=pair.second) if first else ""


def _same_system(found: Comparison) -> str:
    own = {name for _, name in (found.recorded[system] for system in found.systems if system in found.recorded)}
    return own.pop() if len(own) == 1 and len(found.systems) > 1 else ""


@dataclass(frozen=True, slots=True)
class _FindingWriter:
    found: Comparison
    one: MeasureComparison
    material: Material
    runs: Sequence[Path]
    leading: Leading

    def pair_finding(self, pair: Pair, matters: float) -> Finding:
        found, one = self.found, self.one
        these = next((each.pairs[0] for each in found.on_these if each.label == one.label), None)
        again = _same_system(found)
        within = is_within(one, pair, matters)
        first, second = finding.safe_name(pair.first), finding.safe_name(pair.second)
        figures = self._figure(pair.first), self._figure(pair.second)
        turned = is_reversed(found, pair)
        small = f"{100 * matters:g} points"
        earlier, later = (finding.safe_name(name.removeprefix(f"{again}@")) for name in (pair.first, pair.second))
        if pair.is_distinguished and again:
            word = {"better": "worse", "worse": "better", "higher": "lower", "lower": "higher"}[pair.verdict]
            verdict, said = "changed", f"{finding.safe_name(again)} is {word} in {later} than in {earlier}"
        elif pair.is_distinguished:
            better, other = (second, first) if turned else (first, second)
            word = "better" if pair.verdict in ("better", "worse") else "higher"
            verdict, said = "better", f"{better} is {word} than {other}"
        elif within:
            verdict, said = "same", f"{first} and {second} are the same within {small}"
        elif these is not None:
            better = second if these.verdict in ("worse", "lower") else first
            word = "better" if these.verdict in ("better", "worse") else "higher"
            verdict, said = "cannot tell", f"{better} is {word} on these {pluralize(len(one.topics), 'topic')}"
            said += "; for others like them it cannot be told"
        elif pair.verdict == "too few":
            verdict, said = "cannot tell", f"There are too few topics to tell {first} from {second}"
        else:
            which = (
                f"{finding.safe_name(again)} changed from {earlier} to {later}"
                if again
                else f"{first} or {second} is better"
            )
            verdict, said = "cannot tell", f"Whether {which} cannot be told"
        said += f", by less than {small}" if within and pair.is_distinguished else ""
        shown = finding.answer_words(
            one.measure,
            one.label,
            figures[::-1] if turned and not again else figures,
            self.material,
            found.systems,
            self.leading,
            ", then " if again else " and ",
        )
        # The bars below and `harvest score` are over all topics of each system.
        shown += f" over {self._common_topics}" if self._common_topics else ""
        interval = difference_words(one, pair, turned=turned)
        if pair.selected:
            interval += f", since {pair.why.removesuffix(SEE_BOUNDS)}" if pair.why else ""
        elif not pair.is_distinguished and (pair.interval.low > 0 or pair.interval.high < 0):
            why = pair.why.removesuffix(SEE_BOUNDS) or f"the test does not settle it (p {p_text(pair.corrected)})"
            interval += f"; the interval excludes 0, but {why}"
        elif math.isnan(pair.interval.low) and pair.why:
            interval += f", without an interval: {pair.why.removesuffix(SEE_BOUNDS)}"
        if verdict == "cannot tell" and these is not None:
            own = difference_words(one, these, turned=False)
            value, opened, ends = own.partition(" [")
            own = f"{opened}{ends}".strip() if interval.startswith(f"{value}{opened}") else own
            interval += f" for topics like these, {own} for these topics"
        elif verdict == "cannot tell" and not again and not pair.selected:
            interval += self._either_way(pair)
        lost = sum(found.invalid.values()) + sum(found.unplayed.values())
        missing = (
            f" {pluralize(lost, 'planned trial')} without a valid attempt: play the missing trials first."
            if lost
            else ""
        )
        if cure := self._cause_advice(pair):
            following = cure
        elif verdict in ("better", "changed"):
            following = f"Read the conversations where they part, the topics above first.{missing}"
        elif verdict == "same":
            following = f"Nothing more is needed to answer this question.{missing}"
        elif losses := self._loss_words(pair):
            following = finding.loss_advice(losses, loss_reasons((pair.first, pair.second), self.material))
        else:
            following = self._size_advice(pair, matters) + missing
        return Finding(
            verdict,
            f"{said}: {'it' if again else 'they'} {shown}, a difference of {interval}.",
            self._scope_words(interval=not (pair.selected and math.isnan(pair.interval.low))),
            " ".join(
                filter(
                    None,
                    (
                        self._contrasts if again else "",
                        self._drivers(pair, -1 if turned else 1),
                        self._parting(turned=turned),
                    ),
                )
            ),
            following,
            self._command(pair),
            _beside(pair),
        )

    def ranking(self) -> Finding:
        found, one = self.found, self.one
        wins = dict.fromkeys(found.systems, 0)
        for pair in one.pairs:
            if pair.is_distinguished:
                wins[pair.first if pair.verdict in ("better", "higher") else pair.second] += 1
        order = highest_first(one)
        best = min(order, key=lambda name: (-wins[name], order.index(name)))
        by = f" by the judgments of {self.leading.scorers}" * bool(self.leading.scorers)
        measure = "" if one.measure == MEAN_USEFUL.name else f" in {one.label}{by}"
        if any(wins.values()):
            verdict = "better"
            beaten: list[str] = []
            alike: list[str] = []
            for pair in one.pairs:
                if best in (pair.first, pair.second):
                    other = pair.second if pair.first == best else pair.first
                    (beaten if pair.is_distinguished else alike).append(finding.safe_name(other))
            said = f"Of {len(found.systems)} systems {finding.safe_name(best)} is best{measure}: "
            said += f"better than {finding.join_names(beaten[:6])}"
            said += f" and {len(beaten) - 6} more" if len(beaten) > 6 else ""
            said += f", and cannot be told from {finding.join_names(alike[:6])}" if alike else ""
        else:
            verdict, said = "cannot tell", f"No two of {len(found.systems)} systems can be told apart{measure}"
        turns = one.measure == MEAN_USEFUL.name and finding.is_share_of_turns(self.material, found.systems)
        drives = (
            f"{'Useful turns' if turns else one.label}{f' over {self._common_topics}' if self._common_topics else ''}, "
        )
        drives += f"the {'lowest' if good_end(parse(one.measure)) == 'low' else 'highest'} first: "
        drives += ", ".join(f"{finding.safe_name(name)} {self._figure(name)}" for name in order[: finding.MOST_SYSTEMS])
        more = len(found.systems) - finding.MOST_SYSTEMS
        drives += f" and {pluralize(more, 'more system')}." if more > 0 else "."
        pairs = [pair for pair in one.pairs if best in (pair.first, pair.second) and pair.value == pair.value]
        if not pairs:
            return Finding(verdict, f"{said}.", self._scope_words(), drives)
        closest = min(pairs, key=lambda pair: abs(pair.value))
        if cure := self._cause_advice(closest):
            following = cure
        elif closest.is_distinguished:
            following = "Read the conversations where they part."
        elif losses := self._loss_words(closest):
            following = finding.loss_advice(losses, loss_reasons((closest.first, closest.second), self.material))
        else:
            first, second = finding.safe_name(closest.first), finding.safe_name(closest.second)
            following = f"To tell {first} from {second}: {self._size_advice(closest)}"
        return Finding(
            verdict, f"{said}.", self._scope_words(), drives, following, self._command(closest), _beside(closest)
        )

    def _scope_words(self, *, interval: bool = True) -> str:
        level = f"{100 * self.found.settings.level:g}% interval for {ESTIMANDS[self.found.estimand]}"
        topics = f"over {pluralize(len(self.one.topics), 'common topic')}"
        said = f"{level}, {topics}" if interval else topics.capitalize()
        return finding.scope_words(said, self.one.measure, self.material)

    @property
    def _common_topics(self) -> str:
        topics = self.one.topics
        return f"the {pluralize(len(topics), 'topic')} in common" if self.one.left_out and topics else ""

    def _figure(self, name: str) -> str:
        return figure_text(self.one, name)

    @property
    def _contrasts(self) -> str:
        said = [finding.safe_name(one.said) for one in self.found.contrasts]
        more = len(said) - finding.MOST_NAMED
        others = f"; {pluralize(more, 'more difference')} under “Figures”" if more > 0 else ""
        return f"The runs differ: {'; '.join(said[: finding.MOST_NAMED])}{others}." if said else ""

    def _drivers(self, pair: Pair, sign: int) -> str:
        if not is_known(pair):
            return "Topics are not named, since with the lost trials the difference can be another one."
        if not pair.drivers:
            return ""
        top = pair.drivers[: finding.MOST_NAMED]
        if pair.is_distinguished:
            unit = " points" if is_percentage(self.one.measure) else ""
            shares = finding.join_names(
                [f"{finding.safe_name(driver.topic)} ({percent(driver.share)})" for driver in top]
            )
            without = (
                f"without {finding.safe_name(top[0].topic)} it would be {signed(self.one, sign * top[0].without)}{unit}"
            )
            if sum(driver.share for driver in top) > 0.5:
                return f"Most of the difference comes from {shares}; {without}."
            return f"Many topics: the largest parts of the difference come from {shares}; {without}."
        # Topics by the side that they favour, the strongest first; equal results favour neither side.
        sides: dict[str, list[Driver]] = {pair.first: [], pair.second: []}
        for driver in sorted(pair.drivers, key=lambda one: -abs(one.share)):
            pull = driver.share * pair.value
            if abs(pull) > _ROUNDING:
                sides[pair.first if pull > 0 else pair.second].append(driver)
        if not any(sides.values()):
            return ""
        said = []
        for name, found in sides.items():
            strongest = [finding.safe_name(one.topic) for one in found[: finding.MOST_NAMED]]
            said.append(f"{finding.join_names(strongest) if found else 'no topic'} towards {finding.safe_name(name)}")
        return f"Topics pull {'both ways' if all(sides.values()) else 'one way'}: {', '.join(said)}."

    def _either_way(self, pair: Pair) -> str:
        """Say how much better each system may be, if the interval of their difference includes 0."""
        good = good_end(parse(self.one.measure))
        if not pair.interval.low < 0 < pair.interval.high or good == "neither":
            return ""
        unit = " points" if is_percentage(self.one.measure) else ""
        most = {pair.first: pair.interval.high, pair.second: -pair.interval.low}
        if good == "low":
            most = dict(zip(most, reversed(most.values()), strict=True))
        ends = [signed(self.one, most[name]).removeprefix("+") for name in (pair.first, pair.second)]
        first, second = finding.safe_name(pair.first), finding.safe_name(pair.second)
        return f": {first} may be better by up to {ends[0]}{unit}, or {second} by up to {ends[1]}"

    def _parting(self, *, turned: bool) -> str:
        """Name the turn at which most of the conversations of two systems part, if that is significant."""
        turns = self.found.parted[0].turns if self.found.parted else ()
        known = [turn for turn in turns if turn.p <= 1 - self.found.settings.level + _ROUNDING]
        if not known:
            return ""
        most = max(known, key=lambda turn: turn.share)
        sides = [format_percent(share) for share in (most.portion[::-1] if turned else most.portion)]
        place = "By the rules' labels, conversations" if self.leading.scorers else "Conversations"
        return f"{place} part most at {finding.answer_place(most.turns, most.branch)} in {' and '.join(sides)}."

    def _loss_words(self, pair: Pair) -> list[str]:
        """Describe the lost trials of both systems, if their loss prevents a verdict. More topics would not help,
        because they would lose trials at the same rate."""
        if pair.bounds is None:
            return []
        said = [(finding.safe_name(name), loss_words(name, self.material)) for name in (pair.first, pair.second)]
        return [f"{name}: {words}" for name, words in said if words]

    def _cause_advice(self, pair: Pair) -> str:
        found = self.found
        names = [name for name in (pair.first, pair.second) if name in found.dependent]
        if not names:
            return ""
        selected, unlike = (
            [finding.safe_name(one) for one in names if one in those] for those in (found.selected, found.unlike)
        )
        reasons = []
        if selected:
            reasons.append(
                f"Whether trials of {finding.join_names(selected)} were lost depended on what had been answered"
            )
        if unlike:
            first = "the" if reasons else "The"
            reasons.append(
                f"{first} users of {finding.join_names(unlike)} did not say the same as those of another system"
            )
        if unlike:
            remedy = "remove the cause (the model that words them, or its options) and make a new run"
        else:
            remedy = loss_remedy(loss_reasons(names, self.material))
        again = " Playing the missing trials again would select among the answers." if selected else ""
        return f"{', and '.join(reasons)}: {remedy}.{again}"

    def _size_advice(self, pair: Pair, matters: float = 0.0) -> str:
        like = self.found.estimand == "like-these"
        wanted, there = (pair.needed.topics, len(self.one.topics)) if like else (pair.needed.trials, self.one.trials[1])
        what = "topics like these" if like else "trials of each topic"
        small = ""
        if is_percentage(self.one.measure) and abs(pair.value) < matters:
            small = f"The observed difference is smaller than the {100 * matters:g} points that matter. "
            if same := same_size_words(pair, self.found.estimand, matters, there):
                return f"{small}{same[0].upper()}{same[1:]}, in four studies of five, if it is as small as observed."
        if math.isnan(wanted):
            return "Remove the cause, and play the audit again." if pair.why else f"Play more {what}."
        if wanted > MOST_PLAYABLE:
            return f"No number of {what} that could be played would show a difference as small as the observed one."
        whole = f"{round_roughly(max(wanted, there + 1))} {what} (now {there:,})"
        if small:
            return f"{small}Roughly {whole} would show one of its size in four studies of five."
        return f"Roughly {whole} would settle it in four studies of five, if the difference is as large as observed."

    def _command(self, pair: Pair) -> str:
        paths = " ".join(shlex.quote(finding.shown_path(run)) for run in self.runs)
        command = f"harvest show {paths} --beside {shlex.quote(f'{pair.first},{pair.second}')}"
        return f"{command} --topic {shlex.quote(pair.drivers[0].topic)}" if pair.drivers else command
