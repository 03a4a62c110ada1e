"""Years of weekly audits of a system that changes or does not: when the watch of `scoring.inference` alarms, whether it
says that a repair is one, and how often its intervals and *same* are right.

    python -m tests.support.watched_years [--years 1000] [--further | --followed | --settling | --repaired | --single]
        [--write]

prints the tables; --write puts them into docs/reaudit.md.

The worlds: topics with a mean of .60 and an intraclass correlation of .45 (Beta), a baseline of 8 audits, and an effect
of each audit on all its trials, normal on the scale of log odds with standard deviation τ (τ = .3 moves a mean of .60
by about four points). A `World` has other means, fewer blessed runs, and other ways in which trials hang together.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.inference.drift import SAME_BUDGET, Baseline, difference
from scoring.inference.settling import is_settled, trials_to_settle
from scoring.inference.topic_changes import AuditTopics, topic_changes
from scoring.inference.watch_state import WatchState
from scoring.inference.watched_audit import Judged, JudgingRules, judge
from scoring.statistics.beta import beta_quantile
from tests.support.checkout import ROOT
from topics.identity import generator

Floats = npt.NDArray[np.float64]

SIZES = ((45, 5), (15, 5), (15, 20))
SPREADS = (0.0, 0.15, 0.3)
LOOKS = 52
MATTERS = 0.03
RUNS = 8
MEAN, ICC = 0.60, 0.45
PAGE = ROOT / "docs" / "reaudit.md"
BEGIN, END = "<!-- years -->\n", "<!-- end of years -->\n"
FURTHER = "<!-- further years -->\n"
SETTLING = "<!-- settling -->\n"
REPAIRED = "<!-- repaired -->\n"
SINGLE = "<!-- single -->\n"
FOLLOWED = "<!-- followed -->\n"
RULES = JudgingRules(MATTERS, looks=LOOKS)

APART = (-3.0, -2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
"""True differences that more trials are asked to settle, in what matters."""

BLESSED = ((4, 0.05), (8, 0.05), (8, 0.1), (16, 0.05), (40, 0.05))
"""Runs of a baseline, and what matters."""

SETTLED_SPREADS = (0.0, 0.15)


def moved(chances: Floats, by: float | Floats) -> Floats:
    """Chances moved on the scale of log odds."""
    return np.asarray(1 / (1 + np.exp(-(np.log(chances / (1 - chances)) + by))))


def with_mean(chances: Floats, mean: float) -> Floats:
    """Chances moved together so that their mean is `mean`."""
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if moved(chances, middle).mean() < mean else (low, middle)
    return moved(chances, low)


def topics(size: int, rng: np.random.Generator, mean: float = MEAN) -> Floats:
    weight = 1 / ICC - 1
    drawn = rng.beta(mean * weight, (1 - mean) * weight, size)
    return with_mean(np.clip(drawn, 1e-4, 1 - 1e-4), mean)


def audit(chances: Floats, trials: int, spread: float, rng: np.random.Generator) -> Floats:
    """(topics, trials) of 0 and 1."""
    now = moved(chances, float(rng.normal(0, spread))) if spread else chances
    return (rng.random((len(now), trials)) < now[:, None]).astype(np.float64)


def baseline(runs: list[Floats]) -> Baseline:
    together = np.concatenate(runs, axis=1)
    return Baseline(
        together.mean(axis=1),
        together.var(axis=1, ddof=1),
        np.full(len(together), float(together.shape[1])),
        np.array([one.mean() for one in runs]),
    )


def audit_topics(cells: Floats) -> AuditTopics:
    """The topics of an audit of (topics, trials)."""
    return AuditTopics(np.full(len(cells), float(cells.shape[1])), cells.mean(axis=1), cells.var(axis=1, ddof=1))


Change = Callable[[Floats, int], Floats]
"""What becomes of the chances of topics at a look (from 0)."""


@dataclass(frozen=True, slots=True)
class World:
    """spread: τ. runs: of the baseline. weekly: correlation of the effects of one audit and the next. mixed: standard
    deviation of an effect that each audit has on each topic. sticky: chance that a trial repeats the one before it.
    buckets: effects have two values, the rarer one in a quarter of the audits, and not a normal law."""

    size: int
    trials: int
    spread: float = 0.15
    runs: int = 8
    mean: float = MEAN
    weekly: float = 0.0
    mixed: float = 0.0
    sticky: float = 0.0
    buckets: bool = False

    def __str__(self) -> str:
        parts = [f"{self.size} × {self.trials}", f"τ {self.spread:g}", f"{self.runs} blessed"]
        parts += [f"{name} {value:g}" for name, value in (("weekly", self.weekly), ("mixed", self.mixed)) if value]
        return ", ".join([*parts, *([f"sticky {self.sticky:g}"] if self.sticky else [])])


class Played:
    """Audits of a world, one after the other. chances: of its topics. known: the baseline."""

    def __init__(self, world: World, rng: np.random.Generator) -> None:
        self.world, self.rng = world, rng
        self.chances = topics(world.size, rng, world.mean)
        self._effect = self._drawn()
        self.known = baseline([self.audit() for _ in range(world.runs)])

    def _drawn(self) -> float:
        if self.world.buckets:
            return self.world.spread * (-math.sqrt(3) if self.rng.random() < 0.25 else 1 / math.sqrt(3))
        return float(self.rng.normal(0, self.world.spread))

    def hour(self, mean: float | None = None) -> Floats:
        """The chances of topics at the hour of another audit, of a system with this mean; None for no change."""
        kept = self.world.weekly
        self._effect = kept * self._effect + math.sqrt(1 - kept**2) * self._drawn()
        now = self.chances if mean is None else with_mean(self.chances, mean)
        return moved(now, self._effect + self.rng.normal(0, self.world.mixed, len(now)))

    def trials(self, here: Floats, count: int) -> Floats:
        """(topics, count) of 0 and 1, played within one hour."""
        found = audit(here, count, 0.0, self.rng)
        for at in range(1, count if self.world.sticky else 0):
            again = self.rng.random(len(here)) < self.world.sticky
            found[again, at] = found[again, at - 1]
        return found

    def audit(self, mean: float | None = None) -> Floats:
        return self.trials(self.hour(mean), self.world.trials)


def watched(played: Played, means: Iterator[float | None]) -> Iterator[Judged]:
    """The looks at audits of a system that has these means, one a week."""
    state = WatchState()
    for week, mean in enumerate(means):
        one = judge(state, played.known, list(played.audit(mean)), RULES, at=float(week))
        state = one.state
        yield one


def is_denied(one: Judged) -> bool:
    """Whether the audit's word claims what the interval that is printed with it denies."""
    low, high = one.seen.low, one.seen.high
    word, side = one.word(MATTERS), one.state.side
    if word == "changed":
        low, high = one.together[1:3] if one.rests_on_several else (low, high)
        return not (high < 0 if side == 0 else low > 0)
    if word in ("perhaps back", "back"):
        return high < 0 if one.before.side == 0 else low > 0
    if word == "same":
        return high < -MATTERS or low > MATTERS
    if word in ("fell", "rose") and not one.difference.is_beyond(MATTERS):
        low, high = one.gathered[1:3]  # of several audits together, which is said with the word
    return word in ("fell", "rose") and low <= 0 <= high


