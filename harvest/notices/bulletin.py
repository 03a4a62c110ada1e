"""The list of verdicts behind every output format for programs.

The list contains no text of a conversation. However, systems choose some of its texts, such as a model's name. Every
format therefore passes texts through `plain`, which returns a short and safe line.
"""

import math
import re
from dataclasses import dataclass, field
from typing import Literal

from harvest.terminal import printable

Verdict = Literal["changed", "same", "missed", "kept", "cannot tell", "not measured"]

_MOST = 500  # characters of a sentence
_NOT_XML = re.compile("[\ud800-\udfff\ufffe\uffff]")


def plain(text: str) -> str:
    """Return `text` as one line of at most 500 characters, with control and other unprintable characters as symbols."""
    cut = text if len(text) <= _MOST else f"{text[: _MOST - 1]}…"
    return _NOT_XML.sub(lambda found: f"<U+{ord(found[0]):04X}>", printable(cut, line=True))


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and the ends of its interval, each NaN if undefined."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True, slots=True)
class Notice:
    """The verdict on one figure of a system.

    `code` is the exit code that the figure alone would cause: 0, 1 or 3. `sentence` explains the verdict to people.
    `now` is the figure, computed from `n` units, `before` its value in the baseline, and `moved` the difference.
    `decides` is True if the figure can change the exit code. `alarm` is True if an alarm has yet to be confirmed by
    another audit. `word` is the verdict shown to people, or "" to show `verdict`. `limit` is the limit of a
    threshold.
    """

    figure: str
    verdict: Verdict
    code: int
    sentence: str
    now: Estimate = field(default_factory=Estimate)
    before: float = math.nan
    moved: Estimate = field(default_factory=Estimate)
    n: int = 0
    decides: bool = True
    alarm: bool = False
    word: str = ""
    limit: float = math.nan

    @property
    def printed_verdict(self) -> str:
        return self.word or self.verdict


@dataclass(frozen=True, slots=True)
class Account:
    """The notices of one system. `details` are further lines for people, which may contain texts of the system."""

    system: str
    sentence: str
    notices: tuple[Notice, ...]
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bulletin:
    """The notices of one audit. `command` is `watch run`, `run` or `score`. `run` is the folder of the run, `at` its
    time in seconds since 1970, and `code` the exit code of the command."""

    command: str
    audit: str
    run: str
    at: float
    verdict: str
    code: int
    accounts: tuple[Account, ...]

    @property
    def is_measured(self) -> bool:
        """True if the exit code is 0 or 1, which means that the systems were measured."""
        return self.code in (0, 1)

    @property
    def sentence(self) -> str:
        """A one-line summary: `weekly: changed. mine: ave%useful changed by -15.2 points [-21.0, -9.0] since …`."""
        return f"{self.audit}: {self.verdict}. " + "; ".join(one.sentence for one in self.accounts)
