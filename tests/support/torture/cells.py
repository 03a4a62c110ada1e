"""The count of what is said: coverage, width, verdicts and refusals of one engine in one world at one size."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from recordings.files.times import utc_now
from tests.support.torture.study import Kind, Study
from tests.support.torture.world import World

COVERAGE, ERROR = 0.93, 0.06
"""What is promised: at least so much coverage of a nominal 95%, at most so many wrong verdicts of a nominal 5%."""

Size = tuple[int, int, int]
"""Topics, trials, systems."""


@dataclass(frozen=True)
class Said:
    """What an engine says of one figure of one study."""

    truth: float
    low: float = math.nan
    """NaN on both ends: no interval."""
    high: float = math.nan
    reason: str = ""
    """Why there is no interval; of a printed one, its warning or none."""
    reference: float = math.nan
    """The width of the interval that a textbook gives here, for a ratio of widths."""
    decided: bool | None = None
    """Whether a verdict says more than "cannot tell"; None: no verdict is given of this figure."""
    wrong: bool = False
    """Whether the verdict is not true."""

    @property
    def printed(self) -> bool:
        """Whether there is an interval."""
        return not (math.isnan(self.low) or math.isnan(self.high))

    @property
    def covered(self) -> bool:
        """Whether the interval holds the truth, to within the last bits of a sum."""
        slack = 1e-9 * (1 + abs(self.truth))
        return self.low - slack <= self.truth <= self.high + slack


def winner(said: Said, decided: bool, sign: float) -> Said:
    """The same figure with a verdict: a winner is wrong where both are alike, and where the other one is better."""
    alike = abs(said.truth) < 1e-9
    wrong = decided and (alike or sign * said.truth < 0)
    return Said(said.truth, said.low, said.high, said.reason, said.reference, decided, wrong)


@dataclass(frozen=True, eq=False)
class Engine:
    """One estimand under one design, as the program answers it."""

    name: str
    kinds: frozenset[Kind]
    says: Callable[[World, Study], Sequence[Said]]
    sizes: tuple[Size, ...]
    groups: frozenset[str] | None = None
    """The groups of worlds in which it is tried; None: all of its kinds."""

    def tries(self, world: World, size: Size) -> bool:
        """Whether the cell exists."""
        return (
            world.kind in self.kinds
            and (self.groups is None or world.group in self.groups)
            and size in self.sizes
            and world.allows(*size)
        )


@dataclass
class Cell:
    """What an engine said in the replications of one world at one size."""

    engine: str
    world: str
    group: str
    size: Size
    hidden: str | None
    figures: int = 0
    """How many figures with a truth were asked for."""
    printed: int = 0
    covered: int = 0
    studies: int = 0
    """How many studies had a figure with a truth."""
    widths: list[float] = field(default_factory=list)
    """Of printed intervals, in units of their reference."""
    judged: int = 0
    """Studies in which verdicts were given or withheld."""
    decided: int = 0
    """Studies with a verdict of some kind."""
    wrong: int = 0
    """Studies with a verdict that is not true."""
    reasons: Counter[str] = field(default_factory=Counter)
    warned: int = 0
    """Printed intervals with a warning."""
    day: str = ""
    """When it was counted: 2026-12-01."""

    def add(self, said: Sequence[Said]) -> None:
        """Count one study."""
        figures = [one for one in said if math.isfinite(one.truth)]
        self.studies += bool(figures)
        for one in figures:
            self.figures += 1
            if not one.printed:
                self.reasons[one.reason or "no reason given"] += 1
                continue
            self.printed += 1
            self.covered += one.covered
            self.warned += bool(one.reason)
            if one.reference > 1e-9 and math.isfinite(one.reference) and math.isfinite(one.high - one.low):
                self.widths.append((one.high - one.low) / one.reference)
        verdicts = [one for one in figures if one.decided is not None]
        if verdicts:
            self.judged += 1
            self.decided += any(one.decided for one in verdicts)
            self.wrong += any(one.wrong for one in verdicts)

    @property
    def coverage(self) -> float:
        """The share of printed intervals that hold the truth; NaN without any."""
        return self.covered / self.printed if self.printed else math.nan

    @property
    def coverage_error(self) -> float:
        """Its Monte-Carlo standard error; figures of one study count as one."""
        n = min(self.printed, self.studies)
        return math.sqrt(max(self.coverage * (1 - self.coverage), 0.25 / n / n) / n) if n else math.nan

    def far(self, coverage: float, error: float) -> bool:
        """Whether it covers at least so much, and errs at most so much; what is not there cannot be worse."""
        return not (self.coverage < coverage or self.error > error)

    @property
    def share_printed(self) -> float:
        """The share of figures that got an interval."""
        return self.printed / self.figures if self.figures else math.nan

    @property
    def width(self) -> float:
        """The median width in units of the reference, which is near 0 in some studies."""
        return float(np.median(self.widths)) if self.widths else math.nan

    @property
    def error(self) -> float:
        """The share of studies with a wrong verdict."""
        return self.wrong / self.judged if self.judged else math.nan

    @property
    def error_error(self) -> float:
        """Its Monte-Carlo standard error."""
        return (
            math.sqrt(max(self.error * (1 - self.error), 0.25 / self.judged / self.judged) / self.judged)
            if self.judged
            else math.nan
        )

    @property
    def too_low(self) -> bool:
        """Whether coverage is below the promise by more than two Monte-Carlo errors, reckoned at the promise."""
        n = min(self.printed, self.studies)
        return bool(n) and self.coverage < COVERAGE - 2 * math.sqrt(COVERAGE * (1 - COVERAGE) / n)

    @property
    def too_wrong(self) -> bool:
        """Whether wrong verdicts are above the promise by more than two Monte-Carlo errors, reckoned at the promise."""
        return bool(self.judged) and self.error > ERROR + 2 * math.sqrt(ERROR * (1 - ERROR) / self.judged)


def hidden_from(engine: str, world: World, size: Size) -> str | None:
    """What studies of this size cannot show of the figure: nobody asks of these topics what others are like."""
    topics, trials, _ = size
    return world.undeclared(topics * trials) if "these topics" in engine else world.unseen(topics)


LOOKS = ((60, 0.975, 0.017), (150, 0.955, 0.035))
"""After so many studies a cell is counted no further if coverage is at least, and error at most, so much."""

ENOUGH_HIDDEN = 100
"""Studies after which a cell is counted no further if its world cannot be told from the data: it is shown, not held to
anything."""


def counted(engine: Engine, world: World, size: Size, replications: int, seed: int = 31, *, whole: bool = True) -> Cell:
    """One cell. The studies depend on world, size and seed alone, so all engines are tried on the same ones.

    whole: all replications; else a cell that is far from being flagged when it is looked at (`LOOKS`) is counted no
    further: of cells that cover .90, 1 in 70 passes the first look, and 1 in 100 the second. Nor is one of a hidden
    world after `ENOUGH_HIDDEN`."""
    topics, trials, systems = size
    cell = Cell(engine.name, world.name, world.group, size, hidden_from(engine.name, world, size))
    cell.day = f"{utc_now():%Y-%m-%d}"
    for replication in range(replications):
        cell.add(engine.says(world, world.study(seed, replication, topics, trials, systems)))
        seen = replication + 1
        if not whole and (
            any(seen == at and cell.far(*ends) for at, *ends in LOOKS) or (cell.hidden and seen == ENOUGH_HIDDEN)
        ):
            break
    return cell