@dataclass(frozen=True, slots=True)
class Repair:
    """Of a year: found: looks until the change was confirmed. said: words after the repair. denied: whether any word of
    the year was denied by its interval."""

    found: int
    said: tuple[str, ...]
    denied: bool

    @property
    def back(self) -> float:
        """Looks until it was back; inf for never."""
        return self.said.index("back") + 1 if "back" in self.said else math.inf


def repaired(
    world: World, low: float, rng: np.random.Generator, *, stays: int = 2, looks: int = LOOKS
) -> Repair | None:
    """A year of three quiet audits, a fall to the mean `low`, its confirmation, `stays` more, and a repair; None where
    the fall was not confirmed within the year."""
    played, found = Played(world, rng), list[Judged]()
    confirmed = 0

    def means() -> Iterator[float | None]:
        for week in range(looks):
            gone = confirmed and week >= confirmed + stays
            yield None if week < 3 or gone else low

    for one in watched(played, means()):
        found.append(one)
        if not confirmed and len(found) > 3 and one.state.is_changed:
            confirmed = len(found)
    if not confirmed or confirmed + stays >= looks:
        return None
    said = tuple(one.word(MATTERS) for one in found[confirmed + stays :])
    return Repair(confirmed - 3, said, any(map(is_denied, found)))


def second_change(world: World, first: float, then: float, rng: np.random.Generator, looks: int = LOOKS) -> int | None:
    """Looks until a further fall, two audits after the first one was confirmed, is confirmed too; None for never."""
    confirmed = 0

    def means() -> Iterator[float | None]:
        for week in range(looks):
            yield then if confirmed and week >= confirmed + 2 else first

    for week, one in enumerate(watched(Played(world, rng), means())):
        if not confirmed and one.state.is_changed:
            confirmed = week + 1
        if one.state.times == 2:
            return week + 1 - confirmed - 2
    return None


@dataclass(frozen=True, slots=True)
class Coverage:
    """Of audits. printed: share with an interval. held: share of these whose interval holds the true difference. half:
    the median half of them. these: share whose interval of these very runs holds the difference between them."""

    printed: float
    held: float
    half: float
    these: float


def coverage(world: World, now: float, count: int) -> Coverage:
    """Of the difference of a system with the mean `now` from the baseline."""
    held, these, halves = list[bool](), list[bool](), list[float]()
    for number in range(count):
        played = Played(world, generator(number, "coverage", str(world), round(1000 * world.mean), round(1000 * now)))
        here = played.hour(now)
        found = difference(played.known, list(played.trials(here, world.trials)), matters=MATTERS, level=0.95)
        if found.interval.is_defined:
            held.append(found.interval.contains(now - world.mean))
            halves.append((found.high - found.low) / 2)
        elif not world.spread:
            these.append(found.these_low <= float(here.mean()) - world.mean <= found.these_high)
    return Coverage(
        len(held) / count,
        float(np.mean(held)) if held else math.nan,
        float(np.median(halves)) if halves else math.nan,
        float(np.mean(these)) if these else math.nan,
    )


def same(world: World, apart: float, matters: float, count: int, extensions: Sequence[int] = ()) -> float:
    """How often *same* is said of a system that is `apart` from the baseline, at one look at a run or, until it is
    said, after each of the extensions by so many trials."""
    said = 0
    for number in range(count):
        played = Played(world, generator(number, "same", str(world), round(1000 * apart), round(1000 * matters)))
        here = played.hour(world.mean + apart)
        cells, left = played.trials(here, world.trials), SAME_BUDGET
        for more in (0, *extensions):
            cells = np.concatenate([cells, played.trials(here, more)], axis=1) if more else cells
            found = difference(played.known, list(cells), matters=matters, level=0.95, left=left)
            left -= found.spent
            if found.same:
                said += 1
                break
    return said / count


def year(
    size: int,
    trials: int,
    spread: float,
    rng: np.random.Generator,
    change: Change | None = None,
    looks: int = LOOKS,
    *,
    again: int = 0,
) -> int | None:
    """The week (from 1) in which a change was confirmed; None for never. again: so many days of a week may have another
    audit, as the printed schedule plays one where an alarm or a fall waits (`--if-alarm`)."""
    chances = topics(size, rng)
    known = baseline([audit(chances, trials, spread, rng) for _ in range(RUNS)])
    state = WatchState()
    for look in range(looks):
        for day in range(1 + again):
            seen = audit(change(chances, look) if change else chances, trials, spread, rng)
            one = judge(state, known, list(seen), RULES, at=look + day / 7)
            state = one.state
            if state.is_changed:
                return look + 1
            if one.word(MATTERS) not in ("alarm", "fell", "rose"):
                break
    return None


def false_alarm(world: World, rng: np.random.Generator, looks: int = LOOKS) -> bool:
    """Whether a year without a change has one confirmed."""
    quiet: Iterator[float | None] = iter([None] * looks)
    return any(one.state.is_changed for one in watched(Played(world, rng), quiet))


@dataclass(frozen=True, slots=True)
class Years:
    """alarms: share of null years with a report. found: looks until a drop to .45 was reported, median and 90th
    percentile; inf where it never was."""

    topics: int
    trials: int
    spread: float
    years: int
    alarms: float
    median: float
    ninety: float


def drop(chances: Floats, look: int) -> Floats:
    return with_mean(chances, 0.45)


def years(size: int, trials: int, spread: float, count: int) -> Years:
    name = (f"{size}x{trials}", int(1000 * spread))
    null = [year(size, trials, spread, generator(number, "null year", *name)) for number in range(count)]
    changed = [
        year(size, trials, spread, generator(number, "year of a drop", *name), drop) or math.inf
        for number in range(count)
    ]
    middle, ninety = np.quantile(changed, [0.5, 0.9], method="higher")
    alarms = sum(one is not None for one in null) / count
    return Years(size, trials, spread, count, alarms, float(middle), float(ninety))


def decline(chances: Floats, look: int) -> Floats:
    """A point a week, from .60 down to .45."""
    return with_mean(chances, max(0.45, MEAN - 0.01 * (look + 1)))


def bad_topic(size: int, trials: int, rng: np.random.Generator) -> int | None:
    """The look at which a topic that fell from .9 or more to .05 is named by itself; None for not within four."""
    chances = topics(size, rng)
    chances[0] = max(0.9, chances[0])
    known = baseline([audit(chances, trials, 0.0, rng) for _ in range(RUNS)])
    chances[0] = 0.05
    for look in range(1, 5):
        found = topic_changes(known, [audit_topics(audit(chances, trials, 0.0, rng))], rng)
        if found.are_named[0] and found.fell[0]:
            return look
    return None


@dataclass(frozen=True, slots=True)
class Promised:
    """A number of trials that was promised to settle what could not be told. apart: the true difference, in what
    matters. chance: that was said. kept: whether they settled it; later: whether they did at another hour, with another
    effect."""

    apart: float
    chance: float
    kept: bool
    later: bool


@dataclass(frozen=True, slots=True)
class Settling:
    """Of audits: of how many it could not be told whether they changed, and what was promised of these."""

    untold: int
    promises: tuple[Promised, ...]


def settling(size: int, trials: int, runs: int, matters: float, spread: float, count: int) -> Settling:
    """Each of APART is the true difference equally often."""
    untold, promises = 0, list[Promised]()
    for number in range(count):
        rng = generator(number, "settling", f"{size}x{trials}x{runs}", round(1000 * matters), round(100 * spread))
        chances = topics(size, rng)
        known = baseline([audit(chances, trials, spread, rng) for _ in range(runs)])
        apart = APART[number % len(APART)]
        now = with_mean(chances, MEAN + apart * matters)
        here = moved(now, float(rng.normal(0, spread)))
        cells = audit(here, trials, 0.0, rng)
        found = difference(known, list(cells), matters=matters, level=0.95)
        if is_settled(found, matters):
            continue
        untold += 1
        said = trials_to_settle(known, found, each=trials, matters=matters)
        if said.trials:
            more = (audit(here, said.trials, 0.0, rng), audit(now, said.trials, spread, rng))
            whole = [np.concatenate([cells, one], axis=1) for one in more]
            left = found.left - found.spent
            after = [difference(known, list(one), matters=matters, level=0.95, left=left) for one in whole]
            promises.append(Promised(apart, said.chance, *(is_settled(one, matters) for one in after)))
    return Settling(untold, tuple(promises))


def upper(share: float, count: int) -> float:
    """The upper 95% limit of a share (Clopper and Pearson, one side)."""
    hits = round(share * count)
    return 1.0 if hits == count else float(beta_quantile(0.95, hits + 1, count - hits))


def three_weeks(chances: Floats, look: int) -> Floats:
    """Down to .45 in the fourth, fifth and sixth week."""
    return with_mean(chances, 0.45) if 3 <= look < 6 else chances


def followed_table(count: int) -> str:
    lines = [
        "| topics × trials | τ | false alarm in a year (upper limit) | .60 → .45 for three weeks: confirmed, if played "
        "weekly | with `--if-alarm` every day |",
        "|---|---|---|---|---|",
    ]
    for size, trials in SIZES:
        for spread in SPREADS:
            name = (f"{size}x{trials}", int(1000 * spread))
            null = [year(size, trials, spread, generator(n, "null year", *name), again=6) for n in range(count)]
            false = sum(one is not None for one in null) / count
            found = [
                sum(
                    year(size, trials, spread, generator(n, "three weeks", *name), three_weeks, 9, again=again)
                    is not None
                    for n in range(count)
                )
                for again in (0, 6)
            ]
            shares = " | ".join(_share(one, count) for one in found)
            lines.append(f"| {size} × {trials} | {spread:g} | {false:.3f} ({upper(false, count):.3f}) | {shares} |")
            print(lines[-1], file=sys.stderr, flush=True)
    return "".join(f"{line}\n" for line in lines)


def table(count: int) -> str:
    lines = [
        "| topics × trials | τ | false alarm in a year (upper limit) | .60 → .45 reported: median look | nine in ten |",
        "|---|---|---|---|---|",
    ]
    for size, trials in SIZES:
        for spread in SPREADS:
            one = years(size, trials, spread, count)
            looks = [f"{value:.0f}" if math.isfinite(value) else f"after {LOOKS}" for value in (one.median, one.ninety)]
            lines.append(
                f"| {size} × {trials} | {spread:g} | {one.alarms:.3f} ({upper(one.alarms, count):.3f}) "
                f"| {looks[0]} | {looks[1]} |"
            )
            print(lines[-1], file=sys.stderr, flush=True)
    return "".join(f"{line}\n" for line in lines)


def further_tables(count: int) -> str:
    lines = [
        "| topics × trials | a point a week down to .45 reported: median look | nine in ten "
        "| a topic that falls from .9 or more to .05 is named at the first look | within four |",
        "|---|---|---|---|---|",
    ]
    for size, trials in SIZES:
        name = f"{size}x{trials}"
        falls = [
            year(size, trials, 0.0, generator(number, "slow decline", name), decline) or math.inf
            for number in range(count)
        ]
        middle, ninety = np.quantile(falls, [0.5, 0.9], method="higher")
        found = [bad_topic(size, trials, generator(number, "bad topic", name)) for number in range(count)]
        first, four = (sum(one is not None and one <= last for one in found) / count for last in (1, 4))
        lines.append(f"| {size} × {trials} | {middle:.0f} | {ninety:.0f} | {100 * first:.0f}% | {100 * four:.0f}% |")
        print(lines[-1], file=sys.stderr, flush=True)
    return "".join(f"{line}\n" for line in lines)


def settling_tables(count: int) -> str:
    lines = [
        "| topics × trials | blessed runs | matters | τ | cannot tell | promised | chance that was said | settled "
        "| at another hour |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    every: dict[float, list[Promised]] = {spread: [] for spread in SETTLED_SPREADS}
    untold = dict.fromkeys(SETTLED_SPREADS, 0)
    for spread in SETTLED_SPREADS:
        for size, trials in SIZES:
            for runs, matters in BLESSED:
                one = settling(size, trials, runs, matters, spread, count)
                every[spread] += one.promises
                untold[spread] += one.untold
                lines.append(
                    f"| {size} × {trials} | {runs} | {100 * matters:g} points | {spread:g} "
                    f"| {_share(one.untold, count)} | {_kept(one.untold, one.promises)} |"
                )
                print(lines[-1], file=sys.stderr, flush=True)
    for spread in SETTLED_SPREADS:
        lines.append(f"| all | | | {spread:g} | | {_kept(untold[spread], every[spread])} |")
    lines += ["", "| true difference, in what matters | promises | settled |", "|---|---|---|"]
    for words, least, most in (
        ("inside: 0 and 0.5", 0, 0.9),
        ("at the edge: 1", 0.9, 1.1),
        ("outside: 1.5 to 3", 1.1, 9),
    ):
        own = [one for found in every.values() for one in found if least <= abs(one.apart) < most]
        lines.append(f"| {words} | {len(own)} | {_percent([one.kept for one in own])} |")
    return "".join(f"{line}\n" for line in lines)


STORIES = (
    (World(8, 5, 0.0, 4, 0.9), 0.6),
    (World(8, 5, 0.15, 4, 0.9), 0.6),
    (World(15, 5, 0.15, 8), 0.45),
    (World(45, 5, 0.15, 4), 0.45),
    (World(45, 5, 0.15, 8), 0.5),
    (World(45, 5, 0.0, 4, 0.95), 0.55),
    (World(15, 20, 0.15, 4), 0.45),
)
"""Worlds of a change and its repair, and the mean between the two."""


def repaired_table(count: int) -> str:
    lines = [
        "| topics × trials, τ, blessed runs | fall | *changed* after the repair (upper limit) | at the first audit "
        "| back: median audit | nine in ten |",
        "|---|---|---|---|---|---|",
    ]
    for world, low in STORIES:
        name = ("repair", str(world), round(100 * low))
        found = [one for number in range(count) if (one := repaired(world, low, generator(number, *name))) is not None]
        assert not any(one.denied for one in found)
        late = sum("changed" in one.said for one in found) / len(found)
        first = sum(one.said[0] == "changed" for one in found) / len(found)
        middle, ninety = np.quantile([one.back for one in found], [0.5, 0.9], method="higher")
        looks = [f"{value:.0f}" if math.isfinite(value) else "not within the year" for value in (middle, ninety)]
        lines.append(
            f"| {world} | {world.mean:g} → {low:g} | {late:.3f} ({upper(late, len(found)):.3f}) | {first:.3f} "
            f"| {looks[0]} | {looks[1]} |"
        )
        print(lines[-1], file=sys.stderr, flush=True)
    return "".join(f"{line}\n" for line in lines)


SINGLES = (
    (World(8, 5, 0.0, 4, 0.95), 0.95),
    (World(8, 5, 0.0, 4, 0.95), 0.55),
    (World(8, 5, 0.15, 4, 0.95), 0.55),
    (World(15, 5, 0.15, 4, 0.95), 0.55),
    (World(45, 5, 0.15, 4, 0.95), 0.55),
    (World(45, 5, 0.15, 4), 0.6),
    (World(45, 5, 0.3, 4), 0.45),
    (World(45, 20, 0.15, 4), 0.6),
    (World(45, 20, 0.3, 4), 0.6),
    (World(45, 20, 0.15, 8), 0.6),
    (World(45, 20, 0.3, 8), 0.75),
    (World(15, 20, 0.15, 4, mixed=0.5), 0.6),
    (World(45, 5, 0.15, 4, sticky=0.5), 0.45),
)
"""Worlds of one audit, and the mean that it has."""


def single_table(count: int) -> str:
    lines = ["| topics × trials, τ, blessed runs | from → to | interval covers the true value | its half, in points |"]
    lines += ["|---|---|---|---|"]
    for world, now in SINGLES:
        one = coverage(world, now, count)
        lines.append(f"| {world} | {world.mean:g} → {now:g} | {one.held:.3f} | {100 * one.half:.1f} |")
        print(lines[-1], file=sys.stderr, flush=True)
    return "".join(f"{line}\n" for line in lines)


def _share(number: int, of: int) -> str:
    return f"{100 * number / of:.0f}%"


def _kept(untold: int, promises: Sequence[Promised]) -> str:
    said, kept = _percent([one.chance for one in promises]), _percent([one.kept for one in promises])
    later = _percent([one.later for one in promises])
    return f"{len(promises)} ({_share(len(promises), untold)}) | {said} | {kept} | {later}"


def _percent(values: Sequence[float]) -> str:
    return f"{100 * float(np.mean(values)):.0f}%" if values else ""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--years", type=int, default=1000)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--further", action="store_true", help="the second table, not the first")
    parser.add_argument("--settling", action="store_true", help="what settles what cannot be told, with so many audits")
    parser.add_argument(
        "--followed", action="store_true", help="years in which an alarm or a fall is followed up daily"
    )
    parser.add_argument("--repaired", action="store_true", help="years with a change and its repair")
    parser.add_argument(
        "--single", action="store_true", help="how often the interval of one audit covers the true value"
    )
    chosen = parser.parse_args()
    if chosen.repaired:
        begin, made, what = REPAIRED, repaired_table(chosen.years), "years"
    elif chosen.single:
        begin, made, what = SINGLE, single_table(chosen.years), "audits"
    elif chosen.followed:
        begin, made, what = FOLLOWED, followed_table(chosen.years), "years"
    elif chosen.settling:
        begin, made, what = SETTLING, settling_tables(chosen.years), "audits"
    elif chosen.further:
        begin, made, what = FURTHER, further_tables(chosen.years), "years"
    else:
        begin, made, what = BEGIN, table(chosen.years), "years"
    found = f"{chosen.years:,} {what} of each kind.\n\n{made}"
    if chosen.write:
        page = PAGE.read_text(encoding="utf-8")
        head, _, rest = page.partition(begin)
        PAGE.write_text(head + begin + found + END + rest.partition(END)[2], encoding="utf-8")
    else:
        print(found)


if __name__ == "__main__":
    main()
